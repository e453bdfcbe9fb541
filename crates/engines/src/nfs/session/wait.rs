//! Sends calls, waits, and receives replies. Also handles lost connections, timeouts, and calls to
//! be repeated later.

use core::time::Duration;

use engine::{Cause, Errno, Steps};
use nfs_client::{Broken, DELAY_MAX, LOOK_EVERY};

use super::NfsSession;
use super::line::LineState;

/// Timeouts are checked after at most this number of receives. They are not checked after every
/// receive, because a check needs a system call to read the clock.
const RECEIVES_BETWEEN_LOOKS: u32 = 64;

impl NfsSession {
    #[inline]
    pub(super) fn send_all(&mut self) {
        for number in 0..self.lines.len() {
            let Some(channel) = self.lines[number].channel() else {
                continue;
            };
            if channel.has_unsent()
                && let Err(broken) = channel.send()
            {
                self.break_line(number, broken);
            }
        }
    }

    /// Sends buffered calls, waits up to `limit` for replies, and processes received replies. May
    /// return before `limit` without a reply.
    #[inline]
    pub(super) fn wait(&mut self, limit: Option<Duration>, steps: &mut dyn Steps) {
        self.send_all();
        let has_one = self.lines.len() == 1 && limit.is_none() && self.delayed == 0;
        let quiet = match (has_one, self.lines[0].channel()) {
            // The fastest path: a single call both waits and receives.
            (true, Some(channel)) if !channel.has_unsent() => match channel.receive(true) {
                Ok(true) => {
                    while self.take_record(0, steps) {}
                    false
                }
                Ok(false) => true,
                Err(broken) => {
                    self.break_line(0, broken);
                    true
                }
            },
            _ => {
                self.wait_for_any(limit, steps);
                true
            }
        };
        self.receives += 1;
        if quiet || self.receives >= RECEIVES_BETWEEN_LOOKS {
            self.look();
        }
    }

    fn wait_for_any(&mut self, limit: Option<Duration>, steps: &mut dyn Steps) {
        let mut limit = limit.map_or(LOOK_EVERY, |limit| limit.min(LOOK_EVERY));
        if self.delayed > 0 {
            let laters = self.flights.iter().filter_map(|flight| flight.call.later);
            limit = laters.fold(limit, |limit, at| limit.min(at.saturating_sub(self.now)));
        }
        self.polled.clear();
        for number in 0..self.lines.len() {
            let is_up = matches!(self.lines[number].state, LineState::Up(_));
            let needed = !is_up && self.is_needed(number);
            let line = &mut self.lines[number];
            if needed {
                line.try_again(self.now);
            }
            let (descriptor, events) = match &line.state {
                LineState::Up(channel) if channel.has_unsent() => {
                    (channel.descriptor(), libc::POLLIN | libc::POLLOUT)
                }
                LineState::Up(channel) => (channel.descriptor(), libc::POLLIN),
                LineState::Connecting(channel) => (channel.descriptor(), libc::POLLOUT),
                LineState::Down(again_at) => {
                    if needed {
                        limit = limit.min(again_at.saturating_sub(self.now));
                    }
                    // There is no descriptor to wait for; poll(2) ignores negative descriptors.
                    (-1, 0)
                }
            };
            self.polled.push(libc::pollfd {
                fd: descriptor,
                events,
                revents: 0,
            });
        }
        let timeout = libc::timespec {
            tv_sec: limit.as_secs() as libc::time_t,
            tv_nsec: limit.subsec_nanos().into(),
        };
        // SAFETY: the array contains `count` entries; array and timeout outlive the call, and no
        // signal mask is passed.
        let ready = unsafe {
            let count = self.polled.len() as libc::nfds_t;
            libc::ppoll(
                self.polled.as_mut_ptr(),
                count,
                &raw const timeout,
                core::ptr::null(),
            )
        };
        if ready <= 0 {
            return;
        }
        for number in 0..self.lines.len() {
            if self.polled[number].revents != 0 {
                self.serve(number, steps);
            }
        }
    }

    /// Processes a connection's event: a finished connection attempt, or received bytes.
    fn serve(&mut self, number: usize, steps: &mut dyn Steps) {
        let now = self.timer.elapsed();
        let line = &mut self.lines[number];
        if let LineState::Connecting(_) = line.state {
            if line.is_connected(now, &self.counters) {
                self.transmit_all(number);
            }
            return;
        }
        let Some(channel) = line.channel() else {
            return;
        };
        match channel.receive(false) {
            Ok(true) => while self.take_record(number, steps) {},
            Ok(false) => {}
            Err(broken) => self.break_line(number, broken),
        }
    }

    /// Whether a call waits for this connection, or for a reply on it.
    fn is_needed(&self, line: usize) -> bool {
        let mut flights = self.flights.iter();
        flights.any(|flight| flight.call.is_pending && flight.call.line == line)
    }

    /// Writes all calls that wait for this connection to its buffer.
    fn transmit_all(&mut self, line: usize) {
        for number in 0..self.flights.len() {
            let call = &self.flights[number].call;
            if call.is_pending && call.line == line && call.end.is_none() {
                self.transmit(number);
            }
        }
    }

    /// Handles a lost connection, or a connection on which the server sent an invalid reply. Calls
    /// that were sent completely are marked, because the server may have executed them. An invalid
    /// reply fails all operations that waited for a reply on the connection.
    #[cold]
    pub(super) fn break_line(&mut self, number: usize, broken: Broken) {
        let (error, is_garbled) = match broken {
            Broken::Lost(error) => (error, false),
            Broken::Garbled => (Errno::BADMSG, true),
        };
        let now = self.timer.elapsed();
        let sent = self.lines[number].lose(error, now);
        for at in 0..self.flights.len() {
            let flight = &mut self.flights[at];
            let call = &mut flight.call;
            if !call.is_pending || call.line != number {
                continue;
            }
            if is_garbled && call.end.is_some() {
                let step = flight.step();
                self.fail(at, step, Cause::Garbled);
                continue;
            }
            call.was_sent |= call.end.take().is_some_and(|end| end <= sent);
        }
    }

    /// Schedules the repetition of a call after NFS3ERR_JUKEBOX, or fails the operation if the
    /// repetition would exceed the timeout.
    #[cold]
    pub(super) fn delay(&mut self, number: usize) {
        self.now = self.timer.elapsed();
        let now = self.now;
        self.counters.delayed.add(1);
        let flight = &mut self.flights[number];
        let timeout = self.lines[flight.call.line].target.mounted.endpoint.timeout;
        let since = *flight.call.asked_since.get_or_insert(now);
        let wait = flight.call.wait;
        flight.call.wait = (wait * 2).min(DELAY_MAX);
        if now.saturating_sub(since) + wait > timeout {
            let step = flight.step();
            self.fail(number, step, Cause::System(Errno::TIMEDOUT));
            return;
        }
        flight.call.later = Some(now + wait);
        self.delayed += 1;
    }

    /// Reads the clock, repeats calls whose delay has passed, and fails calls after their timeout.
    #[cold]
    fn look(&mut self) {
        self.receives = 0;
        self.now = self.timer.elapsed();
        let now = self.now;
        for number in 0..self.flights.len() {
            let flight = &mut self.flights[number];
            let (step, procedure) = (flight.step(), flight.procedure());
            let call = &mut flight.call;
            if call.later.is_some_and(|at| at <= now) {
                call.later = None;
                self.delayed -= 1;
                self.call(number);
                continue;
            }
            let timeout = self.lines[call.line].target.mounted.endpoint.timeout;
            if !call.is_pending || now.saturating_sub(*call.since.get_or_insert(now)) < timeout {
                continue;
            }
            let may_be_done = call.was_sent && procedure.differs_repeated();
            let cause = match call.end {
                Some(_) => Cause::System(Errno::TIMEDOUT),
                None if may_be_done => Cause::NotKnown,
                None => Cause::System(self.lines[call.line].error),
            };
            self.fail(number, step, cause);
        }
    }
}
