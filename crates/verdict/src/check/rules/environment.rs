//! Facts of the machine, the targets, the room, the ranks and the program's overhead, as far as one
//! follows from another.

use std::path::Path;

use spec::Place;
use system::{Fact, Host, Target};

use super::{Findings, Rule};
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
        found.broken(
            Rule::Environment,
            "record.tool.name",
            format!("no program {}", record.tool.name),
        );
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

/// One number is no more than another.
fn at_most(
    found: &mut Findings,
    place: &str,
    (what, less): (&str, &Fact<u64>),
    (other, more): (&str, &Fact<u64>),
) {
    if let (Fact::Known(less), Fact::Known(more)) = (less, more) {
        if less > more {
            let why = format!("{what}: {less}, and {other}: {more}");
            found.broken(Rule::Environment, place, why);
        }
    }
}

fn host(record: &Record, host: &Host, place: &str, found: &mut Findings) {
    let processors = &host.processors;
    for (less, more) in [
        (
            ("available memory", &host.memory_available_bytes),
            ("all memory", &host.memory_total_bytes),
        ),
        (
            ("usable processors", &processors.usable),
            ("online ones", &processors.online),
        ),
        (
            ("sockets", &processors.sockets),
            ("cores", &processors.cores),
        ),
        (
            ("cores", &processors.cores),
            ("online processors", &processors.online),
        ),
    ] {
        at_most(found, place, less, more);
    }
    if let (Fact::Known(source), Fact::Known(all)) =
        (&host.clock_source, &host.clock_sources_available)
    {
        if !all.contains(source) {
            let why = format!("{source}, and the host has {}", all.join(", "));
            found.broken(Rule::Environment, &format!("{place}.clock_source"), why);
        }
    }
    let before = &record.during.clocks.clock_source_before;
    if let (Fact::Known(source), Fact::Known(before)) = (&host.clock_source, before) {
        if source != before && record.cluster.is_none() {
            let why = format!("{source}, and when the run began {before}");
            found.broken(Rule::Environment, &format!("{place}.clock_source"), why);
        }
    }
    if !host.page_size_bytes.is_power_of_two() || host.page_size_bytes < 512 {
        let why = format!("no page has {} bytes", host.page_size_bytes);
        found.broken(Rule::Environment, &format!("{place}.page_size_bytes"), why);
    }
}

fn location(
    record: &Record,
    location: &LocationRecord,
    index: usize,
    place: &str,
    found: &mut Findings,
) {
    let mut broken = |field: &str, why: String| {
        found.broken(Rule::Environment, &format!("{place}.{field}"), why)
    };
    let Fact::Known(target) = &location.target else {
        return;
    };
    let Target {
        path,
        canonical_path,
        mount,
        class,
        read_only,
        name_length_bytes_max,
        space,
        fill_fraction,
        device,
    } = target;
    let said = record
        .spec
        .targets
        .get(index)
        .map(|said| spec::directory(said).display().to_string());
    // Relative ones are resolved; a working directory that is gone or hidden is not known.
    let is_said = |said: &String| match said.strip_prefix('/') {
        Some(_) => said == path,
        None => said.starts_with('.') || path.ends_with(said.trim_end_matches('/')),
    };
    if said.as_ref().is_some_and(|said| !is_said(said)) {
        broken(
            "target.path",
            format!("{path}, and the target is {}", said.unwrap_or_default()),
        );
    }
    // Whoever is in a directory may call it by another name than the kernel.
    let is_absolute = path.starts_with('/');
    if is_absolute && !location.directory.starts_with(path.trim_end_matches('/')) {
        broken(
            "directory",
            format!("{} is not in {path}", location.directory),
        );
    }
    if (record.spec.place == Place::Location) && is_absolute && location.directory != *path {
        broken("directory", format!("{} is not {path}", location.directory));
    }
    if let Fact::Known(mount) = mount {
        if class.known().is_some_and(|class| *class != mount.class()) {
            broken(
                "target.class",
                format!("{class:?} is not the class of {}", mount.file_system_type),
            );
        }
        let is_below = |path: &String| Path::new(path).starts_with(&mount.mount_point);
        if canonical_path.known().is_some_and(|path| !is_below(path)) {
            broken(
                "target.mount.mount_point",
                format!("{} is not above {path}", mount.mount_point.display()),
            );
        }
    }
    if let Fact::Known(space) = space {
        if read_only.known() != Some(&space.read_only)
            || name_length_bytes_max.known() != Some(&space.name_length_bytes_max)
        {
            broken("target.space", "it is not what the target has".to_owned());
        }
        if *fill_fraction != space.fill_fraction() {
            broken(
                "target.fill_fraction",
                format!(
                    "{fill_fraction:?}, and the room is {:?} full",
                    space.fill_fraction()
                ),
            );
        }
        let orders = [
            (
                ("free bytes", &space.free_bytes),
                ("all bytes", &space.total_bytes),
            ),
            (
                ("available bytes", &space.available_bytes),
                ("free bytes", &space.free_bytes),
            ),
            (
                ("free inodes", &space.inodes_free),
                ("all inodes", &space.inodes_total),
            ),
            (
                ("available inodes", &space.inodes_available),
                ("free inodes", &space.inodes_free),
            ),
        ];
        let place = format!("{place}.target.space");
        for (less, more) in orders {
            at_most(found, &place, less, more);
        }
        for bytes in [
            &space.total_bytes,
            &space.free_bytes,
            &space.available_bytes,
        ] {
            let unit = space.block_size_bytes.max(1);
            if let Some(bytes) = bytes.known().filter(|bytes| **bytes % unit != 0) {
                let why = format!("{bytes} bytes, and blocks have {unit}");
                found.broken(Rule::Environment, &place, why);
            }
        }
    }
    if let Fact::Known(device) = device {
        names(record, location, &device.name, place, found);
        if let (Fact::Known(size), Fact::Known(space)) = (&device.size_bytes, space) {
            let all = ("the file system", &space.total_bytes);
            // One over several devices is larger than the first.
            let is_one = matches!(device.members, Fact::NotApplicable);
            if is_one && !IS_OVER_SEVERAL.contains(&kind(target)) {
                at_most(
                    found,
                    &format!("{place}.target.device"),
                    all,
                    ("its device", &Fact::Known(*size)),
                );
            }
        }
    }
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
    let durability = location
        .durability
        .as_ref()
        .and_then(|facts| facts.devices.known());
    if let Some(first) = durability
        .and_then(|devices| devices.first())
        .filter(|first| first.name != name)
    {
        let why = format!("{}, and the target lies on {name}", first.name);
        found.broken(
            Rule::Environment,
            &format!("{place}.durability.devices"),
            why,
        );
    }
    let counted = record.during.counted.devices.known();
    let is_counted = |device: &system::counters::DeviceReading| device.name == name;
    if counted.is_some_and(|devices| !devices.iter().any(is_counted)) && record.cluster.is_none() {
        let why = format!("{name} does not belong to the devices whose counters were read");
        found.broken(
            Rule::Environment,
            &format!("{place}.target.device.name"),
            why,
        );
    }
}

/// The room's volumes are those of the targets. How much of it is free others change at any moment.
fn room(record: &Record, room: &Room, found: &mut Findings) {
    for (index, volume) in room.volumes.iter().enumerate() {
        let place = format!("record.room.volumes[{index}]");
        if volume.bytes_peak > volume.needed_bytes || volume.files_peak > volume.needed_inodes {
            let why = "it needs less than what lies there at the peak".to_owned();
            found.broken(Rule::Environment, &place, why);
        }
        let workload = &record.spec.workload;
        let directories = workload
            .directories()
            .saturating_mul(2)
            .saturating_add(u64::from(workload.workers.pools()));
        let all = volume.locations.len() as u64;
        let inodes = volume.needed_inodes.saturating_sub(volume.files_peak);
        if inodes
            > directories
                .saturating_mul(all.max(1))
                .saturating_mul(2)
                .saturating_add(16)
        {
            let why = format!(
                "{} inodes of {} files",
                volume.needed_inodes, volume.files_peak
            );
            found.broken(Rule::Environment, &format!("{place}.needed_inodes"), why);
        }
        let mut targets = record
            .locations
            .iter()
            .filter_map(|location| location.target.known());
        let Some(target) = targets.find(|target| volume.locations.contains(&target.path)) else {
            let why = "its locations do not belong to the run".to_owned();
            found.broken(Rule::Environment, &format!("{place}.locations"), why);
            continue;
        };
        if volume
            .file_system
            .known()
            .is_some_and(|name| name != kind(target))
        {
            let why = format!(
                "{:?}, and the target lies on {}",
                volume.file_system,
                kind(target)
            );
            found.broken(Rule::Environment, &format!("{place}.file_system"), why);
        }
    }
}

fn overhead(record: &Record, overhead: &Overhead, found: &mut Findings) {
    let place = "record.actual.overhead";
    let workload = &record.spec.workload;
    let mut broken = |why: String| found.broken(Rule::Environment, place, why);
    let all = workload.workers.count();
    let online = record
        .host
        .processors
        .online
        .known()
        .copied()
        .unwrap_or(u64::MAX);
    if overhead.workers == 0
        || overhead.workers > all
        || overhead.files == 0
        || overhead.files > workload.files()
    {
        broken(format!(
            "{} workers of {all} had pools of {} files",
            overhead.workers, overhead.files
        ));
    }
    // Of writers and readers there is one of each.
    if u64::from(overhead.workers) > online.saturating_add(1) {
        broken(format!(
            "{} workers on {online} processors",
            overhead.workers
        ));
    }
    let of_a_worker = |phase: &PhaseRecord| phase.workers.iter().map(|worker| worker.issued).max();
    let performed: u64 = record.actual.transactions().filter_map(of_a_worker).sum();
    let most = performed.saturating_mul(overhead.workers.into());
    if overhead.transactions > most || overhead.operations > overhead.transactions.saturating_mul(2)
    {
        broken(format!(
            "{} transactions with {} operations, and a worker performed {performed}",
            overhead.transactions, overhead.operations
        ));
    }
    if record.spec.workload.mix().is_some() && overhead.operations > overhead.transactions {
        broken(format!(
            "{} transactions of a mix with {} operations",
            overhead.transactions, overhead.operations
        ));
    }
    // All files, where they are few and small.
    let pools = u64::from(workload.streams().max(1));
    let are_few = workload.files().saturating_mul(pools) <= 100_000;
    let are_small = workload.size_max_bytes().max(workload.content_bytes_max()) <= 10_000;
    if are_few && are_small && overhead.files != workload.files() {
        broken(format!(
            "pools of {} files, and not {}",
            overhead.files,
            workload.files()
        ));
    }
}

fn sizing(record: &Record, found: &mut Findings) {
    let Some(sizing) = &record.sizing else {
        return;
    };
    let workload = &record.spec.workload;
    let all = workload.files().saturating_mul(workload.streams().into());
    let files = ("files that were chosen", sizing.files);
    found.equal(
        Rule::Environment,
        "record.sizing.files",
        files,
        ("in all pools", all),
    );
}

/// A directory of the run's own has the second in its name at which it was made.
const MADE_WITHIN_S: u64 = 3_600;

fn origin(record: &Record, found: &mut Findings) {
    let is_own = record.spec.place == Place::OwnDirectory && !record.spec.keeping.reuse;
    let Some(location) = record
        .locations
        .first()
        .filter(|_| is_own && record.spec.drive.sweep.is_none())
    else {
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
