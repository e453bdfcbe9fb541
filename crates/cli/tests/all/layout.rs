//! The form of the documents: lines fit into a terminal, a table of contents equals the headings,
//! and links have targets.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum length of a line in characters. Tables, code, and lines with a single long word may be
/// longer.
const WIDTH: usize = 100;

/// Documents that start with a table of contents.
const WITH_CONTENTS: [&str; 2] = ["guide.md", "specification.md"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// The paths of all documents in the root directory and in docs.
pub fn documents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for directory in [root(), root().join("docs")] {
        let entries = fs::read_dir(directory)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        found.extend(entries.filter(|path| path.extension().is_some_and(|end| end == "md")));
    }
    found.sort();
    assert!(found.len() > 8, "{found:?}");
    found
}

/// The lines outside of code and tables, with their numbers.
fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut is_fenced = false;
    let lines = text.lines().enumerate().filter(|(_, line)| {
        let is_fence = line.starts_with("```");
        is_fenced ^= is_fence;
        !is_fenced
            && !is_fence
            && !line.starts_with("    ")
            && !line.starts_with('|')
            && !line.starts_with("<!--")
    });
    lines.map(|(index, line)| (index + 1, line)).collect()
}

fn headings(text: &str) -> Vec<(usize, &str)> {
    let lines = prose(text).into_iter();
    lines
        .filter_map(|(_, line)| {
            let title = line.trim_start_matches('#');
            let depth = line.len() - title.len();
            (depth > 0 && title.starts_with(' ')).then(|| (depth, title.trim()))
        })
        .collect()
}

/// The anchor that GitHub generates for a heading.
fn anchor(heading: &str) -> String {
    let is_kept =
        |character: &char| character.is_alphanumeric() || ['-', '_', ' '].contains(character);
    let kept: String = heading.to_lowercase().chars().filter(is_kept).collect();
    kept.replace(' ', "-")
}

/// The links in a text, as pairs of link text and address. A link may span several lines.
fn links(text: &str) -> Vec<(String, String)> {
    let lines: Vec<&str> = prose(text)
        .into_iter()
        .map(|(_, line)| line.trim())
        .collect();
    let tables = text.lines().filter(|line| line.starts_with('|'));
    let joined = lines
        .into_iter()
        .chain(tables)
        .collect::<Vec<_>>()
        .join(" ");
    let mut found = Vec::new();
    for (middle, _) in joined.match_indices("](") {
        let begin = joined[..middle].rfind('[').unwrap();
        let end = joined[middle..].find(')').unwrap() + middle;
        found.push((
            joined[begin + 1..middle].to_owned(),
            joined[middle + 2..end].to_owned(),
        ));
    }
    found
}

#[test]
fn lines_of_documents_are_not_too_long() {
    let mut found = Vec::new();
    for path in documents() {
        let text = fs::read_to_string(&path).unwrap();
        let long = prose(&text).into_iter().filter(|(_, line)| {
            let words = line.trim_start_matches([' ', '-', '>']).split(' ').count();
            line.chars().count() > WIDTH && words > 1
        });
        found.extend(long.map(|(number, _)| format!("{}:{number}", path.display())));
    }
    assert!(
        found.is_empty(),
        "lines of more than {WIDTH}: {}",
        found.join(" ")
    );
}

#[test]
fn tables_of_contents_equal_the_headings() {
    for name in WITH_CONTENTS {
        let text = fs::read_to_string(root().join("docs").join(name)).unwrap();
        let (_, rest) = text.split_once("\n## Contents\n").unwrap();
        let (contents, body) = rest.split_once("\n## ").unwrap();
        let body = format!("## {body}");
        let expected: Vec<(String, String)> = headings(&body)
            .into_iter()
            .filter(|(depth, _)| *depth == 2)
            .map(|(_, title)| (title.to_owned(), format!("#{}", anchor(title))))
            .collect();
        assert!(expected.len() > 10, "{name}: {expected:?}");
        assert_eq!(links(contents), expected, "{name}");
    }
}

#[test]
fn links_of_documents_have_targets() {
    let mut count = 0;
    for path in documents() {
        let text = fs::read_to_string(&path).unwrap();
        for (_, address) in links(&text) {
            if address.starts_with("https://") {
                continue;
            }
            count += 1;
            let (file, place) = address.split_once('#').unwrap_or((&address, ""));
            let to = if file.is_empty() {
                path.clone()
            } else {
                path.parent().unwrap().join(file)
            };
            assert!(to.exists(), "{}: {address}", path.display());
            if !place.is_empty() {
                let text = fs::read_to_string(&to).unwrap();
                let anchors: Vec<String> = headings(&text)
                    .into_iter()
                    .map(|(_, title)| anchor(title))
                    .collect();
                assert!(
                    anchors.iter().any(|anchor| anchor == place),
                    "{}: {address}",
                    path.display()
                );
            }
        }
        let anchors: Vec<String> = headings(&text)
            .into_iter()
            .map(|(_, title)| anchor(title))
            .collect();
        let different: BTreeSet<&String> = anchors.iter().collect();
        if WITH_CONTENTS.iter().any(|name| path.ends_with(name)) {
            assert_eq!(
                anchors.len(),
                different.len(),
                "{}: a heading is there twice",
                path.display()
            );
        }
    }
    assert!(count > 60, "{count} links");
}

#[test]
fn anchors_equal_those_of_github() {
    assert_eq!(
        anchor("Compare two file systems"),
        "compare-two-file-systems"
    );
    assert_eq!(
        anchor("The paper's list, `--ack-log`"),
        "the-papers-list---ack-log"
    );
}
