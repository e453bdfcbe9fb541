//! Tests that the tables in `docs/understanding/how-many-blocks.md` are those of the gate's
//! formulas.

use study::Requirement;
use study::gate::FAIL_ALPHA;
use study::statistics::{EstimatedDeviation, power};

const PATH: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../docs/understanding/how-many-blocks.md"
);

/// Minimum number of blocks of two runs that can fail a gate.
const BLOCKS_TO_FAIL: u32 = 7;

const SPREADS: [f64; 5] = [0.01, 0.02, 0.03, 0.05, 0.10];
const BOUNDS: [f64; 5] = [0.99, 0.985, 0.97, 0.95, 0.90];
const LOSSES: [f64; 6] = [0.01, 0.02, 0.03, 0.05, 0.07, 0.10];

fn blocks_to_pass(bound: f64, spread: f64) -> u32 {
    let requirement: Requirement = format!("transactions >= {bound}").parse().unwrap();
    let known = EstimatedDeviation {
        deviation: spread,
        degrees: f64::INFINITY,
    };
    requirement.blocks_needed(known, 1).unwrap()
}

/// Probability that a gate of this many blocks fails, if the candidate really loses this share.
fn failing(bound: f64, spread: f64, blocks: u32, loss: f64) -> f64 {
    let blocks = f64::from(blocks);
    let beyond = bound.ln() - (1.0 - loss).ln();
    power(beyond / (spread / blocks.sqrt()), FAIL_ALPHA, blocks - 1.0)
}

fn percent(share: f64) -> String {
    let digits = usize::from(share * 100.0 % 1.0 > 1e-9 && share < 0.1);
    format!("{:.digits$} %", share * 100.0)
}

fn probability(share: f64) -> String {
    match share {
        ..0.01 => "< 1 %".to_owned(),
        0.995.. => "> 99 %".to_owned(),
        _ => format!("{:.0} %", share * 100.0),
    }
}

fn row(cells: impl IntoIterator<Item = String>) -> String {
    let cells: Vec<String> = cells.into_iter().collect();
    format!("| {} |\n", cells.join(" | "))
}

fn table(head: String, columns: impl IntoIterator<Item = String>, rows: &[String]) -> String {
    let head: Vec<String> = std::iter::once(head).chain(columns).collect();
    let line = format!("|{}\n", "---|".repeat(head.len()));
    format!("{}{line}{}\n", row(head), rows.concat())
}

fn blocks_table() -> String {
    let rows = SPREADS.map(|spread| {
        let cells = BOUNDS.map(|bound| blocks_to_pass(bound, spread).to_string());
        row(std::iter::once(percent(spread)).chain(cells))
    });
    let columns = BOUNDS.map(|bound| format!("`>= {bound}`"));
    table("standard deviation of a block".to_owned(), columns, &rows)
}

fn power_of_bounds() -> String {
    let spread = 0.02;
    let rows = BOUNDS.map(|bound| {
        let blocks = blocks_to_pass(bound, spread).max(BLOCKS_TO_FAIL);
        let cells = LOSSES.map(|loss| probability(failing(bound, spread, blocks, loss)));
        row([format!("`>= {bound}`"), blocks.to_string()]
            .into_iter()
            .chain(cells))
    });
    let losses = LOSSES.map(|loss| format!("loss of {}", percent(loss)));
    let columns = std::iter::once("blocks".to_owned()).chain(losses);
    table("requirement".to_owned(), columns, &rows)
}

fn power_of_blocks() -> String {
    let rows = [10, 20, 50, 100].map(|blocks| {
        let cells = [0.01, 0.02, 0.03, 0.05]
            .map(|spread| probability(failing(0.985, spread, blocks, 0.03)));
        row(std::iter::once(blocks.to_string()).chain(cells))
    });
    let columns = ["1 %", "2 %", "3 %", "5 %"].map(str::to_owned);
    table("blocks".to_owned(), columns, &rows)
}

#[test]
fn the_documented_tables_are_those_of_the_gate() {
    let tables = [
        ("blocks", blocks_table()),
        ("power of bounds", power_of_bounds()),
        ("power of blocks", power_of_blocks()),
    ];
    for (name, expected) in tables {
        let expected = format!("\n{expected}");
        let text = std::fs::read_to_string(PATH).unwrap();
        let begin = format!("<!-- Table: {name}. Written by the tests of study. -->\n");
        let (before, rest) = text.split_once(&begin).unwrap();
        let (documented, behind) = rest.split_once("<!-- End of the table. -->").unwrap();
        if std::env::var_os("POSTMARK_WRITE_GOLDEN").is_some() {
            let text = [
                before,
                &begin,
                &expected,
                "<!-- End of the table. -->",
                behind,
            ]
            .concat();
            std::fs::write(PATH, text).unwrap();
            continue;
        }
        assert_eq!(documented, expected, "POSTMARK_WRITE_GOLDEN=1 writes it");
    }
}

#[test]
fn a_loss_equal_to_the_bound_fails_in_one_gate_of_a_hundred() {
    for blocks in [10, 100, 1000] {
        let found = failing(0.97, 0.02, blocks, 0.03);
        assert!(
            (found - FAIL_ALPHA).abs() < 1e-3,
            "{blocks} blocks: {found}"
        );
    }
}
