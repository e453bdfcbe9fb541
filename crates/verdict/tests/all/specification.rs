//! Tests that the lists of limits and of rules in `docs/specification.md` equal the module
//! documentation of their source files.

use verdict::{Reason, RunLimit};

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/specification.md");

/// A folder of `src`, the names of its files, and the lines before and after their list in the
/// specification.
type List = (&'static str, &'static [&'static str], [&'static str; 2]);

const LISTS: [List; 2] = [
    (
        "limits",
        RunLimit::FILES,
        [
            "crates/verdict/src/limits by the tests of verdict. -->\n",
            "<!-- End of the list of limits. -->",
        ],
    ),
    (
        "rules",
        Reason::FILES,
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
fn the_specification_matches_the_files_of_limits_and_rules() {
    for (folder, files, [begin, end]) in LISTS {
        let files = files.iter();
        let expected: String = files.map(|file| paragraph(folder, file) + "\n").collect();
        let expected = format!("\n{expected}");
        let text = std::fs::read_to_string(PATH).unwrap();
        let (before, rest) = text.split_once(begin).unwrap();
        let (documented, behind) = rest.split_once(end).unwrap();
        if std::env::var_os("POSTMARK_WRITE_GOLDEN").is_some() {
            std::fs::write(PATH, [before, begin, &expected, end, behind].concat()).unwrap();
        }
        assert_eq!(documented, expected, "POSTMARK_WRITE_GOLDEN=1 writes it");
    }
}
