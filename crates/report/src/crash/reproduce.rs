//! Who lost an acknowledged operation, and the command that repeats the rounds up to the loss.

use document::sanitize::is_harmful;
use document::{Block, Document};
use rundir::CrashReport;

use super::moments;
use crate::text::quoted::for_shells;

/// Attributes the losses to the server, if only the server's process was killed.
pub(super) fn attribute(document: &mut Document, report: &CrashReport) {
    if report.crashes_with_loss > 0 && report.kills_server {
        document.words(
            "Attributed to the server: only its process was killed, the kernel and the devices \
             kept what they had. The server acknowledged operations that were only in its memory \
             (unless --restore changed the files)",
        );
    }
}

/// What a round with this moment waits for after its time.
fn waits_for(moment: Option<&str>) -> String {
    match moment {
        None => String::new(),
        Some(moment) => format!(", {}", moments::name(Some(moment))),
    }
}

/// Adds the command that repeats the rounds up to the first one with a loss.
pub(super) fn add(document: &mut Document, report: &CrashReport) {
    let Some(round) = report.first_lossy() else {
        return;
    };
    let mut command = "postmark crash".to_owned();
    for word in &report.subject.arguments {
        command.push(' ');
        command += &for_shells(word);
    }
    command += &format!(" --seed {} --rounds {}", report.seed, round.round);
    if command.contains(is_harmful) {
        return;
    }
    document.below(format!(
        "Repeat the rounds up to round {}, whose crash comes {:.3} s after the preparation{} (its \
         run has the seed {}):",
        round.round,
        round.delay_ns as f64 / 1e9,
        waits_for(round.moment.as_deref()),
        report
            .seed
            .saturating_add(u64::from(round.pool.unwrap_or(round.round)) - 1)
    ));
    document.push(Block::Command(command));
}
