//! Performs a study. In each block, every configuration (cell) of the design runs once, in the
//! order that the design draws. An interrupted study can be resumed.
//!
//! This module decides the order of the runs, the repetition of blocks, and the end of the study. A
//! [`Ground`] provides targets, performs runs and stores records.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use record::{MadeFileSystem, Outcome, QuietTime, Record, StudyPart};
use runner::RunSpec;
use study::{BlockRun, Observed, StudyRun, VerdictCounts};

use crate::quiet::wait_for_quiet;

mod cell_spec;
mod churn;
pub mod design_file;
pub mod directories;
mod environment;
pub mod found;
mod ground;
pub mod named_runs;
pub(crate) mod named_side;
mod performed_runs;
mod plan;
mod pooled;
pub mod select;
pub mod single_process;
pub mod targets;

use churn::AgedSpecs;
pub use environment::{Environment, StudyWatcher};
pub use ground::{Course, Ground, Ready, StudyEvent, StudyProgress};
pub use performed_runs::ATTEMPTS;
use performed_runs::PerformedRuns;
pub use plan::{judge, plan};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StudyEnd {
    /// All blocks are complete.
    Complete,
    /// The confidence intervals of all compared metrics are as narrow as the design requests.
    NarrowEnough,
    /// Too many runs of a repetition with `until` are INVALID: all of the first five runs, or more
    /// than half of at least ten runs.
    TooManyInvalid {
        verdicts: VerdictCounts,
        /// Archive number of the study's last INVALID run.
        run: Option<u64>,
    },
    /// The time limit of the design is reached.
    TimeOver,
    /// A signal with this number ended the study, which can be resumed.
    Interrupted(i32),
    /// A run did not complete; the study can be resumed.
    RunFailed {
        /// Number of the run in the archive; `None` if the run was not archived.
        run: Option<u64>,
        why: String,
    },
}

/// The state of a study in progress.
struct Going<'a, G: Ground> {
    course: Course<'a>,
    ground: &'a mut G,
    done: &'a mut Vec<StudyRun>,
    began: Instant,
    /// Targets that this process has prepared, and the time that their first preparation took.
    prepared: BTreeSet<usize>,
    preparation: Duration,
    /// Number of runs that this process performed, and of blocks that it completed.
    runs: u32,
    blocks: u32,
}

/// The reason to leave the loops of a study: the study's end, or an error of its environment.
enum Halt<E> {
    End(StudyEnd),
    Error(E),
}

impl<E> From<E> for Halt<E> {
    fn from(error: E) -> Self {
        Self::Error(error)
    }
}

/// Performs the rest of a study. `done` contains the runs that exist already; each new complete run
/// is added.
///
/// # Errors
/// Returns the error of the environment. The measured runs remain in the archive.
pub fn perform<G: Ground>(
    course: Course<'_>,
    done: &mut Vec<StudyRun>,
    ground: &mut G,
) -> Result<StudyEnd, G::Error> {
    let mut going = Going {
        course,
        ground,
        done,
        began: Instant::now(),
        prepared: BTreeSet::new(),
        preparation: Duration::ZERO,
        runs: 0,
        blocks: 0,
    };
    match going.all() {
        Ok(()) => Ok(StudyEnd::Complete),
        Err(Halt::End(end)) => Ok(end),
        Err(Halt::Error(error)) => Err(error),
    }
}

impl<G: Ground> Going<'_, G> {
    fn all(&mut self) -> Result<(), Halt<G::Error>> {
        if let Some((_, block)) = self.course.side {
            return self.block(block);
        }
        let design = self.course.design;
        for block in 1..=design.blocks {
            if self.is_over() {
                return Err(Halt::End(StudyEnd::TimeOver));
            }
            self.block(block)?;
            if self.performed().is_narrow_after(block) {
                return Err(Halt::End(StudyEnd::NarrowEnough));
            }
            if let Some((verdicts, run)) = self.performed().too_many_invalid_after(block) {
                return Err(Halt::End(StudyEnd::TooManyInvalid { verdicts, run }));
            }
        }
        Ok(())
    }

    fn performed(&self) -> PerformedRuns<'_> {
        PerformedRuns {
            course: self.course,
            runs: self.done,
        }
    }

    /// Whether the next block would probably exceed the time limit. The next block is assumed to
    /// take as long as the average block.
    fn is_over(&self) -> bool {
        let Some(limit) = self.course.design.time_limit else {
            return false;
        };
        let elapsed = self.began.elapsed();
        let block = match self.blocks {
            0 => Duration::ZERO,
            blocks => elapsed / blocks,
        };
        elapsed + block > limit
    }

    fn block(&mut self, block: u32) -> Result<(), Halt<G::Error>> {
        let attempts = self.performed().attempts_max();
        let mut attempt = self.performed().attempt_of(block);
        let mut has_run = false;
        loop {
            let order = self.performed().order(block, attempt);
            let runs = order.len() as u32;
            for (run, position) in order.into_iter().zip(1..) {
                // If an attempt will be repeated, its remaining runs are useless. The last attempt
                // of a block is completed, because its valid runs can still be compared with each
                // other.
                if attempt < attempts && self.performed().is_invalid(block, attempt) {
                    break;
                }
                if self.performed().contains((block, attempt, position)) {
                    continue;
                }
                has_run = true;
                self.run(run, (block, attempt, position), runs)?;
            }
            if !self.performed().is_invalid(block, attempt) || attempt >= attempts {
                self.blocks += u32::from(has_run);
                return Ok(());
            }
            attempt += 1;
            self.ground.tell(StudyEvent::Repeating { block, attempt });
        }
    }

    /// Estimates the remaining time of the study from the average time of its runs. `rest` runs of
    /// this block remain. Each later block has `runs` runs. The first preparation of a target, such
    /// as making a file system, is expected once for each target.
    fn left(&self, block: u32, rest: u32, runs: u32) -> Option<Duration> {
        let design = self.course.design;
        let elapsed = self.began.elapsed();
        let each = elapsed
            .saturating_sub(self.preparation)
            .checked_div(self.runs)?;
        let targets = self.course.cells.iter().map(|cell| cell.target);
        let unprepared = targets
            .collect::<BTreeSet<_>>()
            .difference(&self.prepared)
            .count() as u32;
        let prepared = self.prepared.len() as u32;
        let preparation = self.preparation.checked_div(prepared).unwrap_or_default();
        let later = match self.course.side {
            Some(_) => 0,
            None => design.blocks - block,
        };
        let runs = each.saturating_mul(rest.saturating_add(later.saturating_mul(runs)));
        let left = runs.saturating_add(preparation.saturating_mul(unprepared));
        Some(
            design
                .time_limit
                .map_or(left, |limit| left.min(limit.saturating_sub(elapsed))),
        )
    }

    /// Performs the run at this position of an attempt. `runs` is the number of runs in the block.
    fn run(
        &mut self,
        run: BlockRun,
        (block, attempt, position): (u32, u32, u32),
        runs: u32,
    ) -> Result<(), Halt<G::Error>> {
        let course = self.course;
        let cell = &course.cells[run.cell];
        let progress = StudyProgress {
            cell,
            is_twin: run.is_twin,
            block,
            blocks: course.design.blocks,
            position,
            runs,
            left: self.left(block, runs - position + 1, runs),
            is_repetition: course.is_repetition(),
        };
        self.follow_signal()?;
        self.ground.tell(StudyEvent::Next(progress));
        let preparing = Instant::now();
        let (spec, made) = self.ready(run.cell)?;
        if self.prepared.insert(cell.target) {
            self.preparation += preparing.elapsed();
        }
        let quiet = self.quiet();
        self.follow_signal()?;
        let mut coordinates = cell.coordinates.clone();
        let side = course.side.map(|(side, _)| side.to_owned());
        coordinates.extend(side.iter().map(|side| record::Coordinate {
            dimension: record::study::SIDE.to_owned(),
            value: side.clone(),
        }));
        let part = StudyPart {
            study: course.id.to_owned(),
            name: course.design.name.clone(),
            design: course.design.text.clone(),
            cell: side
                .as_ref()
                .map_or_else(|| cell.label.clone(), |side| cell.label_of_side(side)),
            coordinates,
            is_twin: run.is_twin,
            block,
            attempt,
            position,
            side,
            quiet,
            made,
            age: (cell.age > 0).then_some(cell.age),
        };
        let (record, number) = self.ground.measure(&spec, part.clone())?;
        self.runs += 1;
        ended(&record, number)?;
        let observed = Observed::of(&record, number, &course.design.metrics);
        self.done.push(StudyRun { part, observed });
        let left = self.left(block, runs - position, runs);
        let measured = StudyProgress { left, ..progress };
        self.ground.tell(StudyEvent::Measured(measured, &record));
        Ok(())
    }

    /// Prepares the target of a configuration. If the configuration has an age, this includes
    /// churning its pool (creating and deleting files). Returns the spec of the measured run, and
    /// the file system that was made.
    fn ready(&mut self, cell: usize) -> Result<(RunSpec, Option<MadeFileSystem>), Halt<G::Error>> {
        self.ground.tell(StudyEvent::Making);
        let ready = self.ground.target(cell)?;
        let mut ready = ready.ok_or_else(|| self.interrupted())?;
        let spec = self.ground.spec(cell, &ready.directory)?;
        let specs = AgedSpecs::new(spec, self.course.cells[cell].age);
        let AgedSpecs { churn, measured } =
            specs.map_err(|why| Halt::End(StudyEnd::RunFailed { run: None, why }))?;
        if let Some(churn) = churn.filter(|_| !ready.is_churned) {
            self.ground.tell(StudyEvent::Churning);
            ended(&self.ground.churn(&churn)?, None)?;
            let kept = self.ground.keep_state(cell)?;
            ready = kept.ok_or_else(|| self.interrupted())?;
        }
        Ok((measured, ready.made))
    }

    /// Returns the end of a study whose target could not be made because of a signal.
    fn interrupted(&self) -> Halt<G::Error> {
        const INTERRUPT: i32 = 2;
        Halt::End(StudyEnd::Interrupted(
            self.ground.signal().unwrap_or(INTERRUPT),
        ))
    }

    /// Returns an error that ends the study if a signal has arrived.
    fn follow_signal(&self) -> Result<(), Halt<G::Error>> {
        let signal = self.ground.signal();
        signal.map_or(Ok(()), |signal| {
            Err(Halt::End(StudyEnd::Interrupted(signal)))
        })
    }

    fn quiet(&mut self) -> Option<QuietTime> {
        let most = self.course.design.quiet;
        if most.is_zero() {
            return None;
        }
        self.ground.tell(StudyEvent::Waiting);
        let ground = &*self.ground;
        Some(wait_for_quiet(most, &|| ground.signal().is_some()))
    }
}

/// Returns an error that ends the study if a run did not complete.
fn ended<E>(record: &Record, run: Option<u64>) -> Result<(), Halt<E>> {
    let why = match &record.actual.outcome {
        Outcome::Complete => return Ok(()),
        Outcome::Interrupted { signal } => {
            return Err(Halt::End(StudyEnd::Interrupted(*signal)));
        }
        Outcome::Failed { why } | Outcome::PlaceGone { why } => why.clone(),
        Outcome::Unfinished => "its record has no end".to_owned(),
    };
    Err(Halt::End(StudyEnd::RunFailed { run, why }))
}
