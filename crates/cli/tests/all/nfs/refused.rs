//! Runs on an NFS server that are refused before they change anything: exit status 2, and a message
//! with a remedy.

use super::ganesha::{Ganesha, MOUNT_PORT, NFS_PORT};
use super::wire::Capture;
use super::{LIMIT, is_whole, perform, start, tell, within};
use crate::support::Ended;

const SMALL: &str = "--mix create=1,delete=1 --files 20 --transactions 40";

/// Asserts that a run is refused with these texts in the message, and leaves no files.
fn refused(ganesha: &Ganesha, url: &str, options: &str, words: &[&str]) -> Ended {
    let ended = within(start(ganesha, url, options), LIMIT);
    tell(&format!("{url} {options}: {}", ended.errors.trim()));
    ended.code(2);
    for words in words {
        ended.shows(words);
    }
    assert!(
        ganesha.names().is_empty(),
        "{:?} is left\n{ended}",
        ganesha.names()
    );
    ended
}

#[test]
fn message_names_an_unreachable_server() {
    let Some(ganesha) = Ganesha::start() else {
        return;
    };
    let ports = format!("mountport={MOUNT_PORT}");
    for (url, words) in [
        (
            format!("nfs://127.0.0.1:9/export?{ports}"),
            "Connection refused",
        ),
        (
            format!("nfs://127.0.0.1:{NFS_PORT}/export?mountport=9"),
            "Connection refused",
        ),
        (ganesha.url("nothing"), "nothing"),
        (ganesha.url("export/nothing"), "nothing"),
    ] {
        refused(&ganesha, &url, SMALL, &[words]);
    }
}

#[test]
fn portmapper_is_asked_for_a_missing_port() {
    let Some(mut ganesha) = Ganesha::start() else {
        return;
    };
    is_whole(&perform(&ganesha, "nfs://127.0.0.1/export", SMALL));
    ganesha.kill();
    // The portmapper still returns the port of the killed server.
    refused(
        &ganesha,
        "nfs://127.0.0.1/export",
        SMALL,
        &["Connection refused"],
    );
}

#[test]
fn run_without_permission_on_the_server_is_refused() {
    let Some(ganesha) = Ganesha::start() else {
        return;
    };
    // On this export the server maps root to another user, and the directory belongs to root.
    refused(
        &ganesha,
        &ganesha.url("squashed"),
        SMALL,
        &["Permission denied"],
    );
    refused(
        &ganesha,
        &ganesha.url("readonly"),
        SMALL,
        &["Read-only file system"],
    );
    // User 4711 is refused while only the owner may write to the export (mode 0755), and accepted
    // with mode 0777.
    let export = ganesha.served("export");
    crate::support::test_dir::set_mode(&export, 0o755);
    let as_user = format!("{}&uid=4711&gid=4711", ganesha.url("export"));
    refused(&ganesha, &as_user, SMALL, &["Permission denied"]);
    crate::support::test_dir::set_mode(&export, 0o777);
    is_whole(&perform(&ganesha, &as_user, SMALL));
}

#[test]
fn export_may_require_a_privileged_port() {
    let Some(ganesha) = Ganesha::start() else {
        return;
    };
    let url = ganesha.url("privileged");
    refused(&ganesha, &url, SMALL, &["privport=1"]);
    let ran = perform(&ganesha, &format!("{url}&privport=1"), SMALL);
    is_whole(&ran);
}

#[test]
fn unsupported_options_are_refused_without_a_call() {
    let Some(ganesha) = Ganesha::start() else {
        return;
    };
    let Some(capture) = Capture::begin(&ganesha) else {
        return;
    };
    let url = ganesha.url("export");
    for (mix, words) in [
        ("set-xattr=1", "extended attribute"),
        ("get-xattr=1", "extended attribute"),
        ("read=1,evict=1", "evict"),
    ] {
        refused(
            &ganesha,
            &url,
            &format!("--mix {mix} --files 20 --transactions 40"),
            &[words],
        );
    }
    for (option, words) in [
        ("--durability batch:10", "batch"),
        ("--direct", "direct"),
        ("--cache cold", "cache"),
    ] {
        refused(&ganesha, &url, &format!("{SMALL} {option}"), &[words]);
    }
    let wire = capture.end();
    assert!(
        wire.calls.is_empty(),
        "the server was asked: {:?}",
        wire.calls
    );
}
