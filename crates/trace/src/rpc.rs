//! Pairs calls of NFS version 3 with their replies, in captured packets.

use std::collections::HashMap;
use std::io::{self, Read};

use nfs_client::xdr::Reader;
use nfs_client::{Garbled, Program};

use crate::capture::Capture;
use crate::connection::Direction;
use crate::done::Stamp;
use crate::nfs::{Exchange, Server};
use crate::reason::Reason;
use crate::recorder::Recorder;
use crate::segment::{Ends, segment};

const CONNECTIONS_MAX: usize = 4096;
/// The number of calls without a reply, of all connections.
const CALLS_MAX: usize = 1 << 16;
/// The maximum length of credentials and verifiers (`MAX_AUTH_BYTES`, RFC 5531).
const AUTHENTICATION_BYTES_MAX: usize = 400;

/// A call that waits for its reply.
struct Call {
    procedure: u32,
    arguments: Vec<u8>,
    begin: Stamp,
}

/// Follows all connections of a capture.
struct Connections {
    directions: HashMap<Ends, Direction>,
    calls: HashMap<(Ends, u32), Call>,
    clients: HashMap<Ends, u32>,
    server: Server,
}

/// Reads a capture and records its operations.
///
/// # Errors
/// Returns the error of the input.
pub fn read(input: impl Read, recorder: Recorder) -> io::Result<Recorder> {
    let mut capture = Capture::new(input)?;
    let mut connections = Connections {
        directions: HashMap::new(),
        calls: HashMap::new(),
        clients: HashMap::new(),
        server: Server::new(recorder),
    };
    let mut now = Stamp::default();
    while let Some(packet) = capture.next_packet()? {
        now.order += 1;
        now.ns = Some(packet.ns);
        if let Some(segment) = segment(packet.link, packet.bytes) {
            connections.take(segment, now);
        }
        if connections.server.recorder.is_full() {
            break;
        }
    }
    let Connections {
        directions,
        calls,
        mut server,
        ..
    } = connections;
    let gaps: u64 = directions.values().map(|direction| direction.gaps).sum();
    server.recorder.leave_out_times(Reason::Lost, gaps);
    server
        .recorder
        .leave_out_times(Reason::Unanswered, calls.len() as u64);
    server
        .recorder
        .leave_out_times(Reason::Packets, capture.skipped);
    Ok(server.finish(now))
}

impl Connections {
    fn take(&mut self, segment: crate::segment::Segment<'_>, now: Stamp) {
        let ends = segment.ends;
        let is_full = self.directions.len() >= 2 * CONNECTIONS_MAX;
        if is_full && !self.directions.contains_key(&ends) {
            self.server.recorder.leave_out(Reason::Connections, None);
            return;
        }
        let direction = self.directions.entry(ends).or_default();
        let records = direction.take(segment.sequence, segment.begins, segment.bytes);
        for record in records {
            self.record(ends, &record.0, now);
        }
    }

    fn record(&mut self, ends: Ends, record: &[u8], now: Stamp) {
        let mut reader = Reader::new(record);
        let Some((number, kind)) = reader.u32().ok().zip(reader.u32().ok()) else {
            return;
        };
        match kind {
            0 => self.call(ends, number, reader, now),
            1 => self.reply(ends, number, reader, now),
            _ => {}
        }
    }

    fn call(&mut self, ends: Ends, number: u32, mut reader: Reader<'_>, now: Stamp) {
        let Ok((program, version, procedure)) = call_head(&mut reader) else {
            return;
        };
        let is_nfs = program == Program::Nfs.number();
        if !is_nfs || version != Program::Nfs.version() {
            self.server.recorder.leave_out(Reason::Versions, None);
            return;
        }
        if self.calls.len() >= CALLS_MAX {
            self.server.recorder.leave_out(Reason::Unanswered, None);
            self.calls.clear();
        }
        let call = Call {
            procedure,
            arguments: reader.rest().to_vec(),
            begin: now,
        };
        // A call that was sent again has the same number.
        self.calls.entry((ends, number)).or_insert(call);
    }

    fn reply(&mut self, ends: Ends, number: u32, mut reader: Reader<'_>, now: Stamp) {
        let client = Ends {
            from: ends.to,
            to: ends.from,
        };
        let Some(call) = self.calls.remove(&(client, number)) else {
            return;
        };
        if reply_head(&mut reader) != Ok(true) {
            return;
        }
        let next = self.clients.len() as u32 + 1;
        let thread = *self.clients.entry(client).or_insert(next);
        self.server.take(&Exchange {
            thread,
            procedure: call.procedure,
            arguments: &call.arguments,
            results: reader,
            begin: call.begin,
            end: now,
        });
    }
}

/// Decodes a call up to its arguments. Returns program, version and procedure.
fn call_head(reader: &mut Reader<'_>) -> Result<(u32, u32, u32), Garbled> {
    let _version_of_rpc = reader.u32()?;
    let head = (reader.u32()?, reader.u32()?, reader.u32()?);
    for _ in ["credential", "verifier"] {
        reader.u32()?;
        reader.opaque(AUTHENTICATION_BYTES_MAX)?;
    }
    Ok(head)
}

/// Decodes a reply up to its results. Returns whether the call was executed.
fn reply_head(reader: &mut Reader<'_>) -> Result<bool, Garbled> {
    let is_accepted = reader.u32()? == 0;
    reader.u32()?;
    reader.opaque(AUTHENTICATION_BYTES_MAX)?;
    Ok(is_accepted && reader.u32()? == 0)
}
