//! A session's connection to a server: connected, connecting, or lost with a time for the next
//! attempt.

use core::time::Duration;
use std::sync::Arc;

use engine::Errno;
use nfs_client::{Backoff, Channel, Counters};

use crate::nfs::shared::Target;

#[derive(Debug)]
pub(super) enum LineState {
    Up(Channel),
    /// The kernel is establishing the connection.
    Connecting(Channel),
    /// The connection is lost; the next attempt is at this time.
    Down(Duration),
}

#[derive(Debug)]
pub(super) struct Line {
    pub(super) target: Arc<Target>,
    pub(super) state: LineState,
    /// The reason why the connection was lost, or why the last attempt failed.
    pub(super) error: Errno,
    backoff: Backoff,
}

impl Line {
    /// Wraps an established connection.
    pub(super) fn new(target: Arc<Target>, channel: Channel) -> Self {
        Self {
            target,
            state: LineState::Up(channel),
            error: Errno::NOTCONN,
            backoff: Backoff::default(),
        }
    }

    #[inline]
    pub(super) fn channel(&mut self) -> Option<&mut Channel> {
        match &mut self.state {
            LineState::Up(channel) => Some(channel),
            LineState::Connecting(_) | LineState::Down(_) => None,
        }
    }

    /// Marks the connection as lost; returns how many of the bytes written to the connection were
    /// sent.
    pub(super) fn lose(&mut self, error: Errno, now: Duration) -> u64 {
        let sent = match &self.state {
            LineState::Up(channel) => channel.sent(),
            LineState::Connecting(_) | LineState::Down(_) => 0,
        };
        self.is_down(error, now);
        sent
    }

    /// Resets the delay between attempts to connect, because the server answered a call.
    #[inline]
    pub(super) fn is_answered(&mut self) {
        self.backoff.reset();
    }

    /// Starts to connect if the time for the next attempt is reached.
    pub(super) fn try_again(&mut self, now: Duration) {
        if !matches!(self.state, LineState::Down(again_at) if now >= again_at) {
            return;
        }
        match Channel::begin(&self.target.mounted.endpoint) {
            Ok(channel) => self.state = LineState::Connecting(channel),
            Err(errno) => self.is_down(errno, now),
        }
    }

    fn is_down(&mut self, error: Errno, now: Duration) {
        self.error = error;
        self.state = LineState::Down(now + self.backoff.next_wait());
    }

    /// Processes the result of an attempt to connect; returns whether the attempt succeeded.
    pub(super) fn is_connected(&mut self, now: Duration, counters: &Counters) -> bool {
        let LineState::Connecting(channel) =
            std::mem::replace(&mut self.state, LineState::Down(now))
        else {
            return false;
        };
        match channel.finish() {
            Ok(()) => {
                counters.connections.add(1);
                counters.reconnections.add(1);
                self.state = LineState::Up(channel);
                true
            }
            Err(errno) => {
                self.is_down(errno, now);
                false
            }
        }
    }
}
