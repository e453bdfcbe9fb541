//! Explains why contents differ from the expected contents. This code may be slow, because it runs
//! only after a failed check.

use super::{BLOCK_BYTES, Contents, STAMP_BYTES, Subject, pieces};
use crate::random::Key;

/// The number of older versions with which contents are compared if they have no complete stamp.
const VERSIONS_BACK: u32 = 64;
/// An explanation must match at least this number of bytes that differ from the expected contents.
/// Fewer bytes could match by chance.
const TELLING_BYTES: usize = 4;

/// The first byte of a file that differs from the expected contents, and the likely cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset} is {found:#04x} where {expected:#04x} was written: {kind}")]
pub struct Mismatch {
    /// The offset of the first incorrect byte in the file.
    pub offset: u64,
    pub expected: u8,
    pub found: u8,
    pub kind: MismatchKind,
}

/// The likely origin of incorrect contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MismatchKind {
    /// All bytes that were checked belong to another version of the file.
    #[error("the contents are version {version} of the file")]
    Old { version: u32 },
    /// Some of the bytes belong to another version of the file.
    #[error("a part is version {version} of the file")]
    Torn { version: u32 },
    #[error("the block belongs to file {file}")]
    OtherFile { file: u64 },
    /// The block consists of zeros, or several zeros begin at the first incorrect byte.
    #[error("the block is zeros there")]
    Zeros,
    /// The contents match nothing that the worker writes, or are too short to be identified.
    #[error("this was never written there")]
    Wrong,
}

impl Contents {
    /// Compares `found` with the bytes of a file's version that begin at `offset`.
    ///
    /// # Errors
    /// Returns the first byte that differs, and the likely origin of the incorrect contents.
    #[inline]
    pub fn check(
        &self,
        file: u64,
        version: u32,
        offset: u64,
        found: &[u8],
    ) -> Result<(), Mismatch> {
        let subject = self.subject(file, version);
        match self.first_wrong(&subject, offset, found) {
            None => Ok(()),
            Some(wrong) => Err(self.explain(&subject, offset, found, wrong)),
        }
    }

    /// Explains `found`, whose first incorrect block begins at index `wrong`.
    #[cold]
    fn explain(&self, subject: &Subject, offset: u64, found: &[u8], wrong: usize) -> Mismatch {
        let at = offset + wrong as u64;
        let block = BLOCK_BYTES - at as usize % BLOCK_BYTES;
        let piece = &found[wrong..found.len().min(wrong + block)];
        let mut buffer = [0; BLOCK_BYTES];
        let expected = &mut buffer[..piece.len()];
        self.fill(subject.file, subject.version, at, expected);
        let first = (0..piece.len())
            .find(|index| piece[*index] != expected[*index])
            .unwrap_or(0);
        Mismatch {
            offset: at + first as u64,
            expected: expected[first],
            found: piece[first],
            kind: self.kind(
                subject,
                offset,
                found,
                wrong,
                &found[wrong + first..],
                expected,
            ),
        }
    }

    /// Identifies the origin of incorrect contents. `from_first` begins at the first incorrect
    /// byte. `expected` is the correct content of the block that begins at index `wrong`.
    fn kind(
        &self,
        subject: &Subject,
        offset: u64,
        found: &[u8],
        wrong: usize,
        from_first: &[u8],
        expected: &[u8],
    ) -> MismatchKind {
        let piece = &found[wrong..wrong + expected.len()];
        let is_zeros = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
        let stamp = self.next_stamp(offset, found, wrong);
        let stamped = stamp
            .filter(|(file, _)| *file == subject.file)
            .map(|(_, version)| version);
        let back = (1..=VERSIONS_BACK).map_while(|back| subject.version.checked_sub(back));
        let others = || {
            stamped
                .into_iter()
                .chain(back.clone())
                .filter(|version| *version != subject.version)
        };
        let all_of = others().find(|version| self.is_all_of(subject, *version, offset, found));
        if let Some(version) = all_of {
            return MismatchKind::Old { version };
        }
        if is_zeros(piece) || from_first.get(..TELLING_BYTES).is_some_and(is_zeros) {
            return MismatchKind::Zeros;
        }
        if let Some((file, _)) = stamp.filter(|(file, _)| *file != subject.file) {
            return MismatchKind::OtherFile { file };
        }
        let at = offset + wrong as u64;
        let mut torn = others()
            .filter(|version| self.wrong_bytes_are_of(subject.file, *version, at, piece, expected));
        torn.next()
            .map_or(MismatchKind::Wrong, |version| MismatchKind::Torn {
                version,
            })
    }

    /// Returns whether `found` equals version `version` of the file, and differs in at least
    /// [`TELLING_BYTES`] bytes from the expected version.
    fn is_all_of(&self, subject: &Subject, version: u32, offset: u64, found: &[u8]) -> bool {
        if self
            .first_wrong(&self.subject(subject.file, version), offset, found)
            .is_some()
        {
            return false;
        }
        let mut expected = [0; BLOCK_BYTES];
        let mut differing = 0;
        for (_, at, piece) in pieces(offset, found) {
            self.fill(
                subject.file,
                subject.version,
                at,
                &mut expected[..piece.len()],
            );
            differing += piece
                .iter()
                .zip(&expected)
                .filter(|(found, expected)| found != expected)
                .count();
            if differing >= TELLING_BYTES {
                return true;
            }
        }
        false
    }

    /// Returns whether all bytes that differ from `expected` match a version of a file. At least
    /// [`TELLING_BYTES`] bytes must differ, because fewer could match by chance.
    fn wrong_bytes_are_of(
        &self,
        file: u64,
        version: u32,
        at: u64,
        piece: &[u8],
        expected: &[u8],
    ) -> bool {
        let mut buffer = [0; BLOCK_BYTES];
        let other = &mut buffer[..piece.len()];
        self.fill(file, version, at, other);
        let mut differing = 0;
        for ((found, expected), other) in piece.iter().zip(expected).zip(other) {
            if found != expected {
                if found != other {
                    return false;
                }
                differing += 1;
            }
        }
        differing >= TELLING_BYTES
    }

    /// Returns the file and the version in the stamp of the block at index `wrong`. If `found` does
    /// not include the start of that block, the stamp of the next block is used.
    fn next_stamp(&self, offset: u64, found: &[u8], wrong: usize) -> Option<(u64, u32)> {
        let at = offset + wrong as u64;
        let start = at.checked_next_multiple_of(BLOCK_BYTES as u64)?;
        let begin = wrong + (start - at) as usize;
        let stamp = found.get(begin..begin + STAMP_BYTES)?;
        self.read_stamp(stamp.try_into().ok()?, start / BLOCK_BYTES as u64)
    }

    /// Returns the file and the version in a stamp, or `None` if its check value is wrong. The
    /// stamp contains the low 32 bits of its block's number. The high bits are taken from `block`.
    /// The low bits need not be those of `block`: the stamp may have been copied from another block
    /// of the file.
    pub(super) fn read_stamp(&self, stamp: &[u8; STAMP_BYTES], block: u64) -> Option<(u64, u32)> {
        let word = |index: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&stamp[8 * index..8 * index + 8]);
            u64::from_le_bytes(bytes)
        };
        let check = word(2);
        let veil = Key::of(check);
        let file = word(0) ^ veil.at(0);
        let numbers = word(1) ^ veil.at(1);
        let version = (numbers >> 32) as u32;
        let stamped = block & !0xffff_ffff | numbers & 0xffff_ffff;
        let is_right = !self.is_text && self.subject(file, version).key.at(stamped) == check;
        is_right.then_some((file, version))
    }
}
