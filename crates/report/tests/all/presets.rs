//! The lists of presets, and the pages of the book that contain them.

use document::{WIDTH, text};
use report::presets::{list, one};
use testkit::Shows;
use workload::presets::{self, Preset, Values};

const BOOK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/");

type Table = fn(&[Preset]) -> String;

/// The page of each generated part, the lines before and after the part, and the function that
/// generates it.
const PARTS: [(&str, [&str; 2], Table); 2] = [
    (
        "how-to/choose-a-workload.md",
        [
            "<!-- Applications, from the presets by the tests of report. -->\n",
            "<!-- End of the applications. -->",
        ],
        applications,
    ),
    (
        "reference/presets.md",
        [
            "<!-- Sources, from the presets by the tests of report. -->\n",
            "<!-- End of the sources. -->",
        ],
        sources,
    ),
];

/// The presets of current applications: those with a version.
fn current(presets: &[Preset]) -> impl Iterator<Item = &Preset> {
    presets.iter().filter(|preset| preset.version.is_some())
}

fn applications(presets: &[Preset]) -> String {
    let mut page = String::new();
    let mut group = "";
    for preset in current(presets) {
        if preset.group != group {
            group = preset.group;
            page += &format!(
                "\n### {group}\n\n| application | preset | what it does | what it does not \
                 predict | source |\n|---|---|---|---|---|\n"
            );
        }
        page += &format!(
            "| {} | `{}` | {} | {} | {} |\n",
            preset.application, preset.name, preset.what, preset.not_predicted, preset.source
        );
    }
    page + "\n"
}

fn sources(presets: &[Preset]) -> String {
    let mut page = String::new();
    for preset in current(presets) {
        let name = preset.full_name();
        page += &format!("\n## `{name}`\n\n| values | source |\n|---|---|\n");
        for Values { source, values } in preset.values {
            let values = values.iter();
            let values: Vec<String> = values
                .map(|(option, value)| format!("`{option} {value}`"))
                .collect();
            let own = if source.is_own {
                "**our own choice**: "
            } else {
                ""
            };
            page += &format!("| {} | {own}{} |\n", values.join(", "), source.text);
        }
    }
    page + "\n"
}

#[test]
fn pages_about_workloads_contain_all_presets_and_sources() {
    let presets = presets::all();
    for (name, [begin, end], generate) in PARTS {
        let path = [BOOK, name].concat();
        let page = std::fs::read_to_string(&path).unwrap();
        let (before, rest) = page.split_once(begin).unwrap();
        let (documented, behind) = rest.split_once(end).unwrap();
        let expected = generate(&presets);
        if std::env::var_os("POSTMARK_WRITE_GOLDEN").is_some() {
            std::fs::write(&path, [before, begin, &expected, end, behind].concat()).unwrap();
        }
        assert_eq!(documented, expected, "POSTMARK_WRITE_GOLDEN=1 writes it");
    }
}

#[test]
fn list_has_each_preset_below_the_heading_of_its_group() {
    let presets = presets::all();
    let listed = text(&list(&presets, &[]), WIDTH);
    let mut groups: Vec<&str> = presets.iter().map(|preset| preset.group).collect();
    groups.dedup();
    let mut rest = listed.as_str();
    for group in groups {
        // The heading of each group must follow the headings of the groups before it.
        let (before, behind) = rest.split_once(&format!("\n{group}\n")).unwrap();
        assert!(!before.is_empty(), "{group}");
        rest = behind;
    }
    for preset in &presets {
        listed.shows(&format!("\n{}\n", preset.full_name()));
    }
}

#[test]
fn each_value_of_a_preset_is_shown_with_its_source() {
    for preset in presets::all() {
        let shown = text(&one(&preset), usize::MAX);
        shown.shows(&preset.full_name());
        shown.shows(preset.not_predicted);
        for values in preset.values {
            shown.shows(values.source.text);
            for (option, value) in values.values {
                let is_shown =
                    |line: &str| line.trim() == format!("{option} {}", value.replace(',', ", "));
                assert!(shown.lines().any(is_shown), "{option} {value} in\n{shown}");
            }
        }
    }
}
