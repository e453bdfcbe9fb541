//! The course of a study: the next run, repetition, the end, and resumption. Runs are performed on
//! the simulated engine, and the tests put the intended outcomes into the records.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use campaign::study::{ATTEMPTS, Course, Ground, Ready, StudyEnd, StudyEvent, perform};
use engines::simulated::{Code, Simulated};
use record::{Outcome, Record, StudyPart};
use runner::{NoEvents, Place, RunSpec};
use study::{Design, Repeats, StudyCell, StudyRun};
use testkit::{Assert, Virtual, runs::weighted};

use crate::run;
use crate::steps::AT;

/// The outcome that a test chooses for a measured run.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    Good,
    Invalid,
    Failed,
    /// A signal arrives during the run.
    Signal,
    /// A signal arrives while the target is being made.
    SignalBefore,
    Refused,
}

/// An environment that records the operations that a study requests.
#[derive(Default)]
struct Told {
    /// The outcomes of the next runs; all later runs are good.
    fates: VecDeque<Fate>,
    measured: Vec<(String, u32, u32, bool)>,
    churned: Vec<u64>,
    kept: Vec<usize>,
    reused: Vec<bool>,
    repeated: Vec<(u32, u32)>,
    signal: Option<i32>,
    /// Additional duration of each measured run.
    takes: Duration,
    /// Additional duration of making the target, before its first run.
    making: Duration,
    /// Whether the target has been made.
    is_made: bool,
    /// The remaining time after each run.
    left: Vec<Option<Duration>>,
}

fn performed(spec: &RunSpec) -> Record {
    let engine = Simulated::new(Code::Posix, 1_000_000).with_directory(AT);
    let clock = Virtual::with(&engine);
    let mut spec = spec.clone();
    // The simulated target contains no pool of an earlier run.
    spec.keeping.reuse = false;
    run(
        &spec,
        &engine,
        &clock,
        &Arc::new(AtomicUsize::new(0)),
        &mut NoEvents,
    )
    .unwrap()
}

impl Ground for Told {
    type Error = String;

    fn target(&mut self, cell: usize) -> Result<Option<Ready>, String> {
        if self.fates.front() == Some(&Fate::SignalBefore) {
            self.signal = Some(15);
            return Ok(None);
        }
        if !std::mem::replace(&mut self.is_made, true) {
            std::thread::sleep(self.making);
        }
        Ok(Some(Ready {
            directory: AT.into(),
            made: None,
            is_churned: self.kept.contains(&cell),
        }))
    }

    fn spec(&mut self, _: usize, directory: &Path) -> Result<RunSpec, String> {
        let mix = weighted(10, 150, "create=1,delete=1,stat=2");
        Ok(RunSpec {
            room_check: false,
            overhead: false,
            ..RunSpec::classic(mix.into(), vec![directory.to_owned()], Place::OwnDirectory)
        })
    }

    fn churn(&mut self, spec: &RunSpec) -> Result<Record, String> {
        assert!(spec.keeping.keep && !spec.keeping.reuse);
        self.churned.push(spec.workload.transactions());
        Ok(performed(spec))
    }

    fn keep_state(&mut self, cell: usize) -> Result<Option<Ready>, String> {
        self.kept.push(cell);
        self.target(cell)
    }

    fn measure(
        &mut self,
        spec: &RunSpec,
        part: StudyPart,
    ) -> Result<(Record, Option<u64>), String> {
        std::thread::sleep(self.takes);
        let fate = self.fates.pop_front().unwrap_or(Fate::Good);
        if fate == Fate::Refused {
            return Err("no room".to_owned());
        }
        self.measured
            .push((part.cell.clone(), part.block, part.attempt, part.is_twin));
        self.reused.push(spec.keeping.reuse);
        let mut spec = spec.clone();
        if fate == Fate::Invalid {
            // Too few transactions for a measurement, so that the verdict is INVALID.
            spec.workload = spec.workload.with_transactions(20);
        }
        let mut record = performed(&spec);
        match fate {
            Fate::Failed => {
                record.actual.outcome = Outcome::Failed {
                    why: "cannot write".to_owned(),
                }
            }
            Fate::Signal => {
                self.signal = Some(2);
                record.actual.outcome = Outcome::Interrupted { signal: 2 };
            }
            Fate::Good | Fate::Invalid | Fate::Refused | Fate::SignalBefore => {}
        }
        record.study = Some(part);
        Ok((record, Some(self.measured.len() as u64)))
    }

    fn signal(&self) -> Option<i32> {
        self.signal
    }

    fn tell(&mut self, event: StudyEvent<'_>) {
        if let StudyEvent::Measured(progress, _) = event {
            self.left.push(progress.left);
        }
        if let StudyEvent::Repeating { block, attempt } = event {
            self.repeated.push((block, attempt));
        }
    }
}

fn design(text: &str) -> (Design, Vec<StudyCell>) {
    let text = format!("quiet-time = \"0s\"\n{text}\n[[workload]]\nfiles = 10\n");
    let design = Design::parse(&text).unwrap();
    let cells = design.cells().unwrap();
    (design, cells)
}

fn go(
    (design, cells): &(Design, Vec<StudyCell>),
    done: &mut Vec<StudyRun>,
    ground: &mut Told,
    side: Option<(&str, u32)>,
) -> Result<StudyEnd, String> {
    let course = Course {
        design,
        cells,
        id: "abc",
        side,
    };
    perform(course, done, ground)
}

const TWO: &str = "targets = [\"/a\", \"/b\"]\nblocks = 3";

#[test]
fn block_runs_every_cell_once_and_the_baseline_twice() {
    let (planned, mut done, mut ground) = (design(TWO), Vec::new(), Told::default());
    assert_eq!(
        go(&planned, &mut done, &mut ground, None),
        Ok(StudyEnd::Complete)
    );
    for block in 1..=3 {
        let mut of_block: Vec<_> = ground
            .measured
            .iter()
            .filter(|run| run.1 == block)
            .collect();
        let ordered = planned.0.block(&planned.1, block, 1);
        let cells: Vec<_> = of_block.iter().map(|run| (run.0.as_str(), run.3)).collect();
        let meant: Vec<_> = ordered
            .iter()
            .map(|run| (planned.1[run.cell].label.as_str(), run.is_twin))
            .collect();
        assert_eq!(cells, meant);
        of_block.sort();
        assert_eq!(of_block.len(), 3);
    }
    assert_eq!(done.len(), 9);
    // A complete study that is performed once more measures nothing.
    let mut again = Told::default();
    assert_eq!(
        go(&planned, &mut done, &mut again, None),
        Ok(StudyEnd::Complete)
    );
    assert!(again.measured.is_empty());
}

#[test]
fn resumed_study_performs_only_the_remaining_runs() {
    let planned = design(TWO);
    let mut whole = Told::default();
    go(&planned, &mut Vec::new(), &mut whole, None).unwrap();
    for stopped in [0, 1, 4, 8] {
        for fate in [
            Fate::Failed,
            Fate::Signal,
            Fate::SignalBefore,
            Fate::Refused,
        ] {
            let mut done = Vec::new();
            let mut ground = Told {
                fates: std::iter::repeat_n(Fate::Good, stopped)
                    .chain([fate])
                    .collect(),
                ..Told::default()
            };
            let end = go(&planned, &mut done, &mut ground, None);
            match fate {
                Fate::Failed => assert!(
                    matches!(end, Ok(StudyEnd::RunFailed { run: Some(_), .. })),
                    "{end:?}"
                ),
                Fate::Signal => assert_eq!(end, Ok(StudyEnd::Interrupted(2))),
                Fate::SignalBefore => assert_eq!(end, Ok(StudyEnd::Interrupted(15))),
                _ => assert_eq!(end, Err("no room".to_owned())),
            }
            assert_eq!(done.len(), stopped);
            let mut rest = Told::default();
            assert_eq!(
                go(&planned, &mut done, &mut rest, None),
                Ok(StudyEnd::Complete)
            );
            assert_eq!(rest.measured, whole.measured[stopped..]);
        }
    }
}

#[test]
fn block_with_an_invalid_run_is_repeated_at_most_twice() {
    let planned = design(TWO);
    let mut ground = Told {
        // Only the second run in the first attempt of block 1 is invalid.
        fates: [Fate::Good, Fate::Invalid].into(),
        ..Told::default()
    };
    let mut done = Vec::new();
    assert_eq!(
        go(&planned, &mut done, &mut ground, None),
        Ok(StudyEnd::Complete)
    );
    assert_eq!(ground.repeated, [(1, 2)]);
    // The remaining runs of the attempt with the invalid run are skipped.
    let attempts: Vec<u32> = ground
        .measured
        .iter()
        .filter(|run| run.1 == 1)
        .map(|run| run.2)
        .collect();
    assert_eq!(attempts, [1, 1, 2, 2, 2]);

    let mut ground = Told {
        fates: [Fate::Invalid; 3].into(),
        ..Told::default()
    };
    let mut done = Vec::new();
    assert_eq!(
        go(&planned, &mut done, &mut ground, None),
        Ok(StudyEnd::Complete)
    );
    assert_eq!(ground.repeated, [(1, 2), (1, 3)]);
    // The last attempt of a block is performed completely.
    assert_eq!(
        done.iter().filter(|run| run.part.block == 1).count() as u32,
        ATTEMPTS + 2
    );
    // A resumed study does not repeat a block whose attempts were all invalid.
    let mut rest = Told::default();
    assert_eq!(
        go(&planned, &mut done, &mut rest, None),
        Ok(StudyEnd::Complete)
    );
    assert!(rest.measured.is_empty());
}

#[test]
fn block_that_would_exceed_the_time_limit_is_not_begun() {
    let planned = design("targets = [\"/a\"]\ntwin = false\ntime-limit = \"300ms\"");
    let mut ground = Told {
        takes: Duration::from_millis(70),
        ..Told::default()
    };
    assert_eq!(
        go(&planned, &mut Vec::new(), &mut ground, None),
        Ok(StudyEnd::TimeOver)
    );
    ground
        .measured
        .len()
        .assert((1..=4).contains(&ground.measured.len()));
}

/// Making a file system takes long once. The remaining runs do not take as long.
#[test]
fn remaining_time_does_not_count_the_making_of_a_target_again() {
    const MAKING: Duration = Duration::from_secs(2);
    let planned = design("targets = [\"/a\"]\nblocks = 10\ntwin = false");
    let mut told = Told {
        making: MAKING,
        ..Told::default()
    };
    go(&planned, &mut Vec::new(), &mut told, None).unwrap();
    let first = told.left[0].unwrap();
    first.assert(first < 9 * MAKING / 2);
}

#[test]
fn study_ends_when_all_confidence_intervals_are_narrow_enough() {
    // All runs on the simulated engine take the same time, so the intervals are narrow.
    let planned = design("targets = [\"/a\", \"/b\"]\nuntil = \"2%\"");
    let mut done = Vec::new();
    let end = go(&planned, &mut done, &mut Told::default(), None);
    assert_eq!(end, Ok(StudyEnd::NarrowEnough));
    assert_eq!(done.iter().map(|run| run.part.block).max(), Some(10));
}

#[test]
fn repetition_counts_invalid_runs_and_performs_none_again() {
    let planned = design("targets = [\"/a\"]\nblocks = 4\ntwin = false");
    let mut ground = Told {
        fates: [Fate::Good, Fate::Invalid].into(),
        ..Told::default()
    };
    let mut done = Vec::new();
    let end = go(&planned, &mut done, &mut ground, None);
    assert_eq!(end, Ok(StudyEnd::Complete));
    let blocks: Vec<_> = ground.measured.iter().map(|run| (run.1, run.2)).collect();
    assert_eq!(blocks, [(1, 1), (2, 1), (3, 1), (4, 1)]);
    assert!(ground.repeated.is_empty());
    let found = Repeats::of(&planned.0, "abc", &done);
    assert_eq!(found.verdicts.invalid, 1);
    assert_eq!(found.runs.len(), 4);
}

#[test]
fn repetition_ends_when_the_interval_of_its_rate_is_narrow_enough() {
    let planned = design("targets = [\"/a\"]\nuntil = \"2%\"\ntwin = false");
    let mut done = Vec::new();
    let end = go(&planned, &mut done, &mut Told::default(), None);
    assert_eq!(end, Ok(StudyEnd::NarrowEnough));
    assert_eq!(done.len(), 10);
    // A continued repetition has already reached the requested width, so it performs no run.
    let mut rest = Told::default();
    let end = go(&planned, &mut done, &mut rest, None);
    assert_eq!(end, Ok(StudyEnd::NarrowEnough));
    assert!(rest.measured.is_empty());
}

#[test]
fn repetition_with_until_ends_early_if_too_many_runs_are_invalid() {
    let planned = design("targets = [\"/a\"]\nuntil = \"2%\"\ntwin = false");
    let fates = |good: u32| {
        std::iter::repeat_n(Fate::Good, good as usize).chain(std::iter::repeat_n(Fate::Invalid, 20))
    };
    // `good` VALID runs are followed by INVALID runs only. The repetition must end after `runs`
    // runs.
    for (good, runs) in [(0, 5), (4, 10), (5, 11)] {
        let mut ground = Told {
            fates: fates(good).collect(),
            ..Told::default()
        };
        let mut done = Vec::new();
        let end = go(&planned, &mut done, &mut ground, None);
        let Ok(StudyEnd::TooManyInvalid { verdicts, run }) = &end else {
            panic!("{good}: {end:?}");
        };
        assert_eq!(
            (verdicts.all(), verdicts.invalid, *run),
            (runs, runs - good, Some(u64::from(runs)))
        );
        assert_eq!(ground.measured.len() as u32, runs);
        // A continued repetition ends at once, for the same reason.
        let mut rest = Told::default();
        assert_eq!(go(&planned, &mut done, &mut rest, None), end);
        assert!(rest.measured.is_empty());
    }
    // A repetition without `until` performs all of its runs.
    let fixed = design("targets = [\"/a\"]\nblocks = 12\ntwin = false");
    let mut ground = Told {
        fates: fates(0).collect(),
        ..Told::default()
    };
    let end = go(&fixed, &mut Vec::new(), &mut ground, None);
    assert_eq!(end, Ok(StudyEnd::Complete));
    assert_eq!(ground.measured.len(), 12);
}

#[test]
fn pool_is_churned_once_and_reused_by_later_runs() {
    let planned =
        design("targets = [\"make:ext4\"]\nblocks = 2\ntwin = false\n[axes]\nage = [0, 3]");
    let mut ground = Told::default();
    assert_eq!(
        go(&planned, &mut Vec::new(), &mut ground, None),
        Ok(StudyEnd::Complete)
    );
    // With age 3, 30 files are created for a pool of 10. One of four operations creates a file, so
    // 120 operations are needed.
    assert_eq!(ground.churned, [120]);
    assert_eq!(ground.kept, [1]);
    let aged: Vec<bool> = ground.measured.iter().map(|run| run.0 == "age=3").collect();
    assert_eq!(ground.reused, aged);
}

#[test]
fn requested_configuration_is_measured_only_in_the_requested_block() {
    let planned = design(TWO);
    let mut done = Vec::new();
    for (side, block) in [("old", 1), ("new", 1), ("old", 2)] {
        let mut ground = Told::default();
        assert_eq!(
            go(&planned, &mut done, &mut ground, Some((side, block))),
            Ok(StudyEnd::Complete)
        );
        // The side that was measured first is the baseline, and runs twice.
        let runs = if side == "old" { 3 } else { 2 };
        assert_eq!(ground.measured.len(), runs);
        assert!(
            ground
                .measured
                .iter()
                .all(|run| run.1 == block && run.0.ends_with(side))
        );
    }
    let sides: Vec<_> = done.iter().map(|run| run.part.side.as_deref()).collect();
    assert_eq!(sides[0], Some("old"));
    // The configuration was already measured in block 1, so nothing remains to be measured.
    let mut again = Told::default();
    go(&planned, &mut done, &mut again, Some(("new", 1))).unwrap();
    assert!(again.measured.is_empty());
}
