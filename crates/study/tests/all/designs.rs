//! Study files: the designs that they describe, and the errors of invalid files.

use study::{Design, DesignError};
use testkit::table;

const WORKLOAD: &str = "[[workload]]\npreset = \"mail\"\n";

fn parse(text: &str) -> Design {
    Design::parse(text).unwrap()
}

fn wrong(text: &str) -> DesignError {
    Design::parse(text).unwrap_err()
}

fn labels(design: &Design) -> Vec<String> {
    design
        .cells()
        .unwrap()
        .into_iter()
        .map(|cell| cell.label)
        .collect()
}

#[test]
fn every_combination_is_a_cell_and_the_last_dimension_varies_fastest() {
    let design = parse(&format!(
        "targets = [\"make:ext4\", \"/mnt/disk\"]\n[axes]\nworkers = [1, 12]\n{WORKLOAD}"
    ));
    assert_eq!(
        labels(&design),
        [
            "workers=1 ext4",
            "workers=1 /mnt/disk",
            "workers=12 ext4",
            "workers=12 /mnt/disk"
        ]
    );
    let cells = design.cells().unwrap();
    assert_eq!(cells[2].options.workers.map(|workers| workers.0), Some(12));
    // The baseline of each cell has the first target, and the same value of every axis as the cell.
    assert_eq!(
        cells.iter().map(|cell| cell.baseline).collect::<Vec<_>>(),
        [0, 0, 2, 2]
    );
    assert_eq!(
        (design.name.as_str(), design.blocks, design.twin),
        ("mail", 10, true)
    );
}

#[test]
fn baseline_is_selected_by_a_value_of_a_dimension() {
    let of = |baseline: &str| {
        let text = format!(
            "baseline = \"{baseline}\"\ntargets = [\"/a\", \"/b\"]\n[axes]\nfiles = [10, \
             20]\ndirs = [10, 1]\n{WORKLOAD}"
        );
        Design::parse(&text).map(|design| {
            design
                .cells()
                .unwrap()
                .iter()
                .map(|cell| cell.baseline)
                .collect::<Vec<_>>()
        })
    };
    assert_eq!(of("/b").unwrap(), [1, 1, 3, 3, 5, 5, 7, 7]);
    assert_eq!(of("files=20").unwrap(), [4, 5, 6, 7, 4, 5, 6, 7]);
    assert_eq!(of("20").unwrap(), of("files=20").unwrap());
    let ambiguous = of("10").unwrap_err();
    assert!(
        ambiguous
            .to_string()
            .starts_with("line 1: baseline = \"10\": more than one dimension has this value")
    );
    assert!(
        of("/c")
            .unwrap_err()
            .to_string()
            .starts_with("line 1: baseline = \"/c\": no target")
    );
}

#[test]
fn without_a_second_target_the_first_axis_is_compared() {
    let design = parse(&format!(
        "targets = [\"make:ext4\"]\n[axes]\nage = [0, 5]\nfiles = [10, 20]\n{WORKLOAD}"
    ));
    let cells = design.cells().unwrap();
    assert_eq!(labels(&design)[0], "age=0 files=10");
    assert_eq!(
        cells
            .iter()
            .map(|cell| (cell.age, cell.baseline))
            .collect::<Vec<_>>(),
        [(0, 0), (0, 1), (5, 0), (5, 1)]
    );
}

/// Invalid study files, each with the line that the error reports and the beginning of the message.
const FLAWS: &str = r#"
    blok = 3\n | 1 | unknown field `blok`
    blocks = 0\n | 1 | blocks = 0: expected a whole number from 1 to 10000
    blocks = 3\nuntil = "2"\n | 2 | until = "2": expected a percentage
    [[workload]]\npreset = "mail"\nfils = 3\n | 3 | fils: runs have no such option
    [[workload]]\nfiles = "many"\n | 2 | files:
    [[workload]]\nsize = "much"\n | 2 | size:
    [[workload]]\nkeep = true\n | 2 | keep: a study decides this
    [[workload]]\nage = -1\n | 2 | age = -1: expected a whole number from 0 to 1000
    [axes]\n\nfiles = []\n | 3 | axes.files: the axis is empty
    [axes]\nfiles = [\n 10,\n 10]\n | 4 | axes.files: 10 is there twice
    [axes]\nfullness = [99]\n | 2 | fullness = 99: expected a whole number from 0 to 95
    targets = [\n"/a",\n"/a"]\n | 3 | target: /a is there twice
    targets = ["a"]\n | 1 | the target a must be an absolute path
    targets = [3]\n | 1 | expected a directory, make:KIND
    metrics = ["speed"]\n | 1 | metrics:
    name = ""\n | 1 | name = "": expected 1 to 60 characters
"#;

#[test]
fn errors_are_reported_with_their_line() {
    for [text, line, flaw] in table(FLAWS) {
        let told = wrong(&text.replace("\\n", "\n")).to_string();
        assert!(
            told.starts_with(&format!("line {line}: {flaw}")),
            "{text}: {told}"
        );
        assert_eq!(told.lines().count(), 1, "{told}");
    }
    assert!(wrong("").to_string().starts_with("there is no workload"));
    let no_target = wrong(WORKLOAD).to_string();
    assert!(no_target.starts_with("there is no target"));
    let full = format!("targets = [\"/a\"]\n[axes]\nfullness = [10]\n{WORKLOAD}");
    for key in ["fullness", "age"] {
        let flaw = wrong(&full.replace("fullness", key)).flaw.to_string();
        let expected = format!("{key}: the target /a is a directory");
        assert!(flaw.starts_with(&expected), "{flaw}");
    }
}

#[test]
fn cells_with_equal_labels_are_refused() {
    let text = "[[workload]]\nname = \"a b\"\n[[workload]]\nname = \"a\"\n[[targets]]\nname = \
                \"c\"\nat = \"/c\"\n[[targets]]\nname = \"b c\"\nat = \"/b\"\n";
    let flaw = wrong(text).to_string();
    assert!(
        flaw.starts_with("two cells would be called \"a b c\""),
        "{flaw}"
    );
}

#[test]
fn a_million_cells_are_refused_without_making_them() {
    let values: Vec<String> = (1..=1000).map(|value| value.to_string()).collect();
    let values = values.join(", ");
    let text =
        format!("targets = [\"/a\"]\n[axes]\nfiles = [{values}]\nworkers = [{values}]\n{WORKLOAD}");
    let flaw = wrong(&text).flaw.to_string();
    assert!(flaw.starts_with("it has 1000000 cells"), "{flaw}");
}

#[test]
fn seed_determines_the_order_of_runs_and_all_orders_occur() {
    let design = |seed: u64| {
        parse(&format!(
            "order-seed = {seed}\ntargets = [\"/a\", \"/b\"]\n{WORKLOAD}"
        ))
    };
    let order = |design: &Design, block, attempt| {
        let cells = design.cells().unwrap();
        let runs = design.block(&cells, block, attempt);
        runs.iter()
            .map(|run| (run.cell, run.is_twin))
            .collect::<Vec<_>>()
    };
    let one = design(1);
    assert_eq!(order(&one, 3, 1), order(&design(1), 3, 1));
    let mut found: Vec<_> = (1..=600).map(|block| order(&one, block, 1)).collect();
    for other in [design(2), design(3)] {
        assert_ne!(
            (1..=20)
                .map(|block| order(&other, block, 1))
                .collect::<Vec<_>>(),
            found[..20]
        );
    }
    assert_ne!(
        (1..=20)
            .map(|block| order(&one, block, 2))
            .collect::<Vec<_>>(),
        found[..20]
    );
    let mut all = found[0].clone();
    all.sort_unstable();
    assert_eq!(all, [(0, false), (0, true), (1, false)]);
    // 600 blocks have three runs each. Each of the six possible orders is expected in 100 blocks,
    // with a standard deviation of 9.
    found.sort_unstable();
    let mut counts: Vec<usize> = found
        .chunk_by(|one, other| one == other)
        .map(<[_]>::len)
        .collect();
    counts.sort_unstable();
    assert_eq!(counts.len(), 6);
    assert!(counts[0] > 60 && counts[5] < 140, "{counts:?}");
    // Without A/A controls each cell runs once in a block; with them, a baseline runs twice.
    let alone = parse(&format!(
        "twin = false\ntargets = [\"/a\", \"/b\"]\n{WORKLOAD}"
    ));
    assert_eq!(order(&alone, 1, 1).len(), 2);
}

/// Pieces of study files, of which random texts are composed. A text of random characters is
/// usually rejected at its first character.
const PIECES: [&str; 24] = [
    "targets = [\"/a\"]\n",
    "targets = [\"make:ext4?size=1\", { name = \"x\", at = \"/b\" }]\n",
    "[[workload]]\n",
    "preset = \"mail\"\n",
    "files = 10\n",
    "age = 3\n",
    "fullness = 50\n",
    "[axes]\n",
    "files = [1, 2]\n",
    "files = [[1], { a = 2 }]\n",
    "age = [0, 9223372036854775807]\n",
    "blocks = 3\n",
    "until = \"2%\"\n",
    "until = \"NaN%\"\n",
    "time-limit = \"1h\"\n",
    "baseline = \"files=1\"\n",
    "name = \"\u{202e}\u{1b}[2J\"\n",
    "quiet-time = \"0s\"\n",
    "metrics = [\"create.p99\"]\n",
    "\u{feff}",
    "ä = 1\n",
    "size = \"1..2\"\n",
    "mix = \"read=1\"\n",
    "order-seed = -1\n",
];

proptest::proptest! {
    #[test]
    fn any_text_is_a_study_or_refused_with_one_line(
        pieces in proptest::collection::vec(0..PIECES.len(), 0..9),
        (cut, other) in (0..400_usize, "\\PC{0,20}"),
    ) {
        let mut text: String = pieces.into_iter().map(|piece| PIECES[piece]).collect();
        let cut = (0..=cut.min(text.len())).rev().find(|cut| text.is_char_boundary(*cut)).unwrap();
        text.insert_str(cut, &other);
        match Design::parse(&text) {
            // Every design has cells, and each block contains all cells.
            Ok(design) => {
                let cells = design.cells().unwrap();
                proptest::prop_assert!(design.block(&cells, 1, 1).len() >= cells.len());
            }
            Err(error) => proptest::prop_assert_eq!(error.to_string().lines().count(), 1, "{}",
                error),
        }
    }
}
