//! The log of a dm-log-writes device, and the contents of its disk after a power cut.
//!
//! dm-log-writes logs a write when a flush that began after it has completed, or at once if the
//! write itself is forced to the device. The writes before a mark are therefore those that a disk
//! with a volatile cache has certainly kept, as after the worst power cut. The log must contain all
//! writes since the disk was blank. Discarded blocks keep their contents.
//!
//! The log is a superblock, then entries of one sector, each followed by its data. Positions and
//! lengths are in sectors of the log (`drivers/md/dm-log-writes.c` of Linux).

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;

use rustix::fs::{Advice, fadvise};

const MAGIC: u64 = 0x006A_7366_7773_6872;
const VERSION: u64 = 1;
const DISCARD: u64 = 1 << 2;
const MARK: u64 = 1 << 3;

/// Length of the numbers of an entry in bytes; the text of a mark follows.
const HEAD: usize = 32;

/// Maximum length of the data of an entry in bytes: more than any request of the kernel.
const DATA_MAX: u64 = 1 << 30;

/// Number of bytes that are compared and written at a time.
const PIECE: usize = 64 << 10;

/// An open log.
pub(super) struct WriteLog<'a> {
    file: &'a File,
    sector_bytes: u64,
    entries: u64,
}

struct Entry {
    /// First byte of the disk that was written.
    at: u64,
    /// First byte of the data in the log, and the length of the data.
    data: u64,
    length: u64,
    mark: Option<Vec<u8>>,
}

fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

fn number(bytes: &[u8], index: usize) -> u64 {
    let mut eight = [0; 8];
    eight.copy_from_slice(&bytes[8 * index..8 * (index + 1)]);
    u64::from_le_bytes(eight)
}

impl<'a> WriteLog<'a> {
    /// Reads the superblock.
    pub(super) fn open(file: &'a File) -> io::Result<Self> {
        // The kernel writes the log without the page cache, which may hold its earlier contents.
        fadvise(file, 0, None, Advice::DontNeed)?;
        let mut head = [0; HEAD];
        file.read_exact_at(&mut head, 0)?;
        if number(&head, 0) != MAGIC || number(&head, 1) != VERSION {
            return Err(invalid("the device contains no log of dm-log-writes"));
        }
        let sector_bytes = number(&head, 3) & u64::from(u32::MAX);
        if !(512..=65536).contains(&sector_bytes) {
            return Err(invalid("the log has an impossible sector size"));
        }
        Ok(Self {
            file,
            sector_bytes,
            entries: number(&head, 2),
        })
    }

    /// Calls a function with the number of each entry and with the entry.
    fn each(&self, visit: &mut dyn FnMut(u64, &Entry) -> io::Result<()>) -> io::Result<()> {
        let sector_bytes = self.sector_bytes;
        let mut sector = vec![0; sector_bytes as usize];
        let mut at = sector_bytes;
        for index in 0..self.entries {
            self.file.read_exact_at(&mut sector, at)?;
            at += sector_bytes;
            let (flags, length) = (number(&sector, 2), number(&sector, 3));
            let has_data = flags & (MARK | DISCARD) == 0;
            let sectors = if has_data { number(&sector, 1) } else { 0 };
            let begin = number(&sector, 0).checked_mul(sector_bytes);
            let data = sectors.checked_mul(sector_bytes);
            let (Some(begin), Some(data)) = (begin, data.filter(|data| *data <= DATA_MAX)) else {
                return Err(invalid("the log contains an impossible entry"));
            };
            let text = sector[HEAD..]
                .iter()
                .take(length.min(sector_bytes) as usize);
            let text = text.copied().take_while(|byte| *byte != 0).collect();
            let entry = Entry {
                at: begin,
                data: at,
                length: data,
                mark: (flags & MARK != 0).then_some(text),
            };
            visit(index, &entry)?;
            at += data;
        }
        Ok(())
    }

    /// Returns the numbers of the marks with this text.
    pub(super) fn marks(&self, text: &str) -> io::Result<Vec<u64>> {
        let mut marks = Vec::new();
        self.each(&mut |index, entry| {
            if entry.mark.as_deref() == Some(text.as_bytes()) {
                marks.push(index);
            }
            Ok(())
        })?;
        Ok(marks)
    }

    /// Returns the ranges of the disk that were ever written, in order and disjoint.
    pub(super) fn written(&self) -> io::Result<Vec<Range<u64>>> {
        let mut all = Vec::new();
        self.each(&mut |_, entry| {
            if entry.length > 0 {
                all.push(entry.at..entry.at.saturating_add(entry.length));
            }
            Ok(())
        })?;
        all.sort_unstable_by_key(|range| range.start);
        let mut merged: Vec<Range<u64>> = Vec::new();
        for range in all {
            match merged.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => merged.push(range),
            }
        }
        Ok(merged)
    }

    /// Writes to a blank image what the disk had certainly kept at a mark.
    pub(super) fn replay(&self, mark: u64, image: &File) -> io::Result<()> {
        let mut data = Vec::new();
        self.each(&mut |index, entry| {
            if index > mark || entry.length == 0 {
                return Ok(());
            }
            data.resize(entry.length as usize, 0);
            self.file.read_exact_at(&mut data, entry.data)?;
            image.write_all_at(&data, entry.at)
        })
    }
}

/// Makes the contents of a device those of an image in the ranges, and leaves equal pieces
/// unwritten.
pub(super) fn copy(image: &File, device: &File, ranges: &[Range<u64>]) -> io::Result<()> {
    let (mut wanted, mut found) = (vec![0; PIECE], vec![0; PIECE]);
    for range in ranges {
        let mut at = range.start;
        while at < range.end {
            let length = PIECE.min((range.end - at) as usize);
            image.read_exact_at(&mut wanted[..length], at)?;
            device.read_exact_at(&mut found[..length], at)?;
            if wanted[..length] != found[..length] {
                device.write_all_at(&wanted[..length], at)?;
            }
            at += length as u64;
        }
    }
    device.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECTOR: usize = 512;

    /// A log with an entry for each write, discard or mark.
    fn log(entries: &[(u64, u64, u64, &[u8])]) -> File {
        let numbers = |numbers: &[u64]| {
            let mut sector: Vec<u8> = numbers.iter().flat_map(|one| one.to_le_bytes()).collect();
            sector.resize(SECTOR, 0);
            sector
        };
        let mut bytes = numbers(&[MAGIC, VERSION, entries.len() as u64, SECTOR as u64]);
        for (sector, sectors, flags, data) in entries {
            let mut entry = numbers(&[*sector, *sectors, *flags, data.len() as u64]);
            if flags & MARK != 0 {
                entry[HEAD..HEAD + data.len()].copy_from_slice(data);
                bytes.extend(entry);
            } else {
                bytes.extend(entry);
                bytes.extend(*data);
            }
        }
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(&bytes, 0).unwrap();
        file
    }

    #[test]
    fn disk_has_the_writes_before_the_last_mark_of_the_round() {
        let [one, two, three] = [[1; SECTOR], [2; SECTOR], [3; SECTOR]];
        let log = log(&[
            (1, 1, 0, &one),
            (0, 0, MARK, b"round-1"),
            (1, 1, 0, &two),
            (0, 4, DISCARD, &[]),
            (0, 0, MARK, b"round-1"),
            (2, 1, 0, &three),
        ]);
        let log = WriteLog::open(&log).unwrap();
        assert_eq!(log.marks("round-2").unwrap(), [0; 0]);
        let marks = log.marks("round-1").unwrap();
        assert_eq!(marks, [1, 4]);
        let (image, device) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        image.set_len(4 * SECTOR as u64).unwrap();
        // The disk was blank where the log has no write.
        device.set_len(4 * SECTOR as u64).unwrap();
        device
            .write_all_at(&[9; 2 * SECTOR], SECTOR as u64)
            .unwrap();
        log.replay(marks[1], &image).unwrap();
        let written = log.written().unwrap();
        let two_sectors = SECTOR as u64..3 * SECTOR as u64;
        assert_eq!(written, std::slice::from_ref(&two_sectors));
        copy(&image, &device, &written).unwrap();
        let mut found = vec![7; 4 * SECTOR];
        device.read_exact_at(&mut found, 0).unwrap();
        let expected = [[0; SECTOR], two, [0; SECTOR], [0; SECTOR]].concat();
        assert!(found == expected, "the device is not as at the mark");
    }

    #[test]
    fn other_devices_and_impossible_entries_are_refused() {
        let blank = tempfile::tempfile().unwrap();
        blank.set_len(4096).unwrap();
        assert!(WriteLog::open(&blank).is_err());
        let long = log(&[(0, u64::MAX, 0, &[])]);
        let found = WriteLog::open(&long).unwrap().marks("m");
        assert!(found.unwrap_err().to_string().contains("impossible entry"));
    }
}
