//! The answer of crash rounds in sentences: losses that break a promise, and those that do not.

use document::Document;
use document::units::counted;
use rundir::CrashReport;
use rundir::loss_share::LossShare;

pub(super) fn add(document: &mut Document, report: &CrashReport) {
    let crashes = counted(report.crashes.into(), "round");
    if report.crashes_with_loss > 0 {
        document.warning(format!(
            "LOST: {} of {crashes} lost acknowledged operations",
            report.crashes_with_loss
        ));
        share(document, report.loss_share, "an acknowledged operation");
    } else if report.crashes == 0 {
        document.line("No crash interrupted a run, so the rounds show nothing");
    } else if report.is_bounded() {
        without_loss(document, report, &crashes);
    }
    if report.crashes_with_allowed_loss > 0 {
        document.line(format!(
            "Allowed: {} of {crashes} lost changes that no policy promised to keep",
            report.crashes_with_allowed_loss
        ));
        if !report.is_bounded() {
            share(document, report.allowed_share, "such a change");
            document.line("Nothing was promised, so no promise can be broken");
        }
    }
    if !report.crashes_system {
        document.line(
            "Only the run was killed, not the system: the rounds show nothing about durability \
             (use --crash COMMAND or --kill-server FILE)",
        );
    }
}

fn without_loss(document: &mut Document, report: &CrashReport, crashes: &str) {
    let (of_what, object) = match report.crashes_with_allowed_loss {
        0 => ("", "an acknowledged operation"),
        _ => (" of a promised change", "one"),
    };
    document.line(match report.loss_share_max {
        Some(share) => format!(
            "No loss{of_what} in {crashes}: fewer than {:.1} % of crashes lose {object} (95 %)",
            share * 100.0
        ),
        None => format!("No loss{of_what} in {crashes}"),
    });
}

fn share(document: &mut Document, share: Option<LossShare>, object: &str) {
    if let Some(share) = share {
        document.line(format!(
            "Between {:.1} and {:.1} % of crashes lose {object} (95 %)",
            share.min * 100.0,
            share.max * 100.0
        ));
    }
}
