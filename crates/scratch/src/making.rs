//! A mounted scratch file system: functions that make it, restore its state for each run, and
//! remove it.

use std::path::{Path, PathBuf};

use crate::blocks::{self, Image};
use crate::directory::{BELOW, IMAGE, JOURNAL, MOUNT, PREFIX, saved};
use crate::error::MakeError;
use crate::facts::MadeFacts;
use crate::identifiers::{new_id, new_uuid};
use crate::kind::FileSystemKind;
use crate::manifest::{FORMAT, Head, Part};
use crate::mounts;
use crate::needs;
use crate::owned::Owned;
use crate::removal::{self, MadeRemoved};
use crate::spec::MakeSpec;
use crate::states;
use crate::still_used::StillUsed;
use crate::stop::MakeStop;

mod ending;
mod start;

/// Stages of making a scratch file system. Each stage is reported when it is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MakeStage {
    /// The manifest is on disk, and no image or mount exists yet.
    Manifest,
    /// All blocks of the images are written.
    Images,
    /// The loop devices over the images are set up.
    LoopDevices,
    /// mkfs has formatted the devices.
    Formatted,
    Mounted,
    /// The file system is filled to the requested level and ready.
    Ready,
}

/// The contents of the images when the file system is started.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Images {
    /// The images contain no file system, or one that may be overwritten. mkfs formats them.
    New,
    /// The images contain a file system, which is mounted unchanged.
    Formatted,
}

/// A mounted scratch file system. [`Made::remove`], or dropping the value, removes it.
///
/// The file system belongs to the process that made it: `clean` does not remove the file system
/// while that process, or a program that the process started, is running. No method may be called
/// while a run uses the target. If [`Made::remake`], [`Made::remount`], [`Made::save`] or
/// [`Made::restore`] fails, the file system may be unmounted. It can then be remade or removed.
#[derive(Debug)]
pub struct Made {
    spec: MakeSpec,
    main: Owned,
    /// The directory of the journal's image, if it is not the directory of the image.
    journal: Option<Owned>,
    stop: MakeStop,
    uuid: String,
    journal_uuid: String,
    facts: MadeFacts,
    still_used: Vec<StillUsed>,
    is_removed: bool,
}

impl Made {
    /// Makes and mounts a file system. The caller chooses `name`, which is stored in the manifest.
    ///
    /// The call takes as long as writing the whole image and running mkfs.
    ///
    /// # Errors
    /// Returns an error if a requirement is not met or a stage fails. The error lists everything
    /// that could not be removed.
    pub fn make(spec: &MakeSpec, name: &str) -> Result<Self, MakeError> {
        Self::make_with(spec, name, MakeStop::default(), &mut |_, _| ())
    }

    /// Works like [`Made::make`], but a signal can end it. `told` receives each stage and the
    /// directory of the file system.
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

    /// Creates the directories of the file system and of its external journal, with their
    /// manifests.
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
            still_used: Vec::new(),
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

    /// Creates the images, and starts the file system on these images.
    fn finish(&mut self, told: &mut dyn FnMut(MakeStage)) -> Result<(), MakeError> {
        told(MakeStage::Manifest);
        self.main.create_directory(MOUNT)?;
        if self.spec.kind == FileSystemKind::Overlay {
            self.main.create_directory(BELOW)?;
        }
        self.create_images()?;
        told(MakeStage::Images);
        self.record_tools();
        self.start(Images::New, told)
    }

    /// Creates the images, for a file system with new UUIDs.
    fn create_images(&mut self) -> Result<(), MakeError> {
        self.uuid = new_uuid()?;
        self.journal_uuid = new_uuid()?;
        if self.spec.kind.has_image() {
            allocate(&mut self.main, IMAGE, self.spec.size_bytes, &self.stop)?;
        }
        if let Some(journal) = &self.spec.journal {
            let owned = self.journal.as_mut().unwrap_or(&mut self.main);
            allocate(owned, JOURNAL, journal.size_bytes, &self.stop)?;
        }
        Ok(())
    }

    /// Returns the directory for targets of runs, which is empty after [`Made::make`] and
    /// [`Made::remake`], and belongs to the user. Filler files are outside of it.
    pub fn directory(&self) -> PathBuf {
        self.main.directory.path().join(MOUNT).join("work")
    }

    pub fn spec(&self) -> &MakeSpec {
        &self.spec
    }

    pub fn facts(&self) -> &MadeFacts {
        &self.facts
    }

    /// Checks that the file system is mounted, and that no other mount covers its mount point.
    pub fn check(&self) -> Result<(), MakeError> {
        self.is_in_place()?;
        mounts::own(&self.main, MOUNT)?;
        let target = self.target();
        std::fs::metadata(&target).map_err(|error| MakeError::io("look at", &target, error))?;
        Ok(())
    }

    /// Checks that the original path of the directory still leads to this file system. Runs use
    /// this path.
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

    /// Returns the same directory as [`Made::directory`], by a path that is valid even if the
    /// directory is moved.
    fn target(&self) -> PathBuf {
        self.main.directory.at(MOUNT).join("work")
    }

    /// Sets the fill level as a percentage of the usable space; `None` means no filler. The level
    /// takes effect at the next [`Made::remake`].
    ///
    /// # Errors
    /// Returns an error if the percentage is not valid.
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

    /// Formats and fills the file system, so that each run starts from the same state. Also works
    /// if another process has unmounted the file system.
    ///
    /// # Errors
    /// Returns an error if the file system is in use, or if mkfs or mount fails.
    pub fn remake(&mut self) -> Result<(), MakeError> {
        self.stop_for_new_contents()?;
        self.start(Images::New, &mut |_| ())
    }

    /// Unmounts and mounts the file system with its files, so that the kernel caches none of them.
    ///
    /// # Errors
    /// Returns an error if the file system is in use, or if it has no image: a tmpfs would lose its
    /// files.
    pub fn remount(&mut self) -> Result<(), MakeError> {
        if !self.spec.kind.has_image() {
            return Err(MakeError::new(
                "a tmpfs cannot be remounted with its files (use a kind of file system with an \
                 image)"
                    .to_owned(),
            ));
        }
        self.check()?;
        self.stop_with_contents()?;
        self.start(Images::Formatted, &mut |_| ())
    }

    /// Saves the state of the file system (files, filler and block layout) under a name, so that
    /// later runs can start from it. Replaces an earlier state with the same name. The file system
    /// is unmounted for the copy, and then mounted.
    ///
    /// # Errors
    /// Returns an error if the file system is in use or has no image. Also returns an error if the
    /// name is invalid, or if the file system below lacks space for the copy.
    pub fn save(&mut self, state: &str) -> Result<(), MakeError> {
        states::check_name(state)?;
        if !self.spec.kind.has_image() {
            return Err(MakeError::new(
                "a tmpfs has no states (use a kind of file system with an image)".to_owned(),
            ));
        }
        self.check()?;
        self.stop_with_contents()?;
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

    pub fn has_state(&self, state: &str) -> bool {
        states::check_name(state).is_ok() && self.main.has(&saved_image(state))
    }

    /// Restores the state that was saved under this name.
    ///
    /// # Errors
    /// Returns an error if the state does not exist, or if the file system is in use.
    pub fn restore(&mut self, state: &str) -> Result<(), MakeError> {
        if !self.has_state(state) {
            return Err(MakeError::new(format!(
                "no saved state '{state}' (save it first)"
            )));
        }
        self.stop_for_new_contents()?;
        for (owned, image) in self.images() {
            states::restore(owned, image, state, self.spec.discard, &self.stop)?;
        }
        self.start(Images::Formatted, &mut |_| ())
    }

    /// Removes the file system with its mounts, loop devices, images, saved states and manifests.
    ///
    /// # Errors
    /// Returns an error that lists everything that could not be removed, and why. `clean` can
    /// remove the rest later.
    pub fn remove(mut self) -> Result<MadeRemoved, MakeError> {
        self.remove_all().complete()
    }

    fn remove_all(&mut self) -> MadeRemoved {
        self.is_removed = true;
        removal::remove(Some(&mut self.main), self.journal.as_mut())
    }

    /// Removes everything that was made before the error, and returns the error.
    fn removed_after(mut self, error: MakeError) -> MakeError {
        match self.remove_all().complete() {
            Ok(_) => error,
            Err(removal) => error.and_left(&removal),
        }
    }

    /// Returns the image, and then the image of the journal, each with its directory.
    fn images(&self) -> Vec<(&Owned, &'static str)> {
        let image = self.spec.kind.has_image().then_some((&self.main, IMAGE));
        let journal = self.journal.as_ref().unwrap_or(&self.main);
        let journal = self.spec.journal.as_ref().map(|_| (journal, JOURNAL));
        image.into_iter().chain(journal).collect()
    }

    fn each_image(&self, act: impl Fn(&Image) -> Result<(), MakeError>) -> Result<(), MakeError> {
        let mut images = self.images().into_iter();
        images.try_for_each(|(owned, image)| act(&owned.open_image(image)?))
    }

    /// Returns the root in which the filler files are created; for an overlay, this is the ext4
    /// below.
    fn root(&self) -> PathBuf {
        match self.spec.kind {
            FileSystemKind::Overlay => self.main.directory.at(BELOW),
            _ => self.main.directory.at(MOUNT),
        }
    }
}

impl Drop for Made {
    /// Removes the file system if [`Made::remove`] was not called. `clean` can later remove what
    /// remains.
    fn drop(&mut self) {
        if !self.is_removed {
            self.remove_all();
        }
    }
}

/// Creates an image and allocates its blocks.
fn allocate(owned: &mut Owned, image: &str, bytes: u64, stop: &MakeStop) -> Result<(), MakeError> {
    // The size is rounded up, because loop devices and file systems use blocks of at least 4 KiB.
    let bytes = bytes.next_multiple_of(4096);
    blocks::allocate(&owned.create_image(image)?, bytes, stop)
}

fn saved_image(state: &str) -> String {
    saved(state, IMAGE)
}
