//! Tests of operations that engines do not support, and of the error messages. Also tests `stdio`,
//! which supports the fewest operations, and `null`, which performs none.

use std::path::Path;

use crate::support::work::{Names, steps_of, work};
use crate::support::{FilePath, POLICIES, TICKET, done, failed, make, settings};
use engine::{Cause, Durability, Engine, Need, Operation, OperationKind, Settings};
use engines::posix::Posix;
use engines::raw::Raw;
use engines::simulated::{Code, Simulated};
use engines::stdio::Stdio;
use testkit::Shows;

/// The operations that `stdio` supports.
const HAS: [OperationKind; 15] = [
    OperationKind::Create,
    OperationKind::Append,
    OperationKind::Read,
    OperationKind::Delete,
    OperationKind::MakeDirectory,
    OperationKind::RemoveDirectory,
    OperationKind::Stat,
    OperationKind::Rename,
    OperationKind::List,
    OperationKind::ListWithStat,
    OperationKind::StatMissing,
    OperationKind::OpenMissing,
    OperationKind::MakeDirectoryExisting,
    OperationKind::CopyTree,
    OperationKind::RemoveTree,
];

#[test]
fn stdio_supports_only_listed_operations() {
    for operation in OperationKind::ALL {
        let need = Need {
            operations: vec![operation],
            ..Need::default()
        };
        assert_eq!(
            Stdio.supports(&need).is_ok(),
            HAS.contains(&operation),
            "{operation}"
        );
    }
}

#[test]
fn stdio_performs_supported_operations() {
    for durability in POLICIES {
        let temporary = tempfile::tempdir().unwrap();
        let settings = Settings {
            durability: durability.into(),
            keep_contents_bytes: 64,
            ..settings(temporary.path(), 3)
        };
        let need = Need {
            durability: durability.into(),
            ..Need::default()
        };
        if let Durability::ODsync | Durability::OSync = durability {
            let said = Stdio.supports(&need).unwrap_err().to_string();
            said.shows(&format!("cannot provide --durability {durability} (use"));
            assert_eq!(
                Stdio.open(&settings).map(drop).unwrap_err().to_string(),
                said
            );
            continue;
        }
        assert_eq!(Stdio.supports(&need), Ok(()));
        let names = Names::new(temporary.path());
        let session = &mut Stdio.open(&settings).unwrap();
        let files = make::listing(&["5"]);
        for (operation, steps) in work(&names).into_iter().filter(|(operation, _)| {
            // `stdio` cannot create the hard link `d/2` (later renamed to `e/4`), the symbolic link
            // `d/3`, the copy `copied`, the installed file `d/7`, and trees of links or clones.
            HAS.contains(&operation.kind())
                && (!operation.kind().changes()
                    || !matches!(
                        operation.name().relative.to_bytes(),
                        b"d/2"
                            | b"d/3"
                            | b"e/4"
                            | b"copied"
                            | b"d/7"
                            | b"d/linked.r"
                            | b"d/cloned.r"
                    ))
        }) {
            let operation = match operation {
                // `stdio` does not truncate the file, so the file has the 20 bytes that create and
                // append wrote.
                Operation::Stat { name, .. } => make::stat(name, Some(20)),
                // The directory contains only the file `d/5`.
                Operation::CopyTree { name, from, .. } => make::copy_tree(from, name, files, 20),
                Operation::RemoveTree { name, .. } => make::remove_tree(name, files),
                operation => operation,
            };
            let expected = steps_of(&steps, operation.kind(), durability);
            assert_eq!(
                done(session, &operation),
                expected,
                "{durability}: {operation:?}"
            );
        }
        done(session, &make::read(names.of("d/5"), 20));
        assert_eq!(session.content(TICKET), Some(&b"01234567890123456789"[..]));
        let failure = failed(session, &make::stat(names.of("d/5"), Some(3)));
        assert_eq!(
            failure.cause,
            Cause::WrongSize {
                found: 20,
                expected: 3
            }
        );
        assert_eq!(
            session.listing(TICKET).map(|listing| listing.entries),
            Some(1)
        );
    }
}

#[test]
fn rejection_names_engines_that_support_the_requirement() {
    let need = Need {
        operations: vec![OperationKind::Read, OperationKind::ReadRange],
        ..Need::default()
    };
    let said = Stdio.supports(&need).unwrap_err().to_string();
    assert_eq!(
        said,
        "--engine stdio cannot perform 'read a range' (use --engine posix or raw)"
    );
    let direct = Need {
        direct: true,
        ..Need::default()
    };
    let said = Raw.supports(&direct).unwrap_err().to_string();
    assert_eq!(
        said,
        "--engine raw cannot do direct I/O (use --engine posix)"
    );
    assert!(
        Stdio.supports(&direct).is_err() && Simulated::new(Code::Raw, 1).supports(&direct).is_err()
    );
    let everything = Need {
        operations: OperationKind::ALL.to_vec(),
        durability: Durability::OSync.into(),
        direct: true,
        mix: Vec::new(),
    };
    assert_eq!(Posix.supports(&everything), Ok(()));
    assert_eq!(engines::uring::Uring::new(8).supports(&everything), Ok(()));
    assert_eq!(engines::null::Null.supports(&everything), Ok(()));
    let raw = Need {
        direct: false,
        ..everything
    };
    assert_eq!(Raw.supports(&raw), Ok(()));
}

#[test]
#[should_panic(expected = "stdio has no 'truncate'")]
fn unsupported_operation_panics() {
    let temporary = tempfile::tempdir().unwrap();
    let file = FilePath::new(temporary.path(), "1");
    let mut session = Stdio.open(&settings(temporary.path(), 8)).unwrap();
    let _ = failed(&mut session, &make::truncate(file.name(), 1));
}

#[test]
fn null_accepts_every_operation_and_returns_no_content() {
    let names = Names::new(Path::new("/nowhere"));
    let mut session = engines::null::Null.open(&Settings::default()).unwrap();
    for (operation, _) in work(&names) {
        done(&mut session, &operation);
    }
    assert_eq!(
        (session.content(TICKET), session.listing(TICKET)),
        (None, None)
    );
    assert_eq!(session.sync_file_system(0), Ok(()));
}
