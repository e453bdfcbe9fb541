//! Contents of files. Every byte is a pure function of the seed, the worker, the file, its version
//! and the byte's offset. Therefore contents can be checked without being stored, and do not depend
//! on how they were split into writes.
//!
//! Contents are generated in blocks of 4 KiB. Each block is copied from the base, which consists of
//! 256 KiB of random bytes and fits into the processor's cache. Consecutive blocks of a file are
//! consecutive sections of the base. A stamp at the start of each block identifies the file, the
//! version and the block, and makes the block unique.

mod kind;
pub mod mismatch;

use std::sync::Arc;

pub use self::kind::{ContentKind, ContentSpec, RATIO_MAX};
use crate::random::{Key, below};

pub const BLOCK_BYTES: usize = 4096;
/// Bytes of a stamp: the number of the file, the version with the block's number, and a check
/// value.
pub const STAMP_BYTES: usize = 24;
/// The number of different common blocks. If the deduplication ratio is above 1, some blocks of
/// files are copies of common blocks, and all other blocks are unique.
pub const COMMON_BLOCKS: u64 = 64;

/// Bytes of random data in the base. Contents longer than this repeat the random data.
const BASE_BYTES: usize = 1 << 18;
/// Blocks begin at offsets in the base that are multiples of this number of bytes: the size of a
/// cache line.
const BASE_STEP: u64 = 64;
const BASE_LINES: u64 = BASE_BYTES as u64 / BASE_STEP;
/// The distance between the starts of consecutive versions of a file in the base, in cache lines.
/// The distance is odd, so that 4,096 consecutive versions start at different lines. The blocks of
/// these versions therefore differ even outside of the stamps.
const VERSION_STEP: u64 = 1_553;
/// The byte that fills the compressible part of a block. The byte is not 0, so that it differs from
/// holes, which read as zeros.
const FILLER: u8 = b' ';
const FILLERS: [u8; BLOCK_BYTES] = [FILLER; BLOCK_BYTES];

/// Returns whether the contents of a file differ between its versions.
pub fn tells_versions_apart(spec: &ContentSpec) -> bool {
    spec.kind != ContentKind::Text
}

/// Whether the first bytes of a file show that a certain worker wrote the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// The bytes belong to a file of this worker.
    Ours,
    /// The bytes do not belong to a file of this worker.
    Others,
    /// There are too few bytes to decide whether they belong to this worker.
    TooShort,
}

/// Generates and checks the contents of one worker's files.
#[derive(Clone, Debug)]
pub struct Contents {
    /// [`BASE_BYTES`] random bytes, followed by a copy of the first [`BLOCK_BYTES`], so that every
    /// block is contiguous.
    base: Arc<[u8]>,
    seed: u64,
    key: Key,
    is_text: bool,
    /// The number of random bytes at the start of each block. The rest of a block is [`FILLER`].
    random_bytes: usize,
    /// A block is a common block if its check value is below this limit.
    common_below: u64,
}

#[derive(Clone, Copy)]
struct Subject {
    file: u64,
    version: u32,
    key: Key,
    /// The offset of the file's first block in `Contents::base`.
    start: u64,
}

/// A block of contents: random bytes, followed by filler. A stamp replaces the first random bytes,
/// unless the block is text or a common block.
struct Block<'a> {
    stamp: Option<[u8; STAMP_BYTES]>,
    random: &'a [u8],
}

impl Contents {
    /// Returns the generator for the contents of a worker's files. `spec` must be valid. Clones
    /// share the random bytes.
    pub fn new(spec: &ContentSpec, seed: u64, worker: u32) -> Self {
        let is_text = spec.kind == ContentKind::Text;
        let random_bytes = match spec.kind {
            ContentKind::Compressible { ratio } => {
                ((BLOCK_BYTES as f64 / ratio) as usize).clamp(STAMP_BYTES, BLOCK_BYTES)
            }
            ContentKind::Text | ContentKind::Incompressible => BLOCK_BYTES,
        };
        Self {
            base: base(seed, is_text),
            seed,
            key: Key::new(seed, KEY_NAME, worker),
            is_text,
            random_bytes,
            common_below: ((1.0 - 1.0 / spec.dedup) * 18_446_744_073_709_551_616.0) as u64,
        }
    }

    /// Returns a generator for the contents of another worker's files. Both generators share the
    /// random bytes.
    #[must_use]
    pub fn for_worker(&self, worker: u32) -> Self {
        Self {
            key: Key::new(self.seed, KEY_NAME, worker),
            ..self.clone()
        }
    }

    /// Fills `out` with the bytes of a file's version that begin at `offset`.
    #[inline]
    pub fn fill(&self, file: u64, version: u32, offset: u64, out: &mut [u8]) {
        let subject = self.subject(file, version);
        let mut rest = out;
        let mut at = offset;
        while !rest.is_empty() {
            let from = at as usize % BLOCK_BYTES;
            let (piece, behind) = rest.split_at_mut(rest.len().min(BLOCK_BYTES - from));
            self.block(&subject, at / BLOCK_BYTES as u64)
                .write(from, piece);
            at += piece.len() as u64;
            rest = behind;
        }
    }

    /// Returns the index in `found` at which the first incorrect block begins.
    #[inline]
    fn first_wrong(&self, subject: &Subject, offset: u64, found: &[u8]) -> Option<usize> {
        pieces(offset, found).find_map(|(begin, at, piece)| {
            let block = self.block(subject, at / BLOCK_BYTES as u64);
            (!block.matches(at as usize % BLOCK_BYTES, piece)).then_some(begin)
        })
    }

    /// Determines from the first bytes of a file whether its contents belong to any file and
    /// version of this worker.
    pub fn beginning(&self, found: &[u8]) -> Beginning {
        let is = |block: Block<'_>| block.matches(0, &found[..found.len().min(BLOCK_BYTES)]);
        let is_ours = if self.is_text {
            is(self.stretch(0, None))
        } else {
            let Some(stamp) = found.first_chunk::<STAMP_BYTES>() else {
                return Beginning::TooShort;
            };
            let is_common = |block: u64| is(self.stretch(block * BLOCK_BYTES as u64, None));
            self.read_stamp(stamp, 0).is_some()
                || self.common_below > 0 && (0..COMMON_BLOCKS).any(is_common)
        };
        if is_ours {
            Beginning::Ours
        } else {
            Beginning::Others
        }
    }

    #[inline]
    fn subject(&self, file: u64, version: u32) -> Subject {
        let of_file = self.key.at(file);
        let line = of_file.wrapping_add(u64::from(version).wrapping_mul(VERSION_STEP)) % BASE_LINES;
        Subject {
            file,
            version,
            key: Key::of(Key::of(of_file).at(u64::from(version))),
            start: line * BASE_STEP,
        }
    }

    #[inline]
    fn block(&self, subject: &Subject, block: u64) -> Block<'_> {
        if self.is_text {
            return self.stretch(block.wrapping_mul(BLOCK_BYTES as u64), None);
        }
        let check = subject.key.at(block);
        if check < self.common_below {
            return self.stretch(check % COMMON_BLOCKS * BLOCK_BYTES as u64, None);
        }
        let position = subject
            .start
            .wrapping_add(block.wrapping_mul(BLOCK_BYTES as u64));
        self.stretch(position, Some(subject.stamp(block, check)))
    }

    #[inline]
    fn stretch(&self, position: u64, stamp: Option<[u8; STAMP_BYTES]>) -> Block<'_> {
        let from = position as usize % BASE_BYTES;
        Block {
            stamp,
            random: &self.base[from..from + self.random_bytes],
        }
    }
}

const KEY_NAME: &str = "contents";

fn base(seed: u64, is_text: bool) -> Arc<[u8]> {
    let key = Key::new(
        seed,
        if is_text {
            "contents text"
        } else {
            "contents base"
        },
        0,
    );
    let mut bytes: Vec<u8> = if is_text {
        (0..BASE_BYTES as u64)
            .map(|index| 32 + below(key.at(index), 95) as u8)
            .collect()
    } else {
        (0..BASE_BYTES as u64 / 8)
            .flat_map(|index| key.at(index).to_le_bytes())
            .collect()
    };
    bytes.extend_from_within(..BLOCK_BYTES);
    bytes.into()
}

/// Splits `found` at block boundaries. Each returned item contains an index in `found`, the offset
/// in the file, and the bytes.
#[inline]
fn pieces(offset: u64, found: &[u8]) -> impl Iterator<Item = (usize, u64, &[u8])> {
    let mut begin = 0;
    std::iter::from_fn(move || {
        let at = offset + begin as u64;
        let rest = found.get(begin..).filter(|rest| !rest.is_empty())?;
        let piece = &rest[..rest.len().min(BLOCK_BYTES - at as usize % BLOCK_BYTES)];
        let item = (begin, at, piece);
        begin += piece.len();
        Some(item)
    })
}

impl Subject {
    /// Returns the stamp of a block. It consists of three numbers: the file, the version with the
    /// low 32 bits of the block's number, and `check`. The first two numbers are masked with
    /// numbers derived from `check`.
    #[inline]
    fn stamp(&self, block: u64, check: u64) -> [u8; STAMP_BYTES] {
        let numbers = u64::from(self.version) << 32 | block & 0xffff_ffff;
        let mut stamp = [0; STAMP_BYTES];
        let veil = Key::of(check);
        stamp[..8].copy_from_slice(&(self.file ^ veil.at(0)).to_le_bytes());
        stamp[8..16].copy_from_slice(&(numbers ^ veil.at(1)).to_le_bytes());
        stamp[16..].copy_from_slice(&check.to_le_bytes());
        stamp
    }
}

impl Block<'_> {
    /// Copies the block's bytes, starting at index `from`, into `out`.
    #[inline]
    fn write(&self, from: usize, out: &mut [u8]) {
        let random = self.random.get(from..).unwrap_or_default();
        if random.len() >= out.len() {
            out.copy_from_slice(&random[..out.len()]);
        } else {
            let (first, filler) = out.split_at_mut(random.len());
            first.copy_from_slice(random);
            filler.fill(FILLER);
        }
        if let Some(stamp) = self.stamp.as_ref().and_then(|stamp| stamp.get(from..)) {
            let length = stamp.len().min(out.len());
            out[..length].copy_from_slice(&stamp[..length]);
        }
    }

    /// Returns whether `found` equals the block's bytes that start at index `from`.
    #[inline]
    fn matches(&self, from: usize, found: &[u8]) -> bool {
        let stamp = self
            .stamp
            .as_ref()
            .and_then(|stamp| stamp.get(from..))
            .unwrap_or_default();
        let (in_stamp, rest) = found.split_at(stamp.len().min(found.len()));
        let random = self.random.get(from + in_stamp.len()..).unwrap_or_default();
        let (in_random, filler) = rest.split_at(random.len().min(rest.len()));
        in_stamp == &stamp[..in_stamp.len()]
            && in_random == &random[..in_random.len()]
            && filler == &FILLERS[..filler.len()]
    }
}

#[cfg(test)]
mod tests;
