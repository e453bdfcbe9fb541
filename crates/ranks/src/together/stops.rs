//! Detects that a rank is lost or requests a stop of the run, and informs all ranks.

use std::time::Instant;

use super::state::{StopReason, Together};
use crate::communicator::CommunicationError;
use crate::message::{Sort, encode};

impl Together {
    /// Detects neighbours that were silent for too long.
    pub(super) fn judge(&mut self) {
        let silent = self
            .links
            .neighbours
            .iter()
            .find(|other| other.heard.elapsed() > self.limit);
        if let Some(neighbour) = silent {
            let (rank, limit) = (neighbour.rank, self.limit);
            self.lose(CommunicationError::Silent { rank, limit }, None);
        }
    }

    /// Checks whether this rank requests a stop.
    pub(super) fn look(&mut self) {
        let is_asked = self.is_run() && self.stopped.is_none();
        let tie = self.tie.as_ref().filter(|_| is_asked);
        if let Some(reason) = tie.and_then(|tie| (tie.stopping)()) {
            self.stop(self.links.communicator.rank(), reason, None);
        }
    }

    pub(super) fn stop(&mut self, rank: u32, reason: StopReason, told_by: Option<u32>) {
        if self.lost.is_some() || self.stopped.is_some() || !self.is_run() {
            return;
        }
        self.stopped = Some(rank);
        self.hear(|heard| heard.stopped = Some((rank, reason)));
        if let Ok(body) = encode(&(self.epoch, rank, reason)) {
            self.spread(Sort::Stop, &body, told_by);
        }
        // The program on this rank is informed first, so that it knows the cause when the
        // operations of its run fail.
        if rank != self.links.communicator.rank() {
            self.stop_own();
        }
        self.fail_all(&CommunicationError::Stopped { rank });
    }

    pub(super) fn lose(&mut self, why: CommunicationError, told_by: Option<u32>) {
        if self.lost.is_some() {
            return;
        }
        self.lost = Some(why.clone());
        self.lost_at = Some(Instant::now());
        self.hear(|heard| heard.lost = Some(why.clone()));
        if let Ok(body) = encode(&why) {
            self.spread(Sort::Lost, &body, told_by);
        }
        if let Some(tell) = self.tell_lost.take() {
            tell(&why);
        }
        self.stop_own();
        self.fail_all(&why);
    }

    pub(super) fn stop_own(&self) {
        if let Some(tie) = &self.tie {
            (tie.stop)();
        }
    }

    pub(super) fn fail_all(&mut self, why: &CommunicationError) {
        for pending in self.pending.drain(..) {
            pending.begun.fail(why);
        }
        // A stop ends the run, but not a watch.
        let is_lost = self.lost.is_some();
        if let Some(watching) = self.watching.take_if(|_| is_lost) {
            let _ = watching.send(Err(why.clone()));
        }
    }
}
