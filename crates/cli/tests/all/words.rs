//! Terms that were replaced: none of them may occur in the sources, the documents or the README.
//! Only whole words count, in upper or lower case: `rung` is in `RUNG_MIN` and not in `wrung`.

use std::path::{Path, PathBuf};

/// A replaced term, and its replacement.
const REFUSED: [(&str, &str); 24] = [
    ("--at", "--target"),
    ("[[at]]", "[[target]]"),
    ("beyond-cache", "working-set"),
    ("no-settle", "no-sync-phases"),
    ("no-own-cost", "no-overhead"),
    ("no-slices", "no-series"),
    ("stuck-after", "stall-timeout"),
    ("--journal", "--ack-log"),
    ("verify-after", "verify-log"),
    ("postmark history", "postmark published"),
    ("ladder", "sweep"),
    ("ladders", "sweeps"),
    ("rung", "step"),
    ("rungs", "steps"),
    ("goal", "SLO"),
    ("own cost", "overhead"),
    ("own_cost", "overhead"),
    ("crew", "workers"),
    ("settle", "sync between phases"),
    ("settling", "sync between phases"),
    ("duty", "worker config"),
    ("stuck", "stalled"),
    ("stolen", "CPU steal"),
    ("with code 3", "exit status 3"),
];

/// Files in which a term has another meaning, by the end of their path.
const EXCEPTIONS: [(&str, &str); 2] = [
    // A directory listing that does not advance.
    ("engines/src/simulated/system.rs", "stuck"),
    // Rates that become steady.
    ("measure/src/steady.rs", "settling"),
];

/// Phrases that are hard to read, and must not occur in help, messages, reasons, the README, the
/// first pages and the guide.
const PHRASES: &str = "\
    anew, is no, are no, is none, are none, so many, what was said, are said, is said, say, \
    nothing where, nothing of, no matter, of it, give another, give a, leave one out, goes on, \
    went on, to its end, came back, hang together, cannot be told, is not told";

/// Numbers of the lines that contain a word, from 1.
fn lines_with(text: &str, word: &str) -> Vec<usize> {
    let is_whole = |line: &str, at: usize| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let is_outside = |neighbour: Option<char>| !neighbour.is_some_and(char::is_alphanumeric);
        // `--at` is not part of `--at-most`.
        is_outside(before) && is_outside(after) && !(word.starts_with('-') && after == Some('-'))
    };
    let has = |line: &str| line.match_indices(word).any(|(at, _)| is_whole(line, at));
    let lines = text.lines().enumerate();
    let found = lines.filter(|(_, line)| has(&line.to_ascii_lowercase()));
    found.map(|(number, _)| number + 1).collect()
}

/// The source files and documents below a directory.
fn texts(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if !name.starts_with('.') && name != "target" {
                texts(&path, found);
            }
        } else if ["rs", "md"]
            .iter()
            .any(|end| path.extension().is_some_and(|is| is == *end))
            && name != "words.rs"
        {
            found.push(path);
        }
    }
}

#[test]
fn replaced_terms_are_not_used() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap();
    let mut files = Vec::new();
    texts(&root, &mut files);
    assert!(files.len() > 400, "{}", files.len());
    let mut found = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let path = path.strip_prefix(&root).unwrap();
        for (word, instead) in REFUSED {
            if EXCEPTIONS.iter().any(|(end, excepted)| {
                path.ends_with(Path::new("crates").join(end)) && *excepted == word
            }) {
                continue;
            }
            let lines = lines_with(&text, word);
            found.extend(
                lines
                    .iter()
                    .map(|line| format!("{}:{line}: '{word}': write {instead}", path.display())),
            );
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn texts_for_users_contain_no_awkward_phrase() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let names = [
        "README.md",
        "CONTRIBUTING.md",
        "docs/getting-started.md",
        "docs/guide.md",
    ];
    let mut files = names.map(|name| root.join(name)).to_vec();
    let kept = std::fs::read_dir(crate::texts::kept()).unwrap();
    files.extend(kept.map(|entry| entry.unwrap().path()));
    files.push(root.join("crates/cli/src/commands/manual.toml"));
    assert_eq!(files.len(), 8, "{files:?}");
    let mut found = Vec::new();
    for path in files {
        // The texts of the classic prompt are those of the original.
        let text = std::fs::read_to_string(&path).unwrap();
        let text = text.replace("here is no ", "").replace("here are no ", "");
        let is_classic = |part: &str| {
            part.starts_with(" cli commands/classic") || part.starts_with(" campaign classic")
        };
        let parts = text
            .split_inclusive("====")
            .filter(|part| !is_classic(part));
        for (part, phrase) in
            parts.flat_map(|part| PHRASES.split(", ").map(move |phrase| (part, phrase)))
        {
            let lines: Vec<&str> = part.lines().collect();
            let shown = lines_with(part, phrase)
                .into_iter()
                .map(|line| lines[line - 1]);
            found.extend(shown.map(|line| format!("{}: '{phrase}': {line}", path.display())));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn only_whole_words_are_found() {
    assert_eq!(lines_with("a\nRUNG_MIN of rungs\nwrung", "rung"), [2]);
    assert_eq!(
        lines_with("run --at . and --at-most\n--attach\n--at-most", "--at"),
        [1]
    );
    assert_eq!(lines_with("nothing", "rung"), Vec::<usize>::new());
}
