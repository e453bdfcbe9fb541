//! Tests of the contents kept by reads, of direct I/O, and of the table of open files of a
//! session's thread.

use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::os::fd::AsRawFd;
use std::path::Path;

use crate::support::{FilePath, TICKET, done, failed, make, settings};
use engine::{Cause, DIRECT_ALIGNMENT, Durability, Engine, Name, Operation, Session, Settings};
use engines::posix::Posix;
use engines::probe_direct;
use engines::raw::Raw;
use engines::simulated::{Code, Simulated};
use engines::stdio::Stdio;
use engines::uring::Uring;
use proptest::prelude::*;

fn content(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at * 31 + at / 251) as u8).collect()
}

/// Reads a file and a range of the file, and checks the kept contents.
fn keeps<S: Engine>(
    engine: &S,
    settings: &Settings,
    name: Name<'_>,
    content: &[u8],
    has_ranges: bool,
) {
    let mut session = engine.open(settings).unwrap();
    done(&mut session, &make::create(name, content));
    let (block, kept) = (settings.read_block_bytes, settings.keep_contents_bytes);
    let mut check = |operation: Operation<'_>, expected: &[u8]| {
        done(&mut session, &operation);
        let Some(found) = session.content(TICKET) else {
            assert_eq!(kept, 0, "{operation:?}");
            return;
        };
        assert!(
            kept > 0 && expected.ends_with(found),
            "{operation:?} {settings:?}"
        );
        let room = kept.next_multiple_of(block);
        if expected.len() <= room {
            assert_eq!(found, expected);
        } else {
            let last = expected.len() % room;
            assert_eq!(
                found.len(),
                if last == 0 { room } else { last },
                "{settings:?}"
            );
        }
    };
    let bytes = content.len();
    check(make::read(name, bytes as u64), content);
    if has_ranges {
        let (from, to) = (bytes / 3, bytes - bytes / 4);
        let (offset, length) = (from as u64, (to - from) as u64);
        check(make::read_range(name, offset, length), &content[from..to]);
    }
    done(&mut session, &make::delete(name));
}

proptest! {
    #[test]
    fn session_keeps_last_bytes_of_read(
        bytes in 0_usize..600,
        read_block_bytes in 1_usize..100,
        keep_contents_bytes in 0_usize..700,
    ) {
        let content = content(bytes);
        let temporary = tempfile::tempdir().unwrap();
        let settings = |directory: &Path| Settings {
            read_block_bytes,
            keep_contents_bytes,
            ..settings(directory, 64)
        };
        let file = FilePath::new(temporary.path(), "1");
        keeps(&Raw, &settings(temporary.path()), file.name(), &content, true);
        keeps(&Posix, &settings(temporary.path()), file.name(), &content, true);
        keeps(&Stdio, &settings(temporary.path()), file.name(), &content, false);
        for uring in [Uring::new(1), Uring::new(2), Uring::new(1).without_chains()] {
            keeps(&uring, &settings(temporary.path()), file.name(), &content, true);
        }
        let (root, simulated) = (Path::new("/sim"), Simulated::new(Code::Raw, 1));
        keeps(&simulated, &settings(root), FilePath::new(root, "1").name(), &content, true);
    }
}

/// Whether the test's file system supports direct I/O; prints a note if it does not.
fn has_direct(directory: &Path) -> bool {
    match probe_direct(directory) {
        Ok(()) => true,
        Err(error) => {
            eprintln!(
                "{} has no direct input and output: {error}",
                directory.display()
            );
            false
        }
    }
}

#[test]
fn direct_io_reads_and_writes_correct_contents() {
    reads_and_writes_directly(&Posix);
    for depth in [1, 4] {
        reads_and_writes_directly(&Uring::new(depth));
    }
}

fn reads_and_writes_directly(engine: &dyn Engine) {
    const BLOCK: usize = 2 * DIRECT_ALIGNMENT;
    let temporary = tempfile::tempdir().unwrap();
    if !has_direct(temporary.path()) {
        return;
    }
    assert_eq!(
        std::fs::read_dir(temporary.path()).unwrap().count(),
        0,
        "the probe leaves nothing"
    );
    let (one, other) = (
        FilePath::new(temporary.path(), "1"),
        FilePath::new(temporary.path(), "2"),
    );
    let (name, temporary_name) = (one.name(), other.name());
    let long = content(5 * DIRECT_ALIGNMENT + 1);
    // The address of `long[1..]` is not aligned, so the engine copies the contents before writing.
    let (whole, piece) = (&long[1..], &long[1..DIRECT_ALIGNMENT + 1]);
    for durability in [Durability::None, Durability::ODsync] {
        let settings = Settings {
            direct: true,
            keep_contents_bytes: 8 * BLOCK,
            durability: durability.into(),
            ..settings(temporary.path(), BLOCK)
        };
        let session = &mut engine.open(&settings).unwrap();
        let bytes = whole.len() as u64;
        done(session, &make::create(name, whole));
        done(session, &make::read(name, bytes));
        assert_eq!(session.content(TICKET), Some(whole));
        done(session, &make::append(name, piece));
        done(session, &make::overwrite(name, piece));
        let offset = DIRECT_ALIGNMENT as u64;
        done(session, &make::read_range(name, offset, bytes));
        assert_eq!(
            session.content(TICKET).unwrap(),
            [&whole[DIRECT_ALIGNMENT..], piece].concat()
        );
        let longer = failed(session, &make::read(name, 2 * bytes));
        let read = bytes + DIRECT_ALIGNMENT as u64;
        assert_eq!(
            longer.cause,
            Cause::EndedEarly {
                read,
                expected: 2 * bytes
            }
        );
        done(session, &make::truncate(name, 5_000));
        // After the truncation, the file ends at an unaligned offset.
        let shorter = failed(session, &make::read(name, bytes));
        assert_eq!(
            shorter.cause,
            Cause::EndedEarly {
                read: 5_000,
                expected: bytes
            }
        );
        done(session, &make::replace(name, temporary_name, whole));
        assert_eq!(std::fs::read(temporary.path().join("1")).unwrap(), whole);
        done(session, &make::delete(name));
    }
}

#[test]
fn direct_io_probe_of_missing_directory_fails() {
    let error = probe_direct(Path::new("/nowhere/at/all")).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
}

fn direct_in_memory(block: usize) -> (Box<dyn Session>, FilePath) {
    let root = Path::new("/sim");
    let settings = Settings {
        direct: true,
        ..settings(root, block)
    };
    (
        Simulated::new(Code::Posix, 1).open(&settings).unwrap(),
        FilePath::new(root, "1"),
    )
}

#[test]
#[should_panic(expected = "100 bytes are no multiple of 4096")]
fn unaligned_contents_panic_with_direct_io() {
    let (mut session, file) = direct_in_memory(4096);
    let (name, content) = (file.name(), &content(100)[..]);
    done(&mut session, &make::create(name, content));
}

#[test]
#[should_panic(expected = "a block of 512 bytes is no multiple of 4096")]
fn unaligned_blocks_panic_with_direct_io() {
    direct_in_memory(512);
}

/// Opens sessions of two engines and uses both sessions at the same time.
fn open_sessions(directory: &Path) {
    let (one, two) = (FilePath::new(directory, "1"), FilePath::new(directory, "2"));
    let mut posix = Posix.open(&settings(directory, 16)).unwrap();
    let mut stdio = Stdio.open(&settings(directory, 16)).unwrap();
    for name in [one.name(), two.name()] {
        done(&mut posix, &make::create(name, b"123"));
        done(&mut stdio, &make::read(name, 3));
    }
}

fn own_descriptors() -> Vec<i32> {
    let is_open = |descriptor: &i32| {
        // SAFETY: fcntl(2) with F_GETFD touches no memory.
        unsafe { libc::fcntl(*descriptor, libc::F_GETFD) >= 0 }
    };
    (0..1_000).filter(is_open).collect()
}

#[test]
fn session_thread_has_own_table_of_open_files() {
    let temporary = tempfile::tempdir().unwrap();
    let mut theirs = File::create_new(temporary.path().join("theirs")).unwrap();
    let others: Vec<_> = (0..5).map(|_| File::open("/dev/null").unwrap()).collect();
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let before = own_descriptors();
            assert!(others.iter().all(|file| before.contains(&file.as_raw_fd())));
            let session = Posix.open(&settings(temporary.path(), 16)).unwrap();
            assert_eq!(own_descriptors(), [0, 1, 2, 3], "the held directory alone");
            drop(session);
            assert_eq!(own_descriptors(), [0, 1, 2]);
            let uring = Uring::new(4).open(&settings(temporary.path(), 16)).unwrap();
            assert_eq!(
                own_descriptors(),
                [0, 1, 2, 3, 4],
                "the held directory and the ring"
            );
            drop(uring);
            open_sessions(temporary.path());
            assert_eq!(own_descriptors(), [0, 1, 2], "everything was closed");
        });
        worker.join().unwrap();
    });
    // The sessions' thread closed only its own copies: files that the test's thread opened are
    // still open.
    theirs.write_all(b"still open").unwrap();
    drop(others);
    let mut again = File::open(temporary.path().join("theirs")).unwrap();
    let mut found = String::new();
    again.rewind().unwrap();
    again.read_to_string(&mut found).unwrap();
    assert_eq!(found, "still open");
}
