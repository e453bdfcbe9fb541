//! What was found in the stead of a file's contents: the slow path of a check.

use super::{BLOCK_BYTES, Contents, STAMP_BYTES, Subject, pieces};
use crate::random::Key;

/// How many versions back contents are looked for that have no whole stamp.
const VERSIONS_BACK: u32 = 64;
/// So many bytes must differ from what is expected and agree with something else before that is
/// believed; fewer could do so by chance.
const TELLING_BYTES: usize = 4;

/// Contents that are not what they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset} is {found:#04x} where {expected:#04x} was written: {kind}")]
pub struct Mismatch {
    /// The first wrong byte's offset in the file.
    pub offset: u64,
    /// What should be there.
    pub expected: u8,
    /// What is.
    pub found: u8,
    /// What was found, all considered.
    pub kind: MismatchKind,
}

/// What contents are instead of what they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MismatchKind {
    /// All that was looked at is another version of the file.
    #[error("the contents are version {version} of the file")]
    Old {
        /// That version.
        version: u32,
    },
    /// Some of it is another version of the file.
    #[error("a part is version {version} of the file")]
    Torn {
        /// That version.
        version: u32,
    },
    /// The block belongs to another file.
    #[error("the block belongs to file {file}")]
    OtherFile {
        /// That file.
        file: u64,
    },
    /// The block is zeros, wholly or for a stretch from the wrong byte on.
    #[error("the block is zeros there")]
    Zeros,
    /// Nothing that was ever written there, or too little of it to tell.
    #[error("this was never written there")]
    Wrong,
}

impl Contents {
    /// Looks whether `found` is what a version of a file has from `offset` on.
    ///
    /// # Errors
    /// The first byte that is not, and what was found in its stead.
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

    /// What `found` is, whose block that begins at `wrong` is not as it should be.
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

    /// `from_first` is what was found from the first wrong byte on, `expected` what the whole of it
    /// should be.
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

    /// Whether all that was found is a version of the file, and differs enough from what it should
    /// be.
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

    /// Whether the bytes that are not as expected are those of a version, and enough of them.
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

    /// The file and the version that the stamp of the block at `wrong` says, or of the next where
    /// that block's start was not looked at.
    fn next_stamp(&self, offset: u64, found: &[u8], wrong: usize) -> Option<(u64, u32)> {
        let at = offset + wrong as u64;
        let start = at.checked_next_multiple_of(BLOCK_BYTES as u64)?;
        let begin = wrong + (start - at) as usize;
        let stamp = found.get(begin..begin + STAMP_BYTES)?;
        self.read_stamp(stamp.try_into().ok()?, start / BLOCK_BYTES as u64)
    }

    /// The file and the version of a well-formed stamp. One of the same number elsewhere is
    /// well-formed too: it tells the file, but a stamp from elsewhere in the same file is none
    /// of any version here.
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
