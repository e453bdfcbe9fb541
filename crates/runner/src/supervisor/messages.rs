//! Messages from workers to the supervisor, and the link through which a worker sends them.

use std::sync::mpsc::{Receiver, Sender};

use measure::Slice;
use workload::{Action, End, Role};

use crate::events::Stage;
use crate::worker::{Answer, PhaseReport, Rendezvous, Report};

#[derive(Debug)]
pub(crate) enum Message {
    /// The worker waits at the barrier before a stage, in which it will process this many items.
    Begins(Stage, u64),
    /// The answer of a worker at the barrier to a request for a sample. Contains the number of its
    /// files, and the directory index and number of each sampled file.
    Samples((u64, Vec<(u32, u64)>)),
    /// The worker has ended a stage. Contains the number of items done, including failed ones, and
    /// the number of completed items.
    Ended(Stage, (u64, u64), End),
    /// The worker's operations in one second of the current phase.
    Slice(Role, Slice<Action>),
    Phase(Box<PhaseReport>),
    /// The worker has ended, or could not start.
    Done(Box<Result<Report, String>>),
}

/// The link of a worker to the supervisor. The worker waits for an answer before each stage.
pub(crate) struct SupervisorLink {
    /// Index of the worker in this process.
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
        // The error is ignored: if the supervisor has ended, the worker stops at its next request.
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
        // If the supervisor has ended, the worker stops.
        let told = self.messages.send((self.index, message));
        told.ok()
            .and_then(|()| self.answers.recv().ok())
            .unwrap_or(Answer::Stop)
    }
}
