//! Messages of workers to the supervisor, and a worker's link to it.

use std::sync::mpsc::{Receiver, Sender};

use measure::Slice;
use workload::{Action, End, Role};

use crate::events::Stage;
use crate::worker::{Answer, PhaseReport, Rendezvous, Report};

/// What a worker says.
#[derive(Debug)]
pub(crate) enum Message {
    /// It waits to begin a stage in which it has so much to do.
    Begins(Stage, u64),
    /// It still waits; so many files it has, and some of them by their places and numbers.
    Samples((u64, Vec<(u32, u64)>)),
    /// It has ended a stage.
    Ended(Stage, (u64, u64), End),
    /// What it did in a second of the phase that goes on.
    Slice(Role, Slice<Action>),
    /// What it did in a phase.
    Phase(Box<PhaseReport>),
    /// It is done with everything, or could not begin.
    Done(Box<Result<Report, String>>),
}

/// A worker's link to the supervisor: it waits for an answer before each stage.
pub(crate) struct SupervisorLink {
    /// Which of this process's workers it is.
    pub index: u32,
    pub messages: Sender<(u32, Message)>,
    pub answers: Receiver<Answer>,
}

impl Rendezvous for SupervisorLink {
    fn begins(&mut self, stage: Stage, total: u64) -> Answer {
        self.ask(Message::Begins(stage, total))
    }

    fn samples(&mut self, sample: (u64, Vec<(u32, u64)>)) -> Answer {
        self.ask(Message::Samples(sample))
    }

    fn ended(&mut self, stage: Stage, done: (u64, u64), end: End) {
        // Nobody left to be told is no reason to stop.
        let _ = self
            .messages
            .send((self.index, Message::Ended(stage, done, end)));
    }

    fn slice(&mut self, role: Role, slice: Slice<Action>) {
        let _ = self
            .messages
            .send((self.index, Message::Slice(role, slice)));
    }

    fn reports(&mut self, phase: PhaseReport) {
        let _ = self
            .messages
            .send((self.index, Message::Phase(Box::new(phase))));
    }
}

impl SupervisorLink {
    fn ask(&self, message: Message) -> Answer {
        // A supervisor that is gone has nothing more to allow.
        let told = self.messages.send((self.index, message));
        told.ok()
            .and_then(|()| self.answers.recv().ok())
            .unwrap_or(Answer::Stop)
    }
}
