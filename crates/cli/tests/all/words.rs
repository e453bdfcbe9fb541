//! None of the replaced terms may occur in the sources, the documents or the README. Only whole
//! words count, in upper or lower case: `rung` is in `RUNG_MIN` and not in `wrung`.

use std::path::{Path, PathBuf};

/// A replaced term, and its replacement.
const REFUSED: [(&str, &str); 28] = [
    ("--at", "--target"),
    ("[[at]]", "[[target]]"),
    ("beyond-cache", "working-set"),
    ("no-settle", "no-sync-phases"),
    ("no-own-cost", "no-overhead"),
    ("no-slices", "no-series"),
    ("stuck-after", "stall-timeout"),
    ("--journal", "--ack-log"),
    ("--storage", "--engine"),
    ("--no-room-check", "--no-space-check"),
    ("--subdirs", "--dirs"),
    ("--edition", "--compat"),
    ("--steps", "--calls"),
    ("verify-after", "verify-log"),
    ("ladder", "sweep"),
    ("ladders", "sweeps"),
    ("rung", "load level"),
    ("rungs", "load levels"),
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

/// Pairs of the end of a file's path and a term that has another meaning in that file.
const EXCEPTIONS: [(&str, &str); 4] = [
    // Old names of options are answered with the new ones.
    ("cli/src/args/similar.rs", "--storage"),
    ("cli/src/args/similar.rs", "--steps"),
    // `stuck` is a directory listing that does not advance.
    ("engines/src/simulated/system.rs", "stuck"),
    // A rate is `settling` until it is steady.
    ("measure/src/steady.rs", "settling"),
];

/// Phrases that make a reader stop.
const PHRASES: &str = include_str!("words/phrases.txt");
/// Maximum number of uses of [`PHRASES`] in all comments together.
const COMMENTS_MAX: usize = 60;

/// Numbers (from 1) of the lines that contain a word.
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

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
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
    let root = root();
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

/// A comment, or a paragraph of a document. Its lines are joined, so that phrases are found across
/// line breaks.
struct Passage {
    path: String,
    text: String,
    is_comment: bool,
}

/// Joins consecutive lines into passages. `strip` returns the text of a line, or `None` for a line
/// that separates two passages.
fn passages<'a>(text: &'a str, strip: impl Fn(&'a str) -> Option<&'a str>) -> Vec<String> {
    let mut found = vec![String::new()];
    for line in text.lines() {
        match strip(line) {
            Some(line) => {
                let last = found.last_mut().unwrap();
                last.push_str(line.trim());
                last.push(' ');
            }
            None => found.push(String::new()),
        }
    }
    found.retain(|passage| !passage.is_empty());
    found
}

/// All comments, documents and texts for users.
fn everything_that_is_read() -> Vec<Passage> {
    let root = root();
    let mut files = Vec::new();
    texts(&root, &mut files);
    let kept = std::fs::read_dir(crate::texts::kept()).unwrap();
    files.extend(kept.map(|entry| entry.unwrap().path().canonicalize().unwrap()));
    files.push(root.join("crates/cli/src/commands/manual.toml"));
    files.sort();
    let mut found = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let is_comment = path.extension().is_some_and(|is| is == "rs");
        let path = path.strip_prefix(&root).unwrap().display().to_string();
        let read = if is_comment {
            passages(&text, |line| {
                let line = line.trim_start();
                let trailing = || Some(line.split_once(" // ")?.1);
                let comment = line.strip_prefix("//").or_else(trailing)?;
                Some(comment.trim_start_matches(['/', '!']))
            })
        } else if path.ends_with("messages.txt") {
            // The classic prompt uses the texts of the original PostMark, so these texts are not
            // checked.
            let is_classic = |part: &str| {
                part.starts_with(" cli commands/classic") || part.starts_with(" campaign classic")
            };
            let parts = text.split("====").filter(|part| !is_classic(part));
            parts.flat_map(|part| passages(part, Some)).collect()
        } else {
            passages(&text, |line| (!line.trim().is_empty()).then_some(line))
        };
        found.extend(read.into_iter().map(|text| Passage {
            path: path.clone(),
            text,
            is_comment,
        }));
    }
    found
}

/// The file `words/reviewed.txt` lists every use of the phrases in `PHRASES`. A change that adds a
/// use must also change this list, so that reviewers see it.
#[test]
fn uses_of_known_phrases_are_reviewed() {
    let phrases = PHRASES
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let alternatives: Vec<String> = phrases
        .map(|phrase| match phrase.starts_with('(') {
            true => phrase.to_owned(),
            false => regex::escape(phrase),
        })
        .collect();
    assert!(alternatives.len() > 60, "{}", alternatives.len());
    let pattern = format!(r"(?i)(?:^|[^\w-])({})(?:[^\w-]|$)", alternatives.join("|"));
    let pattern = regex::Regex::new(&pattern).unwrap();
    let passages = everything_that_is_read();
    assert!(passages.len() > 10_000, "{}", passages.len());
    let mut uses = Vec::new();
    let mut comments = 0;
    for Passage {
        path,
        text,
        is_comment,
    } in &passages
    {
        for found in pattern.captures_iter(text) {
            comments += usize::from(*is_comment);
            let phrase = found.get(1).unwrap();
            let before: String = text[..phrase.start()].chars().rev().take(40).collect();
            let before: String = before.chars().rev().collect();
            let after: String = text[phrase.end()..].chars().take(30).collect();
            uses.push(format!("{path}: {before}[{}]{after}", phrase.as_str()));
        }
    }
    assert!(
        comments <= COMMENTS_MAX,
        "{comments} comments:\n{}",
        uses.join("\n")
    );
    let mut list = uses.join("\n");
    list.push('\n');
    crate::texts::assert_kept(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/words/reviewed.txt"),
        &list,
    );
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
