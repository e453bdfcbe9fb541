//! Format of records and of completed parts in the database: compressed JSON.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use record::read::BYTES_MAX;
use record::{Completed, ReadError, Record};

/// Returns the JSON text of a record. Equal records result in equal texts.
pub(crate) fn text(record: &Record) -> String {
    // Writing cannot fail: maps have string keys, numbers are finite, and the destination is
    // memory.
    let record = serde_json::to_string(record).unwrap_or_default();
    format!("{{\"record\":{record}}}")
}

pub(crate) fn part(completed: &Completed) -> String {
    // Cannot fail, for the same reasons as in [`text`].
    serde_json::to_string(completed).unwrap_or_default()
}

/// Parses a record, and adds the parts (phases, load levels) that its run completed later.
pub(crate) fn record(text: &str, parts: &[String]) -> Result<Record, ReadError> {
    let mut record = Record::from_json(text)?;
    if parts.is_empty() {
        return Ok(record);
    }
    for part in parts {
        record.add(Completed::from_json(part)?);
    }
    // The extended record must pass the same validation as a record from another source.
    Record::from_json(&self::text(&record))
}

/// Compresses a text, preceded by its length as eight bytes in little-endian order.
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
/// Returns an error if the bytes are not the result of [`pack`].
pub(crate) fn unpack(bytes: &[u8]) -> Result<String, String> {
    let Some((length, packed)) = bytes.split_first_chunk::<8>() else {
        return Err("it is truncated".to_owned());
    };
    let length = u64::from_le_bytes(*length);
    // The parser would reject a longer record, so such a record is not decompressed.
    if length > BYTES_MAX as u64 {
        return Err(format!("its length would be {length} bytes"));
    }
    let mut text = String::new();
    // The decoder reports no error for truncated data, so the length is compared.
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
    fn unpack_restores_packed_text_and_detects_damage() {
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
