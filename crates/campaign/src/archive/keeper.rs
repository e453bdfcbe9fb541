//! Writes the record of an active run to the archive. A separate thread writes each part (a phase
//! or a load level) that the run completes.
//!
//! Each part is written before the event handler returns, so the writes happen between phases and
//! not during a measurement. A file system that does not respond must not block the run or its
//! interruption, so the run continues after a time limit. At the end of the run, the complete
//! record is written. If this also fails, the record is written to a file beside the archive, which
//! the next command that opens the archive imports. If the default archive cannot be opened, the
//! record is written only to such a file.

use std::path::{Path, PathBuf};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use archive::{Archive, ArchiveError, Imported, Owner, Remarks, own_mark};
use document::sanitize;
use record::{Completed, Record};
use runner::{Event, Events};

use super::earlier::Earlier;
use super::place::ArchivePlace;
use crate::error::Error;
use crate::mailbox::Mailbox;
use crate::user::User;

/// Time limit for the writer's answer: longer than another process locks the archive for a
/// transaction.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time limit for the writer's answer after a signal has requested the end of the run: enough for a
/// write to a busy disk.
const PATIENCE_AFTER_SIGNAL: Duration = Duration::from_secs(2);
/// Time limit for writing a record to a file beside the archive, because the file system may not
/// respond.
const PATIENCE_BESIDE: Duration = Duration::from_secs(10);
/// Interval between two checks of the time limits.
const LOOK_EVERY: Duration = Duration::from_millis(100);

pub struct Keeper {
    path: PathBuf,
    owner: Option<Owner>,
    is_asked: bool,
    remarks: Remarks,
    /// The thread that writes; `None` if the archive cannot be opened.
    writer: Option<WriterThread>,
    /// Adds information to the initial record before it is written.
    complete: Box<dyn Fn(&mut Record)>,
}

/// Whether and where a run's record was stored.
#[derive(Debug, PartialEq, Eq)]
pub enum Archiving {
    /// The record is in the archive, under this number.
    Archived(u64),
    /// The record is in a file beside the archive.
    Beside {
        path: PathBuf,
        /// The reason why the record is not in the archive; `None` if it was reported before the
        /// run.
        why: Option<String>,
        /// Whether the user requested this archive.
        is_asked: bool,
    },
    Lost {
        why: String,
        /// Whether the user requested this archive.
        is_asked: bool,
    },
}

/// The channels to the thread that writes to the archive.
struct WriterThread {
    mailbox: Mailbox<Order, Answer>,
    /// Number of orders that the thread has not answered yet.
    owed: u32,
    user: User,
}

enum Order {
    Begin(Box<Record>),
    Complete(Box<Completed>),
    Finish(Box<Record>),
    /// Find the earlier runs that the run of this record repeats.
    Compare(Box<Record>),
}

/// The answer to an order: the run's number in the archive, or the earlier runs for `Compare`.
#[derive(Default)]
struct Answered {
    number: Option<u64>,
    earlier: Option<Earlier>,
}

impl From<u64> for Answered {
    fn from(number: u64) -> Self {
        Self {
            number: Some(number),
            earlier: None,
        }
    }
}

type Answer = Result<Answered, ArchiveError>;

/// The state of the thread that writes to the archive.
struct Writer {
    archive: Archive,
    remarks: Remarks,
    /// The run's number in the archive, and its record with all parts completed so far; `None`
    /// until the run was added.
    run: Option<(u64, Box<Record>)>,
}

impl Writer {
    fn follow(&mut self, order: Order) -> Answer {
        match (order, &mut self.run) {
            (Order::Begin(head), run) => {
                let number =
                    self.archive
                        .begin(&head, &own_mark().unwrap_or_default(), &self.remarks)?;
                *run = Some((number, head));
                Ok(number.into())
            }
            (Order::Complete(completed), Some((number, so_far))) => {
                so_far.add((*completed).clone());
                self.archive.complete(*number, &completed, so_far)?;
                Ok((*number).into())
            }
            // The run could not be added at its beginning. Its complete record is added at the end.
            (Order::Complete(_), None) => Ok(Answered::default()),
            (Order::Compare(record), _) => Ok(Answered {
                number: None,
                earlier: Earlier::find(&self.archive, &record),
            }),
            (Order::Finish(record), Some((number, _))) => {
                self.archive.finish(*number, &record)?;
                Ok((*number).into())
            }
            // The run was not added at its beginning, or the addition was not confirmed. If the
            // archive nevertheless contains the run's initial record, the import replaces that
            // record.
            (Order::Finish(record), None) => match self
                .archive
                .import_all(&[(&*record, &self.remarks)])?[..]
            {
                [Imported::New(number) | Imported::There(number) | Imported::Completed(number)] => {
                    Ok(number.into())
                }
                _ => Err(ArchiveError::there("write a run to", self.archive.path())),
            },
        }
    }
}

impl Keeper {
    /// Prepares the archive for the run's record and `remarks`. If the default archive cannot be
    /// opened, shows a warning, and later writes the record to a file beside the archive. Returns
    /// `None` if no such file can be written.
    ///
    /// # Errors
    /// Returns an error if a requested archive cannot be opened, or if no thread can be started.
    pub fn of(place: &ArchivePlace, remarks: Remarks, user: User) -> Result<Option<Self>, Error> {
        let (archive, path) = match place.open_for_run(user) {
            Ok(archive) => {
                let path = archive.path().to_owned();
                (Some(archive), path)
            }
            Err(error) if place.is_asked() => return Err(error.into()),
            Err(error) => {
                if let Err(why) = place.may_leave_beside() {
                    user.tell(format_args!(
                        "warning: {error}; {why}; this run is not archived (--format json \
                         --output FILE keeps its complete record)"
                    ));
                    return Ok(None);
                }
                user.tell(format_args!(
                    "warning: {error}; the run continues and writes its record to a file beside \
                     the archive"
                ));
                (None, place.path().to_owned())
            }
        };
        let writer = archive.map(|archive| WriterThread::new(archive, remarks.clone(), user));
        let writer = writer.transpose().map_err(|cause| {
            let told =
                format!("cannot start a thread for the archive: {cause} (use --archive none)");
            Error::refused(told)
        })?;
        Ok(Some(Self {
            path,
            owner: place.owner(),
            is_asked: place.is_asked(),
            remarks,
            writer,
            complete: Box::new(|_| ()),
        }))
    }

    /// Sets a function that adds information to the initial record before it is written.
    pub fn adds(&mut self, complete: impl Fn(&mut Record) + 'static) {
        self.complete = Box::new(complete);
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the complete record of the ended run, even if its parts were not written.
    pub fn finish(self, record: &Record) -> Archiving {
        self.ended(record, false).0
    }

    /// Writes the complete record of the ended run, and finds the earlier runs that it repeats.
    pub fn finish_and_compare(self, record: &Record) -> (Archiving, Option<Earlier>) {
        self.ended(record, true)
    }

    fn ended(self, record: &Record, compares: bool) -> (Archiving, Option<Earlier>) {
        let why = match self.writer {
            Some(writer) => match writer.finish(&self.path, record, compares) {
                Ok((number, earlier)) => return (Archiving::Archived(number), earlier),
                Err(why) => Some(why),
            },
            None => None,
        };
        let left = match leave_beside(self.path, self.owner, record, self.remarks) {
            Ok(path) => Archiving::Beside {
                path,
                why,
                is_asked: self.is_asked,
            },
            Err(other) => Archiving::Lost {
                why: why.map_or_else(|| other.clone(), |why| format!("{why}; {other}")),
                is_asked: self.is_asked,
            },
        };
        (left, None)
    }
}

/// Writes a record to a file beside the archive, in a separate thread and with a time limit.
fn leave_beside(
    archive: PathBuf,
    owner: Option<Owner>,
    record: &Record,
    remarks: Remarks,
) -> Result<PathBuf, String> {
    let record = record.clone();
    let shown = sanitize::path(&archive).into_owned();
    let leave = move || archive::leave_beside(&archive, owner, &record, &remarks);
    match runner::within(PATIENCE_BESIDE, leave) {
        Ok(left) => left.map_err(|error| error.to_string()),
        Err(why) => Err(format!("cannot write a file beside {shown}: {why}")),
    }
}

impl WriterThread {
    fn new(archive: Archive, remarks: Remarks, user: User) -> std::io::Result<Self> {
        let mut writer = Writer {
            archive,
            remarks,
            run: None,
        };
        Ok(Self {
            mailbox: Mailbox::new("archive", move |order| writer.follow(order))?,
            owed: 0,
            user,
        })
    }

    /// Writes the complete record. Returns the number of the run and, with `compares`, the earlier
    /// runs that it repeats.
    fn finish(
        mut self,
        path: &Path,
        record: &Record,
        compares: bool,
    ) -> Result<(u64, Option<Earlier>), String> {
        let number = self
            .ask(path, Order::Finish(Box::new(record.clone())))?
            .number;
        // The run is archived, so a comparison that fails is left out.
        let compared = compares.then(|| self.ask(path, Order::Compare(Box::new(record.clone()))));
        let earlier = compared.and_then(|answer| answer.ok()?.earlier);
        drop(self.mailbox.orders);
        // Closing the archive writes its write-ahead log into the file. If this takes too long, the
        // next process that opens the archive does it.
        let _ = self.mailbox.answers.recv_timeout(PATIENCE);
        Ok((number.unwrap_or_default(), earlier))
    }

    /// Sends an order, waits until all orders are answered, and returns the last answer.
    fn ask(&mut self, path: &Path, order: Order) -> Result<Answered, String> {
        let gone = "its thread has ended (this is a bug in postmark: please report it)";
        let sent = self.mailbox.orders.send(order);
        sent.map_err(|_| gone.to_owned())?;
        self.owed += 1;
        let began = Instant::now();
        loop {
            match self.mailbox.answers.recv_timeout(LOOK_EVERY) {
                Ok(answer) => {
                    self.owed -= 1;
                    if self.owed == 0 {
                        return answer.map_err(|error| error.to_string());
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    go_on_waiting(path, began.elapsed(), self.user)?;
                }
                Err(RecvTimeoutError::Disconnected) => return Err(gone.to_owned()),
            }
        }
    }
}

/// Returns an error if the time limit for an answer has been reached.
fn go_on_waiting(path: &Path, waited: Duration, user: User) -> Result<(), String> {
    let path = sanitize::path(path);
    if waited >= PATIENCE {
        Err(format!(
            "the file system of {path} has not answered for {} s, or another process has locked \
             the archive",
            PATIENCE.as_secs()
        ))
    } else if waited >= PATIENCE_AFTER_SIGNAL && (user.is_interrupted)() {
        Err(format!(
            "a signal ended the wait for {path}, which had not answered for {} s",
            waited.as_secs()
        ))
    } else {
        Ok(())
    }
}

impl Events for Keeper {
    fn event(&mut self, event: Event) {
        let order = match event {
            Event::RecordOpened(mut head) => {
                (self.complete)(&mut head);
                Order::Begin(head)
            }
            Event::PhaseRecorded(completed) => Order::Complete(completed),
            _ => return,
        };
        // If an earlier order is not answered yet, this order is not sent, because it would be
        // executed during a measurement. The complete record is written at the end.
        if let Some(writer) = self.writer.as_mut().filter(|writer| writer.owed == 0) {
            // An error is ignored, because the complete record is written at the end, with its own
            // result.
            let _ = writer.ask(&self.path, order);
        }
    }

    fn takes_records(&self) -> bool {
        true
    }
}
