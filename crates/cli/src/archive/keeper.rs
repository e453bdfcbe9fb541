//! Keeps a run in the archive while it goes on: a sink of what is completed, which writes in a thread of its own.
//!
//! What is told is written before the sink returns, so that it lies between phases, as what tells it. But a file system that does
//! not answer must not keep the run: it is waited for so long, and then the run goes on without an archive.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use archive::{Archive, ArchiveError};
use record::{Completed, Record};
use runner::{Event, Events};

use super::mark;

/// An answer is waited for so long: longer than another process's transaction is.
const PATIENCE: Duration = Duration::from_secs(60);

/// See the module's text.
pub struct Keeper {
    path: PathBuf,
    orders: Sender<Order>,
    answers: Receiver<Answer>,
    /// What is added to the record before it is written.
    complete: Box<dyn Fn(&mut Record)>,
    /// Why nothing can be written any more.
    broken: Option<String>,
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
            broken: None,
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

    fn ask(&mut self, order: Order) -> Result<Option<u64>, String> {
        if let Some(why) = &self.broken {
            return Err(why.clone());
        }
        // Where the thread is gone, no answer comes either.
        let _ = self.orders.send(order);
        let why = match self.answers.recv_timeout(PATIENCE) {
            // What could not be written once may be later.
            Ok(answer) => return answer.map_err(|error| error.to_string()),
            Err(RecvTimeoutError::Timeout) => format!(
                "the file system of {} has not answered for {} s",
                self.path.display(),
                PATIENCE.as_secs()
            ),
            Err(RecvTimeoutError::Disconnected) => "its thread has ended; this is a defect of postmark".to_owned(),
        };
        self.broken = Some(why.clone());
        Err(why)
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
        // Whether the run is in the archive is told at its end, when the whole record is written.
        let _ = self.ask(order);
    }

    fn takes_records(&self) -> bool {
        true
    }
}
