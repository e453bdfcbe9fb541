//! Tests that the lists of limits and of rules in `docs/reference` equal the module documentation
//! of their source files.

use verdict::{Reason, RunLimit};

const REFERENCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/");

/// A folder of `src`, the names of its files, the page of the reference with their list, and the
/// lines before and after the list.
type List = (
    &'static str,
    &'static [&'static str],
    &'static str,
    [&'static str; 2],
);

const LISTS: [List; 2] = [
    (
        "limits",
        RunLimit::FILES,
        "limited-by.md",
        [
            "crates/verdict/src/limits by the tests of verdict. -->\n",
            "<!-- End of the list of limits. -->",
        ],
    ),
    (
        "rules",
        Reason::FILES,
        "rules.md",
        [
            "cargo test -p verdict -->\n",
            "<!-- End of the list of rules. -->",
        ],
    ),
];

/// Returns the module documentation of a file in a folder of `src`.
pub fn paragraph(folder: &str, file: &str) -> String {
    let path = format!("{}/src/{folder}/{file}.rs", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
    lines
        .map(|line| line.trim_start().to_owned() + "\n")
        .collect()
}

#[test]
fn the_reference_matches_the_files_of_limits_and_rules() {
    for (folder, files, page, [begin, end]) in LISTS {
        let path = format!("{REFERENCE}{page}");
        let files = files.iter();
        let expected: String = files.map(|file| paragraph(folder, file) + "\n").collect();
        let expected = format!("\n{expected}");
        let text = std::fs::read_to_string(&path).unwrap();
        let (before, rest) = text.split_once(begin).unwrap();
        let (documented, behind) = rest.split_once(end).unwrap();
        if std::env::var_os("POSTMARK_WRITE_GOLDEN").is_some() {
            std::fs::write(&path, [before, begin, &expected, end, behind].concat()).unwrap();
        }
        assert_eq!(documented, expected, "POSTMARK_WRITE_GOLDEN=1 writes it");
    }
}
