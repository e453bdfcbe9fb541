//! Processing of an untrusted record: it is read, summarized, shown and listed in every format,
//! written, and read back. The tests in `hostile.rs` and the fuzz target `import` use this module.

use document::sanitize;
use record::Record;
use report::classic;
use report::{export, list};
use testkit::Assert;
use verdict::{Headline, ListedRun};

/// Processes a text, and panics if a check fails. Returns whether it is a record.
pub fn import(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return false;
    };
    let record = match Record::from_json(text) {
        Ok(record) => record,
        Err(error) => {
            let told = error.to_string();
            is_harmless(&told);
            told.assert(!told.contains('\n') && told.chars().count() < 1_000);
            return false;
        }
    };
    for shown in everything(&record) {
        is_harmless(&shown);
    }
    // The record must survive the escaping of printed JSON.
    let written = verdict::to_json(&record);
    let again = Record::from_json(&sanitize::lines(&written));
    assert_eq!(again.expect("what was written is read again"), record);
    let entries = [entry(&record)];
    let listed: Vec<ListedRun> =
        serde_json::from_str(&sanitize::lines(&list::json(&entries))).expect("a list is JSON");
    assert_eq!(listed, entries);
    for csv in [list::csv(&entries), export::csv(&entries[0], &record)] {
        let printed = sanitize::lines(&csv);
        assert_eq!(printed, csv);
        printed.assert(
            printed
                .split_inclusive('\n')
                .all(|line| line.ends_with("\r\n")),
        );
    }
    assert_eq!(list::csv(&entries).lines().count(), 2);
    assert_eq!(
        document::text(
            &list::document(&entries, &std::collections::BTreeMap::new()),
            document::WIDTH
        )
        .lines()
        .count(),
        // A line below the list explains the mark of a sweep.
        2 + usize::from(entries[0].headline.is_sweep)
    );
    assert_eq!(list::markdown(&entries).lines().count(), 3);
    true
}

/// A list entry whose tags and note are strings from the record.
fn entry(record: &Record) -> ListedRun {
    ListedRun {
        number: Some(7),
        headline: Headline::of(record),
        tags: record.spec.command_line.clone(),
        note: Some(record.host.hostname.clone()),
    }
}

/// All reports, lists and exports of a record, as texts.
pub fn everything(record: &Record) -> Vec<String> {
    let entries = [entry(record)];
    let mut shown = vec![
        report::text::render(record),
        verdict::to_json(record),
        document::text(
            &list::document(&entries, &std::collections::BTreeMap::new()),
            document::WIDTH,
        ),
        list::json(&entries),
        list::csv(&entries),
        list::markdown(&entries),
        export::csv(&entries[0], record),
    ];
    if let Some(figures) = &record.actual.classic {
        shown.extend(
            [document::Format::Classic, document::Format::Terse]
                .map(|format| classic::report(figures, format)),
        );
        shown.push(classic::partial(figures));
    }
    shown
}

/// Checks that a text contains no control or invisible characters except line breaks and tabs.
fn is_harmless(text: &str) {
    let harmful =
        |character: char| !matches!(character, '\n' | '\t') && sanitize::is_harmful(character);
    assert!(!text.replace("\r\n", "\n").contains(harmful), "{text:?}");
}
