//! Charts of block characters for terminals.

use document::text;
use record::Action;
use report::terminal::{charts, line};
use testkit::Shows;

use crate::pages::{kept, over_time};

#[test]
fn charts_fill_the_width_of_the_terminal() {
    let record = over_time(40, &[Action::Read, Action::Create]);
    for width in [80, 40, 33] {
        let shown = text(&charts(&record, width), width);
        assert!(
            shown.lines().all(|line| line.chars().count() <= width),
            "{shown}"
        );
        assert!(
            shown.lines().any(|line| line.chars().count() == width),
            "{shown}"
        );
        // There are 40 operations in each second, so all columns are full.
        let top = shown
            .lines()
            .find(|line| line.contains("40.00 "))
            .unwrap_or_else(|| panic!("{shown}"));
        assert!(top.ends_with(&"█".repeat(width - 12)), "{shown}");
        shown.shows("0 s").shows("40 s").shows("90 %");
    }
    assert!(charts(&record, 31).is_empty());
}

#[test]
fn percentile_curve_rises_and_missing_charts_are_omitted() {
    let shown = text(&charts(&kept(), 80), 80);
    shown
        .does_not_show("Rate over time")
        .shows("Percentiles of latency");
    let columns: Vec<usize> = (12..80)
        .map(|column| {
            shown
                .lines()
                .filter(|line| {
                    line.chars()
                        .nth(column)
                        .is_some_and(|one| "▁▂▃▄▅▆▇█".contains(one))
                })
                .count()
        })
        .collect();
    assert!(columns.is_sorted() && columns[0] < columns[67], "{shown}");
    let mut nothing = kept();
    nothing.actual.phases.clear();
    assert!(charts(&nothing, 80).is_empty());
}

#[test]
fn terminal_line_contains_a_block_for_each_value() {
    assert_eq!(line([0.0, 0.1, 4.0, 8.0].into_iter()), " ▁▄█");
    assert_eq!(line([0.0, 0.0].into_iter()), "  ");
}
