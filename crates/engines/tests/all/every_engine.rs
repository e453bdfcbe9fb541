//! The same tests for every engine that stores files: written contents are stored, a failure names
//! the call that failed, and no failed call is ignored.

use std::path::Path;

use engine::{Cause, Engine, Name, Operation, Session, Step};
use engines::posix::Posix;
use engines::raw::Raw;
use engines::simulated::{Code, Fault, Simulated};
use engines::stdio::Stdio;
use engines::uring::Uring;

use crate::support::{FilePath, Seen, TEXT, make, perform, settings};

fn keeps_files<S: Engine>(engine: &S, directory: &Path, block: usize) {
    let session = &mut engine.open(&settings(directory, block)).unwrap();
    let (inner, file) = (
        FilePath::new(directory, "s0"),
        FilePath::new(directory, "s0/1"),
    );
    let (inner, name) = (inner.name(), file.name());
    let all = |session: &mut Box<dyn Session>, operations: &[Operation<'_>]| {
        let mut steps = Seen::default();
        for operation in operations {
            assert_eq!(
                perform(session, operation, &mut steps),
                Ok(()),
                "{} {operation:?}",
                engine.name()
            );
        }
        steps.0
    };
    let steps = all(
        session,
        &[
            make::make_directory(inner),
            make::create(name, &TEXT[..10]),
            make::append(name, &TEXT[..6]),
            make::read(name, 16),
        ],
    );
    use Step::{Close, MakeDirectory, Open, Read, Write};
    assert_eq!(
        steps,
        [
            MakeDirectory,
            Open,
            Write,
            Close,
            Open,
            Write,
            Close,
            Open,
            Read,
            Close
        ]
    );

    let again = perform(session, &make::create(name, b"x"), &mut Seen::default()).unwrap_err();
    assert_eq!(
        (again.step, again.errno()),
        (Open, Some(libc_eexist())),
        "{}",
        engine.name()
    );
    let longer = perform(session, &make::read(name, 20), &mut Seen::default()).unwrap_err();
    assert_eq!(
        longer.cause,
        Cause::EndedEarly {
            read: 16,
            expected: 20
        },
        "{}",
        engine.name()
    );
    let full = perform(
        session,
        &make::remove_directory(inner),
        &mut Seen::default(),
    )
    .unwrap_err();
    assert_eq!(full.step, Step::RemoveDirectory);

    all(
        session,
        &[make::delete(name), make::remove_directory(inner)],
    );
    let gone = perform(session, &make::delete(name), &mut Seen::default()).unwrap_err();
    assert_eq!(gone.step, Step::Unlink);
}

fn libc_eexist() -> i32 {
    17
}

#[test]
fn every_engine_stores_files() {
    for block in [1, 3, 8, 16, 4096] {
        let temporary = tempfile::tempdir().unwrap();
        keeps_files(&Raw, temporary.path(), block);
        keeps_files(&Posix, temporary.path(), block);
        keeps_files(&Stdio, temporary.path(), block);
        keeps_files(&Uring::new(1), temporary.path(), block);
        keeps_files(&Uring::new(16), temporary.path(), block);
        for code in [Code::Raw, Code::Posix] {
            keeps_files(&Simulated::new(code, 1), Path::new("/sim"), block);
        }
    }
}

#[test]
fn file_contains_written_bytes() {
    let temporary = tempfile::tempdir().unwrap();
    let file = FilePath::new(temporary.path(), "1");
    let name = file.name();
    fn run<S: Engine>(engine: &S, directory: &Path, name: Name<'_>) {
        let mut session = engine.open(&settings(directory, 4)).unwrap();
        let operations = [
            make::create(name, &TEXT[..9]),
            make::append(name, &TEXT[..8]),
        ];
        for operation in &operations {
            assert_eq!(
                perform(&mut session, operation, &mut Seen::default()),
                Ok(())
            );
        }
        assert_eq!(
            std::fs::read(directory.join("1")).unwrap(),
            b"01234567801234567"
        );
        assert_eq!(
            perform(&mut session, &make::delete(name), &mut Seen::default()),
            Ok(())
        );
    }
    run(&Raw, temporary.path(), name);
    run(&Posix, temporary.path(), name);
    run(&Stdio, temporary.path(), name);
    run(&Uring::new(1), temporary.path(), name);
    run(&Uring::new(16), temporary.path(), name);
}

/// Causes every fault at every call of a few operations. An operation that succeeds must have been
/// performed, and an operation that fails must return the fault's error. No file may remain open.
#[test]
fn fault_at_any_call_is_handled_or_reported() {
    let errors = [5, 28, 4, 9, 116];
    let faults: Vec<Fault> = errors
        .into_iter()
        .map(Fault::Error)
        .chain([Fault::Short, Fault::Nothing])
        .collect();
    for code in [Code::Raw, Code::Posix] {
        for fault in &faults {
            let mut call = 0;
            loop {
                let engine = Simulated::new(code, 1).fault_at(call, *fault);
                let struck = works_under_a_fault(&engine, *fault);
                if engine.calls() <= call {
                    break;
                }
                assert!(
                    !struck || *fault != Fault::Short,
                    "{code:?}: {fault:?} at call {call} was not survived"
                );
                call += 1;
            }
            assert!(call > 20, "the work makes {call} calls only");
        }
    }
}

/// Performs a few operations; returns whether one failed.
fn works_under_a_fault(engine: &Simulated, fault: Fault) -> bool {
    let directory = Path::new("/sim");
    let mut session = engine.open(&settings(directory, 4)).unwrap();
    let mut struck = false;
    for number in 1..4 {
        let file = FilePath::new(directory, &number.to_string());
        let name = file.name();
        let operations = [
            (make::create(name, &TEXT[..10]), Some(10)),
            (make::append(name, &TEXT[..4]), Some(14)),
            (make::read(name, 14), Some(14)),
            (make::delete(name), None),
        ];
        for (operation, size) in operations {
            match perform(&mut session, &operation, &mut Seen::default()) {
                Ok(()) => {
                    let there = engine.files().get(&format!("/sim/{number}")).copied();
                    assert_eq!(there, size, "{fault:?}: {operation:?} is said to be done");
                }
                Err(failure) => {
                    if let Fault::Error(errno) = fault {
                        assert_eq!(failure.errno(), Some(errno));
                    }
                    struck = true;
                    break;
                }
            }
        }
        assert_eq!(engine.open_files(), 0, "{fault:?} left a file open");
        if struck {
            break;
        }
    }
    struck
}
