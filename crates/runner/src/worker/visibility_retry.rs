//! Retries checks until the operations of other workers have become visible.

use record::Stale;

use crate::clock::{Clock as _, RunClock};
use crate::control::Control;
use crate::failures::Failed;

/// Interval between retries in nanoseconds.
pub(super) const SEEN_EVERY_NS: u64 = 10_000_000;
/// Maximum number of names that wait for a retry. At this number, all waiting names are retried
/// before the next name is checked.
pub(super) const LATE_MAX: usize = 10_000;

/// Repeats a check until it succeeds. Returns the delay until success, or the last difference if
/// the time limit is reached.
pub(super) fn until_seen(
    clock: &RunClock,
    control: &Control,
    until_ns: u64,
    first: &Failed,
    look: &mut dyn FnMut() -> Option<Failed>,
) -> Result<Stale, Failed> {
    let began_ns = clock.now_ns();
    if began_ns >= until_ns {
        return Err(first.clone());
    }
    loop {
        clock.sleep(SEEN_EVERY_NS);
        let wrong = look();
        let now_ns = clock.now_ns();
        match wrong {
            None => {
                return Ok(seen_after(now_ns.saturating_sub(began_ns), first.clone()));
            }
            Some(failed) if now_ns >= until_ns || control.is_stopping() => return Err(failed),
            Some(_) => {}
        }
    }
}

/// Returns the statistics of one name that became visible after `ns` nanoseconds.
pub(super) fn seen_after(ns: u64, first: Failed) -> Stale {
    Stale {
        count: 1,
        longest_ns: ns,
        path: first.path,
        what: first.message,
    }
}

/// Adds to `all` the statistics of a name that became visible late.
pub(super) fn add_stale(all: &mut Option<Stale>, one: Stale) {
    *all = Some(match all.take() {
        Some(all) => all.and(one),
        None => one,
    });
}
