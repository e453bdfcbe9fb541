//! Counts the messages on the network independently of the program. Packets are captured in the
//! network namespace of the server, and `tshark` decodes the calls.

use std::collections::BTreeMap;
use std::path::Path;

use super::ganesha::{Ganesha, NFS_PORT, is_program};
use super::records::Procedure;
use crate::support::{Packets, is_met, tool};

#[derive(Debug)]
pub struct Capture(Packets);

impl Capture {
    /// Starts a capture on the loopback interface. `None` if the test cannot capture packets.
    pub fn begin(ganesha: &Ganesha) -> Option<Self> {
        Self::begin_at(ganesha, "lo")
    }

    /// Starts a capture on the named interface in the network namespace of the server.
    pub fn begin_at(ganesha: &Ganesha, interface: &str) -> Option<Self> {
        let there = is_program("tshark") && is_program("dumpcap");
        if !is_met(there, "tshark") {
            return None;
        }
        let directory = ganesha.test_dir().path();
        let command = ganesha.command(Path::new("dumpcap"));
        Some(Self(Packets::begin(
            command, directory, interface, NFS_PORT,
        )))
    }

    pub fn end(self) -> Wire {
        self.0.end(|file| Wire {
            calls: calls(file),
            answered: answered(file),
        })
    }
}

/// Captured calls of NFS version 3.
#[derive(Debug, PartialEq, Eq)]
pub struct Wire {
    pub calls: BTreeMap<String, u64>,
    /// Number of calls of each procedure that have a reply (`tshark -z rpc,srt`).
    pub answered: BTreeMap<String, u64>,
}

/// The output of `tshark` for a capture file. The server's port is declared as RPC, because
/// `tshark` might decode the client's port as another protocol.
fn told(file: &str, words: &[&str]) -> String {
    let port = format!("tcp.port=={NFS_PORT},rpc");
    tool("tshark", &[&["-r", file, "-d", &port], words].concat())
}

/// Number of calls of each procedure. If a TCP segment contains several calls, all are counted.
fn calls(file: &str) -> BTreeMap<String, u64> {
    let filter = format!("tcp.dstport == {NFS_PORT} && rpc.program == 100003");
    let told = told(
        file,
        &["-Y", &filter, "-T", "fields", "-e", "nfs.procedure_v3"],
    );
    let numbers = told
        .split([',', '\n'])
        .filter_map(|number| number.trim().parse().ok());
    let mut calls = BTreeMap::new();
    for number in numbers {
        *calls
            .entry(Procedure(number).name().to_owned())
            .or_default() += 1;
    }
    calls
}

/// Parses the table of service response times, which contains number, name and calls of each
/// procedure.
fn answered(file: &str) -> BTreeMap<String, u64> {
    let told = told(file, &["-q", "-z", "rpc,srt,100003,3"]);
    let row = |line: &str| {
        let mut words = line.split_whitespace();
        let _number: u32 = words.next()?.parse().ok()?;
        Some((words.next()?.to_owned(), words.next()?.parse().ok()?))
    };
    told.lines().filter_map(row).collect()
}
