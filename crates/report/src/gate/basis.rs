//! The number of blocks that a gate has, and the number that it needs.

use document::units::{counted, grouped, percent};
use study::{Comparison, Comparisons, Decision, Gate, Judged, Method};

use crate::comparison::{deviates, effort, forecast_source};

/// A sentence with the blocks that were run and their standard deviation. If a requirement is
/// undecided, the sentence includes the number of blocks that the gate needs.
pub(super) fn basis(gate: &Gate) -> String {
    let requirements = || gate.requirements.iter();
    let least = requirements().map(|judged| judged.count).min().unwrap_or(0);
    let what = match is_in_blocks(gate) {
        true => "block",
        false => "run",
    };
    let after = gate
        .confirmed_after
        .map_or_else(String::new, |after| format!(" after block {after}"));
    let unequal = requirements().filter_map(|judged| row(gate, judged));
    let unequal = unequal.filter(|row| row.count != row.baseline_count);
    let done = match (
        what,
        unequal.min_by_key(|row| row.count.min(row.baseline_count)),
    ) {
        ("run", Some(row)) => format!(
            "{} and {}",
            row.count,
            counted(row.baseline_count.into(), what)
        ),
        _ => each(least, what),
    };
    let done = format!("{done}{after}");
    let begin = match gate.decision {
        Decision::Undecided => format!("Undecided with {done}"),
        Decision::Passed | Decision::Failed => format!("Decided on {done}"),
    };
    if !needs_blocks(gate) {
        let needed = needed(gate);
        return match needed {
            None => format!("{begin}."),
            Some((_, judged)) => format!("{begin} at {}.", deviation(gate, judged)),
        };
    }
    let rest = match violated(gate) {
        Some(judged) => to_fail(gate, judged, what),
        None => to_pass(gate, (least, what)),
    };
    format!("{begin}: {rest}.")
}

/// Whether the runs of all requirements are in blocks.
pub(super) fn is_in_blocks(gate: &Gate) -> bool {
    let mut requirements = gate.requirements.iter();
    requirements.all(|judged| judged.method != Method::NotInterleaved)
}

/// A number of blocks, or of runs of each configuration.
fn each(count: u32, what: &str) -> String {
    let count = counted(count.into(), what);
    match what {
        "run" => format!("{count} of each configuration"),
        _ => count,
    }
}

/// Whether more blocks could decide the gate: the gate and at least one of its requirements are
/// undecided.
pub(super) fn needs_blocks(gate: &Gate) -> bool {
    let mut requirements = gate.requirements.iter();
    gate.decision == Decision::Undecided
        && requirements.any(|judged| judged.decision == Decision::Undecided)
}

/// Numbers of blocks that an undecided requirement needs, such as `44 to fail, 3,752 to pass`. It
/// fails if the measured ratio, which violates the requirement, is the true one. It passes if the
/// systems are identical.
pub(super) fn blocks_needed(judged: &Judged) -> String {
    let number = |needed: Option<u32>, what: &str| match (needed, judged.bound) {
        (Some(needed), _) => Some(format!("{} to {what}", grouped(needed.into()))),
        (None, Some(_)) => Some(format!("over 10,000 to {what}")),
        // Too few blocks to know the standard deviation.
        (None, None) => None,
    };
    let fail = judged.blocks_needed_to_fail;
    let is_open = judged.is_violated() && fail.is_none_or(|needed| needed > judged.count);
    let fail = is_open.then(|| number(fail, "fail")).flatten();
    let pass = number(judged.blocks_needed_to_pass, "pass");
    let words: Vec<String> = fail.into_iter().chain(pass).collect();
    words.join(", ")
}

/// Of the undecided requirements whose measured ratio violates them, the one that needs the fewest
/// blocks to fail.
fn violated(gate: &Gate) -> Option<&Judged> {
    let undecided = gate.requirements.iter().filter(|judged| {
        judged.decision == Decision::Undecided
            && judged.is_violated()
            && judged.standard_deviation.is_some()
    });
    undecided.min_by_key(|judged| judged.blocks_needed_to_fail.unwrap_or(u32::MAX))
}

/// Words with the number of blocks that would fail a requirement whose measured ratio violates it.
fn to_fail(gate: &Gate, judged: &Judged, what: &str) -> String {
    let Judged {
        side,
        requirement,
        ratio,
        ..
    } = judged;
    let (begin, deviation) = (
        format!(
            "the ratio seen, {ratio:.3} of {side}, does not meet {requirement}, but the runs do \
             not show this of the true ratio"
        ),
        deviation(gate, judged),
    );
    let pass = judged
        .blocks_needed_to_pass
        .map_or_else(String::new, |pass| {
            format!(
                "; if the systems are identical, {} pass it",
                each(pass, what)
            )
        });
    match judged.blocks_needed_to_fail {
        Some(needed) if needed <= judged.count => {
            format!("{begin}, although these {what}s usually suffice at {deviation} (add {what}s)")
        }
        Some(needed) => format!(
            "{begin}. If that is the true ratio, {} ({}) fail the gate with a probability of 80 % \
             at {deviation}{pass}{}",
            each(needed, what),
            effort(&gate.comparisons, needed, "run"),
            of_compare(gate, judged)
        ),
        None if judged.bound.is_none() => begin,
        None => format!(
            "{begin}. If that is the true ratio, more than 10,000 {what}s are needed to fail the \
             gate at {deviation} (use longer runs, or stop other programs){}",
            of_compare(gate, judged)
        ),
    }
}

/// Distinguishes the numbers of a gate from the result of `compare` for the same blocks: a sentence
/// without a period, or nothing if `compare` reports neither a difference nor a number of blocks.
fn of_compare(gate: &Gate, judged: &Judged) -> &'static str {
    let row = row(gate, judged).filter(|row| row.method != Method::NotInterleaved);
    match row.and_then(Comparison::estimate) {
        Some(estimate) if estimate.is_shown => {
            ". The comparison already shows that the ratio is not 1"
        }
        Some(estimate) if estimate.blocks_needed_to_show.is_some() => {
            ". The number that 'postmark compare' reports is for another result: the ratio is not 1"
        }
        _ => "",
    }
}

/// With fewer blocks, the uncertainty of the standard deviation raises the number of blocks that a
/// gate needs to several times that of an exact deviation.
const FEW: u32 = 5;

/// Words with the number of blocks that the gate needs to pass identical systems.
fn to_pass(gate: &Gate, (least, what): (u32, &str)) -> String {
    let Some((needed, judged)) = needed(gate) else {
        let mut requirements = gate.requirements.iter();
        let lacking = |judged: &&Judged| {
            judged.blocks_needed_to_pass.is_none() && judged.standard_deviation.is_some()
        };
        return match requirements.find(lacking) {
            Some(judged) if judged.bound.is_none() => format!(
                "how many it takes is not known yet, because {} do not show the standard deviation \
                 well enough (add {what}s: at least 5)",
                counted(judged.count.into(), what)
            ),
            Some(judged) => format!(
                "more than 10,000 {what}s are needed to pass identical systems at {} (use longer \
                 runs, or stop other programs){}",
                deviation(gate, judged),
                of_compare(gate, judged)
            ),
            None => format!(
                "how many it takes is not known, because a standard deviation needs 2 {what}s (add \
                 {what}s)"
            ),
        };
    };
    let rest = match least >= needed && gate.doubts.is_empty() {
        true => {
            format!(
                ", but a ratio is too close to its threshold (add {what}s, or widen the margin)"
            )
        }
        false if judged.count < FEW => format!(
            ". The deviation may be too low by chance after {}, which the number allows for: it \
             usually falls with more {what}s",
            counted(judged.count.into(), what)
        ),
        false => String::new(),
    };
    format!(
        "it takes {} ({}) at {} to pass identical systems with a probability of 95 %{rest}",
        match what {
            "run" => each(needed, what),
            _ => grouped(needed.into()),
        },
        effort(&gate.comparisons, needed, "run"),
        deviation(gate, judged)
    )
}

/// The number of blocks that the gate needs, and the requirement that needs them.
fn needed(gate: &Gate) -> Option<(u32, &Judged)> {
    let needed = gate.blocks_needed_to_pass?;
    let mut requirements = gate.requirements.iter();
    let judged = requirements.find(|judged| judged.blocks_needed_to_pass == Some(needed))?;
    Some((needed, judged))
}

/// Words with the standard deviation of a requirement's ratio, and of what it is the deviation.
fn deviation(gate: &Gate, judged: &Judged) -> String {
    let deviation = judged
        .forecast_deviation
        .map_or_else(|| "not available".to_owned(), percent);
    let source = forecast_source(judged.forecast_deviation, judged.standard_deviation);
    let ratio = format!("{}{source}", deviates(judged.method));
    match gate.requirements.len() {
        1 => format!("a standard deviation of {deviation} ({ratio})"),
        _ => format!(
            "a standard deviation of {deviation} ({ratio}; {} of {})",
            judged.requirement, judged.side
        ),
    }
}

/// The comparison of the requirement's candidate in its metric.
pub(super) fn row<'a>(gate: &'a Gate, judged: &Judged) -> Option<&'a Comparison> {
    let mut rows = comparisons(gate, judged)?.rows.iter();
    let metric = judged.requirement.metric();
    rows.find(|row| row.side == judged.side && row.metric == metric)
}

/// The table of comparisons whose baseline is that of the requirement.
pub(super) fn comparisons<'a>(gate: &'a Gate, judged: &Judged) -> Option<&'a Comparisons> {
    let mut tables = gate.comparisons.iter();
    tables.find(|of| of.baseline == judged.baseline)
}
