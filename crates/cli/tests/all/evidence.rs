//! Runs on real file systems and with known states of the page cache. The record of each run must
//! contain certain evidence: durability level, cache hits, flushes and rules. Each test prints the
//! evidence as a table.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use record::{Fact, Phase};
use rustix::fs::{Mode, OFlags};
use verdict::Reason;
use verdict::summary::{Behind, DurabilityTier, EvidenceSummary};

use crate::mounted;
use crate::runs::{Ran, Run};
use crate::support::interface::program_for_all;
use crate::support::{FileSystem, Running, TestDir, Volume, is_met, is_root, names, tool};

use DurabilityTier::{FlushAcknowledged, HandedOver, Memory, PageCache};

/// A workload that reads each block of every file exactly once.
const EACH_ONCE: &str =
    "--mix read=1 --files 400 --transactions 400 --size 32KiB --popularity shuffled --seed 5";
const MAIL: &str = "--mix read=4,create=1,append=1,delete=1 --files 300 --transactions 600 --size \
                    2..16KiB --seed 5";

struct Expected {
    tier: Option<DurabilityTier>,
    /// Lower and upper limit for the share of bytes read that the page cache served; `None` if not
    /// known.
    cached: Option<(f64, f64)>,
    /// Lower and upper limit for the number of flushes per durable operation; `None` if no
    /// operation is durable.
    flushes: Option<(f64, f64)>,
    /// Rules about evidence that must contribute to the verdict.
    rules: &'static [&'static str],
}

const IN_CACHE: Option<(f64, f64)> = Some((0.99, 1.0));
const FROM_BEHIND: Option<(f64, f64)> = Some((0.0, 0.1));
const A_FLUSH_OR_TWO: Option<(f64, f64)> = Some((0.5, 3.5));

/// The rules about evidence that contribute to the verdict of a run.
fn rules(ran: &Ran) -> Vec<&'static str> {
    let reasons = ran.summary.verdict.reasons.iter();
    let mut found: Vec<&str> = reasons
        .filter_map(|reason| match reason {
            Reason::FitsInMemory(_) => Some("fits-in-memory"),
            Reason::ReadsFromMemory(_) => Some("reads-from-memory"),
            Reason::MemoryBeneath(_) => Some("memory-beneath"),
            Reason::ReadsFromDevice(_) => Some("reads-from-device"),
            Reason::CacheNotDropped(_) => Some("cache-not-dropped"),
            Reason::DeviceWroteNothing(_) => Some("device-wrote-nothing"),
            Reason::Retransmissions(_) => Some("retransmissions"),
            Reason::ClientSaturated(_) => Some("client-saturated"),
            Reason::NearlyFull(_) => Some("nearly-full"),
            Reason::AllocatedDuringRun(_) => Some("allocated-during-run"),
            Reason::DurabilityInMemory(_) => Some("durability-in-memory"),
            _ => None,
        })
        .collect();
    found.sort_unstable();
    found
}

fn evidence(ran: &Ran) -> Option<&EvidenceSummary> {
    ran.phase(Phase::Transactions).evidence.as_ref()
}

/// Performs a run, compares it with the expected evidence, and prints the evidence.
fn situation(name: &str, at: &Path, options: &str, expected: &Expected) -> Ran {
    let ran = Run::new(at, options).perform();
    ran.is_complete();
    let reads = ran.summary.reads.as_ref();
    let cached = reads
        .and_then(|reads| reads.fraction)
        .map(|fetched| (1.0 - fetched).max(0.0));
    let flushes = evidence(&ran).and_then(|evidence| evidence.flushes.per_durable_operation);
    let tier = ran.summary.durability.tier.known().copied();
    let rules = rules(&ran);
    let amplification = evidence(&ran).and_then(|evidence| evidence.writes.amplification);
    let in_words = |number: Option<f64>| {
        number.map_or_else(|| "-".to_owned(), |number| format!("{number:.3}"))
    };
    println!(
        "| {name} | {tier:?} | {} | {} | {} | {} |",
        in_words(cached),
        in_words(amplification),
        in_words(flushes),
        rules.join(", ")
    );
    let within = |found: Option<f64>, expected: Option<(f64, f64)>| match (found, expected) {
        (Some(found), Some((low, high))) => (low..=high).contains(&found),
        (found, expected) => found.is_none() && expected.is_none(),
    };
    ran.assert(
        tier == expected.tier,
        format_args!("{name}: tier {tier:?}, not {:?}", expected.tier),
    )
    .assert(
        within(cached, expected.cached),
        format_args!("{name}: from cache {cached:?}, not {:?}", expected.cached),
    )
    .assert(
        within(flushes, expected.flushes),
        format_args!("{name}: flushes {flushes:?}, not {:?}", expected.flushes),
    )
    .assert(
        rules == expected.rules,
        format_args!("{name}: rules {rules:?}, not {:?}", expected.rules),
    );
    ran
}

/// A file system in an image on a disk. The space for the image is allocated in advance, so that
/// writes do not extend the image.
struct Disk {
    at: PathBuf,
    volume: Volume,
    test_dir: TestDir,
}

impl Disk {
    fn new(kind: FileSystem) -> Self {
        let test_dir = TestDir::new();
        let disk = Self::sparse_in(kind, test_dir);
        let image = disk.image();
        let file = rustix::fs::open(&image, OFlags::RDWR, Mode::empty()).unwrap();
        let bytes = std::fs::metadata(&image).unwrap().len();
        rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, bytes).unwrap();
        disk
    }

    fn sparse_in(kind: FileSystem, test_dir: TestDir) -> Self {
        let at = test_dir.directory("mount");
        let volume = Volume::with_image(kind, &test_dir, &at, 512, &[]).past_the_cache();
        Self {
            at,
            volume,
            test_dir,
        }
    }

    fn image(&self) -> PathBuf {
        let entries = std::fs::read_dir(self.test_dir.path()).unwrap();
        let mut paths = entries.map(|entry| entry.unwrap().path());
        paths
            .find(|path| {
                path.file_name()
                    .unwrap()
                    .to_string_lossy()
                    .starts_with("image-")
            })
            .unwrap()
    }

    fn remount(&self, options: &str) {
        tool(
            "mount",
            &[
                "-o",
                &format!("remount,{options}"),
                self.at.to_str().unwrap(),
            ],
        );
    }
}

/// Whether the directory for temporary files is on a disk. Otherwise the image of [`Disk`] would be
/// in memory.
pub fn is_on_a_disk() -> bool {
    let test_dir = TestDir::new();
    let target = system::Target::read(&system::Sources::default(), test_dir.path());
    is_met(
        target.class == Fact::Known(system::Class::Block),
        "temporary files on a disk (TMPDIR)",
    )
}

#[test]
fn cache_states_on_ext4_are_distinguished() {
    if !is_root() || !is_on_a_disk() || !FileSystem::Ext4.is_available() {
        return;
    }
    let disk = Disk::new(FileSystem::Ext4);
    let _alone = mounted::alone_with_the_cache();
    let at = &disk.at;
    let expect = |tier, cached, rules| Expected {
        tier: Some(tier),
        cached,
        flushes: None,
        rules,
    };
    let residency = |ran: &Ran| {
        let residency = evidence(ran).unwrap().residency.clone().unwrap();
        let sample = residency.before.known().unwrap().clone();
        ran.assert(
            sample.files == 4,
            format_args!("a hundredth of the pool, not {}", sample.files),
        );
        ran.assert(residency.after.is_known(), format_args!("{residency:?}"));
        sample.cached as f64 / sample.pages as f64
    };
    let cached = situation(
        "ext4, cached",
        at,
        EACH_ONCE,
        &expect(PageCache, IN_CACHE, &[]),
    );
    let cold = situation(
        "ext4, cold",
        at,
        &format!("{EACH_ONCE} --cache cold"),
        &expect(PageCache, FROM_BEHIND, &[]),
    );
    let cold_data = situation(
        "ext4, cold-data",
        at,
        &format!("{EACH_ONCE} --cache cold-data"),
        &expect(PageCache, FROM_BEHIND, &[]),
    );
    let warm = situation(
        "ext4, warm",
        at,
        &format!("{EACH_ONCE} --cache warm"),
        &expect(PageCache, IN_CACHE, &[]),
    );
    let direct = situation(
        "ext4, direct",
        at,
        &format!("{EACH_ONCE} --direct"),
        &expect(HandedOver, FROM_BEHIND, &[]),
    );
    situation(
        "ext4, cold, read again and again",
        at,
        "--mix read=1 --files 100 --transactions 4000 --size 16KiB --cache cold",
        &expect(
            PageCache,
            Some((0.9, 1.0)),
            &["fits-in-memory", "reads-from-memory"],
        ),
    );
    for (ran, share) in [
        (&cached, 1.0),
        (&cold, 0.0),
        (&cold_data, 0.0),
        (&warm, 1.0),
        (&direct, 0.0),
    ] {
        let found = residency(ran);
        ran.assert(
            found == share,
            format_args!("{found} of the sample was in the cache, not {share}"),
        );
        // If a phase has only one kind of operation, the evidence states the shares of cache,
        // device and server for this operation.
        let served = &evidence(ran).unwrap().operations["read"];
        let shares = served.known().unwrap();
        ran.assert(
            (shares.cache - share).abs() <= 0.1,
            format_args!("{shares:?}"),
        )
        .assert(shares.server == 0.0, format_args!("{shares:?}"));
    }
}

#[test]
fn durability_level_is_derived_from_device_flushes() {
    if !is_root() || !is_on_a_disk() || !FileSystem::Ext4.is_available() {
        return;
    }
    let _alone = mounted::alone_with_the_cache();
    let disk = Disk::new(FileSystem::Ext4);
    let at = &disk.at;
    let expect = |tier, flushes| Expected {
        tier: Some(tier),
        // This run reads few bytes. If some blocks of metadata come from the device, the hit rate
        // is below 1.
        cached: Some((0.9, 1.0)),
        flushes,
        rules: &[],
    };
    let work = "--mix read=4,create=1,delete=1 --files 200 --transactions 300 --size 4KiB --seed 5";
    let with = |durability: &str| format!("{work} --durability {durability}");
    let none = situation("ext4, none", at, work, &expect(PageCache, None));
    let written = evidence(&none)
        .unwrap()
        .writes
        .device_bytes
        .known()
        .copied();
    none.assert(
        written.is_some_and(|bytes| bytes > 0),
        "the sync after the phase wrote nothing",
    );
    situation(
        "ext4, batch:10",
        at,
        &with("batch:10"),
        &expect(PageCache, None),
    );
    for durability in ["fdatasync", "fsync", "fsync+dir", "o-dsync", "o-sync"] {
        let name = format!("ext4, {durability}");
        situation(
            &name,
            at,
            &with(durability),
            &expect(FlushAcknowledged, A_FLUSH_OR_TWO),
        );
    }
    disk.remount("nobarrier");
    let without = expect(HandedOver, Some((0.0, 0.05)));
    situation("ext4 nobarrier, fsync", at, &with("fsync"), &without);
    disk.remount("barrier,sync");
    situation(
        "ext4 sync, none",
        at,
        work,
        &expect(FlushAcknowledged, None),
    );
    for kind in [FileSystem::Xfs, FileSystem::Btrfs] {
        if kind.is_available() {
            let disk = Disk::new(kind);
            let name = format!("{}, fsync", kind.name());
            let expected = expect(FlushAcknowledged, Some((0.3, 3.5)));
            situation(&name, &disk.at, &with("fsync"), &expected);
        }
    }
}

#[test]
fn evidence_is_correct_on_memory_layers_servers_and_stacks() {
    if !is_root() || !is_on_a_disk() || !FileSystem::Ext4.is_available() {
        return;
    }
    let _alone = mounted::alone_with_the_cache();
    let memory = TestDir::in_memory();
    let in_memory = |rules| Expected {
        tier: Some(Memory),
        cached: Some((1.0, 1.0)),
        flushes: None,
        rules,
    };
    let at = memory.directory("tmpfs");
    let tmpfs = Volume::in_memory(&at, "size=256m");
    let ran = situation("tmpfs", &at, MAIL, &in_memory(&[]));
    let seen = evidence(&ran).unwrap();
    ran.assert(
        seen.writes.device_bytes == Fact::NotApplicable,
        format_args!("{seen:?}"),
    )
    .assert(
        seen.reads.fetched_from == Fact::Known(Behind::Memory),
        format_args!("{seen:?}"),
    )
    .assert(
        seen.operations
            .values()
            .all(|served| served.known().is_some_and(|shares| shares.cache == 1.0)),
        format_args!("{:?}", seen.operations),
    );
    situation(
        "tmpfs, fsync",
        &at,
        &format!("{MAIL} --durability fsync"),
        &in_memory(&["durability-in-memory"]),
    );
    situation(
        "tmpfs, cold-data",
        &at,
        &format!("{EACH_ONCE} --cache cold-data"),
        &in_memory(&["cache-not-dropped", "fits-in-memory", "reads-from-memory"]),
    );
    drop(tmpfs);

    let disk = Disk::new(FileSystem::Ext4);
    let [lower, upper, work, merged] =
        ["lower", "upper", "work", "merged"].map(|name| disk.at.join(name));
    for directory in [&lower, &upper, &work, &merged] {
        std::fs::create_dir(directory).unwrap();
    }
    let options = format!(
        "lowerdir={},upperdir={},workdir={}",
        lower.display(),
        upper.display(),
        work.display()
    );
    tool(
        "mount",
        &[
            "-t",
            "overlay",
            "-o",
            &options,
            "overlay",
            merged.to_str().unwrap(),
        ],
    );
    let expected = Expected {
        tier: Some(PageCache),
        cached: IN_CACHE,
        flushes: None,
        rules: &[],
    };
    let overlay = std::panic::catch_unwind(|| {
        let ran = situation("overlay on ext4", &merged, MAIL, &expected);
        let seen = evidence(&ran).unwrap().clone();
        let residency = seen.residency.unwrap();
        let before = residency.before.known().unwrap();
        ran.assert(before.cached == before.pages, format_args!("{before:?}"))
            .assert(before.dirty.why().is_some(), format_args!("{before:?}"))
            .assert(
                seen.writes.device_bytes.why().is_some(),
                "an overlay's device is not known",
            );
    });
    tool("umount", &[merged.to_str().unwrap()]);
    overlay.unwrap_or_else(|why| std::panic::resume_unwind(why));

    // The inner file system is in an image. The outer file system, which stores this image, is in
    // an image as well.
    let inner_at = disk.test_dir.directory("inner");
    let image = disk.at.join("image");
    let file = std::fs::File::create(&image).unwrap();
    rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, 128 << 20).unwrap();
    drop(file);
    tool(
        "mkfs.ext4",
        &["-q", "-E", "nodiscard", image.to_str().unwrap()],
    );
    tool(
        "mount",
        &[
            "-o",
            "loop",
            image.to_str().unwrap(),
            inner_at.to_str().unwrap(),
        ],
    );
    let inner = std::panic::catch_unwind(|| {
        let expected = Expected {
            tier: Some(FlushAcknowledged),
            // The share of the cache is not known: the inner loop device reads its image through
            // the page cache of the outer file system.
            cached: None,
            flushes: A_FLUSH_OR_TWO,
            rules: &[],
        };
        let options = "--mix read=4,create=1,delete=1 --files 200 --transactions 300 --size 4KiB \
                       --durability fsync";
        let ran = situation("loop on loop, fsync", &inner_at, options, &expected);
        let seen = ran.record.actual.phases[1].evidence.as_ref().unwrap();
        let devices = seen.performing.devices.known().unwrap();
        ran.assert(
            devices.len() >= 3,
            format_args!("the disks below one another, not {devices:?}"),
        );
    });
    tool("umount", &[inner_at.to_str().unwrap()]);
    inner.unwrap_or_else(|why| std::panic::resume_unwind(why));

    let possible = faultfs::is_possible();
    if is_met(possible.is_ok(), possible.err().unwrap_or_default()) {
        let (backing, at) = (
            disk.test_dir.directory("backing"),
            disk.test_dir.directory("fuse"),
        );
        let served =
            faultfs::Passthrough::mount(&backing, &at, faultfs::Options::default()).unwrap();
        let unknown = |tier| Expected {
            tier,
            cached: None,
            flushes: None,
            rules: &[],
        };
        situation("FUSE", &at, MAIL, &unknown(None));
        situation(
            "FUSE, fsync",
            &at,
            &format!("{MAIL} --durability fsync"),
            &unknown(Some(HandedOver)),
        );
        drop(served);
    }
    drop(disk.volume);

    let mib = Disk::sparse_in(FileSystem::Ext4, TestDir::in_memory());
    let ran = situation(
        "ext4 on a file in memory, fsync",
        &mib.at,
        &format!("{MAIL} --durability fsync"),
        &Expected {
            tier: Some(Memory),
            cached: IN_CACHE,
            flushes: A_FLUSH_OR_TWO,
            rules: &["allocated-during-run", "durability-in-memory"],
        },
    );
    drop(ran);
}

#[test]
fn growing_images_and_nearly_full_disks_are_reported() {
    if !is_root() || !is_on_a_disk() || !FileSystem::Ext4.is_available() {
        return;
    }
    let _alone = mounted::alone_with_the_cache();
    let sparse = Disk::sparse_in(FileSystem::Ext4, TestDir::new());
    let expect = |rules| Expected {
        tier: Some(PageCache),
        cached: IN_CACHE,
        flushes: None,
        rules,
    };
    let growing = "--mix read=1,create=3 --files 200 --transactions 800 --size 32KiB --seed 5";
    situation(
        "ext4 on a sparse file",
        &sparse.at,
        growing,
        &expect(&["allocated-during-run"]),
    );
    drop(sparse);
    let disk = Disk::new(FileSystem::Ext4);
    let ballast = std::fs::File::create(disk.at.join("ballast")).unwrap();
    rustix::fs::fallocate(&ballast, rustix::fs::FallocateFlags::empty(), 0, 430 << 20).unwrap();
    drop(ballast);
    situation(
        "ext4, nearly full",
        &disk.at,
        MAIL,
        &expect(&["nearly-full"]),
    );
}

/// In a container that hides parts of /proc and /sys, counters are available neither to root nor to
/// another user.
#[test]
fn counters_in_hidden_kernel_files_are_not_available() {
    if !is_root() || !is_on_a_disk() || !is_met(Path::new("/usr/bin/setpriv").exists(), "setpriv") {
        return;
    }
    let test_dir = TestDir::new();
    let at = test_dir.directory("location");
    std::fs::set_permissions(&at, std::fs::Permissions::from_mode(0o777)).unwrap();
    let program = program_for_all(&test_dir);
    // The container hides files in two ways: it mounts an empty file system on /sys, and /dev/null
    // on files in /proc.
    let mask = "mount --make-rprivate / && mount -t tmpfs none /sys && for file in stat meminfo \
                diskstats self/io; do mount --bind /dev/null /proc/$file || exit 9; done";
    let nobody = "setpriv --reuid=65534 --regid=65534 --clear-groups";
    for (who, as_who, safely) in [
        ("root", "", "--allow-unsafe-target"),
        ("nobody", nobody, ""),
    ] {
        let run = format!(
            "{mask} && exec {as_who} {} run {MAIL} --durability fsync --no-overhead --archive \
             none --full {safely} --target {}",
            program.display(),
            at.display()
        );
        let mut command = Running::command(Path::new("/usr/bin/unshare"));
        command.args(["--mount", "sh", "-c", &run]);
        let ended = Running::run_to_end(command, &at);
        ended.code(0).shows("not available");
        ended.does_not_show("panicked");
        assert!(names(&at).unwrap().is_empty(), "{who}: something is left");
    }
}
