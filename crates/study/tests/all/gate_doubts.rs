//! Tests of the doubts that keep a gate from passing, and of the ratios that fail it.

use study::{Baseline, Decision, Gate, GateDoubt, GateRules, SideGroup};
use testkit::Assert;
use verdict::Level;

use crate::gates::{around, base, gate, requirement};
use crate::made::in_blocks;

#[test]
fn a_doubtful_study_passes_only_if_allowed() {
    let decided = |side: f64, allows_doubtful: bool| {
        let twin = Some(around("base", 104.0));
        let group = SideGroup {
            baseline: Baseline { twin, ..base() },
            sides: vec![around("new", side)],
        };
        let rules = GateRules {
            allows_doubtful,
            ..GateRules::default()
        };
        let gate = Gate::of(vec![group], &[requirement("transactions >= 0.9")], rules).unwrap();
        assert!(!gate.doubts.is_empty() && gate.comparisons[0].is_doubtful);
        gate.decision
    };
    assert_eq!(decided(102.0, false), Decision::Undecided);
    assert_eq!(decided(102.0, true), Decision::Passed);
    // A great loss fails even if the study is doubtful. The permutation test needs only the random
    // order of the runs, so it remains valid on a disturbed machine.
    assert_eq!(decided(80.0, false), Decision::Failed);
}

#[test]
fn runs_that_are_mostly_doubtful_decide_only_if_allowed() {
    let decided = |doubtful: usize, rate: f64, is_interleaved: bool, allows_doubtful: bool| {
        let (mut side, mut baseline) = (around("new", rate), base());
        for run in &mut side.runs[..doubtful] {
            run.level = Level::Doubtful;
        }
        if !is_interleaved {
            let all = side.runs.iter_mut().chain(&mut baseline.side.runs);
            all.for_each(|run| run.block = None);
            baseline.twin = None;
        }
        let group = SideGroup {
            baseline,
            sides: vec![side],
        };
        let rules = GateRules {
            allows_doubtful,
            ..GateRules::default()
        };
        let gate = Gate::of(vec![group], &[requirement("transactions >= 0.9")], rules);
        gate.unwrap().decision
    };
    assert_eq!(decided(5, 100.0, true, false), Decision::Passed);
    assert_eq!(decided(6, 100.0, true, false), Decision::Undecided);
    assert_eq!(decided(6, 100.0, true, true), Decision::Passed);
    // Only the random order of interleaved runs shows that a disturbance is not the difference.
    assert_eq!(decided(6, 50.0, true, false), Decision::Failed);
    assert_eq!(decided(5, 50.0, false, false), Decision::Failed);
    assert_eq!(decided(6, 50.0, false, false), Decision::Undecided);
    assert_eq!(decided(6, 50.0, false, true), Decision::Failed);
}

/// The A/A control shows no difference, but its interval is wider than the requirement's margin.
#[test]
fn a_control_wider_than_the_margin_passes_only_if_allowed() {
    let factors = [0.8, 1.2, 0.9, 1.1, 1.0];
    let rates = |shift: usize| -> Vec<f64> {
        let factor = |block: usize| factors[(block * 2 + shift) % 5];
        (0..10).map(|block| 100.0 * factor(block)).collect()
    };
    let decided = |text: &str, allows_doubtful: bool| {
        let group = SideGroup {
            baseline: Baseline {
                side: in_blocks("base", &rates(0)),
                twin: Some(in_blocks("base", &rates(3))),
            },
            sides: vec![around("new", 150.0)],
        };
        let rules = GateRules {
            allows_doubtful,
            ..GateRules::default()
        };
        Gate::of(vec![group], &[requirement(text)], rules).unwrap()
    };
    let found = decided("transactions >= 0.97", false);
    let [
        GateDoubt::WideControl {
            half_width_90,
            margin,
            blocks_needed_for_control,
            ..
        },
    ] = &found.doubts[..]
    else {
        panic!("{:?}", found.doubts);
    };
    assert_eq!(found.decision, Decision::Undecided);
    found.assert(found.is_met() && *half_width_90 > *margin && (margin - 0.03).abs() < 1e-9);
    assert!(
        blocks_needed_for_control.unwrap() > 10,
        "{blocks_needed_for_control:?}"
    );
    let allowed = decided("transactions >= 0.97", true);
    assert_eq!(allowed.decision, Decision::Passed);
    // The control is narrow enough for a requirement with a wide margin.
    let wide = decided("transactions >= 0.5", false);
    assert_eq!(wide.decision, Decision::Passed, "{:?}", wide.doubts);
}

#[test]
fn a_violated_requirement_names_the_blocks_that_fail_it() {
    let mut side = around("new", 90.0);
    side.runs.truncate(6);
    let found = gate(side, base(), &["transactions >= 0.97"]).unwrap();
    let judged = &found.requirements[0];
    assert_eq!(found.decision, Decision::Undecided);
    assert_eq!(
        (
            judged.is_violated(),
            judged.blocks_needed_to_fail,
            judged.failing_ratio
        ),
        (true, Some(7), None)
    );
    // With enough blocks, only ratios beyond the threshold fail with a high probability.
    let found = gate(around("new", 100.0), base(), &["transactions >= 0.97"]).unwrap();
    let judged = &found.requirements[0];
    assert_eq!(
        (judged.is_violated(), judged.blocks_needed_to_fail),
        (false, None)
    );
    let failing = judged.failing_ratio.unwrap();
    assert!(failing > 0.94 && failing < 0.97, "{failing}");
}
