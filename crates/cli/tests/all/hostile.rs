//! Configuration files, file names and arguments with harmful contents. The program refuses or
//! accepts them, and prints them without harmful characters.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use document::sanitize;
use proptest::prelude::*;
use record::Record;
use testkit::Shows;

use crate::commanded::command;
use crate::configured::configure;
use crate::handed::hand_over;
use crate::original::{self, ours};
use crate::support::interface::{postmark, program};
use crate::support::running::in_shell;
use crate::support::{Running, TestDir};

/// A file name that clears the screen, sets the title of the terminal, reverses the writing
/// direction and starts a new line. It is not valid UTF-8.
const HOSTILE: &[u8] = b"\x1b[2J\x1b]0;x\x07\xe2\x80\xae\xc2\x9b31m\r\npostmark: all is well\xff";
/// The sanitized form of [`HOSTILE`], up to the byte that is not UTF-8.
const SHOWN: &str = "\\x1b[2J\\x1b]0;x\\x07\\u{202e}\\u{9b}31m\\r\\npostmark: all is well";

/// Paths and contents of the files in a directory except Markdown, sorted by name.
fn files(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.retain(|path| path.extension().is_none_or(|extension| extension != "md"));
    let read = files.into_iter().map(|path| {
        let bytes = std::fs::read(&path).unwrap();
        (path, bytes)
    });
    read.collect()
}

fn seeds(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    files(
        &Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../fuzz/seeds")
            .join(target),
    )
}

fn finds(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    files(
        &Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/finds")
            .join(target),
    )
}

#[test]
fn fuzzing_seeds_are_accepted() {
    for target in ["config", "classic_config"] {
        assert!(!seeds(target).is_empty(), "{target}");
    }
    for (path, seed) in seeds("config") {
        assert!(configure(&seed), "{}", path.display());
    }
    seeds("classic_config")
        .iter()
        .for_each(|(_, seed)| command(seed));
}

#[test]
fn inputs_found_by_fuzzing_are_harmless() {
    for (path, find) in finds("config") {
        println!("{}", path.display());
        configure(&find);
    }
    for (path, find) in finds("classic_config") {
        println!("{}", path.display());
        command(&find);
    }
}

/// Random values for an option of a configuration file.
fn value() -> impl Strategy<Value = String> {
    let extremes = [
        "0",
        "1",
        "-1",
        "9223372036854775807",
        "-9223372036854775808",
        "\"18446744073709551615\"",
        "1e308",
        "-1e308",
        "1e-308",
        "nan",
        "inf",
        "true",
        "\"\"",
        "[]",
        "{}",
        "\"1..1\"",
        "\"0..18446744073709551615\"",
        "\"1073741824\"",
        "\"workers=1,4294967295\"",
        "\"1e-300%\"",
        "\"1e300..1e308:64\"",
        "\"tree:4294967295x64\"",
        "\"tree:1x64\"",
        "\"subdirs:16777216\"",
        "\"zipf:1e-300\"",
        "\"hot:1e-300%/100%\"",
        "\"compressible:100\"",
        "\"padded:200\"",
        "\"exponential:18446744073709551615ns\"",
        "\"18446744073709551615ns\"",
        "\"p99<18446744073709551615ns\"",
        "\"read=4294967295,create=4294967295\"",
        "\"lognormal:median=1,sigma=10,max=1\"",
        "\"histogram:0=1\"",
        "\"batch:18446744073709551615\"",
        "\"\\u001b[2J\\u202e\"",
    ];
    prop_oneof![
        4 => prop::sample::select(extremes.to_vec()).prop_map(str::to_owned),
        1 => any::<i64>().prop_map(|number| number.to_string()),
        1 => any::<f64>().prop_map(|number| format!("{number:e}")),
        1 => "[a-z0-9:=.,%x<-]{0,24}".prop_map(|text| format!("\"{text}\"")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, max_shrink_iters: 200,
        ..ProptestConfig::default() })]

    #[test]
    fn mutated_configuration_files_are_harmless(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop::option::weighted(0.8,
            value())), 1..4),
    ) {
        let seeds = seeds("config");
        let text = String::from_utf8(which.get(&seeds).1.clone()).unwrap();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for (line, value) in changes {
            let index = line.index(lines.len());
            match (lines[index].split_once('='), value) {
                (Some((name, _)), Some(value)) => lines[index] = format!("{name}= {value}"),
                (_, None) => lines[index].clear(),
                (None, Some(_)) => {}
            }
        }
        configure(lines.join("\n").as_bytes());
    }

    #[test]
    fn any_text_as_a_configuration_file_is_harmless(text in any::<String>()) {
        configure(text.as_bytes());
        command(text.as_bytes());
    }

    #[test]
    fn any_values_of_classic_commands_are_harmless(
        lines in prop::collection::vec(
            ("set (size|number|seed|transactions|location|subdirectories|read|write|bias \
                read|bias create|report)|show|run", ".{0,30}|[-+0-9 .,kKMx]{0,24}"),
            1..12,
        ),
    ) {
        let lines: Vec<String> = lines.iter().map(|(name, value)|
            format!("{name} {value}")).collect();
        command(lines.join("\n").as_bytes());
        command((lines.join("\n") + "\nrun\nshow\n").as_bytes());
    }
}

/// If POSTMARK_WRITE_GOLDEN is set, the test first writes `submission.json`, a seed of the fuzz
/// target `import`.
#[test]
fn seeds_of_imported_files_are_accepted() {
    if std::env::var_os("POSTMARK_WRITE_GOLDEN").is_some() {
        let record =
            Record::from_json(include_str!("../../../report/tests/golden/run.json")).unwrap();
        let submission = published::Submission::of(&record, "Jo Doe", "Ultra 5, ext4").unwrap();
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/import/submission.json");
        std::fs::write(path, submission.to_json()).unwrap();
    }
    let seeds = seeds("import");
    assert!(
        seeds
            .iter()
            .any(|(path, _)| path.ends_with("submission.json"))
    );
    for (path, seed) in &seeds {
        assert_eq!(hand_over(seed), 1, "{}", path.display());
        assert_eq!(
            hand_over(&[&seed[..], b"\n", seed].concat()),
            2,
            "{}",
            path.display()
        );
        let hostile = String::from_utf8_lossy(seed).replace("ext4", "\\u001b[2J\\u202e");
        hand_over(hostile.as_bytes());
        hand_over(&seed[..seed.len() / 2]);
    }
}

/// A test directory that contains a directory with the name [`HOSTILE`].
fn test_dir() -> (tempfile::TempDir, OsString) {
    let directory = original::directory();
    let name = OsString::from_vec(HOSTILE.to_vec());
    std::fs::create_dir(directory.path().join(&name)).unwrap();
    (directory, name)
}

/// Runs the program in a directory, and asserts that no character of its output could control a
/// terminal. Returns standard output, standard error and the exit status.
fn said(words: &[&OsStr], at: &Path) -> (String, String, Option<i32>) {
    let mut program = Command::new(ours());
    let ended = program
        .args(words)
        .current_dir(at)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let [output, errors] =
        [ended.stdout, ended.stderr].map(|stream| String::from_utf8(stream).unwrap());
    for stream in [&output, &errors] {
        let harmful =
            |character: char| !matches!(character, '\n' | '\t') && sanitize::is_harmful(character);
        assert!(!stream.contains(harmful), "{stream:?}");
        // The line break in the name must not start a new line of output.
        stream.does_not_show("\npostmark: all is well");
    }
    (output, errors, ended.status.code())
}

fn words<'a>(words: &[&'a str], name: &'a OsStr) -> Vec<&'a OsStr> {
    let given = |word: &&'a str| {
        if *word == "NAME" {
            name
        } else {
            OsStr::new(*word)
        }
    };
    words.iter().map(given).collect()
}

/// Options of a run that is too short for a VALID verdict.
const LITTLE: [&str; 6] = [
    "--files",
    "20",
    "--transactions",
    "20",
    "--no-overhead",
    "--target",
];

#[test]
fn run_in_a_directory_with_a_hostile_name_prints_it_sanitized() {
    let (directory, name) = test_dir();
    for format in ["text", "json", "classic", "terse"] {
        let run = [
            &["run", "--full", "--format", format][..],
            &LITTLE,
            &["NAME"],
        ]
        .concat();
        let (output, errors, code) = said(&words(&run, &name), directory.path());
        assert_eq!(code, Some(0), "{errors}");
        match format {
            "text" => assert!(output.contains(SHOWN), "{output}"),
            "json" => {
                let record = Record::from_json(&output).unwrap();
                assert!(
                    record.spec.targets[0]
                        .to_string_lossy()
                        .starts_with("\u{1b}[2J"),
                    "{output}"
                );
            }
            _ => {}
        }
    }
    let plan = [
        &["plan"][..],
        &["--files", "20", "--transactions", "50", "--target", "NAME"],
    ]
    .concat();
    let (output, errors, code) = said(&words(&plan, &name), directory.path());
    assert_eq!(code, Some(0), "{errors}");
    output.shows(SHOWN);
}

#[test]
fn hostile_report_paths_are_printed_sanitized() {
    let (directory, name) = test_dir();
    let file = OsString::from_vec([HOSTILE, b".txt"].concat());
    let run = [&["run", "--output", "NAME"][..], &LITTLE, &["."]].concat();
    let (output, errors, code) = said(&words(&run, &file), directory.path());
    assert_eq!((code, &output[..]), (Some(0), ""), "{errors}");
    errors.shows(&format!("report: {SHOWN}\\xff.txt"));
    // A directory cannot be a report file.
    let (_, errors, code) = said(&words(&run, &name), directory.path());
    assert_eq!(code, Some(2), "{errors}");
    errors.begins_with(&format!("postmark: cannot write to {SHOWN}\\xff: "));
}

#[test]
fn refusals_print_hostile_paths_sanitized() {
    let (directory, name) = test_dir();
    let gone = OsString::from_vec([HOSTILE, b"gone"].concat());
    let at_gone = [&["run"][..], &LITTLE, &["NAME"]].concat();
    for (given, name, code) in [
        (&at_gone[..], &gone, 2),
        (&["run", "--config", "NAME"][..], &gone, 2),
        (
            &["run", "--mix", "read=1", "--size", "histogram@NAME"][..],
            &gone,
            2,
        ),
        (&["run", "--live", "NAME"][..], &name, 2),
        (&["clean", "NAME"][..], &name, 0),
        (&["clean", "NAME"][..], &gone, 1),
        (&["verify-log", ".", "--ack-log", "NAME"][..], &gone, 2),
        (&["verify-log", ".", "--ack-log", "NAME"][..], &name, 2),
        // If the configuration file is missing, the prompt starts, as in the original.
        (&["NAME"][..], &gone, 0),
    ] {
        let (output, errors, ended) = said(&words(given, name), directory.path());
        assert_eq!(ended, Some(code), "{given:?}: {output}{errors}");
        if !given.contains(&"histogram@NAME") {
            assert!(
                format!("{output}{errors}").contains("\\x1b[2J"),
                "{given:?}: {output}{errors}"
            );
        }
    }
}

#[test]
fn hostile_arguments_are_refused_and_printed_sanitized() {
    let (directory, _) = test_dir();
    let word = OsString::from_vec(HOSTILE[..HOSTILE.len() - 1].to_vec());
    for given in [
        &["run", "--preset", "NAME"][..],
        &["run", "--files", "NAME"],
        &["run", "--mix", "NAME"],
        &["run", "--size", "NAME"],
        &["run", "--durability", "NAME"],
        &["run", "--cache", "NAME"],
        &["run", "--for", "NAME"],
        &["run", "--sweep", "NAME"],
        &["run", "--slo", "NAME"],
        &["run", "NAME"],
        &["clean"],
    ] {
        let (output, errors, code) = said(&words(given, &word), directory.path());
        assert_eq!((code, &output[..]), (Some(2), ""), "{given:?}: {errors}");
        assert!(
            given == ["clean"] || errors.contains("\\x1b[2J"),
            "{given:?}: {errors}"
        );
    }
    // The value of `--files` is not UTF-8.
    let (_, errors, code) = said(
        &[
            OsStr::new("run"),
            OsStr::new("--files"),
            OsStr::from_bytes(HOSTILE),
        ],
        directory.path(),
    );
    assert_eq!(code, Some(2), "{errors}");
}

#[test]
fn hostile_configuration_files_are_refused_and_printed_sanitized() {
    let (directory, name) = test_dir();
    let file = directory.path().join("hostile.toml");
    for text in [
        "files = \"\u{1b}[2J\u{202e}\"\n",
        "files = 5 \u{1b}[2J\n",
        "\u{9b}31m\u{202e} = 1\n",
        "mix = \"re\u{200b}ad=1\"\n",
        "\"\\u001b[2J\\npostmark: all is well\" = 1\n",
    ] {
        std::fs::write(&file, text).unwrap();
        let (output, errors, code) = said(
            &words(&["plan", "--config", "hostile.toml"], &name),
            directory.path(),
        );
        assert_eq!((code, &output[..]), (Some(2), ""), "{errors}");
        errors.begins_with("postmark: invalid configuration file hostile.toml: ");
    }
    // When `plan` writes a configuration file with harmful values, the file contains no harmful
    // characters.
    std::fs::write(
        &file,
        "engine = \"null\"\n[[target]]\npath = \"/\\u001b[2J\\n\\u202e\"\n",
    )
    .unwrap();
    let plan = ["plan", "--config", "hostile.toml", "--format", "toml"];
    let (output, errors, code) = said(&words(&plan, &name), directory.path());
    assert_eq!(code, Some(0), "{errors}");
    std::fs::write(&file, &output).unwrap();
    assert_eq!(said(&words(&plan, &name), directory.path()).0, output);
    output.shows("\\U0000001b[2J\\U0000000a\\U0000202e");
}

/// Without a limit, the TOML parser would need gigabytes of memory for these files.
#[test]
fn configuration_files_with_very_many_keys_are_refused_in_bounded_memory() {
    let test_dir = TestDir::in_memory();
    let study = "targets = [\"/a\"]\n[[workload]]\npreset = \"mail\"\n[axes]\nfiles = [";
    for (begin, part, end, words) in [
        ("", "x.a.b.c=1\n", "", "more than 262144 keys"),
        ("", "x={a={a=1}}\n", "", "more than 262144 keys"),
        ("x = [", "{},", "]", "more than 262144 keys"),
        (study, "1,", "]\n", "more than 262144 keys"),
    ] {
        let text = [begin, &part.repeat((8 << 20) / part.len()), end].concat();
        let file = test_dir.path().join("file.toml");
        std::fs::write(&file, text).unwrap();
        for words_of in [
            &["plan", "--target", "/", "--config"][..],
            &["study", "--dry-run"],
        ] {
            let mut command = Running::command(program());
            command.args(words_of).arg(&file);
            let mut limited = in_shell("ulimit -v 524288; exec \"$0\" \"$@\"", &command);
            limited.env("POSTMARK_ARCHIVE", test_dir.path().join("archive.db"));
            Running::run_to_end(limited, test_dir.path())
                .code(2)
                .shows(words);
        }
    }
    // A study with too many values of an axis is refused before it compares the values with each
    // other.
    let many: Vec<String> = (0..100_000).map(|number| number.to_string()).collect();
    let file = test_dir.path().join("study.toml");
    std::fs::write(&file, format!("{study}{}]\n", many.join(","))).unwrap();
    let mut command = postmark("study --dry-run");
    command.arg(&file);
    command.env("POSTMARK_ARCHIVE", test_dir.path().join("archive.db"));
    Running::run_to_end(command, test_dir.path())
        .code(2)
        .shows("100000 cells");
}

/// With low resource limits, a run is refused or completes. In both cases it leaves no files, and
/// it never aborts.
#[test]
fn resource_limits_that_are_too_low_refuse_a_run() {
    let test_dir = TestDir::in_memory();
    let target = test_dir.directory("target");
    let program_kib = std::fs::metadata(program()).unwrap().len() >> 10;
    let run = |limit: &str| {
        let mut command = postmark(
            "run --mix read=1,create=1 --files 100 --transactions 500 --workers 4 --quiet \
             --no-overhead --target",
        );
        command.arg(&target);
        let mut limited = in_shell(&format!("ulimit {limit}; exec \"$0\" \"$@\""), &command);
        limited.env("POSTMARK_ARCHIVE", test_dir.path().join("archive.db"));
        Running::run_to_end(limited, &target)
    };
    let (mut refused, mut done) = (0, 0);
    // All limits are above the size of the program: below this size, the kernel would end the
    // program before it starts.
    for more_kib in (20..220).step_by(20) {
        let limit_kib = program_kib + more_kib * 1_000;
        let ended = run(&format!("-v {limit_kib}"));
        match ended.status.code() {
            Some(0) => done += 1,
            Some(2) => {
                ended
                    .shows("address space")
                    .shows(&format!("{limit_kib} KiB"));
                refused += 1;
            }
            _ => drop(ended.code(2)),
        }
        assert!(
            crate::support::names(&target).unwrap().is_empty(),
            "{ended}"
        );
    }
    assert!(refused > 0 && done > 0, "{refused} refused, {done} done");
    for stack_kib in [64, 512] {
        run(&format!("-s {stack_kib}"))
            .code(2)
            .shows(&format!("limit of the stack is {stack_kib} KiB"));
    }
}
