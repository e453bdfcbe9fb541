//! What limited the run, and the parts of the workers' time.

use document::Document;
use document::units::percent;
use record::Fact;
use verdict::{LimitPart, LimitSummary, RunLimit, Summary};

/// Parts below this share of the workers' time are not listed, because one decimal would show them
/// as 0.0 %.
const SHOWN_MIN: f64 = 0.0005;

/// Returns the limit with its share of the workers' time. If the limit is not available, adds a
/// line with the reason, which may be too long for a line of several facts.
pub(super) fn limited_by(document: &mut Document, summary: &Summary) -> Option<String> {
    match &summary.limit {
        Some(Fact::Known(found)) => Some(in_words(found)),
        Some(Fact::Unavailable(why)) => {
            document.words(format!("limited by: not available ({why})"));
            None
        }
        Some(Fact::NotApplicable) | None => None,
    }
}

fn in_words(found: &LimitSummary) -> String {
    let other = found.same_resource();
    let other = other.filter(|other| other.fraction >= SHOWN_MIN);
    let own = percent(found.fraction);
    let both = other.map(|other| (percent(found.fraction + other.fraction), rest(other.limit)));
    let both = both.filter(|(both, _)| *both != own);
    let with = both.map_or_else(String::new, |(both, name)| format!(", {both} with {name}"));
    let name = found.limit.name();
    format!("limited by: {name} ({own} of the workers' time{with})")
}

/// The other part of a resource, after the name of its larger part.
const fn rest(other: RunLimit) -> &'static str {
    match other {
        RunLimit::Device => "its other work",
        RunLimit::Flushes => "its flushes",
        RunLimit::Cpu => "running on one",
        RunLimit::ProcessorWait => "waiting for it",
        other => other.name(),
    }
}

/// Adds the limit, and the parts of the workers' time from the largest to the smallest.
pub(super) fn render(document: &mut Document, summary: &Summary) {
    let Some(limit) = &summary.limit else {
        return;
    };
    let words = limited_by(document, summary);
    if let (Some(words), Fact::Known(found)) = (words, limit) {
        document.line(words);
        document.note(parts_in_words(found));
        document.note(
            "the CPU: running, or ready while other workers run; without the program's overhead",
        );
    }
    document.gap();
}

fn parts_in_words(found: &LimitSummary) -> String {
    let shown = found.parts.iter().filter(|part| part.fraction >= SHOWN_MIN);
    let mut parts: Vec<&LimitPart> = shown.collect();
    parts.sort_by(|one, other| other.fraction.total_cmp(&one.fraction));
    let parts: Vec<String> = parts
        .iter()
        .map(|part| format!("{} {}", part.limit.name(), percent(part.fraction)))
        .collect();
    format!("the workers' time: {}", parts.join(", "))
}
