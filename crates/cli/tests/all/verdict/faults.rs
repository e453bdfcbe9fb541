//! Verdicts of runs in which operations fail or data is corrupted on the simulated engine, and of
//! runs whose pool becomes empty.

use std::path::PathBuf;

use engines::simulated::{Code, Corruption, Fault, Simulated};
use record::{End, Outcome, Record};
use runner::{OnError, Place, RunSpec};
use testkit::{Assert, simulate};
use verdict::rules::{Errors, Partial, RanDry};
use verdict::{Level, Reason, Verdict};
use workload::Mix;

use super::has;
use crate::runs::Run;
use crate::support::TestDir;

const EIO: i32 = 5;

/// Performs a run whose final check reads only the names of files.
fn run(weights: &str, on_error: OnError, engine: &Simulated) -> Record {
    let mix = Mix {
        files: 50,
        transactions: 400,
        weights: weights.parse().unwrap(),
        ..Mix::default()
    };
    let location = PathBuf::from("/simulated/0");
    let request = RunSpec {
        room_check: false,
        check: true,
        on_error,
        ..RunSpec::classic(mix.into(), vec![location], Place::Nowhere)
    };
    simulate(&request, engine)
}

/// An engine on which two system calls of the transactions phase fail.
fn failing() -> Simulated {
    let engine = Simulated::new(Code::Posix, 7_000);
    engine
        .fault_at(700, Fault::Error(EIO))
        .fault_at(900, Fault::Error(EIO))
}

#[test]
fn run_with_allowed_errors_is_doubtful() {
    let record = run("stat=1,read=2", OnError::Count(2), &failing());
    assert_eq!(record.actual.outcome, Outcome::Complete);
    let verdict = Verdict::of(&record);
    assert_eq!(verdict.level, Level::Doubtful, "{verdict:?}");
    let told = has!(
        verdict,
        Reason::Errors(Errors {
            errors: 2,
            is_exceeded: false,
            ..
        })
    );
    assert!(told, "{verdict:?}");
}

#[test]
fn run_with_more_errors_than_allowed_is_invalid() {
    for allowed in [OnError::Stop, OnError::Count(1), OnError::Percent(0.1)] {
        let verdict = Verdict::of(&run("stat=1,read=2", allowed, &failing()));
        assert_eq!(verdict.level, Level::Invalid, "{allowed}");
        assert!(
            has!(
                verdict,
                Reason::Errors(Errors {
                    is_exceeded: true,
                    ..
                })
            ),
            "{allowed}: {verdict:?}"
        );
        assert!(
            has!(
                verdict,
                Reason::Partial(Partial {
                    outcome: Outcome::Failed { .. }
                })
            ),
            "{allowed}: {verdict:?}"
        );
    }
}

#[test]
fn run_with_a_lost_file_name_is_invalid_even_if_errors_are_allowed() {
    // Searches for a created file that loses its name and that no later transaction uses. Only the
    // final check can find this loss.
    let found = (0..50).find_map(|nth| {
        let engine = Simulated::new(Code::Posix, 7_000).corrupt_at(nth, Corruption::LoseName);
        let record = run("create=1", OnError::Count(100), &engine);
        let verdict = Verdict::of(&record);
        has!(verdict, Reason::WrongNames(_)).then_some((record, verdict))
    });
    let (record, verdict) = found.unwrap();
    assert_eq!(record.actual.outcome, Outcome::Complete);
    assert_eq!(verdict.level, Level::Invalid);
    verdict.assert(has!(
        verdict,
        Reason::Errors(Errors {
            is_exceeded: false,
            ..
        })
    ));
}

#[test]
fn run_with_an_empty_pool_is_invalid() {
    let test_dir = TestDir::in_memory();
    let location = test_dir.directory("location");
    for work in ["--bias-create 0", "--mix delete=1,read=1"] {
        let ran = Run::new(&location, "--files 300 --transactions 5000")
            .and(work)
            .perform();
        ran.is(Level::Invalid);
        let verdict = &ran.summary.verdict;
        let dry = has!(verdict, Reason::RanDry(RanDry { end: End::OutOfFiles,
            transactions }) if *transactions >= 300 && *transactions < 5_000);
        ran.assert(dry, format_args!("{verdict:#?}"));
        ran.ended.code(0);
    }
}
