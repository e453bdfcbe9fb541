//! Bytes of servers read as replies, for fuzzing.

use crate::data::Status;
use crate::procedure::Procedure;
use crate::records::Records;
use crate::{results, rpc};

/// How many procedures [`examine_reply`] knows.
pub const PROCEDURES: usize = Procedure::ALL.len();

/// Reads a reply, as bytes from a server, as one to the procedure of this number below
/// [`PROCEDURES`]; gives how many entries or bytes of contents it has. For fuzzing: nothing here
/// may panic, or allocate.
///
/// # Errors
/// What is wrong with it.
pub fn examine_reply(procedure: usize, record: &[u8]) -> Result<usize, &'static str> {
    let procedure = Procedure::ALL[procedure % PROCEDURES];
    let (_, body) = rpc::reply(record).map_err(|_| "no reply")?;
    let mut reader = body.map_err(|_| "no reply")?.map_err(|_| "refused")?;
    if procedure != Procedure::GetPort && Status::read(&mut reader) != Ok(Status::Done) {
        return Err("failed");
    }
    results::examine(procedure, reader).map_err(|_| "garbled")
}

/// Reads a stream of bytes from a server, which comes in pieces of so many, as replies to the
/// procedure of this number; gives how many records there were, and how many entries and bytes of
/// contents in them. For fuzzing, as [`examine_reply`].
///
/// # Errors
/// Where the bytes are no records.
pub fn examine_stream(
    procedure: usize,
    stream: &[u8],
    piece: usize,
) -> Result<(usize, usize), &'static str> {
    /// As where nothing larger was agreed.
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
