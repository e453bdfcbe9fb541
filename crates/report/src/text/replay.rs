//! The replay of a trace: its workers, and its differences from the trace.

use document::units::{counted, grouped, latency, percent};
use document::{Cell, Document, Table};
use record::Workload;
use verdict::summary::ReplaySummary;
use workload::replay::Replay;

/// Adds the lines about the trace and its workers.
pub(crate) fn lines(document: &mut Document, workload: &Workload, replay: &Replay) {
    let below = replay.below.as_ref();
    let below = below.map_or_else(String::new, |below| format!(", files below {below}"));
    document.sentence("Trace", format!("{}{below}", replay.trace));
    document.pair(0, "", replay.digest.as_str());
    let words = format!(
        "{} of {} by {}, with {} between workers",
        counted(replay.operations, "operation"),
        counted(replay.threads, "thread"),
        counted(workload.workers.count().into(), "worker"),
        match replay.dependencies {
            1 => "1 dependency".to_owned(),
            count => format!("{} dependencies", grouped(count)),
        }
    );
    document.sentence("Replay", words);
}

/// Adds the differences between the replay and its trace, with their shares.
pub(crate) fn deviations(document: &mut Document, replay: &Replay) {
    if replay.deviations.is_empty() {
        return;
    }
    let left_out = replay.deviations.iter().filter(|one| one.is_left_out);
    let left_out = left_out.fold(0_u64, |sum, one| sum.saturating_add(one.count));
    let all = replay.operations.saturating_add(left_out).max(1);
    let mut table = Table::new(1, &["Not as in the trace", "count", "share"]);
    for one in &replay.deviations {
        let how = if one.is_left_out {
            "left out"
        } else {
            "changed"
        };
        table.row(vec![
            format!("{how}: {}", one.what).into(),
            Cell::count(one.count),
            percent((one.count as f64 / all as f64).min(1.0)).into(),
        ]);
    }
    document.table(table);
    document.note("shares are of the replay's operations and of all that is left out");
}

/// Adds one line that compares the replay with its trace.
pub(crate) fn comparison(document: &mut Document, summary: Option<&ReplaySummary>) {
    let Some(summary) = summary else {
        return;
    };
    let mut words = vec![format!(
        "{} of the trace, {} left out ({})",
        counted(summary.operations, "operation"),
        grouped(summary.left_out),
        percent(summary.left_out_fraction)
    )];
    if let (Some(traced_ns), Some(replayed_ns)) = (summary.traced_ns, summary.replayed_ns) {
        words.push(format!(
            "traced in {}, replayed in {}",
            latency(traced_ns as f64),
            latency(replayed_ns as f64)
        ));
    }
    if let Some(inaccuracy) = summary.timing_inaccuracy {
        words.push(format!("timing inaccuracy {}", percent(inaccuracy)));
    }
    document.words(format!("Replay: {}", words.join("; ")));
}
