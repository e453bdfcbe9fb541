//! Reports of gates.

use document::Format;
use record::{Class, Fact, MadeFileSystem, Record, StudyPart};
use study::statistics::ALPHA;
use study::{
    Baseline, ComparedSide, Comparisons, Gate, GateRules, Metric, Observed, Requirement, SideGroup,
    unlike,
};
use testkit::Shows;
use verdict::Level;

use crate::compared::{compare, metric, side, with_twin};

#[test]
fn undecided_gate_states_blocks_and_standard_deviation() {
    let group = SideGroup {
        baseline: with_twin(),
        sides: vec![side("new", 10_060.0, 4, 6)],
    };
    let requirement: Requirement = "transactions >= 0.995".parse().unwrap();
    let gate = Gate::of(vec![group], &[requirement], GateRules::default()).unwrap();
    let text = document::text(&report::gate::document(&gate), document::WIDTH);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let judged = &gate.requirements[0];
    let deviation = judged.forecast_deviation.unwrap() * 100.0;
    text.shows(
        "Gate undecided by the spread of the runs and by doubts: new against ext4 (baseline)",
    )
    .shows(&format!(
        "Undecided with 6 blocks: it takes {0} ({1} runs in all, about {2:.1} h) at a standard \
             deviation of {deviation:.1} % (of a block's ratio, as the A/A control implies) to \
             pass identical systems",
        judged.blocks_needed_to_pass.unwrap(),
        judged.blocks_needed_to_pass.unwrap() * 3,
        // A block has three simulated runs of 30 s each.
        f64::from(judged.blocks_needed_to_pass.unwrap()) * 90.0 / 3600.0
    ))
    .shows("With these doubts the gate cannot pass, even with less spread: - the A/A control is")
    .shows("Add blocks. --allow-doubtful ignores the doubts only: the gate would still be");
}

#[test]
fn decision_of_a_gate_on_doubtful_runs_states_their_number() {
    let requirement: Requirement = "transactions >= 0.9".parse().unwrap();
    let text = |doubtful: usize, allows_doubtful: bool| {
        let (mut baseline, mut new) = (with_twin(), side("new", 10_000.0, 1, 10));
        let twin = baseline.twin.as_mut().unwrap();
        let runs = [&mut new, &mut baseline.side, twin];
        let runs = runs.into_iter().flat_map(|side| &mut side.runs);
        for run in runs.take(doubtful) {
            run.level = Level::Doubtful;
            run.reasons.insert("other-load".to_owned());
        }
        let group = SideGroup {
            baseline,
            sides: vec![new],
        };
        text_with(group, requirement, allows_doubtful)
    };
    text(0, false).begins_with("Gate passed: new against ext4 (baseline), mail Decided on");
    text(2, false).begins_with(
        "Gate passed (2 of 30 runs DOUBTFUL: other-load 2): new against ext4 (baseline), mail \
         Decided on",
    );
    text(30, false)
        .begins_with("Gate undecided by doubts (all 30 runs DOUBTFUL: other-load 30): new against")
        .shows("mail Undecided because of these doubts, although each requirement is met: - ext4: ")
        .shows("all 20 runs DOUBTFUL: other-load 20 ('postmark show' has the reasons) - new: all");
    text(30, true)
        .begins_with("Gate passed (all 30 runs DOUBTFUL: other-load 30): new against ext4")
        .shows("Passed despite these doubts, which --allow-doubtful ignores: - ext4: all 20 runs");
}

/// A gate with doubts that the user allowed does not advise to allow them.
#[test]
fn gate_that_allows_doubts_does_not_advise_to_allow_them() {
    let text = |allows_doubtful| {
        let mut group = restless(10_000.0);
        for run in &mut group.sides[0].runs {
            run.level = Level::Doubtful;
            run.reasons.insert("other-load".to_owned());
        }
        let requirement: Requirement = "transactions >= 0.97".parse().unwrap();
        text_with(group, requirement, allows_doubtful)
    };
    text(false)
        .shows("Gate undecided by the spread of the runs and by doubts")
        .shows("--allow-doubtful ignores the doubts only")
        .does_not_show("add --allow-doubtful");
    text(true)
        .shows("Gate undecided by the spread of the runs (")
        .shows("Doubts, which --allow-doubtful ignores:")
        .does_not_show("ignores the doubts only");
}

/// Both numbers of runs are named if they differ. A drift of runs that are not interleaved keeps
/// the gate from passing.
#[test]
fn gate_on_runs_without_blocks_names_their_numbers_and_their_drift() {
    let apart = |label: &str, runs: u32, drift: f64| {
        let mut side = side(label, 10_000.0, 0, runs);
        for (place, run) in side.runs.iter_mut().enumerate() {
            run.block = None;
            let rate = 10_000.0 * (1.0 + drift * place as f64);
            run.values.insert(Metric::Transactions, rate);
        }
        side
    };
    let text = |drift| {
        let group = SideGroup {
            baseline: Baseline::alone(apart("old", 15, 0.0)),
            sides: vec![apart("new", 5 + u32::from(drift > 0.0) * 5, drift)],
        };
        text_of_gate(group, "transactions >= 0.9")
    };
    text(0.0)
        .begins_with("Gate passed: new against old")
        .shows("5 and 15 runs")
        .shows("(of the logarithm of the ratio of two runs, one of each configuration: about 1.4")
        .shows("More runs bring the ratio that fails nearer to 0.9.")
        .does_not_show("random order")
        .does_not_show("5 runs of each");
    text(0.01)
        .begins_with("Gate undecided by doubts: new against old")
        .shows("- DRIFT: the mean transactions/s of new is 4.9 % higher in the second half");
}

/// A clear loss of runs that are to be doubted is in the first lines, although the gate is
/// undecided.
#[test]
fn undecided_gate_names_a_clear_loss_first() {
    let apart = |label: &str, rate: f64| {
        let mut side = side(label, rate, 0, 10);
        for run in &mut side.runs {
            run.block = None;
            run.level = Level::Doubtful;
            run.reasons.insert("other-load".to_owned());
        }
        side
    };
    let text = |allows_doubtful| {
        let group = SideGroup {
            baseline: Baseline::alone(apart("old", 10_000.0)),
            sides: vec![apart("new", 2_000.0)],
        };
        let requirement: Requirement = "transactions >= 0.975".parse().unwrap();
        text_with(group, requirement, allows_doubtful)
    };
    text(false)
        .begins_with(
            "Gate undecided by doubts, although new is 80 % slower (all 20 runs DOUBTFUL: \
             other-load 20): new against old",
        )
        .shows("does not meet transactions >= 0.975: 0.200 of old, p < 0.0001. Only the doubts")
        .shows("or add --allow-doubtful: the gate then fails.")
        .shows("not met, in doubt");
    text(true)
        .begins_with("Gate failed (all 20 runs DOUBTFUL")
        .shows("Failed despite these doubts, which --allow-doubtful ignores:");
}

/// A study of six blocks whose runs vary by tens of percent. The two runs of the baseline deviate
/// in opposite directions.
fn restless(rate: f64) -> SideGroup {
    let scaled = |label: &str, rate: f64, factors: [f64; 6]| {
        let mut side = side(label, rate, 0, 6);
        for (run, factor) in side.runs.iter_mut().zip(factors) {
            run.values.insert(Metric::Transactions, rate * factor);
        }
        side
    };
    SideGroup {
        baseline: Baseline {
            side: scaled("old", 10_000.0, [0.6, 1.6, 0.7, 1.5, 1.4, 0.6]),
            twin: Some(scaled("old", 10_000.0, [1.5, 0.7, 1.4, 0.6, 0.6, 1.6])),
        },
        sides: vec![scaled("new", rate, [1.0, 1.2, 0.9, 1.1, 0.8, 1.3])],
    }
}

fn text_of_gate(group: SideGroup, requirement: &str) -> String {
    text_with(group, requirement.parse().unwrap(), false)
}

fn text_with(group: SideGroup, requirement: Requirement, allows_doubtful: bool) -> String {
    let rules = GateRules {
        allows_doubtful,
        ..GateRules::default()
    };
    let gate = Gate::of(vec![group], &[requirement], rules).unwrap();
    let text = document::text(&report::gate::document(&gate), document::WIDTH);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn control_that_is_too_wide_is_named_with_its_width() {
    text_of_gate(restless(20_000.0), "transactions >= 0.97")
        .begins_with("Gate undecided by doubts: new against old (baseline), mail Undecided because")
        .shows("- the A/A control is too wide for transactions >= 0.97: its one-sided 95 %")
        .shows(" from the ratio of old to itself, ")
        .shows("and the requirement allows 3.0 %; ")
        .shows("or add --allow-doubtful: the gate then passes.");
    let group = restless(20_000.0);
    let metrics = [Metric::Transactions];
    let found = Comparisons::of(&group.baseline, &group.sides, &metrics, ALPHA);
    let text = document::text(&report::comparison::document(&found), document::WIDTH);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.shows("A/A control: old against itself, 95 % interval: ")
        .shows(" times itself. The control is too wide to exclude that the machine alone makes")
        .shows("That is as far from 1 as a difference found")
        .shows("% above the baseline or ");
    assert!(!text.contains('±'), "{text}");
}

/// The gate and the comparison of the same blocks may decide differently: they have different error
/// probabilities and thresholds. The report of the gate must explain the difference.
#[test]
fn gate_explains_why_it_differs_from_the_comparison() {
    let mut group = restless(7_500.0);
    for run in &mut group.sides[0].runs {
        let value = run.values[&Metric::Transactions] * 0.9;
        run.values.insert(Metric::Transactions, value);
    }
    text_of_gate(group, "transactions >= 0.97")
        .shows("Undecided with 6 blocks: the ratio seen, 0.")
        .shows("of new, does not meet transactions >= 0.97, but the runs do not show this of the")
        .shows("true ratio. If that is the true ratio, ")
        .shows("comparison: 28 % slower (95 % interval 0.")
        .shows("; Student's t alone would fail it, but the random order of the runs alone gives");
    let group = SideGroup {
        baseline: with_twin(),
        sides: vec![side("new", 9_640.0, 1, 10)],
    };
    text_of_gate(group, "transactions >= 0.97")
        .shows("do not show this of the true ratio. If that is the true ratio, ")
        .shows("fail the gate with a probability of 80 % at a standard deviation of ")
        .shows("it is shown to be worse than the baseline with an error of 5 %, but not to be")
        .shows("beyond 0.97 with an error of 1 %, as a failure requires")
        .shows("nearer to 0.97. A failed gate shows more than a loss of 3.0 %: at a true ratio of")
        .shows("0.97, exactly a loss of 3.0 %, at most 1 % of the gates fail.")
        .shows("; if the systems are identical, ")
        .shows(". The comparison already shows that the ratio is not 1.")
        .shows(" to fail, ")
        .shows("by Student's t and by the random order of the runs")
        .does_not_show("takes fewer")
        .does_not_show("require >= 0.985");
}

/// Blocks without the metric do not count for an interval. The study has enough blocks, so the
/// reason must name the metric.
#[test]
fn missing_interval_is_explained_by_the_blocks_that_lack_the_metric() {
    let mut new = side("new", 9_000.0, 1, 8);
    for run in &mut new.runs[3..] {
        run.values.remove(&metric("create.p99"));
    }
    let baseline = Baseline::alone(side("base", 10_000.0, 0, 8));
    let metrics = [metric("create.p99"), metric("create.max")];
    let found = Comparisons::of(&baseline, &[new], &metrics, ALPHA);
    let text = document::text(&report::comparison::document(&found), document::WIDTH);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.shows("no interval: that needs 5 blocks that contain create p99, and there are 3")
        .shows("new: compared in 3 of 8 blocks; 5 blocks without create p99 (a percentile needs")
        .shows("create max: not in the runs of both new and the baseline (the workload may not");
}

#[test]
fn only_doubtful_run_is_not_called_all_runs() {
    let mut new = side("new", 9_000.0, 1, 1);
    new.runs[0].level = Level::Doubtful;
    new.runs[0].reasons.insert("too-short".to_owned());
    let group = SideGroup {
        baseline: Baseline::alone(side("base", 10_000.0, 0, 1)),
        sides: vec![new],
    };
    let text = text_of_gate(group, "transactions >= 0.5");
    text.shows("- new: the only run DOUBTFUL: too-short");
}

#[test]
fn gate_states_its_decision_and_the_blocks_needed() {
    let requirements: Vec<Requirement> = ["transactions >= 0.97", "create.p99 <= 1.10"]
        .map(|text| text.parse().unwrap())
        .to_vec();
    let mut all = String::new();
    for rate in [10_000.0, 9_000.0, 9_720.0] {
        let gate = Gate::of(
            vec![SideGroup {
                baseline: with_twin(),
                sides: vec![side("new", rate, 1, 10)],
            }],
            &requirements,
            GateRules::default(),
        )
        .unwrap();
        all += &document::text(&report::gate::document(&gate), document::WIDTH);
        all.push('\n');
    }
    compare("gates.txt", include_str!("../golden/gates.txt"), &all);
    let confirmed = Gate::of(
        vec![SideGroup {
            baseline: with_twin(),
            sides: vec![side("new", 9_000.0, 1, 10)],
        }],
        &requirements,
        GateRules {
            after: Some(6),
            ..GateRules::default()
        },
    )
    .unwrap();
    let markdown = Format::Markdown.document(&report::gate::document(&confirmed), document::WIDTH);
    compare("gate.md", include_str!("../golden/gate.md"), &markdown);
}

/// A run on a scratch file system that was requested as `asked`.
fn on_scratch(label: &str, asked: &str, class: Class) -> ComparedSide {
    let mut record = Record::from_json(include_str!("../golden/run.json")).unwrap();
    let made = MadeFileSystem {
        asked: asked.to_owned(),
        commands: Vec::new(),
        tools: Vec::new(),
        driver: Fact::NotApplicable,
        image_file_system: Fact::NotApplicable,
        fullness_percent: None,
    };
    record.study = Some(StudyPart {
        study: "0123456789ab".to_owned(),
        name: "s".to_owned(),
        design: String::new(),
        cell: label.to_owned(),
        coordinates: Vec::new(),
        is_twin: false,
        block: 1,
        attempt: 1,
        position: 1,
        side: None,
        quiet: None,
        made: Some(made),
        age: None,
    });
    for location in &mut record.locations {
        let mut target = location.target.known().unwrap().clone();
        target.class = Fact::Known(class);
        location.target = Fact::Known(target);
    }
    ComparedSide {
        label: label.to_owned(),
        runs: vec![Observed::of(&record, None, &[Metric::Transactions])],
    }
}

#[test]
fn unlike_images_and_media_of_scratch_file_systems_are_named() {
    let differences = |one: ComparedSide, other: ComparedSide| -> Vec<String> {
        let found = unlike(&one, &other);
        found.iter().map(report::comparison::unlike_words).collect()
    };
    let ext4 = || on_scratch("ext4", "make:ext4?in=/mnt/a&fullness=50", Class::Block);
    let xfs = on_scratch("xfs", "make:xfs", Class::Block);
    assert_eq!(differences(xfs, ext4()), [""; 0]);
    let large = on_scratch("xfs", "make:xfs?size=4GiB&mkfs=-m crc=0", Class::Block);
    assert_eq!(
        differences(large, ext4()),
        ["image of the scratch file system (size=4GiB mkfs=-m crc=0, default options)"]
    );
    let tmpfs = on_scratch("tmpfs", "make:tmpfs", Class::Memory);
    let words = differences(tmpfs, ext4());
    assert!(
        words.contains(&"what stores the files (memory, not memory)".to_owned()),
        "{words:?}"
    );
}
