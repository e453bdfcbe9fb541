//! The verdict and its reasons, which are at the top of the report so that every reader of the
//! numbers sees them.

use super::evidence;
use document::sanitize;
use document::units::{bound, counted, percent, seconds, signed_percent};
use document::{Block, Document, Tone};
use measure::steady;
use record::{BusyProgram, Fact, Phase, Record};
use verdict::rules::Steadiness;
use verdict::{Level, Reason, Summary, Verdict};

pub(crate) fn render(document: &mut Document, record: &Record, summary: &Summary) {
    let verdict = &summary.verdict;
    let level = verdict.level;
    if level == Level::Valid {
        document.list(
            "Verdict",
            &format!("{}: ", level.name()),
            &looked_at(summary),
        );
        document.paint(vec![painted(level)]);
        return load_not_judged(document, record, summary);
    }
    document.pair(0, "Verdict", level.name());
    document.paint(vec![painted(level)]);
    reasons(document, summary, usize::MAX);
}

/// Adds a note if the verdict does not cover the load of other programs, because that load is not
/// known. The note names the busiest programs, so that the user can distinguish the server from
/// other load.
pub(super) fn load_not_judged(document: &mut Document, record: &Record, summary: &Summary) {
    let Fact::Unavailable(why) = &summary.verdict.seen.others_fraction else {
        return;
    };
    if record.during.clocks.elapsed_ns < 1_000_000_000 {
        // Of such a run, the time is too short for the kernel's ticks, whatever else ran.
        return;
    }
    let busiest = record.during.busiest.as_ref().and_then(Fact::known);
    let named = |one: &BusyProgram| {
        let (name, share) = (sanitize::sanitize(&one.name), percent(one.fraction));
        format!("{name} (process {}) {share}", one.pid)
    };
    let named: Vec<String> = busiest.into_iter().flatten().map(named).collect();
    let (found, how) = match named.is_empty() {
        true => (String::new(), "'top' during a run shows"),
        false => (format!(", busiest {}", named.join(", ")), "these show"),
    };
    document.words(format!(
        "Note: other-load not judged: {why}{found} ({how} whether programs other than the server \
         are busy)"
    ));
}

/// The text of a verdict, and the tone in which it is emphasized.
pub(crate) fn painted(level: Level) -> (String, Tone) {
    let tone = match level {
        Level::Valid => Tone::Good,
        Level::Doubtful => Tone::Doubtful,
        Level::Invalid => Tone::Bad,
    };
    (level.name().to_owned(), tone)
}

/// Adds the reasons of the verdict, the worst first, at most `max` of them.
pub(crate) fn reasons(document: &mut Document, summary: &Summary, max: usize) {
    let Verdict { level, reasons, .. } = &summary.verdict;
    for reason in reasons.iter().take(max) {
        document.push(Block::Item {
            depth: 1,
            text: bound(&said(reason, *level)),
        });
    }
    let more = reasons.len().saturating_sub(max);
    if more > 0 {
        document.push(Block::Item {
            depth: 1,
            text: format!("{} (see --full)", counted(more as u64, "reason") + " more"),
        });
    }
}

/// The line of a reason. A reason that is less severe than the verdict starts with `(doubtful)`.
fn said(reason: &Reason, level: Level) -> String {
    let lead = if reason.level() < level {
        "(doubtful) "
    } else {
        ""
    };
    format!("{lead}{}", reason.line())
}

/// The steadiness of the rate in a few words.
fn in_short(steadiness: &Steadiness) -> String {
    match steadiness {
        Steadiness::Change(change) => {
            let is_told = change.drift_by_chance <= steady::DRIFT_MAX;
            format!(
                "{} (drift {}, noise ±{})",
                if is_told {
                    "steady"
                } else {
                    "too noisy to show small changes"
                },
                signed_percent(change.drift),
                percent(change.drift_by_chance)
            )
        }
        Steadiness::Slope(drift) => format!("steady (drift {})", signed_percent(drift.drift)),
        Steadiness::Rounds(steady) => {
            format!(
                "steady ({} rounds within {})",
                steady.window,
                percent(steady.excursion)
            )
        }
    }
}

/// The checks that passed, with the values that were checked. If a value is not available, the
/// reason is given instead.
pub(crate) fn looked_at(summary: &Summary) -> Vec<String> {
    let Verdict { seen, .. } = &summary.verdict;
    let mut words = Vec::new();
    if let Some(measured) = seen.measured {
        let what = match measured.phase {
            Phase::Prepare => "of preparation",
            Phase::Transactions | Phase::Delete => "measured",
        };
        words.push(format!("{} s {what}", seconds(measured.ns)));
    }
    match &seen.steadiness {
        Fact::Known(steadiness) => words.push(in_short(steadiness)),
        Fact::Unavailable(why) => words.push(format!("steadiness not available ({why})")),
        Fact::NotApplicable => {}
    }
    words.push("no errors".to_owned());
    for (what, fraction) in [
        ("overhead", &seen.overhead_fraction),
        ("other programs", &seen.others_fraction),
        ("FUSE server", &seen.fuse_servers_fraction),
        ("CPU steal", &seen.steal_fraction),
    ] {
        match fraction {
            Fact::Known(fraction) => words.push(format!("{what} {}", percent(*fraction))),
            Fact::Unavailable(why) => words.push(format!("{what} not available ({why})")),
            Fact::NotApplicable => {}
        }
    }
    let reads = summary.reads.as_ref();
    if let Some((reads, cached)) = reads.and_then(|of| Some((of, of.cached_fraction()?))) {
        let fetched = percent(1.0 - cached);
        let behind = evidence::behind(reads);
        words.push(format!("{fetched} of reads from the {behind}"));
    }
    words
}
