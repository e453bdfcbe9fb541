//! The arguments of `compare` and `gate`: runs, tags, studies and files.

use record::Record;
use testkit::Shows;

use super::{Archived, NOISE, one_line, part};

/// Writes records to a file, each as a document in the format of `run --format json`. Returns the
/// path.
fn write(archived: &Archived, name: &str, records: &[Record]) -> String {
    let path = archived.test_dir.path().join(name);
    let texts: String = records.iter().map(verdict::to_json).collect();
    std::fs::write(&path, texts).unwrap();
    path.display().to_string()
}

#[test]
fn files_are_compared_without_an_archive() {
    let mut archived = Archived::new();
    let before = archived.copy(1.0);
    let before = write(&archived, "before.json", &[before]);
    let after: Vec<Record> = (0..5).map(|_| archived.copy(0.5)).collect();
    let after = write(&archived, "after.jsonl", &after);
    let told = one_line(&archived.answer(&format!("compare {before} {after}")));
    told.shows("after.jsonl against before.json (baseline) 6 runs: ")
        .shows(" 0.50 - no interval: that needs 5 runs of each");
    assert!(!archived.path().exists(), "files need no archive");
    archived
        .shows(&format!(
            "gate {before} {after} --require transactions_>=_0.9"
        ))
        .code(5);
    let both = archived.shows(&format!("compare {before} {before}"));
    both.code(2);
    one_line(&both.errors).shows("is in both configurations");
    let one = archived.shows(&format!("compare {after}"));
    one.code(2);
    one_line(&one.errors).shows("its 5 runs are not those of one study");
}

#[test]
fn runs_tags_studies_and_files_can_be_mixed() {
    let mut archived = Archived::new();
    archived.tagged("base", 1.0, 6);
    let new: Vec<Record> = (0..6)
        .map(|run| archived.copy(1.5 * NOISE[run % 5]))
        .collect();
    let new = write(&archived, "new.json", &new);
    let told = one_line(&archived.answer(&format!("compare base {new}")));
    told.shows("new.json against base (baseline)")
        .shows("% faster");
    let twice = archived.shows(&format!("compare base {new} 1"));
    twice.code(2);
    one_line(&twice.errors).shows("run 1 is in both configurations");
    let told = one_line(&archived.answer(&format!("compare 1..5 {new} 6")));
    told.shows("new.json and run 6 against runs 1..5 (baseline)")
        .shows("transactions/s runs 1..5")
        .shows("% faster");
}

#[test]
fn study_in_a_file_is_compared_like_the_archived_one() {
    let mut archived = Archived::new();
    archived.study(0.7, 5);
    let archive = archived.open();
    let runs = archive.list(&archive::Filter::default()).unwrap();
    let record = |run: &verdict::ListedRun| archive.record(run.number.unwrap()).unwrap();
    let records: Vec<Record> = runs.iter().map(record).collect();
    drop(archive);
    let file = write(&archived, "study.jsonl", &records);
    for rest in ["", " --metric create.p99 --metric transactions"] {
        let told = archived.answer(&format!("compare last{rest}"));
        assert_eq!(told, archived.answer(&format!("compare {file}{rest}")));
    }
    // A study of several configurations cannot be one side of a comparison.
    for several in [format!("compare 1 {file}"), "compare 1 pair".to_owned()] {
        let ended = archived.shows(&several);
        ended.code(2);
        one_line(&ended.errors).shows("it has 2 configurations: new, old");
    }
}

#[test]
fn tag_alone_selects_a_study_or_compares_its_targets() {
    let mut archived = Archived::new();
    for target in ["/mnt/a", "/mnt/b"] {
        for noise in &NOISE[..5] {
            let factor = if target == "/mnt/a" { 1.0 } else { 0.5 };
            let mut record = archived.copy(factor * noise);
            record.spec.targets = vec![target.into()];
            archived.add(&record, "both");
        }
    }
    let told = one_line(&archived.answer("compare both"));
    told.shows("/mnt/b against /mnt/a (baseline) 10 runs: ")
        .shows("/mnt/b is 50 % slower");
    archived.tagged("one", 1.0, 2);
    let ended = archived.shows("compare one");
    ended.code(2);
    one_line(&ended.errors).shows("'one' is one configuration with 2 runs");
    archived.study(0.7, 5);
    let told = one_line(&archived.answer("compare study:0123456789ab"));
    told.shows("new is 30 % slower");
}

/// Two studies have one name. `list` shows a name for each that all commands accept.
#[test]
fn names_that_list_shows_select_studies() {
    let mut archived = Archived::new();
    archived.study(0.7, 5);
    archived
        .answer("list --tag study:pair")
        .shows("study:pair ");
    let one = archived.answer("compare pair");
    one.does_not_show("The name pair");
    for block in 1..=5 {
        for cell in ["old", "new"] {
            let mut record = archived.copy(NOISE[block as usize % 5]);
            record.study = Some(part(cell, false, block));
            record.study.as_mut().unwrap().study = "fedcba987654".to_owned();
            archived.add(&record, "study:fedcba987654");
        }
    }
    let listed = archived.answer("list");
    let header = one_line(listed.lines().next().unwrap());
    header.shows("tags cell block trans/s");
    one_line(&listed).shows_all("study:pair@0123 old | study:pair@0123 new | study:pair@fedc new");
    let rows = |words: &str| archived.answer(words).lines().count() - 1;
    assert_eq!(rows("list --tag study:pair@0123"), 15);
    assert_eq!(rows("list --tag study:pair@fedc"), 10);
    assert_eq!(archived.answer("compare pair@0123"), one);
    one_line(&archived.answer("compare pair")).shows(
        "The name pair selects the newest study of that name, pair@fedc; pair@0123 also has it.",
    );
    for refused in [
        "export --tag study:pair",
        "study --resume pair",
        "compare study:pair",
    ] {
        let ended = archived.shows(refused);
        ended.code(if refused.starts_with("compare") { 0 } else { 2 });
        let told = one_line(&format!("{ended}"));
        told.shows("pair@fedc").shows("pair@0123");
    }
}

#[test]
fn ranges_and_tags_name_runs_in_all_commands() {
    let mut archived = Archived::new();
    archived.tagged("base", 1.0, 4);
    let told = archived.answer("tag 2..3 middle");
    told.shows_all("Run 2: base middle | Run 3: base middle");
    assert_eq!(archived.answer("list --tag middle").lines().count(), 3);
    assert_eq!(archived.answer("export 1,3..4").lines().count(), 3);
    assert_eq!(archived.answer("export middle").lines().count(), 2);
    archived
        .answer("show middle")
        .shows("Run 3, the newest of 2 runs with this tag");
    archived.answer("tag middle --remove middle");
    archived
        .answer("delete 1..2")
        .shows_all("Removed run 1 | Removed run 2");
    let ended = archived.shows("tag nothing x");
    ended.code(2);
    one_line(&ended.errors).shows("expected numbers like 3,5,7 or 3..9, a tag, at least four");
}

#[test]
fn runs_of_several_days_with_one_tag_are_reported() {
    const DAY_NS: i64 = 86_400_000_000_000;
    let mut archived = Archived::new();
    archived.tagged("base", 1.0, 2);
    archived.tagged("next", 1.0, 3);
    let told = archived.answer("compare base next");
    told.does_not_show("The tag");
    let mut record = archived.copy(1.0);
    record.origin.unix_ns -= DAY_NS;
    archived.add(&record, "base");
    let told = one_line(&archived.answer("compare base next"));
    told.shows("The tag base selects 3 runs, made from 20")
        .shows("name the runs by number, like 3..9, or use a new tag.");
    told.does_not_show("The tag next");
    let gate = archived.shows("gate base next --require transactions_>=_0.5");
    one_line(&gate.output).shows("The tag base selects 3 runs");
    let told = archived.answer("compare 1,2 next");
    told.does_not_show("The tag");
}

#[test]
fn argument_that_names_nothing_is_answered_with_what_would() {
    let mut archived = Archived::new();
    archived.tagged("base", 1.0, 1);
    for words in [
        "compare base nothing",
        "compare nothing",
        "compare base missing.json",
    ] {
        let ended = archived.shows(words);
        ended.code(2);
        let told = one_line(&ended.errors);
        told.shows("'postmark tag 3..9 NAME' names runs")
            .shows("there is nothing called '")
            .shows("no run, no cell of the last study, no tag, no study and no file")
            .shows("use numbers like 3,5,7 or 3..9, STUDY:CELL, a tag, a study, or a file");
    }
}
