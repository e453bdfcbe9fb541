//! Activity of the machine during an observed command.

use document::sanitize::sanitize;
use document::units::{bytes, grouped, seconds};
use document::{Cell, Column, Document, Number, Table};
use record::{Accounted, CommandEnd, DeviceCounters, DeviceReading, Fact, Observation};
use verdict::summary::MessagesSent;

use super::evidence::{messages, unavailable};
use super::machine::role;
use crate::environment::fact;

pub fn observation(observation: &Observation) -> Document {
    let mut account = Document::default();
    let document = &mut account;
    document.head(format!(
        "Observed: {}",
        sanitize(&observation.command.join(" "))
    ));
    command(document, observation);
    let stretches = stretches(observation);
    if let Some(sync) = &observation.sync {
        let took = fact(&sync.duration_ns, |ns| format!("{} s", seconds(*ns)));
        document.pair(0, "Sync", took.to_string());
    }
    document.gap();
    devices(document, &stretches);
    let sent: Vec<(&str, Vec<MessagesSent>)> = stretches
        .iter()
        .map(|(name, counted)| (*name, MessagesSent::of(counted, 0)))
        .collect();
    messages(document, sent.iter().map(|(name, sent)| (*name, &sent[..])));
    notes(document, observation, &stretches);
    let requests = sent
        .iter()
        .flat_map(|(_, sent)| sent)
        .map(|sent| ("messages", sent.requests.why()));
    let own = &observation.performing.own;
    let fetched = observation.fetched_bytes();
    unavailable(
        document,
        [
            ("fetched", fetched.why()),
            ("written", own.written_bytes.why()),
        ]
        .into_iter()
        .chain(requests),
    );
    account
}

/// Adds the target of the command, how the command ended, its time and its bytes.
fn command(document: &mut Document, observation: &Observation) {
    let target = &observation.target;
    let on = format!("{}: {}", target.path, target.one_line());
    document.pair(0, "Target", sanitize(&on));
    document.pair(0, "Ended", ended(observation.end));
    let times = format!(
        "{} s; CPU {} s user, {} s system",
        seconds(observation.wall_ns),
        seconds(observation.user_ns),
        seconds(observation.system_ns)
    );
    document.pair(0, "Time", times);
    let own = &observation.performing.own;
    let moved = format!(
        "fetched {}, wrote {}, of which {} were deleted or truncated before they were sent",
        amount(&observation.fetched_bytes()),
        amount(&own.written_bytes),
        amount(&own.cancelled_bytes)
    );
    document.pair(0, "Command", moved);
}

/// The parts of an observation that are counted separately, with their names: the command, and the
/// sync after it.
fn stretches(observation: &Observation) -> Vec<(&'static str, &Accounted)> {
    let sync = observation
        .sync
        .as_ref()
        .map(|sync| ("sync", &sync.counted));
    [("command", &observation.performing)]
        .into_iter()
        .chain(sync)
        .collect()
}

fn ended(end: CommandEnd) -> String {
    match end {
        CommandEnd::Exited { status } => format!("exit status {status}"),
        CommandEnd::Killed { signal } => format!("killed by signal {signal}"),
    }
}

fn amount(bytes: &Fact<u64>) -> String {
    match bytes {
        Fact::Known(number) => format!("{} bytes", grouped(*number)),
        Fact::NotApplicable | Fact::Unavailable(_) => "not available".to_owned(),
    }
}

fn devices(document: &mut Document, stretches: &[(&str, &Accounted)]) {
    let list = stretches.iter().flat_map(|(name, counted)| {
        let devices = counted.devices.known().into_iter().flatten();
        devices.map(move |device| (*name, device))
    });
    let columns: [Column<(&str, &DeviceReading)>; 8] = [
        ("Devices", |(name, _)| (*name).into()),
        ("", |(_, of)| of.name.as_str().into()),
        ("", |(_, of)| role(of.role).into()),
        ("reads", |(_, of)| done(of, |of| &of.reads)),
        ("read", |(_, of)| moved(of, |of| &of.read_bytes)),
        ("writes", |(_, of)| done(of, |of| &of.writes)),
        ("written", |(_, of)| moved(of, |of| &of.written_bytes)),
        ("flushes", |(_, of)| done(of, |of| &of.flushes)),
    ];
    let table = Table::of(3, &columns, list);
    if !table.is_empty() {
        document.table(table);
        document.note("devices have everybody's work, metadata and journals included");
    }
}

fn moved(device: &DeviceReading, counter: fn(&DeviceCounters) -> &Fact<u64>) -> Cell {
    Cell::bytes(read(device, counter))
}

fn done(device: &DeviceReading, counter: fn(&DeviceCounters) -> &Fact<u64>) -> Cell {
    read(device, counter).map(Number::Count).into()
}

fn read(device: &DeviceReading, counter: fn(&DeviceCounters) -> &Fact<u64>) -> Option<u64> {
    counter(device.counters.known()?).known().copied()
}

fn notes(document: &mut Document, observation: &Observation, stretches: &[(&str, &Accounted)]) {
    for (name, counted) in stretches {
        let grown = &counted.allocated_bytes;
        for (what, why) in [
            ("devices", counted.devices.why()),
            ("messages", counted.messages.why()),
            ("growth of files below loop devices", grown.why()),
        ] {
            if let Some(why) = why {
                document.note(format!("{what} ({name}): not available ({why})"));
            }
        }
        if let Some(grown) = grown.known().filter(|grown| **grown > 0) {
            document.note(format!(
                "files below loop devices grew by {} ({name})",
                bytes(*grown as f64)
            ));
        }
    }
    document.note(
        "served by: not available (the kernel counts what a command fetched, not what it read)",
    );
    if observation.sync.is_none() {
        document.note("no sync was made: what is in the page cache is in no number of the devices");
    }
}
