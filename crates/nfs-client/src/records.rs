//! RPC records in a stream of bytes (RFC 5531, section 11). Splits received bytes into replies, and
//! joins replies that arrive in fragments.

use std::io::{self, Read};

use crate::xdr::Garbled;

/// The bit of a record mark (the 4 bytes before each fragment) that is set for the last fragment of
/// a record. The other bits are the fragment's length.
const LAST_FRAGMENT: u32 = 1 << 31;
/// The length of the record mark that precedes each fragment, in bytes.
pub const MARK_BYTES: usize = 4;

/// The minimum size of the receive buffer, enough for several short replies.
const RECEIVED_BYTES_MIN: usize = 128 << 10;

/// Returns the record mark that precedes a fragment of `length` bytes.
#[inline]
pub fn mark(length: usize, is_last: bool) -> [u8; MARK_BYTES] {
    let last = if is_last { LAST_FRAGMENT } else { 0 };
    (length as u32 | last).to_be_bytes()
}

/// Splits a record into fragments of at most `bytes_max` bytes, each preceded by its mark.
pub fn fragments(record: &[u8], bytes_max: usize) -> Vec<Vec<u8>> {
    let size = bytes_max.clamp(1, record.len().max(1));
    let count = record.len().div_ceil(size).max(1);
    let part = |number: usize| {
        let part = &record[number * size..record.len().min((number + 1) * size)];
        [&mark(part.len(), number + 1 == count), part].concat()
    };
    (0..count).map(part).collect()
}

/// Reads the next record of a stream and joins its fragments. For servers and tests: the function
/// blocks, and does not limit the length of the record.
///
/// # Errors
/// Returns an error if the stream ends or fails.
pub fn read_record(stream: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut record = Vec::new();
    loop {
        let mut mark = [0; MARK_BYTES];
        stream.read_exact(&mut mark)?;
        let mark = u32::from_be_bytes(mark);
        let before = record.len();
        record.resize(before + (mark & !LAST_FRAGMENT) as usize, 0);
        stream.read_exact(&mut record[before..])?;
        if mark & LAST_FRAGMENT != 0 {
            return Ok(record);
        }
    }
}

/// A receive buffer that splits the received bytes into records.
#[derive(Debug)]
pub struct Records {
    /// The receive buffer; the bytes from `begin` to `end` are not processed yet.
    received: Vec<u8>,
    begin: usize,
    end: usize,
    /// The joined fragments of an incomplete record.
    fragments: Vec<u8>,
    has_fragments: bool,
    record_bytes_max: usize,
}

/// The position of a record's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    /// In the receive buffer, from the first to the second offset.
    Whole(usize, usize),
    /// In the buffer of joined fragments.
    Fragments,
}

impl Records {
    /// Creates a buffer for records of at most `record_bytes_max` bytes.
    pub fn new(record_bytes_max: usize) -> Self {
        // A complete record and its mark always fit: `room` moves the received bytes to the start
        // of the buffer if necessary.
        let room = (record_bytes_max + MARK_BYTES).max(RECEIVED_BYTES_MIN);
        Self {
            received: vec![0; room],
            begin: 0,
            end: 0,
            fragments: Vec::new(),
            has_fragments: false,
            record_bytes_max,
        }
    }

    /// Returns the space for received bytes. This space is never empty if the caller first calls
    /// [`next_record`](Self::next_record) until no complete record is left.
    #[inline]
    pub fn room(&mut self) -> &mut [u8] {
        if self.begin == self.end {
            (self.begin, self.end) = (0, 0);
        } else if self.begin > 0 && self.received.len() - self.end < self.received.len() / 2 {
            self.received.copy_within(self.begin..self.end, 0);
            (self.begin, self.end) = (0, self.end - self.begin);
        }
        &mut self.received[self.end..]
    }

    /// Records that `length` bytes were received into [`room`](Self::room).
    #[inline]
    pub fn filled(&mut self, length: usize) {
        self.end += length;
    }

    /// Returns the next complete record; `None` if no record is complete, or an error if the bytes
    /// are not valid records.
    #[inline]
    pub fn next_record(&mut self) -> Result<Option<Record>, Garbled> {
        loop {
            let Some(mark) = self.received[self.begin..self.end].first_chunk::<MARK_BYTES>() else {
                return Ok(None);
            };
            let mark = u32::from_be_bytes(*mark);
            let length = (mark & !LAST_FRAGMENT) as usize;
            let is_last = mark & LAST_FRAGMENT != 0;
            if length + self.fragments.len() > self.record_bytes_max {
                return Err(Garbled);
            }
            let begin = self.begin + MARK_BYTES;
            if self.end - begin < length {
                return Ok(None);
            }
            self.begin = begin + length;
            if is_last && !self.has_fragments {
                return Ok(Some(Record::Whole(begin, self.begin)));
            }
            self.fragments
                .extend_from_slice(&self.received[begin..self.begin]);
            self.has_fragments = !is_last;
            if is_last {
                return Ok(Some(Record::Fragments));
            }
        }
    }

    /// Returns the bytes of the record that [`next_record`](Self::next_record) returned last.
    #[inline]
    pub fn bytes(&self, record: Record) -> &[u8] {
        match record {
            Record::Whole(begin, end) => &self.received[begin..end],
            Record::Fragments => &self.fragments,
        }
    }

    /// Releases the record that [`next_record`](Self::next_record) returned last.
    #[inline]
    pub fn done_with(&mut self, record: Record) {
        if record == Record::Fragments {
            self.fragments.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &[u8], is_last: bool) -> Vec<u8> {
        [&mark(text.len(), is_last), text].concat()
    }

    /// Returns all records of a stream that arrives in pieces of `piece` bytes.
    fn records(stream: &[u8], piece: usize, max: usize) -> Result<Vec<Vec<u8>>, Garbled> {
        let mut records = Records::new(max);
        let mut found = Vec::new();
        for mut bytes in stream.chunks(piece) {
            while !bytes.is_empty() {
                let room = records.room();
                let length = room.len().min(bytes.len());
                assert!(length > 0, "there is always room");
                room[..length].copy_from_slice(&bytes[..length]);
                records.filled(length);
                bytes = &bytes[length..];
                while let Some(record) = records.next_record()? {
                    found.push(records.bytes(record).to_vec());
                    records.done_with(record);
                }
            }
        }
        Ok(found)
    }

    #[test]
    fn records_are_decoded_from_pieces_of_any_size() {
        let long = vec![7; RECEIVED_BYTES_MIN];
        let stream = [
            marked(b"first", true),
            marked(b"", false),
            marked(b"sec", false),
            marked(b"ond", true),
            marked(b"", true),
            marked(&long, true),
            marked(b"x", false),
            marked(&long[1..], true),
            marked(b"last", true),
        ]
        .concat();
        for piece in [1, 3, 1_000, 100_000, stream.len()] {
            let found = records(&stream, piece, RECEIVED_BYTES_MIN).unwrap();
            let [first, second, empty, whole, put_together, last] = &found[..] else {
                panic!("{} records", found.len())
            };
            assert_eq!(
                (&first[..], &second[..], &empty[..]),
                (&b"first"[..], &b"second"[..], &b""[..])
            );
            assert_eq!(
                (whole, put_together.len(), &last[..]),
                (&long, long.len(), &b"last"[..])
            );
        }
    }

    #[test]
    fn records_round_trip_through_fragments() {
        for record in [&b""[..], b"x", b"some words"] {
            for bytes_max in [1, 3, 10, usize::MAX] {
                let stream = fragments(record, bytes_max).concat();
                assert_eq!(read_record(&mut &stream[..]).unwrap(), record);
                assert_eq!(records(&stream, 3, 100), Ok(vec![record.to_vec()]));
            }
        }
    }

    #[test]
    fn too_long_records_are_rejected() {
        assert_eq!(records(&marked(&[0; 101], true), 1_000, 100), Err(Garbled));
        let in_parts = [marked(&[0; 60], false), marked(&[0; 41], true)].concat();
        assert_eq!(records(&in_parts, 7, 100), Err(Garbled));
        assert_eq!(records(b"HTTP/1.1 200 OK", 7, 1 << 20), Err(Garbled));
    }
}
