//! Runs are killed at any time. Afterwards the archive can be opened, is consistent, and contains
//! every phase and load level that was complete.

use std::time::{Duration, Instant};

use record::{Phase, Record};
use rustix::process::Signal;
use testkit::Assert;
use verdict::{ListedRun, State, Summary};

use super::{Home, open};
use crate::support::{Ended, Running};

/// A run of several phases with two workers. The time is limited to 120 ms. Without the limit on
/// transactions, the program would need a second to compute the largest possible pool.
const RUN: &str = "run --no-overhead --engine posix --workers 2 --files 400 --mix \
                   create=1,delete=1,read=2 --for 120ms --transactions 1000000";
/// A load sweep with two load levels, each of which takes at least ten seconds.
const SWEEP: &str =
    "run --no-overhead --engine posix --files 100 --mix read=1 --sweep 200,400 --warm-up 20ms";

fn kills() -> u32 {
    let said = std::env::var("POSTMARK_KILLS").ok();
    said.map_or(20, |said| said.parse().expect("POSTMARK_KILLS is a number"))
}

/// A number from 0 to 1 for each case. The numbers are the fractional parts of multiples of the
/// golden ratio, so they are evenly distributed and all different.
fn spread(case: u32) -> f64 {
    (f64::from(case) * 0.618_033_988_749_895).fract()
}

#[test]
fn completed_phases_survive_a_kill() {
    let home = Home::new();
    let mut seen = Seen::default();
    let began = Instant::now();
    home.shows(RUN).code(0);
    let whole = began.elapsed();
    for case in 0..kills() {
        let after = whole.mul_f64(spread(case) * 1.05);
        let before = home.entries().len();
        // In every second case, the delay before the signal starts only when the run appears in the
        // archive. Otherwise, on a busy machine, most signals would arrive before the run is in the
        // archive.
        let running = Running::start(home.command(RUN), home.test_dir.path());
        let ended = kill_after(running, after, |_| {
            case % 2 == 0 || home.entries().len() > before
        });
        let archive = open(&home.archive());
        archive
            .check()
            .unwrap_or_else(|error| panic!("after {after:?}: {error}\n{ended}"));
        let entries = home.entries();
        assert!(entries.len() - before <= 1, "{ended}");
        match entries.get(before) {
            Some(entry) => seen.take(entry, &home.record(entry), &ended),
            None => seen.nothing += 1,
        }
        home.shows(&format!("clean {}", home.target.display()))
            .code(0);
    }
    println!("{seen:?}");
    // If no run was killed after its first phase, this test has checked nothing.
    let with_phases: usize = seen.parts[1..].iter().sum();
    assert!(with_phases > 0, "{seen:?}");
    // The archive still accepts new runs.
    home.shows(RUN).code(0);
    assert_eq!(
        home.entries().last().unwrap().headline.state,
        State::Complete
    );
    let listed = home.answer("list");
    assert_eq!(
        listed.matches("unfinished").count(),
        seen.unfinished,
        "{listed}"
    );
    for entry in home.entries() {
        let shown = home.answer(&format!("show {}", entry.number.unwrap()));
        assert_eq!(
            shown.contains("UNFINISHED"),
            entry.headline.state == State::Unfinished,
            "{shown}"
        );
    }
}

#[test]
fn completed_load_levels_survive_a_kill() {
    std::thread::scope(|scope| {
        for fresh in ["", " --fresh"] {
            scope.spawn(move || {
                let home = Home::new();
                let mut running = Running::start(
                    home.command(&format!("{SWEEP}{fresh}")),
                    home.test_dir.path(),
                );
                running.until("the second load level", |running| {
                    running.errors().contains("level 2: ")
                });
                let ended = running.kill();
                let entries = home.entries();
                assert_eq!(entries.len(), 1, "{ended}");
                let record = home.record(&entries[0]);
                Seen::default().take(&entries[0], &record, &ended);
                assert_eq!(record.actual.sweep_steps.len(), 1, "{ended}");
                entries.assert(entries[0].headline.transactions_per_second.is_some());
                assert!(home.answer("show last").contains("UNFINISHED"));
                home.shows(&format!("clean {}", home.target.display()))
                    .code(0);
            });
        }
    });
}

/// Waits until `has_come` returns true, waits for the time `after`, and kills the program.
fn kill_after(
    mut running: Running,
    after: Duration,
    has_come: impl FnMut(&Running) -> bool,
) -> Ended {
    running.until("its beginning", has_come);
    std::thread::sleep(after);
    running.kill()
}

#[derive(Debug, Default)]
struct Seen {
    /// Number of runs that were killed before they were in the archive.
    nothing: usize,
    /// Number of killed runs by their number of complete phases and load levels: 0, 1, 2, 3, 4, and
    /// 5 or more.
    parts: [usize; 6],
    unfinished: usize,
    /// Number of runs that had ended before the signal.
    complete: usize,
}

impl Seen {
    fn take(&mut self, entry: &ListedRun, record: &Record, ended: &Ended) {
        if entry.headline.state == State::Complete {
            self.complete += 1;
            return;
        }
        assert_eq!(entry.headline.state, State::Unfinished, "{ended}");
        assert!(ended.status.code().is_none(), "it was not killed\n{ended}");
        ended.signal(Signal::KILL.as_raw());
        self.unfinished += 1;
        let actual = &record.actual;
        self.parts[(actual.phases.len() + actual.sweep_steps.len()).min(5)] += 1;
        let is_sweep = record.spec.drive.sweep.is_some();
        let expected: &[Phase] = if is_sweep {
            &[Phase::Prepare, Phase::Delete]
        } else {
            &Phase::ALL
        };
        let phases: Vec<Phase> = actual.phases.iter().map(|phase| phase.phase).collect();
        assert!(expected.starts_with(&phases), "{phases:?}\n{ended}");
        let of_sweep_steps = actual
            .sweep_steps
            .iter()
            .flat_map(|sweep_step| &sweep_step.phases);
        for phase in actual.phases.iter().chain(of_sweep_steps) {
            assert!(phase.complete, "{ended}");
            assert_eq!(
                phase.workers.len() as u32,
                record.spec.workload.workers.count(),
                "{ended}"
            );
            assert!(
                phase.measured_ns() > 0 && phase.sync.is_some(),
                "{phase:?}\n{ended}"
            );
        }
        let begins = |word: &str| {
            ended
                .errors
                .lines()
                .filter(|line| line.starts_with(word))
                .count()
        };
        // If the program has printed that the next phase starts, the previous phase must be in the
        // archive.
        let is_fresh = record
            .spec
            .drive
            .sweep
            .as_ref()
            .is_some_and(|asked| asked.fresh);
        if begins("transactions: ") > 0 && !is_fresh {
            assert!(!phases.is_empty(), "the preparation is lost\n{ended}");
        }
        if begins("delete: ") > 0 && !is_sweep {
            assert!(phases.len() >= 2, "the transactions are lost\n{ended}");
        }
        assert!(
            actual.sweep_steps.len() + 1 >= begins("level "),
            "{} load levels\n{ended}",
            actual.sweep_steps.len()
        );
        assert!(Summary::of(record).partial);
    }
}
