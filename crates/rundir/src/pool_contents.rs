//! The bytes with which the files of one pool are expected to begin.

use workload::contents::{Beginning, Contents};

use crate::file_pattern::Begins;

pub(crate) enum Pool<'a> {
    Text(&'a [u8], u64),
    Contents(Box<Contents>),
}

impl<'a> Pool<'a> {
    pub(crate) fn of(begins: &'a Begins, worker: u32) -> Self {
        match begins {
            Begins::Texts {
                texts,
                size_low_bytes,
            } => {
                let text = texts.get(worker as usize).or(texts.last());
                Self::Text(text.map_or(&[], |text| text.as_bytes()), *size_low_bytes)
            }
            Begins::Contents { spec, seed } => {
                Self::Contents(Box::new(Contents::new(spec, *seed, worker)))
            }
        }
    }

    pub(crate) fn beginning(&self, begins: &[u8]) -> Beginning {
        match self {
            Self::Contents(contents) => contents.beginning(begins),
            Self::Text(text, low) if is_pieces(text, *low, begins) => Beginning::Ours,
            Self::Text(..) => Beginning::Others,
        }
    }
}

/// Whether `found` consists of pieces that are each a beginning of `text`. The first piece has at
/// least `low` bytes. The last piece may be cut off at the end of `found`.
fn is_pieces(text: &[u8], low: u64, found: &[u8]) -> bool {
    let mut begins_here = vec![false; found.len()];
    begins_here[..1].fill(true);
    for at in 0..found.len() {
        if !begins_here[at] {
            continue;
        }
        let alike = found[at..]
            .iter()
            .zip(text)
            .take_while(|(one, other)| one == other)
            .count();
        if at + alike == found.len() {
            return true;
        }
        let least = if at == 0 {
            usize::try_from(low).unwrap_or(usize::MAX)
        } else {
            1
        };
        for end in least.max(1)..=alike {
            begins_here[at + end] = true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_beginnings_of_the_text_are_recognised() {
        let text = b"abcdefgh";
        for (low, found, expected) in [
            (1, &b"a"[..], true),
            (1, b"abcabab", true),
            (1, b"abcdefghabc", true),
            (3, b"ab", true),
            (3, b"abab", false),
            (3, b"abcab", true),
            (1, b"abx", false),
            (1, b"b", false),
            (8, b"abcdefgha", true),
            (9, b"abcdefgha", false),
        ] {
            assert_eq!(
                is_pieces(text, low, found),
                expected,
                "{low} {:?}",
                String::from_utf8_lossy(found)
            );
        }
    }
}
