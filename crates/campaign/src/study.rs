//! A study: every cell of a design once in each block, in the order that the design draws; resumed
//! where it was left.
//!
//! The order of runs, what is repeated and when it ends are decided here. Where runs come from and
//! go to is the [`Ground`]'s.

use std::time::{Duration, Instant};

use record::{MadeFileSystem, Outcome, QuietTime, Record, StudyPart};
use runner::RunSpec;
use study::statistics::ALPHA;
use study::{BlockRun, Comparisons, Looks, Observed, StudyRun, tables};
use verdict::Level;

mod cell_spec;
mod churn;
pub mod design_file;
pub mod directories;
mod environment;
pub mod found;
mod ground;
mod plan;
mod quiet;
pub mod select;
pub mod single_process;
pub mod targets;

use churn::AgedSpecs;
pub use environment::{Environment, StudyWatcher};
pub use ground::{Course, Ground, Ready, StudyEvent, StudyProgress};
pub use plan::{judge, plan};
use quiet::wait_for_quiet;

/// How often a block with an INVALID run is begun at most.
pub const ATTEMPTS: u32 = 3;

/// Why a study ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StudyEnd {
    /// All its blocks are there.
    Complete,
    /// Its intervals are as narrow as was asked.
    NarrowEnough,
    /// Its time is over.
    TimeOver,
    /// A signal has ended it; it can be resumed.
    Interrupted(i32),
    /// A run did not come to its end; the study can be resumed.
    RunFailed {
        /// The run's number in the archive.
        run: Option<u64>,
        /// Why.
        why: String,
    },
}

/// A study that goes on.
struct Going<'a, G: Ground> {
    course: Course<'a>,
    ground: &'a mut G,
    done: &'a mut Vec<StudyRun>,
    began: Instant,
    /// Runs that this process has made, and how long blocks took.
    runs: u32,
    blocks: u32,
}

/// Why nothing of a study follows.
enum Halt<E> {
    End(StudyEnd),
    Error(E),
}

impl<E> From<E> for Halt<E> {
    fn from(error: E) -> Self {
        Self::Error(error)
    }
}

/// Performs what is left of a study. `done` has the runs that are there, and gets the others.
///
/// # Errors
/// What the ground could not do. Everything that was measured is kept.
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
        let looks = Looks::new(design.blocks);
        for block in 1..=design.blocks {
            if self.is_over() {
                return Err(Halt::End(StudyEnd::TimeOver));
            }
            self.block(block)?;
            let look = design.until.zip(looks.alpha(block, ALPHA));
            if look.is_some_and(|(until, alpha)| self.is_narrow(until, alpha)) {
                return Err(Halt::End(StudyEnd::NarrowEnough));
            }
        }
        Ok(())
    }

    /// Whether all intervals at a level are as narrow as was asked.
    fn is_narrow(&self, until: f64, alpha: f64) -> bool {
        let course = self.course;
        let tables = tables(course.cells, self.done, &course.design.metrics, alpha);
        let is_narrow =
            |table: &Comparisons| table.half_width_max().is_some_and(|half| half <= until);
        !tables.is_empty() && tables.iter().all(is_narrow)
    }

    /// Whether another block would end too late.
    fn is_over(&self) -> bool {
        let Some(limit) = self.course.design.run_for else {
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
        let course = self.course;
        let mut attempt = self.attempt_of(block);
        let mut has_run = false;
        loop {
            let order = course.design.block(course.cells, block, attempt);
            let runs = order.len() as u32;
            for (run, position) in order.into_iter().zip(1..) {
                // The rest of such an attempt is of no use; that of the last one, for other pairs
                // of cells.
                if attempt < ATTEMPTS && self.is_invalid(block, attempt) {
                    break;
                }
                if self.is_done(block, attempt, position) {
                    continue;
                }
                has_run = true;
                self.run(run, (block, attempt, position), runs)?;
            }
            if !self.is_invalid(block, attempt) || attempt >= ATTEMPTS {
                self.blocks += u32::from(has_run);
                return Ok(());
            }
            attempt += 1;
            self.ground.tell(StudyEvent::Repeating { block, attempt });
        }
    }

    /// The last attempt of a block that has been begun.
    fn attempt_of(&self, block: u32) -> u32 {
        let of_block = self.of_side().filter(|done| done.part.block == block);
        of_block.map(|done| done.part.attempt).max().unwrap_or(1)
    }

    fn of_side(&self) -> impl Iterator<Item = &StudyRun> {
        let side = self.course.side.map(|(side, _)| side);
        self.done
            .iter()
            .filter(move |done| done.part.side.as_deref() == side)
    }

    fn is_done(&self, block: u32, attempt: u32, position: u32) -> bool {
        self.of_side().any(|done| {
            (done.part.block, done.part.attempt, done.part.position) == (block, attempt, position)
        })
    }

    fn is_invalid(&self, block: u32, attempt: u32) -> bool {
        let mut runs = self
            .of_side()
            .filter(|done| (done.part.block, done.part.attempt) == (block, attempt));
        runs.any(|done| done.observed.level == Level::Invalid)
    }

    /// How long the rest will take, by the runs that were made: `rest` runs of this block, and all
    /// later blocks.
    fn left(&self, block: u32, rest: u32, runs: u32) -> Option<Duration> {
        let design = self.course.design;
        let elapsed = self.began.elapsed();
        let each = elapsed.checked_div(self.runs)?;
        let later = match self.course.side {
            Some(_) => 0,
            None => design.blocks - block,
        };
        let left = each.saturating_mul(rest.saturating_add(later.saturating_mul(runs)));
        Some(
            design
                .run_for
                .map_or(left, |limit| left.min(limit.saturating_sub(elapsed))),
        )
    }

    /// Performs a run of a block, in this attempt and at this position among so many.
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
            blocks: course.side.map_or(course.design.blocks, |_| block),
            position,
            runs,
            left: self.left(block, runs - position + 1, runs),
        };
        self.follow_signal()?;
        self.ground.tell(StudyEvent::Next(progress));
        let (spec, made) = self.ready(run.cell)?;
        let quiet = self.quiet();
        self.follow_signal()?;
        let mut coordinates = cell.coordinates.clone();
        let side = course.side.map(|(side, _)| side.to_owned());
        coordinates.extend(side.iter().map(|side| record::Coordinate {
            dimension: "side".to_owned(),
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

    /// Makes the target of a cell ready, with its churned pool where it has an age. Gives the
    /// measured run, and what was made.
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

    /// Why a study ends whose target a signal has kept from being made.
    fn interrupted(&self) -> Halt<G::Error> {
        const INTERRUPT: i32 = 2;
        Halt::End(StudyEnd::Interrupted(
            self.ground.signal().unwrap_or(INTERRUPT),
        ))
    }

    /// Ends the study where a signal has come.
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

/// Ends the study with a run that did not come to its end.
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
