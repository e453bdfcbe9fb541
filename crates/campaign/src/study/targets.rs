//! The targets of a study: existing directories, and scratch file systems that the study makes and
//! removes.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use document::sanitize;
use record::{Fact, MadeFileSystem};
use scratch::{FileSystemKind, Made, MakeError, MakeNeeds, MakeSpec, MakeStage, MakeStop};
use study::{Design, StudyCell};

use super::design_file::wrong_in;
use super::ground::{Course, Ready};
use crate::error::Error;
use crate::user::User;

pub struct Targets {
    /// The scratch file systems that the study will make, with their requirements, by index of the
    /// target.
    wishes: BTreeMap<usize, (MakeSpec, MakeNeeds)>,
    /// The scratch file systems that exist, by index of the target.
    made: BTreeMap<usize, Made>,
    /// For each target index, the number of configurations (cells) that churn their pool before the
    /// measured runs. Each of them may need space for a saved state.
    states: BTreeMap<usize, u64>,
    /// The list of existing scratch file systems, which is shown when a signal arrives; `None`
    /// until the first one is made.
    made_names: Option<Box<dyn MadeNames>>,
    user: User,
    watch: WatchMade,
}

/// A list of existing scratch file systems, which is shown when a signal arrives.
pub trait MadeNames {
    /// Adds the directory of a scratch file system, when its creation begins.
    fn add(&self, directory: &Path);
}

/// Creates an empty list of scratch file systems, and starts a thread that prints the list when a
/// signal ends the study. Returns `None` if the thread cannot be started.
pub type WatchMade = fn() -> Option<Box<dyn MadeNames>>;

impl Targets {
    /// Checks the requirements of a design's targets, and makes no file system.
    ///
    /// # Errors
    /// Returns an error if a requirement of a target is not met.
    pub fn new(
        design: &Design,
        cells: &[StudyCell],
        file: Option<&Path>,
        (user, watch): (User, WatchMade),
    ) -> Result<Self, Error> {
        let mut wishes = BTreeMap::new();
        let mut states = BTreeMap::new();
        let mut taken: BTreeMap<u64, u64> = BTreeMap::new();
        for (index, target) in design
            .targets
            .iter()
            .enumerate()
            .filter(|(_, target)| target.is_made())
        {
            let refused = |why: &dyn std::fmt::Display| {
                let shown = sanitize::shown(&target.at);
                wrong_in(
                    file,
                    target.line,
                    format!("cannot make the target {shown}: {why}"),
                )
            };
            let spec: MakeSpec = target
                .at
                .parse()
                .map_err(|why: scratch::InvalidMakeSpec| refused(&why))?;
            let of_target = cells.iter().filter(|cell| cell.target == index);
            for cell in of_target.clone().filter(|cell| cell.fullness.is_some()) {
                let mut filled = spec.clone();
                filled.fullness_percent = percent(cell, &spec);
                filled.validate().map_err(|why| refused(&why))?;
            }
            let needs = spec.check().map_err(|why| refused(&why))?;
            for need in &needs.room {
                // All targets exist at the same time, so the sum of their sizes must fit. `check`
                // considers each target separately.
                let taken = taken.entry(need.device).or_default();
                *taken += need.bytes;
                if *taken > need.available_bytes {
                    return Err(refused(&format!(
                        "no room for it and the targets before it in {}: {taken} bytes needed, {} \
                         available (make room, use smaller sizes, or in=DIRECTORY)",
                        need.directory.display(),
                        need.available_bytes
                    )));
                }
            }
            states.insert(index, of_target.filter(|cell| cell.age > 0).count() as u64);
            wishes.insert(index, (spec, needs));
        }
        Ok(Self {
            wishes,
            made: BTreeMap::new(),
            states,
            made_names: None,
            user,
            watch,
        })
    }

    /// Returns the bytes that are needed in each directory or in `memory`, and the targets that
    /// need root.
    pub fn needs(&self) -> (Vec<(String, u64)>, Vec<String>) {
        let mut room: BTreeMap<String, u64> = BTreeMap::new();
        for (index, (_, needs)) in &self.wishes {
            let states = self.states.get(index).copied().unwrap_or(0);
            for need in &needs.room {
                *room
                    .entry(need.directory.display().to_string())
                    .or_default() += need.bytes + states * need.state_bytes_max;
            }
            if needs.memory_bytes > 0 {
                *room.entry("memory".to_owned()).or_default() += needs.memory_bytes;
            }
        }
        let root = self
            .wishes
            .values()
            .map(|(spec, _)| spec.to_string())
            .collect();
        (room.into_iter().collect(), root)
    }

    /// Prepares the target of a cell in the state in which each run of the cell begins. Returns
    /// `None` if a signal interrupted the preparation; the signal's number remains in `caught`.
    ///
    /// # Errors
    /// Returns an error if the target cannot be made or restored.
    pub fn ready(
        &mut self,
        course: Course<'_>,
        number: usize,
        caught: Option<Arc<AtomicUsize>>,
    ) -> Result<Option<Ready>, Error> {
        let cell = &course.cells[number];
        let target = &course.design.targets[cell.target];
        let Some((spec, _)) = self.wishes.get(&cell.target) else {
            return Ok(Some(Ready {
                directory: target.at.clone().into(),
                made: None,
                is_churned: false,
            }));
        };
        let state = state(number);
        let done = match self.made.get_mut(&cell.target) {
            Some(made) if made.has_state(&state) => made.restore(&state).map(|()| true),
            Some(made) => made
                .set_fullness(percent(cell, spec))
                .and_then(|()| made.remake())
                .map(|()| false),
            None => {
                let mut filled = spec.clone();
                filled.fullness_percent = percent(cell, spec);
                let names = &mut self.made_names;
                // The list is made only if signals are caught. Otherwise, a signal ends the program
                // at once, and no list can be shown.
                if names.is_none() && caught.is_some() {
                    *names = (self.watch)();
                }
                let stop = caught.map_or_else(MakeStop::default, MakeStop::from);
                let made = Made::make_with(&filled, &target.name, stop, &mut |stage, directory| {
                    if let (MakeStage::Manifest, Some(names)) = (stage, &names) {
                        names.add(directory);
                    }
                });
                made.map(|made| {
                    self.made.insert(cell.target, made);
                    false
                })
            }
        };
        self.tell_still_used(cell.target);
        let Some(is_churned) = of_target(&target.name, done, self.user)? else {
            return Ok(None);
        };
        Ok(self
            .made
            .get(&cell.target)
            .map(|made| ready(made, is_churned)))
    }

    /// Reports the replaced images of a target that other processes still use.
    fn tell_still_used(&mut self, target: usize) {
        for used in self
            .made
            .get_mut(&target)
            .into_iter()
            .flat_map(Made::take_still_used)
        {
            self.user.tell(format_args!(
                "{} The study continues on a new image.",
                report::clean::still_used(&used)
            ));
        }
    }

    /// Saves the scratch file system of a cell with its aged pool, so that later runs begin in the
    /// same state. Does nothing for a directory of the user: only scratch file systems are aged.
    ///
    /// # Errors
    /// Returns an error if the state cannot be saved.
    pub fn keep_state(
        &mut self,
        course: Course<'_>,
        number: usize,
        caught: Option<Arc<AtomicUsize>>,
    ) -> Result<Option<Ready>, Error> {
        let target = course.cells[number].target;
        let Some(made) = self.made.get_mut(&target) else {
            return self.ready(course, number, caught);
        };
        // After a restore, the inodes of a tmpfs would differ from those in the pool's manifest. A
        // pool on tmpfs is therefore churned before each run.
        if made.spec().kind != FileSystemKind::Tmpfs {
            let saved = made.save(&state(number));
            if of_target(&course.design.targets[target].name, saved, self.user)?.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(ready(made, true)))
    }

    /// Removes the scratch file systems, and returns whether one remains. A file system that cannot
    /// be removed is reported, and `clean` can remove it later.
    pub fn remove(&mut self) -> bool {
        let mut is_left = false;
        for (_, made) in std::mem::take(&mut self.made) {
            match made.remove() {
                Ok(removed) => {
                    for used in &removed.still_used {
                        self.user.tell(report::clean::still_used(used));
                    }
                }
                Err(why) => {
                    self.user.tell(format_args!(
                        "cannot remove a file system of the study: {why}"
                    ));
                    is_left = true;
                }
            }
        }
        self.made_names = None;
        is_left
    }
}

/// Returns the result of an operation on a target; `None` if a signal interrupted the operation,
/// which is not an error.
fn of_target<A>(name: &str, done: Result<A, MakeError>, user: User) -> Result<Option<A>, Error> {
    match done {
        Ok(done) => Ok(Some(done)),
        Err(why) => {
            let problem = Error::failed(format!("the target {name}: {why}"));
            if !why.is_interrupted() {
                return Err(problem);
            }
            if why.is_left() {
                user.tell(problem);
            }
            Ok(None)
        }
    }
}

fn state(cell: usize) -> String {
    format!("cell-{cell}")
}

/// Returns the fill level that the configuration requests, or else that of the target. Returns
/// `None` if nothing is to be filled: neither requests a level, or the configuration requests 0.
fn percent(cell: &StudyCell, spec: &MakeSpec) -> Option<u8> {
    match cell.fullness {
        Some(percent) => u8::try_from(percent).ok().filter(|percent| *percent > 0),
        None => spec.fullness_percent,
    }
}

fn ready(made: &Made, is_churned: bool) -> Ready {
    let facts = made.facts();
    Ready {
        directory: made.directory(),
        made: Some(MadeFileSystem {
            asked: facts.spec.clone(),
            commands: facts
                .mkfs_commands
                .iter()
                .chain(&facts.mount_commands)
                .cloned()
                .collect(),
            tools: facts
                .tools
                .iter()
                .map(|tool| match &tool.version {
                    Fact::Known(version) => format!("{}: {version}", tool.name),
                    Fact::NotApplicable | Fact::Unavailable(_) => tool.name.clone(),
                })
                .collect(),
            driver: facts.driver.clone(),
            image_file_system: facts.image_file_system.clone(),
            fullness_percent: facts.fullness_percent.known().copied(),
        }),
        is_churned,
    }
}
