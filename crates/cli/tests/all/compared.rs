//! `postmark compare` and `postmark gate` with the real program. The archives contain copies of one
//! real run, with rates that the test sets.

mod history;
mod named;

use std::path::PathBuf;
use std::process::Command;

use archive::{Archive, JournalMode, Opening, Remarks};
use record::{Outcome, Phase, Record, RunId, StudyPart};
use serde_json::Value;
use testkit::{Assert, Shows};

use crate::runs::Run;
use crate::support::interface::program;
use crate::support::{Ended, Running, TestDir};

const DESIGN: &str = r#"name = "pair"
targets = [{ name = "old", at = "/mnt/old" }, { name = "new", at = "/mnt/new" }]
[[workload]]
preset = "mail"
"#;

/// Factors by which the rates of consecutive runs of a configuration differ.
const NOISE: [f64; 5] = [1.0, 1.004, 0.997, 1.002, 0.996];

struct Archived {
    test_dir: TestDir,
    run: Record,
    runs: u64,
}

impl Archived {
    fn new() -> Self {
        let test_dir = TestDir::in_memory();
        let target = test_dir.directory("target");
        let options = "--quiet --no-overhead --engine posix --files 40 --transactions 500 --seed \
                       7 --archive none";
        let run = Run::new(&target, options).perform().record;
        Self {
            test_dir,
            run,
            runs: 0,
        }
    }

    fn path(&self) -> PathBuf {
        self.test_dir.path().join("archive.db")
    }

    fn open(&self) -> Archive {
        let opening = Opening {
            path: &self.path(),
            journal: JournalMode::WriteAhead,
            owner: None,
            make: true,
            patience: std::time::Duration::from_secs(60),
        };
        Archive::open(&opening).unwrap()
    }

    /// A copy of the run, with its rate multiplied by `factor`.
    fn copy(&mut self, factor: f64) -> Record {
        let mut record = self.run.clone();
        self.runs += 1;
        record.id = RunId::new(u128::from(self.runs));
        for phase in &mut record.actual.phases {
            if phase.phase == Phase::Transactions {
                for segment in &mut phase.segments {
                    let ns = (segment.ended_ns - segment.began_ns) as f64 / factor;
                    segment.ended_ns = segment.began_ns + ns as u64;
                }
            }
        }
        record
    }

    /// A copy of the run, with its rate multiplied by `factor`. The fraction `share` of its
    /// operations is marked as failed.
    fn failing(&mut self, factor: f64, share: f64) -> Record {
        let mut record = self.copy(factor);
        for phase in &mut record.actual.phases {
            if phase.phase == Phase::Transactions {
                for segment in &mut phase.segments {
                    let completed: u64 = segment
                        .operations
                        .iter()
                        .map(|done| done.meter.operations)
                        .sum();
                    if let Some(done) = segment.operations.first_mut() {
                        done.meter.failed = (completed as f64 * share / (1.0 - share)) as u64;
                    }
                }
            }
        }
        record
    }

    fn add(&mut self, record: &Record, tag: &str) {
        let remarks = Remarks {
            tags: vec![tag.parse().unwrap()],
            ..Remarks::default()
        };
        self.open().import_all(&[(record, &remarks)]).unwrap();
    }

    /// Archives copies of the run with a tag. The copies belong to no block of a study.
    fn tagged(&mut self, tag: &str, factor: f64, runs: usize) {
        for place in 0..runs {
            let record = self.copy(factor * NOISE[(place + tag.len()) % 5]);
            self.add(&record, tag);
        }
    }

    /// Archives a study. Each block has two runs of `old`, one of which is the A/A control, and a
    /// run of `new` whose rate is multiplied by `factor`.
    fn study(&mut self, factor: f64, blocks: u32) {
        for block in 1..=blocks {
            for (position, (cell, is_twin, factor)) in [
                ("old", false, 1.0),
                ("old", true, 1.0),
                ("new", false, factor),
            ]
            .into_iter()
            .enumerate()
            {
                let mut record = self.copy(factor * NOISE[(block as usize * (position + 1)) % 5]);
                record.study = Some(part(cell, is_twin, block));
                self.add(&record, "study:0123456789ab");
            }
        }
    }

    /// Runs the program with arguments, in which `_` stands for a blank.
    fn shows(&self, words: &str) -> Ended {
        let mut command: Command = Running::command(program());
        let words = words.split(' ').map(|word| word.replace('_', " "));
        command.args(words).arg("--archive").arg(self.path());
        Running::run_to_end(command, self.test_dir.path())
    }

    fn answer(&self, words: &str) -> String {
        let ended = self.shows(words);
        ended.code(0);
        ended.output
    }
}

fn part(cell: &str, is_twin: bool, block: u32) -> StudyPart {
    StudyPart {
        study: "0123456789ab".to_owned(),
        name: "pair".to_owned(),
        design: DESIGN.to_owned(),
        cell: cell.to_owned(),
        is_twin,
        block,
        attempt: 1,
        position: 1,
        ..StudyPart::default()
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn study_is_compared_by_its_blocks() {
    let mut archived = Archived::new();
    archived.study(0.7, 10);
    for words in [
        "compare last",
        "compare pair",
        "compare 0123",
        "compare old new",
        "compare pair:old new",
    ] {
        let told = one_line(&archived.answer(words));
        assert!(told.contains("new is 30 % slower"), "{words:?}: {told}");
        told.shows("new against old (baseline) 10 blocks, 30 runs: ")
            .shows("old new new/old 95 % interval")
            .shows("A/A control: old against itself, 95 % interval: within ±0.")
            .shows("Smallest detectable difference with 10 blocks (probability 80 %): ")
            .shows("Target of all: tmpfs (memory)")
            .shows("Kernel of all: Linux ");
    }
    let csv = archived.answer("compare pair --format csv --metric transactions --metric cpu");
    assert_eq!(csv.lines().count(), 3, "{csv}");
    let json: Value = serde_json::from_str(&archived.answer("compare pair --format json")).unwrap();
    assert_eq!(json[0]["rows"][0]["count"], 10);
    let markdown = archived.answer("compare pair --format markdown");
    markdown.shows("| transactions/s |").shows("| 0.70");
}

#[test]
fn gate_passes_fails_or_is_undecided() {
    // The runs of this test may be DOUBTFUL.
    const GATE: &str = "gate last --allow-doubtful --require transactions_>=_0.97";
    for (factor, code, word) in [
        (1.0, 0, "passed"),
        (0.9, 4, "failed"),
        (0.9705, 5, "undecided"),
    ] {
        let mut archived = Archived::new();
        archived.study(factor, 10);
        let ended = archived.shows(GATE);
        ended.code(code);
        // The runs are DOUBTFUL on a machine with other load.
        let told = one_line(&ended.output);
        told.begins_with(&format!("Gate {word}"))
            .shows(": new against old (baseline)");
        let begin = match code {
            5 => "Undecided with 10 blocks: it takes ",
            _ => "Decided on 10 blocks at a standard deviation of 0.",
        };
        told.shows(begin)
            .shows(" at a standard deviation of 0.")
            .shows(" at least ")
            .shows("Bound: one-sided.");
        // A decided gate needs no further blocks.
        if code != 5 {
            told.does_not_show("it takes").does_not_show("needed");
        }
        let ended = archived.shows(&format!("{GATE} --format json").replace(" last ", " old new "));
        ended.code(code);
        let json: Value = serde_json::from_str(&ended.output).unwrap();
        assert_eq!(json["decision"], word);
        // The study has ten blocks. `--confirm 5` compares only blocks 6 to 10, which suffice for a
        // decision. `--confirm 8` compares only two blocks, which do not suffice. `--confirm 10`
        // leaves no block.
        let confirm = |after| archived.shows(&format!("{GATE} --confirm {after}"));
        confirm(5).code(code);
        confirm(8).code(5);
        confirm(10).code(2);
    }
}

#[test]
fn gate_without_a_baseline_is_an_error() {
    let mut archived = Archived::new();
    archived.tagged("base", 1.0, 6);
    archived.tagged("next", 1.0, 6);
    let gate = |archived: &Archived, sides: &str| {
        let ended = archived.shows(&format!(
            "gate {sides} --allow-doubtful --require transactions_>=_0.9"
        ));
        (ended.status.code(), ended.errors)
    };
    assert_eq!(gate(&archived, "base next").0, Some(0));
    let (code, told) = gate(&archived, "before next");
    told.assert(code == Some(2) && told.contains("nothing called 'before'"));
    for _ in 0..6 {
        let mut record = archived.copy(1.0);
        record.actual.outcome = Outcome::Interrupted { signal: 2 };
        archived.add(&record, "broken");
    }
    let (code, told) = gate(&archived, "broken next");
    told.assert(code == Some(2) && told.contains("all 6 runs of 'broken' are INVALID"));
    archived.shows("gate base next").code(2);
    for wrong in [
        "transactions_>=_1.0",
        "transactions_<=_1.1",
        "speed_>=_0.9",
        "transactions",
    ] {
        archived
            .shows(&format!("gate base next --require {wrong}"))
            .code(2);
    }
}

#[test]
fn comparable_archived_runs_are_compared() {
    let mut archived = Archived::new();
    archived.tagged("base", 1.0, 6);
    archived.tagged("next", 2.0, 6);
    let told = one_line(&archived.answer("compare base next"));
    told.shows("next is 2.0 times as fast")
        .shows("Not interleaved: a drift of the machine")
        .shows("Smallest detectable difference with 6 and 6 runs (probability 80 %): ");
    for words in ["compare 1..6 7,8,9", "compare 1 last"] {
        let told = one_line(&archived.answer(words));
        told.shows("no interval: that needs 5 runs of each");
    }
    let mut cold = archived.copy(1.0);
    cold.spec.cache = record::Cache::Warm;
    archived.add(&cold, "warm");
    let ended = archived.shows("compare base warm");
    ended.code(2);
    one_line(&ended.errors)
        .shows("differ in cache state (warm, as-is) (add --unlike=cache to compare them)");
    archived.shows("compare base warm --unlike=host").code(2);
    archived.answer("compare base warm --unlike=host,cache");
    let told = one_line(&archived.answer("compare base warm --unlike"));
    told.shows("warm and base differ in cache state (warm, as-is)");
    for wrong in [
        "compare base",
        "compare 1..3 2",
        "compare 90..99 1",
        "compare base 99",
    ] {
        archived.shows(wrong).code(2);
    }
}

#[test]
fn configuration_with_failed_operations_is_not_called_faster() {
    let mut archived = Archived::new();
    archived.tagged("base", 1.0, 6);
    for place in 0..6 {
        let record = archived.failing(2.34 * NOISE[place % 5], 0.6);
        archived.add(&record, "failing");
    }
    for words in [
        "compare base failing",
        "gate base failing --require transactions_>=_0.9",
    ] {
        let ended = archived.shows(words);
        ended.code(2);
        let told = one_line(&ended.errors);
        told.shows("failing failed 59.9 % of its operations and base 0.0 %")
            .shows("add --unlike=shares");
    }
    for format in ["text", "markdown", "csv"] {
        let told = archived.answer(&format!("compare base failing --unlike --format {format}"));
        assert!(
            one_line(&told.replace('\u{a0}', " "))
                .contains("failing failed 59.9 % of its operations"),
            "{told}"
        );
    }
}
