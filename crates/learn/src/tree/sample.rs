//! Reads the sample of contents.

use std::collections::HashSet;
use std::io::Write as _;
use std::os::fd::{AsFd, OwnedFd};

use flate2::Compression;
use flate2::write::DeflateEncoder;
use rustix::fs::FileType;
use rustix::io::{Errno, pread};
use xxhash_rust::xxh3::xxh3_128;

use super::counts::{PART_BYTES, Part};
use super::open::{self, Identity};
use crate::contents::ContentSample;

/// Bytes of the blocks that are searched for duplicates, as in the contents of runs.
const BLOCK_BYTES: usize = workload::contents::BLOCK_BYTES;

/// Bytes at the begin and at the end of a file that are compared.
const END_BYTES: u64 = 1 << 13;

/// Reads the parts, and compresses each on its own. Parts of files that cannot be read any more, or
/// whose names now denote other files, are left out.
pub(super) fn read(root: impl AsFd, parts: &[Part]) -> ContentSample {
    let mut sample = ContentSample::default();
    let mut blocks = HashSet::new();
    let mut files = HashSet::new();
    let mut buffer = vec![0; PART_BYTES as usize];
    for part in parts {
        let Ok(length) = part_of_file(&root, part, &mut buffer) else {
            sample.unreadable += 1;
            continue;
        };
        let bytes = &buffer[..length];
        if bytes.is_empty() {
            continue;
        }
        files.insert(part.identity.inode);
        sample.bytes += bytes.len() as u64;
        sample.compressed_bytes += compressed(bytes);
        for block in bytes.chunks_exact(BLOCK_BYTES) {
            sample.blocks += 1;
            blocks.insert(xxh3_128(block));
        }
    }
    sample.files = files.len() as u64;
    sample.distinct_blocks = blocks.len() as u64;
    sample
}

/// Compares the files of each size. Names of one file count once, and files that cannot be read any
/// more are left out.
pub(super) fn compare<'a>(
    root: impl AsFd,
    groups: impl Iterator<Item = (u64, &'a [Part])>,
    sample: &mut ContentSample,
) {
    let mut inodes = HashSet::new();
    let mut buffer = [0; 2 * END_BYTES as usize];
    for (size, files) in groups {
        let mut distinct = HashSet::new();
        for file in files
            .iter()
            .filter(|file| inodes.insert(file.identity.inode))
        {
            let Ok(hash) = ends(&root, file, size, &mut buffer) else {
                continue;
            };
            sample.compared_files += 1;
            sample.compared_bytes = sample.compared_bytes.saturating_add(size);
            if distinct.insert(hash) {
                sample.distinct_bytes = sample.distinct_bytes.saturating_add(size);
            }
        }
    }
}

/// Returns a hash of the first and the last bytes of a file.
fn ends(root: impl AsFd, file: &Part, size: u64, buffer: &mut [u8]) -> Result<u128, Errno> {
    let opened = opened(root, file)?;
    let half = buffer.len() / 2;
    let mut length = read_at(&opened, 0, &mut buffer[..half])?;
    let last = size.saturating_sub(END_BYTES).max(length as u64);
    length += read_at(&opened, last, &mut buffer[length..])?;
    Ok(xxh3_128(&buffer[..length]))
}

/// Reads one part into the buffer. Returns its length in bytes, which is shorter at the end of a
/// file.
fn part_of_file(root: impl AsFd, part: &Part, buffer: &mut [u8]) -> Result<usize, Errno> {
    read_at(opened(root, part)?, part.offset, buffer)
}

/// Opens the file of a part, unless its name now denotes another file.
fn opened(root: impl AsFd, part: &Part) -> Result<OwnedFd, Errno> {
    let file = open::file(root, &part.path)?;
    let facts = open::facts_of(&file)?;
    let is_file = FileType::from_raw_mode(facts.stx_mode.into()) == FileType::RegularFile;
    match is_file && Identity::of(&facts).inode == part.identity.inode {
        true => Ok(file),
        false => Err(Errno::STALE),
    }
}

/// Fills the buffer from an offset in a file, or up to the end of the file. Returns the number of
/// bytes.
fn read_at(file: impl AsFd, offset: u64, buffer: &mut [u8]) -> Result<usize, Errno> {
    let mut length = 0;
    while length < buffer.len() {
        match pread(&file, &mut buffer[length..], offset + length as u64) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(length)
}

/// The number of bytes after compression, at most the number before.
fn compressed(bytes: &[u8]) -> u64 {
    let mut encoder = DeflateEncoder::new(Length(0), Compression::fast());
    // Writing to a counter cannot fail.
    let finished = encoder.write_all(bytes).and_then(|()| encoder.finish());
    finished.map_or(bytes.len() as u64, |Length(length)| {
        length.min(bytes.len() as u64)
    })
}

/// Counts bytes.
struct Length(u64);

impl std::io::Write for Length {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
