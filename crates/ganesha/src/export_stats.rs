//! Counters of NFS-Ganesha, a server in user space, for all of its clients. They are read through
//! D-Bus, from the interface `org.ganesha.nfsd.exportstats` of NFS-Ganesha 4.3.
//!
//! `GetFULLV3Stats` returns calls of NFS version 3 by procedure, without NULL; the server's
//! configuration must enable it. A call is counted before its reply is sent. `GetFastOPS` is always
//! enabled, but loses calls that several threads count at the same time. For NFS version 4, the
//! operations that `GetFastOPS` counts are reported, because the server does not count calls of
//! that version. For version 3, `GetFastOPS` only serves to check `GetFULLV3Stats`: a result
//! without calls is wrong if `GetFastOPS` has counted calls.

use std::time::Duration;

use dbus::Message;
use dbus::arg::{Arg as _, ArgType, Iter};
use dbus::channel::Channel;
use system::messages::{ALL_CLIENTS, NFS_VERSIONS};
use system::{
    CompoundOperation, Fact, MessageCounter, MessageKind, MessagesReading, ServerCalls, Sources,
    WatchedCounter,
};

/// Socket of the system bus, unless `DBUS_SYSTEM_BUS_ADDRESS` contains another address (D-Bus
/// specification).
const BUS: &str = "/run/dbus/system_bus_socket";
const NAME: &str = "org.ganesha.nfsd";
const OBJECT: &str = "/org/ganesha/nfsd/ExportMgr";
const INTERFACE: &str = "org.ganesha.nfsd.exportstats";

/// Timeout of a reply, so that a hanging server delays the observer's other counters by a second at
/// most.
const ANSWERS_WITHIN: Duration = Duration::from_secs(1);

/// A row of `GetFULLV3Stats`: the name of a procedure, the number of its calls, errors and
/// repetitions, and its mean, shortest and longest time.
type Procedure = (String, u64, u64, u64, f64, f64, f64);

/// A connection to NFS-Ganesha through D-Bus.
#[derive(Debug)]
struct Ganesha {
    bus: Channel,
}

/// Connects to NFS-Ganesha if it runs and is registered on the system bus.
pub(crate) fn find(sources: &Sources) -> Fact<Box<dyn ServerCalls>> {
    let named = std::env::var("DBUS_SYSTEM_BUS_ADDRESS").ok();
    // Tests read other sources than the default, and ignore `DBUS_SYSTEM_BUS_ADDRESS`.
    let named = named.filter(|_| *sources == Sources::default());
    let address = named.unwrap_or_else(|| format!("unix:path={}", sources.path(BUS).display()));
    let registered =
        Channel::open_private(&address).and_then(|mut bus| bus.register().map(|()| bus));
    let found = registered.map_err(told).and_then(|bus| {
        let found = Ganesha { bus };
        found.ask("GetFULLV3Stats").map(|_| found)
    });
    match found {
        Ok(found) => Fact::Known(Box::new(found)),
        Err(why) => Fact::Unavailable(format!("NFS-Ganesha in user space: {why}")),
    }
}

impl Ganesha {
    fn ask(&self, method: &str) -> Result<Message, String> {
        let call = Message::new_method_call(NAME, OBJECT, INTERFACE, method)?;
        self.bus
            .send_with_reply_and_block(call, ANSWERS_WITHIN)
            .map_err(told)
    }
}

impl ServerCalls for Ganesha {
    /// Reads the counters of NFS version 3 and of NFS version 4.
    fn read(&self) -> Vec<MessagesReading> {
        let of = |protocol: &str| WatchedCounter {
            counter: MessageCounter::NfsGanesha,
            protocol: protocol.to_owned(),
            of: ALL_CLIENTS.to_owned(),
        };
        let told = || -> Result<_, String> {
            // `GetFastOPS` is called first: a call that arrives between the two requests is then
            // included in the calls by procedure.
            let fast = FastCounts::of(&self.ask("GetFastOPS")?)?;
            Ok((procedures(&self.ask("GetFULLV3Stats")?)?, fast))
        };
        let [of_3, of_4] = NFS_VERSIONS.map(of);
        let fact = |why: String| Fact::Unavailable(format!("NFS-Ganesha: {why}"));
        match told() {
            Ok((kinds, fast)) => vec![
                of_3.reading(if kinds.is_empty() && fast.of_3 > 0 {
                    let why = "it has served calls, and counted none by procedure";
                    fact(format!(
                        "{why} (NFS_CORE_PARAM needs Enable_Fast_Stats = false)"
                    ))
                } else {
                    Fact::Known(kinds)
                }),
                MessagesReading {
                    operations: Fact::Known(fast.of_4),
                    ..of_4.reading(Fact::NotApplicable)
                },
            ],
            Err(why) => vec![of_3.reading(fact(why)), of_4.reading(Fact::NotApplicable)],
        }
    }
}

/// Describes why D-Bus did not answer, for example because NFS-Ganesha does not run.
fn told(error: dbus::Error) -> String {
    match error.name() {
        Some("org.freedesktop.DBus.Error.ServiceUnknown") => {
            format!("{NAME} is not on the D-Bus system bus")
        }
        Some("org.freedesktop.DBus.Error.NoReply") => format!("{NAME} does not answer"),
        Some("org.freedesktop.DBus.Error.AccessDenied") => {
            "the D-Bus system bus does not let this user ask for it (observe as root)".to_owned()
        }
        _ => error
            .message()
            .unwrap_or("the D-Bus system bus does not answer")
            .to_owned(),
    }
}

/// Returns the parts of a reply after its header. The header consists of `true`, `OK` and the time
/// of counting.
fn answered(reply: &Message) -> Result<Iter<'_>, String> {
    let mut parts = reply.iter_init();
    match (parts.read::<bool>(), parts.read::<String>()) {
        (Ok(true), Ok(text)) if text == "OK" => {
            parts.next();
            Ok(parts)
        }
        (Ok(_), Ok(text)) => Err(format!(
            "{text} (NFS_CORE_PARAM needs Enable_NFS_Stats = true and Enable_FULLV3_Stats = true)"
        )),
        _ => Err(not_understood()),
    }
}

fn not_understood() -> String {
    "its answer is not that of version 4.3".to_owned()
}

/// Returns the calls in a reply to `GetFULLV3Stats`. If no call was counted, the reply has one row
/// with a 0.
fn procedures(reply: &Message) -> Result<Vec<MessageKind>, String> {
    let mut parts = answered(reply)?;
    // Without this check, rows of another type would be read as an empty list.
    if parts.signature() != Vec::<Procedure>::signature() {
        return Err(not_understood());
    }
    let rows: Vec<Procedure> = parts.read().map_err(|_| not_understood())?;
    let occurred = rows.into_iter().filter(|row| row.1 > 0);
    let kinds = occurred.map(|row| MessageKind::counted(&row.0, row.1));
    let mut kinds: Vec<MessageKind> = kinds.collect();
    kinds.sort_by(|one, other| one.kind.cmp(&other.kind));
    Ok(kinds)
}

/// The numbers of calls and operations in a reply to `GetFastOPS`.
#[derive(Debug, Default, PartialEq, Eq)]
struct FastCounts {
    /// Number of calls of NFS version 3, except NULL.
    of_3: u64,
    /// Operations of NFS version 4, by name.
    of_4: Vec<CompoundOperation>,
}

impl FastCounts {
    /// Parses a reply, which is one structure. For each protocol, it contains the name with a
    /// colon, and then the name and the count of each operation.
    fn of(reply: &Message) -> Result<Self, String> {
        let mut parts = answered(reply)?
            .recurse(ArgType::Struct)
            .ok_or_else(not_understood)?;
        let mut found = Self::default();
        let (mut protocol, mut name) = (String::new(), String::new());
        while parts.arg_type() != ArgType::Invalid {
            if let Ok(word) = parts.read::<String>() {
                match word.trim().strip_suffix(':') {
                    Some(word) => word.clone_into(&mut protocol),
                    None => name = word,
                }
            } else {
                let count: u64 = parts.read().map_err(|_| not_understood())?;
                match &*protocol {
                    "NFSv3" if name != "NULL" => found.of_3 = found.of_3.saturating_add(count),
                    "NFSv4" => found.of_4.push(CompoundOperation {
                        operation: name.clone(),
                        count,
                    }),
                    _ => {}
                }
            }
        }
        found
            .of_4
            .sort_by(|one, other| one.operation.cmp(&other.operation));
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use dbus::arg::Append;

    use super::*;

    fn reply(is_done: bool, text: &str) -> Message {
        let call = Message::new_method_call(NAME, OBJECT, INTERFACE, "Get").unwrap();
        call.append2(is_done, text)
    }

    fn with(counted: impl Append) -> Message {
        reply(true, "OK").append2((5_u64, 6_u64), counted)
    }

    fn row(name: &str, calls: u64) -> Procedure {
        (name.to_owned(), calls, 0, 0, 0.5, 0.1, 0.9)
    }

    #[test]
    fn missing_d_bus_makes_the_counters_unavailable() {
        let found = find(&Sources::beneath("/dev/null"));
        let why = found.why().unwrap();
        assert!(why.contains("NFS-Ganesha in user space: "), "{why}");
    }

    #[test]
    fn calls_are_counted_by_procedure() {
        let kinds = procedures(&with(vec![row("WRITE", 7), row("READ", 5)])).unwrap();
        let told: Vec<(&str, u64)> = kinds
            .iter()
            .map(|kind| (&*kind.kind, kind.requests))
            .collect();
        assert_eq!(told, [("READ", 5), ("WRITE", 7)]);
        // The reply of NFS-Ganesha 4.3 if it has counted no call.
        assert_eq!(procedures(&with(vec![row("None", 0)])), Ok(Vec::new()));
    }

    #[test]
    fn operations_of_version_4_are_separate_from_calls_of_version_3() {
        let part = (
            "NFSv3:", "NULL", 2_u64, "GETATTR", 3_u64, "\nNFSv4:", "SEQUENCE", 4_u64, "\nMNT:",
            "MNT", 9_u64,
        );
        let expected = FastCounts {
            of_3: 3,
            of_4: vec![CompoundOperation {
                operation: "SEQUENCE".to_owned(),
                count: 4,
            }],
        };
        assert_eq!(FastCounts::of(&with(part)), Ok(expected));
        let none = ("NFSv3:", "\nNFSv4:", "\nNLM:", "\nMNT:", "\nQUOTA:");
        assert_eq!(FastCounts::of(&with(none)), Ok(FastCounts::default()));
    }

    #[test]
    fn disabled_statistics_and_unknown_replies_are_errors() {
        let off = procedures(&reply(false, "v3_full stats disabled")).unwrap_err();
        assert!(
            off.contains("v3_full stats disabled (NFS_CORE_PARAM needs"),
            "{off}"
        );
        let off = FastCounts::of(&reply(true, "NFS stat counting disabled")).unwrap_err();
        assert!(off.contains("NFS stat counting disabled"), "{off}");
        assert_eq!(
            procedures(&with(vec![("READ", 5_u64)])),
            Err(not_understood())
        );
        assert_eq!(FastCounts::of(&with(5_u64)), Err(not_understood()));
        assert_eq!(
            FastCounts::of(&with((5_i32, "READ"))),
            Err(not_understood())
        );
    }
}
