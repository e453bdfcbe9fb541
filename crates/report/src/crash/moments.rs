//! Crashes and losses by the moment of the crash.

use document::units::counted;
use document::{Cell, Document, Table};
use rundir::{CrashReport, MomentOutcome};

/// Adds the table of moments if a round waited for one.
pub(super) fn add(document: &mut Document, report: &CrashReport) {
    let missed = report
        .rounds
        .iter()
        .filter(|of| of.missed.is_some())
        .count() as u64;
    if missed == 0 && report.moments.iter().all(|of| of.moment.is_none()) {
        return;
    }
    let header = [
        "moment of the crash",
        "crashes",
        "with a loss",
        "lost",
        "torn",
        "resurrected",
    ];
    let mut table = Table::new(1, &header);
    for of in &report.moments {
        table.row(vec![
            Cell::from(name(of.moment.as_deref())),
            Cell::count(u64::from(of.crashes)),
            Cell::count(u64::from(of.crashes_with_loss)),
            Cell::count(lost(of)),
            Cell::count(of.torn),
            Cell::count(of.resurrected),
        ]);
    }
    document.table(table);
    document.gap();
    if missed > 0 {
        document.line(format!(
            "{} crashed at a random time, because the moment did not come within 3 s",
            counted(missed, "round")
        ));
    }
}

/// Lost paths, and lost run directories.
fn lost(of: &MomentOutcome) -> u64 {
    of.lost + u64::from(of.directories_lost)
}

/// The moment in words.
pub(super) fn name(moment: Option<&str>) -> &str {
    match moment {
        None => "at a random time",
        Some("sync") => "in the middle of a sync",
        Some("rename") => "in the middle of a rename",
        Some("directory-sync") => "in the middle of a directory sync",
        Some("acknowledgement") => "right after an acknowledgement",
        Some(other) => other,
    }
}
