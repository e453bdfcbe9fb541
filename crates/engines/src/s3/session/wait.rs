//! Waits for answers, and fails operations whose answers exceed the time limit.

use core::time::Duration;
use std::os::fd::AsRawFd;

use engine::{Errno, Steps};
use s3_client::{Broken, Connection};

use super::S3Session;

/// Maximum duration of one wait; time limits are checked after a wait without an event.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Time limits are checked after at most this number of waits.
const WAITS_BETWEEN_LOOKS: u32 = 256;

impl S3Session {
    /// Waits up to `limit` for answers, and processes them. May return before `limit` without an
    /// answer.
    #[inline]
    pub(super) fn wait(&mut self, limit: Option<Duration>, steps: &mut dyn Steps) {
        let limit = limit.map_or(LOOK_EVERY, |limit| limit.min(LOOK_EVERY));
        self.polled.clear();
        self.polled_slots.clear();
        for (number, flight) in self.flights.iter().enumerate() {
            let connection = flight.connections[flight.server].as_ref();
            let Some(connection) = connection.filter(|_| flight.is_pending) else {
                continue;
            };
            let to_send = if connection.wants().to_send {
                libc::POLLOUT
            } else {
                0
            };
            self.polled.push(libc::pollfd {
                fd: connection.descriptor().as_raw_fd(),
                events: libc::POLLIN | to_send,
                revents: 0,
            });
            self.polled_slots.push(number);
        }
        let timeout = libc::timespec {
            tv_sec: limit.as_secs() as libc::time_t,
            tv_nsec: limit.subsec_nanos().into(),
        };
        // SAFETY: the array contains `count` entries, whose descriptors the flights keep open;
        // array and timeout outlive the call, and no signal mask is passed.
        let ready = unsafe {
            let count = self.polled.len() as libc::nfds_t;
            libc::ppoll(
                self.polled.as_mut_ptr(),
                count,
                &raw const timeout,
                core::ptr::null(),
            )
        };
        for at in 0..self.polled.len() {
            if ready > 0 && self.polled[at].revents != 0 {
                self.receive(self.polled_slots[at], steps);
            }
        }
        self.waits += 1;
        if ready <= 0 || self.waits >= WAITS_BETWEEN_LOOKS {
            self.look();
        }
    }

    /// Fails operations whose answer did not arrive within the time limit.
    #[cold]
    fn look(&mut self) {
        self.waits = 0;
        for number in 0..self.flights.len() {
            let flight = &self.flights[number];
            let connection = flight.connections[flight.server].as_ref();
            let left = connection.map(Connection::time_left);
            if flight.is_pending && left == Some(Duration::ZERO) {
                self.broken(number, Broken::Lost(Errno::TIMEDOUT));
            }
        }
    }
}
