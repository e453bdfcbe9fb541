//! A ladder of loads: which rungs are climbed, what each came to, and where the limits are.
//!
//! Pure: [`next_load`] says what is to be climbed next after the rungs so far, whoever climbs them.

use measure::knee::SENSITIVITY;
use measure::{Histogram, Knee, Meter, knee};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spec::{BISECTIONS_MAX, Climb, Ladder};
use workload::{Action, Role};

use crate::run::{Load, PhaseRecord, Rung};

/// Limits are narrowed down until the rate above is no more than this share higher than the one below.
pub const PRECISION: f64 = 0.05;
/// Of a rung that holds no greater share of the operations failed, or was skipped for that, than this: what failed is no load that was borne.
pub const FAILED_MAX: f64 = 0.01;
/// After so many rungs that did not hold no higher ones are climbed.
pub const FAILURES_MAX: usize = 2;

/// What a rung came to. Latencies are nothing where none were recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RungSummary {
    /// What it was to bear.
    pub load: Load,
    /// Workers that were at work.
    pub workers: u32,
    /// Whether it was climbed to its end; where it was not, no limit, goal or knee is taken from it.
    pub complete: bool,
    /// Transactions that were measured.
    pub transactions: u64,
    /// Transactions a second; nothing where none were measured.
    pub achieved_per_second: Option<f64>,
    /// Achieved over what has arrived; nothing in a closed loop.
    pub achieved_fraction: Option<f64>,
    /// Transactions that were due and not begun when it ended; nothing in a closed loop.
    pub waiting: Option<u64>,
    /// Operations of all kinds: the mean latency, in nanoseconds.
    pub mean_ns: Option<f64>,
    /// The median.
    pub p50_ns: Option<u64>,
    /// The 99th percentile.
    pub p99_ns: Option<u64>,
    /// The 99.9th percentile.
    pub p999_ns: Option<u64>,
    /// The greatest.
    pub max_ns: Option<u64>,
    /// The 99th percentile from issued to completed; nothing in a closed loop, where that is the latency.
    pub service_p99_ns: Option<u64>,
    /// Operations that were completed without an error.
    pub operations: u64,
    /// Operations that failed.
    pub failed: u64,
    /// Operations that were not sent, because an earlier one on the same file had failed.
    pub skipped: u64,
    /// The same by kind of operation.
    pub by_operation: Vec<RungOperation>,
    /// Whether it bore its load: every worker was up to its arrivals in the last fifth of the measured time
    /// ([`PhaseRecord::queue_is_bounded`]; a closed loop's always is), and no more than [`FAILED_MAX`] of the operations failed or
    /// were skipped.
    pub holds: bool,
}

/// Operations of one kind on a rung. Latencies are nothing where none succeeded, or none were recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RungOperation {
    /// Who did them.
    pub role: Role,
    /// Which kind.
    pub action: Action,
    /// How many were completed without an error.
    pub operations: u64,
    /// How many failed.
    pub failed: u64,
    /// The median of their latencies, in nanoseconds.
    pub p50_ns: Option<u64>,
    /// The 99th percentile.
    pub p99_ns: Option<u64>,
    /// The 99.9th percentile.
    pub p999_ns: Option<u64>,
    /// The greatest.
    pub max_ns: Option<u64>,
}

/// Operations of the measured segments by role and kind, in the order in which they are first seen.
fn by_operation(phase: &PhaseRecord) -> Vec<RungOperation> {
    let mut kinds: Vec<(Role, Action, Meter)> = Vec::new();
    for operation in phase.measured().flat_map(|segment| &segment.operations) {
        let same =
            |(role, action, _): &&mut (Role, Action, Meter)| (*role, *action) == (operation.role, operation.action);
        match kinds.iter_mut().find(same) {
            Some((_, _, meter)) => meter.merge(&operation.meter),
            None => kinds.push((operation.role, operation.action, operation.meter.clone())),
        }
    }
    let of_kind = |(role, action, meter): (Role, Action, Meter)| RungOperation {
        role,
        action,
        operations: meter.operations,
        failed: meter.failed,
        p50_ns: meter.latency.percentile(50.0),
        p99_ns: meter.latency.percentile(99.0),
        p999_ns: meter.latency.percentile(99.9),
        max_ns: meter.latency.max_ns(),
    };
    kinds.into_iter().map(of_kind).collect()
}

impl RungSummary {
    /// What a rung came to.
    pub fn of(rung: &Rung) -> Self {
        let mut latency = Histogram::default();
        let mut service: Option<Histogram> = None;
        let (mut transactions, mut ns) = (0, 0);
        let mut by_operation = Vec::new();
        let mut skipped = 0;
        let mut waiting = None;
        if let Some(phase) = rung.transactions() {
            for operation in phase.measured().flat_map(|segment| &segment.operations) {
                latency.merge(&operation.meter.latency);
                if let Some(more) = &operation.meter.service {
                    service.get_or_insert_default().merge(more);
                }
            }
            transactions = phase.transactions();
            ns = phase.measured_ns();
            waiting = phase.waiting;
            by_operation = self::by_operation(phase);
            skipped = phase.skipped();
        }
        let operations = by_operation.iter().map(|kind| kind.operations).sum::<u64>();
        let failed = by_operation.iter().map(|kind| kind.failed).sum::<u64>();
        let undone = failed as f64 + skipped as f64;
        let achieved_per_second = (ns > 0 && transactions > 0).then(|| transactions as f64 * 1e9 / ns as f64);
        let percentile = |percent| latency.percentile(percent);
        let mut summary = Self {
            load: rung.load,
            workers: rung.workers,
            complete: rung.transactions().is_some_and(|phase| phase.complete),
            transactions,
            achieved_per_second,
            achieved_fraction: None,
            waiting: None,
            mean_ns: latency.mean_ns(),
            p50_ns: percentile(50.0),
            p99_ns: percentile(99.0),
            p999_ns: percentile(99.9),
            max_ns: latency.max_ns(),
            service_p99_ns: None,
            operations,
            failed,
            skipped,
            by_operation,
            holds: achieved_per_second.is_some() && undone <= (operations as f64 + undone) * FAILED_MAX,
        };
        if let Load::Rate(_) = rung.load {
            let fraction = rung.transactions().and_then(PhaseRecord::done_fraction);
            summary.achieved_fraction = fraction;
            summary.waiting = waiting;
            summary.service_p99_ns = service.as_ref().and_then(|service| service.percentile(99.0));
            // Up to the moment at which all workers were up to their arrivals, all that had been requested was done.
            summary.holds &= rung.transactions().is_some_and(PhaseRecord::queue_is_bounded);
        }
        summary
    }

    fn rate(&self) -> Option<f64> {
        self.load.rate()
    }

    /// Whether it holds, and 99 % of its operations stay below the goal.
    pub fn meets(&self, goal_p99_ns: u64) -> bool {
        self.holds && self.p99_ns.is_some_and(|p99| p99 < goal_p99_ns)
    }
}

/// Between which rates a limit lies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limit {
    /// The highest rate that is well, and so is every lower one that was tried; nothing where the lowest is not.
    pub highest: Option<f64>,
    /// The lowest rate that is not; nothing where all are.
    pub lowest_beyond: Option<f64>,
}

impl Limit {
    fn of(rungs: &[RungSummary], is_well: impl Fn(&RungSummary) -> bool) -> Self {
        let by = |wanted: bool| {
            let rungs = rungs.iter().filter(|rung| rung.complete && is_well(rung) == wanted);
            rungs.filter_map(RungSummary::rate).collect::<Vec<f64>>()
        };
        let lowest_beyond = by(false).into_iter().reduce(f64::min);
        let below = |rate: &f64| lowest_beyond.is_none_or(|beyond| *rate < beyond);
        Self {
            highest: by(true).into_iter().filter(below).reduce(f64::max),
            lowest_beyond,
        }
    }

    /// The rate between both (their geometric mean: rates differ by factors), where they are not near enough yet.
    fn between(self) -> Option<f64> {
        let (low, high) = (self.highest?, self.lowest_beyond?);
        (high > low * (1.0 + PRECISION)).then(|| (low * high).sqrt())
    }
}

/// What became of a goal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GoalSummary {
    /// The latency that 99 % of the operations were to stay below, in nanoseconds.
    pub p99_ns: u64,
    /// Between which rates its limit lies.
    pub limit: Limit,
    /// The rung that comes nearest, by its place, with its 99th percentile; nothing where a rung meets it, or none was measured.
    pub nearest: Option<(usize, u64)>,
}

/// What a ladder came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LadderSummary {
    /// In the order in which they were climbed.
    pub rungs: Vec<RungSummary>,
    /// Up to which rate rungs hold; nothing of a ladder of workers.
    pub limit: Option<Limit>,
    /// Up to which rate the goal is met; nothing where there is none.
    pub goal: Option<GoalSummary>,
    /// The knee of mean latency over load, of the rungs that hold; nothing where they have none.
    pub knee: Option<Knee>,
}

impl LadderSummary {
    /// What these rungs come to.
    pub fn of(asked: &Ladder, rungs: &[Rung]) -> Self {
        let rungs: Vec<RungSummary> = rungs.iter().map(RungSummary::of).collect();
        let is_of_rates = !matches!(asked.climb, Climb::Workers(_));
        let point = |rung: &RungSummary| {
            let load = match rung.load {
                Load::Rate(rate) => rate,
                Load::Workers(workers) => f64::from(workers),
                Load::Closed => return None,
            };
            Some((load, rung.mean_ns?))
        };
        let points: Vec<(f64, f64)> = rungs
            .iter()
            .filter(|rung| rung.complete && rung.holds)
            .filter_map(point)
            .collect();
        Self {
            limit: is_of_rates.then(|| Limit::of(&rungs, |rung| rung.holds)),
            goal: asked.goal_p99_ns.map(|p99_ns| goal(p99_ns, &rungs)),
            knee: knee::knee(&points, SENSITIVITY),
            rungs,
        }
    }
}

fn goal(p99_ns: u64, rungs: &[RungSummary]) -> GoalSummary {
    let of_rates = |(_, rung): &(usize, &RungSummary)| rung.complete && rung.rate().is_some();
    let all = rungs.iter().enumerate().filter(of_rates);
    let is_met = all.clone().any(|(_, rung)| rung.meets(p99_ns));
    let nearest = all.filter_map(|(index, rung)| Some((index, rung.p99_ns?)));
    GoalSummary {
        p99_ns,
        limit: Limit::of(rungs, |rung| rung.meets(p99_ns)),
        nearest: nearest.min_by_key(|(_, p99)| *p99).filter(|_| !is_met),
    }
}

/// What is to be climbed after these rungs: first what was asked for, from low to high, until [`FAILURES_MAX`] rungs did not
/// hold; then the limits are narrowed down by halves. Nothing where all is climbed.
pub fn next_load(asked: &Ladder, rungs: &[RungSummary]) -> Option<Load> {
    let rates = match &asked.climb {
        Climb::Workers(workers) => return workers.get(rungs.len()).copied().map(Load::Workers),
        Climb::Rates(rates) => rates.clone(),
        Climb::OfClosedLoop(shares) => {
            let Some(first) = rungs.first() else {
                return Some(Load::Closed);
            };
            let closed = first.achieved_per_second?;
            shares.iter().map(|share| share * closed).collect()
        }
    };
    let climbed = rungs.iter().filter(|rung| rung.rate().is_some()).count();
    let failures = rungs.iter().filter(|rung| rung.rate().is_some() && !rung.holds).count();
    if failures < FAILURES_MAX {
        if let Some(rate) = rates.get(climbed) {
            return Some(Load::Rate(*rate));
        }
    }
    let asked_for = rungs
        .iter()
        .filter(|rung| rung.rate().is_none_or(|rate| rates.contains(&rate)))
        .count();
    // What was halved for follows from the rungs before.
    let (mut for_limit, mut for_goal) = (0, 0);
    for climbed in asked_for..rungs.len() {
        match halving(asked, &rungs[..climbed], for_limit, for_goal) {
            Some((true, _)) => for_limit += 1,
            Some((false, _)) => for_goal += 1,
            None => {}
        }
    }
    halving(asked, rungs, for_limit, for_goal).map(|(_, rate)| Load::Rate(rate))
}

/// The next rate between what is well and what is not: for the limit first (`true`), then for the goal, each so often at most.
fn halving(asked: &Ladder, rungs: &[RungSummary], for_limit: usize, for_goal: usize) -> Option<(bool, f64)> {
    let limit = Limit::of(rungs, |rung| rung.holds)
        .between()
        .filter(|_| for_limit < BISECTIONS_MAX);
    let goal = || {
        let goal_p99_ns = asked.goal_p99_ns.filter(|_| for_goal < BISECTIONS_MAX)?;
        Limit::of(rungs, |rung| rung.meets(goal_p99_ns)).between()
    };
    limit.map(|rate| (true, rate)).or_else(|| Some((false, goal()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(climb: Climb, goal_p99_ns: Option<u64>) -> Ladder {
        Ladder {
            climb,
            arrivals: workload::arrivals::ArrivalProcess::Poisson,
            fresh: false,
            goal_p99_ns,
        }
    }

    /// A server that does `capacity` a second, with the mean latency of a queue with random arrivals (M/M/1).
    fn climb(load: Load, capacity: f64) -> RungSummary {
        let (achieved, fraction) = match load {
            Load::Rate(rate) => (rate.min(capacity), Some(rate.min(capacity) / rate)),
            Load::Closed | Load::Workers(_) => (capacity, None),
        };
        let load_of = (achieved / capacity).min(0.999);
        let mean_ns = 1e9 / capacity / (1.0 - load_of);
        let tail = |share: f64| Some((-mean_ns * share.ln()) as u64);
        RungSummary {
            load,
            workers: 1,
            complete: true,
            transactions: (achieved * 10.0) as u64,
            achieved_per_second: Some(achieved),
            achieved_fraction: fraction,
            waiting: fraction.map(|fraction| if fraction < 1.0 { 100_000 } else { 0 }),
            mean_ns: Some(mean_ns),
            p50_ns: tail(0.5),
            p99_ns: tail(0.01),
            p999_ns: tail(0.001),
            max_ns: None,
            service_p99_ns: None,
            operations: (achieved * 10.0) as u64,
            failed: 0,
            skipped: 0,
            by_operation: Vec::new(),
            holds: fraction.is_none_or(|fraction| fraction >= 0.99),
        }
    }

    fn climbed(asked: &Ladder, capacity: f64) -> Vec<RungSummary> {
        let mut rungs = Vec::new();
        while let Some(load) = next_load(asked, &rungs) {
            rungs.push(climb(load, capacity));
            assert!(rungs.len() < 40, "it ends: {rungs:?}");
        }
        rungs
    }

    fn rates(rungs: &[RungSummary]) -> Vec<f64> {
        rungs.iter().filter_map(RungSummary::rate).collect()
    }

    #[test]
    fn a_limit_is_narrowed_down_from_both_sides() {
        let asked = asked(Climb::Rates(vec![100.0, 200.0, 400.0, 800.0, 1_600.0, 3_200.0]), None);
        let rungs = climbed(&asked, 1_000.0);
        // 1,600 does not hold, 3,200 neither; from there what lies between.
        let all = rates(&rungs);
        assert_eq!(all[..6], [100.0, 200.0, 400.0, 800.0, 1_600.0, 3_200.0]);
        assert!((all[6] - 1_131.4).abs() < 0.1, "{all:?}");
        let limit = Limit::of(&rungs, |rung| rung.holds);
        let (highest, beyond) = (limit.highest.unwrap(), limit.lowest_beyond.unwrap());
        assert!(
            highest <= 1_010.2 && beyond >= 1_010.0 && beyond <= highest * 1.05,
            "{limit:?}"
        );
    }

    #[test]
    fn higher_rungs_are_left_out_after_two_that_do_not_hold() {
        let rungs = climbed(&asked(Climb::Rates(vec![50.0, 110.0, 120.0, 900.0]), None), 100.0);
        let rates = rates(&rungs);
        assert!(!rates.contains(&900.0), "{rates:?}");
        assert_eq!(rates[..3], [50.0, 110.0, 120.0]);
    }

    #[test]
    fn where_all_rungs_hold_or_none_does_nothing_is_halved() {
        let all = asked(Climb::Rates(vec![1.0, 2.0, 3.0]), None);
        assert_eq!(rates(&climbed(&all, 100.0)), [1.0, 2.0, 3.0]);
        let rungs = climbed(&all, 0.5);
        assert_eq!(rates(&rungs), [1.0, 2.0]);
        let limit = Limit::of(&rungs, |rung| rung.holds);
        assert_eq!((limit.highest, limit.lowest_beyond), (None, Some(1.0)));
    }

    #[test]
    fn shares_are_of_what_the_first_rung_reaches_in_a_closed_loop() {
        let rungs = climbed(&asked(Climb::OfClosedLoop(vec![0.3, 0.6, 0.9]), None), 500.0);
        assert_eq!(rungs[0].load, Load::Closed);
        assert_eq!(rates(&rungs), [150.0, 300.0, 450.0]);
    }

    #[test]
    fn a_goal_is_narrowed_down_after_the_limit() {
        // p99 of M/M/1 is -ln(0.01) / (capacity - rate): below 10 ms up to 1,000 - 460.5 = 539.5 a second.
        let asked = asked(Climb::Rates(vec![200.0, 400.0, 800.0, 1_600.0]), Some(10_000_000));
        let rungs = climbed(&asked, 1_000.0);
        let goal = goal(10_000_000, &rungs);
        let (highest, beyond) = (goal.limit.highest.unwrap(), goal.limit.lowest_beyond.unwrap());
        assert!(highest <= 539.5 && beyond >= 539.5, "{highest} {beyond}");
        assert!(beyond <= highest * (1.0 + PRECISION));
        assert_eq!(goal.nearest, None);
        let limit = Limit::of(&rungs, |rung| rung.holds);
        assert!(
            limit.highest.unwrap() <= 1_010.1 && limit.lowest_beyond.unwrap() >= 1_010.1,
            "{limit:?}"
        );
    }

    #[test]
    fn a_goal_that_no_rung_meets_names_the_nearest() {
        let rungs = climbed(&asked(Climb::Rates(vec![800.0, 900.0]), Some(1_000)), 1_000.0);
        let goal = goal(1_000, &rungs);
        assert_eq!(goal.limit.highest, None);
        assert_eq!(goal.nearest.unwrap().0, 0, "the lowest load is the nearest");
    }

    #[test]
    fn a_rung_that_fails_below_others_is_the_limit() {
        let mut rungs: Vec<RungSummary> = [10.0, 20.0, 30.0].map(|rate| climb(Load::Rate(rate), 100.0)).into();
        rungs[1].holds = false;
        let limit = Limit::of(&rungs, |rung| rung.holds);
        assert_eq!((limit.highest, limit.lowest_beyond), (Some(10.0), Some(20.0)));
    }

    #[test]
    fn workers_are_climbed_as_said() {
        let asked = asked(Climb::Workers(vec![1, 2, 4]), None);
        let rungs = climbed(&asked, 10.0);
        let loads: Vec<Load> = rungs.iter().map(|rung| rung.load).collect();
        assert_eq!(loads, [Load::Workers(1), Load::Workers(2), Load::Workers(4)]);
    }
}
