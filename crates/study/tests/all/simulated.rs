//! Tests the error probabilities of intervals and gates in simulated studies, whose truth is known.
//! Seeds are fixed, so that the tests always have the same result.

use study::statistics::ALPHA;
use study::{Comparisons, Decision, Gate, GateRules, Looks, Metric, Requirement, SideGroup};

use crate::made::{Machine, Noisy, empty};

const NOISY: [Noisy; 4] = [
    Noisy {
        spread: 0.03,
        correlation: 0.0,
        has_twin: true,
    },
    Noisy {
        spread: 0.03,
        correlation: 0.5,
        has_twin: true,
    },
    Noisy {
        spread: 0.05,
        correlation: 0.0,
        has_twin: false,
    },
    Noisy {
        spread: 0.05,
        correlation: 0.5,
        has_twin: false,
    },
];

fn requirements(bound: f64) -> Vec<Requirement> {
    let names = [
        "transactions",
        "read",
        "written",
        "create",
        "append",
        "delete",
        "stat",
        "rename",
        "overwrite",
        "truncate",
    ];
    let all = names.map(|name| format!("{name} >= {bound}").parse().unwrap());
    all.to_vec()
}

fn metrics(requirements: &[Requirement]) -> Vec<Metric> {
    requirements.iter().map(Requirement::metric).collect()
}

#[test]
fn intervals_of_ten_blocks_have_their_nominal_coverage() {
    const STUDIES: u32 = 2_000;
    for (place, noisy) in NOISY.into_iter().enumerate() {
        let mut held = 0;
        for seed in 0..STUDIES {
            let mut machine = Machine::new(
                u64::from(seed) << 8 | place as u64,
                noisy,
                &[Metric::Transactions],
            );
            let mut study = empty(noisy);
            machine.blocks(&mut study, 1..=10, 0.9);
            let found = Comparisons::of(&study.0, &[study.1], &[Metric::Transactions], ALPHA);
            let interval = found.rows[0].estimate().unwrap().interval.unwrap();
            held += u32::from(interval.low <= 0.9 && 0.9 <= interval.high);
        }
        let share = f64::from(held) / f64::from(STUDIES);
        assert!((0.93..=0.97).contains(&share), "{noisy:?}: {share}");
    }
}

#[test]
fn all_intervals_of_a_table_contain_the_true_ratios() {
    const STUDIES: u32 = 1_000;
    let metrics = metrics(&requirements(0.9));
    let mut held = 0;
    for seed in 0..STUDIES {
        let mut machine = Machine::new(u64::from(seed), NOISY[1], &metrics);
        let mut study = empty(NOISY[1]);
        machine.blocks(&mut study, 1..=10, 1.1);
        let found = Comparisons::of(&study.0, &[study.1], &metrics, ALPHA);
        let holds = found.rows.iter().all(|row| {
            let interval = row.estimate().unwrap().interval.unwrap();
            interval.low <= 1.1 && 1.1 <= interval.high
        });
        held += u32::from(holds);
    }
    let share = f64::from(held) / f64::from(STUDIES);
    // If each of ten intervals had a confidence of 95 %, only 60 % of the studies would have the
    // true ratio in all ten. The intervals are therefore wider: 95 % of the studies have the true
    // ratio in all ten.
    assert!((0.93..=0.98).contains(&share), "{share}");
}

#[test]
fn identical_systems_pass_with_the_blocks_that_the_gate_requests() {
    const GATES: u32 = 150;
    let (mut failed, mut passed) = (0, 0);
    for (place, noisy) in NOISY.into_iter().enumerate() {
        let requirements = requirements(if noisy.spread > 0.04 { 0.95 } else { 0.97 });
        let metrics = metrics(&requirements);
        for seed in 0..GATES {
            let mut machine = Machine::new(u64::from(seed) << 8 | place as u64, noisy, &metrics);
            let mut study = empty(noisy);
            machine.blocks(&mut study, 1..=10, 1.0);
            // The first gate reports the number of blocks that are needed at the observed spread.
            let first = gate(&study, &requirements);
            let needed = first.blocks_needed_to_pass.unwrap();
            if needed > 10 {
                machine.blocks(&mut study, 11..=needed, 1.0);
            }
            let decision = gate(&study, &requirements).decision;
            failed += u32::from(decision == Decision::Failed || first.decision == Decision::Failed);
            passed += u32::from(decision == Decision::Passed);
        }
    }
    let all = f64::from(4 * GATES);
    assert!(f64::from(failed) <= 0.01 * all, "{failed} failed");
    assert!(f64::from(passed) >= 0.95 * all, "{passed} passed");
}

#[test]
fn first_blocks_suffice_to_estimate_the_blocks_needed() {
    const GATES: u32 = 400;
    let requirements = ["transactions >= 0.97".parse().unwrap()];
    for pilot in [5, 10] {
        let noisy = Noisy {
            spread: 0.06,
            ..NOISY[2]
        };
        let mut passed = 0;
        for seed in 0..GATES {
            let mut machine =
                Machine::new(u64::from(seed) << 8 | pilot, noisy, &[Metric::Transactions]);
            let mut study = empty(noisy);
            let pilot = pilot as u32;
            machine.blocks(&mut study, 1..=pilot, 1.0);
            let asked = gate(&study, &requirements).blocks_needed_to_pass.unwrap();
            machine.blocks(&mut study, pilot + 1..=asked, 1.0);
            passed += u32::from(gate(&study, &requirements).decision == Decision::Passed);
        }
        let share = f64::from(passed) / f64::from(GATES);
        assert!(share >= 0.95, "first {pilot}: {share}");
    }
}

fn gate(
    (baseline, side): &(study::Baseline, study::ComparedSide),
    requirements: &[Requirement],
) -> Gate {
    Gate::of(
        vec![SideGroup {
            baseline: baseline.clone(),
            sides: vec![side.clone()],
        }],
        requirements,
        GateRules::default(),
    )
    .unwrap()
}

#[test]
fn systems_on_the_threshold_seldom_fail_and_seldom_pass() {
    const GATES: u32 = 1_000;
    let requirements = requirements(0.9);
    let metrics = metrics(&requirements);
    let (mut failed, mut passed) = (0, 0);
    for seed in 0..GATES {
        let mut machine = Machine::new(u64::from(seed), NOISY[1], &metrics);
        let mut study = empty(NOISY[1]);
        machine.blocks(&mut study, 1..=10, 0.9);
        let gate = gate(&study, &requirements);
        failed += u32::from(gate.decision == Decision::Failed);
        passed += gate
            .requirements
            .iter()
            .filter(|judged| judged.decision == Decision::Passed)
            .count();
    }
    // The true ratio is 0.9, as the requirements demand. A gate may then fail by chance with a
    // probability of 1 %: 10 of 1,000 gates. The limit adds three standard deviations of 3.1 gates.
    assert!(failed <= 20, "{failed} failed");
    // At this ratio, a requirement passes by chance with a probability of 5 %: 500 of 10,000
    // requirements. The correlation of blocks changes this number little.
    assert!((350..=650).contains(&passed), "{passed} passed");
}

#[test]
fn gate_detects_a_loss_of_ten_percent_and_never_passes() {
    const GATES: u32 = 1_000;
    for (place, noisy) in NOISY[..2].iter().enumerate() {
        let requirements = ["transactions >= 0.97".parse().unwrap()];
        let mut failed = 0;
        for seed in 0..GATES {
            let mut machine = Machine::new(
                u64::from(seed) << 8 | place as u64,
                *noisy,
                &[Metric::Transactions],
            );
            let mut study = empty(*noisy);
            machine.blocks(&mut study, 1..=10, 0.9);
            let decision = gate(&study, &requirements).decision;
            assert_ne!(decision, Decision::Passed);
            failed += u32::from(decision == Decision::Failed);
        }
        assert!(failed >= GATES * 9 / 10, "{failed} of {GATES}");
    }
}

#[test]
fn intervals_of_studies_with_looks_have_nominal_coverage() {
    const STUDIES: u32 = 1_000;
    let looks = Looks::new(40);
    for (place, noisy) in NOISY.into_iter().enumerate() {
        let (mut held, mut early) = (0, 0);
        for seed in 0..STUDIES {
            let mut machine = Machine::new(
                u64::from(seed) << 8 | place as u64,
                noisy,
                &[Metric::Transactions],
            );
            let mut study = empty(noisy);
            let mut done = 0;
            for look in looks.blocks() {
                machine.blocks(&mut study, done + 1..=*look, 0.9);
                done = *look;
                let alpha = looks.alpha(*look, ALPHA).unwrap();
                let side = std::slice::from_ref(&study.1);
                let found = Comparisons::of(&study.0, side, &[Metric::Transactions], alpha);
                let is_narrow = found.half_width_max().unwrap() <= 0.02;
                if is_narrow || *look == looks.max_blocks() {
                    early += u32::from(*look < looks.max_blocks());
                    let interval = found.rows[0].estimate().unwrap().interval.unwrap();
                    held += u32::from(interval.low <= 0.9 && 0.9 <= interval.high);
                    break;
                }
            }
        }
        let share = f64::from(held) / f64::from(STUDIES);
        assert!(share >= 0.95, "{noisy:?}: {share}");
        assert!(
            noisy.spread > 0.04 || early > 0,
            "{noisy:?}: none ends before its time"
        );
    }
}

#[test]
fn smallest_detectable_difference_is_shown_with_the_stated_power() {
    const STUDIES: u32 = 1_000;
    let noisy = NOISY[0];
    // The smallest difference that ten blocks show. `noisy.spread` applies to the difference of two
    // single runs, with the variance 1 + 1. A block compares one run with the mean of two runs,
    // with the variance 1 + 1/2. The ratio of these variances is 0.75.
    let spread = noisy.spread * 0.75_f64.sqrt();
    let errors = study::statistics::Errors::of_interval(ALPHA);
    let smallest = errors.smallest_detectable(spread / 10.0_f64.sqrt(), 9.0);
    let mut shown = 0;
    for seed in 0..STUDIES {
        let mut machine = Machine::new(u64::from(seed), noisy, &[Metric::Transactions]);
        let mut study = empty(noisy);
        machine.blocks(&mut study, 1..=10, smallest.exp());
        let found = Comparisons::of(&study.0, &[study.1], &[Metric::Transactions], ALPHA);
        shown += u32::from(found.rows[0].estimate().unwrap().is_shown);
    }
    let share = f64::from(shown) / f64::from(STUDIES);
    assert!((0.77..=0.85).contains(&share), "{share}");
}
