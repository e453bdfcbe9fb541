//! Keeps a run in the archive while it goes on: a sink of what is completed, which writes in a
//! thread of its own.
//!
//! What is told is written before the sink returns, so that it lies between phases, as what tells
//! it. But a file system that does not answer must not keep the run, nor who wants to end it: it is
//! waited for so long, and then the run goes on. At the end the whole record is given to it once
//! more; where it does not take that either, the record is left in a file beside it, which the next
//! command that opens the archive takes in. An archive that nobody asked for and that cannot be
//! opened has that file only.

use std::path::{Path, PathBuf};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use archive::{Archive, ArchiveError, Imported, Owner, Remarks, own_mark};
use document::sanitize;
use record::{Completed, Record};
use runner::{Event, Events};

use super::place::ArchivePlace;
use crate::error::Error;
use crate::mailbox::Mailbox;
use crate::user::User;

/// An answer is waited for so long: longer than another process's transaction is.
const PATIENCE: Duration = Duration::from_secs(60);
/// And so long where a signal asks for the end: enough for a disk that is busy.
const PATIENCE_AFTER_SIGNAL: Duration = Duration::from_secs(2);
/// The file beside the archive is waited for so long: it may lie on a file system that does not
/// answer.
const PATIENCE_BESIDE: Duration = Duration::from_secs(10);
/// So often it is looked whether one does.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// See the module's text.
pub struct Keeper {
    path: PathBuf,
    owner: Option<Owner>,
    is_asked: bool,
    remarks: Remarks,
    /// Who writes; nobody where the archive cannot be opened.
    writer: Option<WriterThread>,
    /// What is added to the record before it is written.
    complete: Box<dyn Fn(&mut Record)>,
}

/// What became of a run's record.
#[derive(Debug, PartialEq, Eq)]
pub enum Archiving {
    /// It is in the archive, with this number.
    Archived(u64),
    /// It is in a file beside the archive.
    Beside {
        /// The file.
        path: PathBuf,
        /// Why it is not in the archive, where that was not told before the run.
        why: Option<String>,
        /// Whether somebody has asked for it to be in the archive.
        is_asked: bool,
    },
    /// It is nowhere.
    Lost {
        /// Why.
        why: String,
        /// Whether somebody has asked for it to be in the archive.
        is_asked: bool,
    },
}

/// The way to the thread that writes.
struct WriterThread {
    mailbox: Mailbox<Order, Answer>,
    /// Orders that were not answered in time.
    owed: u32,
    user: User,
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
    remarks: Remarks,
    /// The run's number, and its record so far.
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
            // It could not be begun, or seemed so: where it is there after all, it is completed.
            (Order::Finish(record), None) => match self
                .archive
                .import_all(&[(&*record, &self.remarks)])?[..]
            {
                [Imported::New(number) | Imported::There(number) | Imported::Completed(number)] => {
                    Ok(Some(number))
                }
                _ => Err(ArchiveError::there("write a run to", self.archive.path())),
            },
        }
    }
}

impl Keeper {
    /// Keeps what is going to be told, with remarks, in the archive of this place; where that
    /// cannot be had and nobody has asked for it, in a file beside it; nothing where that
    /// cannot be had either. Says so on standard error.
    ///
    /// # Errors
    /// Where the archive was asked for and cannot be had, or the system has no thread for it.
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

    /// From now on this is added to the record before it is written.
    pub fn adds(&mut self, complete: impl Fn(&mut Record) + 'static) {
        self.complete = Box::new(complete);
    }

    /// Where the archive lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The run has ended: writes its whole record, whatever became of its parts.
    pub fn finish(self, record: &Record) -> Archiving {
        let why = match self.writer {
            Some(writer) => match writer.finish(&self.path, record) {
                Ok(number) => return Archiving::Archived(number),
                Err(why) => Some(why),
            },
            None => None,
        };
        match leave_beside(self.path, self.owner, record, self.remarks) {
            Ok(path) => Archiving::Beside {
                path,
                why,
                is_asked: self.is_asked,
            },
            Err(other) => Archiving::Lost {
                why: why.map_or_else(|| other.clone(), |why| format!("{why}; {other}")),
                is_asked: self.is_asked,
            },
        }
    }
}

/// Leaves a record in a file beside the archive, by a thread of its own that is not waited for
/// longer than it may take.
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

    fn finish(mut self, path: &Path, record: &Record) -> Result<u64, String> {
        let number = self.ask(path, Order::Finish(Box::new(record.clone())))?;
        drop(self.mailbox.orders);
        // Closing brings the log into the file. Where that takes for ever, the next one to open it
        // does so.
        let _ = self.mailbox.answers.recv_timeout(PATIENCE);
        Ok(number.unwrap_or_default())
    }

    /// Gives an order, and waits until it and those before are answered: the last answer.
    fn ask(&mut self, path: &Path, order: Order) -> Result<Option<u64>, String> {
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

/// Whether there is patience after so long.
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
        // One that is late is not given more to do, which it would do while the run is measured:
        // the end has everything.
        if let Some(writer) = self.writer.as_mut().filter(|writer| writer.owed == 0) {
            // Whether the run is in the archive is told at its end, when the whole record is
            // written.
            let _ = writer.ask(&self.path, order);
        }
    }

    fn takes_records(&self) -> bool {
        true
    }
}
