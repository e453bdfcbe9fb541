//! The worker loop: the only one. Takes intents from a stream, performs them on a session, stamps and counts.
//!
//! Stream, session and stopwatch are values given to it, resolved at compile time. Between two stamps lies the
//! operation and nothing else.

use measure::Meter;
use record::{OperationRecord, PhaseRecord, Segment};
use storage::{Failure, Name, NoSteps, Operation, PathBuffer, Session, Submitted, Ticket};
use workload::{Action, End, Intent, Phase, Stream, StreamHash, StreamHasher};

use crate::clock::Clock;
use crate::control::Control;
use crate::events::Stage;

/// Meeting the other workers, and those who decide, at the borders of phases.
pub(crate) trait Rendezvous {
    /// A stage is about to begin: waits until it may. `false` means that the run is over.
    fn begins(&mut self, stage: Stage) -> bool;

    /// A stage has ended well, after so many files, transactions or directories.
    fn ended(&mut self, stage: Stage, done: u64, end: End);
}

/// How latencies are taken.
pub(crate) trait Stopwatch {
    /// A moment.
    type Moment: Copy;
    /// Now.
    fn moment(&self) -> Self::Moment;
    /// Counts the time between two moments.
    fn record(&self, meter: &mut Meter, issued: Self::Moment, completed: Self::Moment);
}

/// Every operation is timed.
pub(crate) struct Timed<'a, C>(pub &'a C);

impl<C: Clock> Stopwatch for Timed<'_, C> {
    type Moment = u64;

    #[inline]
    fn moment(&self) -> u64 {
        self.0.now_ns()
    }

    #[inline]
    fn record(&self, meter: &mut Meter, issued: u64, completed: u64) {
        meter.latency.record(completed.saturating_sub(issued));
    }
}

/// Nothing is timed but phases.
pub(crate) struct Untimed;

impl Stopwatch for Untimed {
    type Moment = ();

    #[inline]
    fn moment(&self) {}

    #[inline]
    fn record(&self, _: &mut Meter, (): (), (): ()) {}
}

/// What the worker does its work with.
pub(crate) struct Tools<'a, T, S, C, W> {
    pub stream: T,
    pub session: S,
    pub clock: &'a C,
    pub stopwatch: W,
    pub control: &'a Control,
    /// The origin of the record's moments.
    pub origin_ns: u64,
}

/// What the worker's files are called and made of.
pub(crate) struct Material<'a> {
    /// One for every location.
    pub paths: Vec<PathBuffer>,
    /// Locations that have a directory of their own: all but those said twice.
    pub distinct: Vec<usize>,
    pub subdirectories: u32,
    pub text: &'a [u8],
}

/// What failed.
#[derive(Clone, Debug)]
pub(crate) struct Failed {
    pub operation: &'static str,
    pub path: String,
    pub failure: Failure,
}

/// What the worker did.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub phases: Vec<PhaseRecord>,
    pub failed: Option<Failed>,
    /// Somebody's wish ended the work before its end.
    pub is_stopped: bool,
    /// The hash of the stream, where all of it was performed.
    pub stream_hash: Option<StreamHash>,
    pub end: Option<End>,
    /// Wall clock in whole seconds, as the original reads it: creations begin, transactions begin and end, all is deleted.
    pub borders_s: Vec<i64>,
    pub classic_bytes_read: f32,
    pub classic_bytes_written: f32,
}

/// Why a stage was left before its end.
enum Left {
    Stopped,
    Failed(Failed),
}

struct Worker<'a, 'm, T, S, C, W, R> {
    tools: Tools<'a, T, S, C, W>,
    material: Material<'m>,
    rendezvous: R,
    hasher: StreamHasher,
    tickets: u64,
    report: Report,
}

/// Does all of a worker's work: directories, phases, directories.
pub(crate) fn work<T, S, C, W, R>(tools: Tools<'_, T, S, C, W>, material: Material<'_>, rendezvous: R) -> Report
where
    T: Stream,
    S: Session,
    C: Clock,
    W: Stopwatch,
    R: Rendezvous,
{
    let mut worker = Worker {
        tools,
        material,
        rendezvous,
        hasher: StreamHasher::default(),
        tickets: 0,
        report: Report::default(),
    };
    match worker.stages() {
        Ok(()) => {}
        Err(Left::Stopped) => worker.report.is_stopped = true,
        Err(Left::Failed(failed)) => worker.report.failed = Some(failed),
    }
    worker.report
}

impl<T, S, C, W, R> Worker<'_, '_, T, S, C, W, R>
where
    T: Stream,
    S: Session,
    C: Clock,
    W: Stopwatch,
    R: Rendezvous,
{
    fn stages(&mut self) -> Result<(), Left> {
        let has_directories = self.material.subdirectories > 1;
        if has_directories {
            self.directories(Stage::MakeDirectories)?;
        }
        for phase in Phase::ALL {
            self.tools.control.begin(self.tools.stream.remaining(phase));
            self.begins(Stage::Phase(phase))?;
            if phase != Phase::Delete {
                self.report.borders_s.push(self.tools.clock.wall_s());
            }
            self.phase(phase)?;
        }
        if has_directories {
            self.directories(Stage::RemoveDirectories)?;
        }
        Ok(())
    }

    fn begins(&mut self, stage: Stage) -> Result<(), Left> {
        if self.rendezvous.begins(stage) {
            Ok(())
        } else {
            Err(Left::Stopped)
        }
    }

    fn directories(&mut self, stage: Stage) -> Result<(), Left> {
        let count = self.material.subdirectories;
        self.tools
            .control
            .begin(self.material.distinct.len() as u64 * u64::from(count));
        self.begins(stage)?;
        let mut done = 0;
        for location in self.material.distinct.clone() {
            for subdirectory in 0..count {
                if self.tools.control.is_stopping() {
                    return Err(Left::Stopped);
                }
                let name = self.material.paths[location].directory(subdirectory);
                let (what, operation) = if stage == Stage::MakeDirectories {
                    ("make directory", Operation::MakeDirectory { name })
                } else {
                    ("remove directory", Operation::RemoveDirectory { name })
                };
                submit(&mut self.tools.session, &mut self.tickets, &operation)
                    .map_err(|failure| failed(what, name, failure))?;
                done += 1;
                self.tools.control.publish(done);
            }
        }
        self.rendezvous.ended(stage, done, End::Complete);
        Ok(())
    }

    /// Performs a phase and appends what it did to the report, however it ends.
    fn phase(&mut self, phase: Phase) -> Result<(), Left> {
        let mut done = Done::default();
        let began_ns = self.tools.clock.now_ns();
        let left = self.intents(phase, &mut done);
        let ended_ns = self.tools.clock.now_ns();
        let operations = Action::OPERATIONS
            .into_iter()
            .zip(done.meters)
            .filter(|(_, meter)| meter.operations > 0 || meter.failed > 0)
            .map(|(action, meter)| OperationRecord { action, meter })
            .collect();
        self.report.phases.push(PhaseRecord {
            phase,
            complete: left.is_ok(),
            transactions: done.transactions,
            nothing: done.nothing,
            segments: vec![Segment {
                name: "measured".to_owned(),
                began_ns: began_ns.saturating_sub(self.tools.origin_ns),
                ended_ns: ended_ns.saturating_sub(self.tools.origin_ns),
                operations,
            }],
        });
        let performed = left?;
        let end = match phase {
            Phase::Transactions => self.tools.stream.end(),
            Phase::Prepare | Phase::Delete => End::Complete,
        };
        if phase == Phase::Transactions {
            self.report.borders_s.push(self.tools.clock.wall_s());
            self.report.end = Some(end);
        }
        if phase == Phase::Delete {
            self.report.borders_s.push(self.tools.clock.wall_s());
            self.report.stream_hash = Some(std::mem::take(&mut self.hasher).finish());
        }
        self.rendezvous.ended(Stage::Phase(phase), performed, end);
        Ok(())
    }

    /// The loop. Gives the number of files or transactions that it came to.
    fn intents(&mut self, phase: Phase, done: &mut Done) -> Result<u64, Left> {
        let mut published = 0;
        loop {
            if self.tools.control.is_stopping() {
                return Err(Left::Stopped);
            }
            let Some(intent) = self.tools.stream.next(phase) else {
                return Ok(published);
            };
            self.hasher.take(&intent);
            if intent.action == Action::Nothing {
                done.nothing += 1;
            } else {
                self.operation(&intent, &mut done.meters[intent.action as usize])?;
            }
            done.transactions += u64::from(intent.ends_transaction);
            published += u64::from(intent.ends_transaction || phase != Phase::Transactions);
            self.tools.control.publish(published);
        }
    }

    #[inline]
    fn operation(&mut self, intent: &Intent, meter: &mut Meter) -> Result<(), Left> {
        let material = &mut self.material;
        let (location, subdirectory) = if material.subdirectories == 1 {
            (intent.place, None)
        } else {
            let subdirectory = intent.place % material.subdirectories;
            (intent.place / material.subdirectories, Some(subdirectory))
        };
        let name = material.paths[location as usize].file(subdirectory, intent.number);
        let content = || &material.text[..intent.bytes as usize];
        let operation = match intent.action {
            Action::Create => Operation::Create {
                name,
                content: content(),
            },
            Action::Append => Operation::Append {
                name,
                content: content(),
            },
            Action::Read => Operation::Read {
                name,
                bytes: intent.bytes,
            },
            Action::Delete | Action::Nothing => Operation::Delete { name },
        };
        let issued = self.tools.stopwatch.moment();
        let outcome = submit(&mut self.tools.session, &mut self.tickets, &operation);
        let completed = self.tools.stopwatch.moment();
        if let Err(failure) = outcome {
            meter.failed += 1;
            return Err(failed(intent.action.name(), name, failure));
        }
        self.tools.stopwatch.record(meter, issued, completed);
        meter.count(intent.bytes);
        match intent.action {
            Action::Read => self.report.classic_bytes_read += intent.bytes as f32,
            _ => self.report.classic_bytes_written += intent.bytes as f32,
        }
        Ok(())
    }
}

/// What was done in a phase so far.
#[derive(Default)]
struct Done {
    /// By operation, in the order of [`Action::OPERATIONS`].
    meters: [Meter; 4],
    transactions: u64,
    nothing: u64,
}

/// Performs one operation to its end.
#[inline]
fn submit<S: Session>(session: &mut S, tickets: &mut u64, operation: &Operation<'_>) -> Result<(), Failure> {
    let ticket = Ticket(*tickets);
    *tickets += 1;
    match session.submit(ticket, operation, &mut NoSteps) {
        Submitted::Done(outcome) => outcome,
        Submitted::InFlight => {
            let (completed, outcome) = session.complete(&mut NoSteps).expect("an operation is in flight");
            assert_eq!(completed, ticket, "one operation is in flight at a time");
            outcome
        }
    }
}

#[cold]
fn failed(operation: &'static str, name: Name<'_>, failure: Failure) -> Left {
    Left::Failed(Failed {
        operation,
        path: name.path.to_string_lossy().into_owned(),
        failure,
    })
}
