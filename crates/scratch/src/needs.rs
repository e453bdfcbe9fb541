//! Requirements of a scratch file system, checked before anything is made.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD};
use system::{Fact, Space};

use crate::error::MakeError;
use crate::kind::FileSystemKind;
use crate::spec::MakeSpec;
use crate::tool;

/// Space that a scratch file system needs in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoomNeed {
    /// The directory, with symbolic links resolved.
    pub directory: PathBuf,
    pub bytes: u64,
    /// Free bytes of the file system that contains the directory; `u64::MAX` if it has no size
    /// limit.
    pub available_bytes: u64,
    /// Device number of the directory (`st_dev` of stat(2)). Directories with the same device
    /// number share their free space.
    pub device: u64,
    /// Maximum number of bytes that each saved state needs in the directory.
    pub state_bytes_max: u64,
}

/// Requirements of a scratch file system on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MakeNeeds {
    /// The needed space in the directory of the image and, if it is another one, in that of the
    /// external journal.
    pub room: Vec<RoomNeed>,
    /// Bytes of memory that a tmpfs occupies when it is full; 0 for other kinds.
    pub memory_bytes: u64,
}

/// Space in bytes for the directory, the manifest and metadata, in addition to the image.
const BESIDE_BYTES: u64 = 1 << 20;

impl MakeSpec {
    /// Checks whether the file system can be made on this machine, without making anything. The
    /// check may load a kernel module.
    ///
    /// # Errors
    /// Returns the first requirement that is not met as an error.
    pub fn check(&self) -> Result<MakeNeeds, MakeError> {
        let kind = self.kind;
        if !rustix::process::geteuid().is_root() {
            let actions = if kind.has_image() {
                "setting up loop devices and mounting"
            } else {
                "mounting"
            };
            return Err(MakeError::new(format!(
                "cannot make {kind}: {actions} needs root (run as root, or use a directory of a \
                 mounted file system)"
            )));
        }
        for (program, package) in programs(kind) {
            if tool::find(program).is_none() {
                return Err(MakeError::new(format!(
                    "cannot make {kind}: {program} is not installed (install the package \
                     {package})"
                )));
            }
        }
        for of_kernel in [kind, kind.on_image()] {
            has_file_system(of_kernel)?;
        }
        if kind.has_image() {
            has_loops(kind)?;
        }
        Ok(MakeNeeds {
            room: self.room()?,
            memory_bytes: if kind.has_image() { 0 } else { self.size_bytes },
        })
    }

    /// Determines the needed space of each directory. The image and the journal may be in the same
    /// directory.
    fn room(&self) -> Result<Vec<RoomNeed>, MakeError> {
        let kind = self.kind;
        let image_bytes = if kind.has_image() { self.size_bytes } else { 0 };
        let mut needs: BTreeMap<PathBuf, u64> = BTreeMap::new();
        *needs.entry(usable(kind, &self.directory)?).or_default() += image_bytes;
        if let (Some(journal), Some(directory)) = (&self.journal, self.journal_directory()) {
            *needs.entry(usable(kind, directory)?).or_default() += journal.size_bytes;
        }
        let mut room = Vec::new();
        let mut by_device: BTreeMap<u64, u64> = BTreeMap::new();
        for (directory, bytes) in needs {
            let refused = |answer: String| unusable(kind, &directory, &answer);
            let device = std::fs::metadata(&directory)
                .map_err(|error| refused(error.to_string()))?
                .dev();
            let available_bytes =
                match Space::read(&directory).and_then(|space| space.available_bytes) {
                    Fact::Known(bytes) => bytes,
                    // The file system has no size limit.
                    Fact::NotApplicable => u64::MAX,
                    Fact::Unavailable(why) => return Err(refused(why)),
                };
            let needed = by_device.entry(device).or_default();
            *needed += bytes + BESIDE_BYTES;
            if *needed > available_bytes {
                return Err(MakeError::no_room(format!(
                    "no room for {kind} in {}: {needed} bytes needed, {available_bytes} available \
                     (make room, use a smaller size, or in=DIRECTORY)",
                    directory.display()
                )));
            }
            room.push(RoomNeed {
                directory,
                bytes: bytes + BESIDE_BYTES,
                available_bytes,
                device,
                state_bytes_max: if kind.has_image() { bytes } else { 0 },
            });
        }
        Ok(room)
    }
}

/// Returns the programs that making this kind requires, each with its Debian package.
pub(crate) fn programs(kind: FileSystemKind) -> Vec<(&'static str, &'static str)> {
    let mut programs = vec![("mount", "mount")];
    programs.extend(kind.mkfs());
    if kind == FileSystemKind::Nilfs2 {
        programs.push(("umount", "mount"));
    }
    if kind.has_image() {
        programs.push(("losetup", "mount"));
    }
    programs
}

fn has_file_system(kind: FileSystemKind) -> Result<(), MakeError> {
    let is_there = || {
        let list = std::fs::read_to_string("/proc/filesystems").unwrap_or_default();
        list.lines()
            .any(|line| line.split_whitespace().last() == Some(kind.name()))
    };
    if is_there() {
        return Ok(());
    }
    let why = match tool::run("modprobe", ["--", kind.name()], None, tool::SHORT) {
        Ok(_) if is_there() => return Ok(()),
        Ok(_) => "/proc/filesystems does not list it".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(MakeError::new(format!(
        "cannot make {kind}: the kernel does not have it ({why}; use another kind, or another \
         kernel)"
    )))
}

fn has_loops(kind: FileSystemKind) -> Result<(), MakeError> {
    const CONTROL: &str = "/dev/loop-control";
    let may = || may(Path::new(CONTROL), Access::READ_OK | Access::WRITE_OK);
    if may().is_err() {
        // A failure of modprobe is ignored, because the next check reports that there is still no
        // device.
        drop(tool::run("modprobe", ["--", "loop"], None, tool::SHORT));
    }
    may().map_err(|answer| {
        MakeError::new(format!(
            "cannot make {kind}: no loop device: {CONTROL}: {answer} (load the module loop, or \
             let the container use /dev/loop*)"
        ))
    })
}

/// Checks that this user has the permissions `access` for a file or directory.
fn may(path: &Path, access: Access) -> rustix::io::Result<()> {
    rustix::fs::accessat(CWD, path, access, AtFlags::EACCESS)
}

fn unusable(kind: FileSystemKind, directory: &Path, answer: &str) -> MakeError {
    MakeError::new(format!(
        "cannot make {kind} in {}: {answer} (use in=DIRECTORY)",
        directory.display()
    ))
}

/// Resolves the path of a directory for images. Fails if another user could replace the directory.
/// This program runs as root, and would then work in a directory of that user.
pub(crate) fn usable(kind: FileSystemKind, directory: &Path) -> Result<PathBuf, MakeError> {
    let refused = |answer: String| unusable(kind, directory, &answer);
    let real = std::fs::canonicalize(directory).map_err(|error| refused(error.to_string()))?;
    let user = rustix::process::geteuid().as_raw();
    for above in real.ancestors() {
        let facts = std::fs::metadata(above).map_err(|error| refused(error.to_string()))?;
        if !facts.is_dir() {
            return Err(refused("not a directory".into()));
        }
        let mode = facts.permissions().mode();
        let is_others = facts.uid() != 0 && facts.uid() != user;
        if is_others || (mode & 0o022 != 0 && mode & 0o1000 == 0) {
            return Err(MakeError::new(format!(
                "cannot make {kind} in {}: another user can rename {} (use a directory that only \
                 root can change, or /var/tmp)",
                directory.display(),
                above.display()
            )));
        }
    }
    may(&real, Access::WRITE_OK | Access::EXEC_OK).map_err(|error| refused(error.to_string()))?;
    Ok(real)
}
