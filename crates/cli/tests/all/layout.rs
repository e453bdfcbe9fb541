//! The form of the documents: lines fit into a terminal, the book has all pages, and links have
//! targets.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum length of a line in characters. Tables, code, and lines with a single long word may be
/// longer.
const WIDTH: usize = 100;

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// The paths of the pages of the book.
fn pages() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut directories = vec![root().join("docs")];
    while let Some(directory) = directories.pop() {
        for path in entries(&directory) {
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|end| end == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(found.len() > 60, "{found:?}");
    found
}

/// The paths of all documents in the root directory and in docs.
pub fn documents() -> Vec<PathBuf> {
    let mut found = entries(&root());
    found.retain(|path| path.extension().is_some_and(|end| end == "md"));
    found.extend(pages());
    found.sort();
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

/// MkDocs also checks this, but is not installed on every machine that runs the tests.
#[test]
fn the_book_contains_each_page_once() {
    let settings = fs::read_to_string(root().join("mkdocs.yml")).unwrap();
    let (_, nav) = settings.split_once("\nnav:\n").unwrap();
    let listed = nav.lines().map(|line| line.trim_start_matches([' ', '-']));
    let mut listed: Vec<&str> = listed.filter(|line| line.ends_with(".md")).collect();
    listed.sort_unstable();
    let docs = root().join("docs");
    let pages = pages();
    let mut expected: Vec<&str> = pages
        .iter()
        .map(|path| path.strip_prefix(&docs).unwrap().to_str().unwrap())
        .collect();
    expected.sort_unstable();
    assert_eq!(listed, expected);
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
    }
    assert!(count > 60, "{count} links");
}

#[test]
fn headings_of_a_page_differ() {
    for path in pages() {
        let text = fs::read_to_string(&path).unwrap();
        let headings = headings(&text);
        let anchors: BTreeSet<String> = headings.iter().map(|(_, title)| anchor(title)).collect();
        assert_eq!(anchors.len(), headings.len(), "{}", path.display());
    }
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
