//! Runs with NFS replies that are late, lost, repeated, fragmented, reordered or corrupt, and with
//! connections that are lost at the worst time. Each run must end with a clear result and correct
//! counts, and no run may hang.

use std::time::Duration;

use record::{Outcome, Phase};

use super::ganesha::Ganesha;
use super::proxy::{Fault, Proxy};
use super::records::Procedure;
use super::{LIMIT, Traffic, is_whole, perform, start, tell, within};
use crate::runs::Ran;
use crate::support::Ended;

/// The workload of all tests in this file: creations, deletions, reads and appends on a small pool.
const WORK: &str = "--mix read=1,append=1,create=1,delete=1 --files 60 --size 3000 --append-size \
                    500 --size-max 20000 --transactions 400";
/// Number of unchanged calls before a fault, so that the fault hits no call of the preparation
/// phase.
const AFTER_PREPARE: u64 = 100;

/// A server with a proxy in front of it.
struct TestDir {
    ganesha: Ganesha,
    proxy: Proxy,
}

impl TestDir {
    fn new() -> Option<Self> {
        let ganesha = Ganesha::start()?;
        let proxy = Proxy::before(&ganesha);
        Some(Self { ganesha, proxy })
    }

    fn url(&self) -> String {
        format!(
            "{}&timeout=5",
            self.ganesha.url_at(self.proxy.port(), "export")
        )
    }

    /// Performs a run and compares its call counts with those of the proxy. The run may count a few
    /// more calls, because calls in flight at the loss of a connection may not have reached the
    /// proxy.
    fn perform(&self, depth: u64, options: &str) -> Ran {
        let faults = self.proxy.done().len();
        let calls = self.proxy.calls();
        let ran = perform(
            &self.ganesha,
            &self.url(),
            &format!("{WORK} --depth {depth} {options}"),
        );
        ran.assert(
            self.proxy.done().len() > faults,
            "nothing was done to a call",
        );
        let sent = Traffic::of(&ran).sent();
        let what = format!(
            "the program counts {sent:?}, the proxy {:?} more than {calls:?}",
            self.proxy.calls()
        );
        let mut lost = 0;
        for (procedure, seen) in self.proxy.calls() {
            let seen = seen - calls.get(procedure).unwrap_or(&0);
            let sent = sent.get(procedure).copied().unwrap_or(0);
            ran.assert(sent >= seen, &what);
            lost += sent - seen;
        }
        let all: u64 = sent.values().sum();
        let named: u64 = self
            .proxy
            .calls()
            .keys()
            .filter_map(|procedure| sent.get(*procedure))
            .sum();
        ran.assert(all == named, &what);
        let losses = Traffic::of(&ran).number("reconnections")
            + u64::from(ran.ended.status.code() == Some(1));
        ran.assert(lost <= (depth - 1) * losses, &what);
        ran
    }

    /// Removes the files of a failed run, and asserts that no other files exist.
    fn tidy(&self) {
        let ended = super::about(&self.ganesha, &["clean", &self.ganesha.url("export")]);
        ended.code(0);
        assert!(
            self.ganesha.names().is_empty(),
            "{:?} is left\n{ended}",
            self.ganesha.names()
        );
    }
}

/// Prints the last error message of a run.
fn told(what: &str, ended: &Ended) {
    let of_it = |line: &&str| {
        line.contains("rror") || line.contains("failed") || line.contains("postmark:")
    };
    tell(&format!(
        "{what}: {}",
        ended.errors.lines().rfind(of_it).unwrap_or_default()
    ));
}

#[test]
fn unusual_but_valid_replies_are_accepted() {
    let Some(test_dir) = TestDir::new() else {
        return;
    };
    for (procedure, fault, depth) in [
        (Procedure::LOOKUP, Fault::Fragmented(1), 1),
        (Procedure::READ, Fault::Fragmented(7), 8),
        (Procedure::CREATE, Fault::Fragmented(64), 1),
        (Procedure::WRITE, Fault::AfterTheNext, 8),
        (Procedure::READ, Fault::AfterTheNext, 8),
        (
            Procedure::LOOKUP,
            Fault::Stalled(Duration::from_millis(200)),
            8,
        ),
    ] {
        test_dir.proxy.fault(procedure, 20, fault);
        let ran = test_dir.perform(depth, "");
        is_whole(&ran);
        let traffic = Traffic::of(&ran);
        let what = format!("{fault:?} of {procedure:?}: {}", traffic.0);
        ran.assert(
            traffic.repetitions() == 0 && traffic.number("reconnections") == 0,
            &what,
        );
        ran.assert(traffic.number("stray_replies") == 0, what);
    }
}

#[test]
fn repeated_reply_is_counted_and_ignored() {
    let Some(test_dir) = TestDir::new() else {
        return;
    };
    for depth in [1, 8] {
        test_dir
            .proxy
            .faults(Procedure::READ, 10, 3, Fault::Repeated);
        let ran = test_dir.perform(depth, "");
        is_whole(&ran);
        let traffic = Traffic::of(&ran);
        ran.assert(traffic.number("stray_replies") == 3, &traffic.0);
        ran.assert(traffic.repetitions() == 0, &traffic.0);
    }
}

/// With status NFS3ERR_JUKEBOX, the server asks the client to repeat the call later.
#[test]
fn call_is_repeated_after_jukebox_status() {
    let Some(test_dir) = TestDir::new() else {
        return;
    };
    for depth in [1, 8] {
        test_dir
            .proxy
            .faults(Procedure::CREATE, AFTER_PREPARE, 3, Fault::Answered(10_008));
        let ran = test_dir.perform(depth, "");
        is_whole(&ran);
        let traffic = Traffic::of(&ran);
        ran.assert(
            traffic.number("delayed") == 3 && traffic.repetitions() == 0,
            &traffic.0,
        );
    }
}

/// After a connection is lost, calls without a reply are sent again and counted as repeated.
#[test]
fn lost_connections_are_reestablished() {
    let Some(test_dir) = TestDir::new() else {
        return;
    };
    for (procedure, fault) in [
        (Procedure::READ, Fault::ResetAfter),
        (Procedure::READ, Fault::ResetBefore),
        (Procedure::READ, Fault::Cut),
        (Procedure::LOOKUP, Fault::ResetAfter),
        (Procedure::WRITE, Fault::ResetAfter),
        (Procedure::WRITE, Fault::Cut),
        (Procedure::CREATE, Fault::ResetBefore),
        (Procedure::REMOVE, Fault::ResetBefore),
    ] {
        for depth in [1, 8] {
            let before = if procedure == Procedure::REMOVE {
                20
            } else {
                AFTER_PREPARE / 2
            };
            test_dir.proxy.fault(procedure, before, fault);
            // At depth 8, the lost connection may leave a CREATE or REMOVE with an unknown result.
            let ran = test_dir.perform(depth, "--on-error 10");
            let traffic = Traffic::of(&ran);
            let what = format!("{fault:?} of {procedure:?}, depth {depth}: {}", traffic.0);
            ran.assert(traffic.number("reconnections") == 1, &what);
            ran.assert((1..=depth).contains(&traffic.repetitions()), &what);
            if depth == 1 {
                is_whole(&ran);
            }
            test_dir.tidy();
        }
    }
}

/// The server has performed a call, but the connection was reset before its reply. After the
/// reconnection, the call is repeated: CREATE finds its file already there, or REMOVE finds no
/// file. The operation is recognized as done or counted as unknown. It is never counted twice, and
/// the repetition never makes it fail.
#[test]
fn operation_repeated_after_a_connection_reset_is_recognized_or_unknown() {
    let Some(test_dir) = TestDir::new() else {
        return;
    };
    for (procedure, before) in [(Procedure::CREATE, AFTER_PREPARE), (Procedure::REMOVE, 20)] {
        for depth in [1, 8] {
            test_dir.proxy.fault(procedure, before, Fault::ResetAfter);
            let ran = test_dir.perform(depth, "--on-error 10 --verify");
            let traffic = Traffic::of(&ran);
            let not_known = traffic.number("not_known");
            let what = format!("{procedure:?}, depth {depth}: {}", traffic.0);
            tell(&what);
            ran.assert(
                traffic.number("reconnections") == 1 && traffic.repetitions() >= 1,
                &what,
            );
            ran.assert(not_known <= depth, &what);
            let failed: u64 = ran
                .record
                .actual
                .errors
                .iter()
                .map(|error| error.count)
                .sum();
            ran.assert(
                failed == not_known,
                format_args!("{what}: {:?}", ran.record.actual.errors),
            );
            ran.assert(
                depth > 1 || not_known > 0 || ran.record.actual.outcome == Outcome::Complete,
                &what,
            );
            if not_known > 0 {
                ran.ended.shows("may have");
            }
            test_dir.tidy();
        }
    }
}

#[test]
fn corrupt_reply_ends_the_run_with_a_reason() {
    let Some(test_dir) = TestDir::new() else {
        return;
    };
    for (procedure, fault) in [
        (Procedure::READ, Fault::Noise),
        (Procedure::LOOKUP, Fault::TooLong),
        (Procedure::CREATE, Fault::Noise),
    ] {
        for depth in [1, 8] {
            test_dir.proxy.fault(procedure, 20, fault);
            let ran = test_dir.perform(depth, "");
            told(&format!("{fault:?} of {procedure:?}"), &ran.ended);
            ran.ended.code(1).shows("could not be understood");
            test_dir.tidy();
        }
    }
}

/// The run ends at the timeout of a call if its reply never arrives, or if the reply has the
/// transaction number of no call.
#[test]
fn missing_reply_ends_the_run_at_the_timeout() {
    let Some(test_dir) = TestDir::new() else {
        return;
    };
    for (procedure, fault, depth) in [
        (Procedure::READ, Fault::Dropped, 1),
        (Procedure::CREATE, Fault::Dropped, 8),
        (Procedure::READ, Fault::OfNobody, 1),
    ] {
        test_dir.proxy.fault(procedure, 20, fault);
        let ran = test_dir.perform(depth, "");
        told(&format!("{fault:?} of {procedure:?}"), &ran.ended);
        ran.ended.code(1).shows("timed out");
        test_dir.tidy();
    }
}

/// The error message contains the text of the NFS status in the reply of the server.
#[test]
fn errors_of_the_server_are_reported() {
    let Some(test_dir) = TestDir::new() else {
        return;
    };
    for (procedure, status, words) in [
        (Procedure::WRITE, 69, "quota exceeded"),
        (Procedure::WRITE, 28, "No space left on device"),
        (Procedure::LOOKUP, 70, "Stale file handle"),
        (Procedure::READ, 5, "Input/output error"),
        (Procedure::CREATE, 13, "Permission denied"),
    ] {
        test_dir
            .proxy
            .fault(procedure, AFTER_PREPARE / 2, Fault::Answered(status));
        let ran = test_dir.perform(1, "");
        told(&format!("{status} of {procedure:?}"), &ran.ended);
        ran.ended.code(1).shows(words).shows("\"partial\":true");
        test_dir.tidy();
    }
}

/// After the connection is lost, the server refuses new connections for a while.
#[test]
fn refused_connection_is_retried_until_accepted() {
    let Some(test_dir) = TestDir::new() else {
        return;
    };
    test_dir.proxy.fault(Procedure::READ, 20, Fault::Gone);
    let before = test_dir.ganesha.names();
    let running = start(&test_dir.ganesha, &test_dir.url(), WORK);
    test_dir.proxy.wait_for_fault();
    std::thread::sleep(Duration::from_millis(800));
    test_dir.proxy.accept();
    let ran = Ran::of(within(running, LIMIT), before);
    is_whole(&ran);
    let traffic = Traffic::of(&ran);
    // The proxy may have accepted one more connection before it started to refuse.
    ran.assert(
        (1..=2).contains(&traffic.number("reconnections")),
        &traffic.0,
    );
    ran.assert((1..=2).contains(&traffic.repetitions()), &traffic.0);
    let waited = ran.phase(Phase::Transactions).duration_ns;
    ran.assert(waited >= 800_000_000, format_args!("it took {waited} ns"));
}

#[test]
fn permanently_refused_connections_end_the_run() {
    let Some(test_dir) = TestDir::new() else {
        return;
    };
    test_dir.proxy.fault(Procedure::READ, 20, Fault::Gone);
    let ended = within(
        start(
            &test_dir.ganesha,
            &test_dir.url(),
            &format!("{WORK} --depth 8"),
        ),
        LIMIT,
    );
    told("refused", &ended);
    ended.ends("1 | Connection refused | postmark clean");
    test_dir.tidy();
}

/// Sizes of a new file and of an append, in bytes. A COMMIT follows each write.
const NEW_BYTES: u64 = 3_000;
const APPENDED_BYTES: u64 = 500;

/// If the write verifier in the reply of COMMIT differs from that of WRITE, the server may have
/// restarted and lost the data. So the client writes the data again.
#[test]
fn data_is_rewritten_if_the_write_verifier_changes() {
    let Some(test_dir) = TestDir::new() else {
        return;
    };
    for depth in [1, 8] {
        test_dir
            .proxy
            .fault(Procedure::COMMIT, AFTER_PREPARE, Fault::OtherVerifier);
        let ran = test_dir.perform(depth, "--durability fsync --verify");
        is_whole(&ran);
        let traffic = Traffic::of(&ran);
        let rewritten = traffic.number("rewritten_bytes");
        let what = format!("depth {depth}: {}", traffic.0);
        // The fault changes the verifier in one reply. The next reply has the true verifier, which
        // may count as a second change.
        ran.assert(traffic.number("verifier_changes") >= 1, &what);
        ran.assert(rewritten > 0, &what);
        ran.assert(
            depth > 1
                || rewritten.is_multiple_of(NEW_BYTES)
                || rewritten.is_multiple_of(APPENDED_BYTES),
            &what,
        );
        ran.assert(rewritten <= 2 * depth * NEW_BYTES, &what);
        ran.assert(traffic.repetitions() == 0, &what);
    }
}
