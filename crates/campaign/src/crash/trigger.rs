//! Decides when a round crashes: after its time, at the moment that it aims at.

use std::path::Path;
use std::time::{Duration, Instant};

use faultfs::forget::Forgetting;

use super::aim::Aim;
use super::run_process::AckCount;

/// How long a round waits for its moment. A workload may lack the request: then the round crashes
/// without it.
const MOMENT_MAX: Duration = Duration::from_secs(3);

/// Whether a round crashes now.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fired {
    NotYet,
    AtMoment,
    /// The moment did not come.
    WithoutMoment,
}

pub(super) struct Trigger<'a> {
    aim: Aim,
    files: Option<&'a Forgetting>,
    /// The time from which the moment is awaited, and the acknowledgements until then.
    begun: Option<(Instant, u64)>,
}

impl<'a> Trigger<'a> {
    pub(super) const fn new(aim: Aim, files: Option<&'a Forgetting>) -> Self {
        Self {
            aim,
            files,
            begun: None,
        }
    }

    /// Whether the file system has crashed by itself.
    pub(super) fn has_crashed(&self) -> bool {
        self.files.is_some_and(Forgetting::has_crashed)
    }

    /// Whether the round crashes now. `count` reads the acknowledgement log.
    pub(super) fn fires(&mut self, count: &mut AckCount, log: &Path) -> Fired {
        if self.aim == Aim::Acknowledgement {
            count.read_on(log);
        }
        let (begun, acknowledged) = *self.begun.get_or_insert_with(|| {
            if let Some(files) = self.files {
                files.crash_at(self.aim.request());
            }
            (Instant::now(), count.acknowledged)
        });
        let is_moment = match self.aim {
            Aim::Acknowledgement => count.acknowledged > acknowledged,
            aim => aim.request().is_none() || self.has_crashed(),
        };
        match is_moment {
            true => Fired::AtMoment,
            false if begun.elapsed() >= MOMENT_MAX => Fired::WithoutMoment,
            false => Fired::NotYet,
        }
    }

    /// The interval at which the acknowledgement log or the file system is examined.
    pub(super) const fn poll(&self) -> Duration {
        match self.begun {
            Some(_) => Duration::from_micros(50),
            None => Duration::from_millis(2),
        }
    }
}

impl Drop for Trigger<'_> {
    fn drop(&mut self) {
        if let Some(files) = self.files {
            files.crash_at(None);
        }
    }
}
