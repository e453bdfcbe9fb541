//! The counts in the record equal the captured packets: every call of every procedure, including
//! calls outside of the phases.

use std::collections::BTreeMap;

use super::ganesha::Ganesha;
use super::wire::Capture;
use super::{Traffic, asked, calls_in, is_whole, perform, tell};
use crate::runs::Ran;

/// Compares the counts of the whole program with the captured packets. The counts of a phase end
/// with its last operation. Calls outside of the phases, which create the run directory, check
/// names or remove files, are counted separately.
fn equal_the_wire(depth: u32, options: &str) {
    let Some(ganesha) = Ganesha::start() else {
        return;
    };
    let Some(capture) = Capture::begin(&ganesha) else {
        return;
    };
    let mix: Vec<String> = asked()
        .iter()
        .map(|action| format!("{}=1", action.name()))
        .collect();
    let mix = mix.join(",").replace("delete=1", "delete=2");
    let ran = perform(
        &ganesha,
        &ganesha.url("export"),
        &format!(
            "--mix {mix} --files 60 --dirs subdirs:3 --transactions 600 --size 1..12000 --depth \
             {depth} {options}"
        ),
    );
    let wire = capture.end();
    is_whole(&ran);
    let traffic = Traffic::of(&ran);
    ran.assert(
        traffic.sent() == wire.calls,
        format_args!(
            "the program counts {:?}, the wire has {:?}",
            traffic.sent(),
            wire.calls
        ),
    );
    ran.assert(
        wire.answered == wire.calls,
        format_args!(
            "replies are missing: {:?} of {:?}",
            wire.answered, wire.calls
        ),
    );
    ran.assert(traffic.repetitions() == 0, "calls were repeated");
    let mut rest = wire.calls.clone();
    for phase in ["prepare", "transactions", "delete"] {
        for (procedure, count) in calls_in(&ran, phase) {
            let left = rest
                .get(&procedure)
                .and_then(|left| left.checked_sub(count));
            rest.insert(
                procedure,
                left.unwrap_or_else(|| panic!("the phases have more calls than the wire\n{ran}")),
            );
        }
    }
    tell(&format!(
        "depth {depth}: {:?}; of the home {rest:?}",
        wire.calls
    ));
    for procedure in ["READ", "COMMIT", "SYMLINK", "READLINK"] {
        let of_home = rest.get(procedure).copied().unwrap_or_default();
        ran.assert(
            of_home < 20,
            format_args!("{of_home} {procedure} belong to no phase"),
        );
    }
}

#[test]
fn counts_equal_captured_calls_at_depth_1() {
    equal_the_wire(1, "");
}

#[test]
fn counts_equal_captured_calls_at_depth_8_with_syncs() {
    equal_the_wire(8, "--durability fsync");
}

#[test]
fn counts_equal_captured_calls_on_several_connections() {
    let Some(ganesha) = Ganesha::start() else {
        return;
    };
    let Some(capture) = Capture::begin(&ganesha) else {
        return;
    };
    let url = format!("{}&nconnect=4", ganesha.url("export"));
    let ran = perform(
        &ganesha,
        &url,
        "--mix read=2,append=1,create=1,delete=1 --files 60 --transactions 600 --depth 16 \
         --workers 2",
    );
    let wire = capture.end();
    is_whole(&ran);
    let traffic = Traffic::of(&ran);
    ran.assert(
        traffic.sent() == wire.calls,
        format_args!(
            "the program counts {:?}, the wire has {:?}",
            traffic.sent(),
            wire.calls
        ),
    );
    let connections = traffic.number("connections");
    ran.assert(
        connections >= 8,
        format_args!("two workers have {connections} connections"),
    );
}

/// A mix, and the number of calls of each procedure that [`TIMES`] operations of this mix make.
struct Takes {
    mix: &'static str,
    options: &'static str,
    calls: &'static [(&'static str, u64)],
}

/// Number of operations in each run of [`TAKES`].
const TIMES: u64 = 100;
const TAKES: [Takes; 6] = [
    Takes {
        mix: "read=1",
        options: "",
        calls: &[("LOOKUP", 100), ("READ", 100)],
    },
    Takes {
        mix: "stat=1",
        options: "",
        calls: &[("LOOKUP", 100)],
    },
    Takes {
        mix: "append=1",
        options: "",
        calls: &[("LOOKUP", 100), ("WRITE", 100)],
    },
    Takes {
        mix: "append=1",
        options: "--durability fsync",
        calls: &[("LOOKUP", 100), ("WRITE", 100), ("COMMIT", 100)],
    },
    Takes {
        mix: "append=1",
        options: "--durability o-dsync",
        calls: &[("LOOKUP", 100), ("WRITE", 100)],
    },
    Takes {
        mix: "rename=1",
        options: "",
        calls: &[("LOOKUP", 100), ("RENAME", 100)],
    },
];

/// The transactions phase makes exactly the calls in [`TAKES`], and no other calls.
#[test]
fn operations_make_exactly_the_required_calls() {
    let Some(ganesha) = Ganesha::start() else {
        return;
    };
    for Takes {
        mix,
        options,
        calls,
    } in &TAKES
    {
        let options = format!(
            "--mix {mix} --files 200 --size 2000 --append-size 500 --size-max 100000 \
             --transactions {TIMES} --no-overhead {options}"
        );
        // Once a second a run also looks for its directories, so only a shorter run has these calls
        // alone. The time includes the set-up, which takes long on a busy machine.
        let is_short = |ran: &Ran| {
            let time = ran.summary.time.as_ref();
            time.is_some_and(|time| time.whole_ns < 900_000_000)
        };
        let ran = (0..20)
            .map(|_| perform(&ganesha, &ganesha.url("export"), &options))
            .find(is_short)
            .expect("a run of less than a second");
        is_whole(&ran);
        let found = calls_in(&ran, "transactions");
        let expected: BTreeMap<String, u64> = calls
            .iter()
            .map(|(name, count)| ((*name).to_owned(), *count))
            .collect();
        ran.assert(
            found == expected,
            format_args!("{mix}: {found:?}, not {expected:?}"),
        );
    }
}
