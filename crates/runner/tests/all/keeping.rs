//! Tests of pools that a run keeps for a later run. The later run checks and reuses the pool, and
//! refuses a pool that differs from its manifest.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use engine::namespace::Namespace;
use engines::kernel_namespace::KernelNamespace;
use engines::posix::Posix;
use record::{Outcome, Record};
use rundir::{CleanError, Cleaned};
use runner::{Control, Event, Events, Place, Refused, RunSpec, Stage, SystemClock};
use testkit::{
    Assert,
    records::phases,
    runs::{by, keeping, layout, private, shared, uniform, verifiable},
};
use workload::layout::Shape;
use workload::{Classic, Mix, Phase, Workers, Workload};

use crate::directory;

fn classic(workers: u32) -> Workload {
    by(
        private(workers),
        Classic {
            files: 200,
            transactions: 500,
            subdirectories: 3,
            ..Classic::default()
        },
    )
}

fn mix(workers: Workers) -> Workload {
    let mix = Mix {
        files: 200,
        transactions: 500,
        weights: "create=3,read=2,append=2,delete=3,rename=1,link=1,symlink=1,mkdir=1,list=1,\
                  replace=1"
            .parse()
            .unwrap(),
        sizes: uniform(0, 5_000),
        layout: layout(Shape::Subdirectories(4), false),
        ..Mix::default()
    };
    verifiable(workers, mix)
}

fn request(workload: Workload, at: &Path, keep: bool, reuse: bool) -> RunSpec {
    let verify = workload.contents.is_some();
    let location = at.to_owned();
    RunSpec {
        keeping: keeping(keep, reuse),
        check: true,
        verify,
        ..RunSpec::classic(workload, vec![location], Place::OwnDirectory)
    }
}

struct Watcher<F>(F);

impl<F: FnMut(Event)> Events for Watcher<F> {
    fn event(&mut self, event: Event) {
        self.0(event);
    }
}

fn perform(request: &RunSpec) -> Result<Record, Refused> {
    runner::run(
        request,
        &Posix,
        &SystemClock,
        &mut Control::default,
        &mut Watcher(|_| ()),
    )
}

fn complete(request: &RunSpec) -> Record {
    let record = perform(request).unwrap();
    assert_eq!(record.actual.outcome, Outcome::Complete);
    assert!(record.actual.errors.is_empty());
    record
}

fn entries(at: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(at)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect()
}

fn files(at: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in entries(at) {
        if path.is_dir() && !path.is_symlink() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn clean(path: &Path) -> Result<Vec<Cleaned>, CleanError> {
    let namespace: Arc<dyn Namespace> = Arc::new(KernelNamespace::default());
    rundir::clean(&namespace, path)
}

#[test]
fn pool_is_kept_reused_and_removed() {
    for workload in [
        classic(1),
        classic(3),
        mix(Workers::ONE),
        mix(Workers::Private { workers: 2 }),
    ] {
        let at = directory();
        let first = complete(&request(workload.clone(), at.path(), true, false));
        assert_eq!(phases(&first), [Phase::Prepare, Phase::Transactions]);
        let kept = files(at.path());
        assert!(kept.len() > 100, "{}", kept.len());
        let second = complete(&request(workload.clone(), at.path(), true, true));
        assert_eq!(phases(&second), [Phase::Transactions]);
        assert!(second.actual.taken.is_some_and(|check| check.names >= 200));
        assert_ne!(files(at.path()), kept, "the pool has moved on");
        let third = complete(&request(workload, at.path(), false, true));
        assert_eq!(phases(&third), [Phase::Transactions, Phase::Delete]);
        assert_eq!(entries(at.path()), Vec::<PathBuf>::new());
    }
}

#[test]
fn prepared_pool_accepts_other_workloads_and_workers() {
    let prepared = mix(Workers::ONE);
    let none = Workload {
        work: workload::Work::Mix(Mix {
            transactions: 0,
            weights: "read=1".parse().unwrap(),
            ..prepared.mix().unwrap().clone()
        }),
        ..prepared.clone()
    };
    for again in [prepared.clone(), mix(shared(3, 2))] {
        let at = directory();
        complete(&request(none.clone(), at.path(), true, false));
        complete(&request(again, at.path(), false, true));
        assert_eq!(entries(at.path()), Vec::<PathBuf>::new());
    }
}

#[test]
fn interrupted_run_keeps_its_pool_for_reuse() {
    for workload in [classic(2), mix(Workers::Private { workers: 2 })] {
        let at = directory();
        let long = workload.with_more_transactions(1_000_000_000);
        let signal = Arc::new(AtomicUsize::new(0));
        let mut watcher = Watcher(|event| {
            if let Event::PhaseProgress(Stage::Phase(Phase::Transactions), _) = event {
                signal.store(2, Ordering::SeqCst);
            }
        });
        let mut control = || Control::stopped_by(Arc::clone(&signal));
        let request_long = request(long, at.path(), true, false);
        let record = runner::run(
            &request_long,
            &Posix,
            &SystemClock,
            &mut control,
            &mut watcher,
        )
        .unwrap();
        assert_eq!(record.actual.outcome, Outcome::Interrupted { signal: 2 });
        complete(&request(workload, at.path(), false, true));
        assert_eq!(entries(at.path()), Vec::<PathBuf>::new());
    }
}

#[test]
fn damaged_kept_pool_fails_the_run_and_is_not_changed() {
    let damages: [fn(&[PathBuf]); 3] = [
        |files| std::fs::remove_file(&files[50]).unwrap(),
        |files| std::fs::write(files[50].with_file_name("9999999"), "foreign").unwrap(),
        |files| {
            for file in files
                .iter()
                .filter(|file| !file.ends_with(".postmark-manifest.json"))
            {
                std::fs::File::options()
                    .append(true)
                    .open(file)
                    .unwrap()
                    .set_len(7)
                    .unwrap();
            }
        },
    ];
    for damage in damages {
        let at = directory();
        complete(&request(classic(1), at.path(), true, false));
        damage(&files(at.path()));
        let before = files(at.path());
        let record = perform(&request(classic(1), at.path(), false, true)).unwrap();
        record
            .actual
            .outcome
            .assert(matches!(record.actual.outcome, Outcome::Failed { .. }));
        assert_eq!(files(at.path()), before, "nothing was touched");
    }
}

#[test]
fn reuse_without_matching_pool_is_refused() {
    let at = directory();
    let refused = |workload, reuse| {
        perform(&request(workload, at.path(), false, reuse))
            .unwrap_err()
            .to_string()
    };
    assert!(refused(classic(1), true).contains("has no kept pool"));
    complete(&request(classic(1), at.path(), true, false));
    assert!(refused(classic(2), true).contains("has no kept pool of this workload"));
    assert!(refused(mix(Workers::ONE), true).contains("use the options of the run that kept it"));
    complete(&request(classic(1), at.path(), true, false));
    assert!(refused(classic(1), true).contains("several kept pools"));
    let shared = mix(shared(1, 1));
    let keep = perform(&request(shared, at.path(), true, false)).unwrap_err();
    keep.assert(keep.to_string().contains("requires --transactions 0"));
}

#[test]
fn clean_removes_kept_pool_only_if_its_path_is_given() {
    let at = directory();
    complete(&request(classic(2), at.path(), true, false));
    let own = entries(at.path())[0].clone();
    let cleaned = clean(at.path()).unwrap();
    assert!(matches!(&cleaned[..], [Cleaned::Kept {
            directory }] if directory.ends_with(own.file_name().unwrap())));
    assert!(files(at.path()).len() > 100);
    assert!(matches!(
        &clean(&own).unwrap()[..],
        [Cleaned::Removed { .. }]
    ));
    assert_eq!(entries(at.path()), Vec::<PathBuf>::new());
}
