//! A run of several ranks: they refuse it together, agree on its place and on one clock, meet at
//! barriers, and leave the place when all have done so.

use std::sync::Arc;
use std::time::Duration;

use ::ranks::{CommunicationError, Ranks};
use record::Record;
use record::ranks::ClusterRecord;
use rundir::Life;
use rundir::manifest::OtherRank;
use spec::RunSpec;
use workload::StreamHash;

use crate::clock::RunClock;
use crate::error::Refused;
use crate::processes::{
    AtBarrier, EndState, Meeting, MeetingError, OneClock, OneProcess, PlaceOfAll, Processes,
    no_result,
};

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

/// The processes that perform a run, of the ranks that there are. Where the run asks for fewer, as
/// a step of a sweep does, the others wait.
pub(crate) fn processes_of(
    request: &RunSpec,
    ranks: Option<Ranks>,
) -> Result<Arc<dyn Processes>, Refused> {
    refuse_more(request, ranks.as_ref())?;
    let Some(all) = ranks else {
        return Ok(Arc::new(OneProcess));
    };
    let ranks = all.among(request.ranks);
    // Whatever ended a run before this one is not to end this one.
    ranks.tie(|| None, || ());
    ranks.open();
    Ok(Arc::new(RanksOfRun(ranks)))
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

/// The ranks that perform a run.
#[derive(Debug)]
pub(crate) struct RanksOfRun(pub(crate) Ranks);

impl Processes for RanksOfRun {
    fn is_alone(&self) -> bool {
        false
    }

    fn number(&self) -> u32 {
        self.0.rank()
    }

    fn performs(&self) -> bool {
        self.0.is_one()
    }

    fn rest(&self) -> Result<Record, Refused> {
        // Whatever ended it, they tell what came of it.
        let _ = self.0.rest();
        self.0.close();
        match Told::to_all(&self.0, None)? {
            Some(told) => told.into_record(),
            None => Err(no_result()),
        }
    }

    fn tie(&self, stopping: Box<dyn Fn() -> Option<u32> + Send>, stop: Box<dyn Fn() + Send>) {
        self.0.tie(stopping, stop);
    }

    fn stop_reason(&self) -> Option<u32> {
        self.0.stop_reason()
    }

    fn signal_of_any(&self, own: Option<i32>) -> Result<Option<i32>, String> {
        let met = self.0.all().meet(own, Option::or);
        met.map_err(|why| why.to_string())
    }

    fn refusal_of_others(&self, own: Option<&Refused>) -> Option<Refused> {
        let said = own.map(|why| (self.0.rank(), host(), why.to_string()));
        let first = self
            .0
            .meet(said, |one: Option<(u32, String, String)>, other| {
                one.or(other)
            });
        match first {
            Ok(first) => first.map(|(rank, host, why)| Refused::OnRank { rank, host, why }),
            Err(lost) => Some(lost.into()),
        }
    }

    fn refuse(&self, why: &Refused) {
        self.0.close();
        // Where a rank is lost, all know it.
        let _ = Told::to_all(&self.0, Some(Err(why)));
    }

    fn introduce(
        &self,
        request: &RunSpec,
        life: &Life,
    ) -> Result<(Vec<OtherRank>, String), Refused> {
        introduction::introduce(&self.0, request, life)
    }

    fn tell_place(&self, place: &dyn Fn() -> Result<PlaceOfAll, String>) {
        // Where a rank is lost, the next meeting says so, and the place is given back.
        let _ = self.0.broadcast(Some(place()));
    }

    fn hear_place(&self) -> Result<Result<PlaceOfAll, String>, Refused> {
        Ok(self.0.broadcast(None)?)
    }

    fn agree_on_origin(&self, clock: &RunClock) -> Result<OneClock, Refused> {
        records::one_clock(&self.0, clock)
    }

    fn own_part(&self, head: &Record, clock: &OneClock) -> Option<ClusterRecord> {
        let own = clock.own.clone()?;
        Some(records::own_part(&self.0, head, own))
    }

    fn join_heads(&self, head: &Record, takes_records: bool) -> Option<Box<Record>> {
        let cluster = head.cluster.clone()?;
        let is_taken = self.0.broadcast(Some(takes_records)).ok()?;
        let join = || self.0.meet(head.clone().of_rank(cluster), Record::join);
        is_taken.then(join)?.ok().map(Box::new)
    }

    fn meet(&self, own: AtBarrier) -> Box<dyn Meeting> {
        Box::new(MeetingOfRanks(self.0.begin(own, AtBarrier::and)))
    }

    fn close(&self) {
        self.0.close();
    }

    fn end_state(&self, own: EndState) -> EndState {
        let lost = EndState {
            complete: false,
            // A rank that is lost may be working yet.
            abandoned: true,
            ..own.clone()
        };
        self.0.meet(own, EndState::and).unwrap_or(lost)
    }

    fn tell_incomplete(&self, own: bool) -> Option<bool> {
        self.0.broadcast(Some(own)).ok()
    }

    fn join_records(
        &self,
        own: Record,
        hashes: Vec<StreamHash>,
        now_ns: Box<dyn Fn() -> u64 + Send>,
    ) -> (Record, Option<Box<Record>>) {
        let (all, own) = records::join_records(&self.0, own, hashes, now_ns);
        let told = Told::to_all(&self.0, Some(Ok(&all)));
        let told = told.ok().flatten().and_then(|told| told.into_record().ok());
        (told.unwrap_or(all), Some(Box::new(own)))
    }
}

/// A meeting of ranks that was begun.
struct MeetingOfRanks(::ranks::Meeting<AtBarrier>);

impl Meeting for MeetingOfRanks {
    fn wait(&mut self, limit: Duration) -> Option<Result<AtBarrier, MeetingError>> {
        let met = self.0.wait(limit)?;
        Some(met.map_err(|why| match why {
            CommunicationError::Stopped { .. } => MeetingError::Stopped,
            why => MeetingError::Failed(why.to_string()),
        }))
    }
}
