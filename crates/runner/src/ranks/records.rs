//! Merges the records of all ranks. Each rank adds its host and the offset of its clock.

use ::ranks::{ClockOffset, Ranks};
use record::ranks::{ClusterRecord, HostRecord, RankClock, RankClockOffset, RankRecord};
use record::{Origin, Outcome, Record, Sent};
use system::{Fact, Sources};
use workload::StreamHash;

use crate::clock::{Clock as _, RunClock};
use crate::error::Refused;
use crate::processes::OneClock;

/// Makes all ranks use the time origin of rank 0, converted to the clock of each rank.
pub(super) fn one_clock(ranks: &Ranks, clock: &RunClock) -> Result<OneClock, Refused> {
    let now = clock.clone();
    let offset = ranks.clock_offset(move || i64::try_from(now.now_ns()).unwrap_or(i64::MAX))?;
    let own = Origin::from(&clock.clocks());
    let first: Origin = ranks.broadcast(Some(own))?;
    let monotonic_ns = first.monotonic_ns - offset.offset_ns;
    let wall = |origin: Origin| origin.unix_ns - origin.monotonic_ns;
    Ok(OneClock {
        origin: Origin {
            monotonic_ns,
            unix_ns: monotonic_ns + wall(own),
            uncertainty_ns: own.uncertainty_ns,
        },
        own: Some(RankClock {
            begin: Fact::Known(recorded(offset)),
            end: Fact::Unavailable("the rank did not complete its run".to_owned()),
            wall_offset_ns: wall(own) - wall(first) - offset.offset_ns,
        }),
    })
}

/// The part of the `cluster` field of the record that describes this rank.
pub(super) fn own_part(ranks: &Ranks, head: &Record, clock: RankClock) -> ClusterRecord {
    let workers = head.spec.workers_of(ranks.rank());
    let rank = RankRecord {
        rank: ranks.rank(),
        host: 0,
        process: std::process::id(),
        first_worker: workers.start,
        workers: workers.len() as u32,
        processors: allowed_processors(),
        clock,
        outcome: head.actual.outcome.clone(),
        end: head.actual.end.clone(),
        worker_hashes: Vec::new(),
    };
    let host = HostRecord {
        host: head.host.clone(),
        during: head.during.clone(),
        tool: head.tool.clone(),
    };
    ClusterRecord::of_one(ranks.count(), rank, host)
}

/// The processors that this process may use and that are online. Affinity masks often include
/// processors that do not exist.
fn allowed_processors() -> Fact<Vec<u32>> {
    let sources = Sources::default();
    system::processors::allowed_online(&sources).map(|numbers| {
        let numbers = numbers
            .into_iter()
            .map(|number| u32::try_from(number).unwrap_or(u32::MAX));
        numbers.collect()
    })
}

fn recorded(offset: ClockOffset) -> RankClockOffset {
    RankClockOffset {
        at_ns: offset.at_ns,
        offset_ns: offset.offset_ns,
        error_ns: offset.error_ns,
    }
}

/// Returns the merged record of all ranks, and the record of this rank. If a rank is lost, returns
/// the record of this rank twice, marked as failed.
pub(super) fn join_records(
    ranks: &Ranks,
    mut own: Record,
    hashes: Vec<StreamHash>,
    now_ns: Box<dyn Fn() -> u64 + Send>,
) -> (Record, Record) {
    let offset = ranks.clock_offset(move || i64::try_from(now_ns()).unwrap_or(i64::MAX));
    if let Some(mut cluster) = own.cluster.take() {
        for rank in &mut cluster.ranks {
            rank.worker_hashes.clone_from(&hashes);
            rank.clock.end = match &offset {
                Ok(offset) => Fact::Known(recorded(*offset)),
                Err(why) => Fact::Unavailable(why.to_string()),
            };
        }
        for host in &mut cluster.hosts {
            host.during.clone_from(&own.during);
        }
        own = own.of_rank(cluster);
    }
    let joined = ranks.meet(Sent(own.clone()), |one, other| Sent(one.0.join(other.0)));
    match joined {
        Ok(all) => (all.0, own),
        Err(why) => {
            if own.actual.outcome == Outcome::Complete {
                own.actual.outcome = Outcome::Failed {
                    why: why.to_string(),
                };
            }
            (own.clone(), own)
        }
    }
}
