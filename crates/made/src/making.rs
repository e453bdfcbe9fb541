//! A made file system: making it, the same state for each run, and removing it.

use std::fs::File;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use observe::Fact;

use crate::blocks;
use crate::directory::{MadeDirectory, PREFIX};
use crate::error::MakeError;
use crate::facts::{MadeFacts, ToolFacts};
use crate::filler;
use crate::kind::FileSystemKind;
use crate::loops::{self, Attached};
use crate::manifest::{FORMAT, Manifest, Part};
use crate::mkfs::{self, Devices};
use crate::mounts::{self, MountPlan};
use crate::needs;
use crate::removal::{self, Held, MadeRemoved};
use crate::spec::MakeSpec;
use crate::states;
use crate::tool::{self, Around};

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

/// A file system that was made and is mounted. It is removed by [`Made::remove`], and when it is dropped.
///
/// It belongs to the process that made it: while that lives, or a program that it started, `clean` leaves it alone.
/// No method may be called while a run uses the target. Where [`Made::remake`], [`Made::save`] or [`Made::restore`] fail, the
/// file system may not be mounted; it can be remade or removed.
#[derive(Debug)]
pub struct Made {
    spec: MakeSpec,
    name: String,
    directory: MadeDirectory,
    lock: File,
    /// The journal's directory, where it is not that of the image.
    journal: Option<(MadeDirectory, File)>,
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
        Self::make_with(spec, name, &mut |_| ())
    }

    /// The same, and tells how far it has come.
    ///
    /// # Errors
    /// As [`Made::make`].
    pub fn make_with(spec: &MakeSpec, name: &str, told: &mut dyn FnMut(MakeStage)) -> Result<Self, MakeError> {
        spec.validate()?;
        spec.check()?;
        let mut made = Self::begin(spec, name)?;
        let done = made.finish(told);
        match done {
            Ok(()) => Ok(made),
            Err(error) => Err(made.removed_after(error)),
        }
    }

    /// Makes the directories with their manifests.
    fn begin(spec: &MakeSpec, name: &str) -> Result<Self, MakeError> {
        let above = needs::usable(spec.kind, &spec.directory)?;
        let journal_above = match spec.journal_directory() {
            Some(directory) => Some(needs::usable(spec.kind, directory)?).filter(|journal| *journal != above),
            None => None,
        };
        let id = new_id(&above, journal_above.as_deref());
        let [main_path, journal_path] =
            [Some(&above), journal_above.as_ref()].map(|above| above.map(|above| above.join(format!("{PREFIX}{id}"))));
        let main_path = main_path.unwrap_or_default();
        let manifest = |part, other: Option<&PathBuf>| Manifest {
            format: FORMAT.to_owned(),
            id: id.clone(),
            process: std::process::id(),
            part,
            name: name.to_owned(),
            spec: spec.to_string(),
            directory_inode: 0,
            other: other.cloned(),
        };
        let (directory, lock) = marked(&main_path, manifest(Part::FileSystem, journal_path.as_ref()))?;
        let mut made = Self {
            spec: spec.clone(),
            name: name.to_owned(),
            directory,
            lock,
            journal: None,
            uuid: String::new(),
            journal_uuid: String::new(),
            facts: MadeFacts::new(spec),
            is_removed: false,
        };
        if let Some(path) = &journal_path {
            match marked(path, manifest(Part::Journal, Some(&main_path))) {
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
        let mut points = vec![self.directory.mount()];
        points.extend((self.spec.kind == FileSystemKind::Overlay).then(|| self.directory.below()));
        for point in points {
            make_directory(&point, 0o755)?;
        }
        if self.spec.kind.has_image() {
            blocks::allocate(&self.directory.image(), whole_blocks(self.spec.size_bytes))?;
        }
        if let Some(journal) = &self.spec.journal {
            blocks::allocate(&self.journal_directory().journal(), whole_blocks(journal.size_bytes))?;
        }
        told(MakeStage::Images);
        self.facts.tools = tools(self.spec.kind);
        self.start(Images::New, told)
    }

    /// The directory in which targets lie: empty after [`Made::make`] and [`Made::remake`], the user's, with filler outside of
    /// it.
    pub fn directory(&self) -> PathBuf {
        self.directory.mount().join("work")
    }

    /// What was asked.
    pub fn spec(&self) -> &MakeSpec {
        &self.spec
    }

    /// What its maker calls it.
    pub fn name(&self) -> &str {
        &self.name
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
        mounts::own(&self.directory.mount(), &self.directory)?;
        let target = self.directory();
        std::fs::metadata(&target).map_err(|error| MakeError::io("look at", &target, error))?;
        Ok(())
    }

    /// From the next [`Made::remake`] on, filler takes that part of the usable space, or there is none.
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
    /// Something uses it, mkfs or mount fails. A file system that another process has unmounted is made again all the same.
    pub fn remake(&mut self) -> Result<(), MakeError> {
        self.stop()?;
        self.start(Images::New, &mut |_| ())
    }

    /// Keeps its state (files, filler, layout of the blocks) under a name, so that later runs start from it. An earlier state of
    /// that name is replaced. It is unmounted for that and mounted again.
    ///
    /// Of a tmpfs the target's files are copied, and filler is made again when they are restored.
    ///
    /// # Errors
    /// Something uses it, there is no room for the copy, or a name that cannot be one.
    pub fn save(&mut self, state: &str) -> Result<(), MakeError> {
        states::check_name(state)?;
        self.check()?;
        if !self.spec.kind.has_image() {
            let tree = self.directory.saved(state, "tree");
            return states::copy_tree(&self.directory(), &tree, self.around());
        }
        self.stop()?;
        let saved = states::save(&self.images(state));
        let started = self.start(Images::Formatted, &mut |_| ());
        saved.and(started)
    }

    /// Whether there is a saved state of that name.
    pub fn has_state(&self, state: &str) -> bool {
        let part = if self.spec.kind.has_image() { "image" } else { "tree" };
        states::check_name(state).is_ok() && self.directory.saved(state, part).exists()
    }

    /// Brings a saved state back.
    ///
    /// # Errors
    /// There is no such state, or something uses the file system.
    pub fn restore(&mut self, state: &str) -> Result<(), MakeError> {
        if !self.has_state(state) {
            return Err(MakeError::NoState(state.to_owned()));
        }
        self.stop()?;
        if self.spec.kind.has_image() {
            states::restore(&self.images(state), self.spec.discard)?;
            return self.start(Images::Formatted, &mut |_| ());
        }
        self.start(Images::New, &mut |_| ())?;
        let (tree, target) = (self.directory.saved(state, "tree"), self.directory());
        states::copy_tree(&tree, &target, self.around())
    }

    /// Removes all of it: mounts, loop devices, images, saved states, manifests.
    ///
    /// # Errors
    /// What is left and why. `clean` removes it later.
    pub fn remove(mut self) -> Result<MadeRemoved, MakeError> {
        removal::complete(self.remove_all())
    }

    fn remove_all(&mut self) -> MadeRemoved {
        self.is_removed = true;
        let main = Held {
            directory: &self.directory,
            lock: &self.lock,
        };
        let journal = self.journal.as_ref().map(|(directory, lock)| Held { directory, lock });
        removal::remove(Some(main), journal)
    }

    /// Removes what was made before something failed.
    fn removed_after(mut self, error: MakeError) -> MakeError {
        match removal::complete(self.remove_all()) {
            Ok(_) => error,
            Err(removal) => MakeError::AndLeft {
                error: Box::new(error),
                removal: Box::new(removal),
            },
        }
    }

    fn around(&self) -> Around<'_> {
        Around {
            lock: &self.lock,
            directory: self.directory.path(),
        }
    }

    fn journal_directory(&self) -> &MadeDirectory {
        self.journal
            .as_ref()
            .map_or(&self.directory, |(directory, _)| directory)
    }

    fn images(&self, state: &str) -> Vec<states::SavedImage> {
        let journal = self.spec.journal.as_ref().map(|_| self.journal_directory());
        states::images(&self.directory, journal, state)
    }

    /// Unmounts it, and gives the loop devices back.
    fn stop(&mut self) -> Result<(), MakeError> {
        for at in [self.directory.mount(), self.directory.below()] {
            mounts::unmount(&at, &self.directory, self.around())?;
        }
        for image in self.image_paths() {
            loops::release(&image, self.around())?;
        }
        Ok(())
    }

    /// Sets up the loop devices, formats and mounts.
    fn start(&mut self, images: Images, told: &mut dyn FnMut(MakeStage)) -> Result<(), MakeError> {
        self.facts.mount_commands.clear();
        if images == Images::New {
            for image in self.image_paths() {
                blocks::wipe(&image)?;
            }
        }
        let devices = self.attach()?;
        told(MakeStage::LoopDevices);
        if images == Images::New {
            self.format(&devices)?;
        }
        told(MakeStage::Formatted);
        self.mount(&devices)?;
        for attached in &devices {
            loops::clear_at_last_close(&attached.device, self.around())?;
        }
        told(MakeStage::Mounted);
        let root = self.root();
        if images == Images::New || !self.spec.kind.has_image() {
            self.facts.usable_bytes = filler::usable_bytes(&root);
            let target = self.directory();
            make_directory(&target, 0o755)?;
            let (user, group) = (rustix::process::getuid(), rustix::process::getgid());
            std::os::unix::fs::chown(&target, Some(user.as_raw()), Some(group.as_raw()))
                .map_err(|error| MakeError::io("change the owner of", &target, error))?;
            self.facts.fullness_percent = match self.spec.fullness_percent {
                Some(percent) => filler::fill(&root, percent)?,
                None => Fact::NotApplicable,
            };
        }
        self.forget_pages(&root)?;
        self.facts.look(&self.directory, &devices);
        told(MakeStage::Ready);
        Ok(())
    }

    /// What is written is on the images, and the images are not in the page cache.
    fn forget_pages(&self, root: &Path) -> Result<(), MakeError> {
        filler::sync(root)?;
        self.image_paths().iter().try_for_each(|image| blocks::forget(image))
    }

    /// The image, and the journal's.
    fn image_paths(&self) -> Vec<PathBuf> {
        let image = self.spec.kind.has_image().then(|| self.directory.image());
        let journal = self.spec.journal.as_ref().map(|_| self.journal_directory().journal());
        image.into_iter().chain(journal).collect()
    }

    /// The root of the file system that is filled: of an overlay, of what lies below.
    fn root(&self) -> PathBuf {
        match self.spec.kind {
            FileSystemKind::Overlay => self.directory.below(),
            _ => self.directory.mount(),
        }
    }

    /// Loop devices over the images: the file system's, then the journal's.
    fn attach(&self) -> Result<Vec<Attached>, MakeError> {
        let images = self.image_paths();
        let attached = images
            .iter()
            .map(|image| loops::attach(image, self.spec.direct, self.around()));
        attached.collect()
    }

    fn format(&mut self, devices: &[Attached]) -> Result<(), MakeError> {
        let Some(image) = devices.first() else {
            return Ok(());
        };
        let devices = Devices {
            image: &image.device,
            journal: devices.get(1).map(|journal| journal.device.as_str()),
            uuid: &self.uuid,
            journal_uuid: &self.journal_uuid,
        };
        let mut lines = Vec::new();
        for (program, words) in mkfs::commands(&self.spec, &devices) {
            lines.push(tool::command_line(program, &words));
            tool::run(program, words, Some(self.around()), tool::LONG)?;
        }
        self.facts.mkfs_commands = lines;
        Ok(())
    }

    fn mount(&mut self, devices: &[Attached]) -> Result<(), MakeError> {
        let source = self.directory.source();
        let (mount, root) = (self.directory.mount(), self.root());
        if let Some(image) = devices.first() {
            let options = mkfs::mount_options(&self.spec, devices.get(1).map(|journal| journal.device.as_str()));
            self.mount_one(self.spec.kind.on_image(), &options, &image.device, &root)?;
        } else {
            let mut options = self.spec.mount_options.clone();
            options.push(format!("size={}", self.spec.size_bytes));
            self.mount_one(self.spec.kind, &options, &source, &mount)?;
        }
        if self.spec.kind == FileSystemKind::Overlay {
            let mut options = self.spec.mount_options.clone();
            for (option, name) in [
                ("lowerdir", "lower"),
                ("upperdir", "upper"),
                ("workdir", "overlay-work"),
            ] {
                let layer = root.join(name);
                if !layer.exists() {
                    make_directory(&layer, 0o755)?;
                }
                options.push(format!("{option}={}", layer.display()));
            }
            self.mount_one(FileSystemKind::Overlay, &options, &source, &mount)?;
        }
        Ok(())
    }

    fn mount_one(
        &mut self,
        kind: FileSystemKind,
        options: &[String],
        source: &str,
        at: &Path,
    ) -> Result<(), MakeError> {
        let plan = MountPlan {
            kind: kind.name(),
            options,
            source,
            at,
        };
        let line = mounts::mount(&plan, self.around())?;
        self.facts.mount_commands.push(line);
        mounts::own(at, &self.directory)?;
        Ok(())
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

/// Makes a directory with its manifest.
fn marked(path: &Path, mut manifest: Manifest) -> Result<(MadeDirectory, File), MakeError> {
    make_directory(path, 0o711)?;
    let directory = MadeDirectory::new(path.to_owned());
    let written = std::fs::symlink_metadata(path)
        .map_err(|error| MakeError::io("look at", path, error))
        .and_then(|facts| {
            manifest.directory_inode = facts.ino();
            manifest.create(&directory)
        });
    match written {
        Ok(lock) => Ok((directory, lock)),
        Err(error) => {
            // It has the manifest at most, and that is not whole.
            removal::remove_unfinished(&directory);
            Err(error)
        }
    }
}

fn make_directory(path: &Path, mode: u32) -> Result<(), MakeError> {
    let made = std::fs::DirBuilder::new().mode(mode).create(path);
    made.map_err(|error| MakeError::io("create the directory", path, error))
}

/// `SECOND-PROCESS-N`: the first that is free in both directories.
fn new_id(above: &Path, journal_above: Option<&Path>) -> String {
    let second = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_secs());
    // Threads that make several at once do not take the same number.
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let numbers = std::iter::repeat_with(|| NEXT.fetch_add(1, Ordering::Relaxed));
    let ids = numbers.map(|number| format!("{second}-{}-{number}", std::process::id()));
    let is_taken = |above: &Path, id: &str| above.join(format!("{PREFIX}{id}")).symlink_metadata().is_ok();
    let mut free = ids.filter(|id| !is_taken(above, id) && !journal_above.is_some_and(|above| is_taken(above, id)));
    free.next().unwrap_or_default()
}

fn new_uuid() -> Result<String, MakeError> {
    const UUID: &str = "/proc/sys/kernel/random/uuid";
    let text = std::fs::read_to_string(UUID).map_err(|error| MakeError::io("read", Path::new(UUID), error))?;
    Ok(text.trim().to_owned())
}

/// Loop devices and file systems count in blocks of 4 KiB at least.
fn whole_blocks(bytes: u64) -> u64 {
    bytes.next_multiple_of(4096)
}

fn tools(kind: FileSystemKind) -> Vec<ToolFacts> {
    let names = needs::programs(kind)
        .into_iter()
        .map(|(name, _)| name)
        .filter(|name| *name != "cp");
    names
        .map(|name| ToolFacts {
            name: name.to_owned(),
            version: match tool::version(name) {
                Ok(version) => Fact::Known(version),
                Err(error) => Fact::Unavailable(error.to_string()),
            },
        })
        .collect()
}
