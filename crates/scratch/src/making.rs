//! A made file system: making it, the same state for each run, and removing it.

use std::path::{Path, PathBuf};

use crate::blocks::{self, Image};
use crate::directory::{BELOW, IMAGE, JOURNAL, MOUNT, PREFIX, saved};
use crate::error::MakeError;
use crate::facts::MadeFacts;
use crate::identifiers::{new_id, new_uuid};
use crate::kind::FileSystemKind;
use crate::loops;
use crate::manifest::{FORMAT, Head, Part};
use crate::mounts;
use crate::needs;
use crate::owned::Owned;
use crate::removal::{self, MadeRemoved};
use crate::spec::MakeSpec;
use crate::states;
use crate::stop::MakeStop;

mod start;

/// How far making has come. Each is told when it is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MakeStage {
    /// The manifest is on disk; nothing else is made.
    Manifest,
    /// The images are written.
    Images,
    /// The loop devices are set up.
    LoopDevices,
    /// mkfs has run.
    Formatted,
    /// It is mounted.
    Mounted,
    /// It is filled as asked, and ready.
    Ready,
}

/// What a start of the file system finds on its images.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Images {
    /// Nothing that counts: mkfs runs.
    New,
    /// A file system, which is mounted as it is.
    Formatted,
}

/// A file system that was made and is mounted. It is removed by [`Made::remove`], and when it is
/// dropped.
///
/// It belongs to the process that made it: while that lives, or a program that it started, `clean`
/// leaves it alone. No method may be called while a run uses the target. Where [`Made::remake`],
/// [`Made::save`] or [`Made::restore`] fail, the file system may not be mounted; it can be remade
/// or removed.
#[derive(Debug)]
pub struct Made {
    spec: MakeSpec,
    main: Owned,
    /// The journal's directory, where it is not that of the image.
    journal: Option<Owned>,
    stop: MakeStop,
    uuid: String,
    journal_uuid: String,
    facts: MadeFacts,
    is_removed: bool,
}

impl Made {
    /// Makes and mounts a file system. `name` is what its maker calls it, for the manifest.
    ///
    /// Takes as long as writing the whole image and mkfs take.
    ///
    /// # Errors
    /// Something is missing, or fails. Then nothing is left, or the error says what.
    pub fn make(spec: &MakeSpec, name: &str) -> Result<Self, MakeError> {
        Self::make_with(spec, name, MakeStop::default(), &mut |_, _| ())
    }

    /// The same, which a signal ends, and which tells how far it has come, and the directory.
    ///
    /// # Errors
    /// As [`Made::make`].
    pub fn make_with(
        spec: &MakeSpec,
        name: &str,
        stop: MakeStop,
        told: &mut dyn FnMut(MakeStage, &Path),
    ) -> Result<Self, MakeError> {
        spec.validate()?;
        spec.check()?;
        let mut made = Self::begin(spec, name, stop)?;
        let path = made.main.directory.path().to_owned();
        let done = made.finish(&mut |stage| told(stage, &path));
        match done {
            Ok(()) => Ok(made),
            Err(error) => Err(made.removed_after(error)),
        }
    }

    /// Makes the directories with their manifests.
    fn begin(spec: &MakeSpec, name: &str, stop: MakeStop) -> Result<Self, MakeError> {
        let above = needs::usable(spec.kind, &spec.directory)?;
        let journal_above = match spec.journal_directory() {
            Some(directory) => {
                Some(needs::usable(spec.kind, directory)?).filter(|journal| *journal != above)
            }
            None => None,
        };
        let id = new_id(&above, journal_above.as_deref());
        let [main_path, journal_path] = [Some(&above), journal_above.as_ref()]
            .map(|above| above.map(|above| above.join(format!("{PREFIX}{id}"))));
        let main_path = main_path.unwrap_or_default();
        let head = |part, other: Option<&PathBuf>| Head {
            format: FORMAT.to_owned(),
            id: id.clone(),
            process: std::process::id(),
            part,
            name: name.to_owned(),
            spec: spec.to_string(),
            directory: None,
            other: other.map(|other| other.clone().into()),
        };
        let main = Owned::create(&main_path, head(Part::FileSystem, journal_path.as_ref()))?;
        let mut made = Self {
            spec: spec.clone(),
            main,
            journal: None,
            stop,
            uuid: String::new(),
            journal_uuid: String::new(),
            facts: MadeFacts::new(spec),
            is_removed: false,
        };
        if let Some(path) = &journal_path {
            match Owned::create(path, head(Part::Journal, Some(&main_path))) {
                Ok(journal) => made.journal = Some(journal),
                Err(error) => return Err(made.removed_after(error)),
            }
        }
        Ok(made)
    }

    /// Makes images and all that lies on them.
    fn finish(&mut self, told: &mut dyn FnMut(MakeStage)) -> Result<(), MakeError> {
        told(MakeStage::Manifest);
        self.uuid = new_uuid()?;
        self.journal_uuid = new_uuid()?;
        self.main.create_directory(MOUNT)?;
        if self.spec.kind == FileSystemKind::Overlay {
            self.main.create_directory(BELOW)?;
        }
        if self.spec.kind.has_image() {
            allocate(&mut self.main, IMAGE, self.spec.size_bytes, &self.stop)?;
        }
        if let Some(journal) = &self.spec.journal {
            let owned = self.journal.as_mut().unwrap_or(&mut self.main);
            allocate(owned, JOURNAL, journal.size_bytes, &self.stop)?;
        }
        told(MakeStage::Images);
        self.record_tools();
        self.start(Images::New, told)
    }

    /// The directory in which targets lie: empty after [`Made::make`] and [`Made::remake`], the
    /// user's, with filler outside of it.
    pub fn directory(&self) -> PathBuf {
        self.main.directory.path().join(MOUNT).join("work")
    }

    /// What was asked.
    pub fn spec(&self) -> &MakeSpec {
        &self.spec
    }

    /// What was made, with what, and how.
    pub fn facts(&self) -> &MadeFacts {
        &self.facts
    }

    /// Looks whether it is still mounted, and nothing else on top.
    ///
    /// # Errors
    /// It is not.
    pub fn check(&self) -> Result<(), MakeError> {
        self.is_in_place()?;
        mounts::own(&self.main, MOUNT)?;
        let target = self.target();
        std::fs::metadata(&target).map_err(|error| MakeError::io("look at", &target, error))?;
        Ok(())
    }

    /// That runs find the file system by its path.
    fn is_in_place(&self) -> Result<(), MakeError> {
        let directory = &self.main.directory;
        if directory.is_in_place() {
            return Ok(());
        }
        Err(MakeError::new(format!(
            "another program has moved {} to {}, where no run finds it (leave it where it was \
             made)",
            directory.path().display(),
            directory.present().display()
        )))
    }

    /// The same as [`Made::directory`], wherever the directory is moved to.
    fn target(&self) -> PathBuf {
        self.main.directory.at(MOUNT).join("work")
    }

    /// From the next [`Made::remake`] on, filler takes that part of the usable space, or there is
    /// none.
    ///
    /// # Errors
    /// A percentage that cannot be reached.
    pub fn set_fullness(&mut self, percent: Option<u8>) -> Result<(), MakeError> {
        let fullness_percent = percent;
        let spec = MakeSpec {
            fullness_percent,
            ..self.spec.clone()
        };
        spec.validate()?;
        self.facts.spec = spec.to_string();
        self.spec = spec;
        Ok(())
    }

    /// Makes it again, empty, and fills it as asked: each run starts from the same state.
    ///
    /// # Errors
    /// Something uses it, mkfs or mount fails. A file system that another process has unmounted is
    /// made again all the same.
    pub fn remake(&mut self) -> Result<(), MakeError> {
        self.stop()?;
        self.start(Images::New, &mut |_| ())
    }

    /// Keeps its state (files, filler, layout of the blocks) under a name, so that later runs start
    /// from it. An earlier state of that name is replaced. It is unmounted for that and mounted
    /// again.
    ///
    /// # Errors
    /// Something uses it, there is no room for the copy, a name that cannot be one, or a kind
    /// without an image.
    pub fn save(&mut self, state: &str) -> Result<(), MakeError> {
        states::check_name(state)?;
        if !self.spec.kind.has_image() {
            return Err(MakeError::new(
                "a tmpfs has no states (use a kind of file system with an image)".to_owned(),
            ));
        }
        self.check()?;
        self.stop()?;
        let saved = self.save_images(state);
        let started = self.start(Images::Formatted, &mut |_| ());
        saved.and(started)
    }

    fn save_images(&mut self, state: &str) -> Result<(), MakeError> {
        states::save(&mut self.main, IMAGE, state, &self.stop)?;
        if self.spec.journal.is_none() {
            return Ok(());
        }
        let journal = self.journal.as_mut().unwrap_or(&mut self.main);
        let saved = states::save(journal, JOURNAL, state, &self.stop);
        if saved.is_err() {
            drop(self.main.discard(&saved_image(state)));
        }
        saved
    }

    /// Whether there is a saved state of that name.
    pub fn has_state(&self, state: &str) -> bool {
        states::check_name(state).is_ok() && self.main.has(&saved_image(state))
    }

    /// Brings a saved state back.
    ///
    /// # Errors
    /// There is no such state, or something uses the file system.
    pub fn restore(&mut self, state: &str) -> Result<(), MakeError> {
        if !self.has_state(state) {
            return Err(MakeError::new(format!(
                "no saved state '{state}' (save it first)"
            )));
        }
        self.stop()?;
        for (owned, image) in self.images() {
            states::restore(owned, image, state, self.spec.discard, &self.stop)?;
        }
        self.start(Images::Formatted, &mut |_| ())
    }

    /// Removes all of it: mounts, loop devices, images, saved states, manifests.
    ///
    /// # Errors
    /// What is left and why. `clean` removes it later.
    pub fn remove(mut self) -> Result<MadeRemoved, MakeError> {
        self.remove_all().complete()
    }

    fn remove_all(&mut self) -> MadeRemoved {
        self.is_removed = true;
        removal::remove(Some(&mut self.main), self.journal.as_mut())
    }

    /// Removes what was made before something failed.
    fn removed_after(mut self, error: MakeError) -> MakeError {
        match self.remove_all().complete() {
            Ok(_) => error,
            Err(removal) => error.and_left(&removal),
        }
    }

    /// The image, then the journal's, each in its directory.
    fn images(&self) -> Vec<(&Owned, &'static str)> {
        let image = self.spec.kind.has_image().then_some((&self.main, IMAGE));
        let journal = self.journal.as_ref().unwrap_or(&self.main);
        let journal = self.spec.journal.as_ref().map(|_| (journal, JOURNAL));
        image.into_iter().chain(journal).collect()
    }

    /// Does something with each image.
    fn each_image(&self, act: impl Fn(&Image) -> Result<(), MakeError>) -> Result<(), MakeError> {
        let mut images = self.images().into_iter();
        images.try_for_each(|(owned, image)| act(&owned.open_image(image)?))
    }

    /// Unmounts it, and gives the loop devices back.
    fn stop(&mut self) -> Result<(), MakeError> {
        for name in [MOUNT, BELOW] {
            mounts::unmount(&self.main, name)?;
        }
        for (owned, image) in self.images() {
            loops::release(owned, image)?;
        }
        Ok(())
    }

    /// The root of the file system that is filled: of an overlay, of what lies below.
    fn root(&self) -> PathBuf {
        match self.spec.kind {
            FileSystemKind::Overlay => self.main.directory.at(BELOW),
            _ => self.main.directory.at(MOUNT),
        }
    }
}

impl Drop for Made {
    /// The last resort: what fails here is found by `clean`.
    fn drop(&mut self) {
        if !self.is_removed {
            self.remove_all();
        }
    }
}

/// Makes an image.
fn allocate(owned: &mut Owned, image: &str, bytes: u64, stop: &MakeStop) -> Result<(), MakeError> {
    // Loop devices and file systems count in blocks of 4 KiB at least.
    let bytes = bytes.next_multiple_of(4096);
    blocks::allocate(&owned.create_image(image)?, bytes, stop)
}

fn saved_image(state: &str) -> String {
    saved(state, IMAGE)
}
