//! What the processes of one run do together: they refuse it together, agree on its place and on
//! one clock, meet at barriers, and leave the place when all have done so. A run of one process
//! does nothing for it.

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

/// The processes that perform a run together; nothing where it has one. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Processes(pub(crate) Option<Ranks>);

impl Processes {
    /// Of the ranks that there are those that perform a run. Where the run asks for fewer, as a
    /// step of a sweep does, the others wait.
    pub(crate) fn of(request: &RunSpec, ranks: Option<Ranks>) -> Result<Self, Refused> {
        refuse_more(request, ranks.as_ref())?;
        Ok(Self(ranks.map(|all| {
            let ranks = all.among(request.ranks);
            // Whatever ended a run before this one is not to end this one.
            ranks.tie(|| None, || ());
            ranks.open();
            ranks
        })))
    }

    /// Whether the run has one process.
    pub(crate) fn is_alone(&self) -> bool {
        self.0.is_none()
    }

    /// The number of this process, from 0.
    pub(crate) fn number(&self) -> u32 {
        self.0.as_ref().map_or(0, Ranks::rank)
    }

    /// Whether this process performs the run, and does not only wait for others that do.
    pub(crate) fn performs(&self) -> bool {
        self.0.as_ref().is_none_or(Ranks::is_one)
    }

    /// Waits until others have performed the run.
    pub(crate) fn rest(&self) -> Result<Record, Refused> {
        let ranks = self.0.as_ref().ok_or_else(no_result)?;
        // Whatever ended it, they tell what came of it.
        let _ = ranks.rest();
        ranks.close();
        Told::to_all(ranks, None)?
            .ok_or_else(no_result)?
            .into_record()
    }

    /// Calls `stop` where another process stops the run, and tells the others where `stopping`
    /// gives a reason: the number of a signal, or 0.
    pub(crate) fn tie(
        &self,
        stopping: impl Fn() -> Option<u32> + Send + 'static,
        stop: impl Fn() + Send + 'static,
    ) {
        if let Some(ranks) = &self.0 {
            ranks.tie(stopping, stop);
        }
    }

    /// Why another process has stopped the run: the number of a signal, or 0.
    pub(crate) fn stop_reason(&self) -> Option<u32> {
        self.0.as_ref()?.stop_reason()
    }

    /// The signal that any of them has caught, between two runs.
    pub(crate) fn signal_of_any(&self, own: Option<i32>) -> Result<Option<i32>, String> {
        let Some(ranks) = &self.0 else {
            return Ok(own);
        };
        let met = ranks.all().meet(own, Option::or);
        met.map_err(|why| why.to_string())
    }

    /// Why another process refuses the run; each tells whether it refuses it.
    fn refusal_of_others(&self, own: Option<&Refused>) -> Option<Refused> {
        let ranks = self.0.as_ref()?;
        let said = own.map(|why| (ranks.rank(), host(), why.to_string()));
        match ranks.meet(said, Option::or) {
            Ok(first) => first.map(|(rank, host, why)| Refused::OnRank { rank, host, why }),
            Err(lost) => Some(lost.into()),
        }
    }

    /// Has all processes refuse what one of them refuses: with what this one has made all the same.
    pub(crate) fn agree<T>(&self, own: Result<T, Refused>) -> Result<T, (Refused, Option<T>)> {
        let of_others = self.refusal_of_others(own.as_ref().err());
        match (own, of_others) {
            (Err(own), _) => Err((own, None)),
            (Ok(own), None) => Ok(own),
            (Ok(own), Some(refused)) => Err((refused, Some(own))),
        }
    }

    /// The run was refused: ends it, and tells those that wait.
    pub(crate) fn refuse(&self, why: &Refused) {
        if let Some(ranks) = &self.0 {
            ranks.close();
            // Where a rank is lost, all know it.
            let _ = Told::to_all(ranks, Some(Err(why)));
        }
    }

    /// Finds that all were asked for the same, by the same program; gives what a manifest says of
    /// those but the first, and the machine of that one.
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

    /// The first process tells the others where the run's files lie, or why they lie nowhere.
    pub(crate) fn tell_place(&self, place: impl FnOnce() -> Result<PlaceOfAll, String>) {
        if let Some(ranks) = &self.0 {
            // Where a rank is lost, the next meeting says so, and the place is given back.
            let _ = ranks.broadcast(Some(place()));
        }
    }

    /// Another process hears it.
    pub(crate) fn hear_place(&self) -> Result<Result<PlaceOfAll, String>, Refused> {
        let ranks = self.0.as_ref().ok_or_else(no_result)?;
        Ok(ranks.broadcast(None)?)
    }

    /// Agrees on where the run's moments count from.
    pub(crate) fn agree_on_origin(&self, clock: &RunClock) -> Result<OneClock, Refused> {
        match &self.0 {
            Some(ranks) => records::one_clock(ranks, clock),
            None => Ok(OneClock {
                origin: Origin::from(&clock.clocks()),
                own: None,
            }),
        }
    }

    /// Who this process is among the others, for a record that has its part only.
    pub(crate) fn own_part(&self, head: &Record, clock: &OneClock) -> Option<ClusterRecord> {
        let own = clock.own.clone()?;
        Some(records::own_part(self.0.as_ref()?, head, own))
    }

    /// The record of all before anything is done; `None` where the first of them takes no records.
    /// Where a process is lost or stops, what follows finds it.
    pub(crate) fn join_heads(&self, head: &Record, takes_records: bool) -> Option<Box<Record>> {
        let (ranks, cluster) = self.0.as_ref().zip(head.cluster.clone())?;
        let is_taken = ranks.broadcast(Some(takes_records)).ok()?;
        let own = Sent(head.clone().of_rank(cluster));
        let join = || ranks.meet(own, |one, other| Sent(one.0.join(other.0)));
        is_taken.then(join)?.ok().map(|all| Box::new(all.0))
    }

    /// Begins a meeting at a barrier, and does not wait for the others.
    pub(crate) fn meet(&self, own: AtBarrier) -> Meeting {
        match &self.0 {
            Some(ranks) => Meeting::Ranks(ranks.begin(own, AtBarrier::and)),
            None => Meeting::Alone(Some(Box::new(own))),
        }
    }

    /// The end of the run begins: stops are not looked at any more.
    pub(crate) fn close(&self) {
        if let Some(ranks) = &self.0 {
            ranks.close();
        }
    }

    /// What must be known of the work of all before the place is left.
    pub(crate) fn end_state(&self, own: EndState) -> EndState {
        let Some(ranks) = &self.0 else {
            return own;
        };
        let lost = EndState {
            complete: false,
            // A rank that is lost may be working yet.
            abandoned: true,
            ..own.clone()
        };
        ranks.meet(own, EndState::and).unwrap_or(lost)
    }

    /// Whether something of the run stays, which the first process tells; `None` where that is not
    /// known.
    pub(crate) fn tell_incomplete(&self, own: bool) -> Option<bool> {
        match &self.0 {
            Some(ranks) => ranks.broadcast(Some(own)).ok(),
            None => Some(own),
        }
    }

    /// The record of all, and this process's own where that is another.
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

/// Refuses a run that asks for more ranks than there are.
fn refuse_more(request: &RunSpec, ranks: Option<&Ranks>) -> Result<(), Refused> {
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

/// What a process says that waited in vain.
fn no_result() -> Refused {
    Refused::Ranks("rank 0 sent no result of the run".to_owned())
}
