//! Repeated runs (`run --repeat`), which are studies of one configuration.

use std::fs;

use rustix::process::Signal;
use serde_json::Value;
use study::Repeats;
use testkit::{Assert, Shows, table};
use verdict::Summary;

use super::{LITTLE, Lab, one_line, until_measured};

fn repeats(lab: &Lab, words: &str) -> Repeats {
    serde_json::from_str(&lab.answer(&format!("{words} --format json"))).unwrap()
}

#[test]
fn numbers_of_a_repeated_run_are_those_of_its_archived_runs() {
    let lab = Lab::new();
    let ended = lab.shows(&format!("run {LITTLE} --repeat 5 --target a"));
    ended.code(0);
    let told = one_line(&ended.output);
    told.shows("5 runs");
    ended.shows("run 1 of 5: ").shows("run 5 of 5: ");
    // `--resume` performs no run of a complete study, and reports its results.
    let found = repeats(&lab, "study --resume");
    let runs = lab.complete();
    assert_eq!((runs.len(), found.runs.len()), (5, 5));
    let mut rates = Vec::new();
    for ((part, record), run) in runs.iter().zip(&found.runs) {
        let summary = Summary::of(record);
        assert_eq!(
            (part.block, part.attempt, part.is_twin),
            (run.block, 1, false)
        );
        assert_eq!(record.fingerprint, runs[0].1.fingerprint);
        assert_eq!(summary.verdict.level, run.level);
        if run.level != verdict::Level::Invalid {
            rates.extend(summary.transactions.unwrap().rate.per_second);
        }
    }
    assert_eq!(
        found.verdicts.valid + found.verdicts.doubtful,
        rates.len() as u32
    );
    // On a busy machine, too many runs may be INVALID for an estimate.
    if !found.has_too_many_invalid {
        told.shows_all("transactions/s | standard | deviation | 95 % | interval | same operations");
        lab.answer("study --resume --format markdown")
            .shows("| transactions/s |");
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        let rate = &found.metrics[0];
        rate.assert((rate.mean.unwrap() - mean).abs() < 1e-6 * mean);
        assert_eq!(rate.interval.is_some(), rates.len() >= 5);
    }
    let metrics: Vec<String> = found
        .metrics
        .iter()
        .map(|of| of.metric.to_string())
        .collect();
    assert_eq!(
        metrics,
        [
            "transactions",
            "create.p99",
            "read.p99",
            "append.p99",
            "delete.p99"
        ]
    );
    let code = if found.verdicts.invalid > 0 { 3 } else { 0 };
    lab.row(&format!("study --resume --strict --format json | {code}"));
    let csv = lab.answer("study --resume --format csv");
    assert_eq!(csv.lines().count(), 6, "{csv}");
    lab.answer("list").shows("study:classic");
    lab.row("show classic | 2 | classic is a study, not a run | postmark report classic");
    lab.is_clean(&[], &ended);
}

/// The results of repeated runs are JSON without records. Commands that read records refuse them,
/// and name a command that writes the records.
#[test]
fn file_of_results_is_refused_with_the_command_that_writes_the_records() {
    let lab = Lab::new();
    let results = lab.answer(&format!(
        "run {LITTLE} --repeat 5 --tag main --target a --format json"
    ));
    let found: Repeats = serde_json::from_str(&results).unwrap();
    fs::write(lab.path("results.json"), &results).unwrap();
    let export = format!("export --tag study:{} -o ", found.study);
    for words in ["compare results.json main", "import results.json"] {
        let ended = lab.shows(words);
        assert!(!ended.status.success(), "{words}");
        let told = one_line(&ended.errors);
        told.shows("the results of the repeated runs")
            .shows(&export);
    }
    lab.answer(&format!("{export}records.json"));
    lab.row("compare records.json main | 2 | is in both configurations");
}

#[test]
fn interrupted_repetition_continues_without_repeating_runs() {
    let lab = Lab::new();
    // All of these runs take minutes, so the signal arrives before the end even on a busy machine.
    let words = format!("run {LITTLE} --repeat 1000 --target a --report page.html")
        .replace("--for 50ms", "--for 300ms");
    let mut running = lab.start(&words);
    until_measured(&mut running, "run 2 of 1000: ");
    running.send(Signal::INT);
    let ended = running.finish();
    ended.ends("130 | 'postmark study --resume | continues this study");
    let before = lab.complete().len() as u32;
    assert!((2..1000).contains(&before), "{ended}");
    // Only two of the remaining runs are performed.
    let all = before + 2;
    let ended = lab.shows(&format!("study --resume --blocks {all}"));
    ended.ends(&format!(
        "0 | {before} runs are in the archive already | {all} runs"
    ));
    let blocks: Vec<u32> = lab.complete().iter().map(|(part, _)| part.block).collect();
    assert_eq!(blocks, (1..=all).collect::<Vec<u32>>());
    fs::read_to_string(lab.path("page.html"))
        .unwrap()
        .shows("Verdicts</dt>");
    lab.is_clean(&[], &ended);
}

#[test]
fn repetition_ends_as_soon_as_the_interval_is_narrow_enough() {
    let lab = Lab::new();
    let words = format!("run {LITTLE} --engine null --mix read=1 --until 50% --target a");
    let found = repeats(&lab, &words);
    assert_eq!(found.until, Some(0.5));
    // A study may end early only after certain numbers of blocks, which `Looks` lists. On a machine
    // without other load, it ends after the first of these numbers.
    let runs = found.runs.len() as u32;
    runs.assert(study::Looks::new(100).blocks().contains(&runs) && runs < 100);
    let width = found.metrics[0].interval.unwrap().half_width;
    width.assert(width <= 0.5);
    one_line(&lab.answer("study --resume"))
        .shows("The interval of the rate has the requested half-width of 50.0 %.");
}

#[test]
fn repetition_ends_early_if_its_first_runs_are_invalid() {
    let lab = Lab::new();
    // Runs of three transactions are too short to be measured.
    let words =
        "run --files 5 --transactions 3 --no-overhead --quiet-time 0s --until 2% --target a";
    let stopped = "all 5 runs are INVALID ( | too-short | 'postmark show 5 --archive ";
    lab.row(&format!("{words} | 0 | {stopped}"));
    assert_eq!(lab.complete().len(), 5);
    let continued = "5 runs are in the archive already, and no run remains";
    lab.row(&format!("study --resume | 0 | {continued} | {stopped}"));
    assert_eq!(lab.complete().len(), 5);
    lab.row(&format!("{words} --strict | 3 | all 5 runs are INVALID"));
}

#[test]
fn repetition_takes_options_from_a_file_or_an_earlier_run() {
    let lab = Lab::new();
    fs::write(
        lab.path("work.toml"),
        "files = 40\nmix = \"read=3,create=1,delete=1\"\nfor = \"50ms\"\n",
    )
    .unwrap();
    let rest = "--no-overhead --quiet-time 0s --repeat 2 --target a";
    let found = repeats(&lab, &format!("run --config work.toml {rest}"));
    let metrics: Vec<String> = found
        .metrics
        .iter()
        .map(|of| of.metric.to_string())
        .collect();
    assert_eq!(
        metrics,
        ["transactions", "create.p99", "read.p99", "delete.p99"]
    );
    repeats(&lab, &format!("run --like 1 --files 30 {rest}"));
    let runs = lab.complete();
    let files: Vec<u64> = runs
        .iter()
        .map(|(_, record)| record.spec.workload.files())
        .collect();
    assert_eq!(files, [40, 40, 30, 30]);
    assert!(
        runs.iter()
            .all(|(_, record)| record.spec.workload.mix().is_some())
    );
}

#[test]
fn repetition_leaves_out_the_options_for_single_runs_of_an_earlier_run() {
    let lab = Lab::new();
    let words = "--files 50 --for 50ms --no-overhead";
    lab.answer(&format!("run {words} --keep --target a"));
    repeats(&lab, "run --like 1 --quiet-time 0s --repeat 2 --target b");
    let archive = lab.open();
    for number in [2, 3] {
        let record = archive.record(number).unwrap();
        assert!(record.study.is_some() && !record.spec.keeping.keep);
    }
    drop(archive);
    let sweep = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../verdict/tests/versions/1-sweep.json"
    );
    for [words, told] in table(
        "
            --repeat 2 --target b | --like names a load sweep
            --repeat 2 --keep --target b | --keep is for a single run
            ",
    ) {
        lab.row(&format!("run --like {sweep} {words} | 2 | {told}"));
    }
}

#[test]
fn dry_run_of_a_repetition_shows_its_plan_and_measures_nothing() {
    let lab = Lab::new();
    let words = format!("run {LITTLE} --repeat 7 --target a --dry-run");
    let ended = lab.shows(&words);
    ended.code(0);
    one_line(&ended.output)
        .shows_all("classic on | : 7 runs | each run measures for 0.1 s")
        .does_not_show("warning: ");
    let few = lab.answer(&words.replace("--repeat 7", "--repeat 4"));
    one_line(&few).shows("4 are planned (use --repeat 5 or more)");
    let plan: Value = serde_json::from_str(&lab.answer(&format!("{words} --format json"))).unwrap();
    assert_eq!(plan["blocks"], 7);
    assert!(!lab.archive.exists());
}

#[test]
fn options_of_single_runs_are_refused_for_repeated_ones() {
    let lab = Lab::new();
    for [words, told] in table(
        "
            --repeat 1 | --repeat
            --repeat 5 --until 2% | --until needs at least 10 runs
            --until 2 | until = \"2\"
            --repeat 5 --sweep auto | --sweep is for a single run
            --repeat 5 --keep | --keep is for a single run
            --repeat 5 --working-set 1x | --working-set is for a single run
            --repeat 5 --full | --full cannot be used with --repeat
            --repeat 5 --live - | --live cannot be used with --repeat
            --repeat 5 --format terse | no report in the formats classic and terse
            --repeat 5 --target b | measure one target
            --quiet-time 1s | --quiet-time needs --repeat or --until
            --format csv | --format csv needs --repeat or --until
            --resume | 'postmark study --resume' continues repeated runs
            --runs 5 | use --repeat N
            ",
    ) {
        let ended = lab.shows(&format!("run --target a {words}"));
        ended.code(2).shows(told);
        ended.assert(!lab.archive.exists(), "there is an archive");
        lab.is_clean(&[], &ended);
    }
}

#[test]
fn strict_repetition_and_study_exit_with_3_after_an_invalid_run() {
    let lab = Lab::new();
    // Runs of three transactions are too short to be measured.
    let short = "--files 5 --transactions 3 --no-overhead --quiet-time 0s";
    let repeated = format!("run {short} --repeat 2 --target a");
    lab.row(&format!("{repeated} | 0 | 2 INVALID"));
    lab.row(&format!(
        "{repeated} --strict | 3 | 2 of 2 runs are INVALID"
    ));
    let compared = format!("study {short} --blocks 1 --target a --target b --strict");
    lab.row(&format!("{compared} | 3 | INVALID"));
}
