//! Moved directories and symbolic links: no engine follows a link, and every engine keeps using the
//! directory that it holds open.

use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::support::{FilePath, POLICIES, Seen, TEXT, done, make, perform, settings};
use engine::{
    Cause, Durability, Engine, Identity, Need, OpenError, Operation, OperationKind, Settings,
    Stopping,
};
use engines::posix::Posix;
use engines::raw::Raw;
use engines::stdio::Stdio;
use engines::uring::Uring;

/// Calls a function with each engine that makes system calls.
macro_rules! for_each_engine {
    ($do:ident($($argument:expr),*)) => {
        $do(&Stdio, $($argument),*);
        $do(&Raw, $($argument),*);
        $do(&Posix, $($argument),*);
        $do(&Uring::new(1), $($argument),*);
        $do(&Uring::new(8), $($argument),*);
    };
}

fn has(engine: &impl Engine, operation: OperationKind, durability: Durability) -> bool {
    let need = Need {
        operations: vec![operation],
        durability: durability.into(),
        direct: false,
        mix: Vec::new(),
    };
    engine.supports(&need).is_ok()
}

/// Performs operations on a symbolic link to a file outside the pool. Each operation must fail or
/// change the link itself.
fn leaves_the_target_alone(engine: &impl Engine, durability: Durability) {
    let temporary = tempfile::tempdir().unwrap();
    let (target, directory) = (
        temporary.path().join("target"),
        temporary.path().join("pool"),
    );
    std::fs::write(&target, "precious").unwrap();
    std::fs::create_dir(&directory).unwrap();
    let before = facts(&target);
    let settings = Settings {
        durability: durability.into(),
        ..settings(&directory, 16)
    };
    let session = &mut engine.open(&settings).unwrap();
    let (link, other) = (
        FilePath::new(&directory, "1"),
        FilePath::new(&directory, "2"),
    );
    let (link, other) = (link.name(), other.name());
    let operations: [Operation<'_>; 14] = [
        make::create(link, TEXT),
        make::append(link, TEXT),
        make::overwrite(link, TEXT),
        make::read(link, 8),
        make::read_range(link, 1, 2),
        make::truncate(link, 0),
        make::set_attributes(link, 0o600, 0),
        make::set_extended(link, c"user.postmark", b"value"),
        make::list(link),
        make::list_with_stat(link),
        make::link(link, other),
        make::rename(link, other),
        make::replace(link, other, TEXT),
        make::delete(link),
    ];
    for operation in operations {
        if !has(engine, operation.kind(), durability) {
            continue;
        }
        for name in ["1", "2"] {
            let _ = std::fs::remove_file(directory.join(name));
        }
        symlink(&target, directory.join("1")).unwrap();
        let outcome = perform(session, &operation, &mut Seen::default());
        let what = format!("{} {durability} {operation:?}: {outcome:?}", engine.name());
        assert_eq!(facts(&target), before, "{what}");
        let is_done_to_the_link = matches!(
            operation.kind(),
            OperationKind::Link
                | OperationKind::Rename
                | OperationKind::Replace
                | OperationKind::Delete
        );
        assert_eq!(outcome.is_ok(), is_done_to_the_link, "{what}");
    }
}

/// Returns contents, mode, modification time (seconds and nanoseconds) and number of hard links.
fn facts(path: &Path) -> (Vec<u8>, u32, i64, i64, u64) {
    let facts = path.metadata().unwrap();
    let contents = std::fs::read(path).unwrap();
    (
        contents,
        facts.mode(),
        facts.mtime(),
        facts.mtime_nsec(),
        facts.nlink(),
    )
}

#[test]
fn symbolic_links_are_not_followed() {
    for durability in POLICIES {
        for_each_engine!(leaves_if_it_can(durability));
    }
}

fn leaves_if_it_can(engine: &impl Engine, durability: Durability) {
    if has(engine, OperationKind::Create, durability) {
        leaves_the_target_alone(engine, durability);
    }
}

/// Renames the directory during the session and creates a new directory at its path. The session
/// must continue in the renamed directory.
fn stays_in_its_directory(engine: &impl Engine) {
    let temporary = tempfile::tempdir().unwrap();
    let (path, away) = (temporary.path().join("pool"), temporary.path().join("away"));
    std::fs::create_dir(&path).unwrap();
    let session = &mut engine.open(&settings(&path, 16)).unwrap();
    let (one, two) = (FilePath::new(&path, "1"), FilePath::new(&path, "2"));
    done(session, &make::create(one.name(), TEXT));
    std::fs::rename(&path, &away).unwrap();
    std::fs::create_dir(&path).unwrap();
    std::fs::write(path.join("1"), "mine").unwrap();
    done(session, &make::append(one.name(), TEXT));
    done(session, &make::create(two.name(), TEXT));
    done(session, &make::read(two.name(), TEXT.len() as u64));
    done(session, &make::delete(one.name()));
    assert_eq!(
        std::fs::read(path.join("1")).unwrap(),
        b"mine",
        "{}",
        engine.name()
    );
    assert_eq!(
        std::fs::read_dir(&path).unwrap().count(),
        1,
        "{}",
        engine.name()
    );
    assert_eq!(
        std::fs::read(away.join("2")).unwrap(),
        TEXT,
        "{}",
        engine.name()
    );
    assert_eq!(
        std::fs::read_dir(&away).unwrap().count(),
        1,
        "{}",
        engine.name()
    );
}

#[test]
fn session_continues_in_renamed_directory() {
    for_each_engine!(stays_in_its_directory());
}

/// A session cannot be opened if the path denotes a directory other than the expected one.
fn refuses_another_directory(engine: &impl Engine) {
    let temporary = tempfile::tempdir().unwrap();
    let facts = temporary.path().metadata().unwrap();
    let mut settings = settings(temporary.path(), 16);
    let mut identity = Identity {
        device: facts.dev(),
        inode: facts.ino(),
    };
    settings.locations[0].identity = Some(identity);
    assert!(engine.open(&settings).is_ok(), "{}", engine.name());
    identity.inode += 1;
    settings.locations[0].identity = Some(identity);
    let refused = engine.open(&settings).map(drop).unwrap_err();
    assert!(
        matches!(refused, OpenError::Moved(_)),
        "{}: {refused}",
        engine.name()
    );
}

#[test]
fn replaced_directory_is_rejected() {
    for_each_engine!(refuses_another_directory());
}

/// The directory below a location is not opened through a symbolic link.
fn refuses_a_link_below(engine: &impl Engine) {
    let temporary = tempfile::tempdir().unwrap();
    std::fs::create_dir(temporary.path().join("real")).unwrap();
    symlink("real", temporary.path().join("w0")).unwrap();
    let mut settings = settings(temporary.path(), 16);
    settings.locations[0].below = Some(c"real".to_owned());
    assert!(engine.open(&settings).is_ok(), "{}", engine.name());
    settings.locations[0].below = Some(c"w0".to_owned());
    assert!(engine.open(&settings).is_err(), "{}", engine.name());
}

#[test]
fn symbolic_link_below_location_is_rejected() {
    for_each_engine!(refuses_a_link_below());
}

/// If the run stops while a file is written or read, the operation ends after the current block.
fn is_left_between_blocks(engine: &impl Engine) {
    let place = tempfile::tempdir().unwrap();
    let asked = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&asked);
    let settings = Settings {
        stopping: Stopping::when(move || counted.fetch_add(1, Ordering::Relaxed) >= 9),
        ..settings(place.path(), 16)
    };
    let session = &mut engine.open(&settings).unwrap();
    let content = vec![7; 100 * 16];
    let path = FilePath::new(place.path(), "1");
    let reads = make::read(path.name(), content.len() as u64);
    for operation in [make::create(path.name(), &content), reads] {
        asked.store(0, Ordering::Relaxed);
        let failure = perform(session, &operation, &mut Seen::default()).unwrap_err();
        let what = format!("{} {operation:?}", engine.name());
        assert_eq!(
            (failure.cause, failure.moved_bytes),
            (Cause::Stopped, Some(10 * 16)),
            "{what}"
        );
        // Completes the file after the stopped creation, because the second operation reads the
        // complete file.
        std::fs::write(place.path().join("1"), &content).unwrap();
    }
}

#[test]
fn stop_of_run_ends_operation_between_blocks() {
    // `uring` is not tested here: it links several blocks to a chain, which a stop does not
    // interrupt.
    is_left_between_blocks(&Stdio);
    is_left_between_blocks(&Raw);
    is_left_between_blocks(&Posix);
}
