//! The counts in the record equal the captured packets, to the last request and byte.

use std::collections::BTreeMap;
use std::path::Path;

use crate::support::{Packets, Running, is_met, tool};

use super::store::{Store, is_program};
use super::{MIX, perform, requests, traffic};

/// What tshark finds in the packets of a run.
#[derive(Debug, PartialEq, Eq)]
struct Wire {
    requests: BTreeMap<String, u64>,
    sent_bytes: u64,
    received_bytes: u64,
    connections: u64,
}

fn begin(store: &Store) -> Option<Packets> {
    let there = is_program("tshark") && is_program("dumpcap");
    is_met(there, "tshark").then(|| {
        let dumpcap = Running::command(Path::new("dumpcap"));
        Packets::begin(dumpcap, store.path(), "lo", store.port())
    })
}

/// Returns the rows of fields that tshark decodes from the packets that pass a filter.
fn rows(file: &str, port: u16, filter: &str, fields: &[&str]) -> Vec<Vec<String>> {
    let decoded = format!("tcp.port=={port},http");
    let mut words = vec!["-r", file, "-d", &decoded, "-Y", filter, "-T", "fields"];
    // A capture of several processors contains packets in another order than they were sent.
    words.extend(["-o", "tcp.reassemble_out_of_order:TRUE"]);
    for field in fields {
        words.extend(["-e", field]);
    }
    let told = tool("tshark", &words);
    let lines = told
        .lines()
        .filter(|line| line.contains(|c: char| c.is_ascii_digit()));
    lines
        .map(|line| line.split('\t').map(str::to_owned).collect())
        .collect()
}

/// The name of a request, from its method, its path with parameters, and its headers.
fn name(method: &str, uri: &str, headers: &str) -> &'static str {
    let (path, query) = uri.split_once('?').unwrap_or((uri, ""));
    let has = |name: &str| {
        query
            .split('&')
            .any(|one| one.split('=').next() == Some(name))
    };
    match method {
        "PUT" if has("partNumber") => "UploadPart",
        "PUT" if headers.contains("x-amz-copy-source") => "CopyObject",
        "PUT" => "PutObject",
        "GET" if has("uploads") => "ListMultipartUploads",
        "GET" if path.trim_matches('/') == "bucket" => "ListObjectsV2",
        "GET" => "GetObject",
        "HEAD" => "HeadObject",
        "DELETE" if has("uploadId") => "AbortMultipartUpload",
        "DELETE" => "DeleteObject",
        "POST" if has("uploads") => "CreateMultipartUpload",
        "POST" => "CompleteMultipartUpload",
        _ => "another",
    }
}

/// Number of bytes on all connections, from sequence numbers: on a busy machine, the capture may
/// lack segments, or contain one twice.
fn bytes(file: &str, port: u16, end: &str) -> u64 {
    let filter = format!("tcp.{end} == {port} && (tcp.len > 0 || tcp.flags.fin == 1)");
    let mut ends: BTreeMap<u64, u64> = BTreeMap::new();
    for row in rows(file, port, &filter, &["tcp.stream", "tcp.seq", "tcp.len"]) {
        let [stream, sequence, length] = [0, 1, 2].map(|at: usize| row[at].parse::<u64>().unwrap());
        let end = ends.entry(stream).or_default();
        *end = (*end).max(sequence + length);
    }
    // The first byte of a connection has the number 1.
    ends.values().map(|end| end - 1).sum()
}

fn wire(file: &str, port: u16) -> Wire {
    let mut requests: BTreeMap<String, u64> = BTreeMap::new();
    let fields = [
        "http.request.method",
        "http.request.uri",
        "http.request.line",
    ];
    let filter = format!("http.request && tcp.dstport == {port}");
    for row in rows(file, port, &filter, &fields) {
        let name = name(&row[0], &row[1], &row[2]);
        *requests.entry(name.to_owned()).or_default() += 1;
    }
    let begun = format!("tcp.flags.syn == 1 && tcp.flags.ack == 0 && tcp.dstport == {port}");
    Wire {
        requests,
        sent_bytes: bytes(file, port, "dstport"),
        received_bytes: bytes(file, port, "srcport"),
        connections: rows(file, port, &begun, &["tcp.stream"]).len() as u64,
    }
}

fn equal_the_wire(options: &str) {
    let Some(store) = Store::versitygw() else {
        return;
    };
    let store = store.with_parameters("&part=5");
    let Some(packets) = begin(&store) else {
        return;
    };
    let ran = perform(&store, options);
    let captured = packets.end(|file| wire(file, store.port()));
    let traffic = traffic(&ran);
    let sum = |name: &str| {
        let kinds = traffic["messages"]["kinds"]["known"].as_array().unwrap();
        let bytes = kinds
            .iter()
            .map(|kind| kind[name]["known"].as_u64().unwrap());
        bytes.sum::<u64>()
    };
    let counted = Wire {
        requests: requests(&traffic),
        sent_bytes: sum("sent_bytes"),
        received_bytes: sum("received_bytes"),
        connections: traffic["counts"]["connections"].as_u64().unwrap(),
    };
    assert_eq!(counted, captured);
}

#[test]
fn counts_equal_captured_packets_at_depth_1() {
    equal_the_wire(&format!(
        "{MIX} --files 40 --dirs subdirs:3 --transactions 300"
    ));
}

#[test]
fn counts_equal_captured_packets_at_depth_8() {
    equal_the_wire(&format!(
        "{MIX} --files 40 --dirs subdirs:3 --transactions 300 --workers 2 --depth 8 --size \
         1..12000"
    ));
}

#[test]
fn counts_of_uploads_equal_captured_packets() {
    equal_the_wire(
        "--mix create=1,read=2,delete=1 --files 2 --size 6MiB..11MiB --depth 2 --transactions 6",
    );
}
