//! `postmark verify-after`: what a crash has taken of what was acknowledged.

use record::harmless::{self, harmless};
use runner::{LossKind, Verified};

use crate::apart::Side;
use crate::said::{VerifyArguments, VerifyFormat};
use crate::{Problem, print};

/// Something acknowledged is lost or torn.
const LOST: u8 = 1;

/// Compares, tells, and gives the exit code: 0 where nothing is lost.
///
/// # Errors
/// Where nothing can be said, or the answer cannot be delivered.
pub fn verify_after(arguments: &VerifyArguments, side: &Side) -> Result<u8, Problem> {
    if let Some(code) = side.instead([arguments.path.as_path(), &arguments.journal]) {
        return Ok(code);
    }
    let verified = runner::verify_after(&arguments.path, &arguments.journal)?;
    print(&match arguments.format {
        VerifyFormat::Text => text(&verified),
        VerifyFormat::Json => json(&verified),
    })?;
    Ok(if verified.losses() == 0 { 0 } else { LOST })
}

fn json(verified: &Verified) -> String {
    // Maps have string keys and numbers are finite: writing to memory cannot fail.
    let text = serde_json::to_string_pretty(verified).unwrap_or_default();
    let mut text = harmless::json(&text).into_owned();
    text.push('\n');
    text
}

fn text(verified: &Verified) -> String {
    let mut text = format!(
        "Journal of {}, durability {}, workers {}\n",
        harmless(&verified.tool),
        harmless(&verified.policy),
        verified.workers
    );
    for directory in &verified.directories {
        text.push_str(&match directory {
            Some(directory) => format!("Directory {}\n", harmless(directory)),
            None => "Directory: removed, as the run had ended\n".to_owned(),
        });
    }
    let acknowledged = &verified.acknowledged;
    text.push_str(&format!(
        "Acknowledged: {} operations ({} creations, {} deliveries, {} replacements, {} renames, {} deletions, {} \
         appends, {} overwrites, {} truncations, {} others)\n",
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
    text.push_str(&format!(
        "Not acknowledged, so nothing is expected of them: {} operations\n",
        verified.in_flight
    ));
    if !verified.complete_journal {
        text.push_str("The journal's last line is torn: it acknowledges nothing\n");
    }
    if !verified.contents_checked {
        text.push_str(
            "Contents are text, the same in every file: only sizes were compared (give --contents incompressible)\n",
        );
    }
    if verified.may_be_removed {
        text.push_str("The run had ended and may have removed its files: what is gone is no loss\n");
    }
    losses(&mut text, verified);
    text
}

fn losses(text: &mut String, verified: &Verified) {
    let losses = verified.losses();
    if losses == 0 {
        text.push_str(&format!(
            "Nothing is lost: {} paths are as acknowledged\n",
            verified.checked
        ));
        return;
    }
    text.push_str(&format!(
        "LOST: {losses} of {} paths are not as acknowledged\n",
        verified.checked
    ));
    for count in &verified.lost_counts {
        let kind: LossKind = count.kind;
        text.push_str(&format!(
            "  {} of {}: {}\n",
            kind.name(),
            count.what.name(),
            count.count
        ));
    }
    for loss in &verified.lost {
        text.push_str(&format!("  {}\n", harmless::shown(loss)));
    }
    let named = verified.lost.len() as u64;
    if named < losses {
        text.push_str(&format!("  and {} more\n", losses - named));
    }
}
