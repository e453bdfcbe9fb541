//! Runs with direct I/O (`--direct`).

use crate::mounted::{Mounted, on};
use crate::runs::Run;
use crate::support::{TestDir, Volume, is_root, names};

const WORK: &str = "--mix read=6,read-range=2,create=2,append=2,overwrite=1,truncate=1,replace=1,\
                    delete=2 --files 200 --transactions 500 --size 1..20000 --workers 2 --verify \
                    --direct";

fn direct_reads_reach_the_device(mounted: Mounted) {
    let ran = Run::new(&mounted.at, WORK).perform();
    ran.is_complete().has_all_phases();
    ran.assert(ran.record.spec.direct, "the record does not say so");
    let (device_bytes, read_bytes) = ran.served_by();
    ran.assert(read_bytes > 0, "nothing was read").assert(
        device_bytes >= read_bytes,
        format_args!("{read_bytes} bytes were read past the cache, and {device_bytes} fetched"),
    );
    let moved = ran
        .summary
        .phases
        .iter()
        .flat_map(|phase| &phase.operations);
    for operation in moved {
        ran.assert(
            operation.bytes.count % 4_096 == 0,
            format_args!("{} moved parts of blocks", operation.action.name()),
        );
    }
    // The same workload without direct I/O: the page cache contains the pool that was just created.
    let cached = Run::new(&mounted.at, &WORK.replace("--direct", "--align 4096")).perform();
    cached.is_complete().has_all_phases();
    let (fetched_bytes, read_bytes) = cached.served_by();
    let small = fetched_bytes * 10 < read_bytes;
    cached.assert(small, "through the cache nearly nothing should be fetched");
}
on!(direct_reads_reach_the_device: ext4, xfs);

#[test]
fn file_system_without_direct_io_is_refused() {
    if !is_root() {
        return;
    }
    let test_dir = TestDir::new();
    let at = test_dir.directory("mount");
    let _volume = Volume::without_direct(&at);
    let ended = Run::new(&at, WORK).end();
    ended
        .code(2)
        .shows("--direct")
        .shows("use another --target");
    assert!(
        names(&at).unwrap().is_empty(),
        "a refused run has left something"
    );
    Run::new(&at, &WORK.replace("--direct", ""))
        .perform()
        .is_complete();
}
