//! Measures elapsed time without reading a clock: a kernel timer is set once, and its remaining
//! time is queried.

use core::time::Duration;
use std::os::fd::OwnedFd;

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_gettime, timerfd_settime,
};

/// The duration for which the kernel timer is set: longer than any run.
const SET: Duration = Duration::from_secs(20 * 365 * 24 * 60 * 60);

/// A timer that measures the time since its creation.
#[derive(Debug)]
pub struct Timer(OwnedFd);

impl Timer {
    /// Creates a timer that starts now.
    pub fn new() -> rustix::io::Result<Self> {
        let timer = timerfd_create(
            TimerfdClockId::Monotonic,
            TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK,
        )?;
        let never = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let set = Itimerspec {
            it_interval: never,
            it_value: Timespec {
                tv_sec: SET.as_secs() as i64,
                tv_nsec: 0,
            },
        };
        timerfd_settime(&timer, TimerfdTimerFlags::empty(), &set)?;
        Ok(Self(timer))
    }

    /// The time since the timer was created; zero if the timer cannot be read.
    pub fn elapsed(&self) -> Duration {
        let left = timerfd_gettime(&self.0).map(|left| left.it_value);
        let left = left.map_or(SET, |left| {
            Duration::new(left.tv_sec as u64, left.tv_nsec as u32)
        });
        SET.saturating_sub(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elapsed_time_increases() {
        let timer = Timer::new().unwrap();
        let first = timer.elapsed();
        std::thread::sleep(Duration::from_millis(20));
        let second = timer.elapsed();
        assert!(
            second >= first + Duration::from_millis(20),
            "{first:?} {second:?}"
        );
        assert!(second < Duration::from_secs(60), "{second:?}");
    }
}
