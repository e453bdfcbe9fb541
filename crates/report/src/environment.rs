//! Where a run was: the part of a report about the machine and the targets.

use record::{Fact, Record, Target};

use crate::text::line;
use crate::units::{bytes, percent};


/// The file systems and devices of a run's locations in a few words.
pub(crate) fn places(record: &Record) -> String {
    let mut places: Vec<String> = Vec::new();
    for location in &record.locations {
        let place = match &location.target {
            Fact::Known(target) => target.one_line(),
            Fact::NotApplicable => "nothing (the tool's own cost)".to_owned(),
            Fact::Unavailable(why) => format!("an unknown file system ({why})"),
        };
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places.join("; ")
}

/// Machine and targets, a line each.
pub(crate) fn render(text: &mut String, record: &Record) {
    let host = &record.host;
    let processors = &host.processors;
    line(text, format_args!("Where it ran"));
    line(
        text,
        format_args!(
            "  Host      {}, {} {} {}",
            host.hostname,
            host.kernel.sysname,
            host.kernel.release,
            host.kernel.machine
        ),
    );
    line(
        text,
        format_args!(
            "  CPU       {}, {} online, {} usable{}",
            fact(&processors.model, String::clone),
            fact(&processors.online, u64::to_string),
            fact(&processors.usable, u64::to_string),
            if processors.hypervisor.known() == Some(&true) { ", virtual machine" } else { "" }
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
    line(
        text,
        format_args!(
            "  Clock     {}; load average {}; steal {}; busy {}",
            fact(&host.clock_source, String::clone),
            fact(&host.load_average, |load| format!("{:.2} (1 min)", load.one_minute)),
            fact(&record.during.steal_fraction, |share| percent(*share)),
            fact(&record.during.busy_fraction, |share| percent(*share)),
        ),
    );
    line(
        text,
        format_args!(
            "  Process   user {}, system {}",
            fact(&record.during.process_user_ns, |ns| format!("{:.3} s", *ns as f64 / 1e9)),
            fact(&record.during.process_system_ns, |ns| format!("{:.3} s", *ns as f64 / 1e9)),
        ),
    );
    for location in &record.locations {
        line(text, format_args!("  Location  {} (weight {})", location.directory, location.weight));
        if let Fact::Known(target) = &location.target {
            self::target(text, target);
        }
    }
}

/// A target's mount, room and device, a line each.
pub(crate) fn target(text: &mut String, target: &Target) {
    if let Fact::Known(mount) = &target.mount {
        line(
            text,
            format_args!(
                "    Mount   {} on {} type {} ({}; {})",
                mount.source,
                mount.mount_point,
                mount.file_system_type,
                mount.mount_options.join(","),
                mount.super_options.join(",")
            ),
        );
    }
    if let Fact::Known(space) = &target.space {
        line(
            text,
            format_args!(
                "    Room    {} of {} available to users, blocks of {}, inodes available: {}; {} full",
                fact(&space.available_bytes, size),
                fact(&space.total_bytes, size),
                bytes(space.block_size_bytes as f64),
                match &space.inodes_available {
                    Fact::NotApplicable => "not counted".to_owned(),
                    inodes => fact(inodes, u64::to_string),
                },
                fact(&target.fill_fraction, |share| percent(*share)),
            ),
        );
    }
    if let Fact::Known(device) = &target.device {
        line(text, format_args!("    Device  {}", device.one_line()));
    }
}

fn size(number: &u64) -> String {
    bytes(*number as f64)
}

/// A fact in words; what is unknown says why.
fn fact<T>(fact: &Fact<T>, words: impl Fn(&T) -> String) -> String {
    match fact {
        Fact::Known(value) => words(value),
        Fact::NotApplicable => "not applicable".to_owned(),
        Fact::Unavailable(why) => format!("unknown ({why})"),
    }
}
