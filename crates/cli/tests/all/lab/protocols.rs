//! Performs the classic workload on file systems and protocols that the kernel of this machine
//! lacks.

use serde_json::Value;

use super::{Results, Script, counts, is_all, shown, tell, two_clients};
use crate::ranks;

/// What the record of a run on one file system must contain.
struct Expected {
    name: &'static str,
    class: &'static str,
    file_system: &'static str,
    source: &'static str,
    /// Kind of the device below the file system; `None` without a device.
    device: Option<&'static str>,
    /// Minimum and maximum number of messages of a run with 1,000 transactions, if known. For NFS,
    /// the number includes calls for the operations, for the run directory, and for the checks
    /// before and after the run.
    messages: Option<(u64, u64)>,
}

const EXPECTED: [Expected; 5] = [
    Expected {
        name: "nilfs2",
        class: "block",
        file_system: "nilfs2",
        source: "/dev/vda",
        device: Some("virtio"),
        messages: None,
    },
    Expected {
        name: "f2fs",
        class: "block",
        file_system: "f2fs",
        source: "/dev/vdb",
        device: Some("virtio"),
        messages: None,
    },
    Expected {
        name: "nfs3",
        class: "network",
        file_system: "nfs",
        source: "127.0.0.1:/",
        device: None,
        messages: Some((4_500, 7_000)),
    },
    Expected {
        name: "nfs4.2",
        class: "network",
        file_system: "nfs4",
        source: "127.0.0.1:/",
        device: None,
        messages: Some((5_000, 12_000)),
    },
    Expected {
        name: "iscsi",
        class: "block",
        file_system: "ext4",
        source: "/dev/sda",
        device: Some("scsi"),
        messages: Some((17, 200)),
    },
];

/// The program built with MPI, by a path that also exists in the guest.
fn program_for_ranks() -> Option<String> {
    ranks::program().map(|program| program.to_string_lossy().into_owned())
}

pub(super) fn script() -> Script {
    let fresh = if is_all() { "fresh" } else { "" };
    let asked = transactions_asked().to_string();
    let mut arguments = vec![
        asked,
        program_for_ranks().unwrap_or_default(),
        fresh.to_owned(),
    ];
    arguments.extend(EXPECTED.map(|expected| expected.name.to_owned()));
    Script {
        name: "protocols",
        disks: vec!["512M"; 5],
        arguments,
        check: file_systems_and_protocols_are_recorded_correctly,
    }
}

fn file_systems_and_protocols_are_recorded_correctly(results: &Results) {
    for expected in &EXPECTED {
        let record = results.json(&format!("{}.json", expected.name));
        let check =
            |is_so, what: &str| results.assert(is_so, &format!("{}: {what}", expected.name));
        let target = &record["record"]["locations"][0]["target"]["known"];
        check(target["class"]["known"] == expected.class, "another class");
        let mount = &target["mount"]["known"];
        check(
            mount["file_system_type"] == expected.file_system,
            "another file system",
        );
        let source = mount["source"].as_str().unwrap_or_default();
        check(
            source.starts_with(expected.source),
            &format!("another source: {source}"),
        );
        let point = format!("/mnt/{}", expected.name);
        check(
            mount["mount_point"] == point.as_str(),
            "another mount point",
        );
        let device = &target["device"];
        match expected.device {
            Some(kind) => check(
                device["known"]["kind"] == kind,
                &format!("another device: {device}"),
            ),
            None => check(
                device == "not_applicable",
                &format!("it has a device: {device}"),
            ),
        }
        check(
            record["record"]["host"]["emulated"]["known"] == true,
            "nothing says that the machine is emulated",
        );
        check(
            transactions(&record) == transactions_asked(),
            "not all transactions were done",
        );
        messages(results, expected);
        evidence(results, expected, &record);
    }
    if program_for_ranks().is_some() {
        two_clients::what_is_seen_late_is_named(results);
    }
}

/// Number of transactions. It is small because an NFS call takes 5 ms in a guest.
fn transactions_asked() -> u64 {
    if is_all() { 1_000 } else { 250 }
}

/// Compares the message counts of the client with those of the server.
fn messages(results: &Results, expected: &Expected) {
    let text = |end: &str| results.text(&format!("{}.{end}", expected.name));
    let (client, server) = (text("client"), text("server"));
    let (client, server) = (counts(&client), counts(&server));
    let Some((least, most)) = expected.messages else {
        return;
    };
    // The limits hold for 1,000 transactions. Up to 100 calls, for the run directory and the
    // checks, do not grow with the number of transactions.
    let (least, most) = match expected.class {
        "network" => (
            least * transactions_asked() / 1_000,
            most * transactions_asked() / 1_000 + 100,
        ),
        _ => (least, most),
    };
    let count = |counts: &[(&str, u64)], names: &[&str]| {
        let found = counts.iter().find(|(name, _)| names.contains(name));
        found.map_or(0, |(_, count)| *count)
    };
    let (recorded, served) = observed(results, expected);
    let (ours, theirs) = (
        count(&client, &["total", "scsicmd_pdus"]),
        count(&server, &["total"]),
    );
    tell(&format!(
        "{}: the client counts {ours}, the server {theirs}, the program {recorded} (of the server \
         {served:?}): {}",
        expected.name,
        shown(&client)
    ));
    let check = |is_so, what: &str| {
        let said = format!(
            "{}: {what}: client {client:?}, server {server:?}",
            expected.name
        );
        results.assert(is_so, &said);
    };
    check(
        (least..=most).contains(&theirs),
        "other messages than are known",
    );
    check(
        is_within_one_percent(ours, theirs),
        "client and server differ",
    );
    let what = format!("the program counted {recorded} messages");
    check(is_within_one_percent(recorded, theirs), &what);
    check(
        served.is_some() == expected.name.starts_with("nfs"),
        "the server's counters are not known",
    );
    if let Some(served) = served {
        check(
            is_within_one_percent(served, theirs),
            &format!("the program counted {served} of the server"),
        );
    }
}

/// Whether two message counts differ by at most 1 %, or by at most 16. The counters of client and
/// server are not read at the same moment. On a slow guest, a journal commit can fall between the
/// two readings.
fn is_within_one_percent(one: u64, other: u64) -> bool {
    one.abs_diff(other) <= (other / 100).max(16)
}

/// The messages that the program counted during the run and its sync: those of the client, and
/// those of a server on the same machine.
fn observed(results: &Results, expected: &Expected) -> (u64, Option<u64>) {
    let observation = &results.json(&format!("{}.observed", expected.name))["observation"];
    let spans = [&observation["performing"], &observation["sync"]["counted"]];
    let of = |counters: &[&str]| sum(spans.iter().filter_map(|span| requests(span, counters)));
    (of(CLIENTS).unwrap_or(0), of(SERVERS))
}

const CLIENTS: &[&str] = &["nfs-client", "iscsi-session"];
const SERVERS: &[&str] = &["nfs-server"];

/// The sum of the requests that these counters show; `None` if no counter is available.
fn requests(counted: &Value, counters: &[&str]) -> Option<u64> {
    let readings = counted["messages"]["known"].as_array()?.iter();
    let of_these = readings
        .filter(|reading| counters.contains(&reading["counter"].as_str().unwrap_or_default()));
    let known = of_these.filter_map(|reading| reading["kinds"]["known"].as_array());
    sum(known.map(|kinds| {
        kinds
            .iter()
            .filter_map(|kind| kind["requests"].as_u64())
            .sum()
    }))
}

fn sum(counts: impl Iterator<Item = u64>) -> Option<u64> {
    counts.reduce(|sum, count| sum + count)
}

/// Asserts the evidence in a record: the shares of cache and server in each phase, the messages,
/// and the durability level.
fn evidence(results: &Results, expected: &Expected, record: &Value) {
    let check = |is_so, what: &str| results.assert(is_so, &format!("{}: {what}", expected.name));
    let durability = &record["summary"]["durability"];
    let tier = if expected.class == "network" {
        "handed-over"
    } else {
        "page-cache"
    };
    check(
        durability["tier"]["known"] == tier,
        &format!("another tier: {durability}"),
    );
    let phases = record["record"]["actual"]["phases"].as_array().unwrap();
    for (phase, summary) in phases
        .iter()
        .zip(record["summary"]["phases"].as_array().unwrap())
    {
        let name = phase["phase"].as_str().unwrap();
        let performing = &phase["evidence"]["performing"];
        let (client, server) = (requests(performing, CLIENTS), requests(performing, SERVERS));
        tell(&format!(
            "{}: {name}: the record has {client:?} messages, of the server {server:?}",
            expected.name
        ));
        check(
            client.is_some() == expected.messages.is_some(),
            &format!("{name}: messages {client:?}"),
        );
        if let (Some(client), Some(server)) = (client, server) {
            let what = format!("{name}: the record's client and server differ: {client}, {server}");
            check(is_within_one_percent(client, server), &what);
        }
        let from = &summary["evidence"]["reads"]["fetched_from"]["known"];
        let behind = if expected.class == "network" {
            "server"
        } else {
            "device"
        };
        check(from == behind, &format!("{name}: fetched from {from}"));
        let devices = &performing["devices"];
        match expected.device {
            Some(_) => check(
                devices["known"].is_array(),
                &format!("{name}: devices {devices}"),
            ),
            None => check(
                devices == "not_applicable",
                &format!("{name}: devices {devices}"),
            ),
        }
        if name == "delete" && expected.class == "network" {
            let removed = &summary["evidence"]["messages"][0]["per_done"];
            check(
                removed.as_f64().is_some_and(|each| each >= 1.0),
                &format!("{removed} messages for a deletion"),
            );
        }
    }
}

fn transactions(record: &Value) -> u64 {
    let phases = record["summary"]["phases"].as_array().unwrap().iter();
    let transactions = phases.filter(|phase| phase["phase"] == "transactions");
    transactions
        .map(|phase| phase["transactions"]["count"].as_u64().unwrap())
        .sum()
}
