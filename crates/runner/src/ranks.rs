//! Coordinates the processes of one run. The processes refuse a run together, agree on its
//! directories and on one clock, and meet at barriers. They remove the files of the run when all
//! processes are done. With a single process, the methods of this module return at once.

use ::ranks::{CommunicationError, Ranks};
use record::ranks::ClusterRecord;
use record::{Origin, Record, Sent};
use rundir::Life;
use rundir::manifest::OtherRank;
use spec::RunSpec;
use workload::StreamHash;

use crate::clock::{Clock as _, RunClock};
use crate::error::Refused;
use crate::processes::{AtBarrier, EndState, Meeting, OneClock, PlaceOfAll};

mod introduction;
mod records;
mod told;

use introduction::host;
use told::Told;

impl From<CommunicationError> for Refused {
    fn from(error: CommunicationError) -> Self {
        Self::Ranks(error.to_string())
    }
}

/// The processes that perform a run together; `None` for a single process. Clones share the
/// connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Processes(pub(crate) Option<Ranks>);

impl Processes {
    /// Selects the ranks that perform a run. If the run uses fewer ranks than were launched, the
    /// other ranks wait. For example, a sweep over numbers of ranks performs such runs.
    pub(crate) fn of(request: &RunSpec, ranks: Option<Ranks>) -> Result<Self, Refused> {
        refuse_more(request, ranks.as_ref())?;
        Ok(Self(ranks.map(|all| {
            let ranks = all.among(request.ranks);
            // Detaches the stop handle of an earlier run, because it must not stop this run.
            ranks.tie(|| None, || ());
            ranks.open();
            ranks
        })))
    }

    /// Whether the run has a single process.
    pub(crate) fn is_alone(&self) -> bool {
        self.0.is_none()
    }

    /// Rank of this process, from 0.
    pub(crate) fn number(&self) -> u32 {
        self.0.as_ref().map_or(0, Ranks::rank)
    }

    /// Whether this process performs the run. Otherwise it waits for the processes that do.
    pub(crate) fn performs(&self) -> bool {
        self.0.as_ref().is_none_or(Ranks::is_one)
    }

    /// Waits until other ranks have performed the run, and returns its record.
    pub(crate) fn rest(&self) -> Result<Record, Refused> {
        let ranks = self.0.as_ref().ok_or_else(no_result)?;
        // The performing ranks send the result even after an error, so this error is ignored.
        let _ = ranks.rest();
        ranks.close();
        Told::to_all(ranks, None)?
            .ok_or_else(no_result)?
            .into_record()
    }

    /// Connects stop requests of all processes. If `stopping` returns a reason (the number of a
    /// signal, or 0), the other processes are stopped. If another process stops the run, `stop` is
    /// called in this process.
    pub(crate) fn tie(
        &self,
        stopping: impl Fn() -> Option<u32> + Send + 'static,
        stop: impl Fn() + Send + 'static,
    ) {
        if let Some(ranks) = &self.0 {
            ranks.tie(stopping, stop);
        }
    }

    /// The reason why another process stopped the run: the number of a signal, or 0.
    pub(crate) fn stop_reason(&self) -> Option<u32> {
        self.0.as_ref()?.stop_reason()
    }

    /// Between two runs, returns the number of the signal that any process caught.
    pub(crate) fn signal_of_any(&self, own: Option<i32>) -> Result<Option<i32>, String> {
        let Some(ranks) = &self.0 else {
            return Ok(own);
        };
        let met = ranks.all().meet(own, Option::or);
        met.map_err(|why| why.to_string())
    }

    /// Exchanges refusals between processes. Returns the refusal of the first rank that refuses, or
    /// an error if a rank is lost.
    fn refusal_of_others(&self, own: Option<&Refused>) -> Option<Refused> {
        let ranks = self.0.as_ref()?;
        let said = own.map(|why| (ranks.rank(), host(), why.to_string()));
        match ranks.meet(said, Option::or) {
            Ok(first) => first.map(|(rank, host, why)| Refused::OnRank { rank, host, why }),
            Err(lost) => Some(lost.into()),
        }
    }

    /// Makes all processes refuse the run if one of them refuses it.
    ///
    /// # Errors
    /// Returns the refusal. If only another process refuses, this process's own result is also
    /// returned, so that the caller can undo it.
    pub(crate) fn agree<T>(&self, own: Result<T, Refused>) -> Result<T, (Refused, Option<T>)> {
        let of_others = self.refusal_of_others(own.as_ref().err());
        match (own, of_others) {
            (Err(own), _) => Err((own, None)),
            (Ok(own), None) => Ok(own),
            (Ok(own), Some(refused)) => Err((refused, Some(own))),
        }
    }

    /// Ends a refused run, and sends the refusal to the ranks that wait for its result.
    pub(crate) fn refuse(&self, why: &Refused) {
        if let Some(ranks) = &self.0 {
            ranks.close();
            // The error is ignored: if a rank is lost, every rank detects that.
            let _ = Told::to_all(ranks, Some(Err(why)));
        }
    }

    /// Checks that all processes run the same program with the same options. Returns the manifest
    /// entries of all processes except the first, and the host name of the first process.
    pub(crate) fn introduce(
        &self,
        request: &RunSpec,
        life: &Life,
    ) -> Result<(Vec<OtherRank>, String), Refused> {
        match &self.0 {
            Some(ranks) => introduction::introduce(ranks, request, life),
            None => Ok((Vec::new(), String::new())),
        }
    }

    /// Sends the run's directories from the first process to all others, or the reason why they
    /// cannot be used.
    pub(crate) fn tell_place(&self, place: impl FnOnce() -> Result<PlaceOfAll, String>) {
        if let Some(ranks) = &self.0 {
            // The error is ignored: if a rank is lost, the next exchange returns the error and the
            // directories are released.
            let _ = ranks.broadcast(Some(place()));
        }
    }

    /// Receives the run's directories from the first process.
    pub(crate) fn hear_place(&self) -> Result<Result<PlaceOfAll, String>, Refused> {
        let ranks = self.0.as_ref().ok_or_else(no_result)?;
        Ok(ranks.broadcast(None)?)
    }

    /// Agrees on the origin of the run's timestamps.
    pub(crate) fn agree_on_origin(&self, clock: &RunClock) -> Result<OneClock, Refused> {
        match &self.0 {
            Some(ranks) => records::one_clock(ranks, clock),
            None => Ok(OneClock {
                origin: Origin::from(&clock.clocks()),
                own: None,
            }),
        }
    }

    /// The part of the `cluster` field of the record that describes this process; `None` for a
    /// single process.
    pub(crate) fn own_part(&self, head: &Record, clock: &OneClock) -> Option<ClusterRecord> {
        let own = clock.own.clone()?;
        Some(records::own_part(self.0.as_ref()?, head, own))
    }

    /// Merges the initial records of all processes. Returns `None` if the event sink of the first
    /// process takes no records. If a process is lost or stops, a later exchange reports that.
    pub(crate) fn join_heads(&self, head: &Record, takes_records: bool) -> Option<Box<Record>> {
        let (ranks, cluster) = self.0.as_ref().zip(head.cluster.clone())?;
        let is_taken = ranks.broadcast(Some(takes_records)).ok()?;
        let own = Sent(head.clone().of_rank(cluster));
        let join = || ranks.meet(own, |one, other| Sent(one.0.join(other.0)));
        is_taken.then(join)?.ok().map(|all| Box::new(all.0))
    }

    /// Enters a barrier without waiting for the other processes.
    pub(crate) fn meet(&self, own: AtBarrier) -> Meeting {
        match &self.0 {
            Some(ranks) => Meeting::Ranks(ranks.begin(own, AtBarrier::and)),
            None => Meeting::Alone(Some(Box::new(own))),
        }
    }

    /// Ends the exchange of stop requests between ranks, at the end of the run.
    pub(crate) fn close(&self) {
        if let Some(ranks) = &self.0 {
            ranks.close();
        }
    }

    /// Merges the final states of all processes.
    pub(crate) fn end_state(&self, own: EndState) -> EndState {
        let Some(ranks) = &self.0 else {
            return own;
        };
        let lost = EndState {
            complete: false,
            // A lost rank may still be writing.
            abandoned: true,
            ..own.clone()
        };
        ranks.meet(own, EndState::and).unwrap_or(lost)
    }

    /// Broadcasts from the first process whether files of the run remain. Returns `None` if a
    /// process is lost.
    pub(crate) fn tell_incomplete(&self, own: bool) -> Option<bool> {
        match &self.0 {
            Some(ranks) => ranks.broadcast(Some(own)).ok(),
            None => Some(own),
        }
    }

    /// Merges the records of all processes. With several processes, also returns this process's own
    /// record.
    pub(crate) fn join_records(
        &self,
        own: Record,
        hashes: Vec<StreamHash>,
        now_ns: Box<dyn Fn() -> u64 + Send>,
    ) -> (Record, Option<Box<Record>>) {
        let Some(ranks) = &self.0 else {
            return (own, None);
        };
        let (all, own) = records::join_records(ranks, own, hashes, now_ns);
        let told = Told::to_all(ranks, Some(Ok(&all)));
        let told = told.ok().flatten().and_then(|told| told.into_record().ok());
        (told.unwrap_or(all), Some(Box::new(own)))
    }
}

/// Refuses a run that uses more ranks than were launched.
fn refuse_more(request: &RunSpec, ranks: Option<&Ranks>) -> Result<(), Refused> {
    let there = ranks.map_or(1, Ranks::launched);
    match request.ranks {
        asked if asked <= there => Ok(()),
        asked => Err(Refused::Ranks(format!(
            "--ranks {asked} requires as many processes of a launcher, and there {are} {there} \
             (use mpirun -n {asked} postmark run ... of a build with MPI, as in 'postmark help \
             hosts', or remove --ranks)",
            are = if there == 1 { "is" } else { "are" }
        ))),
    }
}

/// The error for a run whose result does not arrive.
fn no_result() -> Refused {
    Refused::Ranks("rank 0 sent no result of the run".to_owned())
}
