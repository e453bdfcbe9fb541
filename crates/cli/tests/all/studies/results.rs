//! The results of studies, and the commands that read these results.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use document::units::{grouped, latency};
use serde_json::Value;
use study::Metric;
use testkit::Shows;
use verdict::{Level, Summary};

use super::{LITTLE, Lab, StudiedRun, one_line};
use crate::support::interface::program;
use crate::support::is_root;

#[test]
fn study_results_can_be_compared_and_gated() {
    let lab = Lab::new();
    let told = one_line(&lab.answer(&format!(
        "study {LITTLE} --blocks 5 --target old=a --target new=b --name pair"
    )));
    told.begins_with("Study pair: 2 cells, 5 blocks of 3 runs");
    told.shows("new against old (baseline) 5 blocks, ");
    // All commands print the same table.
    let table = told.split("new against old (baseline)").last().unwrap();
    for words in ["compare last", "compare pair", "study --resume"] {
        let again = one_line(&lab.answer(words));
        assert!(again.ends_with(table), "{words}: {again}\n{told}");
    }
    // The plan of a complete study contains no block to perform.
    one_line(&lab.answer("study --resume --dry-run"))
        .shows("are in the archive already, and no block remains")
        .does_not_show(" Order ")
        .does_not_show(" Time ");
    let more = one_line(&lab.answer("study --resume --dry-run --blocks 7"));
    more.shows(" block 6: ").does_not_show("no block remains");
    let json: Value = serde_json::from_str(&lab.answer("compare last --format json")).unwrap();
    assert_eq!(json[0]["rows"][0]["count"], 5, "{json}");
    let resumed: Value = serde_json::from_str(&lab.answer("study --resume --format json")).unwrap();
    assert_eq!(json, resumed);
    let csv = lab.answer("study --resume --format csv");
    assert_eq!(csv, lab.answer("compare last --format csv"));
    assert_eq!(csv.lines().count(), 2, "{csv}");
    let markdown = lab.answer("study --resume --format markdown");
    markdown.shows("| transactions/s |");
    // The first requirement is always met. The result of the second requirement depends on the A/A
    // noise of the machine.
    lab.gates_despite_doubts("transactions >= 0.0001")
        .code(0)
        .shows("Gate passed");
    lab.gates("transactions >= 0.0001")
        .code(5)
        .shows("Gate undecided by doubts (")
        .shows("Undecided because of these doubts, although each requirement is met:");
    let ended = lab.gates("transactions >= 0.9999");
    ended.assert(
        matches!(ended.status.code(), Some(0 | 4 | 5)),
        "it is not decided on",
    );
    lab.gates("transactions >= 1.0")
        .code(2)
        .shows("leave a margin");
    lab.shows("gate last").code(2);
    lab.is_clean(&[], &told);
}

#[test]
fn study_uses_the_options_of_a_configuration_file_or_an_earlier_run() {
    let lab = Lab::new();
    std::fs::write(
        lab.path("run.toml"),
        "files = 30\ntransactions = 60\nseed = 5\noverhead = false\n",
    )
    .unwrap();
    // The pools of all runs in the archive.
    let pools = |words: &str| {
        lab.answer(&format!(
            "study --quiet-time 0s --blocks 1 --no-twin {words} --target a"
        ));
        let records = lab.complete().into_iter();
        let workloads = records.map(|(_, record)| record.spec.workload);
        let pools = workloads.map(|of| (of.files(), of.transactions(), of.seed()));
        pools.collect::<BTreeSet<_>>()
    };
    let of_config = [(30, 60, 5), (30, 60, 6)];
    assert_eq!(pools("--config run.toml --axis seed=5,6"), of_config.into());
    let of_like = [(10, 60, 7), (20, 60, 7)];
    assert_eq!(
        pools("--like 1 --seed 7 --axis files=10,20"),
        [of_config, of_like].concat().into_iter().collect()
    );
}

/// A study on tmpfs with runs of one second. The second configuration has a longer think time, so
/// it is slower.
#[test]
fn screen_of_a_study_has_the_means_and_verdicts_of_its_records() {
    let lab = Lab::new();
    let told = lab.answer(
        "study --files 50 --for 1s --no-overhead --quiet-time 0s --blocks 5 --mix read=1 --axis \
         think=200us,600us --metric transactions --metric read.p99 --target a",
    );
    let records = lab.complete();
    let mean = |cell: &str, metric: Metric| {
        let runs = records.iter().filter(|(part, _)| part.cell == cell);
        let summaries = runs.map(|(_, record)| Summary::of(record));
        let counted = summaries.filter(|summary| summary.verdict.level != Level::Invalid);
        let values = counted.filter_map(|summary| metric.of(&summary));
        let logs: Vec<f64> = values.map(f64::ln).collect();
        record::mean(&logs).exp()
    };
    let rate = |cell| grouped(mean(cell, Metric::Transactions).round() as u64);
    let p99 = |cell| latency(mean(cell, "read.p99".parse().unwrap()));
    let (base, slow) = ("think=200us", "think=600us");
    let rows = one_line(&told);
    rows.shows(&format!(
        "geometric mean {base} {slow} {slow}/{base} 95 % interval "
    ))
    .shows(&format!("{slow} against {base} (baseline) 5 blocks, "))
    .shows(&format!("{} runs: ", records.len()))
    .shows(&format!("transactions/s {} {} 0.", rate(base), rate(slow)))
    .shows(&format!("read p99 {} {} ", p99(base), p99(slow)))
    .shows(&format!(
        "A/A control: {base} against itself, 95 % interval: transactions/s "
    ))
    .shows("Smallest detectable difference with 5 blocks (probability 80 %): transactions/s ")
    .shows("Target of all: tmpfs (memory)");
    for level in [Level::Valid, Level::Doubtful, Level::Invalid] {
        let of_level = |(_, record): &&StudiedRun| Summary::of(record).verdict.level == level;
        match records.iter().filter(of_level).count() {
            0 => rows.does_not_show(&format!(" {}", level.name())),
            runs => rows.shows(&format!("{runs} {}", level.name())),
        };
    }
}

/// A configuration with think time is slower by far more than the A/A noise.
#[test]
fn gate_on_a_slower_configuration_fails() {
    let lab = Lab::new();
    let words = format!("study {LITTLE} --blocks 5 --mix read=1 --axis think=0s,1ms --target a")
        .replace("--for 50ms", "--for 300ms");
    let told = one_line(&lab.answer(&words));
    told.shows("think=1ms is ").shows(" % slower");
    lab.gates("transactions >= 0.97")
        .code(4)
        .shows("Gate failed");
    lab.gates_despite_doubts("transactions >= 0.0001")
        .code(0)
        .shows("Gate passed");
}

#[test]
fn gate_on_too_few_blocks_is_undecided() {
    let lab = Lab::new();
    lab.answer(&format!(
        "study {LITTLE} --blocks 2 --target old=a --target new=b"
    ));
    lab.gates("transactions >= 0.97")
        .code(5)
        .shows("Gate undecided");
}

#[test]
fn dry_run_creates_nothing() {
    let lab = Lab::new();
    let words = format!("study {LITTLE} --dry-run --axis workers=1,2 --target a --target b");
    let text = one_line(&lab.answer(&words));
    text.shows_all("4 cells | 10 blocks of 6 runs | Cells | Order | Time")
        .does_not_show("warning: ");
    let few = one_line(&lab.answer(&format!("{words} --blocks 4")));
    few.shows("it has 4 (use --blocks 5 or more)");
    let json: Value = serde_json::from_str(&lab.answer(&format!("{words} --format json"))).unwrap();
    assert_eq!(json["cells"].as_array().unwrap().len(), 4, "{json}");
    let markdown = lab.answer(&format!("{words} --format markdown"));
    markdown.shows("4 cells");
    lab.row(&format!("{words} --format csv | 2 | --dry-run has no CSV"));
    assert!(!lab.archive.exists());
    lab.is_clean(&[], &text);
}

#[test]
fn number_of_blocks_with_until_cannot_change() {
    let lab = Lab::new();
    lab.answer(&format!(
        "study {LITTLE} --until 50% --blocks 2 --axis workers=1,2 --target a"
    ));
    lab.row("study --resume --blocks 3 | 2 | remove --blocks");
    lab.answer("study --resume");
}

#[test]
fn second_run_of_the_baseline_is_turned_on_and_off_by_the_last_option() {
    let lab = Lab::new();
    let text = "twin = false\n[[workload]]\nfiles = 50\nfor = \"50ms\"\n";
    std::fs::write(lab.path("study.toml"), text).unwrap();
    let plan = |words: &str| {
        let targets = "--target a --target b";
        one_line(&lab.answer(&format!("study {words} {targets} --dry-run")))
    };
    plan("study.toml").shows("10 blocks of 2 runs");
    plan("study.toml --twin").shows("10 blocks of 3 runs");
    plan("study.toml --twin --no-twin").shows("10 blocks of 2 runs");
    plan("--files 50").shows("10 blocks of 3 runs");
    plan("--files 50 --no-twin").shows("10 blocks of 2 runs");
    plan("--files 50 --no-twin --twin").shows("10 blocks of 3 runs");
}

/// The fill level of a file system is set by the workload. If the workload does not set it, the
/// target does. A level of 0 leaves the file system empty.
#[test]
fn fill_level_is_set_by_the_workload_or_the_target() {
    if !is_root() {
        eprintln!("skipped: it needs root");
        return;
    }
    let lab = Lab::new();
    let workload = |name: &str, rest: &str| {
        format!("[[workload]]\nname = \"{name}\"\nfiles = 50\nfor = \"50ms\"\n{rest}\n")
    };
    let text = format!(
        "blocks = 2\ntwin = false\nquiet-time = \"0s\"\ntargets = \
         [\"make:tmpfs?size=32MiB&fullness=50\"]\n{}{}{}",
        workload("empty", "fullness = 0"),
        workload("as the target", ""),
        workload("fuller", "fullness = 70"),
    );
    std::fs::write(lab.path("study.toml"), text).unwrap();
    lab.answer("study study.toml");
    for (cell, percent) in [("empty", 0.0), ("as the target", 50.0), ("fuller", 70.0)] {
        let runs = lab
            .counted()
            .into_iter()
            .filter(|(part, _)| part.cell == cell);
        let found: Vec<f64> = runs
            .map(|(part, _)| part.made.unwrap().fullness_percent.unwrap_or(0.0))
            .collect();
        // The level is only approximate, because a file system is filled in blocks.
        let is_so = |found: &&f64| (**found - percent).abs() < 2.0;
        assert_eq!(found.iter().filter(is_so).count(), 2, "{cell}: {found:?}");
    }
    lab.is_clean(&[], &"");
}

#[test]
fn separately_measured_configurations_are_joined_in_one_study() {
    let lab = Lab::new();
    let words = |tag: &str, side: &str, block: u32, rest: &str| {
        format!(
            "study {LITTLE} --no-twin --target a --tag {tag} --side {side} --block {block}{rest}"
        )
    };
    for block in 1..=5 {
        for side in ["old", "new"] {
            lab.answer(&words("kernels", side, block, ""));
        }
    }
    // A block that the archive already contains is not measured a second time.
    let again = lab.shows(&words("kernels", "new", 5, ""));
    again.code(0).does_not_show("run 1 of");
    again.shows("side new has block 5 already: nothing is measured");
    let runs = lab.counted();
    assert_eq!(runs.len(), 10);
    for side in ["old", "new"] {
        let of_side = runs
            .iter()
            .filter(|(part, _)| part.side.as_deref() == Some(side));
        assert_eq!(
            of_side.map(|(part, _)| part.block).collect::<Vec<_>>(),
            [1, 2, 3, 4, 5]
        );
    }
    let told = one_line(&again.output);
    assert!(told.contains("blocks, order not random"), "{again}");
    assert!(one_line(&lab.answer("compare last")).contains("order not random"));
    // A study with the same tag but another design is refused.
    let ended = lab.shows(&words("kernels", "new", 6, " --dirs 3"));
    ended
        .code(2)
        .shows("another design: dirs: not given there, 3 here (use the same options")
        .shows("--tag");
    assert_eq!(lab.counted().len(), 10);
    lab.is_clean(&[], &again);
}

#[test]
fn runs_of_separately_measured_sides_add_up() {
    let lab = Lab::new();
    let words =
        |side: &str| format!("study {LITTLE} --target a --tag kernels --side {side} --block 1");
    let first = lab.shows(&words("old"));
    first.code(0);
    let told = one_line(&format!("{first}"));
    told.shows_all(
        "Side old, measured first and therefore the baseline | only one side has been measured | \
         blocks measured, of 10: old 1 (next: repeat the command on the other side | old \
         (baseline) | 1 of 10 blocks, 2 runs | transactions/s old",
    );
    let list = lab.answer("list");
    list.shows("block");
    one_line(&lab.answer("show 1")).shows("side old, block 1, run 1 of the block");
    let both = lab.shows(&words("new"));
    both.code(0);
    let told = one_line(&both.output);
    told.shows_all(
        "Side new, compared with old, the side that was measured first | new against old \
         (baseline) 1 of 10 blocks, order not random, 3 runs | Runs: old 2 (twice in each block, \
         for the A/A control), new 1. | The baseline is old, the side that was measured first.",
    );
    let told = one_line(&format!("{both}"));
    told.shows("block 1 of 10, run 1 of 1")
        .shows("of 10: old 1, new 1 (next: repeat the command on new with --side new --block 2")
        .does_not_show("warning: side");
    told.shows("All sides ran on the same host, kernel and mount, in one boot.");
    assert_eq!(lab.counted().len(), 3, "each run is in the table");
    // The number of blocks may grow, and a name that is probably wrong is reported.
    let third = lab.shows(&format!("{} --blocks 22 --dry-run", words("newer")));
    one_line(&format!("{third}")).shows("side newer is new in this study, which has old (1 block)");
    third.code(0);
    lab.is_clean(&[], &both);
}

/// The output of a command on a terminal with 60 columns.
fn on_terminal(lab: &Lab, words: &str) -> String {
    let archive = lab.archive.display();
    let command = format!(
        "stty cols 60; exec '{}' {words} --archive {archive}",
        program().display()
    );
    let output = Command::new("/usr/bin/script")
        .args(["-q", "-e", "-c", &command, "/dev/null"])
        .current_dir(lab.test_dir.path())
        .env("TERM", "xterm")
        .env_remove("COLUMNS")
        .env_remove("CI")
        .stdin(Stdio::null())
        .output()
        .expect("script is needed: apt-get install bsdutils");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    text
}

/// The width of a line as a terminal displays it: without control sequences (ECMA-48), and without
/// the text before the last carriage return.
fn columns(line: &str) -> usize {
    let mut shown = 0;
    let mut characters = line.trim_end_matches('\r').chars();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' => drop(
                characters
                    .by_ref()
                    .skip(1)
                    .find(|c| ('@'..='~').contains(c)),
            ),
            '\r' => shown = 0,
            _ => shown += 1,
        }
    }
    shown
}

#[test]
fn progress_fits_the_terminal_and_a_log_has_one_line_for_each_run() {
    let lab = Lab::new();
    let words = format!("study {LITTLE} --blocks 2 --target old=a --target new=b");
    let text = on_terminal(&lab, &words);
    text.shows_all(
        "block 1 of 2, run 1 of 3 | block 2 of 2, run 3 of 3 | left) | new against old (baseline)",
    );
    for line in text.lines() {
        let is_word = line.split(' ').any(|word| word.chars().count() > 48);
        assert!(columns(line) <= 60 || is_word, "{line:?}\n{text}");
    }
    let ended = lab.shows(&words);
    ended.code(0);
    ended.shows("they need 5 blocks, and it has 2 (use --blocks 5 or more)");
    let lines = ended.errors.lines();
    let lines: Vec<&str> = lines
        .filter(|line| !line.starts_with("postmark: warning: "))
        .collect();
    assert_eq!(lines.len(), 6, "{ended}");
    for (line, place) in lines.iter().zip(0..) {
        let begin = format!("block {} of 2, run {} of 3, ", place / 3 + 1, place % 3 + 1);
        ended.assert(line.starts_with(&begin), &begin);
    }
    // On a busy machine, a short run may complete no transaction, so not every line contains a
    // rate.
    ended.assert(
        lines.iter().any(|line| line.contains(" transactions/s")),
        "no rates",
    );
    ended.does_not_show("\u{1b}").does_not_show("\r");
    let ended = lab.shows(&format!("{words} --quiet"));
    ended.code(0);
    ended.assert(ended.errors.is_empty(), "it is not quiet");
    ended.does_not_show("Order").does_not_show("Cells");
    let text = on_terminal(&lab, &format!("{words} --quiet"));
    text.does_not_show("block 1 of 2, run 1 of 3");
}
