//! The help: screens about tasks with examples that are valid, the help of commands, and advice for
//! words of other programs.

use std::path::Path;

use cli::args::topics::{TOPICS, Topic};
use cli::args::{self, CommandLine};
use testkit::Shows;

use crate::original::{self, answer, ended, split};

/// Height of a screen in lines, and width of a screen in columns.
const SCREEN: (usize, usize) = (42, 80);

/// The commands in the screen of a topic, without the launcher before them.
fn examples(text: &str) -> Vec<String> {
    let joined = text.replace("\\\n", " ");
    let lines = joined.lines().filter_map(|line| line.strip_prefix("  "));
    let of_program = lines.filter_map(|line| {
        let begins = line.starts_with("mpirun ") || line.split(' ').next() == Some("postmark");
        let start = line.find("postmark").filter(|_| begins)?;
        Some(line[start..].to_owned())
    });
    of_program.collect()
}

/// The words of a command, without their quotes.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for character in command.chars() {
        match character {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(String::new()),
            other => words.last_mut().unwrap().push(other),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn topics_fit_a_screen_and_have_valid_examples() {
    for topic in TOPICS {
        let (name, text) = (topic.name, topic.text());
        assert!(text.lines().count() <= SCREEN.0, "{name}");
        for line in text.lines() {
            assert!(line.chars().count() <= SCREEN.1, "{name}: {line}");
        }
        let examples = examples(&text);
        assert!(examples.len() >= 5, "{name}: {examples:?}");
        for example in examples {
            let parsed = args::command().try_get_matches_from(words(&example));
            let read = parsed.and_then(|matches| CommandLine::read(&matches));
            assert!(read.is_ok(), "{name}: {example}: {}", read.unwrap_err());
        }
    }
}

#[test]
fn help_prints_topics_and_the_help_of_commands() {
    let at = original::directory();
    for topic in TOPICS {
        assert_eq!(answer(&["help", topic.name], at.path()), topic.text());
    }
    answer(&["help", "hosts"], at.path()).shows_all("MPI | cargo build --release -p cli");
    answer(&["--version"], at.path()).shows_all("MPI (ranks | TLS (s3:// | forget (crash");
    let of_command = answer(&["help", "plan"], at.path());
    assert_eq!(of_command, answer(&["plan", "--help"], at.path()));
    let below = answer(&["help", "published", "show"], at.path());
    assert_eq!(below, answer(&["published", "show", "--help"], at.path()));
    assert_eq!(answer(&["help"], at.path()), answer(&["-h"], at.path()));
    answer(&["-h"], at.path()).shows_all("Measure:\n  run  | Compare:\n  compare | help TOPIC");
    for word in ["trust", "Valid", "doubtful"] {
        let text = Topic::find("verdict").unwrap().text();
        assert_eq!(answer(&["help", word], at.path()), text, "{word}");
    }
    for (words, told) in [
        (
            "help sweeep",
            "did you mean 'postmark help sweep'? (topics: sweep, nfs, s3, durability, cache, \
             ci, hosts, study, scratch, verdict, classic; commands: run, plan",
        ),
        ("help mail", "'postmark presets mail' explains the preset"),
        ("help intervall", ": did you mean 'postmark help study' or"),
        ("help frobnicate", "a topic nor a command (topics: sweep"),
        ("help published nothing", "commands: run, plan"),
        ("trust", "did you mean 'postmark help trust'?"),
    ] {
        refused(words, at.path(), told);
    }
}

#[test]
fn list_of_commands_names_every_topic_and_no_alias_is_a_command_or_a_second_topic() {
    let list = args::command().render_help().to_string();
    for topic in TOPICS {
        list.shows(&format!("\n  {:11}  ", topic.name));
    }
    let command = args::command();
    let mut words: Vec<&str> = TOPICS.iter().map(|topic| topic.name).collect();
    for alias in TOPICS.iter().flat_map(|topic| topic.aliases) {
        assert!(command.find_subcommand(alias).is_none(), "{alias}");
        words.push(alias);
    }
    let count = words.len();
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), count, "{words:?}");
}

#[test]
fn topic_about_scratch_file_systems_and_the_documents_have_all_keys() {
    let reference = include_str!("../../../../docs/reference/scratch-file-systems.md");
    let text = Topic::find("make").unwrap().text();
    for key in scratch::KEYS {
        text.shows(&format!("\n  {} ", key.name)).shows(key.example);
        text.shows(key.default);
        reference.shows(&format!("\n| `{}` |", key.name));
    }
    text.shows(&scratch::FileSystemKind::names());
    assert!(!text.contains(['{', '}']), "{text}");
}

#[test]
fn reasons_in_the_topic_about_verdicts_are_rules_of_the_reference() {
    let reference = include_str!("../../../../docs/reference/rules.md");
    let text = Topic::find("verdict").unwrap().text();
    let (_, reasons) = text.split_once("The commonest reasons").unwrap();
    let rows = reasons.lines().filter_map(|line| line.strip_prefix("  "));
    let rules: Vec<&str> = rows
        .filter(|row| !row.starts_with("postmark "))
        .flat_map(|row| row.split("  ").next().unwrap().split(", "))
        .collect();
    assert!(rules.len() >= 10, "{rules:?}");
    for rule in rules {
        reference.shows(&format!("**`{rule}`** ("));
    }
}

fn refused(words: &str, at: &Path, told: &str) {
    let said = ended(&split(words), at);
    let errors = String::from_utf8(said.errors).unwrap();
    assert_eq!(said.code, Some(2), "{words}: {errors}");
    let line = errors.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(line.contains(told), "{words}: {line}");
}

#[test]
fn short_help_has_a_line_for_each_option() {
    let at = original::directory();
    let short = answer(&["run", "-h"], at.path());
    short.shows_all("What to run: | Load: | --[no-]check | -t, --target <PATH> | Expert:");
    let long = answer(&["run", "--help"], at.path());
    long.shows_all("--no-check\n | 99 % of all operations must be faster");
    assert!(short.lines().count() < 130 && long.lines().count() > 300);
}

/// Commands with options of other programs, each with a text of the advice that is printed.
const OTHERS: &str = "
    run --clients 4 | (use --workers N)
    run --hosts a,b | 'postmark help hosts' has examples)
    run --json | (use --format json)
    show last --json | (use --format json)
    run --iodepth 8 | (use --depth N
    run --runtime=60 | (use --for TIME, like --for 60s)
    run --numjobs 4 | (use --workers N)
    run --preset varmail -t server:/export | (an NFS server is nfs://SERVER/PATH, as in
    run --preset varmail --workers 8 --depth 4 -t . | (use --workers 32 for as many at once)
    mail | did you mean 'postmark run --preset mail'?
    mail --for 60s | did you mean 'postmark run --preset mail'?
    list --clients 4 | (see 'postmark list --help')
";

#[test]
fn words_of_other_programs_have_advice() {
    let at = original::directory();
    let rows = OTHERS.lines().filter_map(|row| row.split_once(" | "));
    for (words, told) in rows {
        refused(words.trim(), at.path(), told);
    }
}
