//! The NFS server is killed or hangs during a run, permanently or for a while. In some tests the
//! server restarts, with the same or another write verifier.

use std::time::Duration;

use super::ganesha::{EPOCH, Ganesha};
use super::proxy::{Fault, Proxy};
use super::records::Procedure;
use super::{LIMIT, Traffic, about, is_whole, start, tell, within};
use crate::runs::Ran;
use crate::support::Running;
use crate::support::interface::has_ended;

/// A run with only those operations that can safely be repeated after a lost connection.
/// `faults.rs` tests the other operations.
const WRITES: &str = "--mix append=1,read=1 --files 100 --size 4000 --append-size 2000 --size-max \
                      100000 --on-error 100 --for 3s --warm-up 0s";

/// Starts a run, and waits until its transactions phase has started.
fn begun(ganesha: &Ganesha, timeout_s: u32, options: &str) -> Running {
    let mut running = start(
        ganesha,
        &format!("{}&timeout={timeout_s}", ganesha.url("export")),
        options,
    );
    running.until("the transactions", |running| {
        has_ended(&running.errors(), "prepare")
    });
    std::thread::sleep(Duration::from_millis(500));
    running
}

/// Kills the server during a run, and restarts it half a second later. Asserts that the run
/// completes after a reconnection, and returns it.
fn comes_back(epoch: u32, options: &str) -> Option<Ran> {
    let mut ganesha = Ganesha::start()?;
    let running = begun(&ganesha, 10, &format!("{WRITES} {options}"));
    ganesha.kill();
    std::thread::sleep(Duration::from_millis(500));
    ganesha.restart(epoch);
    let ran = Ran::of(within(running, LIMIT), Vec::new());
    is_whole(&ran);
    let traffic = Traffic::of(&ran);
    tell(&format!("{epoch:#x} {options}: {}", traffic.0));
    ran.assert(traffic.number("reconnections") >= 1, &traffic.0);
    ran.assert(traffic.repetitions() >= 1, &traffic.0);
    Some(ran)
}

#[test]
fn run_continues_after_the_server_restarts() {
    for depth in [1, 8] {
        let Some(ran) = comes_back(EPOCH, &format!("--durability fsync --depth {depth}")) else {
            return;
        };
        let traffic = Traffic::of(&ran);
        ran.assert(traffic.number("verifier_changes") == 0, &traffic.0);
        ran.assert(traffic.number("rewritten_bytes") == 0, &traffic.0);
    }
}

/// The restarted server has another write verifier. The run continues, and its record counts the
/// change.
#[test]
fn changed_write_verifier_is_recorded() {
    let Some(ran) = comes_back(EPOCH + 7, "--durability fsync --depth 8") else {
        return;
    };
    let traffic = Traffic::of(&ran);
    ran.assert(traffic.number("verifier_changes") >= 1, &traffic.0);
}

/// The server is replaced between WRITE and COMMIT. The new server has lost what the old one had
/// not committed, so the client writes the data again.
#[test]
fn uncommitted_data_is_rewritten_to_a_new_server() {
    let Some(mut ganesha) = Ganesha::start() else {
        return;
    };
    let proxy = Proxy::before(&ganesha);
    let before = ganesha.names();
    proxy.fault(Procedure::COMMIT, 150, Fault::Gone);
    let options = "--mix append=1,read=1 --files 100 --size 4000 --append-size 2000 --size-max \
                   100000 --transactions 400";
    let url = format!("{}&timeout=10", ganesha.url_at(proxy.port(), "export"));
    let running = start(
        &ganesha,
        &url,
        &format!("{options} --durability fsync --verify"),
    );
    proxy.wait_for_fault();
    ganesha.kill();
    ganesha.restart(EPOCH + 9);
    proxy.accept();
    let ran = Ran::of(within(running, LIMIT), before);
    is_whole(&ran);
    let traffic = Traffic::of(&ran);
    ran.assert(traffic.number("verifier_changes") == 1, &traffic.0);
    ran.assert(traffic.number("rewritten_bytes") == 2_000, &traffic.0);
    ran.assert(
        traffic.number("reconnections") >= 1 && traffic.repetitions() >= 1,
        &traffic.0,
    );
}

/// The server is restarted only after the run has ended.
#[test]
fn killed_server_ends_the_run() {
    let Some(mut ganesha) = Ganesha::start() else {
        return;
    };
    for depth in [1, 8] {
        let running = begun(
            &ganesha,
            3,
            &format!("--mix stat=1,create=1,delete=1 --files 100 --for 60s --depth {depth}"),
        );
        ganesha.kill();
        let ended = within(running, LIMIT);
        ended.code(1);
        tell(ended.errors.lines().last().unwrap_or_default());
        ended.shows("Connection refused").shows("postmark clean");
        ganesha.restart(EPOCH);
        about(&ganesha, &["clean", &ganesha.url("export")]).code(0);
        assert!(ganesha.names().is_empty(), "{:?} is left", ganesha.names());
    }
}

/// The server accepts requests, but sends no reply.
#[test]
fn hanging_server_ends_the_run() {
    let Some(ganesha) = Ganesha::start() else {
        return;
    };
    let running = begun(
        &ganesha,
        3,
        "--mix read=1,append=1 --files 100 --for 60s --depth 8",
    );
    ganesha.stand_still();
    let ended = within(running, LIMIT);
    ganesha.go_on();
    tell(ended.errors.lines().last().unwrap_or_default());
    ended.code(1).shows("timed out").shows("postmark clean");
    // The server now performs the requests that it had received. On a busy machine, it may change a
    // file later than two seconds after the end of the run; `clean` does not remove such a file.
    let cleaned = about(&ganesha, &["clean", &ganesha.url("export")]);
    match ganesha.names().is_empty() {
        true => cleaned.code(0),
        false => cleaned
            .code(1)
            .shows("it was created after the run had ended"),
    };
}

/// The server hangs for less than the timeout, so no operation fails.
#[test]
fn run_waits_for_a_server_that_hangs_for_a_while() {
    let Some(ganesha) = Ganesha::start() else {
        return;
    };
    let running = begun(&ganesha, 10, &format!("{WRITES} --depth 8"));
    ganesha.stand_still();
    std::thread::sleep(Duration::from_millis(700));
    ganesha.go_on();
    let ran = Ran::of(within(running, LIMIT), Vec::new());
    is_whole(&ran);
    ran.assert(Traffic::of(&ran).repetitions() == 0, "it was asked again");
}

/// Another program removes the files of the run, so their file handles become stale.
#[test]
fn stale_handles_end_the_run() {
    let Some(ganesha) = Ganesha::start() else {
        return;
    };
    let running = begun(
        &ganesha,
        10,
        "--mix stat=1,create=1,delete=1 --files 100 --for 60s",
    );
    for name in ganesha.names() {
        let _ = std::fs::remove_dir_all(ganesha.served("export").join(name));
    }
    let ended = within(running, LIMIT);
    tell(ended.errors.lines().last().unwrap_or_default());
    ended.code(1).assert(
        ended.errors.contains("Stale file handle")
            || ended.errors.contains("No such file or directory"),
        "it is not told that the files are gone",
    );
}
