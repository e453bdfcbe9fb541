//! A proxy delays every reply by a known time. The reported latency must equal this delay, at each
//! depth, in closed and open loops.

use std::time::Duration;

use record::{Action, Phase};
use verdict::{OperationSummary, RunLimit};

use super::ganesha::Ganesha;
use super::proxy::{Fault, Proxy};
use super::records::Procedure;
use super::{is_whole, perform};
use crate::runs::Ran;

/// Time that a call may take in addition to the delay of the proxy, on a shared machine.
const SLACK: Duration = Duration::from_millis(3);

fn of(ran: &Ran, action: Action) -> &OperationSummary {
    let mut operations = ran.phase(Phase::Transactions).operations.iter();
    operations
        .find(|operation| operation.action == action)
        .unwrap_or_else(|| panic!("there is no {action:?}\n{ran}"))
}

fn ns(duration: Duration) -> u64 {
    duration.as_nanos() as u64
}

/// A stat takes one call, so its latency is one delay. A read takes two calls in sequence.
#[test]
fn latency_equals_the_delay_of_the_calls() {
    let Some(ganesha) = Ganesha::start() else {
        return;
    };
    let proxy = Proxy::before(&ganesha);
    let url = ganesha.url_at(proxy.port(), "export");
    for ms in [1, 5, 20] {
        let delay = Duration::from_millis(ms);
        proxy.delay(delay);
        for depth in [1, 8] {
            let transactions = 60 + 20 * depth;
            let options = format!(
                "--mix stat=1,read=1 --files 20 --size 1000 --transactions {transactions} --depth \
                 {depth}"
            );
            let measure = || {
                let ran = perform(&ganesha, &url, &options);
                is_whole(&ran);
                ran
            };
            let medians = |ran: &Ran| {
                [(Action::Stat, 1), (Action::Read, 2)]
                    .map(|(action, calls)| (of(ran, action).latency_ns.p50.unwrap(), calls))
            };
            // On a busy machine replies come later, so a run is repeated.
            let is_prompt = |ran: &Ran| {
                let mut medians = medians(ran).into_iter();
                medians.all(|(median, calls)| median <= ns((delay + SLACK) * calls))
            };
            let ran = (0..5).map(|_| measure()).find(is_prompt);
            let ran = ran.unwrap_or_else(measure);
            let found = medians(&ran);
            let what = format!("{ms} ms, depth {depth}: {found:?}");
            ran.assert(is_prompt(&ran), &what);
            for (median, calls) in found {
                ran.assert(median >= ns(delay * calls), &what);
            }
            if ms == 20 {
                let limit = ran
                    .summary
                    .limit
                    .as_ref()
                    .and_then(|limit| Some(limit.known()?.limit));
                ran.assert(limit == Some(RunLimit::Server), format_args!("{limit:?}"));
            }
            // Little's law: the number of operations in flight is the product of rate and latency.
            // On a busy machine the latency is higher and the rate lower, but their product is the
            // same.
            let phase = ran.phase(Phase::Transactions);
            let rate = phase.transactions.unwrap().per_second.unwrap();
            let most = f64::from(depth) * 1_000.0 / (1.5 * ms as f64);
            let in_flight: f64 = phase
                .operations
                .iter()
                .map(|one| one.operations.per_second.unwrap() * one.latency_ns.mean.unwrap() / 1e9)
                .sum();
            let depth = f64::from(depth);
            ran.assert(
                rate <= most * 1.05 && in_flight <= depth * 1.05 && in_flight >= depth * 0.4,
                format_args!(
                    "{ms} ms, depth {depth}: {in_flight} in flight, {rate} a second of at most \
                     {most}"
                ),
            );
        }
    }
}

/// The proxy holds all replies back for this time. The run below lasts three seconds at 200
/// operations per second.
const STALL: Duration = Duration::from_millis(500);
const OPEN: &str =
    "--mix stat=1 --files 50 --size 1000 --rate 200 --arrivals constant --for 3s --warm-up 0s";

/// Operations that are due during the stall start only at its end. They are 100 of 600 operations:
/// the first waits for 500 ms, the last for 0 ms. Response times include this wait, so they avoid
/// coordinated omission. Service times include the stall only for operations in flight.
#[test]
fn response_times_include_a_stall_for_all_operations_due_in_it() {
    let Some(ganesha) = Ganesha::start() else {
        return;
    };
    for depth in [1, 8] {
        let proxy = Proxy::before(&ganesha);
        let url = ganesha.url_at(proxy.port(), "export");
        // The stall starts after the calls for the run directory and the preparation phase.
        proxy.fault(Procedure::LOOKUP, 250, Fault::Stalled(STALL));
        let ran = perform(&ganesha, &url, &format!("{OPEN} --depth {depth}"));
        is_whole(&ran);
        ran.assert(proxy.done().len() == 1, "there was no stall");
        let stat = of(&ran, Action::Stat);
        let (response, service) = (stat.latency_ns, stat.service_ns.unwrap());
        let beyond = |of: Option<u64>, ms: u64| of.unwrap() > ms * 1_000_000;
        let what = format!("depth {depth}: response {response:?}, service {service:?}");
        // At 200 operations per second for 3 s, 30 of 600 operations are above the 95th percentile:
        // those due in the first 150 ms of the stall. The stall lasts 500 ms, so the percentile is
        // at least about 500 - 150 = 350 ms; pauses of a busy machine add to it.
        ran.assert(beyond(response.p95, 300), &what);
        ran.assert(beyond(response.p90, 150), &what);
        ran.assert(beyond(response.max, 490), &what);
        // Operations that were due before and after the stall are not delayed by it.
        ran.assert(!beyond(response.p50, 100), &what);
        ran.assert(!beyond(service.p95, 100), &what);
        ran.assert(beyond(service.max, 490), &what);
    }
}

/// In a closed loop no operation is due at a set time, so only the latencies of operations in
/// flight include the stall.
#[test]
fn closed_loop_includes_a_stall_only_for_operations_in_flight() {
    let Some(ganesha) = Ganesha::start() else {
        return;
    };
    let proxy = Proxy::before(&ganesha);
    let url = ganesha.url_at(proxy.port(), "export");
    proxy.fault(Procedure::LOOKUP, 250, Fault::Stalled(STALL));
    let ran = perform(
        &ganesha,
        &url,
        "--mix stat=1 --files 50 --size 1000 --transactions 2000 --depth 8",
    );
    is_whole(&ran);
    ran.assert(proxy.done().len() == 1, "there was no stall");
    let stat = of(&ran, Action::Stat);
    let (p99, max) = (stat.latency_ns.p99.unwrap(), stat.latency_ns.max.unwrap());
    ran.assert(
        p99 < ns(STALL) / 2 && max >= ns(STALL) - 10_000_000,
        format_args!("{:?}", stat.latency_ns),
    );
}
