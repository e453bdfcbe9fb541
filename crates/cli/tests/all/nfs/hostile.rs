//! NFS servers whose directory listings never end, that close every connection, or that send
//! garbage. Every command must end, use limited memory, and print the names of files that may
//! remain.

use std::io::Read as _;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::scripted::files::Whims;
use super::scripted::server::{Act, Server};
use super::{LIMIT, text, within};
use crate::support::interface::postmark;
use crate::support::running::in_shell;
use crate::support::{Ended, Running, TestDir};

const MKDIR: u32 = 9;
const CREATE: u32 = 8;
const SETATTR: u32 = 2;
const REMOVE: u32 = 12;
const RMDIR: u32 = 13;
const READDIR: u32 = 16;
const READDIRPLUS: u32 = 17;
const READ_ONLY: u32 = 30;

/// Limit for the address space of a command, in KiB. The program itself occupies a quarter of this.
const ADDRESS_SPACE_KIB: u64 = 1 << 20;

/// Runs a command on a target, without an archive and with limited memory.
fn command(words: &str, target: &str) -> Ended {
    let mut command = postmark(words);
    command.arg(target);
    let mut limited = in_shell(
        &format!("ulimit -v {ADDRESS_SPACE_KIB}; exec \"$0\" \"$@\""),
        &command,
    );
    limited.env("POSTMARK_ARCHIVE", "none");
    within(Running::start(limited, TestDir::new().path()), LIMIT)
}

/// A simulated server with the clock of this machine.
fn server() -> Server {
    let server = Server::new();
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs();
    server.files(|files| files.clock = now as u32);
    server
}

const RUN: &str =
    "run --quiet --no-overhead --mix create=1,delete=1 --files 4 --transactions 8 --target";

#[test]
fn endless_listings_are_refused_in_bounded_memory() {
    let server = server();
    let url = server.url("&timeout=10");
    let url = text(&url);
    for (cookies, words) in [
        (1_000, "listing goes in a circle"),
        (u64::MAX, "listing does not end"),
    ] {
        let endless = Whims {
            cookies: Some(cookies),
            ..Whims::default()
        };
        server.behave();
        for procedure in [READDIR, READDIRPLUS] {
            server.always(procedure, Act::As(endless));
        }
        command("clean", url).code(1).shows(words);
        // With `u64::MAX` cookies, `run` would read names for minutes until it reaches its maximum
        // number of names. So only `clean` is tested with them.
        if cookies < u64::MAX {
            command(RUN, url).code(2).shows(words);
            command(&RUN.replace("--target", "--reuse --target"), url)
                .code(2)
                .shows(words);
        }
    }
    assert!(server.files(|files| files.find("").is_some()));
}

/// Starts a server that reads one request from each connection and then closes the connection.
/// Returns its port, and a counter of its connections.
fn closing() -> (u16, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let taken = Arc::<AtomicU64>::default();
    let counts = Arc::clone(&taken);
    // The thread ends with the test process.
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            counts.fetch_add(1, Ordering::SeqCst);
            let _ = stream.and_then(|mut stream| stream.read(&mut [0; 4096]));
        }
    });
    (port, taken)
}

#[test]
fn commands_end_if_the_server_closes_every_connection() {
    let (port, taken) = closing();
    let url = format!("nfs://127.0.0.1:{port}/x?mountport={port}&timeout=1");
    // A plan succeeds without the server, and states why the server is not known.
    for (words, code) in [("plan --files 10 --target", 0), (RUN, 2), ("clean", 2)] {
        let before = taken.load(Ordering::SeqCst);
        let began = Instant::now();
        command(words, &url)
            .code(code)
            .shows("closes them without an answer")
            .assert(began.elapsed() < Duration::from_secs(20), "it took long");
        let connections = taken.load(Ordering::SeqCst) - before;
        assert!(
            (1..50).contains(&connections),
            "{words}: {connections} connections"
        );
    }
}

#[test]
fn every_command_refuses_an_invalid_url() {
    for words in ["clean", RUN, "plan --files 10 --target"] {
        command(words, "nfs://").code(2).shows("host ''");
    }
}

/// If the reply to MKDIR is garbage or lost, the run directory may exist on the server. The run
/// removes the directory, or prints its name if that fails.
#[test]
fn directory_with_a_lost_mkdir_reply_is_removed_or_named() {
    let garbage = Act::Bytes(vec![0xff; 64]);
    let late = Act::Late(Duration::from_secs(3));
    for (act, code) in [(garbage, 2), (Act::LoseReply, 0), (late, 1)] {
        let server = server();
        let url = server.url("&timeout=1");
        let is_late = matches!(act, Act::Late(_));
        server.on(MKDIR, 0, act.clone());
        let ended = command(RUN, text(&url));
        ended.code(code);
        if is_late {
            ended.shows("not removed: nfs://").shows("/postmark-");
            let until = Instant::now() + LIMIT;
            while own(&server).is_empty() && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        server.behave();
        command("clean", text(&url)).code(0);
        assert_eq!(own(&server), Vec::<String>::new(), "{ended}");
        // If the server refuses to remove the directory, its name is printed.
        server
            .on(MKDIR, 0, act)
            .always(RMDIR, Act::Status(READ_ONLY));
        command(RUN, text(&url))
            .code(1)
            .shows("not removed: nfs://")
            .shows("/postmark-");
    }
}

/// Names of run directories in the export.
fn own(server: &Server) -> Vec<String> {
    server.files(|files| {
        files
            .names("")
            .into_iter()
            .filter(|name| name.starts_with("postmark-"))
            .collect()
    })
}

/// If a server creates files but refuses to remove them, the run prints the names of the files. A
/// later `clean` removes the files.
#[test]
fn names_that_cannot_be_removed_are_reported_and_cleaned_later() {
    for (failing, at) in [(CREATE, 1), (SETATTR, 1), (REMOVE, 0)] {
        let server = server();
        let url = server.url("&timeout=10");
        for procedure in [REMOVE, RMDIR] {
            server.always(procedure, Act::Status(READ_ONLY));
        }
        server.on(failing, at, Act::Status(READ_ONLY));
        let ended = command(RUN, text(&url));
        ended.ends("1 | /postmark- | .postmark-manifest.json");
        let own = own(&server);
        assert_eq!(own.len(), 1, "{ended}");
        let marks = server.files(|files| files.names(&own[0]));
        assert!(!marks.is_empty());
        for mark in marks {
            ended.shows(&mark);
        }
        server.behave();
        command("clean", text(&url)).code(0);
        assert_eq!(self::own(&server), Vec::<String>::new(), "{ended}");
    }
}
