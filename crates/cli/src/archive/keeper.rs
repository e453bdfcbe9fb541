//! Keeps a run in the archive while it goes on: a sink of what is completed, which writes in a thread of its own.
//!
//! What is told is written before the sink returns, so that it lies between phases, as what tells it. But a file system that does
//! not answer must not keep the run, nor who wants to end it: it is waited for so long, and then the run goes on. At the end
//! the whole record is given to it once more.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use archive::{Archive, ArchiveError};
use record::{Completed, Record, harmless};
use runner::{Event, Events};

use super::mark;
use crate::signals;

/// An answer is waited for so long: longer than another process's transaction is.
const PATIENCE: Duration = Duration::from_secs(60);
/// And so long where a signal asks for the end: enough for a disk that is busy.
const PATIENCE_AFTER_SIGNAL: Duration = Duration::from_secs(2);
/// So often it is looked whether one does.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// See the module's text.
pub struct Keeper {
    path: PathBuf,
    orders: Sender<Order>,
    answers: Receiver<Answer>,
    /// What is added to the record before it is written.
    complete: Box<dyn Fn(&mut Record)>,
    /// Orders that were not answered in time.
    owed: u32,
}

enum Order {
    Begin(Box<Record>),
    Complete(Box<Completed>),
    Finish(Box<Record>),
}

type Answer = Result<Option<u64>, ArchiveError>;

/// The thread's own.
struct Writer {
    archive: Archive,
    /// The run's number, and its record so far.
    run: Option<(u64, Box<Record>)>,
}

impl Writer {
    fn follow(&mut self, order: Order) -> Answer {
        match (order, &mut self.run) {
            (Order::Begin(head), run) => {
                let number = self.archive.begin(&head, &mark::own().unwrap_or_default())?;
                *run = Some((number, head));
                Ok(Some(number))
            }
            (Order::Complete(completed), Some((number, so_far))) => {
                so_far.add((*completed).clone());
                self.archive.complete(*number, &completed, so_far)?;
                Ok(Some(*number))
            }
            // It could not be begun: the whole record comes at the end.
            (Order::Complete(_), None) => Ok(None),
            (Order::Finish(record), Some((number, _))) => {
                self.archive.finish(*number, &record)?;
                Ok(Some(*number))
            }
            (Order::Finish(record), None) => {
                let number = self.archive.begin(&record, "")?;
                self.archive.finish(number, &record)?;
                Ok(Some(number))
            }
        }
    }
}

impl Keeper {
    /// Keeps what is going to be told in this archive.
    ///
    /// # Errors
    /// Where the system has no thread for it.
    pub fn new(archive: Archive) -> std::io::Result<Self> {
        let path = archive.path().to_owned();
        let (orders, taken) = mpsc::channel();
        let (answer, answers) = mpsc::channel();
        let mut writer = Writer { archive, run: None };
        thread::Builder::new().name("archive".to_owned()).spawn(move || {
            for order in taken {
                if answer.send(writer.follow(order)).is_err() {
                    // Nobody waits any more.
                    return;
                }
            }
            // Who waits for the end of the answers finds the archive closed.
            drop(writer);
        })?;
        Ok(Self {
            path,
            orders,
            answers,
            complete: Box::new(|_| ()),
            owed: 0,
        })
    }

    /// From now on this is added to the record before it is written.
    pub fn adds(&mut self, complete: impl Fn(&mut Record) + 'static) {
        self.complete = Box::new(complete);
    }

    /// Where the archive lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The run has ended: writes its whole record, whatever became of its parts, and gives its number.
    ///
    /// # Errors
    /// Why it is not there.
    pub fn finish(mut self, record: &Record) -> Result<u64, String> {
        let number = self.ask(Order::Finish(Box::new(record.clone())))?;
        drop(self.orders);
        // Closing brings the log into the file. Where that takes for ever, the next one to open it does so.
        let _ = self.answers.recv_timeout(PATIENCE);
        Ok(number.unwrap_or_default())
    }

    /// Gives an order, and waits until it and those before are answered: the last answer.
    fn ask(&mut self, order: Order) -> Result<Option<u64>, String> {
        let gone = "its thread has ended; this is a defect of postmark";
        self.orders.send(order).map_err(|_| gone.to_owned())?;
        self.owed += 1;
        let began = Instant::now();
        loop {
            match self.answers.recv_timeout(LOOK_EVERY) {
                Ok(answer) => {
                    self.owed -= 1;
                    if self.owed == 0 {
                        return answer.map_err(|error| error.to_string());
                    }
                }
                Err(RecvTimeoutError::Timeout) => self.go_on_waiting(began.elapsed())?,
                Err(RecvTimeoutError::Disconnected) => return Err(gone.to_owned()),
            }
        }
    }

    /// Whether there is patience after so long.
    fn go_on_waiting(&self, waited: Duration) -> Result<(), String> {
        let path = harmless::path(&self.path);
        if waited >= PATIENCE {
            Err(format!(
                "the file system of {path} has not answered for {} s, or another process has kept it so long",
                PATIENCE.as_secs()
            ))
        } else if waited >= PATIENCE_AFTER_SIGNAL && signals::is_pending() {
            Err(format!(
                "a signal came while {path} was waited for, which had not answered for {} s",
                waited.as_secs()
            ))
        } else {
            Ok(())
        }
    }
}

impl Events for Keeper {
    fn event(&mut self, event: Event) {
        let order = match event {
            Event::Opened(mut head) => {
                (self.complete)(&mut head);
                Order::Begin(head)
            }
            Event::Completed(completed) => Order::Complete(completed),
            _ => return,
        };
        // One that is late is not given more to do, which it would do while the run is measured: the end has everything.
        if self.owed == 0 {
            // Whether the run is in the archive is told at its end, when the whole record is written.
            let _ = self.ask(order);
        }
    }

    fn takes_records(&self) -> bool {
        true
    }
}
