//! The commands of README and of the first page that begin with the program's name, or hand something to it, are run in their
//! order: paths, sizes and times are made small.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::original;

/// What makes a run of the documents small.
const SCALED: [(&str, &str); 9] = [
    // A run of a moment, in memory, is INVALID.
    (" --strict", ""),
    ("cargo run --release -- run", "postmark run"),
    (" --files 20k", " --files 100"),
    (" --files 10k", " --files 100"),
    (" --transactions 100k", " --transactions 300"),
    (" --working-set 4x", " --files 100"),
    ("set number 20000", "set number 100"),
    ("set transactions 100000", "set transactions 300"),
    (
        " --preset paper-20000-100000",
        " --preset paper-20000-100000 --files 100 --transactions 300",
    ),
];

/// Commands that need minutes or empty the machine's caches: what they would do is shown instead.
const PLANNED: [&str; 3] = [" --sweep ", " --steady ", " --cache cold"];

/// The commands of a document: lines of blocks of code that begin with the program's name, or hand something to it.
fn commands(document: &str) -> Vec<String> {
    let joined = document.replace("\\\n", " ");
    let lines = joined.lines().filter_map(|line| line.strip_prefix("    "));
    let is_ours = |line: &&str| {
        ["cargo run --release -- run", "postmark", "printf "]
            .iter()
            .any(|begin| line.starts_with(begin))
    };
    lines.filter(is_ours).map(str::to_owned).collect()
}

/// A command in small, on a target that is there.
fn scaled(command: &str, target: &Path) -> String {
    let mut command = SCALED
        .iter()
        .fold(command.to_owned(), |command, (from, to)| command.replace(from, to));
    let words = command.split(' ').map(|word| {
        let is_target = ["/mnt/", "/srv/"].iter().any(|begin| word.starts_with(begin));
        let (path, rest) = word
            .split_once('\\')
            .map_or((word, ""), |(path, _)| (path, &word[path.len()..]));
        if is_target && !path.is_empty() {
            format!("{}{rest}", target.display())
        } else {
            word.to_owned()
        }
    });
    let mut words: Vec<String> = words.filter(|word| !word.is_empty()).collect();
    if PLANNED.iter().any(|slow| command.contains(slow)) {
        return words.join(" ").replacen("postmark run", "postmark plan", 1);
    }
    for index in 1..words.len() {
        match words[index - 1].as_str() {
            "--for" => words[index] = "200ms".to_owned(),
            "--warm-up" => words[index] = "10ms".to_owned(),
            _ => {}
        }
    }
    command = words.join(" ");
    if command.starts_with("postmark run") {
        if command.contains(" --preset ") && !command.contains(" --files ") {
            command.push_str(" --files 100");
        }
        if !command.contains(" --for ") && !command.contains(" --transactions ") {
            command.push_str(" --for 200ms");
        }
    }
    command
}

#[test]
fn the_commands_of_the_documents_are_understood() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for document in ["README.md", "docs/getting-started.md"] {
        let scene = original::directory();
        let [target, programs] = ["target", "programs"].map(|name| scene.path().join(name));
        fs::create_dir(&target).unwrap();
        fs::create_dir(&programs).unwrap();
        std::os::unix::fs::symlink(original::ours(), programs.join("postmark")).unwrap();
        let commands = commands(&fs::read_to_string(root.join(document)).unwrap());
        assert!(commands.len() > 10, "{document}: {commands:?}");
        for command in commands {
            let scaled = scaled(&command, &target);
            let output = Command::new("sh")
                .args(["-c", &scaled])
                .current_dir(scene.path())
                .env(
                    "PATH",
                    format!("{}:{}", programs.display(), std::env::var("PATH").unwrap()),
                )
                .env("POSTMARK_ARCHIVE", scene.path().join("archive.db"))
                .output()
                .unwrap();
            assert!(
                output.status.success(),
                "{document}: {command}\n{scaled}\n{}{}",
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
        }
        assert_eq!(
            fs::read_dir(&target).unwrap().count(),
            0,
            "{document}: something is left"
        );
    }
}

#[test]
fn the_short_help_has_ten_options_and_three_examples() {
    let directory = original::directory();
    let [short, long] = ["-h", "--help"].map(|help| original::answer(&["run", help], directory.path()));
    let begin = |text: &str, begins: &str| text.lines().filter(|line| line.starts_with(begins)).count();
    assert_eq!(
        (begin(&short, "      --"), begin(&short, "  postmark run ")),
        (10, 3),
        "{short}"
    );
    assert!(short.lines().count() <= 40, "{short}");
    assert!(begin(&long, "      --") > 40, "{long}");
    let [examples, options] = ["Examples:", "Options:"].map(|word| long.find(word).unwrap());
    assert!(examples < options, "{long}");
}
