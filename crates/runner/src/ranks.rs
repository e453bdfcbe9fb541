//! What the processes of a run do together before its work and behind it: refuse it together, agree
//! on its place and on one clock, and leave the place when all have done so. At the borders
//! between, their supervisors meet.

use std::collections::BTreeSet;

use ranks::{ClockOffset, CommunicationError, Ranks};
use record::ranks::{ClusterRecord, HostRecord, RankClock, RankClockOffset, RankRecord};
use record::{Origin, Outcome, Record};
use rundir::Life;
use rundir::manifest::{OtherRank, Position};
use rundir::worker_status::PartlyWritten;
use serde::{Deserialize, Serialize};
use spec::RunSpec;
use system::{Fact, Sources};
use workload::StreamHash;
use workload::names::NameKind;
use xxhash_rust::xxh3::xxh3_64;

use crate::clock::{Clock as _, RunClock};
use crate::error::Refused;
use crate::workers::Performed;

impl From<CommunicationError> for Refused {
    fn from(error: CommunicationError) -> Self {
        Self::Ranks(error.to_string())
    }
}

/// Refuses a run that asks for more ranks than there are. Where it asks for fewer, as a step of a
/// sweep does, the others wait.
pub(crate) fn refuse_more(request: &RunSpec, ranks: Option<&Ranks>) -> Result<(), Refused> {
    let there = ranks.map_or(1, Ranks::launched);
    match request.ranks {
        asked if asked <= there => Ok(()),
        asked => Err(Refused::Ranks(format!(
            "--ranks {asked} requires as many processes of a launcher, and there {are} {there} \
             (use mpirun -n {asked} postmark run ..., or remove --ranks)",
            are = if there == 1 { "is" } else { "are" }
        ))),
    }
}

/// The name of this machine.
fn host() -> String {
    rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned()
}

/// Has all ranks refuse what one of them refuses: with what this one has made all the same.
pub(crate) fn together<T>(
    ranks: Option<&Ranks>,
    own: Result<T, Refused>,
) -> Result<T, (Refused, Option<T>)> {
    let Some(ranks) = ranks else {
        return own.map_err(|refused| (refused, None));
    };
    let why = own.as_ref().err().map(ToString::to_string);
    let said = why.map(|why| (ranks.rank(), host(), why));
    let first = ranks.meet(said, |one: Option<(u32, String, String)>, other| {
        one.or(other)
    });
    match (own, first) {
        (Err(own), _) => Err((own, None)),
        (Ok(own), Ok(None)) => Ok(own),
        (Ok(own), Ok(Some((rank, host, why)))) => {
            Err((Refused::OnRank { rank, host, why }, Some(own)))
        }
        (Ok(own), Err(lost)) => Err((lost.into(), Some(own))),
    }
}

/// What a rank says of itself before anything is made.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Introduction {
    rank: u32,
    tool: String,
    /// A hash of what was asked of it.
    asked: u64,
    seen: OtherRank,
}

/// Finds that all ranks were asked for the same, by the same program; gives what a manifest says of
/// those but the first, and the machine of that one.
pub(crate) fn introduce(
    ranks: &Ranks,
    request: &RunSpec,
    life: &Life,
) -> Result<(Vec<OtherRank>, String), Refused> {
    let mut asked = request.clone();
    asked.command_line.clear();
    let asked = serde_json::to_vec(&asked).unwrap_or_default();
    let own = Introduction {
        rank: ranks.rank(),
        tool: env!("CARGO_PKG_VERSION").to_owned(),
        asked: xxh3_64(&asked),
        seen: OtherRank {
            first_worker: request.workers_of(ranks.rank()).start,
            process: std::process::id(),
            host: host(),
            life: life.name().map(str::to_owned),
        },
    };
    let all = ranks.meet(vec![own], |mut all: Vec<Introduction>, others| {
        all.extend(others);
        all
    })?;
    let mut all = all.into_iter();
    let Some(first) = all.next() else {
        return Ok((Vec::new(), host()));
    };
    let mut others = Vec::new();
    for one in all {
        let who = format!("rank {} (host {})", one.rank, one.seen.host);
        if one.tool != first.tool {
            return Err(Refused::Ranks(format!(
                "{who} runs postmark {}, and rank 0 (host {}) runs {} (install the same version \
                 on all hosts)",
                one.tool, first.seen.host, first.tool
            )));
        }
        if one.asked != first.asked {
            return Err(Refused::Ranks(format!(
                "{who} was started with other options than rank 0 (start all ranks with the same \
                 command; presets and files that it names must be the same on all hosts)"
            )));
        }
        others.push(one.seen);
    }
    Ok((others, first.seen.host))
}

/// Where the moments of a run count from, on this rank's clock, and how its clock is against that
/// of the first rank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OneClock {
    pub origin: Origin,
    pub offset: ClockOffset,
    /// This machine's wall clock, less that of the first rank at the same moment, in nanoseconds.
    pub wall_offset_ns: i64,
}

/// Agrees on the origin that the first rank has.
pub(crate) fn one_clock(ranks: &Ranks, clock: &RunClock) -> Result<OneClock, Refused> {
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
        offset,
        wall_offset_ns: wall(own) - wall(first) - offset.offset_ns,
    })
}

/// What must be known of all ranks' work before the place is left.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct LeftByRanks {
    /// All of them have come to their end.
    pub complete: bool,
    /// Somebody did not come back, or is lost: nothing is to be touched.
    pub abandoned: bool,
    pub any_spoiled: bool,
    pub partly_written: Vec<(NameKind, u64, u32)>,
    pub set_back_ns: i64,
    /// All of them have come to their end, or were interrupted.
    pub is_whole: bool,
    /// By worker; nothing where that is not known of all.
    pub positions: Option<Vec<Position>>,
    pub names: u64,
    pub in_use: bool,
    pub latest_ns: i64,
}

impl LeftByRanks {
    /// Of this process.
    pub(crate) fn of(performed: &Performed, life: &Life) -> Self {
        let names = performed.partly_written.iter();
        Self {
            complete: performed.outcome == Outcome::Complete,
            abandoned: performed.abandoned,
            any_spoiled: performed.any_spoiled,
            partly_written: names
                .map(|((kind, number), worker)| (*kind, *number, *worker))
                .collect(),
            set_back_ns: life.set_back_ns(),
            is_whole: matches!(
                performed.outcome,
                Outcome::Complete | Outcome::Interrupted { .. }
            ),
            positions: performed.positions.clone(),
            names: performed.names,
            in_use: performed.in_use,
            latest_ns: life.latest_ns(),
        }
    }

    /// Of all processes.
    pub(crate) fn of_all(self, ranks: Option<&Ranks>) -> Self {
        let Some(ranks) = ranks else {
            return self;
        };
        let and = |mut all: Self, other: Self| {
            all.complete &= other.complete;
            all.abandoned |= other.abandoned;
            all.any_spoiled |= other.any_spoiled;
            all.partly_written.extend(other.partly_written);
            all.set_back_ns = all.set_back_ns.max(other.set_back_ns);
            all.is_whole &= other.is_whole;
            all.positions = all
                .positions
                .zip(other.positions)
                .map(|(one, other)| [one, other].concat());
            all.names += other.names;
            all.in_use |= other.in_use;
            all.latest_ns = all.latest_ns.max(other.latest_ns);
            all
        };
        let own = self.clone();
        ranks.meet(self, and).unwrap_or(Self {
            complete: false,
            // A rank that is lost may be working yet.
            abandoned: true,
            ..own
        })
    }

    pub(crate) fn partly_written(&self) -> PartlyWritten {
        let names = self.partly_written.iter();
        names
            .map(|(kind, number, worker)| ((*kind, *number), *worker))
            .collect::<BTreeSet<_>>()
    }
}

/// Who this rank is, for a record that has its part only.
pub(crate) fn own_part(ranks: &Ranks, head: &Record, clock: &OneClock) -> ClusterRecord {
    let workers = head.spec.workers_of(ranks.rank());
    let rank = RankRecord {
        rank: ranks.rank(),
        host: 0,
        process: std::process::id(),
        first_worker: workers.start,
        workers: workers.len() as u32,
        processors: allowed_processors(),
        clock: RankClock {
            begin: Fact::Known(recorded(clock.offset)),
            end: Fact::Unavailable("the rank did not complete its run".to_owned()),
            wall_offset_ns: clock.wall_offset_ns,
        },
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

/// Those that are online: kernels allow many more than there are.
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

/// The record of all ranks before anything is done: nothing where nobody on the first of them takes
/// records. Where a rank is lost or stops, what follows finds it.
pub(crate) fn merged(ranks: &Ranks, head: &Record, takes_records: bool) -> Option<Box<Record>> {
    let cluster = head.cluster.clone()?;
    let is_taken = ranks.broadcast(Some(takes_records)).ok()?;
    let merge = || ranks.meet(head.clone().of_rank(cluster), Record::join);
    is_taken.then(merge)?.ok().map(Box::new)
}

/// The record of all ranks, which each of them gets, and this rank's own; that one twice, as of a
/// run that has failed, where a rank is lost.
pub(crate) fn of_all(
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
    match ranks.meet(own.clone(), Record::join) {
        Ok(all) => (all, own),
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

/// What came of a run that not all ranks performed, as rank 0 tells all of them: its record; or
/// which rank refused it, on which host, and why.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Told(Result<Box<Record>, (u32, String, String)>);

impl Told {
    /// Tells the ranks that did not perform a run what came of it, once it is closed; ranks that
    /// did pass it. Does nothing where all performed it.
    pub(crate) fn to_all(
        ranks: &Ranks,
        own: Option<Result<&Record, &Refused>>,
    ) -> Result<Option<Self>, CommunicationError> {
        if ranks.count() == ranks.launched() {
            return Ok(None);
        }
        let own = own.filter(|_| ranks.rank() == 0);
        let told = own.map(|own| {
            Self(match own {
                Ok(record) => Ok(Box::new(record.clone())),
                Err(Refused::OnRank { rank, host, why }) => Err((*rank, host.clone(), why.clone())),
                Err(refused) => Err((0, host(), refused.to_string())),
            })
        });
        // No broadcast: rank 0 would leave before the others have closed the run.
        ranks.all().meet(told, Option::or)
    }

    /// Its record.
    pub(crate) fn into_record(self) -> Result<Record, Refused> {
        let refused = |(rank, host, why)| Refused::OnRank { rank, host, why };
        self.0.map(|record| *record).map_err(refused)
    }
}
