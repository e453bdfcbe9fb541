//! Comparisons of synthetic runs, compared with golden files.

use std::collections::{BTreeMap, BTreeSet};

use document::{Format, Terminal};
use record::Coordinate;
use study::statistics::ALPHA;
use study::{
    Baseline, BlockAttempt, ComparedSide, Comparisons, Metric, Observed, SideGroup, Subject,
    UnlikeWhat,
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
pub fn side(label: &str, rate: f64, shift: usize, blocks: u32) -> ComparedSide {
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
            subject: Subject {
                workload: "mail".to_owned(),
                target: format!("{label} on /dev/nvme0n1 (Samsung PM9A3)"),
                ..Subject::default()
            },
            level: Level::Valid,
            begun_unix_ns: u64::from(number) * 30_000_000_000,
            elapsed_s: 30.0,
            needed_s: Default::default(),
            values: BTreeMap::from([
                (Metric::Transactions, rate * noise),
                (metric("create.p99"), 1e9 / rate / noise),
            ]),
            conditions: BTreeMap::from([(UnlikeWhat::CacheState, "as-is".to_owned())]),
            reasons: BTreeSet::new(),
            advice: BTreeMap::new(),
            incomplete: BTreeMap::new(),
        }
    });
    ComparedSide {
        label: label.to_owned(),
        runs: runs.collect(),
    }
}

pub fn with_twin() -> Baseline {
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
        return std::fs::write(path, text).unwrap();
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

/// Compares two file systems as a study does. Three runs are not VALID.
fn pair() -> Comparisons {
    let mut xfs = side("xfs", 7_100.0, 1, 10);
    for (run, level, rules) in [
        (1, Level::Doubtful, &["other-load"][..]),
        (2, Level::Doubtful, &["other-load", "not-steady"]),
        (3, Level::Invalid, &["partial"]),
    ] {
        xfs.runs[run].level = level;
        xfs.runs[run].reasons = rules.iter().map(|rule| (*rule).to_owned()).collect();
    }
    let metrics = [Metric::Transactions, metric("create.p99")];
    Comparisons::of(&with_twin(), &[xfs], &metrics, ALPHA)
}

/// A study of two workloads on two file systems: a table for each workload.
fn workloads() -> Vec<Comparisons> {
    let cell = |workload: &str, target: &str, rate: f64, shift: usize| {
        let coordinate = |dimension: &str, value: &str| Coordinate {
            dimension: dimension.to_owned(),
            value: value.to_owned(),
        };
        let mut side = side(target, rate, shift, 10);
        side.label = format!("{workload} {target}");
        for run in &mut side.runs {
            run.subject.workload = workload.to_owned();
            run.subject.coordinates = vec![
                coordinate("workload", workload),
                coordinate("target", target),
            ];
        }
        side
    };
    let group = |workload: &str, rate: f64| SideGroup {
        baseline: Baseline {
            side: cell(workload, "ext4", rate, 0),
            twin: Some(cell(workload, "ext4", rate * 1.001, 3)),
        },
        sides: vec![
            cell(workload, "xfs", rate * 0.71, 1),
            cell(workload, "btrfs", rate * 2.4, 2),
        ],
    };
    let groups = [group("mail", 2_610.0), group("web", 34_000.0)];
    let metrics = [Metric::Transactions, metric("create.p99")];
    Comparisons::of_groups(&groups, &metrics, ALPHA)
}

#[test]
fn comparison_is_one_screen_at_every_width() {
    let mut all = String::new();
    for (name, tables) in [("pair", vec![pair()]), ("workloads", workloads())] {
        let document = report::comparison::documents(&tables);
        all += &format!("==== {name}, not on a terminal\n");
        all += &document::text(&document, document::WIDTH);
        for width in [60, 80, 120] {
            let terminal = Terminal {
                width,
                colour: false,
            };
            let text = document::on_terminal(&document, terminal);
            for line in text.lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
            all += &format!("==== {name}, {width} columns\n{text}");
        }
    }
    compare("screens.txt", include_str!("../golden/screens.txt"), &all);
}

#[test]
fn means_verdicts_and_targets_are_in_all_formats() {
    let found = pair();
    let document = report::comparison::document(&found);
    let csv = report::comparison::as_csv(std::slice::from_ref(&found));
    let in_documents = [
        document::text(&document, document::WIDTH),
        document::html(&document),
        Format::Markdown.document(&document, document::WIDTH),
    ];
    for text in &in_documents {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        // The mean of xfs covers nine runs around 7,100/s, because one of its ten runs is
        // INVALID.
        let xfs = found.sides[1].means[&Metric::Transactions];
        text.shows(&document::units::grouped(xfs.round() as u64))
            .shows(
                "27 VALID, 2 DOUBTFUL (other-load 2, not-steady 1), 1 INVALID (not counted; \
                 partial 1)",
            )
            .shows("xfs on /dev/nvme0n1 (Samsung PM9A3)")
            .shows("xfs is 29 % slower")
            .shows("A/A control: ext4 against itself, 95 % interval");
    }
    let row = csv.lines().nth(1).unwrap();
    let mean = found.sides[1].means[&Metric::Transactions];
    row.shows(&format!(",1/s,{mean},"))
        .shows("xfs on /dev/nvme0n1 (Samsung PM9A3)")
        .shows(",27,2,1,\"other-load 2, not-steady 1\",partial 1,10");
}

/// The ratio beside two means is their quotient. If the ratio lacks the runs of a block, a note
/// explains the difference.
#[test]
fn ratio_is_the_quotient_of_the_means_beside_it() {
    let mut xfs = side("xfs", 7_100.0, 1, 10);
    let metrics = [Metric::Transactions, metric("create.p99")];
    // The quotient of the medians would be above 1, and the ratio is below 1.
    for (run, rate) in xfs
        .runs
        .iter_mut()
        .zip([10_100.0, 10_100.0, 10_100.0, 5_000.0].iter().cycle())
    {
        run.values.insert(Metric::Transactions, *rate);
    }
    let found = Comparisons::of(&with_twin(), &[xfs], &metrics, ALPHA);
    for row in &found.rows {
        let [baseline, candidate] = [0, 1].map(|side| found.sides[side].means[&row.metric]);
        let ratio = row.estimate().unwrap().ratio;
        assert!((candidate / baseline / ratio - 1.0).abs() < 1e-9, "{row:?}");
    }
    let note = "Ratio: geometric mean over the blocks in which both ran";
    let text = |found| document::text(&report::comparison::document(found), document::WIDTH);
    text(&found).does_not_show(note);
    text(&pair()).shows(note);
}

/// Runs that are not interleaved, all of them DOUBTFUL, and those of the baseline slow down.
#[test]
fn finding_about_doubtful_or_drifting_runs_has_its_reservation_beside_it() {
    let apart = |name: &str, rate: f64, drift: f64| {
        let mut side = without_blocks(side(name, rate, 0, 6), 6);
        for (place, run) in side.runs.iter_mut().enumerate() {
            let slower = 1.0 - drift * place as f64;
            run.values.insert(Metric::Transactions, rate * slower);
        }
        // The order of the runs in time counts, not the order in which they are listed.
        side.runs.rotate_left(2);
        side
    };
    let shown = |baseline: ComparedSide, candidate: ComparedSide| {
        let metrics = [Metric::Transactions];
        let baseline = Baseline::alone(baseline);
        let found = Comparisons::of(&baseline, &[candidate], &metrics, ALPHA);
        let text = document::text(&report::comparison::document(&found), document::WIDTH);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let apart_words = "Not interleaved: a drift of the machine between the configurations would";
    let steady = |name, rate| without_blocks(side(name, rate, 0, 6), 6);
    shown(steady("old", 10_000.0), steady("new", 8_200.0))
        .shows(apart_words)
        .shows("new is 18 % slower (not interleaved)")
        .does_not_show("DRIFT");
    shown(apart("old", 10_000.0, 0.02), steady("new", 8_000.0))
        .shows("DRIFT: the mean transactions/s of old is 6.1 % lower in the second half of the")
        .shows("p = 0.0028)")
        .shows("slower (drift)");
    let mut synced = steady("new", 8_200.0);
    for run in &mut synced.runs {
        run.subject.settings = vec!["durability fsync".to_owned()];
    }
    shown(steady("old", 10_000.0), synced)
        .shows("- old: without these settings - new: durability fsync");
    let mut doubtful = steady("new", 8_200.0);
    for run in &mut doubtful.runs {
        run.level = Level::Doubtful;
        run.reasons = BTreeSet::from(["not-steady".to_owned()]);
    }
    shown(steady("old", 10_000.0), doubtful)
        .shows("6 VALID, 6 DOUBTFUL (not-steady 6)")
        .shows("new: all 6 runs DOUBTFUL: not-steady 6 ('postmark show' has the reasons).")
        .shows("new is 18 % slower (doubtful runs)");
}

/// Ten blocks of two sides that were measured separately, each side in these boots.
#[test]
fn sides_on_one_system_and_blocks_of_one_boot_are_doubted() {
    let side = |name: &str, kernel: &str, boots: [&str; 2]| {
        let mut side = side(name, 10_000.0, 5 * usize::from(name == "new"), 10);
        for (run, boot) in side.runs.iter_mut().zip(boots.iter().cycle()) {
            run.block.as_mut().unwrap().is_interleaved = false;
            run.subject.system = format!("host {kernel}");
            run.subject.kernel = kernel.to_owned();
            run.subject.boot = (*boot).to_owned();
        }
        side
    };
    let text = |old: ComparedSide, new: ComparedSide| {
        let baseline = Baseline::alone(old);
        let found = Comparisons::of(&baseline, &[new], &[Metric::Transactions], ALPHA);
        let text = document::text(&report::comparison::document(&found), document::WIDTH);
        text.replace('\u{a0}', " ")
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    let same = "All sides ran on the same host, kernel and mount";
    text(
        side("old", "6.1", ["a", "a"]),
        side("new", "6.1", ["a", "a"]),
    )
    .shows(&format!("{same}, in one boot. If a side is another kernel"))
    .does_not_show("10 blocks, but");
    text(
        side("old", "6.1", ["a", "a"]),
        side("new", "6.2", ["b", "c"]),
    )
    .does_not_show(same)
    .shows("10 blocks, but 1 boot of old and 2 boots of new: what differs from boot to boot")
    .shows("Boot the system of a side before each of its blocks.")
    .shows("To add them, repeat the command of each side with --blocks ")
    .shows(" more blocks (");
}

#[test]
fn comparison_names_caching_images_remedies_and_limits_of_the_preset() {
    let cached = |label: &str, shift: usize| {
        let mut side = side(label, 10_000.0, shift, 10);
        for run in &mut side.runs {
            run.subject.has_caching_loop = true;
            run.level = Level::Doubtful;
            run.reasons.insert("too-short".to_owned());
            run.advice
                .insert("too-short".to_owned(), "use --for 10s".to_owned());
        }
        side
    };
    let baseline = Baseline::alone(cached("ext4", 0));
    let metrics = [Metric::Transactions];
    let found = Comparisons::of(&baseline, &[cached("xfs", 1)], &metrics, ALPHA);
    let text = document::text(&report::comparison::document(&found), document::WIDTH);
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .shows("What to do: too-short: use --for 10s.")
        .shows("ext4 and xfs: a loop device reads and writes its file through the page cache")
        .shows("make a target with direct, like 'make:ext4?direct': 'postmark help scratch').")
        .shows("The result does not predict the processor time of the server")
        .shows("Standard deviation (of a block's ratio): ");
    let text = document::text(&report::comparison::document(&pair()), document::WIDTH);
    text.does_not_show("What to do")
        .does_not_show("loop device");
}

/// The study also takes the time between its runs, such as that of making file systems. A pause of
/// the study does not count.
#[test]
fn time_of_more_blocks_follows_from_the_starts_of_the_runs() {
    let at = |name: &str, shift: u64| {
        let mut side = side(name, 10_000.0, 0, 10);
        for run in &mut side.runs {
            let block = u64::from(run.block.as_ref().unwrap().number);
            let pause = if block > 5 { 86_400 } else { 0 };
            run.begun_unix_ns = (block * 100 + shift + pause) * 1_000_000_000;
        }
        side
    };
    let sides = [at("xfs", 50)];
    let of = |baseline| Comparisons::of(&baseline, &sides, &[Metric::Transactions], ALPHA);
    assert_eq!(of(Baseline::alone(at("ext4", 0))).run_s, Some(50.0));
    // Runs that belong to no study may be days apart, so only their own durations count.
    let alone = Baseline::alone(without_blocks(at("ext4", 0), 10));
    let apart = [without_blocks(at("xfs", 50), 10)];
    let found = Comparisons::of(&alone, &apart, &[Metric::Transactions], ALPHA);
    assert_eq!(found.run_s, Some(30.0));
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
    assert!(
        sentences[1].contains("smallest detectable difference: "),
        "{sentences:?}"
    );
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
fn numbers_of_runs_add_up_and_a_baseline_alone_has_means() {
    let table = |sides: &[ComparedSide]| {
        let found = Comparisons::of(&with_twin(), sides, &[Metric::Transactions], ALPHA);
        let text = document::text(&report::comparison::document(&found), document::WIDTH);
        text.replace('\u{a0}', " ")
    };
    table(&[side("xfs", 7_100.0, 1, 10)]).shows_all(
        "10 blocks, 30 runs | Runs: ext4 20 (twice in each block, for the A/A control), xfs 10.",
    );
    table(&[])
        .shows_all("mail: ext4 (baseline) | 10 blocks, 20 runs | transactions/s | baseline")
        .does_not_show("against ext4 (baseline)");
    let only = Comparisons::of(
        &Baseline::alone(side("ext4", 10_000.0, 0, 1)),
        &[side("xfs", 7_100.0, 1, 1)],
        &[Metric::Transactions],
        ALPHA,
    );
    let text = document::text(&report::comparison::document(&only), document::WIDTH);
    text.does_not_show("Runs:");
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
    text.shows("DOUBTFUL: ext4 differs from itself.");
}
