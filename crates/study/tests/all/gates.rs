//! Gates over runs with known numbers.

use study::statistics::power;
use study::{
    Baseline, ComparedSide, Decision, Gate, GateError, GateRules, Metric, Requirement, SideGroup,
};
use testkit::{Assert, Shows, table};
use verdict::Level;

use crate::made::{apart, in_blocks, run};

pub fn requirement(text: &str) -> Requirement {
    text.parse().unwrap()
}

/// Returns a configuration with ten blocks, whose rates differ from `rate` by at most 1 %.
pub fn around(label: &str, rate: f64) -> ComparedSide {
    let rates: Vec<f64> = (0..10)
        .map(|block| rate * [0.99, 1.0, 1.01][block % 3])
        .collect();
    in_blocks(label, &rates)
}

pub fn base() -> Baseline {
    Baseline::alone(in_blocks("base", &[100.0; 10]))
}

pub fn gate(
    side: ComparedSide,
    baseline: Baseline,
    requirements: &[&str],
) -> Result<Gate, GateError> {
    let requirements: Vec<Requirement> =
        requirements.iter().map(|text| requirement(text)).collect();
    Gate::of(
        vec![SideGroup {
            baseline,
            sides: vec![side],
        }],
        &requirements,
        GateRules::default(),
    )
}

#[test]
fn parsed_requirements_print_their_original_text() {
    for text in [
        "transactions >= 0.97",
        "create.p99 <= 1.1",
        "written >= 0.5",
        "cpu <= 2",
    ] {
        assert_eq!(requirement(text).to_string(), text);
        assert_eq!(requirement(&text.replace(' ', "")).to_string(), text);
    }
}

/// Texts that are not requirements, each with a part of its error.
const NO_REQUIREMENTS: &str = "
    transactions | expected METRIC >= RATIO
    transactions = 0.9 | expected METRIC >= RATIO
    speed >= 0.9 | unknown metric 'speed' (use transactions
    transactions >= much | 'much' is not a positive ratio
    transactions >= -1 | not a positive ratio
    transactions >= nan | not a positive ratio
    create.p99 <= inf | not a positive ratio
    create.p99 <= 20ms | '20ms' is not a positive ratio to the baseline
    transactions >= 1.0 | leave a margin, like 'transactions >= 0.985'
    transactions >= 1.05 | leave a margin
    create.p99 <= 1 | leave a margin, like 'create.p99 <= 1.10'
    create.p99 <= 0.9 | leave a margin
    transactions <= 1.1 | higher transactions is better (write 'transactions >= 0.985')
    create.p99 >= 0.9 | lower create.p99 is better
";

#[test]
fn invalid_requirements_are_refused_with_a_correction() {
    for [text, told] in table(NO_REQUIREMENTS) {
        let error = text.parse::<Requirement>().unwrap_err().to_string();
        assert!(error.contains(told), "{text}: {error}");
        assert!(!error.contains('\n'));
    }
}

#[test]
fn gates_pass_fail_or_are_undecided() {
    for (rate, decision, status) in [
        (100.0, Decision::Passed, 0),
        (90.0, Decision::Failed, 4),
        (97.0, Decision::Undecided, 5),
    ] {
        let found = gate(around("new", rate), base(), &["transactions >= 0.97"]).unwrap();
        assert_eq!(found.decision, decision, "{rate}: {found:?}");
        assert_eq!(found.decision.exit_status(), status);
        let judged = &found.requirements[0];
        assert!(judged.bound.unwrap() < judged.ratio);
    }
    // If lower values are better, the confidence bound is above the ratio.
    let latencies = |mut side: ComparedSide| {
        for run in &mut side.runs {
            let value = run.values[&Metric::Transactions];
            run.values = [("create.p99".parse().unwrap(), value)].into();
        }
        side
    };
    let baseline = Baseline::alone(latencies(in_blocks("base", &[100.0; 10])));
    for (factor, decision) in [
        (100.0, Decision::Passed),
        (130.0, Decision::Failed),
        (110.0, Decision::Undecided),
    ] {
        let found = gate(
            latencies(around("new", factor)),
            baseline.clone(),
            &["create.p99 <= 1.10"],
        )
        .unwrap();
        assert_eq!(found.decision, decision, "{factor}: {found:?}");
        assert!(found.requirements[0].bound.unwrap() >= found.requirements[0].ratio);
    }
}

#[test]
fn decision_of_a_gate_is_that_of_its_worst_requirement() {
    let two = |rate: f64, other: f64| {
        let mut side = around("new", rate);
        for (block, run) in side.runs.iter_mut().enumerate() {
            run.values
                .insert(Metric::Written, other * [1.01, 0.99, 1.0][block % 3]);
        }
        side
    };
    let mut baseline = base();
    for run in &mut baseline.side.runs {
        run.values.insert(Metric::Written, 100.0);
    }
    let requirements = ["transactions >= 0.9", "written >= 0.9"];
    for (rates, decision) in [
        ((100.0, 100.0), Decision::Passed),
        ((100.0, 90.0), Decision::Undecided),
        ((100.0, 70.0), Decision::Failed),
        ((70.0, 90.0), Decision::Failed),
    ] {
        let found = gate(two(rates.0, rates.1), baseline.clone(), &requirements).unwrap();
        assert_eq!(found.decision, decision, "{rates:?}: {found:?}");
    }
}

#[test]
fn tests_of_all_requirements_share_the_error_of_failing() {
    // The limit for p is 1 % with a single test, and 0.1 % for the smallest p of ten tests.
    let side = || around("new", 89.2);
    let alone = gate(side(), base(), &["transactions >= 0.9"]).unwrap();
    let p = alone.requirements[0].p.unwrap();
    assert!(p < 0.05 && alone.decision != Decision::Passed, "{p}");
    let mut sides = vec![side()];
    sides.extend((1..10).map(|number| around(&number.to_string(), 100.0)));
    let ten = Gate::of(
        vec![SideGroup {
            baseline: base(),
            sides,
        }],
        &[requirement("transactions >= 0.9")],
        GateRules::default(),
    )
    .unwrap();
    assert_eq!(ten.decision == Decision::Failed, p <= 0.001, "{p}");
    assert_eq!(alone.decision == Decision::Failed, p <= 0.01, "{p}");
    assert!(
        ten.requirements[1..]
            .iter()
            .all(|judged| judged.decision == Decision::Passed)
    );
}

#[test]
fn gate_with_too_few_blocks_is_undecided() {
    for rate in [100.0, 50.0] {
        let mut side = around("new", rate);
        side.runs.truncate(4);
        let found = gate(side, base(), &["transactions >= 0.97"]).unwrap();
        assert_eq!(found.decision, Decision::Undecided);
        assert!(found.requirements[0].p.is_none() && found.blocks_needed_to_pass.is_some());
    }
    let single = gate(
        apart("new", &[100.0]),
        Baseline::alone(apart("base", &[100.0])),
        &["transactions >= 0.5"],
    );
    let single = single.unwrap();
    assert_eq!(
        (single.decision, single.blocks_needed_to_pass),
        (Decision::Undecided, None)
    );
}

#[test]
fn a_baseline_without_included_runs_is_an_error_and_never_a_pass() {
    let requirements = ["transactions >= 0.97"];
    let without = |runs: fn(&mut ComparedSide)| {
        let mut side = in_blocks("base", &[100.0; 10]);
        runs(&mut side);
        side
    };
    let refused = |side, baseline, requirements: &[&str], words: &str| {
        let why = gate(side, baseline, requirements).unwrap_err().to_string();
        assert!(why.contains(words), "{why}");
    };
    let missing = Baseline::alone(without(|side| side.runs.clear()));
    let new = || around("new", 100.0);
    refused(new(), missing, &requirements, "'base' has no runs");
    let all_invalid = without(|side| {
        side.runs
            .iter_mut()
            .for_each(|run| run.level = Level::Invalid)
    });
    let why = "all 10 runs of 'base' are INVALID";
    refused(
        new(),
        Baseline::alone(all_invalid.clone()),
        &requirements,
        why,
    );
    // INVALID second runs of the baseline and INVALID runs of the candidate are errors as well.
    let twin = Baseline {
        twin: Some(all_invalid.clone()),
        ..base()
    };
    assert!(gate(new(), twin, &requirements).is_err());
    assert!(gate(all_invalid, base(), &requirements).is_err());
    let many = without(|side| {
        side.runs[..3]
            .iter_mut()
            .for_each(|run| run.level = Level::Invalid)
    });
    let why = "more than 20 % of the blocks of 'new' and 'base' are INVALID";
    refused(new(), Baseline::alone(many), &requirements, why);
    let why = "create.p99 is not in the runs of 'new' and 'base'";
    refused(new(), base(), &["create.p99 <= 1.1"], why);
    let group = SideGroup {
        baseline: base(),
        sides: Vec::new(),
    };
    let rules = GateRules::default();
    let without_sides = Gate::of(vec![group], &[requirement("transactions >= 0.9")], rules);
    let why = without_sides.unwrap_err().to_string();
    assert!(why.contains("a side to hold against it"), "{why}");
    refused(new(), base(), &[], "a gate needs a requirement");
}

#[test]
fn a_confirmation_uses_new_blocks_only() {
    // The candidate is slow in the first ten blocks, and as fast as the baseline in the next ten.
    let mut side = around("new", 80.0);
    side.runs.extend((11..=20).map(|block| {
        run(
            Some(block),
            &[(Metric::Transactions, 100.0 + f64::from(block % 2))],
        )
    }));
    let baseline = || Baseline::alone(in_blocks("base", &[100.0; 20]));
    let requirements = [requirement("transactions >= 0.97")];
    let gate = |after| {
        Gate::of(
            vec![SideGroup {
                baseline: baseline(),
                sides: vec![side.clone()],
            }],
            &requirements,
            GateRules {
                after,
                ..GateRules::default()
            },
        )
    };
    assert_ne!(gate(None).unwrap().decision, Decision::Passed);
    let confirmed = gate(Some(10)).unwrap();
    assert_eq!(
        (confirmed.decision, confirmed.requirements[0].count),
        (Decision::Passed, 10)
    );
    assert_eq!(confirmed.confirmed_after, Some(10));
    let told = gate(Some(20)).unwrap_err().to_string();
    told.shows("after block 20");
}

#[test]
fn serialised_gate_contains_decision_and_requirement() {
    let found = gate(around("new", 100.0), base(), &["transactions >= 0.97"]).unwrap();
    let json = serde_json::to_string(&found).unwrap();
    assert!(
        json.contains("\"decision\":\"passed\"")
            && json.contains("\"requirement\":\"transactions >= 0.97\"")
    );
    let back: Gate = serde_json::from_str(&json).unwrap();
    assert_eq!(back.decision, found.decision);
}

/// Returns a candidate and a baseline. The candidate is slower in all blocks, by nearly the same
/// ratio.
fn always_last(blocks: usize) -> (ComparedSide, Baseline) {
    let rates: Vec<f64> = (0..blocks)
        .map(|block| [90.0, 90.2, 89.8][block % 3])
        .collect();
    (
        in_blocks("new", &rates),
        Baseline::alone(in_blocks("base", &vec![100.0; blocks])),
    )
}

#[test]
fn a_failure_requires_enough_blocks_for_the_order_test() {
    // There are five blocks with two runs each. In 1 of 32 orders, the candidate's run is the worst
    // of every block, even if the systems are identical.
    let (side, baseline) = always_last(5);
    let found = gate(side, baseline, &["transactions >= 0.97"]).unwrap();
    let judged = &found.requirements[0];
    assert!(judged.p.unwrap() < 0.0001, "{judged:?}");
    judged.assert((judged.order_p.unwrap() - 1.0 / 32.0).abs() < 1e-12);
    assert_eq!(
        (found.decision, judged.blocks_to_fail_min),
        (Decision::Undecided, 7)
    );
    assert!(found.blocks_needed_to_pass.unwrap() >= 7);
    let (side, baseline) = always_last(7);
    let found = gate(side, baseline, &["transactions >= 0.97"]).unwrap();
    assert_eq!(found.decision, Decision::Failed, "{found:?}");
    // With three runs in each of five blocks, the candidate's run is the worst of every block in
    // only 1 of 243 orders.
    let (side, baseline) = always_last(5);
    let twin = Some(in_blocks("base", &[100.5; 5]));
    let found = gate(
        side,
        Baseline { twin, ..baseline },
        &["transactions >= 0.97"],
    )
    .unwrap();
    let order_p = found.requirements[0].order_p.unwrap();
    assert!((order_p - 1.0 / 243.0).abs() < 1e-12, "{order_p}");
    assert_eq!(found.decision, Decision::Failed);
    // If lower values are better, the worst runs are the highest.
    let latency = |mut side: ComparedSide| {
        for run in &mut side.runs {
            let value = 1e6 / run.values[&Metric::Transactions];
            run.values = [("create.p99".parse().unwrap(), value)].into();
        }
        side
    };
    let (side, baseline) = always_last(7);
    let baseline = Baseline::alone(latency(baseline.side));
    let found = gate(latency(side), baseline, &["create.p99 <= 1.05"]).unwrap();
    assert!((found.requirements[0].order_p.unwrap() - 1.0 / 128.0).abs() < 1e-12);
    assert_eq!(found.decision, Decision::Failed);
    // Runs that were not interleaved have no random order.
    let found = gate(
        apart("new", &[90.0, 90.2, 89.8, 90.0, 90.1]),
        Baseline::alone(apart("base", &[100.0, 100.2, 99.8, 100.1, 99.9])),
        &["transactions >= 0.97"],
    );
    let found = found.unwrap();
    assert_eq!(
        (found.decision, found.requirements[0].order_p),
        (Decision::Failed, None)
    );
}

#[test]
fn the_documented_numbers_of_blocks_are_correct() {
    // With a bound of 0.985, identical systems pass with a probability of 95 %, and a loss of 3 %
    // fails with a probability of 80 %. In 1 % of the gates, the A/A control is doubtful by chance.
    let is_enough = |blocks: u32, spread: f64| {
        let (root, degrees) = (f64::from(blocks).sqrt(), f64::from(blocks) - 1.0);
        let distance = |one: f64, other: f64| (one / other).ln() * root / spread;
        let passed = power(distance(1.0, 0.985), study::gate::PASS_ALPHA, degrees);
        let failed = power(distance(0.985, 0.97), study::gate::FAIL_ALPHA, degrees);
        passed >= 0.96 && failed >= 0.8
    };
    let blocks = [0.01, 0.02, 0.03]
        .map(|spread| (5..100).find(|blocks| is_enough(*blocks, spread)).unwrap());
    let documented = format!(
        "{} blocks at a standard deviation of 1 %, {} at 2 % and {} at 3 %",
        blocks[0], blocks[1], blocks[2]
    );
    // The ratio of two runs deviates by the square root of 2 times as much as a run.
    let runs = [0.01, 0.02, 0.03].map(|spread| {
        let enough = |runs: &u32| is_enough(*runs, spread * 2_f64.sqrt());
        (5..200).find(enough).unwrap()
    });
    let of_runs = format!(
        "{} runs of each side at 1 %, {} at 2 % and {} at 3 %",
        runs[0], runs[1], runs[2]
    );
    let documents = [
        include_str!("../../../../docs/reference/gates.md"),
        include_str!("../../../cli/src/args/compare.rs"),
        include_str!("../../../cli/help/ci.txt"),
    ];
    // A backslash continues a line of a Rust string.
    let words = |text: &str| text.replace(" \\\n", " ");
    let documents = documents.map(|text| {
        let words = words(text);
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    });
    for text in &documents {
        assert!(text.contains(&documented), "{documented}");
    }
    for text in &documents[1..] {
        assert!(text.contains(&of_runs), "{of_runs}");
    }
    // A bound of 0.975 finds a loss of 5 %.
    let runs = [6, 16, 34].into_iter().zip([0.01, 0.02, 0.03]);
    for (runs, spread) in runs {
        let (root, degrees) = (f64::from(runs).sqrt(), f64::from(runs) - 1.0);
        let distance = |ratio: f64| ratio.ln() * root / (spread * 2_f64.sqrt());
        let passed = power(distance(1.0 / 0.975), study::gate::PASS_ALPHA, degrees);
        let failed = power(distance(0.975 / 0.95), study::gate::FAIL_ALPHA, degrees);
        assert!(
            passed >= 0.96 && failed >= 0.8,
            "{runs}: {passed}, {failed}"
        );
    }
    // With a bound of 0.97, a loss of 3 % meets the requirement exactly. The gate then fails only
    // by chance, with a probability of 1 %, even with 100 blocks.
    assert!((power(0.0, study::gate::FAIL_ALPHA, 99.0) - 0.01).abs() < 1e-6);
}
