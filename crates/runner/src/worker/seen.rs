//! What is not seen at once is waited for.

use record::Stale;

use crate::clock::Clock;
use crate::control::Control;
use crate::failures::Failed;

/// So often it is looked for.
const SEEN_EVERY_NS: u64 = 10_000_000;

/// Waits until a look finds what is there: for how long it did not.
pub(super) fn until_seen<C: Clock>(
    clock: &C,
    control: &Control,
    until_ns: u64,
    first: &Failed,
    look: &mut dyn FnMut() -> Option<Failed>,
) -> Result<Stale, Failed> {
    let began_ns = clock.now_ns();
    loop {
        clock.sleep(SEEN_EVERY_NS);
        let wrong = look();
        let now_ns = clock.now_ns();
        match wrong {
            None => {
                return Ok(Stale {
                    count: 1,
                    longest_ns: now_ns.saturating_sub(began_ns),
                    path: first.path.clone(),
                    what: first.message.clone(),
                });
            }
            Some(failed) if now_ns >= until_ns || control.is_stopping() => return Err(failed),
            Some(_) => {}
        }
    }
}

/// Adds one to all.
pub(super) fn add_stale(all: &mut Option<Stale>, one: Stale) {
    *all = Some(match all.take() {
        Some(all) => all.and(one),
        None => one,
    });
}
