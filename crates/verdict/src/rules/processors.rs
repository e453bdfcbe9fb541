//! Shares of processor time: overhead, other programs, FUSE servers and CPU steal.

use std::borrow::Cow;

use spec::{Climb, EngineName};
use system::{Fact, Mount};
use workload::Phase;

use crate::summary::overhead;
use record::host_phase::HostId;
use record::ranks::{ClusterRecord, HostRecord};
use record::run::{Record, SystemDuring};
use record::server::ServerRecord;

/// Minimum length of a run for shares of processor time, in nanoseconds. The kernel counts in ticks
/// of 10 ms, which are 1 % of a second.
pub(super) const SHARES_FROM_NS: u64 = 1_000_000_000;

/// Returns the activity of the system during the run, once for each kernel. A load level with a
/// separate run adds its activity on the first rank's host. It adds no activity if other hosts
/// share that host's kernel, because the ranks of these hosts would count as other programs.
pub(super) fn runs(record: &Record) -> impl Iterator<Item = Cow<'_, SystemDuring>> {
    let kernels = record
        .cluster
        .as_ref()
        .map_or_else(Vec::new, ClusterRecord::kernels);
    let has_kernel_alone = record.cluster.as_ref().is_none_or(|cluster| {
        let first = cluster.hosts.first().map(HostRecord::id);
        let with_it = |id: &HostId| {
            cluster
                .hosts
                .iter()
                .filter(|host| host.id().has_kernel_of(id))
                .count()
        };
        first.is_none_or(|id| with_it(&id) == 1)
    });
    // For a sweep of ranks, the hosts in the record are those of the last and largest load level.
    // The activity during the first level is in `record.during`, so this rule checks it, too.
    let climb = record.spec.drive.sweep.as_ref().map(|sweep| &sweep.climb);
    let is_of_ranks = matches!(climb, Some(Climb::Ranks(_)));
    let own = kernels.is_empty() || (is_of_ranks && has_kernel_alone);
    let own = own.then_some(Cow::Borrowed(&record.during));
    let steps = record
        .actual
        .sweep_steps
        .iter()
        .filter(move |_| has_kernel_alone);
    let of_sweep_steps = steps.filter_map(|sweep_step| sweep_step.of_run.as_ref());
    own.into_iter()
        .chain(kernels.into_iter().map(Cow::Owned))
        .chain(of_sweep_steps.map(|run| Cow::Borrowed(&run.during)))
}

/// Returns the overhead of all operations as a share of the workers' time. Overhead is the
/// program's time on the engine `null`. It excludes costs of the engine and the machine: the C
/// library's buffers, page faults, and waits for a processor. If the run misses the processor's
/// caches more often than the repetition on `null`, that cost is not included.
pub(super) fn overhead_fraction(record: &Record) -> Fact<f64> {
    if record.spec.engine == EngineName::NULL || record.actual.transactions().next().is_none() {
        return Fact::NotApplicable;
    }
    record.actual.overhead.as_ref().and_then(|_| {
        match overhead::summary(&record.actual).and_then(|own| own.fraction) {
            Some(fraction) => Fact::Known(fraction.min(1.0)),
            None => Fact::Unavailable(format!(
                "no time was measured in {}",
                Phase::Transactions.name()
            )),
        }
    })
}

/// Returns the maximum of `fraction` over all runs of at least [`SHARES_FROM_NS`]. Shorter runs
/// have too few ticks of the kernel for a share.
fn greatest(record: &Record, fraction: impl Fn(&SystemDuring) -> Fact<f64>) -> Fact<f64> {
    let judged = |during: Cow<'_, SystemDuring>| {
        if during.clocks.elapsed_ns < SHARES_FROM_NS {
            return Fact::Unavailable(
                "the run was shorter than a second, too short for the kernel's ticks".to_owned(),
            );
        }
        fraction(&during)
    };
    let greater = |one: Fact<f64>, other: Fact<f64>| match (one, other) {
        (Fact::Known(one), Fact::Known(other)) => Fact::Known(one.max(other)),
        (known @ Fact::Known(_), _) => known,
        (_, other) => other,
    };
    runs(record)
        .map(judged)
        .reduce(greater)
        .unwrap_or(Fact::NotApplicable)
}

/// Returns the share of other programs in all processors' time, in user mode. Write-back, journals
/// and loop devices work for the run, but are kernel threads without time in user mode. A FUSE
/// server is a program that works for the run, so its share is subtracted. The share of a server on
/// the loopback interface is not known, so the result is then not available.
pub(super) fn others_fraction(record: &Record) -> Fact<f64> {
    let mut servers = record
        .locations
        .iter()
        .filter_map(|location| location.server.as_ref());
    if servers.any(ServerRecord::is_on_this_machine) {
        return Fact::Unavailable(
            "the server on this machine counts as another program".to_owned(),
        );
    }
    let is_known = |during: Cow<'_, SystemDuring>| during.fuse_servers.is_some();
    if has_fuse(record) && !runs(record).all(is_known) {
        return Fact::Unavailable("the target's FUSE server counts as another program".to_owned());
    }
    greatest(record, without_servers)
}

fn has_fuse(record: &Record) -> bool {
    let targets = record.targets();
    let mut mounts = targets.filter_map(|target| target.mount.known());
    mounts.any(Mount::is_fuse)
}

/// Returns the share of other programs in all processors' time, without the targets' FUSE servers.
pub(super) fn without_servers(during: &SystemDuring) -> Fact<f64> {
    let others = during.counted.others_user_fraction();
    match during.fuse_servers_fraction() {
        // The servers' time is counted over a slightly longer period than the machine's time, so it
        // may exceed the time of all other programs.
        Fact::Known(servers) => others.map(|others| (others - servers).max(0.0)),
        Fact::NotApplicable => others,
        Fact::Unavailable(why) => Fact::Unavailable(why),
    }
}

/// Returns the maximum share of the targets' FUSE servers in all processors' time, over all runs of
/// the record.
pub(super) fn fuse_servers_fraction(record: &Record) -> Fact<f64> {
    match has_fuse(record) {
        true => greatest(record, SystemDuring::fuse_servers_fraction),
        false => Fact::NotApplicable,
    }
}

pub(super) fn steal_fraction(record: &Record) -> Fact<f64> {
    greatest(record, |during| during.counted.steal_fraction())
}
