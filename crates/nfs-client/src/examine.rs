//! Decodes arbitrary bytes as replies, for fuzzing.

use crate::data::Status;
use crate::procedure::Procedure;
use crate::records::Records;
use crate::{results, rpc};

/// The number of procedures that [`examine_reply`] supports.
pub const PROCEDURES: usize = Procedure::ALL.len();

/// Decodes `record` as a reply to the procedure with this number, modulo [`PROCEDURES`]. Returns
/// the number of entries or bytes of contents in the reply. For fuzzing: this function must neither
/// panic nor allocate memory.
///
/// # Errors
/// Returns an error that describes the invalid part of the reply.
pub fn examine_reply(procedure: usize, record: &[u8]) -> Result<usize, &'static str> {
    let procedure = Procedure::ALL[procedure % PROCEDURES];
    let (_, body) = rpc::reply(record).map_err(|_| "no reply")?;
    let mut reader = body.map_err(|_| "no reply")?.map_err(|_| "refused")?;
    if procedure != Procedure::GetPort && Status::read(&mut reader) != Ok(Status::Done) {
        return Err("failed");
    }
    results::examine(procedure, reader).map_err(|_| "garbled")
}

/// Splits a stream, which arrives in pieces of `piece` bytes, into records, and decodes each record
/// as a reply to this procedure. Returns the number of records, and the number of entries or bytes
/// of contents in all records. For fuzzing: this function must not panic.
///
/// # Errors
/// Returns an error if the bytes are not valid records.
pub fn examine_stream(
    procedure: usize,
    stream: &[u8],
    piece: usize,
) -> Result<(usize, usize), &'static str> {
    const RECORD_BYTES_MAX: usize = 4 << 10;
    let mut records = Records::new(RECORD_BYTES_MAX);
    let (mut found, mut contents) = (0, 0);
    for bytes in stream.chunks(piece.clamp(1, RECORD_BYTES_MAX)) {
        records.room()[..bytes.len()].copy_from_slice(bytes);
        records.filled(bytes.len());
        while let Some(record) = records.next_record().map_err(|_| "no record")? {
            found += 1;
            contents += examine_reply(procedure, records.bytes(record)).unwrap_or(0);
            records.done_with(record);
        }
    }
    Ok((found, contents))
}
