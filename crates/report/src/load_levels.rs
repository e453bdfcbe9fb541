//! The load levels of a planned sweep, the duration of the levels, and the SLO of the sweep.

use document::Document;
use document::units::{counted, duration, grouped, rate, trimmed};
use record::{Action, Cache, Climb, Drive, Phase, PhaseLoad, PlanRecord, Stop, Sweep};
use verdict::summary::LatencySummary;
use workload::{PhaseOperations, PhaseWork, Workload};

/// Maximum number of load levels that are listed one by one.
const LISTED_MAX: usize = 12;

/// Adds the load levels of a sweep. `levels_max` is the maximum number of load levels that the
/// sweep can measure.
pub(crate) fn render(document: &mut Document, record: &PlanRecord, levels_max: Option<u64>) {
    let drive = &record.spec.drive;
    let Some(sweep) = &drive.sweep else {
        return;
    };
    if let Climb::Phases(loads) = &sweep.climb {
        return phases(document, record.spec.phases(), loads);
    }
    document.sentence("Load levels", levels(sweep, levels_max));
    if let Some(length) = length(drive, levels_max) {
        document.sentence("Each level", length);
    }
    if let Some(slo) = slo(sweep) {
        let too_few = too_few(drive, sweep, per_transaction(record, sweep));
        document.sentence("SLO", slo + &too_few.unwrap_or_default());
    }
}

/// The phases of the workload, a line each: operations, end, rate and cache state.
fn phases(document: &mut Document, works: &[PhaseWork], loads: &[PhaseLoad]) {
    for (number, (work, load)) in works.iter().zip(loads).enumerate() {
        let key = if number == 0 { "Phases" } else { "" };
        document.sentence(key, phase(work, load));
    }
}

fn phase(work: &PhaseWork, load: &PhaseLoad) -> String {
    let operations = match &work.operations {
        PhaseOperations::Mix(weights) => weights.to_string(),
        PhaseOperations::Walk(action) => format!("walk with {}", action.name()),
    };
    let mut words = vec![format!("{}: {operations}", work.name)];
    if work.transactions != Workload::ENDLESS {
        let most = counted(work.transactions, "transaction");
        words.push(format!("{most} of each worker"));
    }
    if let Stop::After(time) = load.stop {
        words.push(duration(time.as_secs_f64()));
    }
    if let Some(per_second) = load.rate() {
        words.push(format!("{} transactions/s offered", rate(Some(per_second))));
    }
    if load.cache != Cache::AsIs {
        words.push(format!("cache {}", load.cache));
    }
    words.join(", ")
}

/// The load levels that the command line lists, and how the sweep chooses further load levels.
fn levels(sweep: &Sweep, levels_max: Option<u64>) -> String {
    let count = sweep.climb.sweep_steps() as u64;
    match &sweep.climb {
        Climb::Rates(rates) => format!(
            "{}, {} transactions/s offered; {}",
            counted(count, "rate"),
            listed(rates, |per_second| rate(Some(*per_second))),
            bisected(sweep, levels_max)
        ),
        Climb::OfClosedLoop(shares) => format!(
            "a closed loop, then {} of its rate, {}; {}",
            counted(count, "share"),
            listed(shares, |share| format!("{} %", trimmed(share * 100.0, 3))),
            bisected(sweep, levels_max)
        ),
        Climb::Workers(counts) => format!(
            "{}, closed loops with {}",
            counted(count, "level"),
            counts_listed(counts, "worker")
        ),
        Climb::Ranks(counts) => format!(
            "{}, closed loops with {}",
            counted(count, "level"),
            counts_listed(counts, "rank")
        ),
        Climb::Phases(_) => counted(count, "phase"),
    }
}

/// The numbers of workers or ranks of the load levels: `1, 64 workers`.
fn counts_listed(counts: &[u32], what: &str) -> String {
    match counts {
        [1] => format!("1 {what}"),
        _ => format!("{} {what}s", listed(counts, u32::to_string)),
    }
}

/// All values of the list, or the first and the last value of a list longer than [`LISTED_MAX`].
fn listed<T>(all: &[T], shown: impl Fn(&T) -> String) -> String {
    match all {
        [first, .., last] if all.len() > LISTED_MAX => {
            format!("{} to {}", shown(first), shown(last))
        }
        _ => all.iter().map(shown).collect::<Vec<_>>().join(", "),
    }
}

/// Which of the listed rates a sweep measures, and which rates it adds.
fn bisected(sweep: &Sweep, levels_max: Option<u64>) -> String {
    let found = match sweep.slo() {
        Some(_) => "the saturation rate and the highest rate that meets the SLO",
        None => "the saturation rate",
    };
    let most = levels_max.map_or_else(String::new, |levels| {
        format!(" (at most {} in all)", counted(levels, "level"))
    });
    format!(
        "from low to high until the target no longer sustains them, then rates in between that \
         narrow down {found}{most}"
    )
}

/// The duration of one load level, and of all load levels together.
fn length(drive: &Drive, levels_max: Option<u64>) -> Option<String> {
    let Stop::After(measured) = drive.stop else {
        return None;
    };
    let each = (drive.warm_up + measured).as_secs_f64();
    let parts = match drive.warm_up.is_zero() {
        true => String::new(),
        false => format!(
            " (warm-up {}, measurement {})",
            duration(drive.warm_up.as_secs_f64()),
            duration(measured.as_secs_f64())
        ),
    };
    let all = levels_max.map_or_else(String::new, |levels| {
        let most = match drive.sweep.as_ref() {
            Some(sweep) if sweep.climb.is_of_counts() => "",
            _ => "at most ",
        };
        format!(
            "; all levels {most}{}, without pools",
            duration(each * levels as f64)
        )
    });
    Some(format!("{}{parts}{all}", duration(each)))
}

fn slo(sweep: &Sweep) -> Option<String> {
    let slo = sweep.slo()?;
    let what = match slo.operation {
        Some(operation) => format!("{} operations", operation.name()),
        None => "operations".to_owned(),
    };
    Some(format!("{slo}: 99 % of the {what} must be faster"))
}

/// The number of operations of the SLO for each transaction of the plan.
fn per_transaction(record: &PlanRecord, sweep: &Sweep) -> f64 {
    let operation = sweep.slo().and_then(|slo| slo.operation);
    let counted = Action::operations().filter(|action| operation.is_none_or(|one| one == *action));
    let tallies = counted.map(|action| record.plan.tally(Phase::Transactions, action).operations);
    tallies.sum::<u64>() as f64 / record.plan.transactions.max(1) as f64
}

/// The rate below which a level has too few operations for a 99th percentile, and how long the
/// levels must be instead. `None` if all levels have a higher rate, or if the plan has none of the
/// operations.
fn too_few(drive: &Drive, sweep: &Sweep, per_transaction: f64) -> Option<String> {
    let Stop::After(measured) = drive.stop else {
        return None;
    };
    if per_transaction <= 0.0 {
        return None;
    }
    let needed = LatencySummary::P99_MIN as f64 / per_transaction;
    let enough = needed / measured.as_secs_f64();
    let remedy = match &sweep.climb {
        Climb::Rates(rates) => {
            let lowest = rates.first().filter(|lowest| **lowest < enough)?;
            // A tenth is added, because the number of operations varies.
            format!("--for {}s", (11.0 * needed / lowest / 10.0).ceil())
        }
        _ => "a longer --for".to_owned(),
    };
    Some(format!(
        "; a p99 needs {} of them, and levels below {} transactions/s have fewer (use {remedy})",
        grouped(LatencySummary::P99_MIN),
        rate(Some(enough))
    ))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use record::ArrivalProcess;

    use super::*;

    fn sweep(climb: Climb, slo_p99_ns: Option<u64>) -> Sweep {
        Sweep {
            climb,
            arrivals: ArrivalProcess::Poisson,
            fresh: false,
            slo_operation: None,
            slo_p99_ns,
        }
    }

    #[test]
    fn short_lists_are_complete_and_long_lists_have_two_ends() {
        let rates = sweep(Climb::Rates(vec![1_000.0, 2_000.0]), Some(10_000_000));
        assert_eq!(
            levels(&rates, Some(14)),
            "2 rates, 1,000, 2,000 transactions/s offered; from low to high until the target no \
             longer sustains them, then rates in between that narrow down the saturation rate and \
             the highest rate that meets the SLO (at most 14 levels in all)"
        );
        assert_eq!(
            slo(&rates).unwrap(),
            "p99<10ms: 99 % of the operations must be faster"
        );
        let drive = Drive {
            stop: Stop::After(Duration::from_secs(10)),
            ..Drive::default()
        };
        assert_eq!(
            too_few(&drive, &rates, 0.01).unwrap(),
            "; a p99 needs 1,000 of them, and levels below 10,000 transactions/s have fewer (use \
             --for 110s)"
        );
        assert_eq!(too_few(&drive, &rates, 0.1), None);
        assert_eq!(too_few(&drive, &rates, 0.0), None);
        let shares = sweep(Climb::OfClosedLoop(vec![0.1, 0.555]), None);
        let shown = levels(&shares, None);
        let first = "a closed loop, then 2 shares of its rate, 10 %, 55.5 %; from low to high";
        assert!(shown.starts_with(first), "{shown}");
        assert!(
            shown.ends_with(" narrow down the saturation rate"),
            "{shown}"
        );
        let one = sweep(Climb::Workers(vec![1]), None);
        assert_eq!(levels(&one, None), "1 level, closed loops with 1 worker");
        let workers = sweep(Climb::Workers((1..=20).collect()), None);
        assert_eq!(slo(&workers), None);
        assert_eq!(
            levels(&workers, Some(20)),
            "20 levels, closed loops with 1 to 20 workers"
        );
    }

    #[test]
    fn duration_of_a_level_includes_its_warm_up() {
        let drive = Drive {
            warm_up: Duration::from_secs(2),
            stop: Stop::After(Duration::from_secs(10)),
            sweep: Some(sweep(Climb::Rates(vec![10.0]), None)),
            ..Drive::default()
        };
        assert_eq!(
            length(&drive, Some(7)).unwrap(),
            "12 s (warm-up 2.0 s, measurement 10 s); all levels at most 84 s, without pools"
        );
    }
}
