//! Where a run was: the part of a report about the machine and the targets.

use std::collections::BTreeSet;

use record::{Fact, Host, Record, Target};

use crate::text::line;
use crate::units::{bytes, percent};

/// The file systems and devices of a run's locations in a few words.
pub(crate) fn places(record: &Record) -> String {
    let mut places: Vec<String> = Vec::new();
    let mut seen = BTreeSet::new();
    for location in &record.locations {
        let place = match &location.target {
            Fact::Known(target) => target.one_line(),
            Fact::NotApplicable => "nothing (the tool's own cost)".to_owned(),
            Fact::Unavailable(why) => format!("an unknown file system ({why})"),
        };
        if seen.insert(place.clone()) {
            places.push(place);
        }
    }
    places.join("; ")
}

/// Machine and targets, a line each.
pub(crate) fn render(text: &mut String, record: &Record) {
    line(text, format_args!("Where it ran"));
    host(text, &record.host);
    let counted = &record.during.counted;
    let seconds = |ns: &u64| format!("{:.3} s", *ns as f64 / 1e9);
    line(
        text,
        format_args!(
            "  Clock     {}; load average {}; steal {}; busy {}",
            fact(&record.host.clock_source, String::clone),
            fact(&record.host.load_average, |load| format!(
                "{:.2} (1 min)",
                load.one_minute
            )),
            fact(&counted.steal_fraction(), |share| percent(*share)),
            fact(&counted.busy_fraction(), |share| percent(*share)),
        ),
    );
    line(
        text,
        format_args!(
            "  Process   user {}, system {}",
            fact(&counted.process.as_ref().map(|process| process.user_ns), seconds),
            fact(&counted.process.as_ref().map(|process| process.system_ns), seconds),
        ),
    );
    for location in &record.locations {
        if let Fact::NotApplicable = location.target {
            continue;
        }
        line(
            text,
            format_args!("  Location  {} (weight {})", location.directory, location.weight),
        );
        match &location.target {
            Fact::Known(target) => self::target(text, target),
            unknown => line(text, format_args!("    {}", fact(unknown, |_| String::new()))),
        }
    }
}

fn host(text: &mut String, host: &Host) {
    let kernel = &host.kernel;
    line(
        text,
        format_args!(
            "  Host      {}, {} {} {}",
            host.hostname, kernel.sysname, kernel.release, kernel.machine
        ),
    );
    let processors = &host.processors;
    line(
        text,
        format_args!(
            "  CPU       {}, {} online, {} usable{}",
            fact(&processors.model, String::clone),
            fact(&processors.online, u64::to_string),
            fact(&processors.usable, u64::to_string),
            if processors.hypervisor.known() == Some(&true) {
                ", virtual machine"
            } else {
                ""
            }
        ),
    );
    let cgroup_limit = host.cgroup.clone().and_then(|cgroup| cgroup.memory_limit_bytes);
    line(
        text,
        format_args!(
            "  Memory    {}, {} available; control group's limit: {}",
            fact(&host.memory_total_bytes, size),
            fact(&host.memory_available_bytes, size),
            match &cgroup_limit {
                Fact::NotApplicable => "none".to_owned(),
                limit => fact(limit, size),
            }
        ),
    );
}

/// A target's mount, room and device, a line each; what is unknown says why.
pub(crate) fn target(text: &mut String, target: &Target) {
    let mount = fact(&target.mount, |mount| {
        format!(
            "{} on {} type {} ({}; {})",
            mount.source,
            mount.mount_point,
            mount.file_system_type,
            mount.mount_options.join(","),
            mount.super_options.join(",")
        )
    });
    line(text, format_args!("    Mount   {mount}"));
    let room = fact(&target.space, |space| {
        format!(
            "{} of {} available to users, blocks of {}, inodes available: {}; {} full",
            fact(&space.available_bytes, size),
            fact(&space.total_bytes, size),
            bytes(space.block_size_bytes as f64),
            match &space.inodes_available {
                Fact::NotApplicable => "not counted".to_owned(),
                inodes => fact(inodes, u64::to_string),
            },
            fact(&target.fill_fraction, |share| percent(*share)),
        )
    });
    line(text, format_args!("    Room    {room}"));
    let device = match &target.device {
        Fact::NotApplicable => "none".to_owned(),
        device => fact(device, |device| device.one_line()),
    };
    line(text, format_args!("    Device  {device}"));
}

fn size(number: &u64) -> String {
    bytes(*number as f64)
}

/// A fact in words; what is unknown says why.
pub(crate) fn fact<T>(fact: &Fact<T>, words: impl Fn(&T) -> String) -> String {
    match fact {
        Fact::Known(value) => words(value),
        Fact::NotApplicable => "not applicable".to_owned(),
        Fact::Unavailable(why) => format!("unknown ({why})"),
    }
}
