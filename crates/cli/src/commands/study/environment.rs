//! What a study runs on: targets, the runs of this program, and the archive.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use archive::Remarks;
use campaign::archive::{ArchivePlace, Archiving, Keeper};
use campaign::study::directories::{Directories, MountedOn};
use campaign::study::targets::Targets;
use campaign::study::{Course, Ground, Ready, StudyEvent, StudyProgress, TargetReady, found};
use document::sanitize;
use document::units::grouped;
use engines::registry;
use ranks::Ranks;
use record::{Record, StudyPart};
use runner::{RunSpec, TakeControl as _};
use signal_hook::consts::SIGINT;
use spec::{Invocation, TargetOption};
use study::{Design, StudyCell};
use verdict::{Level, Summary};

use super::interruption::Interruption;
use crate::args::StudyArguments;
use crate::ui::perform::{Signals, perform_with};
use crate::ui::problem::{Problem, USER, tell};
use crate::ui::progress::Display;
use crate::ui::terminal;
use crate::ui::width;
use campaign::run_spec::{self, RunRequest, Specified};

/// See the module's text.
pub struct CliGround<'a> {
    course: Course<'a>,
    words: Vec<String>,
    trusts_others: bool,
    quiet: bool,
    place: &'a ArchivePlace,
    remarks: Remarks,
    signals: Signals,
    targets: Targets,
    directories: Directories,
    /// Where the study is.
    at: String,
}

impl<'a> CliGround<'a> {
    /// A ground for a study. Nothing is made yet.
    ///
    /// # Errors
    /// Where something is missing that the study needs.
    pub fn new(
        arguments: &StudyArguments,
        words: Vec<String>,
        course: Course<'a>,
        place: &'a ArchivePlace,
        (mounted, ranks): (BTreeMap<String, MountedOn>, Option<&Ranks>),
    ) -> Result<Self, Problem> {
        let directories = course
            .design
            .targets
            .iter()
            .filter(|target| !target.is_made());
        let directories = directories.map(|target| target.at.as_str());
        let mut remarks = arguments.remarks.remarks();
        remarks.tags.extend(found::tag(course.id));
        Ok(Self {
            course,
            words,
            trusts_others: arguments.allow_unsafe_target,
            quiet: arguments.quiet,
            place,
            remarks,
            signals: Signals::among(ranks.cloned()),
            targets: Targets::new(
                course.design,
                course.cells,
                arguments.file.as_deref(),
                (USER, Interruption::watch),
            )?,
            directories: Directories::new(directories, mounted),
            at: "its beginning".to_owned(),
        })
    }

    /// The room that made file systems take, and what root is needed for.
    pub fn needs(&self) -> (Vec<(String, u64)>, Vec<String>) {
        self.targets.needs()
    }

    /// Performs a run, with the other ranks where there are any.
    fn perform(
        &mut self,
        spec: &RunSpec,
        events: &mut dyn runner::Events,
    ) -> Result<Record, Problem> {
        if let Some(ranks) = self.signals.ranks() {
            let told = ranks.broadcast(Some(Some(spec.clone())));
            told.map_err(Problem::failed)?;
        }
        Ok(perform_with(spec, &mut self.signals, events)?)
    }

    /// Where the study is, in words.
    pub fn at(&self) -> &str {
        &self.at
    }

    /// Removes what was made; gives whether something is still there.
    pub fn finish(&mut self) -> bool {
        self.targets.remove()
    }

    /// A target as it was made ready, or the signal that has ended that.
    fn prepared(&self, ready: Option<Ready>) -> TargetReady {
        match ready {
            Some(ready) => TargetReady::Ready(ready),
            None => TargetReady::Interrupted(self.signal().unwrap_or(SIGINT)),
        }
    }

    fn show(&self, text: &str) {
        if !self.quiet {
            // Nobody may be reading.
            let _ = writeln!(
                std::io::stderr(),
                "{}",
                width::for_errors(&sanitize::sanitize(text))
            );
        }
    }

    /// Shows what is of use only while it is so, and not in a log.
    fn show_briefly(&self, text: &str) {
        if terminal::is_users(&std::io::stderr()) {
            self.show(text);
        }
    }

    /// A display for the stages of a run: lines of stages would be too many where there is no
    /// terminal.
    fn display(&self) -> Display {
        Display::new(self.quiet || !terminal::is_users(&std::io::stderr()))
    }
}

/// What a cell's runs are asked for, in a directory.
///
/// # Errors
/// Where it contradicts itself.
pub fn specify(
    design: &Design,
    cell: &StudyCell,
    directory: &Path,
    invocation: Invocation,
) -> Result<Specified, Problem> {
    let request = RunRequest {
        preset: design.workloads[cell.workload].preset.clone(),
        config: None,
        like: None,
        like_in: None,
        invocation,
        options: cell.options.clone(),
        locations: Ok(vec![TargetOption {
            path: directory.to_owned(),
            weight: 1,
        }]),
        has_weights: false,
    };
    run_spec::specify(&request, USER)
}

/// The same before there is a directory: what a target's URL says is known by then.
///
/// # Errors
/// Where it contradicts itself.
pub fn specify_somewhere(design: &Design, cell: &StudyCell) -> Result<Specified, Problem> {
    let at = Path::new(&design.targets[cell.target].at);
    specify(
        design,
        cell,
        if registry::is_url(at) {
            at
        } else {
            Path::new("/")
        },
        Invocation::default(),
    )
}

impl Ground for CliGround<'_> {
    type Error = Problem;

    fn target(&mut self, cell: usize) -> Result<TargetReady, Problem> {
        let ready = self
            .targets
            .ready(self.course, cell, self.signals.caught())?;
        Ok(self.prepared(ready))
    }

    fn spec(&mut self, cell: usize, directory: &Path) -> Result<RunSpec, Problem> {
        let invocation = Invocation {
            command_line: self.words.clone(),
            trusts_others: self.trusts_others,
            ..Invocation::default()
        };
        let cell = &self.course.cells[cell];
        Ok(specify(self.course.design, cell, directory, invocation)?.spec)
    }

    fn churn(&mut self, spec: &RunSpec) -> Result<Record, Problem> {
        let mut display = self.display();
        let performed = self.perform(spec, &mut display);
        display.finish();
        performed
    }

    fn keep_state(&mut self, cell: usize) -> Result<TargetReady, Problem> {
        let ready = self
            .targets
            .keep_state(self.course, cell, self.signals.caught())?;
        Ok(self.prepared(ready))
    }

    fn measure(
        &mut self,
        spec: &RunSpec,
        part: StudyPart,
    ) -> Result<(Record, Option<u64>), Problem> {
        for target in &spec.targets {
            self.directories.check(&target.to_string_lossy())?;
        }
        let keeper = Keeper::of(self.place, self.remarks.clone(), USER)?;
        let Some(mut keeper) = keeper else {
            return Err(Problem::failed(
                "the archive takes no run, and a study cannot be continued without it".to_owned(),
            ));
        };
        let of_study = part.clone();
        keeper.adds(move |record| record.study = Some(of_study.clone()));
        let mut watchers = MeasuredRun {
            display: self.display(),
            keeper,
        };
        let performed = self.perform(spec, &mut watchers);
        watchers.display.finish();
        let mut record = performed?;
        record.study = Some(part);
        match watchers.keeper.finish(&record) {
            Archiving::Archived(number) => Ok((record, Some(number))),
            Archiving::Beside { path, why, .. } => Err(Problem::failed(format!(
                "the archive did not take a run{}: its record is in {}, and the next command that \
                 opens the archive takes it in",
                why.map_or_else(String::new, |why| format!(" ({why})")),
                sanitize::path(&path)
            ))),
            Archiving::Lost { why, .. } => Err(Problem::failed(format!(
                "a run's record could not be kept: {why}"
            ))),
        }
    }

    fn signal(&self) -> Option<i32> {
        self.signals
            .taken()
            .and_then(|control| control.signal_caught())
    }

    fn tell(&mut self, event: StudyEvent<'_>) {
        match event {
            StudyEvent::Next(progress) => {
                // From now on a signal ends the study, and not the program.
                let _ = self.signals.take();
                self.at = place_of(&progress);
                self.show_briefly(&format!("{}{}", place_of(&progress), left(&progress)));
            }
            StudyEvent::Measured(progress, record) => {
                let summary = Summary::of(record);
                let rate = study::Metric::Transactions.of(&summary);
                let rate = rate.map_or_else(
                    || "no rate".to_owned(),
                    |rate| format!("{} transactions/s", grouped(rate.round() as u64)),
                );
                let level = match summary.verdict.level {
                    Level::Valid => String::new(),
                    level => format!(", {}", level.name()),
                };
                self.show(&format!(
                    "{}: {rate}{level}{}",
                    place_of(&progress),
                    left(&progress)
                ));
            }
            StudyEvent::Repeating { block, attempt } => tell(format_args!(
                "block {block} has an INVALID run and is repeated (attempt {attempt} of {})",
                campaign::study::ATTEMPTS
            )),
            StudyEvent::Making => self.show_briefly("  preparing the target"),
            StudyEvent::Waiting => self.show_briefly("  waiting for a quiet machine"),
            StudyEvent::Churning => self.show_briefly("  churning the pool"),
        }
    }
}

/// `block 2 of 10, run 1 of 3, ext4`.
fn place_of(progress: &StudyProgress<'_>) -> String {
    let StudyProgress {
        cell,
        is_twin,
        block,
        blocks,
        position,
        runs,
        ..
    } = progress;
    let again = if *is_twin { " again" } else { "" };
    let of = match *blocks {
        // As many as the time allows.
        study::statistics::BLOCKS_MAX => String::new(),
        blocks => format!(" of {blocks}"),
    };
    format!(
        "block {block}{of}, run {position} of {runs}, {}{again}",
        cell.label
    )
}

fn left(progress: &StudyProgress<'_>) -> String {
    let left = progress
        .left
        .map(|left| report::study::length(left.as_secs_f64()));
    left.map_or_else(String::new, |left| format!(" ({left} left)"))
}

/// Who is told of a measured run.
struct MeasuredRun {
    display: Display,
    keeper: Keeper,
}

impl runner::Events for MeasuredRun {
    fn event(&mut self, event: runner::Event) {
        if matches!(
            event,
            runner::Event::RecordOpened(_)
                | runner::Event::PhaseRecorded(_)
                | runner::Event::RecordMerged(_)
        ) {
            self.keeper.event(event);
        } else {
            self.display.event(event);
        }
    }

    fn takes_records(&self) -> bool {
        true
    }
}
