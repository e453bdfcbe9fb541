//! Directory entries in the format of getdents64(2).

use std::ffi::CStr;

/// Layout of an entry: inode number, offset, length (16 bits), type, name, NUL.
const LENGTH_AT: usize = 16;
const TYPE_AT: usize = 18;
const NAME_AT: usize = 19;
/// Entries start at multiples of this number of bytes.
const ALIGNMENT: usize = 8;

/// Iterates over the entries in a buffer that the kernel filled.
pub(crate) struct Entries<'a>(pub &'a [u8]);

/// The name of an entry, and its type: a `DT_` constant, which may be `DT_UNKNOWN`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) name: &'a CStr,
    pub(crate) kind: u8,
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    #[inline]
    fn next(&mut self) -> Option<Entry<'a>> {
        if self.0.is_empty() {
            return None;
        }
        let length = usize::from(u16::from_ne_bytes([
            self.0[LENGTH_AT],
            self.0[LENGTH_AT + 1],
        ]));
        let (entry, rest) = self.0.split_at(length);
        self.0 = rest;
        let name = CStr::from_bytes_until_nul(&entry[NAME_AT..])
            .expect("the name of a directory's entry ends with a NUL");
        let kind = entry[TYPE_AT];
        Some(Entry { name, kind })
    }
}

/// Whether listings count an entry; hidden entries, including `.` and `..`, are not counted.
#[inline]
pub(crate) fn is_counted(name: &[u8]) -> bool {
    name.first() != Some(&b'.')
}

/// Writes an entry of unknown type to the start of `room` as the kernel does. Returns the length of
/// the entry, or `None` if the entry does not fit.
pub(crate) fn put(room: &mut [u8], name: &[u8]) -> Option<usize> {
    let length = (NAME_AT + name.len() + 1).next_multiple_of(ALIGNMENT);
    let entry = room.get_mut(..length)?;
    entry.fill(0);
    entry[LENGTH_AT..LENGTH_AT + 2].copy_from_slice(&u16::try_from(length).ok()?.to_ne_bytes());
    entry[NAME_AT..NAME_AT + name.len()].copy_from_slice(name);
    Some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_entries_round_trip() {
        let names = [&b"."[..], b"..", b"1", b"seventeen letters", b"12345678"];
        let mut room = [0xff; 200];
        let mut end = 0;
        for name in names {
            end += put(&mut room[end..], name).unwrap();
        }
        let read: Vec<_> = Entries(&room[..end])
            .map(|entry| entry.name.to_bytes())
            .collect();
        assert_eq!(read, names);
        assert_eq!(put(&mut room[..23], b"1234"), None);
        assert_eq!(put(&mut room[..24], b"1234"), Some(24));
    }
}
