//! The plans of studies and of repeated runs.

use document::WIDTH;
use report::study::sides::{next_step, warnings};
use study::{PlannedCell, SideBlocks, StudyPlan};
use testkit::Shows;

/// A study of two cells (compared configurations). Each block takes one minute.
fn plan(blocks: u32, blocks_left: u32) -> StudyPlan {
    let cell = |label: &str, baseline: Option<&str>| PlannedCell {
        label: label.to_owned(),
        target: format!("/mnt/{label}"),
        conditions: vec![
            "2 workers".to_owned(),
            format!("{} files", 100 * label.len()),
            "no sync".to_owned(),
        ],
        baseline: baseline.map(str::to_owned),
    };
    let done = 2 * (blocks - blocks_left);
    StudyPlan {
        study: (done > 0).then(|| "0123456789ab".to_owned()),
        name: "pair".to_owned(),
        cells: vec![cell("ext4", None), cell("xfs", Some("ext4"))],
        blocks,
        until: None,
        time_limit_s: None,
        seed: 1,
        order: vec![("xfs".to_owned(), false), ("ext4".to_owned(), false)],
        next_block: (blocks - blocks_left + 1).min(blocks),
        blocks_left,
        done,
        measured_s: Some(60.0),
        block_s: None,
        estimated_from: Vec::new(),
        quiet_s: 0.0,
        room: Vec::new(),
        root: Vec::new(),
        side: None,
        baseline_side: None,
    }
}

/// The texts of a study's plan and of a repetition's plan.
fn texts(plan: &StudyPlan, is_head: bool) -> [String; 2] {
    [
        report::study::plan(plan, is_head),
        report::repeats::plan(plan, is_head),
    ]
    .map(|document| {
        let text = document::text(&document, WIDTH).replace('\u{a0}', " ");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    })
}

#[test]
fn plan_counts_only_the_blocks_that_remain() {
    let [text, _] = texts(&plan(10, 10), false);
    text.shows_all("10 blocks of 2 runs | block 1: xfs, ext4 | at least 10 min")
        .does_not_show("already");
    let [text, _] = texts(&plan(10, 3), false);
    text.shows_all("14 runs of this study are in the archive already | block 8: | at least 3 min")
        .does_not_show("remains");
    let [text, repeated] = texts(&plan(10, 0), false);
    text.shows("20 runs of this study are in the archive already, and no block remains")
        .does_not_show("block 10: ")
        .does_not_show("at least");
    repeated
        .shows("20 runs are in the archive already, and no run remains")
        .does_not_show("each run measures");
}

#[test]
fn plan_warns_of_too_few_blocks_for_an_interval() {
    let few = plan(4, 4);
    let warning = "warning: this study gives no intervals: they need 5 blocks, and it has 4 (use \
                   --blocks 5 or more)";
    let [text, repeated] = texts(&few, false);
    text.shows(warning);
    repeated.shows("it needs 5 runs, and 4 are planned (use --repeat 5 or more)");
    // A repetition is continued by `study --resume`, so the warning names the option `--blocks`.
    let [_, continued] = texts(&plan(4, 3), false);
    continued.shows("(use --blocks 5 or more)");
    assert_eq!(report::study::no_interval(&few).as_deref(), Some(warning));
    // These plans have no warning: the first part of the results in a file, a complete study, a
    // study with enough blocks, and a side that is measured separately.
    let side = StudyPlan {
        side: Some("new".to_owned()),
        ..plan(4, 1)
    };
    for texts in [
        texts(&few, true),
        texts(&plan(4, 0), false),
        texts(&plan(5, 5), false),
        texts(&side, false),
    ] {
        texts.concat().does_not_show("warning");
    }
}

#[test]
fn plan_shows_files_and_durability_of_all_cells_and_the_baseline_of_sides() {
    let [text, repeated] = texts(&plan(10, 10), false);
    text.shows_all(
        "ext4 (baseline), xfs (compared with ext4) | Each run 2 workers, no sync | ext4: 400 \
         files | xfs: 300 files",
    );
    repeated.shows("Each run 2 workers, no sync");
    let side = |side: &str| StudyPlan {
        side: Some(side.to_owned()),
        baseline_side: Some("old".to_owned()),
        ..plan(10, 3)
    };
    let [first, _] = texts(&side("old"), false);
    first.shows("Side old, measured first and therefore the baseline of the other sides");
    first.shows("All 10 blocks of a side take at least 10 min, and the time of the boots");
    let [second, _] = texts(&side("new"), false);
    second.shows("Side new, compared with old, the side that was measured first");
    second.does_not_show("ext4 (baseline)");
}

#[test]
fn wrong_names_and_blocks_of_sides_are_warned_of_before_they_are_measured() {
    let side = |side: &str, blocks: &[u32]| SideBlocks {
        side: side.to_owned(),
        blocks: blocks.iter().copied().collect(),
    };
    let sides = [side("old", &[1, 2]), side("new", &[2, 3])];
    let of = |side: &str, block: u32| warnings(&sides, (side, block)).join(" ");
    assert_eq!(of("new", 1), "");
    assert_eq!(of("old", 3), "");
    of("newer", 1).shows("side newer is new in this study, which has old (2 blocks) and new (2");
    // Each side may be the first one in a block.
    assert_eq!(of("new", 4), "");
    of("new", 5).shows("side new has no block 4 yet, and this is block 5");
    of("old", 5).shows("side old has no block 3 yet, and this is block 5");
    assert!(warnings(&[], ("old", 1)).is_empty());
    next_step(&sides, (3, 10), "k5")
        .shows("blocks measured, of 10: old 2, new 2")
        .shows("next: repeat the command on new with --side new --block 1 --tag k5");
    // Every second block begins with the last side.
    let block = |number| {
        let sides = [side("old", &[1, 2]), side("new", &[1, 2])];
        let mut sides = sides;
        sides[0].blocks.retain(|block| *block <= number);
        sides[1].blocks.retain(|block| *block <= number);
        next_step(&sides, (number, 10), "k5")
    };
    block(1).shows("--side new --block 2");
    block(2).shows("--side old --block 3");
    next_step(&sides[..1], (2, 10), "k5").shows_all(
        "only one side has been measured | of 10: old 2 | on the other side with --side NAME \
         --block 2 --tag k5",
    );
    let whole = [side("old", &[1, 2]), side("new", &[1, 2])];
    next_step(&whole, (2, 2), "k5").shows("next: postmark gate k5 --require");
}
