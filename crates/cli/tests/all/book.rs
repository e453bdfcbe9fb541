//! Texts of the program that the book repeats, and pages of the book that the program names.

use std::fs;

use cli::args::topics::TOPICS;
use regex::Regex;

use crate::{layout, texts};

#[test]
fn messages_of_the_troubleshooting_page_are_those_of_the_program() {
    let page = layout::root().join("docs/appendices/troubleshooting.md");
    let page = fs::read_to_string(page).unwrap();
    let messages = fs::read_to_string(texts::kept().join("messages.txt")).unwrap();
    let mut count = 0;
    for line in page.lines().filter_map(|line| line.strip_prefix("| `")) {
        let (message, _) = line.split_once('`').unwrap();
        let parts: Vec<String> = message.split('…').map(regex::escape).collect();
        let pattern = Regex::new(&parts.join(".*?")).unwrap();
        let is_known = messages.lines().any(|line| pattern.is_match(line));
        assert!(is_known, "no message of the program contains: {message}");
        count += 1;
    }
    assert!(count >= 30, "{count}");
}

#[test]
fn pages_named_by_topics_of_the_help_exist() {
    let pattern = Regex::new(r"\b(?:how-to|reference)/[a-z0-9-]+").unwrap();
    let mut count = 0;
    for topic in TOPICS {
        for page in pattern.find_iter(&topic.text()) {
            let path = layout::root().join(format!("docs/{}.md", page.as_str()));
            assert!(path.exists(), "{}: {}", topic.name, page.as_str());
            count += 1;
        }
    }
    assert!(count >= TOPICS.len(), "{count}");
}
