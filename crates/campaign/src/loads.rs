//! Chooses the next load of a sweep from the results of the earlier load levels, as a pure
//! function.

use record::Load;
use spec::{BISECTIONS_MAX, Climb, Sweep};
use verdict::{Limit, SweepStepSummary};

/// The saturation rate is bisected until the lowest unsustained rate exceeds the highest sustained
/// rate by at most this fraction.
const PRECISION: f64 = 0.05;
/// After this number of unsustained load levels, no higher loads are tried.
const FAILURES_MAX: usize = 2;

/// Returns the next load after the load levels `steps`; `None` if the sweep is complete. The
/// requested loads are tried first, in ascending order, until [`FAILURES_MAX`] of them were not
/// sustained. After that, the saturation rate and the highest rate that meets the SLO are bisected.
pub(crate) fn next_load(asked: &Sweep, steps: &[SweepStepSummary]) -> Option<Load> {
    let rates = match &asked.climb {
        Climb::Workers(workers) => return workers.get(steps.len()).copied().map(Load::Workers),
        Climb::Ranks(ranks) => return ranks.get(steps.len()).copied().map(Load::Ranks),
        Climb::Phases(loads) => {
            return (steps.len() < loads.len()).then_some(Load::Phase(steps.len() as u32));
        }
        Climb::OfClosedLoop(_) if steps.is_empty() => return Some(Load::Closed),
        Climb::Rates(_) | Climb::OfClosedLoop(_) => requested(asked, steps)?,
    };
    if let Some(rate) = rates.get(steps.iter().filter(is_rated).count())
        && failures(steps) < FAILURES_MAX
    {
        return Some(Load::Rate(*rate));
    }
    let (for_limit, for_slo) = bisections(asked, &rates, steps);
    halving(asked, steps, for_limit, for_slo).map(|(_, rate)| Load::Rate(rate))
}

/// Returns the maximum number of load levels that follow the load levels `steps`.
pub(crate) fn left_max(asked: &Sweep, steps: &[SweepStepSummary]) -> usize {
    if next_load(asked, steps).is_none() {
        return 0;
    }
    let is_shares = matches!(asked.climb, Climb::OfClosedLoop(_));
    let listed = asked.climb.sweep_steps() + usize::from(is_shares);
    let listed = match failures(steps) < FAILURES_MAX {
        true => listed.saturating_sub(steps.len()),
        false => 0,
    };
    if asked.climb.is_of_counts() || asked.climb.is_of_phases() {
        return listed;
    }
    let rates = requested(asked, steps).unwrap_or_default();
    let (for_limit, for_slo) = bisections(asked, &rates, steps);
    // While listed rates remain, any of them can become the lowest unsustained rate. The number of
    // bisections is not known yet, so the maximum is assumed.
    let bisections = |limit: Limit, done: usize| match listed {
        0 => halvings(limit).min(BISECTIONS_MAX.saturating_sub(done)),
        _ => BISECTIONS_MAX,
    };
    let slo = asked.slo().map_or(0, |slo| {
        let limit = Limit::of(steps, |step| step.meets(slo));
        bisections(limit, for_slo)
    });
    listed + bisections(Limit::of(steps, |step| Some(step.holds)), for_limit) + slo
}

/// Returns the rates that the option lists. Shares of the closed loop's rate are converted to
/// rates; `None` if that rate is not known. Also `None` for a sweep of workers or ranks, and for
/// phases.
fn requested(asked: &Sweep, steps: &[SweepStepSummary]) -> Option<Vec<f64>> {
    match &asked.climb {
        Climb::Rates(rates) => Some(rates.clone()),
        Climb::OfClosedLoop(shares) => {
            let closed = steps.first()?.achieved_per_second?;
            Some(shares.iter().map(|share| rounded(share * closed)).collect())
        }
        Climb::Workers(_) | Climb::Ranks(_) | Climb::Phases(_) => None,
    }
}

fn is_rated(step: &&SweepStepSummary) -> bool {
    step.load.rate().is_some()
}

fn failures(steps: &[SweepStepSummary]) -> usize {
    steps
        .iter()
        .filter(is_rated)
        .filter(|step| !step.holds)
        .count()
}

/// Counts the bisections among the load levels: those for the saturation rate, and those for the
/// SLO. A load level does not record its purpose. To determine the purpose, [`halving`] is called
/// with the load levels before it.
fn bisections(asked: &Sweep, rates: &[f64], steps: &[SweepStepSummary]) -> (usize, usize) {
    let asked_for = steps
        .iter()
        .filter(|step| step.load.rate().is_none_or(|rate| rates.contains(&rate)))
        .count();
    let (mut for_limit, mut for_slo) = (0, 0);
    for done in asked_for..steps.len() {
        match halving(asked, &steps[..done], for_limit, for_slo) {
            Some((true, _)) => for_limit += 1,
            Some((false, _)) => for_slo += 1,
            None => {}
        }
    }
    (for_limit, for_slo)
}

/// Returns the purpose and the rate of the next bisection. The purpose is `true` for the saturation
/// rate and `false` for the highest rate that meets the SLO. The saturation rate comes first. At
/// most [`BISECTIONS_MAX`] bisections serve each purpose. A rate is measured only once: if a level
/// did not decide the SLO, another level of the same length would not either.
fn halving(
    asked: &Sweep,
    steps: &[SweepStepSummary],
    for_limit: usize,
    for_slo: usize,
) -> Option<(bool, f64)> {
    let limit =
        between(Limit::of(steps, |step| Some(step.holds))).filter(|_| for_limit < BISECTIONS_MAX);
    let slo = || {
        let slo = asked.slo().filter(|_| for_slo < BISECTIONS_MAX)?;
        let rate = between(Limit::of(steps, |step| step.meets(slo)))?;
        let is_new = steps.iter().all(|step| step.load.rate() != Some(rate));
        is_new.then_some(rate)
    };
    limit
        .map(|rate| (true, rate))
        .or_else(|| Some((false, slo()?)))
}

/// Returns the geometric mean of a limit's two rates, because load levels usually differ by
/// factors. `None` if a rate is missing, or if the rates are closer than [`PRECISION`].
fn between(limit: Limit) -> Option<f64> {
    let (low, high) = (limit.highest?, limit.lowest_beyond?);
    (high > low * (1.0 + PRECISION)).then(|| rounded((low * high).sqrt()))
}

/// Rounds a rate to three significant digits. One measurement of a level tells no more about it.
fn rounded(rate: f64) -> f64 {
    let unit = 10_f64.powi(rate.log10().floor() as i32 - 2);
    match unit >= 1.0 {
        true => (rate / unit).round() * unit,
        // A division by a power of ten is exact in more cases than a multiplication by a fraction.
        false => (rate / unit).round() / (1.0 / unit).round(),
    }
}

/// Returns how many bisections a limit needs until its rates are closer than [`PRECISION`]. Each
/// bisection halves the logarithm of their ratio.
fn halvings(limit: Limit) -> usize {
    let ratio = |(low, high): (f64, f64)| (high / low).ln() / PRECISION.ln_1p();
    let ratio = limit.highest.zip(limit.lowest_beyond).map_or(1.0, ratio);
    ratio.max(1.0).log2().ceil() as usize
}

#[cfg(test)]
mod tests {
    use verdict::SloSummary;

    use super::*;

    fn asked(climb: Climb, slo_p99_ns: Option<u64>) -> Sweep {
        Sweep {
            climb,
            arrivals: workload::arrivals::ArrivalProcess::Poisson,
            fresh: false,
            slo_operation: None,
            slo_p99_ns,
        }
    }

    /// The results of a load level on a simulated server. Its capacity is `capacity` transactions a
    /// second, and its mean latency is that of a queue with random arrivals (M/M/1).
    fn climb(load: Load, capacity: f64) -> SweepStepSummary {
        let (achieved, fraction) = match load {
            Load::Rate(rate) => (rate.min(capacity), Some(rate.min(capacity) / rate)),
            Load::Closed | Load::Workers(_) | Load::Ranks(_) | Load::Phase(_) => (capacity, None),
        };
        let load_of = (achieved / capacity).min(0.999);
        let mean_ns = 1e9 / capacity / (1.0 - load_of);
        let tail = |share: f64| Some((-mean_ns * share.ln()) as u64);
        SweepStepSummary {
            load,
            name: None,
            workers: 1,
            complete: true,
            transactions: (achieved * 10.0) as u64,
            achieved_per_second: Some(achieved),
            achieved_fraction: fraction,
            caught_up_fraction: None,
            waiting: fraction.map(|fraction| if fraction < 1.0 { 100_000 } else { 0 }),
            mean_ns: Some(mean_ns),
            p50_ns: tail(0.5),
            p99_ns: tail(0.01),
            p999_ns: tail(0.001),
            max_ns: None,
            service_p99_ns: None,
            operations: (achieved * 10.0) as u64,
            failed: 0,
            skipped: workload::Skipped::default(),
            by_operation: Vec::new(),
            holds: fraction.is_none_or(|fraction| fraction >= 0.99),
        }
    }

    fn climbed(asked: &Sweep, capacity: f64) -> Vec<SweepStepSummary> {
        let mut sweep_steps = Vec::new();
        while let Some(load) = next_load(asked, &sweep_steps) {
            sweep_steps.push(climb(load, capacity));
            assert!(sweep_steps.len() < 40, "it ends: {sweep_steps:?}");
        }
        sweep_steps
    }

    fn rates(sweep_steps: &[SweepStepSummary]) -> Vec<f64> {
        sweep_steps
            .iter()
            .filter_map(|sweep_step| sweep_step.load.rate())
            .collect()
    }

    #[test]
    fn rates_have_three_significant_digits() {
        for (rate, expected) in [
            (1_072.34, 1_070.0),
            (107_234.0, 107_000.0),
            (99.96, 100.0),
            (12.345, 12.3),
            (0.012_34, 0.0123),
        ] {
            assert_eq!(rounded(rate), expected);
        }
    }

    #[test]
    fn saturation_rate_is_determined_by_bisection() {
        let asked = asked(
            Climb::Rates(vec![100.0, 200.0, 400.0, 800.0, 1_600.0, 3_200.0]),
            None,
        );
        let sweep_steps = climbed(&asked, 1_000.0);
        // The rates 1,600 and 3,200 are not sustained, so rates between 800 and 1,600 are bisected.
        let all = rates(&sweep_steps);
        assert_eq!(all[..6], [100.0, 200.0, 400.0, 800.0, 1_600.0, 3_200.0]);
        assert_eq!(all[6], 1_130.0, "the geometric mean is 1,131.4");
        let limit = Limit::of(&sweep_steps, |step| Some(step.holds));
        let (highest, beyond) = (limit.highest.unwrap(), limit.lowest_beyond.unwrap());
        assert!(
            highest <= 1_010.2 && beyond >= 1_010.0 && beyond <= highest * 1.05,
            "{limit:?}"
        );
    }

    #[test]
    fn higher_loads_are_skipped_after_two_unsustained_ones() {
        let sweep_steps = climbed(
            &asked(Climb::Rates(vec![50.0, 110.0, 120.0, 900.0]), None),
            100.0,
        );
        let rates = rates(&sweep_steps);
        assert!(!rates.contains(&900.0), "{rates:?}");
        assert_eq!(rates[..3], [50.0, 110.0, 120.0]);
    }

    #[test]
    fn nothing_is_bisected_if_all_or_no_loads_are_sustained() {
        let all = asked(Climb::Rates(vec![1.0, 2.0, 3.0]), None);
        assert_eq!(rates(&climbed(&all, 100.0)), [1.0, 2.0, 3.0]);
        let sweep_steps = climbed(&all, 0.5);
        assert_eq!(rates(&sweep_steps), [1.0, 2.0]);
        let limit = Limit::of(&sweep_steps, |step| Some(step.holds));
        assert_eq!((limit.highest, limit.lowest_beyond), (None, Some(1.0)));
    }

    #[test]
    fn load_shares_are_multiplied_by_the_closed_loop_rate() {
        let sweep_steps = climbed(
            &asked(Climb::OfClosedLoop(vec![0.3, 0.6, 0.9]), None),
            500.0,
        );
        assert_eq!(sweep_steps[0].load, Load::Closed);
        assert_eq!(rates(&sweep_steps), [150.0, 300.0, 450.0]);
    }

    #[test]
    fn highest_rate_within_the_slo_is_bisected_after_the_saturation_rate() {
        // The p99 latency of an M/M/1 queue is -ln(0.01) / (capacity - rate). It is below 10 ms up
        // to a rate of 1,000 + ln(0.01) / 0.01 = 539.5 transactions a second.
        let asked = asked(
            Climb::Rates(vec![200.0, 400.0, 800.0, 1_600.0]),
            Some(10_000_000),
        );
        let sweep_steps = climbed(&asked, 1_000.0);
        let slo = SloSummary::of(asked.slo().unwrap(), &sweep_steps);
        let (highest, beyond) = (slo.limit.highest.unwrap(), slo.limit.lowest_beyond.unwrap());
        assert!(highest <= 539.5 && beyond >= 539.5, "{highest} {beyond}");
        assert!(beyond <= highest * (1.0 + PRECISION));
        assert_eq!(slo.nearest, None);
        let limit = Limit::of(&sweep_steps, |step| Some(step.holds));
        assert!(
            limit.highest.unwrap() <= 1_010.1 && limit.lowest_beyond.unwrap() >= 1_010.1,
            "{limit:?}"
        );
    }

    #[test]
    fn summary_of_unmet_slo_contains_the_nearest_load() {
        let asked = asked(Climb::Rates(vec![800.0, 900.0]), Some(1_000));
        let sweep_steps = climbed(&asked, 1_000.0);
        let slo = SloSummary::of(asked.slo().unwrap(), &sweep_steps);
        assert_eq!(slo.limit.highest, None);
        assert_eq!(slo.nearest.unwrap().0, 0, "the lowest load is the nearest");
    }

    #[test]
    fn lowest_unsustained_load_is_the_limit() {
        let mut sweep_steps: Vec<SweepStepSummary> = [10.0, 20.0, 30.0]
            .map(|rate| climb(Load::Rate(rate), 100.0))
            .into();
        sweep_steps[1].holds = false;
        let limit = Limit::of(&sweep_steps, |step| Some(step.holds));
        assert_eq!(
            (limit.highest, limit.lowest_beyond),
            (Some(10.0), Some(20.0))
        );
    }

    #[test]
    fn remaining_load_levels_never_exceed_the_announced_maximum() {
        let listed = vec![100.0, 200.0, 400.0, 800.0, 1_600.0, 3_200.0];
        for (climb, slo_p99_ns, capacity) in [
            (Climb::Rates(listed.clone()), None, 1_000.0),
            (Climb::Rates(listed.clone()), Some(10_000_000), 1_000.0),
            (Climb::Rates(listed.clone()), Some(10_000_000), 50.0),
            (Climb::Rates(listed), None, 1e6),
            (
                Climb::OfClosedLoop(vec![0.3, 0.6, 1.2]),
                Some(50_000_000),
                500.0,
            ),
            (Climb::Workers(vec![1, 2, 4]), None, 500.0),
        ] {
            let asked = asked(climb, slo_p99_ns);
            let all = climbed(&asked, capacity);
            for done in 0..=all.len() {
                let (left, most) = (all.len() - done, left_max(&asked, &all[..done]));
                assert!(left <= most, "{asked:?}: {left} of {most} after {done}");
            }
            assert_eq!(left_max(&asked, &all), 0);
        }
        // 800 and 1,600 differ by a factor of 1.05 to the power of 14.2. Each bisection halves this
        // exponent, and after four it is below 1.
        let asked = asked(Climb::Rates(vec![400.0, 800.0, 1_600.0]), None);
        let all = climbed(&asked, 1_000.0);
        assert_eq!(left_max(&asked, &all[..3]), 4);
        assert_eq!(left_max(&asked, &[]), 3 + BISECTIONS_MAX);
    }

    #[test]
    fn worker_counts_are_applied_in_order() {
        let asked = asked(Climb::Workers(vec![1, 2, 4]), None);
        let sweep_steps = climbed(&asked, 10.0);
        let loads: Vec<Load> = sweep_steps
            .iter()
            .map(|sweep_step| sweep_step.load)
            .collect();
        assert_eq!(
            loads,
            [Load::Workers(1), Load::Workers(2), Load::Workers(4)]
        );
    }

    #[test]
    fn rank_counts_are_applied_in_order() {
        let asked = asked(Climb::Ranks(vec![1, 3]), None);
        let loads: Vec<Load> = climbed(&asked, 10.0).iter().map(|step| step.load).collect();
        assert_eq!(loads, [Load::Ranks(1), Load::Ranks(3)]);
    }
}
