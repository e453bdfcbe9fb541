//! The page of an untrusted record: made within a time limit, well-formed and harmless. The tests
//! in `hostile.rs` and `pages.rs` and the fuzz target `page` use this module.

use std::time::Duration;

use document::{Document, sanitize};
use record::{Action, Record};
use report::page::{ComparedPage, PageRun, comparison_page, page};
use study::statistics::ALPHA;
use study::{Baseline, ComparedSide, Comparisons, Metric, Observed, SideGroup, Statistic};

/// Limit on the processor time for a page. Wall time would depend on other tests that run at the
/// same time.
const PAGE_MAX: Duration = Duration::from_secs(3);

/// Makes the page of a record, and panics if a check fails. Returns whether the bytes are a valid
/// record.
pub fn show(bytes: &[u8]) -> bool {
    let record = std::str::from_utf8(bytes)
        .ok()
        .and_then(|text| Record::from_json(text).ok());
    let page = record
        .as_ref()
        .map(|record| (shown(record), compared(record)));
    page.is_some()
}

/// Makes the page of a comparison of the record with itself, under an untrusted name. Panics if a
/// check fails.
pub fn compared(record: &Record) -> String {
    let json = verdict::to_json(record);
    let run = || PageRun {
        record,
        json: &json,
        remarks: Document::default(),
        more: Document::default(),
    };
    let metrics = [
        Metric::Transactions,
        Metric::Latency(Action::Read, Statistic::P99),
    ];
    let side = |number: u64| ComparedSide {
        label: record.host.hostname.clone(),
        runs: vec![Observed::of(record, Some(number), &metrics)],
    };
    let groups = [SideGroup {
        baseline: Baseline {
            side: side(1),
            twin: Some(side(2)),
        },
        sides: vec![side(3)],
    }];
    let began = processor_time();
    let page = comparison_page(&ComparedPage {
        name: record.host.hostname.clone(),
        groups: &groups,
        tables: &Comparisons::of_groups(&groups, &metrics, ALPHA),
        metrics: &metrics,
        design: None,
        more: Document::default(),
        runs: [1, 2, 3].map(|number| (number, run())).into(),
    });
    // The page contains three records, so the limit applies to a third of the time.
    checked(&page, processor_time().saturating_sub(began) / 3);
    page
}

/// Makes the page of a record. Panics if a check fails.
pub fn shown(record: &Record) -> String {
    let json = verdict::to_json(record);
    let mut remarks = Document::default();
    remarks.words(record.host.hostname.clone());
    let began = processor_time();
    let page = page(&[PageRun {
        record,
        json: &json,
        remarks,
        more: Document::default(),
    }]);
    checked(&page, processor_time().saturating_sub(began));
    page
}

/// Checks a page, and the processor time that it took to make the page.
fn checked(page: &str, took: Duration) {
    assert!(took < PAGE_MAX, "{took:?}");
    let harmful =
        |character: char| !matches!(character, '\n' | '\t') && sanitize::is_harmful(character);
    assert!(!page.contains(harmful));
    let text = without_script(page);
    is_well_formed(&text);
    let (visible, _) = text.split_once("<script").expect("the records");
    places_are_numbers(visible);
}

/// The processor time of this thread (proc_pid_schedstat).
pub fn processor_time() -> Duration {
    let text =
        std::fs::read_to_string("/proc/thread-self/schedstat").expect("the kernel counts it");
    let ns = text.split(' ').next().and_then(|ns| ns.parse().ok());
    Duration::from_nanos(ns.expect("nanoseconds"))
}

/// Checks that all positions and sizes in charts are numbers.
pub fn places_are_numbers(visible: &str) {
    const PLACES: [&str; 13] = [
        "d",
        "x",
        "y",
        "x1",
        "x2",
        "y1",
        "y2",
        "cx",
        "cy",
        "width",
        "height",
        "viewBox",
        "transform",
    ];
    let mut places = 0;
    for tag in visible.split('<') {
        let mut parts = tag.split('"');
        while let (Some(name), Some(value)) = (parts.next(), parts.next()) {
            let name = name
                .trim_end_matches('=')
                .rsplit(' ')
                .next()
                .unwrap_or_default();
            if PLACES.contains(&name) {
                assert!(!value.contains("NaN") && !value.contains("inf"), "{tag}");
                places += 1;
            }
        }
    }
    assert!(
        places > 0 || !visible.contains("<svg"),
        "no place was found"
    );
}

pub fn without_script(page: &str) -> String {
    let (before, script) = page.split_once("<script>").unwrap_or((page, ""));
    let (_, after) = script.split_once("</script>").unwrap_or_default();
    [before, after].concat()
}

/// Checks that every element except `VOID` is closed in order, that quoted values of attributes are
/// in double quotation marks, and that every `&` begins a character reference.
pub fn is_well_formed(text: &str) {
    const VOID: [&str; 2] = ["meta", "!DOCTYPE"];
    let mut open: Vec<&str> = Vec::new();
    for part in text.split('<').skip(1) {
        let (tag, shown) = part.split_once('>').expect("a tag ends");
        let name = tag
            .split([' ', '/'])
            .find(|name| !name.is_empty())
            .expect("a tag has a name");
        assert!(name == "style" || !shown.contains('>'), "{part}");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "{tag}");
            continue;
        }
        // If a tag is split at its quotation marks, names and values of attributes alternate.
        let mut parts = tag.strip_suffix('/').unwrap_or(tag).split('"');
        let names = parts.clone().step_by(2);
        assert!(
            parts.by_ref().count() % 2 == 1 && names.clone().all(|names| !names.contains('\'')),
            "{tag}"
        );
        if !VOID.contains(&name) && !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
    let entities = ["amp;", "lt;", "gt;", "quot;", "#39;"];
    let all = text.split('&').skip(1);
    assert!(
        all.into_iter()
            .all(|rest| entities.iter().any(|entity| rest.starts_with(entity)))
    );
}
