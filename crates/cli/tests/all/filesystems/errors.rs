//! Runs on a file system that is full most of the time, with various values of `--on-error`.

use record::{Fact, Outcome, Phase};

use crate::mounted::Mounted;
use crate::runs::{Ran, Run};
use crate::support::FileSystem;

const WORK: &str = "--mix create=4,deliver=1,append=4,replace=1,read=3,stat=1,delete=3,list=1 \
                    --files 150 --transactions 1500 --size 1KiB..60KiB --verify --no-space-check";

/// Error number of a call on a full file system.
const ENOSPC: i32 = 28;

/// A file system that has space for the pool, but not for all later files.
fn tiny() -> Option<Mounted> {
    Mounted::with_image(FileSystem::Ext4, 12, &["-m", "0", "-N", "2000"])
}

/// Asserts that the record has a separate entry for each different error, with operation, path and
/// error number.
fn are_told_apart(ran: &Ran, mounted: &Mounted) {
    let errors = &ran.record.actual.errors;
    ran.assert(
        !errors.is_empty(),
        "there are no errors on a file system that is full",
    );
    let mut kinds = std::collections::BTreeSet::new();
    for error in errors {
        ran.assert(
            kinds.insert((&error.operation, &error.step, format!("{:?}", error.errno))),
            "one kind of errors is told twice",
        )
        .assert(
            error.errno == Fact::Known(ENOSPC),
            format_args!(
                "'{}' of '{}' is not for lack of room",
                error.message, error.operation
            ),
        )
        .assert(
            crate::mounted::is_below(&error.first_path, &mounted.at),
            format_args!("{} is no path of the run", error.first_path),
        )
        .assert(
            error.count > 0 && !error.step.is_empty() && !error.message.is_empty(),
            "an error that says nothing",
        );
    }
    let failed: u64 = ran
        .summary
        .phases
        .iter()
        .flat_map(|phase| &phase.operations)
        .map(|operation| operation.failed)
        .sum();
    let counted: u64 = errors.iter().map(|error| error.count).sum();
    ran.assert(
        failed == counted,
        format_args!("{failed} operations failed, and {counted} errors are told"),
    );
}

fn survives(sharing: &str) {
    let Some(mounted) = tiny() else { return };
    let ran = Run::new(&mounted.at, WORK)
        .and(sharing)
        .and("--on-error 1000000")
        .perform();
    ran.ended.code(0);
    ran.assert(
        ran.record.actual.outcome == Outcome::Complete,
        "it did not survive what it was to survive",
    );
    are_told_apart(&ran, &mounted);
    for phase in &ran.summary.phases {
        ran.assert(
            phase.complete,
            format_args!("{} is not complete", phase.phase.name()),
        );
    }
    ran.assert(
        ran.record.actual.check.known().is_some(),
        "the names of the others were not checked",
    );
    ran.leaves_nothing();
    let skipped: u64 = ran
        .summary
        .phases
        .iter()
        .map(|phase| phase.skipped.after_failure)
        .sum();
    let is_shared = sharing.contains("--writers");
    ran.assert(
        is_shared || skipped > 0,
        "nothing was skipped, though files are as they should not be",
    )
    .assert(
        !is_shared || skipped == 0,
        "a shared pool forgets such files",
    );
}

#[test]
fn run_survives_the_allowed_number_of_errors() {
    survives("--workers 2");
}

#[test]
fn run_survives_allowed_errors_in_a_shared_pool() {
    survives("--writers 2 --readers 2");
}

/// Performs a run on a nearly full file system, with `--on-error`: the run ends early if more than
/// `percent` % of its operations fail.
fn share(percent: u64) -> Option<(Mounted, Ran)> {
    let mounted = tiny()?;
    let ran = Run::new(&mounted.at, WORK)
        .and(&format!("--workers 2 --on-error {percent}%"))
        .perform();
    are_told_apart(&ran, &mounted);
    ran.leaves_nothing();
    Some((mounted, ran))
}

#[test]
fn run_survives_the_allowed_share_of_errors() {
    let Some((_ground, ran)) = share(50) else {
        return;
    };
    ran.ended.code(0);
    ran.assert(
        ran.record.actual.outcome == Outcome::Complete,
        "fewer than half of the operations failed, and it did not survive",
    );
}

#[test]
fn exceeded_share_of_errors_ends_the_run() {
    let Some((_ground, ran)) = share(1) else {
        return;
    };
    ran.ended.code(1);
    ran.assert(
        matches!(ran.record.actual.outcome, Outcome::Failed { .. }),
        "more than a hundredth of the operations failed, and it went on",
    )
    .assert(
        ran.record
            .actual
            .clean_up
            .as_ref()
            .is_some_and(|done| done.files > 0 && done.left.is_empty()),
        "it does not say what it has removed",
    );
    let phase = ran.phase(Phase::Transactions);
    let done: u64 = phase
        .operations
        .iter()
        .map(|operation| operation.operations.count)
        .sum();
    ran.assert(done > 0, "it ended before there was a share to judge");
}
