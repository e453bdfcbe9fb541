//! A session's connection to a server: there, on its way, or lost and waited for.

use core::time::Duration;
use std::sync::Arc;

use engine::Errno;
use nfs_client::{Backoff, Channel, Counters};

use crate::nfs::shared::Target;

/// Whether a connection is there.
#[derive(Debug)]
pub(super) enum LineState {
    Up(Channel),
    /// The kernel is about it.
    Connecting(Channel),
    /// To be tried again at this time.
    Down(Duration),
}

/// See the module's text.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) target: Arc<Target>,
    pub(super) state: LineState,
    /// Why it is not there.
    pub(super) error: Errno,
    /// How long the next wait for it is.
    backoff: Backoff,
}

impl Line {
    /// A connection that is there.
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

    /// The connection is lost; gives how much of what was written to it was sent.
    pub(super) fn lose(&mut self, error: Errno, now: Duration) -> u64 {
        let sent = match &self.state {
            LineState::Up(channel) => channel.sent(),
            LineState::Connecting(_) | LineState::Down(_) => 0,
        };
        self.is_down(error, now);
        sent
    }

    /// The server has answered something.
    #[inline]
    pub(super) fn is_answered(&mut self) {
        self.backoff.reset();
    }

    /// Tries to connect, where it is time for that.
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

    /// A connection that was on its way has come to something; whether it is there.
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
