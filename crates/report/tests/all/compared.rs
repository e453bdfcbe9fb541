//! Comparisons and gates of synthetic runs, compared with golden files.

use std::collections::{BTreeMap, BTreeSet};

use document::Format;
use study::statistics::ALPHA;
use study::{
    Baseline, BlockAttempt, ComparedSide, Comparisons, Gate, GateRules, Metric, Observed,
    Requirement, SideGroup, UnlikeWhat,
};
use testkit::{Assert, Shows};
use verdict::Level;

pub fn metric(word: &str) -> Metric {
    word.parse().unwrap()
}

/// Deviations of six runs from the rate of their configuration, in percent.
pub const NOISE: [f64; 6] = [0.0, 2.0, -1.0, 1.0, -2.0, 0.5];

/// A configuration with `blocks` runs, each with transactions/s and a latency. Configurations with
/// different `shift` have different noise.
fn side(label: &str, rate: f64, shift: usize, blocks: u32) -> ComparedSide {
    let runs = (1..=blocks).map(|number| {
        let noise = 1.0 + NOISE[(number as usize * (shift + 1) + shift) % 6] / 100.0;
        Observed {
            run: Some(u64::from(number) * 10 + shift as u64),
            block: Some(BlockAttempt {
                study: "s".to_owned(),
                is_interleaved: true,
                number,
                attempt: 1,
            }),
            level: Level::Valid,
            values: BTreeMap::from([
                (Metric::Transactions, rate * noise),
                (metric("create.p99"), 1e9 / rate / noise),
            ]),
            conditions: BTreeMap::from([(UnlikeWhat::CacheState, "as-is".to_owned())]),
            reasons: BTreeSet::new(),
            incomplete: BTreeMap::new(),
        }
    });
    ComparedSide {
        label: label.to_owned(),
        runs: runs.collect(),
    }
}

fn with_twin() -> Baseline {
    Baseline {
        side: side("ext4", 10_000.0, 0, 10),
        twin: Some(side("ext4", 10_010.0, 3, 10)),
    }
}

fn without_blocks(mut side: ComparedSide, runs: usize) -> ComparedSide {
    side.runs.truncate(runs);
    for run in &mut side.runs {
        run.block = None;
    }
    side
}

/// Compares a text with a golden file, or writes the file if POSTMARK_WRITE_GOLDEN is set.
pub fn compare(name: &str, golden: &str, text: &str) {
    if std::env::var_os("POSTMARK_WRITE_GOLDEN").is_some() {
        let path = format!("{}/tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::write(path, text).unwrap();
    }
    assert_eq!(text, golden, "{name}");
}

fn study_found() -> Comparisons {
    let mut broken = side("btrfs", 9_000.0, 2, 10);
    for run in &mut broken.runs[2..5] {
        run.level = Level::Invalid;
    }
    let sides = [
        side("xfs", 7_100.0, 1, 10),
        side("ext4 cold", 9_960.0, 4, 10),
        broken,
        side("tmpfs", 31_000.0, 2, 3),
    ];
    let metrics = [Metric::Transactions, metric("create.p99"), metric("cpu")];
    Comparisons::of(&with_twin(), &sides, &metrics, ALPHA)
}

#[test]
fn comparison_matches_its_golden_files() {
    let found = study_found();
    let text = document::text(&report::comparison::document(&found), document::WIDTH);
    compare(
        "comparison.txt",
        include_str!("../golden/comparison.txt"),
        &text,
    );
    let markdown =
        Format::Markdown.document(&report::comparison::document(&found), document::WIDTH);
    compare(
        "comparison.md",
        include_str!("../golden/comparison.md"),
        &markdown,
    );
    let csv = report::comparison::as_csv(std::slice::from_ref(&found));
    compare(
        "comparison.csv",
        include_str!("../golden/comparison.csv"),
        &csv,
    );
}

#[test]
fn sentence_of_comparison_states_ratio_and_interval() {
    let found = Comparisons::of(
        &with_twin(),
        &[side("xfs", 7_100.0, 1, 10), side("other", 10_000.0, 4, 10)],
        &[Metric::Transactions],
        ALPHA,
    );
    let sentences: Vec<String> = found
        .rows
        .iter()
        .map(|row| report::comparison::sentence(row, found.confidence).replace('\u{a0}', " "))
        .collect();
    assert!(
        sentences[0].starts_with("xfs makes 0.713 of ext4's transactions/s (95 % interval 0."),
        "{sentences:?}"
    );
    assert!(sentences[0].ends_with(", 10 blocks)"), "{sentences:?}");
    sentences.assert(sentences[1].contains("no difference shown"));
    assert!(sentences[1].contains("% would have been"), "{sentences:?}");
}

#[test]
fn runs_without_blocks_are_marked_as_not_interleaved() {
    let mut cold = without_blocks(side("cold", 5_000.0, 1, 6), 6);
    for run in &mut cold.runs {
        run.conditions
            .insert(UnlikeWhat::CacheState, "cold".to_owned());
    }
    let baseline = Baseline::alone(without_blocks(side("base", 10_000.0, 0, 6), 6));
    let sides = [cold, without_blocks(side("few", 5_000.0, 1, 6), 2)];
    let found = Comparisons::of(&baseline, &sides, &[Metric::Transactions], ALPHA);
    let one = Baseline::alone(without_blocks(side("9", 10_000.0, 0, 6), 1));
    let single = Comparisons::of(
        &one,
        &[without_blocks(side("7", 20_000.0, 0, 6), 1)],
        &[Metric::Transactions],
        ALPHA,
    );
    let text = document::text(&report::comparison::document(&found), document::WIDTH)
        + &document::text(&report::comparison::document(&single), document::WIDTH);
    compare("apart.txt", include_str!("../golden/apart.txt"), &text);
}

#[test]
fn significant_difference_of_aa_control_causes_a_warning() {
    let baseline = Baseline {
        twin: Some(side("ext4", 12_000.0, 0, 10)),
        ..with_twin()
    };
    let found = Comparisons::of(
        &baseline,
        &[side("xfs", 7_100.0, 1, 10)],
        &[Metric::Transactions],
        ALPHA,
    );
    let text = document::text(&report::comparison::document(&found), document::WIDTH);
    text.shows("DOUBTFUL: ext4 and its twin are the same system");
}

#[test]
fn gate_states_its_decision_and_the_blocks_needed() {
    let requirements: Vec<Requirement> = ["transactions >= 0.97", "create.p99 <= 1.10"]
        .map(|text| text.parse().unwrap())
        .to_vec();
    let mut all = String::new();
    for rate in [10_000.0, 9_000.0, 9_720.0] {
        let gate = Gate::of(
            vec![SideGroup {
                baseline: with_twin(),
                sides: vec![side("new", rate, 1, 10)],
            }],
            &requirements,
            GateRules::default(),
        )
        .unwrap();
        all += &document::text(&report::gate::document(&gate), document::WIDTH);
        all.push('\n');
    }
    compare("gates.txt", include_str!("../golden/gates.txt"), &all);
    let confirmed = Gate::of(
        vec![SideGroup {
            baseline: with_twin(),
            sides: vec![side("new", 9_000.0, 1, 10)],
        }],
        &requirements,
        GateRules {
            after: Some(6),
            ..GateRules::default()
        },
    )
    .unwrap();
    let markdown = Format::Markdown.document(&report::gate::document(&confirmed), document::WIDTH);
    compare("gate.md", include_str!("../golden/gate.md"), &markdown);
}
