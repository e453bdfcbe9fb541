//! The part of a report about the machine and the targets.

use document::{Block, Cell, Document, Number, kept};
use record::durability::{DeviceDurability, FlushAnswer};
use record::{DurabilityFacts, Fact, Host, Record, ServerRecord, Target};

/// A description of the file systems and devices of a run's locations.
pub(crate) fn places(record: &Record) -> String {
    each(record, Target::one_line)
}

/// The file systems of a run's locations, each with its device and the device's model.
pub(crate) fn targets(record: &Record) -> String {
    each(record, Target::in_short)
}

/// Describes each different target of a run.
fn each(record: &Record, describe: fn(&Target) -> String) -> String {
    let mut places: Vec<String> = Vec::new();
    for location in &record.locations {
        let place = match &location.target {
            Fact::Known(target) => describe(target),
            Fact::NotApplicable => match &location.server {
                Some(server) => server.one_line(),
                None if record.spec.engine.makes_files() => kept(&location.directory),
                None => "no file system (overhead of the program)".to_owned(),
            },
            Fact::Unavailable(why) => format!("an unknown file system ({why})"),
        };
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places.join("; ")
}

/// The machine and the targets, one line for each fact.
pub(crate) fn render(document: &mut Document, record: &Record) {
    document.head("Where it ran");
    host(document, &record.host);
    let counted = &record.during.counted;
    let load = fact(&record.host.load_average, |load| {
        format!("{:.2} (1 min)", load.one_minute)
    });
    let clock = format!(
        "{}; load average {load} before; CPU steal {} and busy {} of the whole run",
        fact(&record.host.clock_source, String::clone),
        fact(&counted.steal_fraction(), |share| Number::Share(*share)),
        fact(&counted.busy_fraction(), |share| Number::Share(*share))
    );
    document.pair(1, "Clock", clock);
    let seconds = |ns: u64| format!("{:.3} s", ns as f64 / 1e9);
    let process = format!(
        "user {}, system {}",
        fact(&counted.process, |process| seconds(process.user_ns)),
        fact(&counted.process, |process| seconds(process.system_ns))
    );
    document.pair(1, "Process", process);
    let servers = record.during.fuse_servers.as_ref().and_then(Fact::known);
    for server in servers.into_iter().flatten() {
        let words = format!(
            "{} (process {}): {} of the processor time in user mode",
            server.name,
            server.pid,
            Number::Share(server.fraction)
        );
        document.pair(1, "FUSE server", words);
    }
    locations(document, record);
}

/// The machine with its software, and the targets with their devices, without the values that
/// change from run to run.
pub(crate) fn machine(document: &mut Document, record: &Record) {
    document.title("Hardware and software");
    host(document, &record.host);
    let system = fact(&record.host.operating_system, String::clone);
    document.pair(1, "System", system.to_string());
    let clock = fact(&record.host.clock_source, String::clone);
    document.pair(1, "Clock", clock.to_string());
    locations(document, record);
}

fn locations(document: &mut Document, record: &Record) {
    for location in &record.locations {
        if location.target == Fact::NotApplicable && location.server.is_none() {
            continue;
        }
        let words = format!("{} (weight {})", location.directory, location.weight);
        document.pair(1, "Location", words);
        if let Some(server) = &location.server {
            self::server(document, server);
            continue;
        }
        match &location.target {
            Fact::Known(target) => {
                self::target(document, target);
                if let Some(durability) = &location.durability {
                    self::durability(document, durability);
                }
            }
            unknown => document.push(Block::Words {
                depth: 2,
                text: kept(&fact(unknown, |_| "").to_string()),
            }),
        }
    }
}

fn host(document: &mut Document, host: &Host) {
    let kernel = &host.kernel;
    let words = format!(
        "{}, {} {} {}",
        host.hostname, kernel.sysname, kernel.release, kernel.machine
    );
    document.pair(1, "Host", words);
    let processors = &host.processors;
    let machine = match processors.hypervisor.known() {
        Some(true) => ", virtual machine",
        _ => "",
    };
    let words = format!(
        "{}, {} online, {} usable{machine}",
        fact(&processors.model, String::clone),
        fact(&processors.online, |count| Number::Ordinal(*count)),
        fact(&processors.usable, |count| Number::Ordinal(*count))
    );
    document.pair(1, "CPU", words);
    let cgroup_limit = host
        .cgroup
        .clone()
        .and_then(|cgroup| cgroup.memory_limit_bytes);
    let words = format!(
        "{}, {} available; control group's limit: {}",
        fact(&host.memory_total_bytes, size),
        fact(&host.memory_available_bytes, size),
        fact_or("none", &cgroup_limit, size)
    );
    document.pair(1, "Memory", words);
}

/// A target's mount, free space and device, one line each. If a value is not available, the line
/// contains the reason.
pub(crate) fn target(document: &mut Document, target: &Target) {
    let mount = fact(&target.mount, |mount| {
        format!(
            "{} on {} type {} ({}; {})",
            mount.source,
            mount.mount_point.display(),
            mount.file_system_type,
            mount.mount_options.join(","),
            mount.super_options.join(",")
        )
    });
    document.pair(2, "Mount", mount.to_string());
    let room = fact(&target.space, |space| {
        format!(
            "{} of {} available to users, blocks of {}, inodes available: {}; {} full",
            fact(&space.available_bytes, size),
            fact(&space.total_bytes, size),
            Number::Bytes(space.block_size_bytes as f64),
            fact_or("not counted", &space.inodes_available, |count| {
                Number::Ordinal(*count)
            }),
            fact(&target.fill_fraction, |share| Number::Share(*share)),
        )
    });
    document.pair(2, "Room", room.to_string());
    let device = fact_or("none", &target.device, |device| device.one_line());
    document.pair(2, "Device", device.to_string());
}

/// Adds one line each for the server that the engine called, the sizes of the calls, and the
/// server's durability.
fn server(document: &mut Document, of: &ServerRecord) {
    let seconds = of.timeout_ms as f64 / 1e3;
    if of.protocol == "s3" {
        return object_storage(document, of, seconds);
    }
    let port = match of.privileged_port {
        Some(true) => ", privileged port",
        _ => "",
    };
    let server = format!(
        "{} at {}, export {} (MOUNT port {}); uid {}, gid {}, connections of each worker: \
         {}{port}",
        of.protocol,
        of.address,
        of.export,
        given(of.mount_port),
        given(of.uid),
        given(of.gid),
        of.connections
    );
    document.pair(2, "Server", server);
    let bytes =
        |bytes: Option<u32>| bytes.map_or_else(unknown, |bytes| size(&bytes.into()).to_string());
    let calls = format!(
        "READ up to {}, WRITE up to {}, listings of {}; a reply is waited for {seconds} s",
        bytes(of.read_bytes_max),
        bytes(of.write_bytes_max),
        bytes(of.listing_bytes),
    );
    document.pair(2, "Calls", calls);
    let durable = format!(
        "contents {}; names by the protocol's rule; cache of this machine: none",
        of.stability.as_deref().unwrap_or("not available")
    );
    document.pair(2, "Durable", durable);
}

/// Adds the lines of [`server`] for object storage with the protocol S3.
fn object_storage(document: &mut Document, of: &ServerRecord, seconds: f64) {
    let text = |text: &Option<String>| text.clone().unwrap_or_else(unknown);
    let server = format!(
        "{} at {}, bucket and prefix {}; region {}, bucket named in the {}, connections of each \
         worker: {}",
        of.protocol,
        of.address,
        of.export,
        text(&of.region),
        match of.style.as_deref() {
            Some("virtual") => "host",
            _ => "path",
        },
        of.connections
    );
    document.pair(2, "Server", server);
    let calls = format!(
        "bodies {}, objects above {} in parts; an answer is waited for {seconds} s",
        text(&of.payload),
        of.part_bytes
            .map_or_else(unknown, |bytes| size(&bytes).to_string()),
    );
    document.pair(2, "Calls", calls);
    let durable = "as the server guarantees for acknowledged requests; cache of this machine: none";
    document.pair(2, "Durable", durable);
}

fn unknown() -> String {
    "not available".to_owned()
}

fn given<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(unknown, |value| value.to_string())
}

/// Adds the facts that determine durability: which component answers a flush, and which guarantees
/// the mount disables.
fn durability(document: &mut Document, durability: &DurabilityFacts) {
    let device = |device: &DeviceDurability| {
        let answered = match device.flush_answer {
            FlushAnswer::Device => "by the device",
            FlushAnswer::DevicesBelow => "by the devices below",
            FlushAnswer::File => "by the file system below",
            FlushAnswer::Memory => "by memory",
            FlushAnswer::Hypervisor => "by a hypervisor, which may keep the data in its memory",
            FlushAnswer::OtherMachine => {
                "by another machine, which may keep the data in its memory"
            }
        };
        let cache = fact(&device.write_cache, String::clone);
        format!(
            "{}: cache {cache}, flushes answered {answered}",
            device.name
        )
    };
    let mut words: Vec<String> = durability
        .devices
        .known()
        .into_iter()
        .flatten()
        .map(device)
        .collect();
    if let Fact::Known(journal) = &durability.journal_device {
        words.push(format!("journal on {}", device(journal)));
    }
    if durability.barriers == Fact::Known(false) {
        words.push("the file system does not flush (mounted without barriers)".to_owned());
    }
    if durability.syncs_ignored == Fact::Known(true) {
        words.push("the file system ignores every sync (volatile)".to_owned());
    }
    if durability.synchronous == Fact::Known(true) {
        words.push("every write waits (mounted sync)".to_owned());
    }
    if !words.is_empty() {
        document.pair(2, "Durable", words.join("; "));
    }
}

fn size(number: &u64) -> Number {
    Number::Bytes(*number as f64)
}

/// A fact as a cell. If the value is not available, the cell contains the reason.
pub(crate) fn fact<T, C: Into<Cell>>(fact: &Fact<T>, known: impl Fn(&T) -> C) -> Cell {
    match fact {
        Fact::Known(value) => known(value).into(),
        Fact::NotApplicable => Cell::Missing,
        Fact::Unavailable(why) => Cell::Unavailable(why.clone()),
    }
}

/// Returns the cell of [`fact`], or the text in `none` if the fact does not apply.
fn fact_or<T, C: Into<Cell>>(none: &str, fact: &Fact<T>, known: impl Fn(&T) -> C) -> Cell {
    match fact {
        Fact::NotApplicable => none.into(),
        fact => self::fact(fact, known),
    }
}
