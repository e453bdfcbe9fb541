//! The results as Markdown.

use std::fmt::Write;

use super::truth::{Compared, System, Truth, error};
use crate::realism::setup::write_missed;
use crate::realism::volume::BASELINE;
use crate::statistics::{Median, or_dash};

/// The tables of times, ratios and latencies, with the requirements that are missed.
pub fn markdown(data: &str, truths: &[Truth], missed: &[String]) -> String {
    let mut text = format!("# Replays and models beside commands ({data} data)\n\n");
    times(&mut text, truths);
    ratios(&mut text, truths);
    latencies(&mut text, truths);
    write_missed(&mut text, missed);
    text
}

fn times(text: &mut String, truths: &[Truth]) {
    text.push_str(
        "Seconds: median of the rounds, with its 95 % interval from six rounds on (before: least \
         and greatest).\n\n\
         | command | on | operations | not in the model | command | its CPU | replay \
         | with pauses | model |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    for truth in truths {
        let operations = truth.operations.map_or("-".to_owned(), |of| of.to_string());
        for system in &truth.systems {
            let cpu = truth.cpu.filter(|_| system.name == BASELINE);
            let _ = writeln!(
                text,
                "| {} | {} | {operations} | {} | {} | {} | {} | {} | {} |",
                truth.command,
                system.name,
                percent(truth.left_out),
                shown(system.original),
                or_dash(cpu.map(|cpu| cpu.value), 2),
                shown(system.replay.map(|of| of.seconds)),
                shown(system.paused.map(|of| of.seconds)),
                shown(system.model.map(|of| of.seconds)),
            );
        }
    }
}

fn ratios(text: &mut String, truths: &[Truth]) {
    let _ = write!(
        text,
        "\nSpeeds relative to {BASELINE}. A replay without pauses has the command's own time \
         added: its time on {BASELINE} minus that of the replay there. Error: of the ratio.\n\n\
         | command | on | command | replay | with own time | error | with pauses | error | model \
         | error |\n\
         |---|---|---|---|---|---|---|---|---|---|\n"
    );
    for truth in truths {
        for system in truth.systems.iter().filter(|one| one.name != BASELINE) {
            let ratio = |of: Option<Compared>| shown(of.map(|of| of.ratio_with_own));
            let error =
                |of: Option<Compared>| percent(of.and_then(|of| error(system, of.ratio_with_own)));
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
                truth.command,
                system.name,
                shown(system.ratio),
                shown(system.replay.map(|of| of.ratio)),
                ratio(system.replay),
                error(system.replay),
                ratio(system.paused),
                error(system.paused),
                ratio(system.model),
                error(system.model),
            );
        }
    }
    inaccuracies(text, truths);
}

/// The differences of times, and their means over all commands.
fn inaccuracies(text: &mut String, truths: &[Truth]) {
    let _ = write!(
        text,
        "\nTiming inaccuracy: the difference to the command's time, divided by it. Traced: of a \
         replay at the times of the trace, against the trace.\n\n\
         | command | on | replay with own time | with pauses | model | traced |\n\
         |---|---|---|---|---|---|\n"
    );
    for truth in truths {
        for system in &truth.systems {
            let cells = PARTS.map(|(_, part)| percent(part(system).and_then(|of| of.inaccuracy)));
            let traced = truth.traced.filter(|_| system.name == BASELINE);
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} |",
                truth.command,
                system.name,
                cells.join(" | "),
                percent(traced),
            );
        }
    }
    for (what, part) in PARTS {
        let all = truths.iter().flat_map(|truth| &truth.systems);
        let all = all.filter(|system| what != "replays with own time" || system.name != BASELINE);
        let found: Vec<f64> = all.filter_map(|one| part(one)?.inaccuracy).collect();
        if !found.is_empty() {
            let mean = percent(Some(measure::mean(&found)));
            let _ = writeln!(text, "\nMean inaccuracy of {what}: {mean}");
        }
    }
}

type PartOf = fn(&System) -> Option<Compared>;

const PARTS: [(&str, PartOf); 3] = [
    ("replays with own time", |system| system.replay),
    ("replays with pauses", |system| system.paused),
    ("models", |system| system.model),
];

fn latencies(text: &mut String, truths: &[Truth]) {
    let _ = write!(
        text,
        "\np99 by operation, without the command, whose latencies need a tracer: microseconds on \
         {BASELINE}, and the quotient of p99 on the other file system by that.\n\n\
         | command | operation | on | replay | quotient | model | quotient |\n\
         |---|---|---|---|---|---|---|\n"
    );
    for truth in truths {
        for one in &truth.latencies {
            let _ = writeln!(
                text,
                "| {} | {} | {} | {:.0} | {:.2} | {:.0} | {:.2} |",
                truth.command,
                one.action,
                one.system,
                one.replay.0 * 1e6,
                one.replay.1,
                one.model.0 * 1e6,
                one.model.1,
            );
        }
    }
}

fn shown(median: Option<Median>) -> String {
    median.map_or("-".to_owned(), |median| median.show(2))
}

fn percent(share: Option<f64>) -> String {
    share.map_or("-".to_owned(), |share| format!("{:.1} %", share * 100.0))
}
