//! Renders the results of synthetic studies in the layouts of papers, and compares them with stored
//! texts.

use std::collections::BTreeMap;

use document::WIDTH;
use published::layouts::{self, LayoutResults, LayoutView, PaperRun};
use published::{ConfigurationShape, Figure, Library};
use record::{Record, StudyPart};
use study::statistics::ALPHA;
use study::{Design, PaperLayout, StudyComparisons};
use testkit::Shows;
use verdict::Summary;
use workload::Edition;
use workload::presets;

const RUN: &str = include_str!("../../../report/tests/golden/run.json");
const WITH: LayoutView = LayoutView {
    is_with_published: true,
};

/// Reads the design of a study from the directory `studies` of the project.
fn kept(name: &str) -> Design {
    let path = format!("{}/../../studies/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    Design::parse(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Creates runs with the given transaction rate for each target. The rates vary between blocks by
/// up to 4 %.
fn runs(design: &Design, blocks: u32, rates: &[(&str, f64)]) -> Vec<PaperRun> {
    let cells = design.cells().unwrap();
    let mut runs = Vec::new();
    for block in 1..=blocks {
        for (number, cell) in cells.iter().enumerate() {
            let target = &design.targets[cell.target].name;
            let Some((_, rate)) = rates.iter().find(|(name, _)| name == target) else {
                continue;
            };
            let noise = 1.0 + f64::from((block * 7 + number as u32 * 3) % 5) / 100.0;
            let preset = design.workloads[cell.workload].preset.as_deref().unwrap();
            let workload = presets::find(preset).unwrap().workload;
            let (shape, edition) = ConfigurationShape::of(&workload).unwrap();
            // Twice the number of files reduces the rate to three quarters.
            let rate = rate * noise * 0.75_f64.powf((shape.files as f64 / 1_000.0).log2());
            runs.push(PaperRun {
                part: part(design, &cell.label, block),
                is_counted: true,
                shape: Some((shape, edition)),
                differences: Vec::new(),
                description: format!("{target} on a made-up machine"),
                protocol: Some("block device".to_owned()),
                figures: figures(rate, shape.transactions as f64),
            });
        }
    }
    runs
}

fn part(design: &Design, cell: &str, block: u32) -> StudyPart {
    StudyPart {
        study: "0123456789ab".to_owned(),
        name: design.name.clone(),
        design: design.text.clone(),
        cell: cell.to_owned(),
        block,
        attempt: 1,
        position: 1,
        ..StudyPart::default()
    }
}

fn figures(rate: f64, transactions: f64) -> BTreeMap<Figure, f64> {
    let seconds = transactions / rate;
    BTreeMap::from([
        (Figure::TransactionsRate, rate),
        (Figure::TransactionsTime, seconds),
        (Figure::Elapsed, seconds * 1.25),
        (Figure::DataReadRate, rate * 3.0),
        (Figure::DataWrittenRate, rate * 3.5),
        (Figure::Created, 700.0),
        (Figure::CreatedRate, rate / 2.0),
        (Figure::Messages, transactions / 4.0),
        (Figure::CpuTime, seconds / 2.0),
    ])
}

fn results(layout: PaperLayout, design: &Design, runs: &[PaperRun]) -> LayoutResults {
    let compared = StudyComparisons {
        tables: Vec::new(),
        alpha: ALPHA,
    };
    LayoutResults::of(layout, design, runs, &compared, &Library::read()).unwrap()
}

/// Compares the results as text, Markdown and CSV with the stored files. If POSTMARK_WRITE_GOLDEN
/// is set, writes these files first.
fn compare(name: &str, results: &LayoutResults, view: LayoutView) {
    let document = layouts::document(results, view);
    let text = document::text(&document, WIDTH);
    let wide = text.lines().find(|line| line.chars().count() > WIDTH);
    assert_eq!(wide, None);
    for (end, text) in [
        ("txt", text),
        ("md", document::markdown(&document)),
        ("csv", document::csv(&layouts::csv(results, view), "\n")),
    ] {
        let path = format!("{}/tests/golden/{name}.{end}", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os("POSTMARK_WRITE_GOLDEN").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        assert_eq!(text, std::fs::read_to_string(&path).unwrap(), "{path}");
    }
}

fn text(results: &LayoutResults) -> String {
    document::text(&layouts::document(results, WITH), WIDTH)
}

#[test]
fn results_in_the_layout_of_the_paper_match_stored_files() {
    let design = kept("tr3022");
    let rates = [
        ("ext4", 30_000.0),
        ("tmpfs", 60_000.0),
        ("xfs", 20_000.0),
        ("btrfs", 15_000.0),
    ];
    let results = results(PaperLayout::Tr3022, &design, &runs(&design, 6, &rates));
    compare("tr3022", &results, WITH);
}

#[test]
fn results_in_the_layout_of_the_veritas_brief_match_stored_files() {
    let design = kept("veritas");
    let rates = [
        ("ext2", 3_000.0),
        ("ext4", 2_500.0),
        ("xfs", 3_500.0),
        ("xfs+log", 4_000.0),
    ];
    let results = results(PaperLayout::Veritas, &design, &runs(&design, 6, &rates));
    compare("veritas", &results, WITH);
}

#[test]
fn results_in_the_layout_of_sessions_match_stored_files() {
    let design = kept("sessions");
    let rates = [("ext3", 10_000.0), ("ext4", 12_000.0), ("nilfs2", 9_000.0)];
    let results = results(PaperLayout::Sessions, &design, &runs(&design, 5, &rates));
    compare("sessions", &results, WITH);
}

#[test]
fn results_in_the_layout_of_submissions_match_stored_files() {
    let design = kept("submissions");
    let results = results(
        PaperLayout::Submissions,
        &design,
        &runs(&design, 1, &[("ext4", 30_000.0), ("tmpfs", 60_000.0)]),
    );
    compare("submissions", &results, LayoutView::default());
}

#[test]
fn results_in_the_layout_of_completion_match_stored_files() {
    let mut design = kept("completion");
    for (name, at) in [("NFS v3", "/mnt/nfs3"), ("iSCSI", "/mnt/iscsi")] {
        let mut target = design.targets[0].clone();
        (target.name, target.at) = (name.to_owned(), at.to_owned());
        design.targets.push(target);
        design.counterparts.insert(name.to_owned(), name.to_owned());
    }
    let mut runs = runs(
        &design,
        5,
        &[("ext4", 20_000.0), ("NFS v3", 700.0), ("iSCSI", 5_000.0)],
    );
    for run in &mut runs {
        let protocol = [
            ("NFS v3", "nfs3"),
            ("iSCSI", "iscsi"),
            ("ext4", "block device"),
        ];
        let protocol = protocol
            .into_iter()
            .find(|(name, _)| run.part.cell.contains(name))
            .unwrap();
        run.protocol = Some(protocol.1.to_owned());
    }
    let results = results(PaperLayout::Completion, &design, &runs);
    compare("completion", &results, WITH);
    let shown = text(&results);
    shown.shows("NFS v4.2");
    shown.does_not_show("no target with NFS v3");
}

#[test]
fn nfs_in_user_space_is_compared_with_the_printed_nfs() {
    let mut design = kept("completion");
    let mut target = design.targets[0].clone();
    (target.name, target.at) = ("in user space".to_owned(), "nfs://server/export".to_owned());
    design.targets.push(target);
    let mut runs = runs(
        &design,
        5,
        &[("ext4", 20_000.0), ("in user space", 2_500.0)],
    );
    for run in runs
        .iter_mut()
        .filter(|run| run.part.cell.contains("in user space"))
    {
        run.protocol = Some("nfs3 in user space".to_owned());
        // The engine in user space caches nothing, so a larger pool adds only the messages that
        // create and delete its files.
        let files = run.shape.unwrap().0.files as f64;
        run.figures
            .insert(Figure::Messages, 350_000.0 + 3.0 * files);
    }
    let results = results(PaperLayout::Completion, &design, &runs);
    compare("completion-user-space", &results, WITH);
    let shown = text(&results)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    shown.does_not_show("no target with NFS v3 in user space");
    shown.shows("no target with NFS v3");
    shown.shows("Why: in user space keeps no names");
}

#[test]
fn confidence_intervals_decide_which_differences_are_confirmed() {
    let design = kept("tr3022");
    let judged = |blocks, ext4, tmpfs| {
        let results = results(
            PaperLayout::Tr3022,
            &design,
            &runs(&design, blocks, &[("ext4", ext4), ("tmpfs", tmpfs)]),
        );
        text(&results)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    let row = |shown: &str, result: &str| {
        shown.shows("TMPFS/UFS 1000/50000 55.6 ");
        shown.shows(result);
    };
    let holds = judged(6, 1_000.0, 2_000.0);
    row(&holds, "1000/50000 55.6 1.99");
    row(&holds, "holds, by less");
    row(&holds, "tmpfs with TMPFS");
    let reversed = judged(6, 2_000.0, 1_000.0);
    row(&reversed, "2 not holding");
    let alike = judged(6, 1_000.0, 1_000.0);
    row(&alike, "3 not shown by these blocks");
    let few = judged(2, 1_000.0, 2_000.0);
    row(&few, "the same direction, by less");
    few.does_not_show("holds, ");
    let same_factor = judged(6, 1_000.0, 55_600.0);
    row(&same_factor, "holds, with the same factor");
}

#[test]
fn smaller_work_is_not_compared_with_the_paper() {
    let design = kept("tr3022-small");
    let mut runs = runs(&design, 1, &[("ext4", 30_000.0), ("tmpfs", 60_000.0)]);
    for run in &mut runs {
        if let Some((shape, _)) = run
            .shape
            .as_mut()
            .filter(|(shape, _)| shape.files == 20_000)
        {
            (shape.files, shape.transactions) = (200, shape.transactions / 100);
        }
    }
    let shown = text(&results(PaperLayout::Tr3022, &design, &runs));
    let shown: String = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    shown.shows("Not the published work: 200/500 in place of 20000/50000.");
    // The factor 30.0 includes only the workload that equals the published one. With the smaller
    // workloads (200/500 and 200/1000), the sentence would contain a range of factors.
    shown.shows("30.0 times as fast: tmpfs as TMPFS.");
    shown.does_not_show("200/500 over 1000/50000");
}

#[test]
fn cells_of_invalid_and_of_missing_runs_state_different_reasons() {
    let design = kept("tr3022-small");
    let mut runs = runs(&design, 2, &[("ext4", 30_000.0), ("tmpfs", 60_000.0)]);
    for run in runs
        .iter_mut()
        .filter(|run| run.part.cell == "1000/50000 tmpfs")
    {
        run.is_counted = false;
    }
    runs.retain(|run| run.part.cell != "200/500 tmpfs");
    let results = results(PaperLayout::Tr3022, &design, &runs);
    let shown = document::text(&layouts::document(&results, LayoutView::default()), WIDTH);
    shown.shows("tmpfs, 1000/50000: not measured: all of its runs are INVALID.");
    shown.shows("tmpfs, 200/500: not measured.");
    shown.does_not_show("UFS");
}

#[test]
fn too_many_invalid_blocks_prevent_comparisons() {
    let design = kept("tr3022");
    let judged = |invalid: u32| {
        let mut runs = runs(&design, 10, &[("ext4", 1_000.0), ("tmpfs", 2_000.0)]);
        for run in &mut runs {
            run.is_counted = run.part.cell != "1000/50000 tmpfs" || run.part.block > invalid;
        }
        let shown = text(&results(PaperLayout::Tr3022, &design, &runs));
        shown.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let few = judged(2);
    few.shows("tmpfs, 1000/50000: 2 of 10 blocks are INVALID and in no number.");
    few.shows("TMPFS/UFS 1000/50000 55.6");
    let many = judged(3);
    many.shows("tmpfs, 1000/50000: 3 of 10 blocks");
    many.does_not_show("TMPFS/UFS 1000/50000");
}

#[test]
fn systems_named_for_one_paper_are_not_compared_with_another_paper() {
    let design = kept("tr3022");
    let runs = runs(&design, 5, &[("ext4", 1_000.0), ("tmpfs", 2_000.0)]);
    let other = results(PaperLayout::Submissions, &design, &runs);
    assert!(
        other
            .systems
            .iter()
            .all(|system| system.counterpart.is_none())
    );
}

#[test]
fn only_the_last_attempt_of_a_block_counts() {
    let design = kept("tr3022-small");
    let mut first = runs(&design, 1, &[("ext4", 10_000.0), ("tmpfs", 60_000.0)]);
    let mut second = runs(&design, 1, &[("ext4", 30_000.0), ("tmpfs", 60_000.0)]);
    second.iter_mut().for_each(|run| run.part.attempt = 2);
    first.append(&mut second);
    let results = results(PaperLayout::Tr3022, &design, &first);
    let median = results.median(0, 0, Figure::TransactionsRate).unwrap();
    assert!(median > 29_000.0, "{median}");
    assert_eq!(results.blocks_max(), 1);
}

#[test]
fn comparison_with_a_system_missing_in_the_paper_is_refused() {
    let mut design = kept("tr3022");
    design
        .counterparts
        .insert("xfs".to_owned(), "VxFS".to_owned());
    let error = layouts::check(PaperLayout::Tr3022, &design, &Library::read()).unwrap_err();
    let told = error.to_string();
    told.begins_with(
        "counterparts.xfs = \"VxFS\": paper has no such system (use one of UFS, TMPFS",
    );
}

#[test]
fn figures_in_a_layout_equal_the_summary_of_the_run() {
    let mut record = Record::from_json(RUN).unwrap();
    assert_eq!(PaperRun::of(&record), None, "it belongs to no study");
    record.study = Some(part(&kept("tr3022"), "ext4", 1));
    let run = PaperRun::of(&record).unwrap();
    let summary = Summary::of(&record);
    let paper = summary.paper.unwrap();
    let figure = |figure| run.figures.get(&figure).copied();
    assert_eq!(
        figure(Figure::TransactionsRate),
        paper.transactions.per_second
    );
    assert_eq!(figure(Figure::Elapsed), Some(paper.elapsed_ns as f64 / 1e9));
    assert_eq!(
        figure(Figure::DataReadRate),
        paper.bytes_read.per_second.map(|rate| rate / 1024.0)
    );
    assert_eq!(figure(Figure::Created), Some(paper.created.count as f64));
    assert!(
        run.shape
            .is_some_and(|(_, edition)| Edition::ALL.contains(&edition))
    );
}

#[test]
fn every_layout_has_a_full_and_a_small_study_file() {
    let library = Library::read();
    for (layout, _) in PaperLayout::ROWS {
        for name in [layout.name().to_owned(), format!("{layout}-small")] {
            let design = kept(&name);
            assert_eq!(
                (design.layout, design.name.as_str()),
                (Some(layout), name.as_str())
            );
            layouts::check(layout, &design, &library).unwrap();
        }
    }
}
