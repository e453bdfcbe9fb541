//! What the processes of one run do together. A run of one process does nothing for it: the
//! defaults of the trait are its answers. Those of several are in `ranks`.

use std::fmt;

use record::ranks::ClusterRecord;
use record::{Origin, Record};
use rundir::Life;
use rundir::manifest::OtherRank;
use spec::RunSpec;
use workload::StreamHash;

use crate::clock::{Clock as _, RunClock};
use crate::error::Refused;

mod barrier;
mod end_state;
mod place;

pub(crate) use barrier::{AtBarrier, Done, Meeting, MeetingError, Round};
pub(crate) use end_state::EndState;
pub(crate) use place::PlaceOfAll;

/// See the module's text.
pub(crate) trait Processes: fmt::Debug + Send + Sync {
    /// Whether the run has one process.
    fn is_alone(&self) -> bool {
        true
    }

    /// The number of this process, from 0.
    fn number(&self) -> u32 {
        0
    }

    /// Whether this process performs the run, and does not only wait for others that do.
    fn performs(&self) -> bool {
        true
    }

    /// Waits until others have performed the run.
    fn rest(&self) -> Result<Record, Refused> {
        Err(no_result())
    }

    /// Calls `stop` where another process stops the run, and tells the others where `stopping`
    /// gives a reason: the number of a signal, or 0.
    fn tie(&self, _stopping: Box<dyn Fn() -> Option<u32> + Send>, _stop: Box<dyn Fn() + Send>) {}

    /// Why another process has stopped the run: the number of a signal, or 0.
    fn stop_reason(&self) -> Option<u32> {
        None
    }

    /// The signal that any of them has caught, between two runs.
    fn signal_of_any(&self, own: Option<i32>) -> Result<Option<i32>, String> {
        Ok(own)
    }

    /// Why another process refuses the run; each tells whether it refuses it.
    fn refusal_of_others(&self, _own: Option<&Refused>) -> Option<Refused> {
        None
    }

    /// The run was refused: ends it, and tells those that wait.
    fn refuse(&self, _why: &Refused) {}

    /// Finds that all were asked for the same, by the same program; gives what a manifest says of
    /// those but the first, and the machine of that one.
    fn introduce(
        &self,
        _request: &RunSpec,
        _life: &Life,
    ) -> Result<(Vec<OtherRank>, String), Refused> {
        Ok((Vec::new(), String::new()))
    }

    /// The first process tells the others where the run's files lie, or why they lie nowhere.
    fn tell_place(&self, _place: &dyn Fn() -> Result<PlaceOfAll, String>) {}

    /// Another process hears it.
    fn hear_place(&self) -> Result<Result<PlaceOfAll, String>, Refused> {
        Err(no_result())
    }

    /// Agrees on where the run's moments count from.
    fn agree_on_origin(&self, clock: &RunClock) -> Result<OneClock, Refused> {
        Ok(OneClock {
            origin: Origin::from(&clock.clocks()),
            own: None,
        })
    }

    /// Who this process is among the others, for a record that has its part only.
    fn own_part(&self, _head: &Record, _clock: &OneClock) -> Option<ClusterRecord> {
        None
    }

    /// The record of all before anything is done; `None` where the first of them takes no records.
    /// Where a process is lost or stops, what follows finds it.
    fn join_heads(&self, _head: &Record, _takes_records: bool) -> Option<Box<Record>> {
        None
    }

    /// Begins a meeting at a barrier, and does not wait for the others.
    fn meet(&self, own: AtBarrier) -> Box<dyn Meeting> {
        Box::new(Done::new(own))
    }

    /// The end of the run begins: stops are not looked at any more.
    fn close(&self) {}

    /// What must be known of the work of all before the place is left.
    fn end_state(&self, own: EndState) -> EndState {
        own
    }

    /// Whether something of the run stays, which the first process tells; `None` where that is not
    /// known.
    fn tell_incomplete(&self, own: bool) -> Option<bool> {
        Some(own)
    }

    /// The record of all, and this process's own where that is another.
    fn join_records(
        &self,
        own: Record,
        _hashes: Vec<StreamHash>,
        _now_ns: Box<dyn Fn() -> u64 + Send>,
    ) -> (Record, Option<Box<Record>>) {
        (own, None)
    }
}

/// A run of one process.
#[derive(Debug)]
pub(crate) struct OneProcess;

impl Processes for OneProcess {}

/// Has all processes refuse what one of them refuses: with what this one has made all the same.
pub(crate) fn agree<T>(
    processes: &dyn Processes,
    own: Result<T, Refused>,
) -> Result<T, (Refused, Option<T>)> {
    let of_others = processes.refusal_of_others(own.as_ref().err());
    match (own, of_others) {
        (Err(own), _) => Err((own, None)),
        (Ok(own), None) => Ok(own),
        (Ok(own), Some(refused)) => Err((refused, Some(own))),
    }
}

/// Where the moments of a run count from, on this process's clock.
#[derive(Clone, Debug)]
pub(crate) struct OneClock {
    pub origin: Origin,
    /// How its clock is against that of the first process, where there are several.
    pub own: Option<record::ranks::RankClock>,
}

/// What a process says that waited in vain.
pub(crate) fn no_result() -> Refused {
    Refused::Ranks("rank 0 sent no result of the run".to_owned())
}
