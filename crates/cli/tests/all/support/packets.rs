//! Captures the packets of a TCP port with dumpcap.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use super::Running;

/// Maximum time until the capture has read a packet from the kernel.
const TAKES_EVERY: Duration = Duration::from_millis(600);

#[derive(Debug)]
pub struct Packets {
    capturing: Running,
    file: PathBuf,
}

impl Packets {
    /// Starts a capture on a network interface. `dumpcap` runs that program, possibly in another
    /// network namespace. The file with the packets is in `directory`.
    pub fn begin(mut dumpcap: Command, directory: &Path, interface: &str, port: u16) -> Self {
        let file = directory.join("packets");
        let filter = format!("tcp port {port}");
        dumpcap
            .args(["-q", "-i", interface, "-B", "128", "-f", &filter, "-w"])
            .arg(&file);
        let mut capturing = Running::start(dumpcap, directory);
        capturing.until("that packets are captured", |capturing| {
            capturing.errors().contains("File:")
        });
        Self { capturing, file }
    }

    /// Ends the capture, and calls `read` with the name of the file with the packets, which is then
    /// removed. Fails if packets were lost.
    pub fn end<T>(self, read: impl FnOnce(&str) -> T) -> T {
        std::thread::sleep(TAKES_EVERY);
        self.capturing.send(Signal::INT);
        let ended = self.capturing.finish();
        ended.code(0);
        let lost = ended
            .errors
            .lines()
            .find(|line| line.contains("received/dropped"));
        let lost = lost.unwrap_or_else(|| panic!("it is not told what was lost\n{ended}"));
        ended.assert(lost.contains("/0 (pcap:0/dumpcap:0/"), "packets were lost");
        let result = read(self.file.to_str().unwrap());
        std::fs::remove_file(&self.file).unwrap();
        result
    }
}
