//! The environment in which a study runs: its targets, the runs of this program, and the archive.

use std::path::Path;

use archive::Remarks;
use document::sanitize;
use record::{Record, StudyPart};
use runner::{Event, Events, RunSpec, TakeControl};
use spec::Invocation;

use super::cell_spec::specify;
use super::directories::Directories;
use super::found;
use super::ground::{Course, Ground, Ready, StudyEvent};
use super::targets::Targets;
use crate::archive::{ArchivePlace, Archiving, Keeper};
use crate::error::Error;
use crate::perform::perform;
use crate::user::User;

/// Shows the progress of a study to its user.
pub trait StudyWatcher {
    /// Returns a display for the progress of one run. Dropping the display ends it.
    fn display(&self) -> Box<dyn Events>;

    fn tell(&mut self, event: StudyEvent<'_>);
}

/// The environment of a study that the user started: archive, targets, signals and progress
/// display. Tests use other implementations of [`Ground`].
pub struct Environment<'a> {
    pub course: Course<'a>,
    /// The study's command line, and whether a run keeps root rights on targets that other users
    /// could replace.
    pub invocation: Invocation,
    pub place: &'a ArchivePlace,
    /// Tags and note that each run of the study gets.
    pub remarks: Remarks,
    pub signals: &'a mut dyn TakeControl,
    /// The scratch file systems that the study makes.
    pub targets: Targets,
    /// The directories that the study measures and does not make, with their file systems.
    pub directories: Directories,
    pub watcher: &'a mut dyn StudyWatcher,
    pub user: User,
    /// Position of the current run in the study, as text for messages.
    pub at: String,
}

impl Environment<'_> {
    /// Performs a run. If this process is a rank, the other ranks get the run spec and perform it
    /// too.
    fn perform(&mut self, spec: &RunSpec, events: &mut dyn Events) -> Result<Record, Error> {
        if let Some(ranks) = self.signals.ranks() {
            let told = ranks.broadcast(Some(Some(spec.clone())));
            told.map_err(Error::failed)?;
        }
        Ok(perform(spec, self.signals, events)?)
    }
}

impl Ground for Environment<'_> {
    type Error = Error;

    fn target(&mut self, cell: usize) -> Result<Option<Ready>, Error> {
        let caught = self.signals.taken().map(|control| control.signal());
        self.targets.ready(self.course, cell, caught)
    }

    fn spec(&mut self, cell: usize, directory: &Path) -> Result<RunSpec, Error> {
        let (design, cell) = (self.course.design, &self.course.cells[cell]);
        let specified = specify(design, cell, directory, self.invocation.clone(), self.user)?;
        Ok(specified.spec)
    }

    fn churn(&mut self, spec: &RunSpec) -> Result<Record, Error> {
        let mut display = self.watcher.display();
        self.perform(spec, &mut *display)
    }

    fn keep_state(&mut self, cell: usize) -> Result<Option<Ready>, Error> {
        let caught = self.signals.taken().map(|control| control.signal());
        self.targets.keep_state(self.course, cell, caught)
    }

    fn measure(&mut self, spec: &RunSpec, part: StudyPart) -> Result<(Record, Option<u64>), Error> {
        for target in &spec.targets {
            self.directories.check(&target.to_string_lossy())?;
        }
        let mut remarks = self.remarks.clone();
        remarks.tags.extend(found::tag(self.course.id));
        let Some(mut keeper) = Keeper::of(self.place, remarks, self.user)? else {
            return Err(Error::failed(
                "the archive takes no run, and a study cannot be continued without it",
            ));
        };
        let of_study = part.clone();
        keeper.adds(move |record| record.study = Some(of_study.clone()));
        let mut watchers = MeasuredRun {
            display: self.watcher.display(),
            keeper,
        };
        let performed = self.perform(spec, &mut watchers);
        let MeasuredRun { display, keeper } = watchers;
        drop(display);
        let mut record = performed?;
        record.study = Some(part);
        match keeper.finish(&record) {
            Archiving::Archived(number) => Ok((record, Some(number))),
            Archiving::Beside { path, why, .. } => Err(Error::failed(format_args!(
                "the archive did not take a run{}: its record is in {}, and the next command that \
                 opens the archive takes it in",
                why.map_or_else(String::new, |why| format!(" ({why})")),
                sanitize::path(&path)
            ))),
            Archiving::Lost { why, .. } => Err(Error::failed(format_args!(
                "a run's record could not be kept: {why}"
            ))),
        }
    }

    fn signal(&self) -> Option<i32> {
        self.signals.taken()?.signal_caught()
    }

    fn tell(&mut self, event: StudyEvent<'_>) {
        if let StudyEvent::Next(progress) = event {
            // From the first run on, a signal ends the study instead of killing the program.
            let _ = self.signals.take();
            self.at = progress.to_string();
        }
        self.watcher.tell(event);
    }
}

/// Forwards the events of a measured run: parts of the record to the archive, and other events to
/// the display.
struct MeasuredRun {
    display: Box<dyn Events>,
    keeper: Keeper,
}

impl Events for MeasuredRun {
    fn event(&mut self, event: Event) {
        match event {
            Event::RecordOpened(_) | Event::PhaseRecorded(_) | Event::RecordMerged(_) => {
                self.keeper.event(event);
            }
            event => self.display.event(event),
        }
    }

    fn takes_records(&self) -> bool {
        true
    }
}
