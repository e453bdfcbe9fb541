//! Tests every engine with every operation and durability policy: the calls that are made, and the
//! errors.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use crate::support::work::{KEY, MODE, Names, SET, TIMES_NS, steps_of, work};
use crate::support::{FilePath, POLICIES, TEXT, TICKET, done, failed, make, settings};
use engine::{
    Cause, Durability, Engine, Failure, Listing, Name, Operation, OperationKind, Policies, Session,
    Settings, Step,
};
use engines::posix::Posix;
use engines::raw::Raw;
use engines::simulated::{Code, Simulated};
use engines::stdio::Stdio;
use engines::uring::Uring;

const ENOENT: i32 = 2;
const EIO: i32 = 5;
const EEXIST: i32 = 17;
const ENOTDIR: i32 = 20;

fn does_everything<S: Engine>(engine: &S, directory: &Path, block: usize, policies: &Policies) {
    let names = &Names::new(directory);
    let settings = Settings {
        durability: policies.clone(),
        keep_contents_bytes: 64,
        ..settings(directory, block)
    };
    let session = &mut engine.open(&settings).unwrap();
    let mut kinds = Vec::new();
    // Clones need a file system that shares blocks, and so do the removals of the cloned files. A
    // test of the command-line program performs clones on XFS and Btrfs.
    let shares_blocks = engine.name() == "simulated" || engines::probe_clone(directory).is_ok();
    let mut is_clone = false;
    for (operation, steps) in work(names) {
        let what = format!("{} {policies}: {operation:?}", engine.name());
        let kind = operation.kind();
        let follows_clone = std::mem::replace(
            &mut is_clone,
            matches!(
                kind,
                OperationKind::Clone | OperationKind::InstallClone | OperationKind::CloneTree
            ),
        );
        if !shares_blocks && (is_clone || follows_clone) {
            kinds.push(kind);
            continue;
        }
        let mut listed = steps.clone();
        listed.dedup();
        let list: Vec<Step> = kind.steps().iter().map(|part| part.step).collect();
        assert_eq!(
            listed, list,
            "the list of operations has the calls of {what}"
        );
        assert_eq!(
            done(session, &operation),
            steps_of(&steps, kind, policies.of_kind(kind)),
            "{what}"
        );
        match operation {
            Operation::Read { .. } | Operation::ReadMapped { .. } => assert_eq!(
                session.content(TICKET),
                Some(&b"abc34567890123456789"[..]),
                "{what}"
            ),
            Operation::ReadRange { .. } => {
                assert_eq!(session.content(TICKET), Some(&b"c3456789012"[..]), "{what}")
            }
            Operation::List { .. } | Operation::ListWithStat { .. } => {
                let mut expected = Listing::default();
                ["5", "6", "3"]
                    .iter()
                    .for_each(|name| expected.add(name.as_bytes()));
                assert_eq!(session.listing(TICKET), Some(expected), "{what}");
                let mut names = session.names(operation.name()).unwrap();
                names.sort();
                assert_eq!(names, [b"3", b"5", b"6"], "{what}");
            }
            _ => {}
        }
        kinds.push(kind);
    }
    for kind in OperationKind::ALL {
        assert!(kinds.contains(&kind), "{kinds:?}");
    }
    reports_system_errors(session, names);
}

/// Performs operations that must fail. The caller has performed the operations of [`work`], which
/// left files 5 (7 bytes) and 6 (8 bytes) in `d`.
fn reports_system_errors(session: &mut Box<dyn Session>, names: &Names) {
    let [d, one, two, five, six, temporary] =
        ["d", "d/1", "d/2", "d/5", "d/6", "tmp"].map(|name| names.of(name));
    let (content, target) = (&TEXT[..3], c"5");
    let files = make::listing(&["5", "6"]);
    done(session, &make::set_extended(five, KEY, b"right"));
    done(session, &make::symbolic_link(two, target));
    let errors = [
        (make::rename(five, six), Step::Rename, EEXIST),
        (make::rename(one, temporary), Step::Rename, ENOENT),
        (make::deliver(temporary, six, content), Step::Rename, EEXIST),
        // The failed delivery has left its temporary file.
        (make::deliver(temporary, one, content), Step::Open, EEXIST),
        (make::replace(five, temporary, content), Step::Open, EEXIST),
        (make::link(five, six), Step::Link, EEXIST),
        (make::link(one, names.of("d/3")), Step::Link, ENOENT),
        (make::symbolic_link(six, target), Step::SymbolicLink, EEXIST),
        (make::make_directory(d), Step::MakeDirectory, EEXIST),
        (make::create(six, content), Step::Open, EEXIST),
        (make::overwrite(one, content), Step::Open, ENOENT),
        (make::truncate(one, 1), Step::Open, ENOENT),
        (make::read_range(one, 0, 1), Step::Open, ENOENT),
        (make::stat(one, None), Step::Stat, ENOENT),
        (make::stat_missing(five), Step::Stat, EEXIST),
        (make::open_missing(five), Step::Open, EEXIST),
        (make::open_close(one), Step::Open, ENOENT),
        (make::read_mapped(one, 1), Step::Open, ENOENT),
        (make::lock(one), Step::Open, ENOENT),
        (make::copy(one, temporary, 1), Step::Open, ENOENT),
        (make::copy(five, six, 7), Step::Open, EEXIST),
        (make::install(six, content, SET), Step::Stat, EEXIST),
        (
            make::install(names.of("e/4"), content, SET),
            Step::MakeDirectory,
            ENOENT,
        ),
        (make::install_link(five, six), Step::Stat, EEXIST),
        (make::install_copy(five, six, 7, SET), Step::Stat, EEXIST),
        (make::install_clone(five, six, 7, SET), Step::Stat, EEXIST),
        (make::rewrite(one, content), Step::Open, ENOENT),
        (make::lock_file(six), Step::Open, EEXIST),
        (make::read_link(one, target), Step::ReadLink, ENOENT),
        (make::evict(one), Step::Open, ENOENT),
        (
            make::copy_tree(d, six, files, 15),
            Step::MakeDirectory,
            EEXIST,
        ),
        (make::remove_tree(one, files), Step::Open, ENOENT),
        (make::remove_tree(five, files), Step::Open, ENOTDIR),
        (make::list(one), Step::Open, ENOENT),
        (make::list(five), Step::Open, ENOTDIR),
        // The directory does not exist: the call creates it, and the operation fails.
        (make::make_existing(one), Step::MakeDirectory, ENOENT),
    ];
    for (operation, step, errno) in errors {
        let failure = failed(session, &operation);
        assert_eq!(
            (failure.step, failure.errno()),
            (step, Some(errno)),
            "{operation:?}"
        );
    }
    done(session, &make::delete(temporary));
    done(session, &make::remove_directory(one));
    done(session, &make::remove_directory(names.of("e")));
    reports_wrong_results(session, names);
    keeps_other_files_of_trees(session, names);
    // The failed operations changed nothing.
    done(session, &make::read(five, 7));
    assert_eq!(session.content(TICKET), Some(&TEXT[..7]));
    done(session, &make::read(six, 8));
    assert_eq!(session.content(TICKET), Some(&TEXT[..8]));
}

/// Removals of a directory with other files than expected fail and remove nothing.
fn keeps_other_files_of_trees(session: &mut Box<dyn Session>, names: &Names) {
    let [d, tree, file, five, link] =
        ["d", "d/8.r", "d/8.r/5", "d/5", "d/9.l"].map(|name| names.of(name));
    // Copies do not contain hard links.
    done(session, &make::link(five, link));
    let files = make::listing(&["5", "6"]);
    let wrong = |found, expected| Cause::WrongFiles { found, expected };
    // A copy with a wrong size of all files.
    let failure = failed(session, &make::copy_tree(d, tree, files, 16));
    let size = Cause::WrongSize {
        found: 15,
        expected: 16,
    };
    assert_eq!((failure.step, failure.cause), (Step::Copy, size));
    for (listing, cause) in [
        (make::listing(&["5"]), wrong(2, 1)),
        (make::listing(&["5", "7"]), wrong(2, 2)),
    ] {
        let failure = failed(session, &make::remove_tree(tree, listing));
        assert_eq!((failure.step, failure.cause), (Step::List, cause));
        done(session, &make::stat(file, Some(7)));
    }
    done(session, &make::read(file, 7));
    assert_eq!(session.content(TICKET), Some(&TEXT[..7]));
    done(session, &make::remove_tree(tree, files));
    let failure = failed(session, &make::copy_tree(d, tree, make::listing(&["5"]), 7));
    assert_eq!((failure.step, failure.cause), (Step::List, wrong(2, 1)));
    done(session, &make::remove_directory(tree));
    done(session, &make::delete(link));
}

/// Performs operations whose results differ from the expected results, so they must fail.
fn reports_wrong_results(session: &mut Box<dyn Session>, names: &Names) {
    let [two, five] = ["d/2", "d/5"].map(|name| names.of(name));
    let causes = [
        (
            make::stat(five, Some(9)),
            Step::Stat,
            Cause::WrongSize {
                found: 7,
                expected: 9,
            },
        ),
        (
            make::read_link(two, c"6"),
            Step::ReadLink,
            Cause::WrongTarget,
        ),
        (
            make::get_extended(five, KEY, b"wrong"),
            Step::GetExtended,
            Cause::WrongValue,
        ),
        (
            make::get_extended(five, KEY, b"righ"),
            Step::GetExtended,
            Cause::WrongValue,
        ),
        (
            make::read_range(five, 4, 5),
            Step::Read,
            Cause::EndedEarly {
                read: 3,
                expected: 5,
            },
        ),
    ];
    for (operation, step, cause) in causes {
        let failure = failed(session, &operation);
        assert_eq!(
            (failure.step, failure.cause, failure.errno()),
            (step, cause, None),
            "{operation:?}"
        );
    }
}

fn check_final_files(directory: &Path) {
    assert_eq!(std::fs::read(directory.join("d/5")).unwrap(), &TEXT[..7]);
    assert_eq!(std::fs::read(directory.join("d/6")).unwrap(), &TEXT[..8]);
    assert_eq!(
        std::fs::read_link(directory.join("d/2")).unwrap(),
        Path::new("5")
    );
    assert_eq!(std::fs::read_dir(directory.join("d")).unwrap().count(), 3);
    assert_eq!(std::fs::read_dir(directory).unwrap().count(), 1);
}

#[test]
fn every_engine_performs_every_operation() {
    let own = "fsync+dir,create=fdatasync,rename=none,link=fsync+dir,append=none";
    let policies = POLICIES.into_iter().map(Policies::from);
    for policies in policies.chain([own.parse().unwrap()]) {
        for block in [3, 4096] {
            for code in [Code::Raw, Code::Posix] {
                let temporary = tempfile::tempdir().unwrap();
                match code {
                    Code::Raw => does_everything(&Raw, temporary.path(), block, &policies),
                    Code::Posix => does_everything(&Posix, temporary.path(), block, &policies),
                }
                check_final_files(temporary.path());
                let engine = Simulated::new(code, 1);
                does_everything(&engine, Path::new("/sim"), block, &policies);
                assert_eq!(engine.content_of("/sim/d/6").unwrap(), &TEXT[..8]);
                assert_eq!(engine.files().len(), 2);
                assert_eq!(engine.open_files(), 0);
            }
            for (depth, chains) in [(1, true), (8, true), (64, true), (1, false), (8, false)] {
                let temporary = tempfile::tempdir().unwrap();
                let engine = match chains {
                    true => Uring::new(depth),
                    false => Uring::new(depth).without_chains(),
                };
                does_everything(&engine, temporary.path(), block, &policies);
                check_final_files(temporary.path());
            }
        }
    }
}

/// A read beyond the last page of a mapped file causes SIGBUS, which must become an error.
#[test]
fn mapping_beyond_the_end_of_a_file_is_an_error() {
    let temporary = tempfile::tempdir().unwrap();
    let file = FilePath::new(temporary.path(), "1");
    let mut session = Posix.open(&settings(temporary.path(), 512)).unwrap();
    done(&mut session, &make::create(file.name(), TEXT));
    let bytes = 4 * rustix::param::page_size() as u64;
    for _ in 0..2 {
        let failure = failed(&mut session, &make::read_mapped(file.name(), bytes));
        assert_eq!((failure.step, failure.errno()), (Step::Map, Some(EIO)));
        done(
            &mut session,
            &make::read_mapped(file.name(), TEXT.len() as u64),
        );
    }
}

#[test]
fn mode_and_times_are_set_as_requested() {
    for (durability, installs) in [
        (Durability::None, false),
        (Durability::Fsync, false),
        (Durability::None, true),
        (Durability::Fsync, true),
    ] {
        let temporary = tempfile::tempdir().unwrap();
        let file = FilePath::new(temporary.path(), "1");
        let with = |directory: &Path| Settings {
            durability: durability.into(),
            ..settings(directory, 16)
        };
        fn set<S: Engine>(engine: &S, settings: &Settings, name: Name<'_>, installs: bool) {
            let mut session = engine.open(settings).unwrap();
            if installs {
                done(&mut session, &make::install(name, TEXT, SET));
                return;
            }
            done(&mut session, &make::create(name, TEXT));
            done(&mut session, &make::set_attributes(name, MODE, TIMES_NS));
        }
        let is_set = || {
            let found = std::fs::metadata(temporary.path().join("1")).unwrap();
            assert_eq!(found.permissions().mode() & 0o7777, MODE);
            for (s, ns) in [
                (found.mtime(), found.mtime_nsec()),
                (found.atime(), found.atime_nsec()),
            ] {
                assert_eq!(s * 1_000_000_000 + ns, TIMES_NS);
            }
            std::fs::remove_file(temporary.path().join("1")).unwrap();
        };
        set(&Raw, &with(temporary.path()), file.name(), installs);
        is_set();
        set(&Posix, &with(temporary.path()), file.name(), installs);
        is_set();
        set(
            &Uring::new(4),
            &with(temporary.path()),
            file.name(),
            installs,
        );
        is_set();
        let engine = Simulated::new(Code::Posix, 1);
        set(
            &engine,
            &with(Path::new("/sim")),
            FilePath::new(Path::new("/sim"), "1").name(),
            installs,
        );
        let found = engine.attributes_of("/sim/1").unwrap();
        assert_eq!(
            (found.mode, found.times_ns, found.names),
            (MODE, TIMES_NS, 1)
        );
    }
}

/// A rewritten file has exactly the new contents, and a lock file exists only within its operation.
#[test]
fn rewritten_files_are_not_longer_than_their_contents() {
    let file = FilePath::new(Path::new("/sim"), "1");
    let engine = Simulated::new(Code::Raw, 1);
    let mut session = engine.open(&settings(Path::new("/sim"), 3)).unwrap();
    done(&mut session, &make::create(file.name(), TEXT));
    done(&mut session, &make::rewrite(file.name(), b"abcd"));
    assert_eq!(engine.content_of("/sim/1").unwrap(), b"abcd");
    let lock = FilePath::new(Path::new("/sim"), "1.lock");
    done(&mut session, &make::lock_file(lock.name()));
    assert_eq!(engine.files().len(), 1);
    let failure = failed(&mut session, &make::lock_file(file.name()));
    assert_eq!((failure.step, failure.errno()), (Step::Open, Some(EEXIST)));
}

/// The directory contains more entries than one call returns, and a hidden entry that is not
/// counted.
#[test]
fn large_directories_are_listed_completely() {
    const FILES: usize = 3_000;
    let temporary = tempfile::tempdir().unwrap();
    let whole = FilePath::new(temporary.path(), "");
    let mut expected = Listing::default();
    for number in 0..FILES {
        let name = format!("a file with the number {number}");
        std::fs::write(temporary.path().join(&name), b"").unwrap();
        expected.add(name.as_bytes());
    }
    std::fs::write(temporary.path().join(".hidden"), b"").unwrap();
    fn list<S: Engine>(engine: &S, directory: &Path, name: Name<'_>, expected: Listing) {
        let mut session = engine.open(&settings(directory, 16)).unwrap();
        for operation in [make::list(name), make::list_with_stat(name)] {
            done(&mut session, &operation);
            assert_eq!(
                session.listing(TICKET),
                Some(expected),
                "{} {operation:?}",
                engine.name()
            );
        }
        assert_eq!(session.names(name).unwrap().len(), FILES + 1);
        assert_eq!(session.sync_file_system(0), Ok(()));
    }
    list(&Raw, temporary.path(), whole.name(), expected);
    list(&Posix, temporary.path(), whole.name(), expected);
    list(&Uring::new(4), temporary.path(), whole.name(), expected);
    list(&Stdio, temporary.path(), whole.name(), expected);
    let gone: Result<_, Failure> = Posix
        .open(&settings(temporary.path(), 16))
        .unwrap()
        .names(FilePath::new(temporary.path(), "gone").name());
    assert_eq!(gone.unwrap_err().errno(), Some(ENOENT));
}
