//! Under each durability policy, an operation that must sync makes exactly one call of the required
//! kind.

use record::{Action, Phase};
use verdict::OperationSummary;

use crate::mounted::{Mounted, on};
use crate::runs::{Ran, Run};

const WORK: &str = "--mix create=2,append=2,overwrite=1,truncate=1,replace=1,deliver=1,rename=1,\
                    delete=3,set-attributes=1,set-xattr=1,copy=1,rewrite=1,\
                    install=1,install-copy=1,install-link=1,lock-file=1,\
                    link=1,symlink=1,mkdir=1,rmdir=1 \
                    --files 60 --transactions 300 --workers 2 --calls --verify";

/// Operations that fsync their file, if the policy syncs files. The same table is in
/// `docs/reference/durability.md`.
const SYNC: &[Action] = &[
    Action::Create,
    Action::Append,
    Action::Overwrite,
    Action::Truncate,
    Action::Replace,
    Action::Deliver,
    Action::SetAttributes,
    Action::SetExtended,
    Action::Copy,
    Action::Rewrite,
    Action::Install,
    Action::InstallCopy,
    Action::LockFile,
];

/// Operations that fsync a directory, if the policy syncs directories.
const SYNC_DIRECTORY: &[Action] = &[
    Action::Create,
    Action::Delete,
    Action::Rename,
    Action::Replace,
    Action::Deliver,
    Action::Copy,
    Action::Install,
    Action::InstallCopy,
    Action::InstallLink,
    Action::LockFile,
    Action::Link,
    Action::RemoveLink,
    Action::SymbolicLink,
    Action::RemoveSymbolicLink,
    Action::MakeDirectory,
    Action::RemoveDirectory,
];

/// Number of calls with this name that operations of one kind have made.
fn steps(operation: &OperationSummary, name: &str) -> u64 {
    let steps = operation.steps.iter().filter(|step| step.step == name);
    steps.map(|step| step.count).sum()
}

/// Asserts that each operation in `actions` makes the call `step` exactly once, and that no other
/// operation makes this call.
fn are_in(ran: &Ran, step: &str, actions: &[Action]) {
    for operation in ran
        .summary
        .phases
        .iter()
        .flat_map(|phase| &phase.operations)
    {
        let expected = if actions.contains(&operation.action) {
            operation.operations.count
        } else {
            0
        };
        ran.assert(
            steps(operation, step) == expected,
            format_args!(
                "'{}' should have '{step}' {expected} times",
                operation.action.name()
            ),
        );
    }
}

/// Asserts that each worker syncs its file system after every `every` changes. Every operation in
/// the mix of the run is a change.
fn are_in_batches(ran: &Ran, every: u64) {
    let mut all = (0, 0);
    for phase in &ran.summary.phases {
        let sum = |count: &dyn Fn(&OperationSummary) -> u64| -> u64 {
            phase.operations.iter().map(count).sum()
        };
        let syncs = sum(&|operation| steps(operation, "sync file system"));
        let changes = sum(&|operation| operation.operations.count);
        // Each of the two workers may start and end a phase in the middle of a batch, so the
        // numbers may differ by two.
        ran.assert(
            (changes / every).abs_diff(syncs) <= 2,
            format_args!(
                "{} has {syncs} syncs of {changes} changes in batches of {every}",
                phase.phase.name()
            ),
        );
        all = (all.0 + syncs, all.1 + changes);
    }
    ran.assert(
        (all.1 / every - 2..=all.1 / every).contains(&all.0),
        format_args!(
            "there are {} syncs of {} changes in batches of {every}",
            all.0, all.1
        ),
    );
}

fn operations_make_exactly_the_syncs_of_their_durability_policy(mounted: Mounted) {
    for (policy, sync, sync_directory, batch) in [
        ("none", &[][..], &[][..], None),
        ("fdatasync", SYNC, &[], None),
        ("fsync", SYNC, &[], None),
        ("fsync+dir", SYNC, SYNC_DIRECTORY, None),
        ("o-dsync", &[], &[], None),
        ("o-sync", &[], &[], None),
        ("batch:25", &[], &[], Some(25)),
    ] {
        let ran = Run::new(&mounted.at, WORK)
            .with("--durability", policy)
            .perform();
        ran.is_complete().has_all_phases();
        ran.assert(
            ran.record.spec.durability.to_string() == policy,
            "the record says another policy",
        );
        let all = &ran.phase(Phase::Transactions).operations;
        ran.assert(all.len() >= 14, "operations of the mix are missing");
        are_in(&ran, "sync", sync);
        are_in(&ran, "sync directory", sync_directory);
        match batch {
            Some(every) => are_in_batches(&ran, every),
            None => are_in(&ran, "sync file system", &[]),
        }
    }
}
on!(operations_make_exactly_the_syncs_of_their_durability_policy: ext4, xfs);
