//! The state of the communication of a rank.

use std::collections::{HashMap, VecDeque};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::collective::Begun;
use crate::communicator::{CommunicationError, Communicator, Outcome};
use crate::links::{Links, Neighbour};
use crate::message::{Collective, Head};
use crate::tree::{children, parent};

/// The functions that connect the ranks with a run: `stopping` returns a reason if this rank wants
/// to stop the run, `stop` stops the run on this rank.
pub(crate) struct Tie {
    pub(crate) stopping: Box<dyn Fn() -> Option<StopReason> + Send>,
    pub(crate) stop: Box<dyn Fn() + Send>,
}

/// The reason why a rank stops a run, as a number that the program defines; 0 means that there is
/// no specific reason.
pub type StopReason = u32;

/// A function that is called once when a rank is lost.
pub(crate) type TellLost = Box<dyn FnOnce(&CommunicationError) + Send>;

/// The loss and the stop, if any, of which this rank was informed.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub(crate) lost: Option<CommunicationError>,
    /// The rank that stopped the run, and its reason.
    pub(crate) stopped: Option<(u32, StopReason)>,
}

pub(super) struct Pending {
    pub(super) head: Head,
    pub(super) begun: Box<dyn Begun>,
}

pub(crate) struct Together {
    pub(super) links: Links,
    pub(super) limit: Duration,
    pub(super) epoch: u64,
    /// The number of the last operation (step) in the epoch, by the number of participating ranks.
    pub(super) steps: HashMap<u32, u64>,
    /// The last operation that was started; `count` is the number of its ranks.
    pub(super) collective: Collective,
    pub(super) count: u32,
    pub(super) pending: Vec<Pending>,
    pub(super) tie: Option<Tie>,
    pub(super) heard: Arc<Mutex<Heard>>,
    pub(super) tell_lost: Option<TellLost>,
    pub(super) lost: Option<CommunicationError>,
    pub(super) lost_at: Option<Instant>,
    pub(super) stopped: Option<u32>,
    /// The channel that reports the end of a watch; `None` if this rank does not watch.
    pub(super) watching: Option<Sender<Outcome<()>>>,
    pub(super) pulsed: Instant,
    pub(super) attended: Instant,
    /// The last time at which an operation was started or a message of an operation arrived.
    pub(crate) moved: Instant,
}

impl Together {
    /// Creates the state; a neighbour that is silent for `limit` is lost.
    pub(crate) fn new(
        communicator: impl Communicator + 'static,
        limit: Duration,
        heard: Arc<Mutex<Heard>>,
    ) -> Self {
        let now = Instant::now();
        let (rank, ranks) = (communicator.rank(), communicator.ranks());
        let neighbours = parent(rank).into_iter().chain(children(rank, ranks));
        let neighbours = neighbours.map(|rank| Neighbour {
            rank,
            heard: now,
            epoch: 0,
            step: 0,
            count: ranks,
            collective: Collective::None,
        });
        Self {
            links: Links {
                neighbours: neighbours.collect(),
                communicator: Box::new(communicator),
                inbox: VecDeque::new(),
            },
            limit,
            epoch: 0,
            steps: HashMap::new(),
            collective: Collective::None,
            count: ranks,
            pending: Vec::new(),
            tie: None,
            heard,
            tell_lost: None,
            lost: None,
            lost_at: None,
            stopped: None,
            watching: None,
            pulsed: now,
            attended: now,
            moved: now,
        }
    }

    pub(crate) fn is_waiting(&self) -> bool {
        !self.pending.is_empty()
    }

    pub(crate) fn is_alone(&self) -> bool {
        self.links.neighbours.is_empty()
    }

    /// The time since the loss of a rank was detected; `None` if no rank is lost.
    pub(crate) fn lost_for(&self) -> Option<Duration> {
        self.lost_at.map(|at| at.elapsed())
    }

    pub(crate) fn tie(&mut self, tie: Tie) {
        self.tie = Some(tie);
    }

    pub(crate) fn when_lost(&mut self, tell: TellLost) {
        match &self.lost {
            Some(why) => tell(why),
            None => self.tell_lost = Some(tell),
        }
    }

    /// Transmits outstanding messages, at most for `limit`.
    pub(crate) fn flush(&mut self, limit: Duration) -> Outcome<()> {
        self.links.communicator.flush(limit)
    }

    pub(crate) fn into_communicator(self) -> Box<dyn Communicator> {
        self.links.communicator
    }

    pub(super) fn is_run(&self) -> bool {
        self.epoch % 2 == 1
    }

    pub(super) fn hear(&self, change: impl FnOnce(&mut Heard)) {
        change(&mut self.heard.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
