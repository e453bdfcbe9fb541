//! What is done with a record of others: read, summed up, shown in every format, written and read again. Finds, seeds and
//! mutated records go through it in `hostile.rs`, and whatever the fuzz target `import` comes up with.

use record::{Record, Summary, harmless};
use report::classic::{self, Format};

/// Panics where something is not as it should be. Whether it was a record.
pub fn import(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return false;
    };
    let record = match Record::from_json(text) {
        Ok(record) => record,
        Err(error) => {
            let told = error.to_string();
            is_harmless(&told);
            assert!(!told.contains('\n') && told.chars().count() < 1_000, "{told}");
            return false;
        }
    };
    for shown in everything(&record) {
        is_harmless(&shown);
    }
    let written = record.to_json();
    let again = Record::from_json(&written);
    assert_eq!(again.expect("what was written is read again"), record);
    true
}

/// A record in all formats.
pub fn everything(record: &Record) -> Vec<String> {
    let mut shown = vec![report::text::render(record), record.to_json()];
    if let Some(figures) = &record.actual.classic {
        shown.extend([Format::Verbose, Format::Terse].map(|format| classic::report(figures, format)));
        shown.push(classic::partial(figures));
    }
    for reason in &Summary::of(record).verdict.reasons {
        shown.push(harmless::harmless(&reason.describe()).into_owned());
        shown.push(reason.what_to_do().to_owned());
    }
    shown
}

fn is_harmless(text: &str) {
    let harmful = |character: char| !matches!(character, '\n' | '\t') && harmless::is_harmful(character);
    assert!(!text.contains(harmful), "{text:?}");
}
