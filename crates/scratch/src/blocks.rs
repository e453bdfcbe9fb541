//! Image files: functions that allocate, write, copy and restore them in full.
//!
//! A new image is written with zeros once. If its blocks were only allocated, each first write of a
//! run would cost more: the file system below would record in its journal that the block was
//! written.
//!
//! A state is saved as a copy of the image. Restoring a state writes only the chunks of 1 MiB in
//! which the image differs from the copy. Reflinks, which share blocks between copy and image,
//! would be faster. But then each first write of a run would allocate blocks in the file system
//! below.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Advice, FallocateFlags, IFlags};
use rustix::io::Errno;

use crate::error::MakeError;
use crate::held_path::shown;
use crate::stop::MakeStop;

const CHUNK_BYTES: usize = 1 << 20;

/// An open image, with its path for messages.
pub(crate) struct Image {
    pub(crate) file: File,
    pub(crate) path: PathBuf,
}

/// Allocates all blocks of an empty file, and then writes zeros to these blocks. The allocation
/// precedes the writing, so that a lack of free space is detected at once.
pub(crate) fn allocate(image: &Image, bytes: u64, stop: &MakeStop) -> Result<(), MakeError> {
    let Image { file, path } = image;
    // Without the flag NOCOW, a copy-on-write file system would allocate new blocks for each write.
    // Other file systems do not support the flag, so an error is ignored.
    if let Ok(flags) = rustix::fs::ioctl_getflags(file) {
        let _ = rustix::fs::ioctl_setflags(file, flags | IFlags::NOCOW);
    }
    match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, bytes) {
        Ok(()) | Err(Errno::OPNOTSUPP) => {}
        Err(errno) => return Err(MakeError::io("allocate", path, errno)),
    }
    write_zeros(file, path, bytes, stop)?;
    written(image)
}

fn write_zeros(file: &File, path: &Path, bytes: u64, stop: &MakeStop) -> Result<(), MakeError> {
    let zeros = vec![0; CHUNK_BYTES];
    for (offset, length) in chunks(bytes) {
        check(stop, path)?;
        file.write_all_at(&zeros[..length], offset)
            .map_err(|error| MakeError::io("write", path, error))?;
    }
    Ok(())
}

fn check(stop: &MakeStop, path: &Path) -> Result<(), MakeError> {
    stop.check(|| format!("writing {}", shown(path).display()))
}

/// Copies an image to an empty file. Chunks of 1 MiB that contain only zeros become holes in the
/// copy.
pub(crate) fn copy(image: &Image, copy: &Image, stop: &MakeStop) -> Result<(), MakeError> {
    let bytes = length(image)?;
    let mut chunk = vec![0; CHUNK_BYTES];
    for (offset, length) in chunks(bytes) {
        check(stop, &copy.path)?;
        let chunk = &mut chunk[..length];
        read(image, chunk, offset)?;
        if !is_zero(chunk) {
            write(copy, chunk, offset)?;
        }
    }
    let set = copy.file.set_len(bytes);
    set.map_err(|error| MakeError::io("write", &copy.path, error))?;
    written(copy)
}

/// Makes an image identical to its saved copy. With `is_sparse`, chunks of zeros are deallocated,
/// because a discard had deallocated them before the copy was saved.
pub(crate) fn bring_back(
    copy: &Image,
    image: &Image,
    is_sparse: bool,
    stop: &MakeStop,
) -> Result<(), MakeError> {
    let bytes = length(image)?;
    let found_bytes = length(copy)?;
    if found_bytes != bytes {
        return Err(MakeError::new(format!(
            "{} has {found_bytes} bytes, expected {bytes} (remove the made file system and make \
             it again)",
            shown(&copy.path).display()
        )));
    }
    let (mut wanted, mut there) = (vec![0; CHUNK_BYTES], vec![0; CHUNK_BYTES]);
    for (offset, length) in chunks(bytes) {
        check(stop, &image.path)?;
        let (wanted, there) = (&mut wanted[..length], &mut there[..length]);
        read(copy, wanted, offset)?;
        read(image, there, offset)?;
        if is_sparse && is_zero(wanted) {
            let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            if rustix::fs::fallocate(&image.file, flags, offset, length as u64).is_ok() {
                continue;
            }
        }
        if wanted != there {
            write(image, wanted, offset)?;
        }
    }
    written(copy)?;
    written(image)
}

fn read(image: &Image, bytes: &mut [u8], offset: u64) -> Result<(), MakeError> {
    let read = image.file.read_exact_at(bytes, offset);
    read.map_err(|error| MakeError::io("read", &image.path, error))
}

fn write(image: &Image, bytes: &[u8], offset: u64) -> Result<(), MakeError> {
    let written = image.file.write_all_at(bytes, offset);
    written.map_err(|error| MakeError::io("write", &image.path, error))
}

/// Overwrites the identity of the file system on an image, so that mkfs detects an empty device.
/// mkfs.btrfs refuses a UUID that is already on a device, even on the device to be formatted.
pub(crate) fn wipe(image: &Image) -> Result<(), MakeError> {
    write(image, &[0; CHUNK_BYTES], 0)?;
    let synced = image.file.sync_all();
    synced.map_err(|error| MakeError::io("sync", &image.path, error))
}

/// Creates a file with allocated blocks. If the file system cannot allocate blocks, zeros are
/// written instead.
pub(crate) fn fill(path: &Path, bytes: u64, stop: &MakeStop) -> Result<(), MakeError> {
    let opened = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    let file = opened.map_err(|error| MakeError::io("create", path, error))?;
    match rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, bytes) {
        Ok(()) => return Ok(()),
        Err(Errno::OPNOTSUPP) => {}
        Err(errno) => return Err(MakeError::io("allocate", path, errno)),
    }
    write_zeros(&file, path, bytes, stop)?;
    file.sync_all()
        .map_err(|error| MakeError::io("sync", path, error))
}

fn length(image: &Image) -> Result<u64, MakeError> {
    let facts = image.file.metadata();
    let facts = facts.map_err(|error| MakeError::io("look at", &image.path, error))?;
    Ok(facts.len())
}

/// Syncs an image and drops it from the page cache, so that all runs start from the same cache
/// state.
pub(crate) fn written(image: &Image) -> Result<(), MakeError> {
    let synced = image.file.sync_all();
    synced.map_err(|error| MakeError::io("sync", &image.path, error))?;
    // The call is only a hint: the file system may keep the pages in the cache.
    let _ = rustix::fs::fadvise(&image.file, 0, None, Advice::DontNeed);
    Ok(())
}

/// Returns the offsets and lengths of chunks that cover the first `bytes` bytes of a file.
fn chunks(bytes: u64) -> impl Iterator<Item = (u64, usize)> {
    (0..bytes).step_by(CHUNK_BYTES).map(move |offset| {
        let left = bytes - offset;
        (
            offset,
            usize::try_from(left).map_or(CHUNK_BYTES, |left| left.min(CHUNK_BYTES)),
        )
    })
}

fn is_zero(bytes: &[u8]) -> bool {
    // Compares chunks of 16 bytes, because the compiler turns such a comparison into one of whole
    // words.
    let (before, words, after) = (
        bytes.chunks_exact(16),
        0u128.to_ne_bytes(),
        bytes.len() % 16,
    );
    before.clone().all(|chunk| chunk == words)
        && bytes[bytes.len() - after..].iter().all(|byte| *byte == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restored_image_equals_the_saved_one() {
        let scene = tempfile::tempdir().unwrap();
        let [image, saved] = ["image", "saved"].map(|name| scene.path().join(name));
        let [image_file, saved_file] = [&image, &saved].map(|path| {
            let mut options = OpenOptions::new();
            options
                .read(true)
                .write(true)
                .create_new(true)
                .open(path)
                .unwrap()
        });
        let [of_image, of_saved] =
            [(image_file, &image), (saved_file, &saved)].map(|(file, path)| Image {
                file,
                path: path.clone(),
            });
        let stop = MakeStop::default();
        let bytes = 3 * CHUNK_BYTES as u64 + 4096;
        allocate(&of_image, bytes, &stop).unwrap();
        let mut state = vec![0; usize::try_from(bytes).unwrap()];
        assert_eq!(std::fs::read(&image).unwrap(), state);
        state[CHUNK_BYTES + 7] = 1;
        *state.last_mut().unwrap() = 2;
        std::fs::write(&image, &state).unwrap();
        copy(&of_image, &of_saved, &stop).unwrap();
        for is_sparse in [false, true] {
            std::fs::write(&image, vec![9; state.len()]).unwrap();
            bring_back(&of_saved, &of_image, is_sparse, &stop).unwrap();
            assert!(
                std::fs::read(&image).unwrap() == state,
                "sparse {is_sparse}"
            );
        }
        std::fs::write(&image, [0; 512]).unwrap();
        let error = bring_back(&of_saved, &of_image, false, &stop).unwrap_err();
        let expected = format!("has {bytes} bytes, expected 512 ");
        assert!(error.to_string().contains(&expected), "{error}");
    }
}
