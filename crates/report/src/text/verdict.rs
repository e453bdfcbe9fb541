//! Whether the numbers are worth anything: at the top, so that nobody reads them without it.

use record::{Fact, Level, Phase, Reason, Summary, Verdict};

use super::heading::{LABEL_WIDTH, WIDTH_MAX, wrapped};
use super::line;
use crate::units::{percent, seconds};

pub(super) fn render(text: &mut String, summary: &Summary) {
    let verdict = &summary.verdict;
    let level = verdict.level;
    if level == Level::Valid {
        let lead = format!("{}: ", level.name());
        return wrapped(text, "Verdict", &lead, &looked_at(summary));
    }
    line(text, format_args!("{:<LABEL_WIDTH$}{}", "Verdict", level.name()));
    for reason in &verdict.reasons {
        bullet(text, &said(reason, level));
    }
}

/// A reason that is less bad than the verdict says so.
fn said(reason: &Reason, level: Level) -> String {
    let lead = if reason.level() < level { "(doubtful) " } else { "" };
    format!("{lead}{} {}", reason.describe(), reason.what_to_do())
}

/// What was looked at and found to be well, with its numbers; what is not known says why.
fn looked_at(summary: &Summary) -> Vec<String> {
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
        Fact::Known(steadiness) => words.push(format!("steady ({})", steadiness.in_short())),
        Fact::Unavailable(why) => words.push(format!("steadiness unknown ({why})")),
        Fact::NotApplicable => {}
    }
    words.push("no errors".to_owned());
    for (what, fraction) in [
        ("own time", &seen.own_fraction),
        ("other programs", &seen.others_fraction),
        ("steal", &seen.steal_fraction),
    ] {
        match fraction {
            Fact::Known(fraction) => words.push(format!("{what} {}", percent(*fraction))),
            Fact::Unavailable(why) => words.push(format!("{what} unknown ({why})")),
            Fact::NotApplicable => {}
        }
    }
    if let Some(fraction) = summary.fetched.as_ref().and_then(|fetched| fetched.fraction) {
        words.push(format!("{} of reads from the device", percent(fraction)));
    }
    words
}

/// Sentences in as many lines as they need.
fn bullet(text: &mut String, sentences: &str) {
    const FIRST: &str = "  - ";
    const OTHERS: &str = "    ";
    let mut current = FIRST.to_owned();
    for word in with_units(sentences) {
        let length = current.chars().count() + word.chars().count();
        if length > WIDTH_MAX && current.len() > FIRST.len() {
            line(text, format_args!("{}", current.trim_end()));
            current = OTHERS.to_owned();
        }
        current.push_str(&word);
        current.push(' ');
    }
    line(text, format_args!("{}", current.trim_end()));
}

/// The words of sentences; a unit stays with its number.
fn with_units(sentences: &str) -> Vec<String> {
    const UNITS: [&str; 8] = ["%", "s", "ns", "B", "KiB", "MiB", "GiB", "TiB"];
    let mut words: Vec<String> = Vec::new();
    for word in sentences.split_whitespace() {
        let bare = word.trim_end_matches(|last: char| last != '%' && last.is_ascii_punctuation());
        match words.last_mut() {
            Some(number) if UNITS.contains(&bare) => {
                number.push(' ');
                number.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_stays_with_its_number() {
        let words = with_units("It took 5.0 % of 12 s, or (less) 3 MiB; so it is.");
        assert_eq!(
            words,
            [
                "It", "took", "5.0 %", "of", "12 s,", "or", "(less)", "3 MiB;", "so", "it", "is."
            ]
        );
        let mut text = String::new();
        // The sign would have been the first character too many.
        bullet(
            &mut text,
            &format!("{} 5.0 % of it.", "x".repeat(WIDTH_MAX - "  -  5.0 ".len())),
        );
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert_eq!(lines[1], "    5.0 % of it.");
    }
}
