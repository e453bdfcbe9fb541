//! The time to read message counters on a machine with many NFS mounts. The time that the kernel
//! takes to produce the counters is not included, because they are read from a file.

use crate::result::Result;
use std::fmt::Write as _;
use std::time::Instant;

use system::{MessageCounter, Sources, WatchedCounter, WatchedMessages};

use crate::noise::Noise;
use crate::statistics::median;

/// `/proc/self/mountstats` of a machine. Its mount at `/D` has all operations of NFS 4.2.
const CAPTURE: &str = include_str!("../../crates/system/tests/captures/mountstats-telegraf");

const MOUNTS: usize = 200;

/// Limit on the duration of a reading. If counters were read every second, readings of this
/// duration would take 0.1 % of the time.
const LIMIT_MS: f64 = 1.0;

const READINGS: usize = 1_000;

/// Prints the median duration of a reading. Returns whether the upper end of the median's interval
/// is within [`LIMIT_MS`].
pub fn reading() -> Result<bool> {
    let section = CAPTURE
        .split_once(" mounted on /D")
        .ok_or("the capture has no /D")?
        .1;
    let mut text = String::new();
    for number in 0..MOUNTS {
        write!(
            text,
            "device server:/export{number} mounted on /mnt/{number}{section}"
        )?;
    }
    let tree = tempfile::tempdir()?;
    std::fs::create_dir_all(tree.path().join("proc/self"))?;
    std::fs::write(tree.path().join("proc/self/mountstats"), &text)?;
    let sources = Sources::beneath(tree.path());
    // Two targets, as for a run on two mounts: the first and the last mount.
    let watched = |number: usize| WatchedCounter {
        counter: MessageCounter::NfsClient,
        protocol: "nfs4.2".to_owned(),
        of: format!("/mnt/{number}"),
    };
    let watched = WatchedMessages {
        list: vec![watched(0), watched(MOUNTS - 1)],
        unseen: vec![],
    };
    let noise = Noise::begin();
    let mut times_ms = Vec::new();
    for _ in 0..READINGS {
        let begun = Instant::now();
        let readings = watched.read(&sources);
        times_ms.push(begun.elapsed().as_secs_f64() * 1000.0);
        if !readings.iter().all(|reading| reading.kinds.is_known()) {
            return Err("the counters were not understood".into());
        }
    }
    let time_ms = median(times_ms);
    let holds = time_ms.high <= LIMIT_MS;
    println!(
        "counters of messages of 2 of {MOUNTS} NFS mounts, {} bytes of mountstats, {READINGS} \
         readings; {}",
        text.len(),
        noise.end()
    );
    println!(
        "  a reading              {} ms {}",
        time_ms.show(3),
        if holds { "holds" } else { "MISSED" }
    );
    Ok(holds)
}
