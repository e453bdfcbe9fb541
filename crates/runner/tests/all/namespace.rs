//! A run in a namespace where no kernel knows a path: prepared, cut off, cleaned, kept, used again,
//! and its log checked.

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

fn storage() -> Simulated {
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

fn run(request: &RunSpec, storage: &Simulated) -> Result<Record, Refused> {
    runner::run(
        request,
        storage,
        storage,
        &mut Control::default,
        &mut NoEvents,
    )
}

/// A run that the power leaves at half way, after which there is power again.
fn cut_off(request: &RunSpec, storage: Simulated) -> Simulated {
    let whole = self::storage();
    run(
        &RunSpec {
            ack_log: None,
            ..request.clone()
        },
        &whole,
    )
    .unwrap();
    let storage = storage.cut_at(whole.calls() / 2);
    let record = run(request, &storage).unwrap();
    assert_ne!(record.actual.outcome, Outcome::Complete);
    storage.restart();
    assert!(!storage.files().is_empty(), "the state stays");
    storage
}

fn clean(storage: &Simulated, path: &Path) -> Vec<Cleaned> {
    let namespace: Arc<dyn Namespace> = Arc::new(storage.clone());
    rundir::clean(&namespace, path).unwrap()
}

fn removed(cleaned: &[Cleaned]) -> &CleanUp {
    match cleaned {
        [Cleaned::Removed { clean_up, .. }] => clean_up,
        other => panic!("one run was cleaned: {other:?}"),
    }
}

/// The directory that the run has made for itself, by its path.
fn own_directory(storage: &Simulated) -> PathBuf {
    let mut own = Vec::new();
    let at = Namespace::open(storage, Path::new(AT)).unwrap();
    at.list(&mut |entry| {
        own.push(String::from_utf8_lossy(entry.name).into_owned());
        Ok(())
    })
    .unwrap();
    assert_eq!(own.len(), 1, "{own:?}");
    Path::new(AT).join(&own[0])
}

/// Somebody else's file.
fn put(storage: &Simulated, directory: &Path, name: &str) {
    let directory = Namespace::open(storage, directory).unwrap();
    directory.draft(name).unwrap().write(b"mine").unwrap();
}

#[test]
fn a_run_that_ends_well_leaves_nothing() {
    for place in [Place::OwnDirectory, Place::Location] {
        let storage = storage();
        let record = run(&request(place), &storage).unwrap();
        assert_eq!(record.actual.outcome, Outcome::Complete);
        assert_eq!(storage.files().len(), 0, "{:?}", storage.files());
        assert!(storage.truth().created > 40);
    }
}

#[test]
fn what_a_crash_has_left_is_cleaned_and_nothing_else() {
    for storage in [storage(), storage().forgetting_files()] {
        let storage = cut_off(&request(Place::OwnDirectory), storage);
        let left = storage.files().len();
        let own = own_directory(&storage);
        put(&storage, Path::new(AT), "1");
        let refused = run(
            &RunSpec {
                keeping: keeping(false, true),
                ..request(Place::OwnDirectory)
            },
            &storage,
        );
        assert!(refused.unwrap_err().to_string().contains("postmark clean"));
        let cleaned = clean(&storage, Path::new(AT));
        let done = removed(&cleaned);
        done.assert(done.files > 20 && done.left.is_empty() && !done.incomplete);
        assert!(done.files < left as u64 + 200);
        assert_eq!(
            storage.files().into_keys().collect::<Vec<_>>(),
            [format!("{AT}/1")]
        );
        assert!(
            Namespace::facts(&storage, &own).is_err(),
            "its directory is gone"
        );
    }
}

#[test]
fn others_files_stay_below_a_prefix_too() {
    for storage in [storage(), storage().forgetting_files()] {
        let storage = cut_off(&request(Place::OwnDirectory), storage);
        let own = own_directory(&storage);
        put(&storage, &own, "notes");
        let cleaned = clean(&storage, Path::new(AT));
        assert!(removed(&cleaned).incomplete);
        assert_eq!(
            storage.files().into_keys().collect::<Vec<_>>(),
            [format!("{}/notes", own.display())]
        );
    }
}

/// Beside a user's files a name of the run's form is not enough.
#[test]
fn where_files_are_not_known_again_nothing_is_removed_beside_others() {
    let known = cut_off(&request(Place::Location), storage());
    let cleaned = clean(&known, Path::new(AT));
    let done = removed(&cleaned);
    // What a worker was writing when the power went may be anybody's; the manifest stays with it.
    assert!(
        done.files > 20 && known.files().len() <= 3,
        "{done:?} {:?}",
        known.files()
    );

    let unknown = cut_off(&request(Place::Location), storage().forgetting_files());
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
fn a_pool_is_kept_and_used_again() {
    for storage in [storage(), storage().forgetting_files()] {
        let request = request(Place::OwnDirectory);
        let with = |keep, reuse| RunSpec {
            keeping: keeping(keep, reuse),
            ..request.clone()
        };
        let first = run(&with(true, false), &storage).unwrap();
        assert_eq!(first.actual.outcome, Outcome::Complete);
        let kept = storage.files().len();
        assert!(kept > 1);
        assert!(matches!(
            &clean(&storage, Path::new(AT))[..],
            [Cleaned::Kept { .. }]
        ));
        assert_eq!(storage.files().len(), kept);
        let again = run(&with(true, true), &storage).unwrap();
        assert_eq!(again.actual.outcome, Outcome::Complete);
        assert!(matches!(
            &clean(&storage, Path::new(AT))[..],
            [Cleaned::Kept { .. }]
        ));
        let own = own_directory(&storage);
        assert!(!removed(&clean(&storage, &own)).incomplete);
        assert_eq!(storage.files().len(), 0, "{:?}", storage.files());
    }
}

#[test]
fn a_run_that_goes_on_is_left_alone() {
    let storage = storage();
    let request = RunSpec {
        keeping: keeping(true, false),
        ..request(Place::OwnDirectory)
    };
    run(&request, &storage).unwrap();
    let own = own_directory(&storage);
    let held = Namespace::open(&storage, &own).unwrap();
    let mark = held.mark(".postmark-manifest.json").unwrap().unwrap();
    assert_eq!(mark.lock(), Ok(Lock::Ours));
    assert!(matches!(
        &clean(&storage, &own)[..],
        [Cleaned::Active { .. }]
    ));
    drop(mark);
    assert!(matches!(
        &clean(&storage, &own)[..],
        [Cleaned::Removed { .. }]
    ));
}

#[test]
fn the_log_of_what_was_acknowledged_is_checked() {
    let logs = tempfile::tempdir().unwrap();
    let log = logs.path().join("log");
    let request = RunSpec {
        ack_log: Some(log.clone()),
        ..request(Place::OwnDirectory)
    };
    let storage = cut_off(&request, storage());
    let verified = rundir::verify_log(&storage, Path::new(AT), &log).unwrap();
    assert_eq!(verified.lost, []);
    assert!(
        verified.acknowledged.creations > 20 && verified.checked > 20 && verified.contents_checked
    );

    // One that was acknowledged and that nothing was being done to is lost.
    let lost = storage.files().into_keys().find(|name| {
        let name = name.rsplit('/').next().unwrap();
        name.bytes().all(|byte| byte.is_ascii_digit())
    });
    let gone = PathBuf::from(lost.unwrap());
    let directory = Namespace::open(&storage, gone.parent().unwrap()).unwrap();
    let name = gone.file_name().unwrap().as_encoded_bytes();
    let facts = directory.facts_of(name).unwrap();
    assert_eq!(directory.remove(name, &facts), Ok(true));
    let verified = rundir::verify_log(&storage, Path::new(AT), &log).unwrap();
    let lost: Vec<_> = verified
        .lost
        .iter()
        .map(|loss| (loss.kind, PathBuf::from(&loss.path)))
        .collect();
    assert_eq!(lost, [(LossKind::Missing, gone)]);
}
