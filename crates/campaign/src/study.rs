//! A study: every cell of a design once in each block, in the order that the design draws; resumed
//! where it was left.
//!
//! The order of runs, what is repeated and when it ends are decided here. Where runs come from and
//! go to is the [`Ground`]'s.

use std::time::{Duration, Instant};

use record::{MadeFileSystem, Outcome, QuietTime, Record, StudyPart};
use runner::RunSpec;
use spec::{Keeping, Stop};
use study::statistics::ALPHA;
use study::{BlockRun, Comparisons, Design, Looks, Observed, StudyCell, StudyRun, tables};
use verdict::Level;

mod churn;
pub mod design_file;
pub mod directories;
pub mod found;
mod quiet;
pub mod select;
pub mod single_process;
pub mod targets;

pub use churn::{Unchurnable, churn};
pub use quiet::wait_for_quiet;

/// How often a block with an INVALID run is begun at most.
pub const ATTEMPTS: u32 = 3;

/// What a study asks of whoever runs it.
pub trait Ground {
    /// What ends it, with a reason that stands for itself.
    type Error;

    /// A target in the state that each run of the cell begins with. `churn` fills and churns a pool
    /// there, where the cell has an age; it is not called where that state was saved.
    ///
    /// # Errors
    /// Where it cannot be had.
    fn target(&mut self, cell: usize) -> Result<TargetReady, Self::Error>;

    /// What a cell's runs are asked for, in a directory.
    ///
    /// # Errors
    /// Where it contradicts itself.
    fn spec(&mut self, cell: usize, directory: &std::path::Path) -> Result<RunSpec, Self::Error>;

    /// Performs a run that is not kept: the churn before a measured one.
    ///
    /// # Errors
    /// Where it was refused.
    fn churn(&mut self, spec: &RunSpec) -> Result<Record, Self::Error>;

    /// Keeps the state of a target, with its churned pool, so that the next run of the cell need
    /// not make it again. The target stays where it is.
    ///
    /// # Errors
    /// Where it cannot be kept.
    fn keep_state(&mut self, cell: usize) -> Result<TargetReady, Self::Error>;

    /// Performs a measured run, and keeps its record with its part of the study.
    ///
    /// # Errors
    /// Where it was refused, or its record cannot be kept.
    fn measure(
        &mut self,
        spec: &RunSpec,
        part: StudyPart,
    ) -> Result<(Record, Option<u64>), Self::Error>;

    /// The signal that is to end the study, where one has come.
    fn signal(&self) -> Option<i32>;

    /// What is going on.
    fn tell(&mut self, event: StudyEvent<'_>);
}

/// What became of making a target ready.
pub enum TargetReady {
    /// It is.
    Ready(Ready),
    /// This signal has ended that.
    Interrupted(i32),
}

/// A target that a run can begin on.
#[derive(Clone, Debug)]
pub struct Ready {
    /// Where.
    pub directory: std::path::PathBuf,
    /// What was made; nothing where it was there before.
    pub made: Option<MadeFileSystem>,
    /// Whether the pool is churned already.
    pub is_churned: bool,
}

/// What a study tells whoever watches it.
#[derive(Clone, Copy, Debug)]
pub enum StudyEvent<'a> {
    /// A run is next.
    Next(StudyProgress<'a>),
    /// A target is being made, or brought to the state that runs begin with.
    Making,
    /// The machine is not quiet yet.
    Waiting,
    /// A pool is being churned.
    Churning,
    /// A run has ended.
    Measured(StudyProgress<'a>, &'a Record),
    /// A block has an INVALID run, and is repeated.
    Repeating {
        /// Which.
        block: u32,
        /// The attempt that comes next.
        attempt: u32,
    },
}

/// How far a study is.
#[derive(Clone, Copy, Debug)]
pub struct StudyProgress<'a> {
    /// The cell.
    pub cell: &'a StudyCell,
    /// Whether it is its second run in the block.
    pub is_twin: bool,
    /// The block, from 1.
    pub block: u32,
    /// The most blocks.
    pub blocks: u32,
    /// The run's place in its block, from 1.
    pub position: u32,
    /// Runs of a block.
    pub runs: u32,
    /// How long the rest will take, as far as runs have told by now.
    pub left: Option<Duration>,
}

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

/// What a study goes by.
#[derive(Clone, Copy, Debug)]
pub struct Course<'a> {
    /// The design.
    pub design: &'a Design,
    /// Its cells.
    pub cells: &'a [StudyCell],
    /// The study's identity.
    pub id: &'a str,
    /// The side that is measured by itself, in this block alone.
    pub side: Option<(&'a str, u32)>,
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
    if let Some((_, block)) = course.side {
        return Ok(going.block(block)?.unwrap_or(StudyEnd::Complete));
    }
    let looks = Looks::new(course.design.blocks);
    for block in 1..=course.design.blocks {
        if going.is_over() {
            return Ok(StudyEnd::TimeOver);
        }
        if let Some(end) = going.block(block)? {
            return Ok(end);
        }
        if let Some(until) = course.design.until {
            if let Some(alpha) = looks.alpha(block, ALPHA) {
                let tables = tables(course.cells, going.done, &course.design.metrics, alpha);
                let half = tables
                    .iter()
                    .map(Comparisons::half_width_max)
                    .collect::<Option<Vec<f64>>>();
                if half
                    .is_some_and(|half| !half.is_empty() && half.iter().all(|half| *half <= until))
                {
                    return Ok(StudyEnd::NarrowEnough);
                }
            }
        }
    }
    Ok(StudyEnd::Complete)
}

impl<G: Ground> Going<'_, G> {
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

    fn block(&mut self, block: u32) -> Result<Option<StudyEnd>, G::Error> {
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
                if let Some(end) = self.run(run, (block, attempt, position), runs)? {
                    return Ok(Some(end));
                }
            }
            if !self.is_invalid(block, attempt) || attempt >= ATTEMPTS {
                self.blocks += u32::from(has_run);
                return Ok(None);
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

    fn run(
        &mut self,
        run: BlockRun,
        (block, attempt, position): (u32, u32, u32),
        runs: u32,
    ) -> Result<Option<StudyEnd>, G::Error> {
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
        if let Some(signal) = self.ground.signal() {
            return Ok(Some(StudyEnd::Interrupted(signal)));
        }
        self.ground.tell(StudyEvent::Next(progress));
        self.ground.tell(StudyEvent::Making);
        let mut ready = match self.ground.target(run.cell)? {
            TargetReady::Ready(ready) => ready,
            TargetReady::Interrupted(signal) => return Ok(Some(StudyEnd::Interrupted(signal))),
        };
        let mut spec = self.ground.spec(run.cell, &ready.directory)?;
        let transactions = churn(&spec.workload, cell.age).unwrap_or_default();
        if cell.age > 0 {
            if !ready.is_churned {
                self.ground.tell(StudyEvent::Churning);
                if let Some(end) = self.churn(&spec, transactions)? {
                    return Ok(Some(end));
                }
                ready = match self.ground.keep_state(run.cell)? {
                    TargetReady::Ready(ready) => ready,
                    TargetReady::Interrupted(signal) => {
                        return Ok(Some(StudyEnd::Interrupted(signal)));
                    }
                };
            }
            spec.keeping = Keeping {
                reuse: true,
                ..spec.keeping
            };
        }
        let quiet = self.quiet();
        if let Some(signal) = self.ground.signal() {
            return Ok(Some(StudyEnd::Interrupted(signal)));
        }
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
            made: ready.made,
            age: (cell.age > 0).then_some(cell.age),
        };
        let (record, number) = self.ground.measure(&spec, part.clone())?;
        self.runs += 1;
        if let Some(end) = ended(&record, number) {
            return Ok(Some(end));
        }
        let observed = Observed::of(&record, number, &course.design.metrics);
        self.done.push(StudyRun { part, observed });
        self.ground.tell(StudyEvent::Measured(
            StudyProgress {
                left: self.left(block, runs - position, runs),
                ..progress
            },
            &record,
        ));
        Ok(None)
    }

    /// Fills and churns a pool, and leaves it.
    fn churn(&mut self, spec: &RunSpec, transactions: u64) -> Result<Option<StudyEnd>, G::Error> {
        let mut churning = spec.clone();
        churning.workload = churning.workload.with_transactions(transactions);
        churning.drive = spec::Drive {
            stop: Stop::Transactions,
            ..spec::Drive::default()
        };
        churning.keeping = Keeping {
            keep: true,
            reuse: false,
        };
        churning.overhead = false;
        let record = self.ground.churn(&churning)?;
        Ok(ended(&record, None))
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

/// How a run has ended the study; nothing where it came to its end.
fn ended(record: &Record, run: Option<u64>) -> Option<StudyEnd> {
    let failed = |why: &str| {
        Some(StudyEnd::RunFailed {
            run,
            why: why.to_owned(),
        })
    };
    match &record.actual.outcome {
        Outcome::Complete => None,
        Outcome::Interrupted { signal } => Some(StudyEnd::Interrupted(*signal)),
        Outcome::Failed { why } | Outcome::PlaceGone { why } => failed(why),
        Outcome::Unfinished => failed("its record has no end"),
    }
}
