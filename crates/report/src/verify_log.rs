//! The results of `verify-log`: acknowledged changes that a crash has lost.

use document::Document;
use rundir::Verified;

pub fn document(verified: &Verified) -> Document {
    let mut document = Document::default();
    document.line(format!(
        "Acknowledgement log of {}; durability {}; workers: {}",
        verified.tool, verified.policy, verified.workers
    ));
    for directory in &verified.directories {
        document.line(match directory {
            Some(directory) => format!("Directory {directory}"),
            None => "Directory: removed, because the run had ended".to_owned(),
        });
    }
    let acknowledged = &verified.acknowledged;
    document.line(format!(
        "Acknowledged: {} operations ({} creations, {} deliveries, {} replacements, {} renames, \
         {} deletions, {} appends, {} overwrites, {} truncations, {} others)",
        acknowledged.total(),
        acknowledged.creations,
        acknowledged.deliveries,
        acknowledged.replacements,
        acknowledged.renames,
        acknowledged.deletions,
        acknowledged.appends,
        acknowledged.overwrites,
        acknowledged.truncations,
        acknowledged.other,
    ));
    document.line(format!(
        "Not acknowledged (in flight at the crash, not checked): {} operations",
        verified.in_flight
    ));
    if !verified.complete_ack_log {
        document.line("The last line of the acknowledgement log is incomplete and was ignored");
    }
    if !verified.contents_checked {
        document.line(
            "Only sizes were checked, because all files have the same text (run with --contents \
             incompressible to check contents)",
        );
    }
    if verified.may_be_removed {
        document.line(
            "The run had ended and may have removed its files: missing files are not counted as \
             lost",
        );
    }
    losses(&mut document, verified);
    document
}

fn losses(document: &mut Document, verified: &Verified) {
    let (losses, checked) = (verified.losses(), verified.checked);
    if losses == 0 {
        return document.line(format!("No loss: all {checked} paths are as acknowledged"));
    }
    document.warning(format!(
        "LOST: {losses} of {checked} paths differ from what was acknowledged"
    ));
    for lost in &verified.lost_counts {
        document.below(format!(
            "{} of {}: {}",
            lost.kind.name(),
            lost.what.name(),
            lost.count
        ));
    }
    for loss in &verified.lost {
        document.below(loss.to_string());
    }
    let named = verified.lost.len() as u64;
    if named < losses {
        document.below(format!("and {} more", losses - named));
    }
}
