//! Reassembles one direction of a TCP connection, and splits it into records of RPC.

use std::collections::BTreeMap;

/// The bytes of segments that wait for earlier ones.
const WAITING_BYTES_MAX: usize = 4 << 20;
/// The bytes of a record that are kept. Contents of reads and writes come last in their records,
/// and only their lengths are needed.
const KEPT_BYTES_MAX: usize = 4 << 10;
/// Records of NFS are not longer. If one seems to be, the start of the record is wrong.
const RECORD_BYTES_MAX: usize = 8 << 20;

/// The start of a record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record(pub Vec<u8>);

/// One direction of a connection.
#[derive(Debug, Default)]
pub struct Direction {
    /// The number of the next byte; `None` before the first segment.
    next: Option<u32>,
    waiting: BTreeMap<u32, Vec<u8>>,
    waiting_bytes: usize,
    mark: Vec<u8>,
    /// Bytes of the current fragment that are missing.
    missing: usize,
    is_last: bool,
    record: Vec<u8>,
    length: usize,
    /// Whether the start of a record is searched at the start of segments.
    is_lost: bool,
    /// Gaps that were not filled.
    pub gaps: u64,
}

impl Direction {
    /// Takes a segment, and returns the records that are now complete.
    pub fn take(&mut self, sequence: u32, begins: bool, bytes: &[u8]) -> Vec<Record> {
        let mut records = Vec::new();
        if begins {
            *self = Self {
                gaps: self.gaps,
                next: Some(sequence.wrapping_add(1)),
                ..Self::default()
            };
            return records;
        }
        if bytes.is_empty() {
            return records;
        }
        if self.next.is_none() {
            // The capture began after the connection.
            (self.next, self.is_lost) = (Some(sequence), true);
        }
        self.wait(sequence, bytes);
        self.proceed(&mut records);
        if self.waiting_bytes > WAITING_BYTES_MAX {
            self.skip();
            self.proceed(&mut records);
        }
        records
    }

    /// Gives up bytes that never came.
    fn skip(&mut self) {
        self.gaps += 1;
        let next = self.next.unwrap_or(0);
        let nearest = self
            .waiting
            .keys()
            .min_by_key(|sequence| sequence.wrapping_sub(next))
            .copied();
        self.next = nearest.or(self.next);
        self.is_lost = true;
    }

    fn wait(&mut self, sequence: u32, bytes: &[u8]) {
        let ahead = sequence.wrapping_sub(self.next.unwrap_or(sequence)) as i32;
        // A segment that was sent again contains bytes that are already known.
        let known = usize::try_from(-i64::from(ahead.min(0))).unwrap_or(0);
        let Some(new) = bytes.get(known..).filter(|new| !new.is_empty()) else {
            return;
        };
        let at = sequence.wrapping_add(known as u32);
        let longest = self.waiting.get(&at).map_or(0, Vec::len);
        if new.len() > longest {
            self.waiting_bytes += new.len() - longest;
            self.waiting.insert(at, new.to_vec());
        }
    }

    fn proceed(&mut self, records: &mut Vec<Record>) {
        while let Some(next) = self.next {
            let ready = self.waiting.remove(&next).or_else(|| {
                // A segment may begin before the next byte and end after it.
                let before = *self
                    .waiting
                    .keys()
                    .find(|at| (at.wrapping_sub(next) as i32) < 0)?;
                let bytes = self.waiting.remove(&before)?;
                let known = next.wrapping_sub(before) as usize;
                self.waiting_bytes -= bytes.len().min(known);
                Some(bytes.get(known..).unwrap_or_default().to_vec())
            });
            let Some(bytes) = ready else { return };
            self.waiting_bytes = self.waiting_bytes.saturating_sub(bytes.len());
            self.next = Some(next.wrapping_add(bytes.len() as u32));
            self.feed(&bytes, records);
        }
    }

    /// Adds bytes of the stream.
    fn feed(&mut self, bytes: &[u8], records: &mut Vec<Record>) {
        if self.is_lost {
            if !starts_record(bytes) {
                return;
            }
            self.is_lost = false;
            self.mark.clear();
            self.record.clear();
            (self.missing, self.length) = (0, 0);
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.missing == 0 {
                let needed = 4 - self.mark.len();
                let (mark, after) = rest.split_at(needed.min(rest.len()));
                self.mark.extend_from_slice(mark);
                rest = after;
                let Some(mark) = self.mark.first_chunk::<4>() else {
                    return;
                };
                let mark = u32::from_be_bytes(*mark);
                self.mark.clear();
                self.is_last = mark >> 31 == 1;
                self.missing = (mark & 0x7fff_ffff) as usize;
                self.length += self.missing;
                if self.length > RECORD_BYTES_MAX {
                    self.is_lost = true;
                    self.gaps += 1;
                    return;
                }
            }
            let (part, after) = rest.split_at(self.missing.min(rest.len()));
            let free = KEPT_BYTES_MAX - self.record.len();
            self.record.extend_from_slice(&part[..part.len().min(free)]);
            self.missing -= part.len();
            rest = after;
            if self.missing == 0 && self.is_last {
                records.push(Record(std::mem::take(&mut self.record)));
                (self.length, self.is_last) = (0, false);
            }
        }
    }
}

/// Whether bytes look like the start of a record: a mark, an identifier, and a call or a reply.
fn starts_record(bytes: &[u8]) -> bool {
    let word = |at: usize| Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?));
    let length = word(0).map(|mark| (mark & 0x7fff_ffff) as usize);
    let is_length = length.is_some_and(|length| (24..=RECORD_BYTES_MAX).contains(&length));
    // A call is followed by the version of RPC.
    let is_call = word(8) == Some(0) && word(12) == Some(2);
    let is_reply = word(8) == Some(1) && word(12).is_some_and(|state| state <= 1);
    is_length && (is_call || is_reply)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(byte: u8, length: usize) -> Vec<u8> {
        let mut bytes = (1 << 31 | length as u32).to_be_bytes().to_vec();
        bytes.resize(4 + length, byte);
        bytes
    }

    fn taken(direction: &mut Direction, at: usize, bytes: &[u8]) -> Vec<u8> {
        let records = direction.take((at as u32).wrapping_sub(10), false, bytes);
        records.iter().map(|record| record.0[0]).collect()
    }

    #[test]
    fn segments_are_put_in_order_and_repeated_bytes_are_ignored() {
        let stream = [record(1, 40), record(2, 30), record(3, 9000)].concat();
        let mut direction = Direction::default();
        direction.take(0_u32.wrapping_sub(11), true, &[]);
        assert_eq!(taken(&mut direction, 20, &stream[20..60]), b"");
        assert_eq!(taken(&mut direction, 0, &stream[..30]), [1]);
        assert_eq!(taken(&mut direction, 10, &stream[10..90]), [2]);
        assert_eq!(taken(&mut direction, 0, &stream[..30]), b"");
        assert_eq!(taken(&mut direction, 90, &stream[90..]), [3]);
        assert_eq!((direction.gaps, direction.waiting_bytes), (0, 0));
    }

    #[test]
    fn lost_segment_is_told_and_memory_is_bounded() {
        let mut direction = Direction::default();
        direction.take(0_u32.wrapping_sub(11), true, &[]);
        for index in 0..20_000 {
            direction.take(1000 + index * 1000, false, &[0xff; 1000]);
            assert!(direction.waiting_bytes <= WAITING_BYTES_MAX + 1000);
        }
        assert!(direction.gaps >= 1);
    }
}
