//! Numbers of blocks that a comparison and a gate forecast, and the order of separate sides.

use study::statistics::ALPHA;
use study::{
    Baseline, ComparedSide, Comparisons, Gate, GateRules, Metric, OrderApart, Requirement,
    SideGroup,
};

use crate::made::in_blocks;

/// Ratios of a candidate that vary little from block to block.
const RATIOS: [f64; 5] = [0.95, 1.0, 0.97, 1.01, 0.96];

/// A baseline whose two runs of a block deviate by `factors` in opposite directions, so that their
/// mean is the same in all blocks.
fn baseline(factors: [f64; 5]) -> Baseline {
    Baseline {
        side: in_blocks("old", &factors),
        twin: Some(in_blocks("old", &factors.map(f64::recip))),
    }
}

#[test]
fn forecast_uses_the_noise_of_the_control_if_it_is_greater() {
    let requirement: Requirement = "transactions >= 0.9".parse().unwrap();
    let of = |factors| {
        let (baseline, new) = (baseline(factors), in_blocks("new", &RATIOS));
        let metrics = [Metric::Transactions];
        let found = Comparisons::of(&baseline, std::slice::from_ref(&new), &metrics, ALPHA);
        let group = SideGroup {
            baseline,
            sides: vec![new],
        };
        let gate = Gate::of(vec![group], &[requirement], GateRules::default()).unwrap();
        let needed = gate.requirements[0].blocks_needed_to_pass;
        let noise = found.aa_controls[0].noise.unwrap();
        (*found.rows[0].estimate().unwrap(), noise, needed)
    };
    let (quiet, _, few) = of([1.001, 0.999, 1.002, 1.0, 0.998]);
    assert_eq!(quiet.forecast_deviation, quiet.standard_deviation);
    let (restless, noise, many) = of([1.4, 0.8, 1.3, 0.7, 1.2]);
    // The ratios of the blocks are the same, so their deviation does not show the noise.
    let close = |one: f64, other: f64| (one - other).abs() < 1e-9;
    assert!(close(
        restless.standard_deviation.unwrap(),
        quiet.standard_deviation.unwrap()
    ));
    assert!(close(
        restless.forecast_deviation.unwrap(),
        noise * 0.75_f64.sqrt()
    ));
    assert!(quiet.blocks_needed_to_show.unwrap() < 20, "{quiet:?}");
    assert!(
        restless.blocks_needed_to_show.unwrap() > 1000,
        "{restless:?}"
    );
    assert!(few.unwrap() < 20 && many.unwrap() > 100, "{few:?} {many:?}");
}

/// A side that was measured apart: one run in each block, which began at this time.
fn measured_apart(label: &str, times: &[u64]) -> ComparedSide {
    let mut side = in_blocks(label, &vec![1000.0; times.len()]);
    for (run, time) in side.runs.iter_mut().zip(times) {
        run.begun_unix_ns = *time;
        if let Some(block) = &mut run.block {
            block.is_interleaved = false;
        }
    }
    side
}

#[test]
fn order_of_sides_that_were_measured_apart_is_reported() {
    let of = |old: &[u64], new: &[u64]| {
        let baseline = Baseline::alone(measured_apart("old", old));
        let sides = [measured_apart("new", new)];
        let found = Comparisons::of(&baseline, &sides, &[Metric::Transactions], ALPHA);
        let has_drifts = found.drifts().next().is_some();
        (found.order_apart.unwrap(), has_drifts)
    };
    let order = |is_alternating, baseline_first| OrderApart {
        is_alternating,
        blocks: 5,
        baseline_first,
    };
    let always_first = of(&[1, 3, 5, 7, 9], &[2, 4, 6, 8, 10]);
    assert_eq!(always_first, (order(true, 5), false));
    let in_turn = of(&[1, 4, 5, 8, 9], &[2, 3, 6, 7, 10]);
    assert_eq!(in_turn, (order(true, 3), false));
    // A drift would look like a difference, so it is tested.
    let all_old_first = of(&[1, 2, 3, 4, 5], &[6, 7, 8, 9, 10]);
    assert_eq!(all_old_first, (order(false, 5), true));
}
