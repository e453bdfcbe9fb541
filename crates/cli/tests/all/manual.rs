//! `postmark man` and `postmark completions`: manual pages and completion scripts contain all
//! commands and options, and shells accept the scripts.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::original;

fn output(arguments: &[&str], directory: &Path) -> String {
    let output = Command::new(original::ours())
        .args(arguments)
        .current_dir(directory)
        .output()
        .unwrap();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// The text of each manual page, by its name.
fn pages(directory: &Path) -> BTreeMap<String, String> {
    output(&["man", "--output", "man1"], directory);
    let entries = fs::read_dir(directory.join("man1")).unwrap();
    entries
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            (
                name.strip_suffix(".1").unwrap().to_owned(),
                fs::read_to_string(&path).unwrap(),
            )
        })
        .collect()
}

/// The options at the start of lines in the help of a command.
fn options(help: &str) -> Vec<&str> {
    let lines = help.lines().map(str::trim_start);
    let starts = lines.map(|line| {
        let has_short = line.starts_with('-') && line.get(2..4) == Some(", ");
        if has_short { &line[4..] } else { line }
    });
    let options = starts.filter(|line| line.starts_with("--"));
    options
        .map(|line| {
            line.split(|end: char| end != '-' && !end.is_alphanumeric())
                .next()
                .unwrap()
        })
        .filter(|option| option.len() > 2)
        .collect()
}

#[test]
fn each_command_has_a_manual_page_with_all_its_options() {
    let test_dir = original::directory();
    let pages = pages(test_dir.path());
    assert!(pages.len() > 18, "{:?}", pages.keys());
    for (name, page) in &pages {
        let mut words: Vec<&str> = name.splitn(2, '-').skip(1).collect();
        for parent in ["published", "site"] {
            let below = words.first().and_then(|word| word.strip_prefix(parent));
            if let Some(command) = below.and_then(|word| word.strip_prefix('-')) {
                words = vec![parent, command];
            }
        }
        words.push("--help");
        let help = output(&words, test_dir.path());
        let options = options(&help);
        assert!(options.contains(&"--help"), "{name}: {options:?}");
        for option in options {
            let escaped = option.replace('-', "\\-");
            assert!(
                page.contains(&format!("\\fB{escaped}\\fR")),
                "{name}: {option}"
            );
        }
        for section in [
            "NAME",
            "SYNOPSIS",
            "DESCRIPTION",
            "OPTIONS",
            "\"EXIT STATUS\"",
            "ENVIRONMENT",
            "FILES",
        ] {
            assert!(
                page.contains(&format!("\n.SH {section}\n")),
                "{name}: {section}"
            );
        }
    }
    for name in ["postmark", "postmark-run", "postmark-show"] {
        assert!(pages[name].contains("\n.SH EXAMPLES\n"), "{name}");
    }
    for (name, page) in &pages {
        assert!(
            !page.contains("fR\n\n.TP"),
            "{name}: an option without a text"
        );
    }
    assert_eq!(output(&["man"], test_dir.path()), pages["postmark"]);
    for (words, page) in [
        ("man study", "postmark-study"),
        ("man published show", "postmark-published-show"),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        assert_eq!(output(&words, test_dir.path()), pages[page], "{words:?}");
    }
}

#[test]
fn examples_in_manual_pages_succeed() {
    let test_dir = original::directory();
    let pages = pages(test_dir.path());
    // The examples of `run` are performed before those of commands that read archived runs.
    let order = [
        "postmark",
        "postmark-run",
        "postmark-plan",
        "postmark-learn",
        "postmark-list",
        "postmark-show",
        "postmark-tag",
        "postmark-note",
        "postmark-export",
        "postmark-import",
        "postmark-clean",
        "postmark-completions",
        "postmark-man",
    ];
    let mut commands = Vec::new();
    for name in order {
        let (_, examples) = pages[name].split_once("\n.SH EXAMPLES\n").unwrap();
        let (examples, _) = examples.split_once("\n.SH ").unwrap();
        let lines = examples
            .split("\n.EX\n")
            .skip(1)
            .map(|rest| rest.split("\n.EE").next().unwrap());
        commands.extend(lines.map(plain));
    }
    assert_eq!(
        pages
            .values()
            .filter(|page| page.contains("\n.SH EXAMPLES\n"))
            .count(),
        order.len()
    );
    crate::documents::perform("manual pages", &commands);
}

/// Removes escapes of roff from a text.
fn plain(text: &str) -> String {
    text.replace("\\*(Aq", "'")
        .replace("\\-", "-")
        .replace("\\\\", "\\")
}

#[test]
fn pages_are_well_formed() {
    let test_dir = original::directory();
    let pages = pages(test_dir.path());
    let groff = original::tool("/usr/bin/groff", "apt-get install groff");
    let mandoc = original::tool("/usr/bin/mandoc", "apt-get install mandoc");
    for name in pages.keys() {
        let page = format!("man1/{name}.1");
        if let Some(groff) = groff {
            let checked = Command::new(groff)
                .args(["-man", "-ww", "-Kutf8", "-Tutf8", "-z", &page])
                .current_dir(test_dir.path())
                .output()
                .unwrap();
            assert!(checked.status.success(), "{name}");
            assert_eq!(String::from_utf8_lossy(&checked.stderr), "", "{name}");
        }
        if let Some(mandoc) = mandoc {
            let checked = Command::new(mandoc)
                .args(["-Tlint", "-Wunsupp", &page])
                .current_dir(test_dir.path())
                .output()
                .unwrap();
            assert_eq!(String::from_utf8_lossy(&checked.stdout), "", "{name}");
        }
    }
}

#[test]
fn words_without_a_page_are_refused_with_advice_and_write_nothing() {
    let test_dir = original::directory();
    for (words, told) in [
        (&["man", "nothing"][..], "use postmark man --output DIR"),
        (
            &["man", "man1"],
            "there is no such command (commands: run, plan",
        ),
        (&["man", "nfs"], "(use postmark help nfs)"),
        (&["man", "published", "run"], "page of 'published run'"),
        (&["man", "run", "-o", "man1"], "cannot be used with"),
        (&["man", "--force"], "--output"),
    ] {
        let refused = Command::new(original::ours())
            .args(words)
            .env("COLUMNS", "1000")
            .current_dir(test_dir.path())
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{words:?}: {errors}");
        assert!(errors.contains(told), "{words:?}: {errors}");
    }
    assert_eq!(fs::read_dir(test_dir.path()).unwrap().count(), 0);
}

#[test]
fn pages_are_overwritten_only_with_force() {
    let test_dir = original::directory();
    output(&["man", "-o", "a/b"], test_dir.path());
    let page = test_dir.path().join("a/b/postmark-run.1");
    fs::write(&page, "mine").unwrap();
    fs::remove_file(test_dir.path().join("a/b/postmark.1")).unwrap();
    let refused = Command::new(original::ours())
        .args(["man", "-o", "a/b"])
        .current_dir(test_dir.path())
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--force"));
    assert_eq!(fs::read_to_string(&page).unwrap(), "mine");
    assert!(
        !test_dir.path().join("a/b/postmark.1").exists(),
        "nothing is written"
    );
    output(&["man", "-o", "a/b", "--force"], test_dir.path());
    assert!(fs::read_to_string(&page).unwrap().contains("POSTMARK-RUN"));
}

/// Runs a script in a shell without user configuration, and returns its standard output.
fn shell(program: &str, arguments: &[&str], script: &str, directory: &Path) -> String {
    let output = Command::new(program)
        .args(arguments)
        .args(["-c", script])
        .current_dir(directory)
        .env("HOME", directory)
        .env("XDG_CONFIG_HOME", directory)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && errors.is_empty(),
        "{program}: {errors}"
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn bash_completes_commands_and_options() {
    let test_dir = original::directory();
    fs::write(
        test_dir.path().join("postmark.bash"),
        output(&["completions", "bash"], test_dir.path()),
    )
    .unwrap();
    let complete = |words: &str| {
        let script = format!(
            "source ./postmark.bash; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - \
             1)); _postmark postmark \"${{COMP_WORDS[COMP_CWORD]}}\" \
             \"${{COMP_WORDS[COMP_CWORD-1]}}\"; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        shell("bash", &["--norc"], &script, test_dir.path())
    };
    assert_eq!(complete("postmark run --targ"), "--target\n");
    assert_eq!(complete("postmark verify-"), "verify-log\n");
    assert_eq!(complete("postmark run --preset var"), "varmail\n");
    assert_eq!(
        complete("postmark run --engine si"),
        complete("postmark run --engine nothing")
    );
    assert_eq!(complete("postmark run --engine po"), "posix\n");
}

#[test]
fn fish_completes_commands_and_options() {
    if original::tool("/usr/bin/fish", "apt-get install fish").is_none() {
        return;
    }
    let test_dir = original::directory();
    fs::write(
        test_dir.path().join("postmark.fish"),
        output(&["completions", "fish"], test_dir.path()),
    )
    .unwrap();
    let complete = |words: &str| {
        let script = format!(
            "source postmark.fish; complete -C '{words}' | string replace -r '\\t.*' ''; true"
        );
        shell("fish", &["--no-config"], &script, test_dir.path())
    };
    assert_eq!(complete("postmark run --targ"), "--target\n");
    assert_eq!(complete("postmark run --preset var"), "varmail\n");
}

#[test]
fn zsh_reads_the_completions() {
    if original::tool("/usr/bin/zsh", "apt-get install zsh").is_none() {
        return;
    }
    let test_dir = original::directory();
    fs::write(
        test_dir.path().join("_postmark"),
        output(&["completions", "zsh"], test_dir.path()),
    )
    .unwrap();
    shell("zsh", &["-f"], "zsh -n _postmark", test_dir.path());
    let script = "autoload -Uz compinit; fpath=($PWD $fpath); compinit -u -D; autoload +X \
                  _postmark; print $_comps[postmark]";
    assert_eq!(
        shell("zsh", &["-f"], script, test_dir.path()),
        "_postmark\n"
    );
}
