//! What ranks do together, on one rank: it takes what comes, acts as far as it can, and never waits
//! by itself.
//!
//! Messages go along a [tree](crate::tree), so that no rank sends or takes more of them than the
//! logarithm of the number of ranks. Every message says its epoch, which is counted up where a run
//! begins and where its end does, and its step within that: what is of an older epoch is dropped,
//! what is of a newer one waits for its turn.
//!
//! Some things the first ranks do without the others: their tree is the same without those, and
//! their steps are counted apart, by how many they are. Epochs are those of all ranks, as are
//! pulses, stops and losses.
//!
//! A rank that [watches](Together::watch) does not count the runs of the others itself: it is where
//! the rank above it is, until that one does something with all.
//!
//! How long a rank works until it meets the others, nobody can know. So nothing has a deadline but
//! silence: each rank gives its neighbours in the tree a sign of life, a pulse, whatever it does,
//! and one that was not heard for long is lost. The neighbour that finds it tells all others, along
//! the tree, as does a rank that stops the run: all name the same rank.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::collective::{Meet, Outcome, Post, Progress};
use crate::communicator::{CommunicationError, Communicator, Message};
use crate::message::{Collective, Envelope, Head, Sort, decode, encode};
use crate::tree::{children, parent};

/// So many pulses are due within the time after which a silent rank is lost.
const PULSES: u32 = 8;
/// After the last run, or whatever there was.
const LEFT: u64 = u64::MAX - 1;

/// What a run is asked and told.
pub(crate) struct Tie {
    pub(crate) stopping: Box<dyn Fn() -> Option<StopReason> + Send>,
    pub(crate) stop: Box<dyn Fn() + Send>,
}

/// Why a rank stops a run, as a number that means something to the program: 0 where there is no
/// more to tell.
pub type StopReason = u32;

/// Who is told, once, that a rank is lost.
pub(crate) type TellLost = Box<dyn FnOnce(&CommunicationError) + Send>;

/// What a rank has heard.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub(crate) lost: Option<CommunicationError>,
    /// Who stopped the run, and why.
    pub(crate) stopped: Option<(u32, StopReason)>,
}

/// A rank right above or below.
struct Neighbour {
    rank: u32,
    heard: Instant,
    /// Where it was then, and what it did.
    epoch: u64,
    step: u64,
    count: u32,
    collective: Collective,
}

impl Neighbour {
    /// Takes a message as a sign of life.
    fn hear(&mut self, head: Head) {
        self.heard = Instant::now();
        // What is told for others is older than what the rank does itself.
        let is_newer = match head.count == self.count {
            true => (head.epoch, head.step) >= (self.epoch, self.step),
            false => head.epoch >= self.epoch,
        };
        if is_newer {
            (self.epoch, self.step) = (head.epoch, head.step);
            (self.count, self.collective) = (head.count, head.collective);
        }
    }
}

/// What comes and goes.
struct Links<C> {
    communicator: C,
    neighbours: Vec<Neighbour>,
    /// What came and is not taken yet.
    inbox: VecDeque<Envelope>,
}

/// What was begun and is not done.
struct Pending {
    head: Head,
    meet: Box<dyn Meet>,
}

/// A rank among others.
pub(crate) struct Together<C> {
    links: Links<C>,
    limit: Duration,
    epoch: u64,
    /// The last step of so many ranks.
    steps: HashMap<u32, u64>,
    /// What was begun last, and how many do it.
    collective: Collective,
    count: u32,
    pending: Vec<Pending>,
    tie: Option<Tie>,
    heard: Arc<Mutex<Heard>>,
    tell_lost: Option<TellLost>,
    lost: Option<CommunicationError>,
    lost_at: Option<Instant>,
    stopped: Option<u32>,
    /// Who waits until all do something together, where this rank watches the runs of others.
    watching: Option<Sender<Outcome<()>>>,
    pulsed: Instant,
    attended: Instant,
    /// When something was begun, or a part of it came.
    pub(crate) moved: Instant,
}

impl<C: Communicator> Together<C> {
    /// A neighbour that is silent for so long is lost.
    pub(crate) fn new(communicator: C, limit: Duration, heard: Arc<Mutex<Heard>>) -> Self {
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
                communicator,
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

    /// Whether no other rank will ever say something.
    pub(crate) fn is_alone(&self) -> bool {
        self.links.neighbours.is_empty()
    }

    /// How long it is known that a rank is lost.
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

    /// A run begins.
    pub(crate) fn open(&mut self) {
        if self.is_run() {
            return;
        }
        self.stopped = None;
        self.hear(|heard| heard.stopped = None);
        self.enter(self.epoch + 1);
    }

    /// The end of the run begins.
    pub(crate) fn close(&mut self) {
        if !self.is_run() {
            return;
        }
        // Others may work on for long before they miss this rank.
        self.look();
        let rank = self.stopped.unwrap_or(self.links.communicator.rank());
        self.fail_all(&CommunicationError::Stopped { rank });
        self.enter(self.epoch + 1);
    }

    /// Follows the others through their runs until the rank above begins something with all ranks.
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

    /// Is where the rank above is.
    fn follow(&mut self, from: u32, epoch: u64) {
        if self.watching.is_none() || parent(self.links.communicator.rank()) != Some(from) {
            return;
        }
        if self.epoch < epoch && epoch < LEFT {
            self.stopped = None;
            self.hear(|heard| heard.stopped = None);
            self.enter(epoch);
        }
    }

    /// The watch is over where the rank above waits for all, or has left.
    fn end_watch(&mut self) {
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

    /// Begins the last thing that is done together.
    pub(crate) fn leave(&mut self, meet: Box<dyn Meet>) {
        self.enter(LEFT);
        self.begin(meet, self.links.communicator.ranks());
    }

    /// Begins something that the first ranks do together, of which this is one.
    pub(crate) fn begin(&mut self, meet: Box<dyn Meet>, count: u32) {
        if let Some(why) = &self.lost {
            return meet.fail(why);
        }
        if let (Some(rank), true) = (self.stopped, self.is_run()) {
            return meet.fail(&CommunicationError::Stopped { rank });
        }
        *self.steps.entry(count).or_default() += 1;
        (self.collective, self.count) = (meet.collective(), count);
        let head = self.head(Sort::Part);
        self.pending.push(Pending { head, meet });
        self.moved = Instant::now();
        self.advance();
    }

    /// Waits for a message, so long at most.
    pub(crate) fn receive(&mut self, limit: Duration) {
        match self.links.communicator.receive(limit) {
            Ok(Some(message)) => self.take(message),
            Ok(None) => (),
            Err(why) => self.lose(why, None),
        }
    }

    /// Does all that is due.
    pub(crate) fn attend(&mut self) {
        let now = Instant::now();
        // Whoever was stopped itself, or had no processor, cannot say that others were silent.
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

    /// Sends what has not left, as long as the limit at most.
    pub(crate) fn flush(&mut self, limit: Duration) -> Outcome<()> {
        self.links.communicator.flush(limit)
    }

    pub(crate) fn into_communicator(self) -> C {
        self.links.communicator
    }

    fn is_run(&self) -> bool {
        self.epoch % 2 == 1
    }

    fn hear(&self, change: impl FnOnce(&mut Heard)) {
        change(&mut self.heard.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn enter(&mut self, epoch: u64) {
        self.epoch = epoch;
        self.steps.clear();
        (self.collective, self.count) = (Collective::None, self.links.communicator.ranks());
        self.pulse();
        let inbox = std::mem::take(&mut self.links.inbox);
        for envelope in inbox {
            self.sort(envelope);
        }
    }

    fn take(&mut self, message: Message) {
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

    /// What a message tells, now or in its turn.
    fn sort(&mut self, envelope: Envelope) {
        let Envelope {
            from,
            head,
            ref body,
        } = envelope;
        if matches!(head.sort, Sort::Lost | Sort::Stop) {
            // What came before it is whole, and no part of what it ends.
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
                    // It may be that this rank alone has closed that run, or not opened it.
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

    /// Tells all neighbours, but the one that told it.
    fn spread(&mut self, sort: Sort, body: &[u8], told_by: Option<u32>) {
        let bytes = self.head(sort).with(body);
        for neighbour in &self.links.neighbours {
            if Some(neighbour.rank) != told_by {
                // Whoever cannot be told misses this rank before long.
                let _ = self.links.communicator.send(neighbour.rank, bytes.clone());
            }
        }
    }

    fn head(&self, sort: Sort) -> Head {
        Head {
            sort,
            collective: self.collective,
            count: self.count,
            epoch: self.epoch,
            step: self.steps.get(&self.count).copied().unwrap_or(0),
        }
    }

    fn pulse(&mut self) {
        self.pulsed = Instant::now();
        self.spread(Sort::Pulse, &[], None);
    }

    fn pulse_if_due(&mut self) {
        if self.pulsed.elapsed() >= self.limit / PULSES {
            self.pulse();
        }
    }

    /// Finds who is lost.
    fn judge(&mut self) {
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

    /// Finds whether this rank wants to stop.
    fn look(&mut self) {
        let is_asked = self.is_run() && self.stopped.is_none();
        let tie = self.tie.as_ref().filter(|_| is_asked);
        if let Some(reason) = tie.and_then(|tie| (tie.stopping)()) {
            self.stop(self.links.communicator.rank(), reason, None);
        }
    }

    fn stop(&mut self, rank: u32, reason: StopReason, told_by: Option<u32>) {
        if self.lost.is_some() || self.stopped.is_some() || !self.is_run() {
            return;
        }
        self.stopped = Some(rank);
        self.hear(|heard| heard.stopped = Some((rank, reason)));
        if let Ok(body) = encode(&(self.epoch, rank, reason)) {
            self.spread(Sort::Stop, &body, told_by);
        }
        // Whoever hears of it by what fails finds that the run was told.
        if rank != self.links.communicator.rank() {
            self.stop_own();
        }
        self.fail_all(&CommunicationError::Stopped { rank });
    }

    fn lose(&mut self, why: CommunicationError, told_by: Option<u32>) {
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

    fn stop_own(&self) {
        if let Some(tie) = &self.tie {
            (tie.stop)();
        }
    }

    fn fail_all(&mut self, why: &CommunicationError) {
        for pending in self.pending.drain(..) {
            pending.meet.fail(why);
        }
        // A stop ends a run, and not what follows it.
        let is_lost = self.lost.is_some();
        if let Some(watching) = self.watching.take_if(|_| is_lost) {
            let _ = watching.send(Err(why.clone()));
        }
    }

    fn advance(&mut self) {
        let mut at = 0;
        while let Some(Pending { head, meet }) = self.pending.get_mut(at) {
            let mut post = OfStep {
                links: &mut self.links,
                head: *head,
            };
            match meet.advance(&mut post) {
                Ok(Progress::Done) => drop(self.pending.remove(at)),
                // Merging takes long where there is much.
                Ok(Progress::More) => self.pulse_if_due(),
                Ok(Progress::Waits) => at += 1,
                Err(CommunicationError::Stopped { rank }) => return self.stop(rank, 0, None),
                Err(why) => return self.lose(why, None),
            }
        }
    }
}

/// The messages of one step.
struct OfStep<'a, C> {
    links: &'a mut Links<C>,
    head: Head,
}

impl<C: Communicator> OfStep<'_, C> {
    fn out_of_step(&self, rank: u32, does: &'static str) -> CommunicationError {
        CommunicationError::OutOfStep {
            rank,
            does: Cow::Borrowed(does),
            other: self.rank(),
            waits: Cow::Borrowed(self.head.collective.as_words()),
        }
    }
}

impl<C: Communicator> Post for OfStep<'_, C> {
    fn rank(&self) -> u32 {
        self.links.communicator.rank()
    }

    fn ranks(&self) -> u32 {
        self.head.count
    }

    fn take(&mut self, from: u32) -> Outcome<Option<Vec<u8>>> {
        let Head {
            epoch, step, count, ..
        } = self.head;
        let is_it = |one: &Envelope| {
            let head = one.head;
            one.from == from
                && head.sort == Sort::Part
                && (head.epoch, head.count, head.step) == (epoch, count, step)
        };
        let found = self.links.inbox.iter().position(is_it);
        if let Some(envelope) = found.and_then(|at| self.links.inbox.remove(at)) {
            if envelope.head.collective != self.head.collective {
                return Err(self.out_of_step(from, envelope.head.collective.as_words()));
            }
            return Ok(Some(envelope.body));
        }
        // What a rank sends arrives in its order: one that is further will not say what is missing.
        let Some(theirs) = self
            .links
            .neighbours
            .iter()
            .find(|other| other.rank == from)
        else {
            return Ok(None);
        };
        let does = match theirs.epoch {
            theirs if theirs < epoch => return Ok(None),
            LEFT if epoch < LEFT => Collective::Leave,
            theirs if theirs > epoch && epoch % 2 == 1 => {
                return Err(CommunicationError::Stopped { rank: from });
            }
            theirs if theirs > epoch => return Err(self.out_of_step(from, "perform another run")),
            _ if (theirs.count, theirs.step) == (count, step) => theirs.collective,
            _ => return Ok(None),
        };
        if does == self.head.collective {
            return Ok(None);
        }
        Err(self.out_of_step(from, does.as_words()))
    }

    fn send(&mut self, to: u32, body: &[u8]) -> Outcome<()> {
        self.links.communicator.send(to, self.head.with(body))
    }
}

#[cfg(test)]
mod tests;
