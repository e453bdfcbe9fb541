//! `--cache`: for each state of the page cache, the number of bytes that are read from the device.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::mounted::{self, Mounted, on};
use crate::runs::{Ran, Run, postmark};
use crate::support::interface::program_for_all;
use crate::support::{Running, TestDir, is_met, is_root, names};

/// Files to read are drawn with replacement. With a tenth as many reads as files, 95 % of the reads
/// are the first read of their file. File sizes are whole blocks, so that the device reads only
/// contents and metadata.
const WORK: &str =
    "--mix read=1 --files 4000 --transactions 400 --size 16KiB --dirs subdirs:20 --verify";

fn reads(mounted: &Mounted, cache: &str) -> Ran {
    let ran = Run::new(&mounted.at, WORK).with("--cache", cache).perform();
    ran.is_complete().has_all_phases();
    ran.assert(
        ran.record.spec.cache.name() == cache,
        "the record says something else",
    );
    let surprise = ran.summary.reads.as_ref().and_then(|reads| reads.surprise);
    ran.assert(
        surprise.is_none(),
        format_args!("it was not as asked for: {surprise:?}"),
    );
    ran
}

fn cold_cache_is_read_from_the_device_and_warm_cache_is_not(mounted: Mounted) {
    let _alone = mounted::alone_with_the_cache();
    let [cold, cold_data, warm] = ["cold", "cold-data", "warm"].map(|cache| reads(&mounted, cache));
    let (of_cold, of_cold_data, of_warm) =
        (cold.served_by(), cold_data.served_by(), warm.served_by());
    let all =
        format!("fetched and read: cold {of_cold:?}, cold-data {of_cold_data:?}, warm {of_warm:?}");
    // The device must serve at least 92 % of the bytes: 95 % of the reads are the first read of
    // their file, and the page cache serves later reads of the same file.
    for (ran, (device_bytes, read_bytes)) in [(&cold, of_cold), (&cold_data, of_cold_data)] {
        ran.assert(device_bytes * 100 >= read_bytes * 92, &all);
    }
    // With a warm cache, the device reads at most a few blocks of metadata.
    warm.assert(of_warm.0 * 100 <= of_warm.1, &all);
    // With `cold-data`, names and attributes are cached, so the device reads only contents. ext4
    // may pin metadata in its journal, so even a cold cache may contain metadata.
    cold_data
        .assert(of_cold_data.0 <= of_cold_data.1, &all)
        .assert(
            of_warm.0 < of_cold_data.0 && of_cold_data.0 <= of_cold.0,
            &all,
        );
}
on!(cold_cache_is_read_from_the_device_and_warm_cache_is_not: ext4, xfs);

/// Only root can drop the page cache of the system. Without root the run is refused, and nothing is
/// changed.
#[test]
fn cold_cache_option_is_refused_without_root() {
    if !is_root() || !is_met(Path::new("/usr/bin/setpriv").exists(), "setpriv") {
        return;
    }
    let test_dir = TestDir::new();
    let location = test_dir.directory("location");
    std::fs::set_permissions(&location, std::fs::Permissions::from_mode(0o777)).unwrap();
    let nobody = |words: &[&str]| {
        let mut command = Running::command(Path::new("/usr/bin/setpriv"));
        command
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(program_for_all(&test_dir))
            .args(["run", "--mix", "read=1", "--files", "10", "--target"])
            .arg(&location)
            .args(words);
        Running::run_to_end(command, &location)
    };
    nobody(&["--cache", "cold"])
        .code(2)
        .shows("root")
        .shows("--cache cold-data");
    assert!(
        names(&location).unwrap().is_empty(),
        "a refused run has left something"
    );
    nobody(&["--cache", "cold-data"]).code(0);
    postmark(&location, &["clean".as_ref(), location.as_os_str()]).code(0);
}

/// On FUSE, the server reads the device, and the kernel counts these reads for the process of the
/// server.
#[test]
fn device_reads_are_not_available_on_fuse() {
    let possible = faultfs::is_possible();
    if !is_met(possible.is_ok(), possible.err().unwrap_or_default()) {
        return;
    }
    let test_dir = TestDir::new();
    let (backing, at) = (test_dir.directory("backing"), test_dir.directory("mount"));
    let mounted = faultfs::Passthrough::mount(&backing, &at, faultfs::Options::default()).unwrap();
    let ran = Run::new(&at, "--mix read=1 --files 100 --transactions 500").perform();
    drop(mounted);
    ran.is_complete();
    let served_by = ran.summary.reads.as_ref().unwrap();
    let why = served_by.fetched_bytes.why().unwrap_or_default();
    ran.assert(
        why.contains("reads of a fuse"),
        format_args!("{served_by:?}"),
    );
    ran.assert(served_by.fraction.is_none(), format_args!("{served_by:?}"));
    for report in [
        report::text::report(&ran.record),
        report::text::short(&ran.record),
    ] {
        let text = document::text(&report, document::WIDTH);
        ran.assert(
            text.contains("what served them is not available")
                || text.contains("from cache: not available")
                || text.contains("from the cache: not available"),
            &text,
        );
        ran.assert(!text.contains("0.0 % from"), &text);
    }
}
