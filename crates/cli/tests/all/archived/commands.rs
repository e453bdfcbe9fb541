//! The commands about archived runs, such as `list`, `show`, `export`, `import`, `tag`, `note` and
//! `delete`.

use std::fs;
use std::io::Write;

use record::Record;
use serde_json::Value;
use testkit::{Assert, Shows};
use verdict::{Level, State};

use super::{Home, LITTLE, open, text};

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Asserts that each line of CSV ends with carriage return and newline (RFC 4180), and that the
/// last field of the line contains no carriage return or newline.
fn ends_lines_as_csv(csv: &str) {
    let lines: Vec<&str> = csv.split_inclusive('\n').collect();
    assert!(lines.len() > 1, "{csv}");
    for line in lines {
        let fields = line
            .strip_suffix("\r\n")
            .unwrap_or_else(|| panic!("{line:?}"));
        assert!(
            !fields.contains(['\r', '\n']) && !fields.ends_with("\\r"),
            "{line:?}"
        );
    }
}

#[test]
fn archived_run_is_listed_shown_exported_and_imported() {
    let home = Home::new();
    let report = home
        .shows(&format!("{LITTLE} --no-series"))
        .code(0)
        .output
        .clone();
    home.row("run --quiet --no-overhead --preset mail --files 50 --transactions 50 | 0");

    let list = home.answer("list");
    list.shows("begun (UTC)").shows("mail");
    list.assert(list.lines().all(|line| line.chars().count() <= 80));
    let listed = json(&home.answer("list --format json"));
    assert_eq!(listed.as_array().unwrap().len(), 2);
    assert_eq!(listed[1]["preset"], "mail-1");
    assert_eq!(listed[0]["state"], "complete");
    let csv = home.answer("list --format csv --preset mail");
    assert_eq!(csv.lines().count(), 2);
    csv.begins_with("number,id,state,");
    ends_lines_as_csv(&csv);
    ends_lines_as_csv(&home.answer("export --format csv"));
    let is_memory = home.record(&home.entries()[0]).locations[0]
        .target
        .known()
        .and_then(|target| target.mount.known())
        .is_some_and(|mount| mount.file_system_type == "tmpfs");
    let entries = home.entries();
    let are_invalid = entries
        .iter()
        .filter(|entry| entry.headline.verdict == Level::Invalid);
    let invalid = are_invalid.count();
    for (filter, count) in [
        ("--since 1d", 2),
        ("--until 1d", 0),
        ("--since 2001-08-27 --until 2100-01-01", 2),
        ("--preset mail", 1),
        ("--preset mail-1", 1),
        ("--preset mail-2", 0),
        ("--preset ma", 0),
        ("--preset web-cache", 0),
        ("--host nobody", 0),
        ("--file-system tmpfs", if is_memory { 2 } else { 0 }),
        // The number of INVALID runs is not fixed, because the verdict depends on how long the runs
        // took.
        ("--verdict invalid", invalid),
        ("--verdict doubtful", 2 - invalid),
        ("--verdict invalid --limit 1", invalid.min(1)),
        ("--verdict valid", 0),
        ("--tag x", 0),
    ] {
        let listed = json(&home.answer(&format!("list --format json {filter}")));
        assert_eq!(
            listed.as_array().unwrap().len(),
            count,
            "{filter}: {listed}"
        );
    }
    assert_eq!(
        home.answer("list --tag x"),
        "No run meets these conditions\n"
    );

    assert_eq!(home.answer("show 1"), report);
    let second = Record::from_json(&home.answer("show last --format json")).unwrap();
    assert_eq!(second.spec.preset.as_deref(), Some("mail-1"));
    let identity = second.id.to_string();
    assert_eq!(
        home.answer(&format!("show {}", &identity[..12])),
        home.answer("show 2")
    );
    assert!(
        home.answer("show 1 --format classic")
            .contains("per second")
    );
    assert_eq!(home.answer("show 1 --format terse").lines().count(), 1);
    home.row("show last --format classic | 2 | use --format text or json");

    let file = home.test_dir.path().join("all.json");
    home.shows(&format!("export --output {}", text(&file)))
        .code(0);
    assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), 2);
    let one = home.test_dir.path().join("one.json");
    fs::write(&one, home.answer("export 2")).unwrap();
    assert_eq!(
        home.answer(&format!("show {}", text(&one))),
        home.answer("show 2")
    );
    let csv = home.answer("export --format csv --preset mail");
    let fields = csv.lines().next().unwrap().split(',').count();
    assert!(
        csv.lines().count() > 5 && csv.lines().all(|line| line.split(',').count() == fields),
        "{csv}"
    );
    let markdown = home.answer("export 1 2 --format markdown");
    assert_eq!(markdown.lines().count(), 4);
    home.row("export 1 --preset mail | 2 | cannot be combined");
    home.row("export --tag unused | 2 | no run in the archive matches the conditions");

    let other = home.test_dir.path().join("other/archive.db");
    let import = format!(
        "import {} {} --archive {}",
        text(&file),
        text(&one),
        text(&other)
    );
    let imported = home.answer(&import);
    assert_eq!(imported.matches("new").count(), 2, "{imported}");
    assert_eq!(imported.matches("there already").count(), 1, "{imported}");
    assert_eq!(home.answer(&import).matches("there already").count(), 3);
    let (ours, theirs) = (open(&home.archive()), open(&other));
    for number in [1, 2] {
        assert_eq!(ours.record(number).unwrap(), theirs.record(number).unwrap());
    }
}

#[test]
fn run_options_set_tags_and_note() {
    let home = Home::new();
    let mut run = home.command(&format!("{LITTLE} --tag ssd --tag baseline"));
    run.args(["--note", "before the update"]);
    home.end(run).code(0);
    let entry = &home.entries()[0];
    assert_eq!(entry.tags, ["baseline", "ssd"]);
    assert_eq!(entry.note.as_deref(), Some("before the update"));
    // A run repeated by `--like` does not get the tags and the note of the first run.
    home.shows(&LITTLE.replace("run ", "run --like 1 ")).code(0);
    let second = &home.entries()[1];
    assert_eq!((second.tags.len(), &second.note), (0, &None));
    assert_eq!(second.headline.fingerprint, entry.headline.fingerprint);
    home.shows(&format!("{LITTLE} --tag ssd --dry-run")).code(0);
    assert_eq!(home.entries().len(), 2);
}

#[test]
fn tags_and_notes_of_a_run_that_is_not_archived_are_refused() {
    let home = Home::new();
    let long = format!("--note {}", "x".repeat(65_537));
    for (words, why) in [
        ("--tag ssd --archive none", "is not archived"),
        ("--note ssd --archive none", "is not archived"),
        ("--tag ssd --archive none --dry-run", "is not archived"),
        ("--tag two,words", "expected 1 to"),
        (&*long, "expected at most 65536 bytes"),
    ] {
        home.shows(&format!("{LITTLE} {words}")).code(2).shows(why);
    }
    let mut variable = home.command(&format!("{LITTLE} --tag ssd"));
    variable.env("POSTMARK_ARCHIVE", "none");
    home.end(variable).code(2).shows("is not archived");
    assert_eq!(std::fs::read_dir(&home.target).unwrap().count(), 0);
}

#[test]
fn tags_and_notes_are_added_and_removed() {
    let home = Home::new();
    for _ in 0..3 {
        home.shows(LITTLE).code(0);
    }
    home.row("tag 1 baseline ssd | 0 | Run 1: baseline ssd");
    home.shows("tag 2 ssd").code(0);
    home.row("tag 1 ssd none --remove | 0 | Run 1: baseline | does not have the tag 'none'");
    let listed = home.answer("list --tag ssd --format csv");
    assert_eq!(listed.lines().count(), 2);
    assert!(home.answer("list").contains("baseline"));
    let mut note = home.command("note 2");
    note.arg("after the firmware; =1+1");
    home.end(note).code(0).shows("Run 2: after the firmware");
    let shown = home.answer("show 2");
    shown.begins_with("Tags: ssd\nNote: after the firmware; =1+1\n");
    assert!(
        home.answer("list --format csv")
            .contains("after the firmware")
    );
    // Export and import keep tags. If an archived run is imported a second time, its tags in the
    // archive do not change.
    let exported = home.answer("export 2");
    assert_eq!(
        Record::from_json(&exported).unwrap(),
        home.record(&home.entries()[1])
    );
    fs::write(home.test_dir.path().join("two.json"), &exported).unwrap();
    home.shows("import two.json --archive other.db").code(0);
    home.row("tag last ssd --remove --archive other.db | 0");
    home.row("import two.json --archive other.db | 0 | there already");
    let theirs = &json(&home.answer("list --format json --archive other.db"))[0];
    assert_eq!(
        (theirs["tags"].as_array().map(Vec::len), &theirs["note"]),
        (Some(0), &Value::from("after the firmware; =1+1"))
    );
    fs::write(
        home.test_dir.path().join("two.json"),
        exported.replace("[\"ssd\"]", "[\"s s\"]"),
    )
    .unwrap();
    home.row("import two.json --archive new.db | 1 | expected 1 to");
    let mut note = home.command("note 2");
    note.arg("");
    home.end(note).code(0).shows("no note");
    home.shows("tag 1 two,words").code(2).shows("expected 1 to");
    for command in ["tag 9 x", "note 9 x", "delete 1 9", "show 9", "export 9"] {
        home.shows(command).code(2).shows("there is no run '9'");
    }
    for command in ["tag x x", "delete fine", "export ./none.json"] {
        home.shows(command).code(2).shows("invalid run");
    }
    assert_eq!(
        home.entries().len(),
        3,
        "of several none is removed where one is not there"
    );
    home.row("delete 1 last 1 | 0 | Removed run 1 | Removed run 3");
    let left = home.entries();
    assert_eq!((left.len(), left[0].number), (1, Some(2)));
}

#[test]
fn import_reports_invalid_files_and_imports_the_others() {
    let home = Home::new();
    home.shows(LITTLE).code(0);
    let exported = home.answer("export last");
    let path = |name: &str| home.test_dir.path().join(name);
    let id = home.entries()[0].headline.id.to_string();
    let note = r#"{"note":"no-ack-log"}"#;
    let forged = exported
        .replace("\"hints\":[", &format!("\"hints\":[{note},"))
        .replace(&format!("{note},]"), &format!("{note}]"));
    fs::write(
        path("good.json"),
        exported.replace(&id, &id.chars().rev().collect::<String>()),
    )
    .unwrap();
    fs::write(path("forged.json"), forged).unwrap();
    fs::write(path("text.json"), "no \u{1b}[31m JSON").unwrap();
    fs::write(path("other.json"), "{\"a\": 1}\n").unwrap();
    fs::write(path("empty.json"), "").unwrap();
    let ended =
        home.shows("import text.json forged.json other.json empty.json missing.json good.json");
    ended.ends("1 | CONFLICT: run 1 | text.json | other.json | empty.json | missing.json");
    ended.shows(": new, ").does_not_show("\u{1b}");
    assert_eq!(home.entries().len(), 2);
    assert_eq!(home.answer("export 1"), exported);
    let mut piped = home.command("import -");
    piped.stdin(fs::File::open(path("good.json")).unwrap());
    home.end(piped).code(0).shows("there already");
}

#[test]
fn import_stops_at_the_size_limit_of_a_record() {
    let home = Home::new();
    home.shows(LITTLE).code(0);
    home.row("import /dev/zero | 1 | expected a JSON object");
    let long = home.test_dir.path().join("long.json");
    let mut file = fs::File::create(&long).unwrap();
    file.write_all(b"{\"a\":\"").unwrap();
    file.set_len(340 << 20).unwrap();
    home.row("import long.json | 1 | too long for a record");
}

/// `export` writes the records that it can read. If it can read none, it does not change the output
/// file.
#[test]
fn export_skips_a_damaged_record() {
    let home = Home::new();
    for _ in 0..3 {
        home.shows(LITTLE).code(0);
    }
    let all = home.answer("export");
    let archive = rusqlite::Connection::open(home.archive()).unwrap();
    archive
        .execute("UPDATE content SET json = x'00' WHERE run = 2", [])
        .unwrap();
    drop(archive);
    let file = home.test_dir.path().join("all.json");
    home.row("export --output all.json | 1 | not exported | run 2");
    let kept: Vec<&str> = all
        .lines()
        .enumerate()
        .filter(|(place, _)| *place != 1)
        .map(|(_, line)| line)
        .collect();
    assert_eq!(
        fs::read_to_string(&file)
            .unwrap()
            .lines()
            .collect::<Vec<_>>(),
        kept
    );
    let before = fs::read_to_string(&file).unwrap();
    home.row("export 2 --force --output all.json | 2 | run 2");
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    home.shows("export 2 --output new.json").code(2);
    assert!(!home.test_dir.path().join("new.json").exists());
}

/// An old archive may contain a note that is too long for an import. The record is exported without
/// the note, with a message.
#[test]
fn export_reports_a_note_above_the_limit() {
    let home = Home::new();
    home.shows(LITTLE).code(0);
    let mut archive = open(&home.archive());
    archive.set_note(1, Some(&"n".repeat(65_537))).unwrap();
    drop(archive);
    home.shows("export --output one.json")
        .code(0)
        .shows("the note of run 1, which has 65537 bytes")
        .shows("'postmark note 1 TEXT'");
    let exported = json(&fs::read_to_string(home.test_dir.path().join("one.json")).unwrap());
    exported.assert(exported["record"].is_object() && exported["archive"].is_null());
}

#[test]
fn missing_default_archive_has_no_runs() {
    let home = Home::new();
    assert_eq!(home.answer("list"), "No runs\n");
    assert_eq!(home.answer("list --format json"), "[]\n");
    home.row("list --archive nowhere.db | 2 | there is no archive at nowhere.db");
    home.row("show last | 2 | there is no archive at");
    home.row("list --since yesterday | 2 | expected a date");
    assert!(!home.archive().exists());
}

/// Strings in an imported record may contain terminal escape sequences, which must not be printed.
#[test]
fn strings_of_imported_records_are_sanitized() {
    let home = Home::new();
    home.shows(&format!(
        "{LITTLE} --format json --archive none --output made.json"
    ))
    .code(0);
    let made = fs::read_to_string(home.test_dir.path().join("made.json")).unwrap();
    let mut document = json(&made);
    document["record"]["host"]["hostname"] = Value::from("\u{1b}]0;x\u{7}=cmd|\u{202e}");
    document["record"]["spec"]["preset"] = Value::from("<b>|\r\nx");
    fs::write(home.test_dir.path().join("evil.json"), document.to_string()).unwrap();
    home.shows("import evil.json")
        .code(0)
        .does_not_show("\u{1b}");
    for words in [
        "list",
        "list --format json",
        "list --format csv",
        "show 1",
        "show 1 --format json",
        "export",
        "export --format csv",
        "export --format markdown",
    ] {
        let answer = home.answer(words);
        let answer = answer.replace("\r\n", "\n");
        let harmful =
            |character: char| document::sanitize::is_harmful(character) && character != '\n';
        assert!(!answer.contains(harmful), "{words}: {answer:?}");
    }
    let listed = json(&home.answer("list --format json"));
    assert_eq!(listed[0]["host"], document["record"]["host"]["hostname"]);
    assert_eq!(listed[0]["preset"], document["record"]["spec"]["preset"]);
    assert!(!home.answer("export --format markdown").contains("<b>"));
    assert_eq!(home.entries()[0].headline.state, State::Complete);
}
