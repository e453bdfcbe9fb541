//! Starts a file system on its images: sets up loop devices, runs mkfs, mounts, and adds filler.

use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use system::Fact;

use super::{Images, Made, MakeStage};
use crate::blocks;
use crate::directory::{BELOW, MOUNT};
use crate::error::MakeError;
use crate::facts::ToolFacts;
use crate::filler;
use crate::kind::FileSystemKind;
use crate::loops::{self, Attached};
use crate::mkfs::{self, Devices};
use crate::mounts::{self, MountPlan};
use crate::needs;
use crate::tool;

impl Made {
    /// Records the versions of the programs that make the file system.
    pub(super) fn record_tools(&mut self) {
        let names = needs::programs(self.spec.kind).into_iter();
        self.facts.tools = names
            .map(|(name, _)| ToolFacts {
                name: name.to_owned(),
                version: tool::version(name).into(),
            })
            .collect();
    }

    /// Sets up the loop devices, formats them if the images are new, and mounts the file system. In
    /// a new file system, also creates the target directory and the filler files.
    pub(super) fn start(
        &mut self,
        images: Images,
        told: &mut dyn FnMut(MakeStage),
    ) -> Result<(), MakeError> {
        self.is_in_place()?;
        self.facts.mount_commands.clear();
        if images == Images::New {
            self.each_image(blocks::wipe)?;
        }
        let devices = self.attach()?;
        told(MakeStage::LoopDevices);
        if images == Images::New {
            self.format(&devices)?;
        }
        told(MakeStage::Formatted);
        self.mount(&devices)?;
        for attached in &devices {
            loops::clear_at_last_close(&attached.device, self.main.around(None))?;
        }
        told(MakeStage::Mounted);
        let root = self.root();
        if images == Images::New || !self.spec.kind.has_image() {
            let target = self.target();
            make_directory(&target, 0o755)?;
            let (user, group) = (rustix::process::getuid(), rustix::process::getgid());
            std::os::unix::fs::chown(&target, Some(user.as_raw()), Some(group.as_raw()))
                .map_err(|error| MakeError::io("change the owner of", &target, error))?;
            self.facts.fullness_percent = match self.spec.fullness_percent {
                Some(percent) => filler::fill(&root, percent, &self.stop)?,
                None => Fact::NotApplicable,
            };
        }
        // Writes all data to the images, and drops the images from the page cache, so that runs
        // start alike.
        filler::sync(&root)?;
        self.each_image(blocks::written)?;
        self.facts.look(&self.main, &devices);
        told(MakeStage::Ready);
        Ok(())
    }

    /// Sets up a loop device over each image: first the file system's, then the journal's.
    fn attach(&self) -> Result<Vec<Attached>, MakeError> {
        let images = self.images().into_iter();
        let attached =
            images.map(|(owned, image)| loops::attach(owned, image, self.spec.direct, &self.stop));
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
            tool::run(
                program,
                words,
                Some(self.main.around(Some(&self.stop))),
                tool::LONG,
            )?;
        }
        self.facts.mkfs_commands = lines;
        Ok(())
    }

    fn mount(&mut self, devices: &[Attached]) -> Result<(), MakeError> {
        let (kind, source) = (self.spec.kind, self.main.source());
        if let Some(image) = devices.first() {
            let at = if kind == FileSystemKind::Overlay {
                BELOW
            } else {
                MOUNT
            };
            let options = mkfs::mount_options(
                &self.spec,
                devices.get(1).map(|journal| journal.device.as_str()),
            );
            self.mount_one(kind.on_image(), &options, &image.device, at)?;
        } else {
            let mut options = self.spec.mount_options.clone();
            options.push(format!("size={}", self.spec.size_bytes));
            self.mount_one(kind, &options, &source, MOUNT)?;
        }
        if kind == FileSystemKind::Overlay {
            let mut options = self.spec.mount_options.clone();
            for (option, name) in [
                ("lowerdir", "lower"),
                ("upperdir", "upper"),
                ("workdir", "overlay-work"),
            ] {
                let layer = self.root().join(name);
                if !layer.exists() {
                    make_directory(&layer, 0o755)?;
                }
                // The paths of the layers are relative to the directory in which mount runs.
                options.push(format!("{option}={BELOW}/{name}"));
            }
            self.mount_one(kind, &options, &source, MOUNT)?;
        }
        Ok(())
    }

    fn mount_one(
        &mut self,
        kind: FileSystemKind,
        options: &[String],
        source: &str,
        at: &str,
    ) -> Result<(), MakeError> {
        let plan = MountPlan {
            kind: kind.name(),
            options,
            source,
            at,
        };
        let line = mounts::mount(&plan, &self.main, &self.stop)?;
        self.facts.mount_commands.push(line);
        mounts::own(&self.main, at)?;
        Ok(())
    }
}

fn make_directory(path: &Path, mode: u32) -> Result<(), MakeError> {
    let made = std::fs::DirBuilder::new().mode(mode).create(path);
    made.map_err(|error| MakeError::io("create the directory", path, error))
}
