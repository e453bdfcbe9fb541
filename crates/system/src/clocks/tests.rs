//! Tests with given readings of the clocks, and with the clocks of this machine.

use super::*;
use crate::sources::tests::Tree;

const SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
const SECOND: i128 = 1_000_000_000;

/// Creates clocks from the monotonic time, the suspended time, and the wall time at boot, all in
/// nanoseconds. The reading takes 100 ns.
fn clocks(monotonic: i128, suspended: i128, booted: i128) -> Clocks {
    let boot = monotonic + suspended;
    let mut clocks = Clocks::of([monotonic - 50, boot, boot + booted, monotonic + 50]);
    clocks.clock_source = Fact::Known("tsc".into());
    clocks
}

#[test]
fn differences_of_clocks_refer_to_the_middle_of_the_reading() {
    let clocks = Clocks::of([1_000, 1_600, 9_000, 1_101]);
    assert_eq!(clocks.monotonic_ns, 1_050);
    assert_eq!(clocks.boot_minus_monotonic_ns, 550);
    assert_eq!(clocks.wall_minus_monotonic_ns, 7_950);
    assert_eq!(clocks.uncertainty_ns, 51);
}

#[test]
fn clocks_without_suspension_and_step_report_zero() {
    let before = clocks(10 * SECOND, 3 * SECOND, 1_700_000_000 * SECOND);
    let after = clocks(12 * SECOND, 3 * SECOND, 1_700_000_000 * SECOND);
    let difference = after.since(&before);
    assert_eq!(difference.elapsed_ns, 2_000_000_000);
    assert_eq!(
        (difference.suspended_ns, difference.wall_clock_stepped_ns),
        (0, 0)
    );
    assert_eq!(difference.uncertainty_ns, 100);
    assert_eq!(difference.clock_source_changed, Fact::Known(false));
}

#[test]
fn suspensions_and_steps_of_the_wall_clock_are_distinguished() {
    let before = clocks(10 * SECOND, 3 * SECOND, 100 * SECOND);
    let slept = clocks(11 * SECOND, 63 * SECOND, 100 * SECOND).since(&before);
    assert_eq!(slept.suspended_ns, 60_000_000_000);
    assert_eq!(slept.wall_clock_stepped_ns, 0);
    assert_eq!(slept.elapsed_ns, 1_000_000_000);
    let set_back = clocks(11 * SECOND, 3 * SECOND, 98 * SECOND).since(&before);
    assert_eq!(set_back.suspended_ns, 0);
    assert_eq!(set_back.wall_clock_stepped_ns, -2_000_000_000);
    let both = clocks(11 * SECOND, 8 * SECOND, 101 * SECOND).since(&before);
    assert_eq!(
        (both.suspended_ns, both.wall_clock_stepped_ns),
        (5_000_000_000, 1_000_000_000)
    );
}

#[test]
fn suspensions_and_steps_within_the_uncertainty_are_zero() {
    let before = clocks(10 * SECOND, 0, 0);
    let jitter = clocks(11 * SECOND, 100, -100).since(&before);
    assert_eq!((jitter.suspended_ns, jitter.wall_clock_stepped_ns), (0, 0));
    let more = clocks(11 * SECOND, 101, -101).since(&before);
    assert_eq!((more.suspended_ns, more.wall_clock_stepped_ns), (101, -101));
    let backwards = clocks(9 * SECOND, -1000, 0).since(&before);
    assert_eq!((backwards.suspended_ns, backwards.elapsed_ns), (0, 0));
}

#[test]
fn extreme_clock_times_saturate() {
    let far = Clocks::of([
        i128::from(i64::MAX),
        i128::MAX / 4,
        i128::MAX / 4,
        i128::from(i64::MAX),
    ]);
    let near = Clocks::of([
        i128::from(i64::MIN),
        i128::MIN / 4,
        i128::MIN / 4,
        i128::from(i64::MAX),
    ]);
    let difference = far.since(&near);
    assert_eq!(difference.elapsed_ns, i64::MAX as u64);
    assert_eq!(far.boot_minus_monotonic_ns, i64::MAX);
    assert_eq!(near.wall_minus_monotonic_ns, i64::MIN);
    assert_eq!(near.since(&far).suspended_ns, 0);
}

#[test]
fn change_of_clock_source_contains_both_names() {
    let tree = Tree::new(&[(SOURCE, "tsc\n")]);
    let before = Clocks::read(&tree.sources);
    tree.file(SOURCE, "hpet\n");
    let difference = Clocks::read(&tree.sources).since(&before);
    assert_eq!(difference.clock_source_changed, Fact::Known(true));
    assert_eq!(difference.clock_source_before, Fact::Known("tsc".into()));
    assert_eq!(difference.clock_source_after, Fact::Known("hpet".into()));
}

#[test]
fn change_from_or_to_an_unnamed_clock_source_is_unavailable() {
    let named = Clocks::read(&Tree::new(&[(SOURCE, "tsc\n")]).sources);
    let nameless = Clocks::read(&Tree::new(&[]).sources);
    for difference in [named.since(&nameless), nameless.since(&named)] {
        assert!(
            difference
                .clock_source_changed
                .why()
                .unwrap()
                .contains(SOURCE)
        );
    }
}

#[test]
fn clocks_of_this_machine_advance() {
    let sources = Sources::default();
    let before = Clocks::read(&sources);
    std::thread::sleep(std::time::Duration::from_millis(5));
    let after = Clocks::read(&sources);
    let difference = after.since(&before);
    assert!(difference.elapsed_ns >= 5_000_000, "{difference:?}");
    // The constant is a time in July 2017, in nanoseconds since 1970.
    assert!(after.wall_minus_monotonic_ns + after.monotonic_ns > 1_500_000_000_000_000_000);
    let json = serde_json::to_string(&(&after, &difference)).unwrap();
    assert_eq!(
        serde_json::from_str::<(Clocks, ClocksDifference)>(&json).unwrap(),
        (after, difference)
    );
}
