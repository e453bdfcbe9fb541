//! The targets of a study: directories that are there, and file systems that it makes and removes.

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

/// See the module's text.
pub struct Targets {
    /// By target, those that are to be made, with what they need.
    wishes: BTreeMap<usize, (MakeSpec, MakeNeeds)>,
    /// By target, those that are made.
    made: BTreeMap<usize, Made>,
    /// States are kept of so many cells of a target.
    states: BTreeMap<usize, u64>,
    /// Names what is made when a signal comes. Nothing before the first is made.
    made_names: Option<Box<dyn MadeNames>>,
    user: User,
    watch: WatchMade,
}

/// Names what is made when a signal comes.
pub trait MadeNames {
    /// Adds a directory of a made file system, from its beginning on.
    fn add(&self, directory: &Path);
}

/// Waits for signals; nothing where the system has no thread for that.
pub type WatchMade = fn() -> Option<Box<dyn MadeNames>>;

impl Targets {
    /// The targets of a design. Nothing is made yet.
    ///
    /// # Errors
    /// Where something is missing that they need.
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
                // All of them are there at once; each has room by itself.
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

    /// Directories with the room that is taken in them, in bytes, and the targets that need root.
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

    /// The target of a cell, in the state that each of its runs begins with; nothing where a signal
    /// has ended that. The signal's number is left in `caught`.
    ///
    /// # Errors
    /// Where it cannot be made.
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
                // Without handlers a signal ends the program at once.
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
        let Some(is_churned) = of_target(&target.name, done, self.user)? else {
            return Ok(None);
        };
        Ok(self
            .made
            .get(&cell.target)
            .map(|made| ready(made, is_churned)))
    }

    /// Keeps the state of a cell's made file system with its churned pool. A directory has none:
    /// cells with an age are on made file systems only.
    ///
    /// # Errors
    /// Where it cannot be kept.
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
        // The copy of a tmpfs would have other inodes than those that the pool's manifest knows: it
        // is churned again.
        if made.spec().kind != FileSystemKind::Tmpfs {
            let saved = made.save(&state(number));
            if of_target(&course.design.targets[target].name, saved, self.user)?.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(ready(made, true)))
    }

    /// Removes what was made. What cannot be removed is told, and left for `clean`: gives whether
    /// something is.
    pub fn remove(&mut self) -> bool {
        let mut is_left = false;
        for (_, made) in std::mem::take(&mut self.made) {
            if let Err(why) = made.remove() {
                self.user.tell(format_args!(
                    "cannot remove a file system of the study: {why}"
                ));
                is_left = true;
            }
        }
        self.made_names = None;
        is_left
    }
}

/// What was done to a target; nothing where a signal has ended it, which is no failure.
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

/// What the state of a cell is called.
fn state(cell: usize) -> String {
    format!("cell-{cell}")
}

/// How full the cell's file system is to be: as the cell says, otherwise as the target does.
/// Nothing: as mkfs leaves it, which is also what 0 means.
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
