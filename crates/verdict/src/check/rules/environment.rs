//! Checks facts that follow from one another: facts of the machine, the targets, their space, the
//! ranks and the overhead.

use std::path::Path;

use spec::Place;
use system::counters::DeviceReading;
use system::{Fact, Host, Mount, Space, Target};

use super::laws;
use super::scope::{At, Findings, Rule};
use record::overhead::Overhead;
use record::run::{LocationRecord, PhaseRecord, Record, RoomVolume, Tool};

pub(super) fn check(record: &Record, found: &mut Findings) {
    let mut at = found.at(Rule::Environment, "record");
    host(record, &record.host, &mut at.below(".host"));
    for (index, location) in record.locations.iter().enumerate() {
        let mut at = at.below(&format!(".locations[{index}]"));
        self::location(record, location, index, &mut at);
    }
    let volumes = record.room.iter().flat_map(|room| &room.volumes);
    for (index, volume) in volumes.enumerate() {
        let mut at = at.below(&format!(".room.volumes[{index}]"));
        self::volume(record, volume, &mut at);
    }
    if let Fact::Known(overhead) = &record.actual.overhead {
        self::overhead(record, overhead, &mut at.below(".actual.overhead.known"));
    }
    if let Some(sizing) = &record.sizing {
        let workload = &record.spec.workload;
        let all = workload.files().saturating_mul(workload.streams().into());
        at.same(".sizing.files", sizing.files, all, "in all pools");
    }
    origin(record, &mut at);
    let (tool, this) = (&record.tool, Tool::this());
    at.same(".tool.name", &tool.name, "postmark", "the program is");
    if tool.version == this.version {
        let (generators, known) = (tool.generators, this.generators);
        at.same(".tool.generators", generators, known, "of the version");
    }
    if let Err(why) = record.follows_from_its_ranks() {
        at.broken(".cluster", why);
    }
}

fn host(record: &Record, host: &Host, at: &mut At<'_>) {
    laws::check(&laws::OF_HOST, host, at);
    if record.cluster.is_none() {
        let before = record.during.clocks.clock_source_before.known();
        let source = host.clock_source.known();
        at.same(".clock_source", source, before, "when the run began");
    }
    if !host.page_size_bytes.is_power_of_two() || host.page_size_bytes < 512 {
        let why = format!("no page has {} bytes", host.page_size_bytes);
        at.broken(".page_size_bytes", why);
    }
}

fn location(record: &Record, location: &LocationRecord, index: usize, at: &mut At<'_>) {
    let Fact::Known(target) = &location.target else {
        return;
    };
    let (path, directory) = (&target.path, &location.directory);
    let said = record.spec.targets.get(index);
    let said = said.map(|said| spec::directory(said).display().to_string());
    // The record contains the resolved path of a relative target, but not the working directory. So
    // only the end of the path is compared.
    let is_said = |said: &String| match said.strip_prefix('/') {
        Some(_) => said == path,
        None => said.starts_with('.') || path.ends_with(said.trim_end_matches('/')),
    };
    if let Some(said) = said.filter(|said| !is_said(said)) {
        at.broken(".target.path", format!("{path}, and the target is {said}"));
    }
    // The kernel may report several paths of one directory. The comparison uses the path of the
    // target that the run used.
    let is_absolute = path.starts_with('/');
    if is_absolute && !directory.starts_with(path.trim_end_matches('/')) {
        at.broken(".directory", format!("{directory} is not in {path}"));
    }
    if record.spec.place == Place::Location && is_absolute {
        at.same(".directory", directory, path, "the target is");
    }
    if let Fact::Known(space) = &target.space {
        self::space(target, space, &mut at.below(".target"));
    }
    if let Fact::Known(mount) = &target.mount {
        self::mount(target, mount, &mut at.below(".target"));
    }
    if let Fact::Known(device) = &target.device {
        names(record, location, &device.name, at);
        // A file system over several devices may be larger than the first device, so the law (total
        // size at most the device's size) does not apply to it.
        let is_one = matches!(device.members, Fact::NotApplicable);
        if is_one && !IS_OVER_SEVERAL.contains(&kind(target)) {
            laws::check(&laws::OF_TARGET, target, &mut at.below(".target"));
        }
    }
}

/// Checks that a target is below its mount point, and has the class of the mount's file system.
fn mount(target: &Target, mount: &Mount, at: &mut At<'_>) {
    let class = target.class.known();
    at.same(".class", class, mount.class(), "of its mount");
    if let Fact::Known(path) = &target.canonical_path
        && !Path::new(path).starts_with(&mount.mount_point)
    {
        let why = format!("{} is not above {path}", mount.mount_point.display());
        at.broken(".mount.mount_point", why);
    }
}

/// Checks the facts about a file system's space. The kernel returns all of them in one call.
fn space(target: &Target, space: &Space, at: &mut At<'_>) {
    let expected = Target {
        read_only: Fact::Known(space.read_only),
        name_length_bytes_max: Fact::Known(space.name_length_bytes_max),
        fill_fraction: space.fill_fraction(),
        ..target.clone()
    };
    at.same("", target, expected, "by its room");
    laws::check(&laws::OF_SPACE, space, &mut at.below(".space"));
}

/// Types of file systems that may use several devices, of which the kernel names only one.
const IS_OVER_SEVERAL: [&str; 4] = ["btrfs", "zfs", "bcachefs", "overlay"];

fn kind(target: &Target) -> &str {
    target
        .mount
        .known()
        .map_or("", |mount| &mount.file_system_type)
}

/// Checks that the device of a target is among the devices whose counters are read, and is the
/// first device in the durability facts.
fn names(record: &Record, location: &LocationRecord, name: &str, at: &mut At<'_>) {
    let durability = location.durability.as_ref();
    let devices = durability.and_then(|facts| facts.devices.known());
    let first = devices.and_then(|devices| devices.first());
    let first = first.map(|device| &device.name);
    at.same(".durability.devices[0].name", first, name, "of the target");
    let counted = record.during.counted.devices.known();
    let is_other = |device: &DeviceReading| device.name != name;
    if counted.is_some_and(|devices| devices.iter().all(is_other)) && record.cluster.is_none() {
        let why = format!("{name} does not belong to the devices whose counters were read");
        at.broken(".target.device.name", why);
    }
}

/// Checks that a volume (a file system of the run) contains a target. The volume's free space is
/// not checked, because other programs change it.
fn volume(record: &Record, volume: &RoomVolume, at: &mut At<'_>) {
    laws::check(&laws::OF_VOLUME, volume, at);
    let workload = &record.spec.workload;
    let pools = u64::from(workload.workers.pools());
    let directories = workload
        .directories()
        .saturating_mul(2)
        .saturating_add(pools);
    let all = (volume.locations.len() as u64).max(1);
    let most = directories
        .saturating_mul(all)
        .saturating_mul(2)
        .saturating_add(16);
    let others = volume.needed_inodes.saturating_sub(volume.files_peak);
    at.at_most(".needed_inodes: others", others, most, "by the workload");
    let mut targets = record.targets();
    let Some(target) = targets.find(|target| volume.locations.contains(&target.path)) else {
        return at.broken(".locations", "they do not belong to the run");
    };
    let name = volume.file_system.known();
    at.same(".file_system", name, kind(target), "of the target");
}

fn overhead(record: &Record, overhead: &Overhead, at: &mut At<'_>) {
    let workload = &record.spec.workload;
    let Overhead {
        files,
        transactions,
        operations,
        ..
    } = *overhead;
    let (workers, all) = (u64::from(overhead.workers), workload.workers.count());
    at.within(".workers", workers, 1..=all.into(), "of the workload");
    // With writers and readers, the overhead is measured with at least one worker of each role,
    // even on one processor.
    let online = record.host.processors.online.known();
    let most = online.map(|online| online.saturating_add(1));
    at.at_most(".workers", workers, most, "on all processors");
    let of_a_worker = |phase: &PhaseRecord| phase.workers.iter().map(|worker| worker.issued).max();
    let performed: u64 = record.actual.transactions().filter_map(of_a_worker).sum();
    let most = performed.saturating_mul(workers);
    at.at_most(".transactions", transactions, most, "of these workers");
    let most_of_one = if workload.mix().is_some() { 1 } else { 2 };
    let most = transactions.saturating_mul(most_of_one);
    at.at_most(".operations", operations, most, "of its transactions");
    // Pools within the two limits below are measured with all of their files.
    let pools = u64::from(workload.streams().max(1));
    let are_few = workload.files().saturating_mul(pools) <= 100_000;
    let are_small = workload.content_bytes_max() <= 10_000;
    let least = if are_few && are_small {
        workload.files()
    } else {
        1
    };
    at.within(".files", files, least..=workload.files(), "of the workload");
}

/// Maximum difference between two wall clock times, in seconds: the time in the name of a run's own
/// directory, and the recorded start of the run.
const MADE_WITHIN_S: u64 = 3_600;

fn origin(record: &Record, at: &mut At<'_>) {
    let is_own = record.spec.place == Place::OwnDirectory && !record.spec.keeping.reuse;
    let is_single = is_own && record.spec.drive.sweep.is_none();
    let Some(location) = record.locations.first().filter(|_| is_single) else {
        return;
    };
    let name = location.directory.rsplit('/').next().unwrap_or_default();
    let numbers = name.strip_prefix("postmark-");
    let made_s = numbers.and_then(|numbers| numbers.split('-').next()?.parse::<i64>().ok());
    let origin_s = record.origin.unix_ns.div_euclid(1_000_000_000);
    // The wall clock may be set between the two times, so the difference may be negative.
    let off_s = made_s.map(|made_s| made_s.abs_diff(origin_s));
    let by = "from the name of the directory";
    at.at_most(".origin.unix_ns: seconds", off_s, MADE_WITHIN_S, by);
}
