//! Facts of the machine, the targets, the room, the ranks and the program's overhead, as far as one
//! follows from another.

use std::path::Path;

use spec::Place;
use system::counters::DeviceReading;
use system::{Fact, Host, Mount, Space, Target};

use super::laws;
use super::scope::{Findings, Rule};
use record::overhead::Overhead;
use record::run::{LocationRecord, PhaseRecord, Record, Room, Tool};

pub(super) fn check(record: &Record, found: &mut Findings) {
    host(record, &record.host, "record.host", found);
    for (index, location) in record.locations.iter().enumerate() {
        let place = format!("record.locations[{index}]");
        self::location(record, location, index, &place, found);
    }
    if let Some(room) = &record.room {
        self::room(record, room, found);
    }
    if let Fact::Known(overhead) = &record.actual.overhead {
        self::overhead(record, overhead, found);
    }
    sizing(record, found);
    origin(record, found);
    if record.tool.name != "postmark" {
        let why = format!("no program {}", record.tool.name);
        found.broken(Rule::Environment, "record.tool.name", why);
    }
    let this = Tool::this();
    if record.tool.version == this.version && record.tool.generators != this.generators {
        let why = format!(
            "version {} has generators {}",
            this.version, this.generators
        );
        found.broken(Rule::Environment, "record.tool.generators", why);
    }
    if let Err(why) = record.follows_from_its_ranks() {
        found.broken(Rule::Environment, "record.cluster", why);
    }
}

fn host(record: &Record, host: &Host, place: &str, found: &mut Findings) {
    laws::check(&laws::OF_HOST, Rule::Environment, host, place, found);
    let before = &record.during.clocks.clock_source_before;
    if let (Fact::Known(source), Fact::Known(before)) = (&host.clock_source, before) {
        if source != before && record.cluster.is_none() {
            let why = format!("{source}, and when the run began {before}");
            found.broken(Rule::Environment, format!("{place}.clock_source"), why);
        }
    }
    if !host.page_size_bytes.is_power_of_two() || host.page_size_bytes < 512 {
        let why = format!("no page has {} bytes", host.page_size_bytes);
        found.broken(Rule::Environment, format!("{place}.page_size_bytes"), why);
    }
}

fn location(
    record: &Record,
    location: &LocationRecord,
    index: usize,
    place: &str,
    found: &mut Findings,
) {
    let mut broken =
        |field: &str, why: String| found.broken(Rule::Environment, format!("{place}.{field}"), why);
    let Fact::Known(target) = &location.target else {
        return;
    };
    let (path, directory) = (&target.path, &location.directory);
    let said = record.spec.targets.get(index);
    let said = said.map(|said| spec::directory(said).display().to_string());
    // Relative ones are resolved; a working directory that is gone or hidden is not known.
    let is_said = |said: &String| match said.strip_prefix('/') {
        Some(_) => said == path,
        None => said.starts_with('.') || path.ends_with(said.trim_end_matches('/')),
    };
    if let Some(said) = said.filter(|said| !is_said(said)) {
        broken("target.path", format!("{path}, and the target is {said}"));
    }
    // Whoever is in a directory may call it by another name than the kernel.
    let is_absolute = path.starts_with('/');
    if is_absolute && !directory.starts_with(path.trim_end_matches('/')) {
        broken("directory", format!("{directory} is not in {path}"));
    }
    if record.spec.place == Place::Location && is_absolute && directory != path {
        broken("directory", format!("{directory} is not {path}"));
    }
    if let Fact::Known(space) = &target.space {
        self::space(target, space, &format!("{place}.target"), found);
    }
    if let Fact::Known(mount) = &target.mount {
        self::mount(target, mount, &format!("{place}.target"), found);
    }
    if let Fact::Known(device) = &target.device {
        names(record, location, &device.name, place, found);
        // One over several devices is larger than the first.
        let is_one = matches!(device.members, Fact::NotApplicable);
        if is_one && !IS_OVER_SEVERAL.contains(&kind(target)) {
            let place = format!("{place}.target");
            laws::check(&laws::OF_TARGET, Rule::Environment, target, &place, found);
        }
    }
}

/// A target is below its mount, and of the class of the mount's file system.
fn mount(target: &Target, mount: &Mount, place: &str, found: &mut Findings) {
    if let Fact::Known(class) = target.class {
        let place = format!("{place}.class");
        found
            .at(Rule::Environment, &place)
            .same(&class, &mount.class(), "of its mount");
    }
    if let Fact::Known(path) = &target.canonical_path {
        if !Path::new(path).starts_with(&mount.mount_point) {
            let why = format!("{} is not above {path}", mount.mount_point.display());
            found.broken(Rule::Environment, format!("{place}.mount.mount_point"), why);
        }
    }
}

/// What is known of a file system's room follows from one call.
fn space(target: &Target, space: &Space, place: &str, found: &mut Findings) {
    let expected = Target {
        read_only: Fact::Known(space.read_only),
        name_length_bytes_max: Fact::Known(space.name_length_bytes_max),
        fill_fraction: space.fill_fraction(),
        ..target.clone()
    };
    found
        .at(Rule::Environment, place)
        .same(target, &expected, "by its room");
    let place = format!("{place}.space");
    laws::check(&laws::OF_SPACE, Rule::Environment, space, &place, found);
}

/// File systems that lie on several devices of which the kernel names one.
const IS_OVER_SEVERAL: [&str; 4] = ["btrfs", "zfs", "bcachefs", "overlay"];

fn kind(target: &Target) -> &str {
    target
        .mount
        .known()
        .map_or("", |mount| &mount.file_system_type)
}

/// The device of a target is the one whose counters are read, and the first whose durability is
/// known.
fn names(
    record: &Record,
    location: &LocationRecord,
    name: &str,
    place: &str,
    found: &mut Findings,
) {
    let durability = location.durability.as_ref();
    let devices = durability.and_then(|facts| facts.devices.known());
    let first = devices.and_then(|devices| devices.first());
    if let Some(first) = first.filter(|first| first.name != name) {
        let why = format!("{}, and the target lies on {name}", first.name);
        found.broken(
            Rule::Environment,
            format!("{place}.durability.devices"),
            why,
        );
    }
    let counted = record.during.counted.devices.known();
    let is_other = |device: &DeviceReading| device.name != name;
    if counted.is_some_and(|devices| devices.iter().all(is_other)) && record.cluster.is_none() {
        let why = format!("{name} does not belong to the devices whose counters were read");
        found.broken(
            Rule::Environment,
            format!("{place}.target.device.name"),
            why,
        );
    }
}

/// The room's volumes are those of the targets. How much of it is free others change at any moment.
fn room(record: &Record, room: &Room, found: &mut Findings) {
    for (index, volume) in room.volumes.iter().enumerate() {
        let place = format!("record.room.volumes[{index}]");
        laws::check(&laws::OF_VOLUME, Rule::Environment, volume, &place, found);
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
        if volume.needed_inodes.saturating_sub(volume.files_peak) > most {
            let why = format!(
                "{} inodes of {} files",
                volume.needed_inodes, volume.files_peak
            );
            found.broken(Rule::Environment, format!("{place}.needed_inodes"), why);
        }
        let mut targets = record.targets();
        let Some(target) = targets.find(|target| volume.locations.contains(&target.path)) else {
            let why = "its locations do not belong to the run";
            found.broken(Rule::Environment, format!("{place}.locations"), why);
            continue;
        };
        if let Fact::Known(name) = &volume.file_system {
            let place = format!("{place}.file_system");
            found
                .at(Rule::Environment, &place)
                .same(name.as_str(), kind(target), "of the target");
        }
    }
}

fn overhead(record: &Record, overhead: &Overhead, found: &mut Findings) {
    let place = "record.actual.overhead";
    let workload = &record.spec.workload;
    let mut broken = |why: String| found.broken(Rule::Environment, place, why);
    let Overhead {
        workers,
        files,
        transactions,
        operations,
        ..
    } = *overhead;
    let all = workload.workers.count();
    if !(1..=all).contains(&workers) || !(1..=workload.files()).contains(&files) {
        broken(format!(
            "{workers} workers of {all} had pools of {files} files"
        ));
    }
    // Of writers and readers there is one of each.
    if let Fact::Known(online) = record.host.processors.online {
        if u64::from(workers) > online.saturating_add(1) {
            broken(format!("{workers} workers on {online} processors"));
        }
    }
    let of_a_worker = |phase: &PhaseRecord| phase.workers.iter().map(|worker| worker.issued).max();
    let performed: u64 = record.actual.transactions().filter_map(of_a_worker).sum();
    let most_of_one = if workload.mix().is_some() { 1 } else { 2 };
    if transactions > performed.saturating_mul(workers.into())
        || operations > transactions.saturating_mul(most_of_one)
    {
        broken(format!(
            "{transactions} transactions with {operations} operations, and a worker performed \
             {performed}"
        ));
    }
    // All files, where they are few and small.
    let pools = u64::from(workload.streams().max(1));
    let are_few = workload.files().saturating_mul(pools) <= 100_000;
    let are_small = workload.content_bytes_max() <= 10_000;
    if are_few && are_small && files != workload.files() {
        broken(format!(
            "pools of {files} files, and not {}",
            workload.files()
        ));
    }
}

fn sizing(record: &Record, found: &mut Findings) {
    if let Some(sizing) = &record.sizing {
        let workload = &record.spec.workload;
        let all = workload.files().saturating_mul(workload.streams().into());
        let place = "record.sizing.files";
        found
            .at(Rule::Environment, place)
            .same(&sizing.files, &all, "in all pools");
    }
}

/// A directory of the run's own has the second in its name at which it was made.
const MADE_WITHIN_S: u64 = 3_600;

fn origin(record: &Record, found: &mut Findings) {
    let is_own = record.spec.place == Place::OwnDirectory && !record.spec.keeping.reuse;
    let is_single = is_own && record.spec.drive.sweep.is_none();
    let Some(location) = record.locations.first().filter(|_| is_single) else {
        return;
    };
    let name = location.directory.rsplit('/').next().unwrap_or_default();
    let numbers: Option<Vec<i64>> = name.strip_prefix("postmark-").map(|numbers| {
        numbers
            .split('-')
            .map_while(|number| number.parse().ok())
            .collect()
    });
    let Some(&[made_s, ..]) = numbers.as_deref() else {
        return;
    };
    let origin_s = record.origin.unix_ns.div_euclid(1_000_000_000);
    // Somebody may set the clock meanwhile.
    if made_s.abs_diff(origin_s) > MADE_WITHIN_S {
        let why = format!("{origin_s} s, and {name} was made at {made_s} s");
        found.broken(Rule::Environment, "record.origin.unix_ns", why);
    }
}
