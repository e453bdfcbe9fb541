//! Processes received messages, and sends signs of life (pulses), losses and stops.

use std::time::{Duration, Instant};

use super::state::{Pending, StopReason, Together};
use crate::collective::Progress;
use crate::communicator::{CommunicationError, Message};
use crate::links::Post;
use crate::message::{Envelope, Head, Sort, decode};

/// Number of pulses that a rank sends within the time limit for silence.
const PULSES: u32 = 8;

impl Together {
    /// Waits for a message, at most for `limit`, and processes it.
    pub(crate) fn receive(&mut self, limit: Duration) {
        match self.links.communicator.receive(limit) {
            Ok(Some(message)) => self.take(message),
            Ok(None) => (),
            Err(why) => self.lose(why, None),
        }
    }

    /// Processes messages, advances operations, sends pulses, and checks for losses and stops.
    pub(crate) fn attend(&mut self) {
        let now = Instant::now();
        // If this rank itself was stopped or had no processor, it cannot conclude that neighbours
        // were silent, so their silence is counted from now on.
        if now.saturating_duration_since(self.attended) > self.limit / 2 {
            for neighbour in &mut self.links.neighbours {
                neighbour.heard = now;
            }
        }
        self.attended = now;
        loop {
            match self.links.communicator.receive(Duration::ZERO) {
                Ok(Some(message)) => self.take(message),
                Ok(None) => break,
                Err(why) => {
                    self.lose(why, None);
                    break;
                }
            }
        }
        self.advance();
        self.pulse_if_due();
        self.judge();
        self.look();
    }

    pub(super) fn take(&mut self, message: Message) {
        match Envelope::open(message) {
            Ok(envelope) => {
                let from = envelope.from;
                let known = self
                    .links
                    .neighbours
                    .iter_mut()
                    .find(|known| known.rank == from);
                if let Some(neighbour) = known {
                    neighbour.hear(envelope.head);
                }
                self.follow(from, envelope.head.epoch);
                self.sort(envelope);
                self.end_watch();
            }
            Err(why) => self.lose(why, None),
        }
    }

    /// Processes a message now, or keeps the message until this rank reaches its epoch.
    pub(super) fn sort(&mut self, envelope: Envelope) {
        let Envelope {
            from,
            head,
            ref body,
        } = envelope;
        if matches!(head.sort, Sort::Lost | Sort::Stop) {
            // Collective operations whose messages have all arrived are completed first, so that
            // they do not fail because a rank stops or is lost afterwards.
            self.advance();
        }
        match head.sort {
            Sort::Pulse => (),
            Sort::Lost => {
                let why = decode(body, from).unwrap_or_else(|why| why);
                self.lose(why, Some(from));
            }
            Sort::Stop => match decode::<(u64, u32, StopReason)>(body, from) {
                Ok((epoch, rank, reason)) if epoch == self.epoch => {
                    self.stop(rank, reason, Some(from))
                }
                Ok((epoch, ..)) => {
                    // This rank is not in the run that is stopped, but other ranks may be, so the
                    // stop is forwarded.
                    self.spread(Sort::Stop, body, Some(from));
                    if epoch > self.epoch {
                        self.links.inbox.push_back(envelope);
                    }
                }
                Err(why) => self.lose(why, None),
            },
            Sort::Part if head.epoch < self.epoch => (),
            Sort::Part => {
                self.links.inbox.push_back(envelope);
                self.moved = Instant::now();
            }
        }
    }

    /// Sends a message to all neighbours except `told_by`, which sent the message to this rank.
    pub(super) fn spread(&mut self, sort: Sort, body: &[u8], told_by: Option<u32>) {
        let bytes = self.head(sort).with(body);
        for neighbour in &self.links.neighbours {
            if Some(neighbour.rank) != told_by {
                // A neighbour that cannot be reached will detect this rank as lost.
                let _ = self.links.communicator.send(neighbour.rank, bytes.clone());
            }
        }
    }

    pub(super) fn head(&self, sort: Sort) -> Head {
        Head {
            sort,
            collective: self.collective,
            count: self.count,
            epoch: self.epoch,
            step: self.steps.get(&self.count).copied().unwrap_or(0),
        }
    }

    pub(super) fn pulse(&mut self) {
        self.pulsed = Instant::now();
        self.spread(Sort::Pulse, &[], None);
    }

    pub(super) fn pulse_if_due(&mut self) {
        if self.pulsed.elapsed() >= self.limit / PULSES {
            self.pulse();
        }
    }

    pub(super) fn advance(&mut self) {
        let mut at = 0;
        while let Some(Pending { head, begun }) = self.pending.get_mut(at) {
            let mut post = Post {
                links: &mut self.links,
                head: *head,
            };
            match begun.advance(&mut post) {
                Ok(Progress::Done(())) => drop(self.pending.remove(at)),
                // Merging large values takes long, so that the time for the next pulse may have
                // come.
                Ok(Progress::More) => self.pulse_if_due(),
                Ok(Progress::Waits) => at += 1,
                Err(CommunicationError::Stopped { rank }) => return self.stop(rank, 0, None),
                Err(why) => return self.lose(why, None),
            }
        }
    }
}
