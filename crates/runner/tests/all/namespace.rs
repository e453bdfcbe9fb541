//! Runs in a namespace that is not a file system of the kernel. The tests prepare, keep and reuse
//! pools, cut the power, clean up, and verify the acknowledgement log.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::namespace::{Lock, Namespace};
use engines::simulated::{Code, Simulated};
use record::{CleanUp, Outcome, Record};
use rundir::{Cleaned, LossKind};
use runner::{Control, NoEvents, Place, Refused, RunSpec};
use testkit::runs::{layout, private, verifiable};
use testkit::{Assert, runs::keeping};
use workload::layout::Shape;
use workload::{Action, Mix, Weights, Workload};

const AT: &str = "/files";

fn engine() -> Simulated {
    Simulated::new(Code::Posix, 7).with_directory(AT)
}

fn workload() -> Workload {
    let weights = [
        Action::Create,
        Action::Read,
        Action::Append,
        Action::Delete,
        Action::Rename,
        Action::Link,
        Action::SymbolicLink,
        Action::Deliver,
    ];
    verifiable(
        private(2),
        Mix {
            files: 20,
            transactions: 200,
            weights: weights
                .into_iter()
                .fold(Weights::default(), |weights, action| {
                    weights.with(action, 1)
                }),
            layout: layout(Shape::Subdirectories(2), true),
            ..Mix::default()
        },
    )
}

fn request(place: Place) -> RunSpec {
    RunSpec {
        room_check: false,
        overhead: false,
        ..RunSpec::classic(workload(), vec![AT.into()], place)
    }
}

fn run(request: &RunSpec, engine: &Simulated) -> Result<Record, Refused> {
    runner::run(
        request,
        engine,
        engine,
        &mut Control::default,
        &mut NoEvents,
    )
}

/// Performs half of a run, cuts the power of the simulated machine, and restores the power. Returns
/// the engine, which still contains files of the run.
fn cut_power_midway(request: &RunSpec, engine: Simulated) -> Simulated {
    let whole = self::engine();
    run(
        &RunSpec {
            ack_log: None,
            ..request.clone()
        },
        &whole,
    )
    .unwrap();
    let engine = engine.cut_at(whole.calls() / 2);
    let record = run(request, &engine).unwrap();
    assert_ne!(record.actual.outcome, Outcome::Complete);
    engine.restart();
    assert!(!engine.files().is_empty(), "the state stays");
    engine
}

fn clean(engine: &Simulated, path: &Path) -> Vec<Cleaned> {
    let namespace: Arc<dyn Namespace> = Arc::new(engine.clone());
    rundir::clean(&namespace, path).unwrap()
}

fn removed(cleaned: &[Cleaned]) -> &CleanUp {
    match cleaned {
        [Cleaned::Removed { clean_up, .. }] => clean_up,
        other => panic!("one run was cleaned: {other:?}"),
    }
}

fn own_directory(engine: &Simulated) -> PathBuf {
    let mut own = Vec::new();
    let at = Namespace::open(engine, Path::new(AT)).unwrap();
    at.list(&mut |entry| {
        own.push(String::from_utf8_lossy(entry.name).into_owned());
        Ok(())
    })
    .unwrap();
    assert_eq!(own.len(), 1, "{own:?}");
    Path::new(AT).join(&own[0])
}

/// Creates a file that does not belong to a run.
fn put(engine: &Simulated, directory: &Path, name: &str) {
    let directory = Namespace::open(engine, directory).unwrap();
    directory.draft(name).unwrap().write(b"mine").unwrap();
}

#[test]
fn completed_run_leaves_no_files() {
    for place in [Place::OwnDirectory, Place::Location] {
        let engine = engine();
        let record = run(&request(place), &engine).unwrap();
        assert_eq!(record.actual.outcome, Outcome::Complete);
        assert_eq!(engine.files().len(), 0, "{:?}", engine.files());
        assert!(engine.truth().created > 40);
    }
}

#[test]
fn clean_removes_only_files_of_the_crashed_run() {
    for engine in [engine(), engine().forgetting_files()] {
        let engine = cut_power_midway(&request(Place::OwnDirectory), engine);
        let left = engine.files().len();
        let own = own_directory(&engine);
        put(&engine, Path::new(AT), "1");
        let refused = run(
            &RunSpec {
                keeping: keeping(false, true),
                ..request(Place::OwnDirectory)
            },
            &engine,
        );
        assert!(refused.unwrap_err().to_string().contains("postmark clean"));
        let cleaned = clean(&engine, Path::new(AT));
        let done = removed(&cleaned);
        done.assert(done.files > 20 && done.left.is_empty() && !done.incomplete);
        assert!(done.files < left as u64 + 200);
        assert_eq!(
            engine.files().into_keys().collect::<Vec<_>>(),
            [format!("{AT}/1")]
        );
        assert!(
            Namespace::facts(&engine, &own).is_err(),
            "its directory is gone"
        );
    }
}

#[test]
fn clean_keeps_foreign_files_in_the_run_directory() {
    for engine in [engine(), engine().forgetting_files()] {
        let engine = cut_power_midway(&request(Place::OwnDirectory), engine);
        let own = own_directory(&engine);
        put(&engine, &own, "notes");
        let cleaned = clean(&engine, Path::new(AT));
        assert!(removed(&cleaned).incomplete);
        assert_eq!(
            engine.files().into_keys().collect::<Vec<_>>(),
            [format!("{}/notes", own.display())]
        );
    }
}

/// In a directory with a user's own files, a name in the form of the run's names does not prove
/// that the run created the file.
#[test]
fn clean_keeps_unrecognised_files_next_to_user_files() {
    let known = cut_power_midway(&request(Place::Location), engine());
    let cleaned = clean(&known, Path::new(AT));
    let done = removed(&cleaned);
    // A partly written file cannot be recognised and may belong to another program. Therefore this
    // file and the manifest remain.
    assert!(
        done.files > 20 && known.files().len() <= 3,
        "{done:?} {:?}",
        known.files()
    );

    let unknown = cut_power_midway(&request(Place::Location), engine().forgetting_files());
    let before = unknown.files();
    let cleaned = clean(&unknown, Path::new(AT));
    let done = removed(&cleaned);
    assert!(done.incomplete && done.files == 0, "{done:?}");
    done.assert(
        done.left
            .iter()
            .any(|left| left.why.contains("does not report")),
    );
    assert_eq!(unknown.files(), before);
}

#[test]
fn pool_of_an_earlier_run_is_reused() {
    for engine in [engine(), engine().forgetting_files()] {
        let request = request(Place::OwnDirectory);
        let with = |keep, reuse| RunSpec {
            keeping: keeping(keep, reuse),
            ..request.clone()
        };
        let first = run(&with(true, false), &engine).unwrap();
        assert_eq!(first.actual.outcome, Outcome::Complete);
        let kept = engine.files().len();
        assert!(kept > 1);
        assert!(matches!(
            &clean(&engine, Path::new(AT))[..],
            [Cleaned::Kept { .. }]
        ));
        assert_eq!(engine.files().len(), kept);
        let again = run(&with(true, true), &engine).unwrap();
        assert_eq!(again.actual.outcome, Outcome::Complete);
        assert!(matches!(
            &clean(&engine, Path::new(AT))[..],
            [Cleaned::Kept { .. }]
        ));
        let own = own_directory(&engine);
        assert!(!removed(&clean(&engine, &own)).incomplete);
        assert_eq!(engine.files().len(), 0, "{:?}", engine.files());
    }
}

#[test]
fn clean_does_not_change_an_active_run() {
    let engine = engine();
    let request = RunSpec {
        keeping: keeping(true, false),
        ..request(Place::OwnDirectory)
    };
    run(&request, &engine).unwrap();
    let own = own_directory(&engine);
    let held = Namespace::open(&engine, &own).unwrap();
    let mark = held.mark(".postmark-manifest.json").unwrap().unwrap();
    assert_eq!(mark.lock(), Ok(Lock::Ours));
    assert!(matches!(
        &clean(&engine, &own)[..],
        [Cleaned::Active { .. }]
    ));
    drop(mark);
    assert!(matches!(
        &clean(&engine, &own)[..],
        [Cleaned::Removed { .. }]
    ));
}

#[test]
fn acknowledgement_log_is_verified_in_any_namespace() {
    let logs = tempfile::tempdir().unwrap();
    let log = logs.path().join("log");
    let request = RunSpec {
        ack_log: Some(log.clone()),
        ..request(Place::OwnDirectory)
    };
    let engine = cut_power_midway(&request, engine());
    let verified = rundir::verify_log(&engine, Path::new(AT), &log).unwrap();
    assert_eq!(verified.lost, []);
    assert!(
        verified.acknowledged.creations > 20 && verified.checked > 20 && verified.contents_checked
    );

    // The test removes a file whose creation was acknowledged and that no operation in flight
    // affected.
    let lost = engine.files().into_keys().find(|name| {
        let name = name.rsplit('/').next().unwrap();
        name.bytes().all(|byte| byte.is_ascii_digit())
    });
    let gone = PathBuf::from(lost.unwrap());
    let directory = Namespace::open(&engine, gone.parent().unwrap()).unwrap();
    let name = gone.file_name().unwrap().as_encoded_bytes();
    let facts = directory.facts_of(name).unwrap();
    assert_eq!(directory.remove(name, &facts), Ok(true));
    let verified = rundir::verify_log(&engine, Path::new(AT), &log).unwrap();
    let lost: Vec<_> = verified
        .lost
        .iter()
        .map(|loss| (loss.kind, PathBuf::from(&loss.path)))
        .collect();
    assert_eq!(lost, [(LossKind::Missing, gone)]);
}
