//! Operations from captured calls of NFS version 3.

use std::io::Cursor;

use nfs_client::xdr::{Reader, Writer};
use nfs_client::{Handle, Procedure, Stable, arguments};
use trace::{ReplayRequest, read_for_replay};
use workload::replay::{Built, Timing};

use crate::{learned, left_out, mix};

const CLIENT: [u8; 4] = [10, 0, 0, 1];
const SERVER: [u8; 4] = [10, 0, 0, 2];

fn put(out: &mut Vec<u8>, words: &[u32]) {
    words.iter().for_each(|word| out.put_u32(*word));
}

/// Writes packets of a connection into a capture in the classic format.
#[derive(Default)]
struct Capture {
    bytes: Vec<u8>,
    sent: [u32; 2],
    number: u32,
    packets: Vec<Vec<u8>>,
}

fn handle(name: &str) -> Handle {
    let mut bytes = Vec::new();
    bytes.put_opaque(name.as_bytes());
    Handle::read(&mut Reader::new(&bytes)).unwrap()
}

impl Capture {
    fn segment(&mut self, is_reply: bool, bytes: &[u8]) {
        let (from, to) = match is_reply {
            true => (SERVER, CLIENT),
            false => (CLIENT, SERVER),
        };
        let ports: [u16; 2] = match is_reply {
            true => [2049, 700],
            false => [700, 2049],
        };
        let sequence = &mut self.sent[usize::from(is_reply)];
        let mut packet = vec![0; 12];
        packet.extend([8, 0, 0x45, 0]);
        packet.extend((40 + bytes.len() as u16).to_be_bytes());
        packet.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
        packet.extend(from);
        packet.extend(to);
        packet.extend(ports.map(u16::to_be_bytes).concat());
        packet.extend(sequence.to_be_bytes());
        packet.extend([0; 4]);
        packet.extend([0x50, 0x10, 1, 0, 0, 0, 0, 0]);
        packet.extend(bytes);
        *sequence += bytes.len() as u32;
        self.packets.push(packet);
    }

    /// Adds a call with its reply, in segments of at most 300 bytes.
    fn exchange(&mut self, procedure: Procedure, arguments: &[u8], results: &[u8]) {
        self.number += 1;
        let mut call = Vec::new();
        let head = [
            self.number,
            0,
            2,
            100_003,
            3,
            procedure.number(),
            0,
            0,
            0,
            0,
        ];
        head.iter().for_each(|word| call.put_u32(*word));
        let mut reply = Vec::new();
        put(&mut reply, &[self.number, 1, 0, 0, 0, 0]);
        for (is_reply, message, rest) in [(false, call, arguments), (true, reply, results)] {
            let message = [&message[..], rest].concat();
            let mark = (1 << 31 | message.len() as u32).to_be_bytes();
            let record = [&mark[..], &message].concat();
            for part in record.chunks(300) {
                self.segment(is_reply, part);
            }
        }
    }

    /// Returns the file with microseconds; each packet comes a millisecond after the last one.
    fn file(mut self) -> Vec<u8> {
        for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65535, 1] {
            self.bytes.extend(word.to_le_bytes());
        }
        for (index, packet) in self.packets.iter().enumerate() {
            let length = packet.len() as u32;
            for word in [1_700_000_000, index as u32 * 1000, length, length] {
                self.bytes.extend(word.to_le_bytes());
            }
            self.bytes.extend(packet);
        }
        self.bytes
    }
}

fn calls() -> Capture {
    let mut capture = Capture::default();
    let (root, file) = (handle("root"), handle("file"));
    let mut arguments = Vec::new();
    arguments::name_in(&mut arguments, &root, b"f");
    // NFS3ERR_NOENT, and no attributes of the directory.
    capture.exchange(Procedure::Lookup, &arguments, &[0, 0, 0, 2, 0, 0, 0, 0]);
    arguments.clear();
    arguments::create(
        &mut arguments,
        &root,
        b"f",
        arguments::Creation::Guarded(0o644),
    );
    let mut results = Vec::new();
    results.put_u32(0);
    results.put_u32(1);
    file.write(&mut results);
    results.extend([0; 12]);
    capture.exchange(Procedure::Create, &arguments, &results);
    for (offset, length) in [(0, 1000), (1000, 500)] {
        arguments.clear();
        arguments::write(
            &mut arguments,
            &file,
            offset,
            Stable::Unstable,
            &vec![7; length],
        );
        let mut results = Vec::new();
        put(&mut results, &[0, 0, 0, length as u32, 0, 0, 0]);
        capture.exchange(Procedure::Write, &arguments, &results);
    }
    arguments.clear();
    arguments::commit(&mut arguments, &file);
    capture.exchange(Procedure::Commit, &arguments, &[0; 20]);
    arguments.clear();
    arguments::read(&mut arguments, &file, 0, 4096);
    let mut results = Vec::new();
    put(&mut results, &[0, 0, 1500, 1]);
    results.put_opaque(&[7; 1500]);
    capture.exchange(Procedure::Read, &arguments, &results);
    arguments.clear();
    arguments::name_in(&mut arguments, &root, b"f");
    capture.exchange(Procedure::Remove, &arguments, &[0; 12]);
    capture
}

/// A capture in which a file is created, written, read and removed.
pub(crate) fn session() -> Vec<u8> {
    calls().file()
}

#[test]
fn seed_of_fuzzing_is_this_capture() {
    let seed = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fuzz/seeds/capture/calls"
    );
    if std::env::var_os("POSTMARK_WRITE_GOLDEN").is_some() {
        std::fs::write(seed, session()).unwrap();
    }
    assert!(std::fs::read(seed).unwrap() == session(), "{seed}");
}

#[test]
fn calls_become_operations_by_handle() {
    let profile = learned(&session(), "/").unwrap();
    assert_eq!(mix(&profile), "create=1 read=1 delete=1 stat-missing=1");
    assert_eq!(profile.sizes.as_ref().unwrap().max(), Some(1500));
    assert_eq!(left_out(&profile), "");
}

#[test]
fn calls_are_replayed() {
    let request = ReplayRequest {
        below: Some(b"/".to_vec()),
        operations_max: 100,
    };
    let capture = session();
    let mut read = read_for_replay(|| Ok(Cursor::new(&capture[..])), &request).unwrap();
    let built = Built::new(&mut read.trace, Timing::Pauses).unwrap();
    let mut actions: Vec<&str> = built
        .steps
        .all
        .iter()
        .map(|one| one.action.name())
        .collect();
    actions.sort_unstable();
    assert_eq!(actions, ["create", "delete", "read", "stat-missing"]);
    assert_eq!(built.steps.pauses.len(), 4);
}

#[test]
fn packets_that_are_repeated_or_out_of_order_change_nothing() {
    let mut capture = calls();
    capture.packets.swap(4, 5);
    let again = capture.packets[6].clone();
    capture.packets.insert(9, again);
    let profile = learned(&capture.file(), "/").unwrap();
    assert_eq!(mix(&profile), "create=1 read=1 delete=1 stat-missing=1");
}

#[test]
fn capture_that_is_cut_anywhere_is_read_up_to_there() {
    let capture = session();
    for end in 0..capture.len() {
        let found = learned(&capture[..end], "/");
        assert!(found.is_ok() || end + 150 < capture.len(), "{end}");
    }
}

#[test]
fn other_links_and_formats_are_read() {
    let expected = "create=1 read=1 delete=1 stat-missing=1";
    // A link of raw packets, in a file with nanoseconds and swapped bytes.
    let mut swapped = Vec::new();
    for word in [0xa1b2_3c4d_u32, 0x0002_0004, 0, 0, 65535, 101] {
        swapped.extend(word.to_be_bytes());
    }
    // The same packets in blocks.
    let mut blocks = Vec::new();
    let words = |out: &mut Vec<u8>, words: &[u32]| {
        words.iter().for_each(|word| out.extend(word.to_le_bytes()));
    };
    words(
        &mut blocks,
        &[0x0a0d_0d0a, 28, 0x1a2b_3c4d, 1, u32::MAX, u32::MAX, 28],
    );
    words(&mut blocks, &[1, 20, 101, 65535, 20]);
    for packet in &calls().packets {
        let packet = &packet[14..];
        let length = packet.len() as u32;
        for word in [1_700_000_000, 5, length, length] {
            swapped.extend(word.to_be_bytes());
        }
        swapped.extend(packet);
        let padded = length.next_multiple_of(4);
        words(&mut blocks, &[6, 32 + padded, 0, 1, 2, length, length]);
        blocks.extend(packet);
        blocks.extend(vec![0; (padded - length) as usize]);
        words(&mut blocks, &[32 + padded]);
    }
    for capture in [swapped, blocks] {
        assert_eq!(mix(&learned(&capture, "/").unwrap()), expected);
    }
}
