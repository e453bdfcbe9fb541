//! Operations on trees with subdirectories, which are the same on every engine.

use std::path::Path;

use engine::{Cause, Engine, Operation, Session, Stopping};
use engines::posix::Posix;
use engines::raw::Raw;
use engines::simulated::{Code, Simulated};
use engines::uring::Uring;

use crate::support::{FilePath, TEXT, TICKET, done, failed, make, settings};

/// Copies, links and removes a tree with two levels of subdirectories, and another tree that
/// contains more than is expected.
pub fn nested_trees_are_copied_linked_and_removed(
    session: &mut Box<dyn Session>,
    directory: &Path,
) {
    let path = |relative: &str| FilePath::new(directory, relative);
    let inner = [
        "d", "d/s0", "d/s0/s0", "d/s0/s1", "d/s1", "d/s1/s0", "d/s1/s1",
    ];
    for inner in inner {
        done(session, &make::make_directory(path(inner).name()));
    }
    let files = [
        ("s0/s0/1", 3),
        ("s0/s0/2", 5),
        ("s1/s1/3", 0),
        ("s1/s1/4", 7),
    ];
    for (file, bytes) in files {
        let file = path(&format!("d/{file}"));
        done(session, &make::create(file.name(), &TEXT[..bytes]));
    }
    // Of these, copies contain nothing.
    let [link, other, made] = ["d/s0/s0/5.l", "d/s1/s1/6.r", "d/s0/s0/7.d"].map(path);
    done(session, &make::link(path("d/s0/s0/1").name(), link.name()));
    done(session, &make::make_directory(other.name()));
    done(session, &make::make_directory(made.name()));

    let names = ["1", "2", "3", "4", "s0", "s1", "s0", "s1", "s0", "s1"];
    let entries = make::listing(&names);
    let [from, copy, links] = ["d", "d/8.r", "d/9.r"].map(path);
    let two = |operation| make::with_levels(operation, 2);
    let copying = two(make::copy_tree(from.name(), copy.name(), entries, 15));
    done(session, &copying);
    done(
        session,
        &two(make::link_tree(from.name(), links.name(), entries)),
    );
    for (file, bytes) in files {
        for tree in ["d/8.r", "d/9.r"] {
            let file = path(&format!("{tree}/{file}"));
            done(session, &make::read(file.name(), bytes as u64));
            assert_eq!(session.content(TICKET), Some(&TEXT[..bytes]));
        }
    }
    // Only the linked file is the same file.
    done(
        session,
        &make::append(path("d/s0/s0/1").name(), &TEXT[3..4]),
    );
    done(session, &make::stat(path("d/8.r/s0/s0/1").name(), Some(3)));
    done(session, &make::stat(path("d/9.r/s0/s0/1").name(), Some(4)));
    done(session, &make::truncate(path("d/s0/s0/1").name(), 3));
    done(session, &make::list(path("d/8.r/s0/s1").name()));
    assert_eq!(session.listing(TICKET), Some(make::listing(&[])));

    // One more file and one more directory, in different directories.
    let [more_files, more_directories] = ["d/8.r/s0/s1/x", "d/8.r/s1/x"].map(path);
    let removing = two(make::remove_tree(copy.name(), entries));
    let mut is_kept = |more: Operation<'_>, undo: Operation<'_>, found| {
        done(session, &more);
        let failure = failed(session, &removing);
        let expected = entries.entries;
        assert_eq!(failure.cause, Cause::WrongFiles { found, expected });
        for (file, bytes) in files {
            let file = path(&format!("d/8.r/{file}"));
            done(session, &make::stat(file.name(), Some(bytes as u64)));
        }
        done(session, &undo);
    };
    is_kept(
        make::create(more_files.name(), b"x"),
        make::delete(more_files.name()),
        11,
    );
    is_kept(
        make::make_directory(more_directories.name()),
        make::remove_directory(more_directories.name()),
        11,
    );
    for tree in [&copy, &links] {
        done(session, &two(make::remove_tree(tree.name(), entries)));
        done(session, &make::stat_missing(tree.name()));
    }
    // The tree has one level more than this copy expects.
    let one = make::with_levels(make::copy_tree(from.name(), copy.name(), entries, 15), 1);
    let cause = failed(session, &one).cause;
    assert!(matches!(cause, Cause::WrongFiles { .. }), "{cause:?}");
    // The failed copy has made its own directory, and nothing else.
    done(session, &make::remove_directory(copy.name()));
    done(session, &make::list(from.name()));
    let inner = make::listing(&["s0", "s1"]);
    assert_eq!(session.listing(TICKET), Some(inner));
}

#[test]
fn engines_copy_link_and_remove_nested_trees() {
    let on_disk: [&dyn Engine; 3] = [&Raw, &Posix, &Uring::new(4)];
    for engine in on_disk {
        let temporary = tempfile::tempdir().unwrap();
        with(engine, temporary.path());
    }
    let engine = Simulated::new(Code::Raw, 1);
    with(&engine, Path::new("/sim"));
    assert_eq!(engine.open_files(), 0);
}

/// Also operations that move no bytes stop.
#[test]
fn operations_on_trees_stop_between_files_if_the_run_stops() {
    for engine in [&Posix as &dyn Engine, &Uring::new(4)] {
        let temporary = tempfile::tempdir().unwrap();
        let settings = engine::Settings {
            stopping: Stopping::when(|| true),
            ..settings(temporary.path(), 4)
        };
        let session = &mut engine.open(&settings).unwrap();
        let [d, one, two, links] =
            ["d", "d/1", "d/2", "links"].map(|name| FilePath::new(temporary.path(), name));
        done(session, &make::make_directory(d.name()));
        for file in [&one, &two] {
            done(session, &make::create(file.name(), b""));
        }
        let entries = make::listing(&["1", "2"]);
        for operation in [
            make::link_tree(d.name(), links.name(), entries),
            make::remove_tree(d.name(), entries),
        ] {
            assert_eq!(failed(session, &operation).cause, Cause::Stopped);
        }
        for (directory, left) in [(&d, 1), (&links, 1)] {
            done(session, &make::list(directory.name()));
            assert_eq!(
                session.listing(TICKET).map(|found| found.entries),
                Some(left)
            );
        }
    }
}

fn with(engine: &dyn Engine, directory: &Path) {
    let settings = engine::Settings {
        keep_contents_bytes: 64,
        ..settings(directory, 4)
    };
    let session = &mut engine.open(&settings).unwrap();
    nested_trees_are_copied_linked_and_removed(session, directory);
}
