//! Images as files: allocated and written in full, copied, and brought back.
//!
//! An image is written with zeros once. Blocks that are only allocated would be marked as written by the file system below,
//! in its own journal, at the first flush after each first write, and a run would pay for that.
//!
//! A state is brought back by writing the blocks that differ, into the image that is there. Blocks shared with the copy
//! (reflinks) would be faster to make, and would make each first write of a run allocate in the file system below.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{Advice, FallocateFlags, IFlags};
use rustix::io::Errno;

use crate::error::MakeError;

/// What is read and written at once.
const CHUNK_BYTES: usize = 1 << 20;

/// Makes an image: all of its blocks allocated first, so that a lack of room is found at once, and then written.
pub(crate) fn allocate(path: &Path, bytes: u64) -> Result<(), MakeError> {
    let file = create(path)?;
    // On a file system that never writes in place, blocks would be allocated again for each write. Others have no such flag.
    if let Ok(flags) = rustix::fs::ioctl_getflags(&file) {
        let _ = rustix::fs::ioctl_setflags(&file, flags | IFlags::NOCOW);
    }
    match rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, bytes) {
        Ok(()) | Err(Errno::OPNOTSUPP) => {}
        Err(errno) => return Err(MakeError::io("allocate", path, errno)),
    }
    let zeros = vec![0; CHUNK_BYTES];
    for (offset, length) in chunks(bytes) {
        file.write_all_at(&zeros[..length], offset)
            .map_err(|error| MakeError::io("write", path, error))?;
    }
    written(&file, path)
}

/// Copies an image; blocks of zeros become holes.
pub(crate) fn copy(image: &Path, copy: &Path) -> Result<(), MakeError> {
    let from = open(image, false)?;
    let bytes = length(&from, image)?;
    let to = create(copy)?;
    let mut chunk = vec![0; CHUNK_BYTES];
    for (offset, length) in chunks(bytes) {
        let chunk = &mut chunk[..length];
        from.read_exact_at(chunk, offset)
            .map_err(|error| MakeError::io("read", image, error))?;
        if !is_zero(chunk) {
            to.write_all_at(chunk, offset)
                .map_err(|error| MakeError::io("write", copy, error))?;
        }
    }
    to.set_len(bytes).map_err(|error| MakeError::io("write", copy, error))?;
    written(&to, copy)
}

/// Makes an image the same as a copy of it. With `is_sparse`, blocks of zeros are given back, as discarding left them.
pub(crate) fn bring_back(copy: &Path, image: &Path, is_sparse: bool) -> Result<(), MakeError> {
    let (from, to) = (open(copy, false)?, open(image, true)?);
    let bytes = length(&to, image)?;
    let found_bytes = length(&from, copy)?;
    if found_bytes != bytes {
        return Err(MakeError::StateSize {
            path: copy.to_owned(),
            found_bytes,
            expected_bytes: bytes,
        });
    }
    let (mut wanted, mut there) = (vec![0; CHUNK_BYTES], vec![0; CHUNK_BYTES]);
    for (offset, length) in chunks(bytes) {
        let (wanted, there) = (&mut wanted[..length], &mut there[..length]);
        from.read_exact_at(wanted, offset)
            .map_err(|error| MakeError::io("read", copy, error))?;
        to.read_exact_at(there, offset)
            .map_err(|error| MakeError::io("read", image, error))?;
        if is_sparse && is_zero(wanted) {
            let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            if rustix::fs::fallocate(&to, flags, offset, length as u64).is_ok() {
                continue;
            }
        }
        if wanted != there {
            to.write_all_at(wanted, offset)
                .map_err(|error| MakeError::io("write", image, error))?;
        }
    }
    written(&from, copy)?;
    written(&to, image)
}

/// Overwrites what tells one file system from another, so that mkfs finds a device without one. mkfs.btrfs refuses to make a
/// file system with an identity that it finds on a device, and be it the same device.
pub(crate) fn wipe(image: &Path) -> Result<(), MakeError> {
    let file = open(image, true)?;
    file.write_all_at(&[0; CHUNK_BYTES], 0)
        .and_then(|()| file.sync_all())
        .map_err(|error| MakeError::io("write", image, error))
}

/// Has all of an image on its device and none of it in the page cache: each run starts alike.
pub(crate) fn forget(image: &Path) -> Result<(), MakeError> {
    written(&open(image, true)?, image)
}

/// Allocates a file; writes it where the file system cannot allocate.
pub(crate) fn fill(path: &Path, bytes: u64) -> Result<(), MakeError> {
    let file = create(path)?;
    match rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, bytes) {
        Ok(()) => return Ok(()),
        Err(Errno::OPNOTSUPP) => {}
        Err(errno) => return Err(MakeError::io("allocate", path, errno)),
    }
    let zeros = vec![0; CHUNK_BYTES];
    for (offset, length) in chunks(bytes) {
        file.write_all_at(&zeros[..length], offset)
            .map_err(|error| MakeError::io("write", path, error))?;
    }
    file.sync_all().map_err(|error| MakeError::io("sync", path, error))
}

fn create(path: &Path) -> Result<File, MakeError> {
    let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    opened.map_err(|error| MakeError::io("create", path, error))
}

fn open(path: &Path, is_written: bool) -> Result<File, MakeError> {
    let opened = OpenOptions::new().read(true).write(is_written).open(path);
    opened.map_err(|error| MakeError::io("open", path, error))
}

fn length(file: &File, path: &Path) -> Result<u64, MakeError> {
    let facts = file.metadata().map_err(|error| MakeError::io("look at", path, error))?;
    Ok(facts.len())
}

/// Syncs a file, and takes it out of the page cache.
fn written(file: &File, path: &Path) -> Result<(), MakeError> {
    file.sync_all().map_err(|error| MakeError::io("sync", path, error))?;
    // A hint: a file system that has no use for it keeps the pages.
    let _ = rustix::fs::fadvise(file, 0, None, Advice::DontNeed);
    Ok(())
}

/// Offsets and lengths that cover so many bytes.
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
    // As long as the compiler compares words.
    let (before, words, after) = (bytes.chunks_exact(16), 0u128.to_ne_bytes(), bytes.len() % 16);
    before.clone().all(|chunk| chunk == words) && bytes[bytes.len() - after..].iter().all(|byte| *byte == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_brought_back_byte_by_byte() {
        let scene = tempfile::tempdir().unwrap();
        let [image, saved] = ["image", "saved"].map(|name| scene.path().join(name));
        let bytes = 3 * CHUNK_BYTES as u64 + 4096;
        allocate(&image, bytes).unwrap();
        let mut state = vec![0; usize::try_from(bytes).unwrap()];
        assert_eq!(std::fs::read(&image).unwrap(), state);
        state[CHUNK_BYTES + 7] = 1;
        *state.last_mut().unwrap() = 2;
        std::fs::write(&image, &state).unwrap();
        copy(&image, &saved).unwrap();
        for is_sparse in [false, true] {
            std::fs::write(&image, vec![9; state.len()]).unwrap();
            bring_back(&saved, &image, is_sparse).unwrap();
            assert!(std::fs::read(&image).unwrap() == state, "sparse {is_sparse}");
        }
        std::fs::write(&image, [0; 512]).unwrap();
        let error = bring_back(&saved, &image, false).unwrap_err();
        assert!(matches!(error, MakeError::StateSize { found_bytes, expected_bytes: 512, .. } if found_bytes == bytes));
    }
}
