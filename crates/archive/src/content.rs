//! Records and their parts as they lie in the database: JSON, compressed.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use record::read::BYTES_MAX;
use record::{Completed, ReadError, Record};

/// A record as a text: the same for equal ones.
pub(crate) fn text(record: &Record) -> String {
    // Maps have string keys and numbers are finite: writing to memory cannot fail.
    let record = serde_json::to_string(record).unwrap_or_default();
    format!("{{\"record\":{record}}}")
}

/// A part as a text.
pub(crate) fn part(completed: &Completed) -> String {
    // As above.
    serde_json::to_string(completed).unwrap_or_default()
}

/// The record of a text, and the parts that were completed after it was written.
pub(crate) fn record(text: &str, parts: &[String]) -> Result<Record, ReadError> {
    let mut record = Record::from_json(text)?;
    if parts.is_empty() {
        return Ok(record);
    }
    for part in parts {
        record.add(Completed::from_json(part)?);
    }
    // What is asked of a record is asked of one that was put together, too.
    Record::from_json(&self::text(&record))
}

/// The length, little-endian in eight bytes, and the text compressed.
pub(crate) fn pack(text: &str) -> Vec<u8> {
    let mut packed = ZlibEncoder::new(
        Vec::from((text.len() as u64).to_le_bytes()),
        Compression::default(),
    );
    // Writing to memory cannot fail.
    let written = packed
        .write_all(text.as_bytes())
        .and_then(|()| packed.finish());
    written.unwrap_or_default()
}

/// # Errors
/// Where the bytes are not what was packed.
pub(crate) fn unpack(bytes: &[u8]) -> Result<String, String> {
    let Some((length, packed)) = bytes.split_first_chunk::<8>() else {
        return Err("it is truncated".to_owned());
    };
    let length = u64::from_le_bytes(*length);
    // What is longer would not be read.
    if length > BYTES_MAX as u64 {
        return Err(format!("its length would be {length} bytes"));
    }
    let mut text = String::new();
    // What is cut off ends like what is whole: only its length tells.
    let read = ZlibDecoder::new(packed)
        .take(length + 1)
        .read_to_string(&mut text);
    match read {
        Ok(read) if read as u64 == length => Ok(text),
        Ok(read) => Err(format!("it has {read} of {length} bytes")),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_packed_is_unpacked_and_nothing_else() {
        let text = "{\"a\": 1}".repeat(1_000);
        let mut packed = pack(&text);
        assert!(packed.len() < text.len() / 10);
        assert_eq!(unpack(&packed).as_deref(), Ok(&text[..]));
        assert!(unpack(&packed[..packed.len() - 5]).is_err());
        let middle = packed.len() / 2;
        packed[middle] ^= 0x10;
        assert!(unpack(&packed).is_err());
        assert!(unpack(b"").is_err());
    }
}
