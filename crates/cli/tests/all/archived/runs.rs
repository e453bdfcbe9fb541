//! Tests which runs are archived, and what the archive stores about a run.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use record::{Outcome, Record};
use rustix::process::Signal;
use testkit::{Assert, Shows};
use verdict::State;

use super::{Home, LITTLE, text};
use crate::original::tree;
use crate::support::{Ended, Running};

#[test]
fn archived_record_equals_the_reported_one() {
    let home = Home::new();
    let ended = home.shows(&format!("{LITTLE} --format json"));
    ended.code(0);
    let record = Record::from_json(&ended.output).unwrap();
    let entries = home.entries();
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].headline.state, State::Complete);
    assert_eq!(home.record(&entries[0]), record, "every field of it");
    assert!(
        record
            .hints
            .iter()
            .all(|hint| !matches!(hint, record::Note::ArchiveOnTarget { .. })),
        "{:?}",
        record.hints
    );
}

#[test]
fn archive_message_is_printed_once() {
    let home = Home::new();
    let words = LITTLE.replace("--quiet ", "");
    for format in ["text", "json", "classic", "terse"] {
        let ended = home.shows(&format!("{words} --format {format}"));
        ended.code(0);
        let told = ended.errors.matches("archived as run").count();
        assert_eq!(
            (told, ended.output.matches("archived as run").count()),
            (1, 0),
            "{ended}"
        );
        ended.shows(text(&home.archive()));
    }
    assert_eq!(home.entries().len(), 4);
    home.shows(LITTLE).code(0).does_not_show("archived as");
    assert_eq!(home.entries().len(), 5);
}

#[test]
fn run_is_compared_with_the_last_one_of_the_same_workload() {
    let home = Home::new();
    let words = LITTLE.replace("--quiet ", "");
    let against = |ended: &Ended| {
        let mut lines = ended.errors.lines();
        let line = lines.rfind(|line| line.contains(" % against run "));
        line.map(|line| line.split_once(" against ").unwrap().1.to_owned())
    };
    let ran = |words: &str| against(home.shows(words).code(0));
    let last = "the last of this workload here";
    let unknown = "(spread of one run not known: --repeat 5)";
    assert_eq!(ran(&words), None);
    assert_eq!(ran(&words), Some(format!("run 1, {last} {unknown}")));
    // A run with another workload, engine, setting or target has no earlier run to compare with.
    for other in [
        words.replace("--files 40", "--files 41"),
        words.replace("posix", "stdio"),
        format!("{words} --durability fsync"),
    ] {
        assert_eq!(ran(&other), None, "{other}");
    }
    assert_eq!(ran(&words), Some(format!("run 2, {last} {unknown}")));
    let fourth = ran(&words).unwrap();
    fourth.shows(&format!(
        "run 6, {last} (standard deviation of the last 3 runs like it: "
    ));
}

#[test]
fn progress_is_not_printed_to_a_pipe() {
    let home = Home::new();
    let words = LITTLE.replace("--quiet ", "");
    let output = home.command(&words).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<&str> = errors.lines().collect();
    let is_archived = |line: &str| line.starts_with("postmark: archived as run 1 in ");
    assert!(
        lines.first().is_some_and(|line| is_archived(line)),
        "{errors}"
    );
    assert!(!errors.contains("transactions: "), "{errors}");
    let output = home.command(&format!("{words} -v")).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    errors
        .shows("prepare: 40 in ")
        .shows("transactions: 100 in ");
}

#[test]
fn plan_estimates_the_duration_from_an_archived_run() {
    let home = Home::new();
    let plan = |from: &str, to: &str| {
        let plan = LITTLE.replace("run --quiet", "plan").replace(from, to);
        let ended = home.shows(&format!("{plan} --target {}", text(&home.target)));
        ended.code(0);
        ended
    };
    plan("", "").shows("not known (no run is in the archive yet)");
    home.shows(LITTLE).code(0);
    plan("", "")
        .output
        .shows_all("Time | about | prepare | transactions | delete | from run 1, the same");
    plan("--files 40", "--files 80").shows("from the rates of run 1");
    for other in ["--workers 2", "--durability fsync", "--dirs 3"] {
        plan("--seed 7", &format!("--seed 7 {other}"))
            .shows("prepare, transactions, delete not known");
    }
    plan("--transactions 100", "--for 60s").shows("transactions 60 s");
    plan(
        "--transactions 100",
        "--for 10s --sweep 100,200 --slo p99<10ms",
    )
    .shows("transactions at most 168 s");
}

#[test]
fn only_performed_runs_are_archived() {
    let home = Home::new();
    home.shows(&format!("{LITTLE} --archive none")).code(0);
    home.shows(&format!("{LITTLE} --dry-run")).code(0);
    home.row("plan --engine null --files 10 --transactions 10 | 0");
    home.shows("presets").code(0);
    let mut prompt = home.command("");
    let commands = home.test_dir.path().join("commands");
    fs::write(
        &commands,
        format!(
            "set location {}\nset number 10\nset transactions 10\nrun\n",
            text(&home.target)
        ),
    )
    .unwrap();
    prompt.stdin(fs::File::open(&commands).unwrap());
    home.end(prompt).code(0);
    let mut variable = home.command(LITTLE);
    variable.env("POSTMARK_ARCHIVE", "none");
    home.end(variable).code(0);
    assert!(!home.archive().exists());
    // A refused run is not archived.
    home.shows("run --quiet --engine posix --files 1000 --transactions 1 --size 1GiB..1GiB")
        .code(2)
        .shows("--no-space-check");
    home.shows(&format!(
        "{LITTLE} --archive {} --reuse",
        text(&home.archive())
    ))
    .code(2);
    if home.archive().exists() {
        assert_eq!(home.entries(), []);
    }
}

#[test]
fn run_is_refused_if_its_archive_cannot_be_opened() {
    let home = Home::new();
    let foreign = home.test_dir.path().join("letter.txt");
    fs::write(&foreign, "Dear Sir or Madam,\n").unwrap();
    let report = home.test_dir.path().join("report.json");
    let words = format!(
        "{LITTLE} --output {} --archive {}",
        text(&report),
        text(&foreign)
    );
    let ended = home.shows(&words);
    ended.ends("2 | is not an archive of postmark | --archive none");
    assert_eq!(
        fs::read_to_string(&foreign).unwrap(),
        "Dear Sir or Madam,\n"
    );
    assert!(!report.exists());
    assert_eq!(fs::read_dir(&home.target).unwrap().count(), 0);
    let ended = home.shows(&format!("{LITTLE} --archive /proc/nowhere/archive.db"));
    ended.ends("2 | cannot make the archive /proc/nowhere/archive.db | --archive none");
    for command in [
        "list",
        "show last",
        "export",
        "tag 1 x",
        "note 1 x",
        "delete 1",
        "import x.json",
    ] {
        home.shows(&format!("{command} --archive {}", text(&foreign)))
            .code(2)
            .shows("is not an archive");
        home.row(&format!(
            "{command} --archive none | 2 | use --archive FILE"
        ));
    }
    assert_eq!(
        fs::read_to_string(&foreign).unwrap(),
        "Dear Sir or Madam,\n"
    );
}

#[test]
fn interrupted_run_is_archived_as_interrupted() {
    let home = Home::new();
    let mut running = Running::start(
        home.command(
            "run --no-overhead --engine posix --files 100 --mix read=1 --think 1ms --for 30s",
        ),
        home.test_dir.path(),
    );
    home.until_a_phase_is_there(&mut running);
    let listed = home.answer("list");
    listed.shows("running");
    home.shows("delete 1")
        .code(2)
        .shows("run 1 is still running");
    home.row("show last | 2 | run 1 is running, so it has no report and no verdict yet");
    running.send(Signal::INT);
    let ended = running.finish();
    ended.code(130);
    let entries = home.entries();
    assert_eq!(entries[0].headline.state, State::Interrupted);
    let record = home.record(&entries[0]);
    assert_eq!(record.actual.outcome, Outcome::Interrupted { signal: 2 });
    assert!(
        record.actual.clean_up.is_some(),
        "the whole record is there"
    );
}

/// If the archive becomes unwritable during a run, the run continues and reports that it is not
/// archived. If `--archive` requested the archive, the exit status is 1.
#[test]
fn run_is_reported_if_its_archive_becomes_unwritable() {
    for (is_asked, code) in [(true, 1), (false, 0)] {
        let home = Home::new();
        let mut command = home.command(
            "run --no-overhead --engine posix --files 100 --mix read=1 --think 1ms --for 1500ms \
             --format json",
        );
        if is_asked {
            command.arg("--archive").arg(home.archive());
        }
        let mut running = Running::start(command, home.test_dir.path());
        home.until_its_row_is_there(&mut running);
        fs::remove_dir_all(home.archive().parent().unwrap()).unwrap();
        let ended = running.finish();
        ended.code(code).shows("the run was not archived");
        let record = Record::from_json(&ended.output).unwrap();
        assert_eq!(record.actual.outcome, Outcome::Complete);
        assert_eq!(record.actual.phases.len(), 3);
    }
}

/// If another process locks the archive, the run does not delay its report. A signal ends the wait
/// for the lock.
#[test]
fn report_is_written_while_the_archive_is_locked() {
    let home = Home::new();
    let report = home.test_dir.path().join("report.json");
    let run = "run --no-overhead --no-sync-phases --engine posix --files 100 --mix read=1 \
               --think 1ms --for 3s --format json --output";
    let mut running = Running::start(
        home.command(&format!("{run} {}", text(&report))),
        home.test_dir.path(),
    );
    home.until_its_row_is_there(&mut running);
    let other = home.held();
    running.until("its report", |_| {
        fs::read_to_string(&report).is_ok_and(|text| Record::from_json(&text).is_ok())
    });
    assert_ne!(
        home.entries()[0].headline.state,
        State::Complete,
        "it is waited for still"
    );
    running.send(Signal::INT);
    let ended = running.finish();
    ended
        .ends("0 | the run is not in the archive yet | a signal ended the wait | its record is in");
    drop(other);
    let record = Record::from_json(&fs::read_to_string(&report).unwrap()).unwrap();
    assert_eq!(record.actual.outcome, Outcome::Complete);
    home.shows("list").code(0).shows("added to the archive");
    assert_eq!(home.record(&home.entries()[0]), record);
}

/// A signal ends a run that waits for a locked archive between two phases. After the lock is
/// released, the archive contains the whole record.
#[test]
fn signal_ends_a_run_while_the_archive_is_locked() {
    let home = Home::new();
    let mut running = Running::start(
        home.command(
            "run --no-overhead --engine posix --files 100 --mix read=1 --think 1ms --for 1s \
             --format json",
        ),
        home.test_dir.path(),
    );
    home.until_a_phase_is_there(&mut running);
    let other = home.held();
    // In this time the phase ends, and the run starts to wait for the archive.
    std::thread::sleep(Duration::from_millis(1500));
    running.send(Signal::INT);
    running.until("its report", |running| !running.output().is_empty());
    drop(other);
    let ended = running.finish();
    ended.code(130);
    // If the run did not wait for the lock, its record is in a file beside the archive. `list` adds
    // such a record to the archive.
    home.answer("list");
    let entries = home.entries();
    assert_eq!(entries[0].headline.state, State::Interrupted);
    assert_eq!(
        home.record(&entries[0]),
        Record::from_json(&ended.output).unwrap()
    );
}

/// With a classic report format, a run performs no sync between phases. The time of a phase must
/// not include writing to the archive.
#[test]
fn times_of_phases_with_classic_formats_exclude_archiving() {
    const HELD: Duration = Duration::from_secs(4);
    let home = Home::new();
    let mut running = Running::start(
        home.command("run --engine posix --files 2000 --transactions 100 --format terse"),
        home.test_dir.path(),
    );
    home.until_its_row_is_there(&mut running);
    let (began, other) = (Instant::now(), home.held());
    running.until("its files", |_| tree(home.test_dir.path()).len() >= 2000);
    // In this time the phase that creates the files ends, and the run waits for the archive.
    std::thread::sleep(HELD);
    drop(other);
    running.until("its report", |running| !running.output().is_empty());
    let took = began.elapsed();
    let ended = running.finish();
    ended.code(0);
    home.answer("list");
    let phases = home.record(&home.entries()[0]).actual.phases;
    let segments: Vec<_> = phases.iter().flat_map(|phase| &phase.segments).collect();
    let times = segments.iter().map(|of| of.ended_ns - of.began_ns);
    let total = Duration::from_nanos(times.sum());
    // The phase that creates the files began a moment before the archive was held.
    let most = took.saturating_sub(HELD / 2);
    assert!(segments.len() == 3 && total < most, "{total:?} of {took:?}");
}

/// An output file must not be the archive, even under another name.
#[test]
fn report_must_not_replace_the_archive() {
    let home = Home::new();
    home.shows(LITTLE).code(0);
    let link = home.test_dir.path().join("link");
    std::os::unix::fs::symlink(home.archive(), &link).unwrap();
    for words in [
        format!("{LITTLE} --output {}", text(&link)),
        format!("{LITTLE} --live {}", text(&home.archive())),
        format!("{LITTLE} --dry-run --output {}", text(&link)),
        format!("export --output {}", text(&link)),
        format!("show last --output {}", text(&home.archive())),
    ] {
        home.shows(&words)
            .code(2)
            .shows("this file is the archive")
            .shows("use another file");
    }
    assert_eq!(home.entries().len(), 1);
    home.row(&format!(
        "{LITTLE} --archive - | 2 | expected the path of a file"
    ));
}

#[test]
fn repeated_record_is_read_from_the_named_archive() {
    let home = Home::new();
    home.shows(&format!("{LITTLE} --preset mail")).code(0);
    home.shows(
        "run --quiet --no-overhead --engine posix --files 21 --transactions 30 --archive other.db",
    )
    .code(0);
    let files = |text: &str| {
        let record = Record::from_json(text).unwrap();
        (record.spec.workload.files(), record.spec.preset)
    };
    let like = "run --quiet --no-overhead --like last --format json";
    assert_eq!(
        files(&home.answer(&format!("{like} --archive other.db"))),
        (21, None)
    );
    assert_eq!(files(&home.answer(like)), (40, Some("mail-1".to_owned())));
    // With `--archive none`, the new run is not archived, but `--like` still reads the default
    // archive.
    assert_eq!(files(&home.answer(&format!("{like} --archive none"))).0, 40);
    let plan = home.answer("plan --engine null --like 1 --archive other.db --format toml");
    plan.shows("files = 21");
    home.shows("plan --like 7 --archive other.db")
        .code(2)
        .shows("there is no run '7'")
        .does_not_show("--format json");
}

#[test]
fn load_sweep_is_archived_as_one_run() {
    std::thread::scope(|scope| {
        for fresh in ["", " --fresh"] {
            scope.spawn(move || {
                let home = Home::new();
                let sweep = "run --quiet --no-overhead --engine posix --files 50 --mix read=1 \
                             --sweep 300 --warm-up 100ms";
                let ended = home.shows(&format!("{sweep} --format json{fresh}"));
                ended.code(0);
                let record = Record::from_json(&ended.output).unwrap();
                let entries = home.entries();
                assert_eq!(entries.len(), 1, "{ended}");
                assert_eq!(home.record(&entries[0]), record);
                assert!(!record.actual.sweep_steps.is_empty());
                entries.assert(entries[0].headline.transactions_per_second.is_some());
            });
        }
    });
}

/// The reader of the report closed its pipe on purpose. The archive has the report, so the run is
/// successful. Without an archive the report is lost, which is an error.
#[test]
fn archived_run_whose_reader_has_ended_is_successful() {
    let home = Home::new();
    for (archive, code) in [("", 0), (" --archive none", 1)] {
        let mut reader = Command::new("true");
        let mut reader = reader.stdin(Stdio::piped()).spawn().unwrap();
        let pipe = reader.stdin.take().unwrap();
        reader.wait().unwrap();
        let mut command = home.command(&format!("{LITTLE} --full{archive}"));
        let status = command.stdout(pipe).stderr(Stdio::null()).status().unwrap();
        assert_eq!(status.code(), Some(code), "{command:?}");
    }
}
