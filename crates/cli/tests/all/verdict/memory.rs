//! Verdicts of runs that should read from a device but read from memory or the page cache. Also
//! verdicts of runs that should read from the page cache but read from a device.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{Advice, fadvise};
use verdict::rules::{DurabilityInMemory, FitsInMemory, MemoryBeneath, ReadsFromMemory};
use verdict::{Level, Reason};

use super::{has, in_memory};
use crate::mounted;
use crate::runs::{Ran, Run};
use crate::support::interface::own_directories;
use crate::support::{FileSystem, TestDir, is_root};

const POOL: &str = "--mix read=1 --files 200 --size 16KiB";
/// 4,000 reads of 200 files: on average, each file is read 20 times.
const AGAIN_AND_AGAIN: &str = "--transactions 4000";

#[test]
fn durable_run_in_memory_is_invalid() {
    let test_dir = TestDir::in_memory();
    let Some(location) = in_memory(&test_dir) else {
        return;
    };
    let work = "--mix create=1,delete=1 --files 100 --transactions 500";
    let durable = Run::new(&location, work)
        .and("--durability fsync")
        .perform();
    durable.is(Level::Invalid);
    let verdict = &durable.summary.verdict;
    let told = has!(verdict, Reason::DurabilityInMemory(told)
        if !told.is_beneath && told.durability == "fsync");
    durable.assert(told, format_args!("{verdict:#?}"));
    let without = Run::new(&location, work).perform();
    without.is(Level::Doubtful);
}

/// On a file system whose image is in memory, a sync writes to memory, which does not survive a
/// crash.
#[test]
fn durable_run_on_an_image_in_memory_is_invalid() {
    let test_dir = TestDir::in_memory();
    if in_memory(&test_dir).is_none() || !FileSystem::Ext4.is_available() {
        return;
    }
    let at = test_dir.directory("mount");
    let _volume = crate::support::Volume::new(FileSystem::Ext4, &test_dir, &at);
    let ran = Run::new(
        &at,
        "--mix create=1,delete=1 --files 100 --transactions 500 --durability fsync",
    )
    .perform();
    let verdict = &ran.summary.verdict;
    ran.is(Level::Invalid);
    ran.assert(
        has!(
            verdict,
            Reason::DurabilityInMemory(DurabilityInMemory {
                is_beneath: true,
                ..
            })
        ),
        format_args!("{verdict:#?}"),
    );
}

/// A cold cache was requested, but a file system in memory has no device to read from.
#[test]
fn run_with_cold_cache_in_memory_is_invalid() {
    let test_dir = TestDir::in_memory();
    let Some(location) = in_memory(&test_dir) else {
        return;
    };
    let ran = Run::new(&location, POOL)
        .and(AGAIN_AND_AGAIN)
        .and("--cache cold-data")
        .perform();
    ran.is(Level::Invalid);
    let verdict = &ran.summary.verdict;
    let told = has!(verdict, Reason::ReadsFromMemory(ReadsFromMemory { device_bytes: 0, asked,
        .. }) if asked == "cold-data");
    ran.assert(told, format_args!("{verdict:#?}")).assert(
        has!(verdict, Reason::FitsInMemory(_)),
        format_args!("{verdict:#?}"),
    );
}

/// If the pool fits in the page cache, each file is read from the device only once. All further
/// reads come from the cache.
#[test]
fn run_with_a_cold_cache_larger_than_the_pool_is_doubtful() {
    if !is_root() {
        return;
    }
    let Some(mounted) = mounted::ext4() else {
        return;
    };
    let _alone = mounted::alone_with_the_cache();
    for cache in ["cold", "cold-data"] {
        let ran = Run::new(&mounted.at, POOL)
            .and(AGAIN_AND_AGAIN)
            .with("--cache", cache)
            .perform();
        ran.is(Level::Doubtful);
        let verdict = &ran.summary.verdict;
        let pool = 200 * 16_384;
        let fits = has!(verdict, Reason::FitsInMemory(FitsInMemory { pool_bytes, cache_bytes,
            .. }) if *pool_bytes == pool && *cache_bytes > pool);
        ran.assert(fits, format_args!("{verdict:#?}"));
        // Only 200 of 4,000 reads reach the device, so the verdict contains a reason.
        let small = has!(verdict, Reason::ReadsFromMemory(told) if told.device_bytes > 0);
        ran.assert(small, format_args!("{verdict:#?}"));
    }
    // If the run reads each file only once, all reads come from the device, although the pool would
    // fit in the cache.
    let once = Run::new(&mounted.at, POOL)
        .and("--transactions 200 --popularity shuffled --cache cold-data")
        .perform();
    let verdict = &once.summary.verdict;
    let from_memory = has!(
        verdict,
        Reason::FitsInMemory(_) | Reason::ReadsFromMemory(_)
    );
    once.assert(!from_memory, format_args!("{verdict:#?}"));
}

/// The loop device that the verdict names, and the bytes that the devices below the loop device
/// read.
type Beneath = (Option<String>, Option<u64>);

/// Performs a run with direct reads. Returns the run, what its verdict states about memory below
/// the target, and the reports.
fn direct(at: &Path) -> (Ran, Option<Beneath>, String) {
    let ran = Run::new(at, POOL)
        .and("--transactions 1000 --direct")
        .perform();
    let found = ran
        .summary
        .verdict
        .reasons
        .iter()
        .find_map(|reason| match reason {
            Reason::MemoryBeneath(MemoryBeneath {
                loop_device,
                device_bytes,
                ..
            }) => Some((loop_device.clone(), *device_bytes)),
            _ => None,
        });
    let shown = [
        report::text::report(&ran.record),
        report::text::short(&ran.record),
    ];
    let text = shown
        .map(|report| document::text(&report, document::WIDTH))
        .concat();
    (ran, found, text)
}

/// Direct reads from the loop device are served by the page cache of the file system that contains
/// its image.
#[test]
fn caching_loop_device_serves_direct_reads_from_memory() {
    if !is_root() || !FileSystem::Ext4.is_available() || !crate::evidence::is_on_a_disk() {
        return;
    }
    let test_dir = TestDir::new();
    let at = test_dir.directory("mount");
    let volume = crate::support::Volume::new(FileSystem::Ext4, &test_dir, &at);
    let (ran, found, text) = direct(&at);
    let Some((Some(name), Some(_))) = &found else {
        panic!("{found:?}\n{ran}");
    };
    ran.assert(name.starts_with("loop"), name)
        .assert(ran.summary.verdict.level != Level::Valid, "it is VALID");
    let reads = ran.summary.reads.as_ref().unwrap();
    let why = reads.fetched_from.why().unwrap_or_default();
    ran.assert(
        why.contains("a loop device caches"),
        format_args!("{reads:?}"),
    )
    .assert(reads.fraction.is_none(), format_args!("{reads:?}"))
    .assert(
        reads.beneath_loop_bytes.is_known(),
        format_args!("{reads:?}"),
    )
    .assert(text.contains("served the rest"), &text)
    .assert(text.contains("a loop device caches"), &text);
    // Without `--direct`, a run does not require reads from the device, so there is no reason.
    let as_is = Run::new(&at, POOL).and("--transactions 1000").perform();
    let is_told = has!(as_is.summary.verdict, Reason::MemoryBeneath(_));
    as_is.assert(!is_told, "it asks for nothing");
    let _volume = volume.past_the_cache();
    let (ran, found, _) = direct(&at);
    let reads = ran.summary.reads.as_ref().unwrap();
    let past = match reads.fetched_from.known() {
        Some(_) => found.is_none() && reads.fraction.is_some_and(|fraction| fraction >= 0.99),
        // The file system that contains the image does not support direct I/O.
        None => found.is_some(),
    };
    ran.assert(past, format_args!("{found:?} {reads:?}"));
}

#[test]
fn image_in_memory_serves_direct_reads_from_memory() {
    let test_dir = TestDir::in_memory();
    if in_memory(&test_dir).is_none() || !FileSystem::Ext4.is_available() {
        return;
    }
    let at = test_dir.directory("image");
    let _volume = crate::support::Volume::new(FileSystem::Ext4, &test_dir, &at);
    let (ran, found, text) = direct(&at);
    ran.is(Level::Doubtful)
        .assert(found == Some((None, None)), format_args!("{found:?}"));
    let reads = ran.summary.reads.as_ref().unwrap();
    ran.assert(reads.fraction == Some(0.0), format_args!("{reads:?}"))
        .assert(text.contains("100.0 % from"), &text);
}

/// Repeatedly drops the files of the run from the page cache, until `is_over` is set.
fn evict(location: &Path, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        for own in own_directories(location) {
            for entry in std::fs::read_dir(own).into_iter().flatten().flatten() {
                if let Ok(file) = std::fs::File::open(entry.path()) {
                    fadvise(&file, 0, None, Advice::DontNeed).unwrap();
                }
            }
        }
    }
}

#[test]
fn run_whose_warm_cache_is_emptied_is_doubtful() {
    let Some(mounted) = mounted::ext4() else {
        return;
    };
    let _alone = mounted::alone_with_the_cache();
    let is_over = AtomicBool::new(false);
    let ran = std::thread::scope(|scope| {
        scope.spawn(|| evict(&mounted.at, &is_over));
        let run = Run::new(&mounted.at, POOL).and("--cache warm --rate 1000 --for 2s");
        let ended = run.end();
        is_over.store(true, Ordering::Relaxed);
        crate::runs::Ran::of(ended, crate::support::names(&mounted.at).unwrap())
    });
    // Because of the evictions, most reads come from the device. The verdict may also report that
    // the rate was not reached.
    let verdict = &ran.summary.verdict;
    ran.assert(
        has!(verdict, Reason::ReadsFromDevice(_)),
        format_args!("{verdict:#?}"),
    );
    let left = Run::new(&mounted.at, POOL)
        .and("--cache warm --transactions 2000")
        .perform();
    let verdict = &left.summary.verdict;
    left.assert(
        !has!(verdict, Reason::ReadsFromDevice(_)),
        format_args!("{verdict:#?}"),
    );
}
