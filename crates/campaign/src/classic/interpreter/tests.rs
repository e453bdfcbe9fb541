use std::collections::VecDeque;

use tempfile::TempDir;

use super::files::{LOAD_DEPTH_MAX, LOADS_MAX};
use super::*;
use crate::classic::Plain;

/// A runner that ends runs as specified by `ends`, and records the settings of each run.
#[derive(Default)]
struct Fake {
    ends: VecDeque<RunEnd>,
    asked: Vec<PromptSettings>,
}

impl ClassicRunner for Fake {
    fn run(
        &mut self,
        settings: &PromptSettings,
        _: Classic,
        output: &mut dyn Write,
        _: &mut dyn Write,
    ) -> RunEnd {
        self.asked.push(settings.clone());
        output.write_all(b"<run>\n").unwrap();
        self.ends
            .pop_front()
            .unwrap_or(RunEnd::Complete(figures(settings, End::Complete)))
    }
}

fn figures(settings: &PromptSettings, end: End) -> ClassicFigures {
    ClassicFigures {
        edition: settings.edition,
        end,
        began_s: 0,
        transactions_began_s: 1,
        transactions_ended_s: 3,
        ended_s: 4,
        transactions: 10,
        created_alone: 5,
        created_mixed: 6,
        read: 7,
        appended: 3,
        deleted_alone: 7,
        deleted_mixed: 4,
        bytes_read: 1000.0,
        bytes_written: 2000.0,
    }
}

const TERSE: &str = "4 2 5.00 2.75 5.00 3.00 3.50 1.50 2.75 7.00 2.00 250.00 500.00\n";

/// The result of a session. `asked` contains the settings of its runs.
struct Said {
    output: String,
    errors: String,
    code: u8,
    asked: Vec<PromptSettings>,
}

fn session(
    edition: Edition,
    file: Option<&Path>,
    ends: &[RunEnd],
    interactive: bool,
    input: &str,
) -> Said {
    let mut fake = Fake {
        ends: ends.iter().copied().collect(),
        ..Fake::default()
    };
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let streams = Streams {
        output: &mut output,
        errors: &mut errors,
    };
    let settings = PromptSettings::new(edition);
    let mut interpreter = Interpreter::new(settings, &mut fake, streams, interactive);
    let code = interpreter.session(file, &mut Plain::new(input.as_bytes()));
    let code = code.unwrap();
    Said {
        output: String::from_utf8(output).unwrap(),
        errors: String::from_utf8(errors).unwrap(),
        code,
        asked: fake.asked,
    }
}

fn said(input: &str) -> Said {
    session(Edition::V1_5, None, &[], false, input)
}

#[test]
fn last_line_may_lack_its_line_end() {
    for (input, rest) in [
        ("", "pm>"),
        ("\n", "pm>Eh?\npm>"),
        ("quit\n", "pm>"),
        ("quit", "pm>"),
        ("exit\n", "pm>"),
        ("exit x\n", "pm>Eh?\npm>"),
        ("quit now\n", "pm>"),
        (" quit\n", "pm>Eh?\npm>"),
        ("set number 7", "pm>pm>"),
    ] {
        assert_eq!(
            said(input).output,
            format!("PostMark v1.51 : 8/14/01\n{rest}"),
            "{input:?}"
        );
    }
}

/// Lines in which `_` represents a blank, each with the expected error message.
const COMPLAINTS: &str = "
    set size 0 5000 | no file size low or high bounds specified
    set number -1 | invalid number of files
    set seed 0 | invalid seed for random numbers
    set transactions x | no transactions specified
    set location | no directory name specified
    set location -q | cannot find location 'q'
    set location x 0 | ignoring invalid weight '0'
    set location x_ | ignoring invalid weight ''
    set subdirectories 0 | invalid number of subdirectories
    set read | invalid read block size
    set write 0 | invalid write block size
    set buffering TRUE | no buffering mode (true/false) specified
    set bias read | no bias specified (0-10 for greater chance,-1 to disable)
    set bias create 11 | no bias specified (0-10 for greater chance,-1 to disable)
    set report ters | either 'verbose' or 'terse' required
    load | no configuration file specified
    load /nonexistent/x | cannot read configuration file '/nonexistent/x'
";

#[test]
fn error_messages_equal_those_of_the_original() {
    for [line, complaint] in testkit::table(COMPLAINTS) {
        let said = said(&format!("{}\nquit\n", line.replace('_', " ")));
        assert_eq!(said.output, "PostMark v1.51 : 8/14/01\npm>pm>");
        assert_eq!(said.errors, format!("Error: {complaint}\n"));
        assert_eq!(said.code, 0);
    }
}

/// Input that the original silently misinterprets, and the hint that its warning must contain.
#[test]
fn silently_misinterpreted_input_causes_a_warning() {
    for (line, hint) in [
        ("set size 1k", "'set size 1000'"),
        ("set size 1k 4KiB", "'set size 1000 4096'"),
        ("set size 10,20", "'set size 10 20'"),
        ("set size 500..10000", "'set size 500 10000'"),
        ("set size 10 5", "sizes of 10 bytes"),
        ("set size 5 6 7", "sizes from 5 to 6 bytes"),
        ("set size  5  6", "'set size 5 6'"),
        ("set read 50%", "understood as 50"),
        ("set write 4KiB", "like 4096"),
        ("set number 20k", "like 20000"),
        ("set number 4294967297", "understood as 1"),
        ("set number77", "skipped"),
        ("set seed 1.5", "understood as 1"),
        ("set bias read x", "understood as 0"),
        ("set bias create 5.5", "understood as 5"),
        ("set location x 5k", "understood as 5"),
        ("set location /my disk", "'set location /my disk 1'"),
        ("set location x\r", "carriage return"),
    ] {
        let errors = said(&format!("{line}\nquit\n")).errors;
        assert!(
            errors.starts_with("Warning: ") && errors.lines().count() == 1,
            "{line}: {errors}"
        );
        assert!(errors.contains(hint), "{line}: {errors}");
    }
}

#[test]
fn valid_script_input_causes_no_warning() {
    let lines = "set numbers 100000\nset size 500 10000\nset size 5\nset bias read -1\nset \
                 location /tmp 3\nset location +/x/\nset number=77\nset seed 42\nset report \
                 terse\nset buffering false\nset read 4096 \nquit\n";
    assert_eq!(said(lines).errors, "");
}

#[test]
fn report_is_appended_to_a_file() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("60");
    std::fs::write(&path, "before\n").unwrap();
    let path = path.to_str().unwrap();
    let said = said(&format!(
        "set report terse\nrun {path}\nrun /nonexistent/x\nrun\nquit\n"
    ));
    assert_eq!(
        std::fs::read_to_string(path).unwrap(),
        format!("before\n{TERSE}")
    );
    let expected =
        format!("PostMark v1.51 : 8/14/01\npm>pm><run>\npm><run>\n{TERSE}pm><run>\n{TERSE}pm>");
    assert_eq!(said.output, expected);
    assert_eq!(
        said.errors,
        "Error: Cannot direct output to file '/nonexistent/x'\n"
    );
    assert_eq!(said.code, 0);
}

#[test]
fn show_appends_all_lines_to_a_file() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("o");
    let path = path.to_str().unwrap();
    let said = said(&format!(
        "set location x\nset location +y 2\nshow {path}\nquit\n"
    ));
    assert_eq!(
        said.output,
        "PostMark v1.51 : 8/14/01\npm>pm>pm>\tx (weight=1)\n\ty (weight=2)\npm>"
    );
    let expected = "Current configuration is:\nThe base number of files is 500\nTransactions: \
                    500\nFiles range between 500 bytes and 9.77 kilobytes in size\nWorking \
                    directories: \n\tx (weight=1)\n\ty (weight=2)\nBlock sizes are: read=512 \
                    bytes, write=512 bytes\nBiases are: read/append=5, create/delete=5\nUsing \
                    Unix buffered file I/O\nRandom number generator seed is 42\nReport format is \
                    verbose.\n";
    assert_eq!(std::fs::read_to_string(path).unwrap(), expected);
}

#[test]
fn output_of_version_1_0_equals_that_in_the_paper() {
    let said = session(
        Edition::V1_0,
        None,
        &[],
        false,
        "show\nset report terse\nrun\nhelp\nquit\n",
    );
    let show = "Current configuration is:\nTransactions: 500\nFiles range between 500 bytes and \
                9.77 kilobytes in size\nRandom number generator seed is 42\nThe base number of \
                files is 500\nThe working directory is: .\nBlock sizes are: read=512 bytes, \
                write=512 bytes\nBiases are: read/append=5, create/delete=5\nUsing Unix buffered \
                file I/O\n";
    let begin =
        format!("PostMark v1.00 : 8/11/97\npm>{show}pm>Eh?\npm><run>\nTime:\n\t4 seconds total\n");
    assert!(said.output.starts_with(&begin), "{}", said.output);
    assert!(
        said.output.contains(" per second)\n\npm>set size - "),
        "{}",
        said.output
    );
    let listed: Vec<_> = said
        .output
        .lines()
        .filter_map(|line| line.split_once(" - "))
        .map(|(name, _)| name)
        .collect();
    let expected = [
        "pm>set size",
        "set number",
        "set seed",
        "set transactions",
        "set location",
        "set read",
        "set write",
        "set buffering",
        "set bias read",
        "set bias create",
        "run",
        "show",
        "help",
        "quit",
    ];
    assert_eq!(listed, expected);
}

#[test]
fn help_lists_commands_with_the_given_prefix_or_all_commands() {
    let listed = |input: &str| said(input).output.matches(" - ").count();
    for (input, count) in [
        ("help\n", 17),
        ("?\n", 17),
        ("helpx\n", 17),
        ("help \n", 17),
        ("help zz\n", 17),
        ("help  show\n", 17),
        ("help s\n", 13),
        ("help set b\n", 3),
        ("help show\n", 1),
        ("helpxshow\n", 1),
        ("? x\n", 0),
        ("HELP\n", 0),
    ] {
        assert_eq!(listed(input), count, "{input}");
    }
}

#[test]
fn quit_ends_only_the_configuration_file_that_contains_it() {
    let directory = TempDir::new().unwrap();
    let path = |name: &str| directory.path().join(name);
    let (outer, inner) = (path("outer file"), path("inner"));
    std::fs::write(
        &outer,
        format!(
            "\nexit\n?\n!echo no\nload {}\nset number 8",
            inner.display()
        ),
    )
    .unwrap();
    std::fs::write(&inner, "set transactions 77\nquit\nset transactions 99\n").unwrap();
    let reading = |path: &Path| format!("Reading configuration from file '{}'\n", path.display());
    let files = format!("{}Eh?\nEh?\nEh?\n{}", reading(&outer), reading(&inner));
    let from_start = session(Edition::V1_5, Some(&outer), &[], true, "run\nquit\n");
    assert!(
        from_start
            .output
            .starts_with(&format!("PostMark v1.51 : 8/14/01\n{files}pm><run>\n"))
    );
    let asked = &from_start.asked[0];
    assert_eq!((asked.transactions, asked.files), (77, 8));
    assert_eq!(
        from_start.errors.matches("Warning: ").count(),
        2,
        "{}",
        from_start.errors
    );
    assert!(
        from_start
            .errors
            .contains("Error: '!' runs a shell at an interactive prompt only\n")
    );
    let from_prompt = said(&format!("load {}\nquit\n", outer.display()));
    assert_eq!(
        from_prompt.output,
        format!("PostMark v1.51 : 8/14/01\npm>{files}pm>")
    );
}

#[test]
fn quit_in_the_first_configuration_file_ends_the_session() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("f");
    std::fs::write(&path, "run\nquit\nrun\n").unwrap();
    let said = session(Edition::V1_5, Some(&path), &[], false, "run\n");
    assert_eq!((said.asked.len(), said.output.contains("pm>")), (1, false));
}

#[test]
fn missing_configuration_file_is_skipped_with_a_warning() {
    let said = session(
        Edition::V1_5,
        Some(Path::new("/nonexistent/f")),
        &[],
        false,
        "quit\n",
    );
    assert_eq!(said.output, "PostMark v1.51 : 8/14/01\npm>");
    assert!(
        said.errors
            .starts_with("Warning: cannot read configuration file '/nonexistent/f'")
    );
}

#[test]
fn file_that_loads_itself_reaches_the_depth_limit() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("f");
    std::fs::write(&path, format!("load {}\n", path.display())).unwrap();
    let said = said(&format!("load {}\nquit\n", path.display()));
    assert_eq!(said.output.matches("Reading").count(), LOAD_DEPTH_MAX);
    assert_eq!(said.errors.matches("Error").count(), 1);
    assert!(said.output.ends_with("\npm>"));
}

#[test]
fn files_that_load_each_other_without_end_are_stopped() {
    let directory = TempDir::new().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    let twice = format!("load {0}\nload {0}\n", path("twice"));
    std::fs::write(path("twice"), &twice).unwrap();
    let said = said(&format!("load {}\nset seed 7\nquit\n", path("twice")));
    assert_eq!(said.output.matches("Reading").count(), LOAD_DEPTH_MAX);
    assert_eq!(said.errors.matches("Error").count(), 1, "{}", said.errors);
    assert!(
        said.errors.contains(&path("twice")) && said.errors.contains("100 files"),
        "{}",
        said.errors
    );
    assert_eq!(
        said.code, 1,
        "a cycle is an error, though the prompt goes on"
    );
    // The nesting is not deep, but each of five files loads the next one ten times: 100,000 loads.
    let ten = |name: &str| format!("load {}\n", path(name)).repeat(10);
    for (name, next) in [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "f")] {
        std::fs::write(path(name), ten(next)).unwrap();
    }
    std::fs::write(path("f"), "").unwrap();
    let said = self::said(&format!("load {}\nload {}\nquit\n", path("a"), path("f")));
    assert_eq!(
        said.output.matches("Reading").count(),
        LOADS_MAX as usize + 1,
        "the prompt goes on"
    );
    assert_eq!(said.errors.matches("Error").count(), 1, "{}", said.errors);
    assert!(said.errors.contains("10000 files"), "{}", said.errors);
}

#[test]
fn output_is_not_appended_to_a_configuration_file_being_read() {
    let directory = TempDir::new().unwrap();
    let (outer, inner, link) = (
        directory.path().join("outer"),
        directory.path().join("inner"),
        directory.path().join("link"),
    );
    std::os::unix::fs::symlink(&outer, &link).unwrap();
    let texts = [
        format!(
            "run {0}\nshow {0}\nload {1}\n",
            outer.display(),
            inner.display()
        ),
        format!("show {}\nrun {}\n", link.display(), inner.display()),
    ];
    std::fs::write(&outer, &texts[0]).unwrap();
    std::fs::write(&inner, &texts[1]).unwrap();
    let said = said(&format!("load {}\nquit\n", outer.display()));
    assert_eq!(std::fs::read_to_string(&outer).unwrap(), texts[0]);
    assert_eq!(std::fs::read_to_string(&inner).unwrap(), texts[1]);
    assert_eq!(
        said.errors
            .matches("commands are being read from it")
            .count(),
        4,
        "{}",
        said.errors
    );
    // When the file is no longer being read, output is appended to it as in the original.
    let said = self::said(&format!(
        "load {}\nshow {}\nquit\n",
        inner.display(),
        inner.display()
    ));
    assert!(
        std::fs::read_to_string(&inner).unwrap().len() > texts[1].len(),
        "{}",
        said.errors
    );
}

#[test]
fn failed_or_interrupted_run_sets_the_exit_code() {
    let settings = PromptSettings::new(Edition::V1_5);
    let complete = RunEnd::Complete(figures(&settings, End::Complete));
    let dry = RunEnd::Complete(figures(&settings, End::OutOfFiles));
    for (ends, interactive, code, runs) in [
        (vec![complete, dry], false, 0, 3),
        (vec![RunEnd::Failed, complete], false, 1, 3),
        (vec![complete, RunEnd::Leave(130)], false, 130, 2),
        (vec![RunEnd::Leave(130)], true, 1, 3),
    ] {
        let said = session(
            Edition::V1_5,
            None,
            &ends,
            interactive,
            "run\nrun\nrun\nquit\n",
        );
        assert_eq!((said.code, said.asked.len()), (code, runs), "{ends:?}");
    }
    let said = session(
        Edition::V1_5,
        None,
        &[],
        false,
        "set location \nrun\nquit\n",
    );
    assert_eq!((said.code, said.asked.len()), (1, 0));
    assert!(
        said.errors
            .starts_with("Error: cannot run: the location is empty"),
        "{}",
        said.errors
    );
}

#[test]
fn long_lines_and_paths_that_are_not_utf8_are_accepted() {
    let mut input = b"set location /".to_vec();
    input.extend(std::iter::repeat_n(b'p', 4_000));
    input.extend(b"\xff 3\nrun\nquit\n");
    let mut fake = Fake::default();
    let mut output = Vec::new();
    let streams = Streams {
        output: &mut output,
        errors: &mut io::sink(),
    };
    let settings = PromptSettings::new(Edition::V1_5);
    let mut interpreter = Interpreter::new(settings, &mut fake, streams, false);
    let mut source = Plain::new(&input[..]);
    assert_eq!(interpreter.session(None, &mut source).unwrap(), 0);
    let (path, weight) = &fake.asked[0].paths()[0];
    assert_eq!((path.as_os_str().len(), *weight), (4_002, 3));
}
