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
         | command | on | operations | not in the model | command | its CPU | replay | model |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for truth in truths {
        let operations = truth.operations.map_or("-".to_owned(), |of| of.to_string());
        for system in &truth.systems {
            let cpu = truth.cpu.filter(|_| system.name == BASELINE);
            let _ = writeln!(
                text,
                "| {} | {} | {operations} | {} | {} | {} | {} | {} |",
                truth.command,
                system.name,
                percent(truth.left_out),
                shown(system.original),
                or_dash(cpu.map(|cpu| cpu.value), 2),
                shown(system.replay.map(|of| of.seconds)),
                shown(system.model.map(|of| of.seconds)),
            );
        }
    }
}

fn ratios(text: &mut String, truths: &[Truth]) {
    let _ = write!(
        text,
        "\nSpeeds relative to {BASELINE}. Own time: the command's time on {BASELINE} minus that of \
         the replay or model there, added to both. Error: of the ratio with own time. Inaccuracy: \
         of the time with own time on this file system. Traced: the inaccuracy of a replay at the \
         times of the trace, on {BASELINE}.\n\n\
         | command | on | command | replay | with own time | error | inaccuracy | traced | model \
         | with own time | error | inaccuracy |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|\n"
    );
    for truth in truths {
        for system in truth.systems.iter().filter(|one| one.name != BASELINE) {
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} |",
                truth.command,
                system.name,
                shown(system.ratio),
                compared(system, system.replay),
                percent(truth.traced),
                compared(system, system.model),
            );
        }
    }
    for (what, part) in PARTS {
        let all = truths.iter().flat_map(|truth| &truth.systems);
        let others = all.filter(|system| system.name != BASELINE);
        let found: Vec<f64> = others.filter_map(|one| part(one)?.inaccuracy).collect();
        if !found.is_empty() {
            let mean = percent(Some(measure::mean(&found)));
            let _ = writeln!(
                text,
                "\nMean inaccuracy of {what} on other file systems: {mean}"
            );
        }
    }
}

type PartOf = fn(&System) -> Option<Compared>;

const PARTS: [(&str, PartOf); 2] = [
    ("replays", |system| system.replay),
    ("models", |system| system.model),
];

fn compared(system: &System, of: Option<Compared>) -> String {
    format!(
        "{} | {} | {} | {}",
        shown(of.map(|of| of.ratio)),
        shown(of.map(|of| of.ratio_with_own)),
        percent(of.and_then(|of| error(system, of.ratio_with_own))),
        percent(of.and_then(|of| of.inaccuracy)),
    )
}

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
