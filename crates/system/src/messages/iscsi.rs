//! SCSI commands of a disk that an iSCSI session provides: `iorequest_cnt` of the device
//! (drivers/scsi/scsi_sysfs.c of Linux), which counts commands of every kind. Bytes are read from
//! the counters of the block layer.
//!
//! Retransmissions of the session are reported through netlink to root only (`iscsiadm --stats`),
//! and are not read.

use super::reading::{MessageKind, MessagesReading, WatchedCounter};
use crate::counters::{DeviceCounters, FlushCount};
use crate::fact::Fact;
use crate::sources::Sources;

pub(super) const PROTOCOL: &str = "iscsi";

fn device_link(disk: &str) -> String {
    format!("/sys/class/block/{disk}/device")
}

pub(super) fn read(sources: &Sources, watched: &WatchedCounter) -> MessagesReading {
    let disk = &watched.of;
    let text = sources.whole_text(&format!("{}/iorequest_cnt", device_link(disk)));
    let block = DeviceCounters::read(sources, disk, FlushCount::OfTheDisk);
    MessagesReading {
        server_read_bytes: block.as_ref().and_then(|block| block.read_bytes.clone()),
        server_written_bytes: block.as_ref().and_then(|block| block.written_bytes.clone()),
        ..watched.of_text(&text)
    }
}

/// Parses a count such as `0x1a2b`.
pub(super) fn parse(watched: &WatchedCounter, text: &str) -> MessagesReading {
    let digits = text
        .strip_suffix('\n')
        .and_then(|text| text.trim().strip_prefix("0x"));
    let count = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
    watched.reading(match count {
        Some(0) => Fact::Known(vec![]),
        Some(count) => Fact::Known(vec![MessageKind::counted("commands", count)]),
        None => Fact::Unavailable(format!(
            "{}/iorequest_cnt: is not a number",
            device_link(&watched.of)
        )),
    })
}
