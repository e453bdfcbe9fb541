//! How a rank begins and ends a run, a collective operation, and the time in which it only watches
//! a run of other ranks.

use std::sync::mpsc::Sender;
use std::time::Instant;

use super::state::{Pending, Together};
use crate::collective::Begun;
use crate::communicator::{CommunicationError, Outcome};
use crate::links::{LEFT, Neighbour};
use crate::message::{Collective, Envelope, Sort};
use crate::tree::parent;

impl Together {
    pub(crate) fn open(&mut self) {
        if self.is_run() {
            return;
        }
        self.stopped = None;
        self.hear(|heard| heard.stopped = None);
        self.enter(self.epoch + 1);
    }

    pub(crate) fn close(&mut self) {
        if !self.is_run() {
            return;
        }
        // Checks for the last time whether this rank requests a stop. Without this check, other
        // ranks might continue the run for a long time.
        self.look();
        let rank = self.stopped.unwrap_or(self.links.communicator.rank());
        self.fail_all(&CommunicationError::Stopped { rank });
        self.enter(self.epoch + 1);
    }

    /// Follows the other ranks through their runs until the parent starts an operation with all
    /// ranks.
    pub(crate) fn watch(&mut self, answer: Sender<Outcome<()>>) {
        if let Some(why) = &self.lost {
            let _ = answer.send(Err(why.clone()));
            return;
        }
        self.watching = Some(answer);
        let above = parent(self.links.communicator.rank());
        let found = self
            .links
            .neighbours
            .iter()
            .find(|other| Some(other.rank) == above);
        if let Some((from, epoch)) = found.map(|above| (above.rank, above.epoch)) {
            self.follow(from, epoch);
        }
        self.end_watch();
    }

    /// While watching, enters the epoch of the parent.
    pub(super) fn follow(&mut self, from: u32, epoch: u64) {
        if self.watching.is_none() || parent(self.links.communicator.rank()) != Some(from) {
            return;
        }
        if self.epoch < epoch && epoch < LEFT {
            self.stopped = None;
            self.hear(|heard| heard.stopped = None);
            self.enter(epoch);
        }
    }

    /// Ends the watch if the parent has started an operation with all ranks, or has left.
    pub(super) fn end_watch(&mut self) {
        let above = parent(self.links.communicator.rank());
        let all = self.links.communicator.ranks();
        let is_over = match above {
            None => true,
            Some(above) => {
                let is_for_all = |one: &Envelope| {
                    one.from == above && one.head.sort == Sort::Part && one.head.count == all
                };
                let has_left = |other: &Neighbour| other.rank == above && other.epoch == LEFT;
                self.links.inbox.iter().any(is_for_all)
                    || self.links.neighbours.iter().any(has_left)
            }
        };
        if let Some(answer) = self.watching.take_if(|_| is_over) {
            let _ = answer.send(Ok(()));
        }
    }

    /// Starts the last operation, after which this rank leaves.
    pub(crate) fn leave(&mut self, begun: Box<dyn Begun>) {
        self.enter(LEFT);
        self.begin(Collective::Leave, begun, self.links.communicator.ranks());
    }

    /// Whether this rank has started [`leave`](Self::leave), its last operation.
    pub(crate) fn is_leaving(&self) -> bool {
        self.epoch >= LEFT
    }

    /// Starts an operation of the first `count` ranks, which include this rank.
    pub(crate) fn begin(&mut self, collective: Collective, begun: Box<dyn Begun>, count: u32) {
        if let Some(why) = &self.lost {
            return begun.fail(why);
        }
        if let (Some(rank), true) = (self.stopped, self.is_run()) {
            return begun.fail(&CommunicationError::Stopped { rank });
        }
        *self.steps.entry(count).or_default() += 1;
        (self.collective, self.count) = (collective, count);
        let head = self.head(Sort::Part);
        self.pending.push(Pending { head, begun });
        self.moved = Instant::now();
        self.advance();
    }

    pub(super) fn enter(&mut self, epoch: u64) {
        self.epoch = epoch;
        self.steps.clear();
        (self.collective, self.count) = (Collective::None, self.links.communicator.ranks());
        self.pulse();
        let inbox = std::mem::take(&mut self.links.inbox);
        for envelope in inbox {
            self.sort(envelope);
        }
    }
}
