//! An engine that corrupts data: it flips a byte, loses an append, returns old contents, or loses
//! or duplicates a name. Every corruption must be detected and reported, at whichever operation of
//! a run it happens.

use std::path::PathBuf;

use engines::simulated::{Code, Corruption, Simulated};
use proptest::prelude::*;
use record::{Outcome, Record};
use runner::{Place, RunSpec};
use testkit::{
    Assert,
    runs::{layout, shared, uniform, verifiable},
    simulate,
};
use workload::layout::Shape;
use workload::{Mix, Workers};

/// Returns a mix in which most corrupted files are read before they are removed.
fn mix(weights: &str, seed: u64, shape: Shape) -> Mix {
    Mix {
        files: 12,
        transactions: 120,
        weights: weights.parse().unwrap(),
        sizes: uniform(30, 9_000),
        append_sizes: uniform(30, 5_000),
        size_max_bytes: 200_000,
        layout: layout(shape, false),
        read_block_bytes: 4_096,
        write_block_bytes: 4_096,
        seed,
        ..Mix::default()
    }
}

fn run(mix: Mix, workers: Workers, engine: &Simulated) -> Record {
    let workload = verifiable(workers, mix);
    let location = PathBuf::from("/simulated/0");
    let request = RunSpec {
        room_check: false,
        check: true,
        verify: true,
        ..RunSpec::classic(workload, vec![location], Place::Nowhere)
    };
    simulate(&request, engine)
}

/// Returns the error that ended the run: operation, path and message.
fn error(record: &Record) -> (String, String, String) {
    record
        .actual
        .outcome
        .assert(matches!(record.actual.outcome, Outcome::Failed { .. }));
    let error = &record.actual.errors[0];
    assert!(error.first_path.starts_with("/simulated/0/"), "{error:?}");
    (
        error.operation.clone(),
        error.first_path.clone(),
        error.message.clone(),
    )
}

/// Returns texts of which at least one must be in the message about this corruption.
fn names(corruption: Corruption) -> &'static [&'static str] {
    match corruption {
        Corruption::FlipByte => &["wrong contents"],
        Corruption::LoseAppend => &["the file ended after", "bytes instead of"],
        // Fewer than four zero bytes are reported as wrong bytes, not as zeros.
        Corruption::ZeroAppend => &["zeros", "is 0x00 instead of"],
        // The message states the end of the file if the old contents have another size.
        Corruption::OldVersion => &["old contents", "the file ended after"],
        Corruption::LoseName => &["No such file", "missing"],
        Corruption::DoubleName => &["not to be there"],
    }
}

fn is_found(
    corruption: Corruption,
    nth: u64,
    seed: u64,
    shape: Shape,
    workers: Workers,
) -> Result<bool, TestCaseError> {
    let weights = match corruption {
        Corruption::FlipByte => "read=3,read-range=1,create=1,append=1",
        Corruption::LoseAppend | Corruption::ZeroAppend => "append=2,read=1,create=1",
        Corruption::OldVersion => "overwrite=2,replace=1,read=3",
        Corruption::LoseName => "create=2,read=1,list=1,stat=1",
        Corruption::DoubleName => "rename=2,create=1,list=1,read=1",
    };
    let engine = Simulated::new(Code::Posix, 7).corrupt_at(nth, corruption);
    let record = run(mix(weights, seed, shape), workers, &engine);
    if engine.corruptions_struck().is_empty() {
        prop_assert_eq!(&record.actual.outcome, &Outcome::Complete, "nothing struck");
        return Ok(false);
    }
    let (operation, path, text) = error(&record);
    let told = format!("{corruption:?} was found by '{operation}' on {path} as: {text}");
    prop_assert!(
        names(corruption).iter().any(|name| text.contains(name)),
        "{}",
        told
    );
    // The error of a listing has the directory as its path, and the message contains the name.
    let struck = engine.corrupted_paths().remove(0);
    let (directory, name) = struck.rsplit_once('/').unwrap();
    // Other workers of a shared pool may change names during the listing. The message then contains
    // only some of the differing names.
    let among_more = matches!(workers, Workers::Shared { .. }) && text.contains(" more");
    let in_text = text.contains(&format!("'{name}'")) || among_more;
    let is_named = path == struck || (path.trim_end_matches('/') == directory && in_text);
    prop_assert!(is_named, "{} was struck; {}", struck, told);
    Ok(true)
}

const ALL: [Corruption; 6] = [
    Corruption::FlipByte,
    Corruption::LoseAppend,
    Corruption::ZeroAppend,
    Corruption::OldVersion,
    Corruption::LoseName,
    Corruption::DoubleName,
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None,
        ..ProptestConfig::default() })]

    #[test]
    fn every_corruption_is_detected_and_reported(which in 0..ALL.len(), nth in 0..60_u64, seed: u64,
        in_places: bool, is_shared: bool) {
        let shape = if in_places { Shape::Subdirectories(3) } else { Shape::Flat };
        let workers = if is_shared {
            shared(2, 2)
        } else {
            Workers::ONE
        };
        is_found(ALL[which], nth, seed, shape, workers)?;
    }
}

/// Checks that every kind of corruption actually happens, so that the property test above covers
/// it.
#[test]
fn every_kind_of_corruption_happens() {
    for corruption in ALL {
        // In a shared pool, timing determines which files are read after the corruption, so fewer
        // corruptions are detected.
        let shared = shared(2, 2);
        for (workers, tries, least) in [(Workers::ONE, 10, 5), (shared, 30, 1)] {
            let struck = (0..tries)
                .filter(|nth| is_found(corruption, *nth, 7, Shape::Flat, workers).unwrap())
                .count();
            assert!(
                struck >= least,
                "{corruption:?} struck {struck} times with {workers:?}"
            );
        }
    }
}
