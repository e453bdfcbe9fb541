//! Lost connections, and servers that stop and return. Calls are repeated and counted; an outcome
//! that cannot be determined is reported as not known.

use std::time::{Duration, Instant};

use engine::{
    Cause, Durability, Engine, OpenError, Operation, OperationOutcome, Session, Settings, Step,
};
use engines::nfs::Nfs;
use testkit::{Assert, Shows};

use super::operations::outcomes;
use super::procedure::*;
use super::server::{Act, Server};
use super::{Fixture, TIMEOUT};
use crate::support::{FilePath, TEXT, done, make};

fn outcome(session: &mut Box<dyn Session>, operation: &Operation<'_>) -> OperationOutcome {
    let began = Instant::now();
    let outcome = outcomes(session, 1, 1, |_| *operation)[0];
    assert!(
        began.elapsed() < Duration::from_secs(10),
        "{operation:?} took {:?}",
        began.elapsed()
    );
    outcome
}

#[test]
fn idempotent_calls_are_repeated_once_and_counted() {
    for act in [Act::LoseRequest, Act::LoseReply, Act::CutStream] {
        for procedure in [
            LOOKUP,
            READ,
            WRITE,
            COMMIT,
            SETATTR,
            READDIR,
            READDIRPLUS,
            READLINK,
        ] {
            let fixture = Fixture::new(1, "");
            let bare = fixture.bare();
            let [file, link, root] = ["1", "2", ""].map(|name| FilePath::new(&bare, name));
            let settings = Settings {
                durability: Durability::Fsync.into(),
                keep_contents_bytes: 64,
                ..fixture.settings()
            };
            fixture.work(&settings, |session| {
                done(session, &make::create(file.name(), TEXT));
                done(session, &make::symbolic_link(link.name(), c"1"));
                fixture.server.take_calls();
                fixture.server.on(procedure, 0, act.clone());
                for operation in [
                    make::overwrite(file.name(), b"X"),
                    make::read(file.name(), 36),
                    make::truncate(file.name(), 30),
                    make::read_link(link.name(), c"1"),
                    make::list(root.name()),
                    make::list_with_stat(root.name()),
                ] {
                    assert_eq!(
                        outcome(session, &operation),
                        Ok(()),
                        "{procedure} {operation:?}"
                    );
                }
                let traffic = fixture.traffic();
                let repetitions: Vec<_> = traffic
                    .calls
                    .iter()
                    .filter(|line| line.repetitions > 0)
                    .collect();
                assert_eq!(repetitions.len(), 1, "{repetitions:?}");
                assert_eq!(repetitions[0].repetitions, 1);
                assert_eq!(
                    (traffic.count("reconnections"), traffic.count("not_known")),
                    (1, 0)
                );
                let content = fixture.server.files(|files| files.content("1")).unwrap();
                assert_eq!(content, [b"X", &TEXT[1..30]].concat());
            });
        }
    }
}

/// A call that is not idempotent is repeated. The operation succeeds if the server did not receive
/// the first request. If the server executed that request, the outcome is not known.
#[test]
fn repeated_non_idempotent_call_succeeds_or_reports_unknown_outcome() {
    let content = &TEXT[..5];
    for (procedure, step) in [
        (CREATE, Step::Call("CREATE")),
        (REMOVE, Step::Call("REMOVE")),
        (RENAME, Step::Call("RENAME")),
        (MKDIR, Step::Call("MKDIR")),
        (RMDIR, Step::Call("RMDIR")),
        (LINK, Step::Call("LINK")),
        (SYMLINK, Step::Call("SYMLINK")),
    ] {
        for (act, is_known) in [
            (Act::LoseRequest, true),
            (Act::LoseReply, false),
            (Act::CutStream, false),
        ] {
            let fixture = Fixture::new(1, "");
            let bare = fixture.bare();
            let [file, new, directory] = ["1", "2", "d"].map(|name| FilePath::new(&bare, name));
            fixture.work(&fixture.settings(), |session| {
                if procedure != CREATE {
                    done(session, &make::create(file.name(), content));
                }
                if procedure == RMDIR {
                    done(session, &make::make_directory(directory.name()));
                }
                fixture.server.take_calls();
                fixture.server.on(procedure, 0, act.clone());
                let operation = match procedure {
                    CREATE => make::create(file.name(), content),
                    REMOVE => make::delete(file.name()),
                    RENAME => make::rename(file.name(), new.name()),
                    MKDIR => make::make_directory(directory.name()),
                    RMDIR => make::remove_directory(directory.name()),
                    LINK => make::link(file.name(), new.name()),
                    _ => make::symbolic_link(new.name(), c"1"),
                };
                let found = outcome(session, &operation);
                match is_known {
                    true => assert_eq!(found, Ok(()), "{operation:?}"),
                    false => assert_eq!(
                        found.map_err(|failure| (failure.step, failure.cause)),
                        Err((step, Cause::NotKnown)),
                        "{operation:?}"
                    ),
                }
                let traffic = fixture.traffic();
                assert_eq!(traffic.count("not_known"), u64::from(!is_known));
                assert_eq!(
                    traffic
                        .calls
                        .iter()
                        .map(|line| line.repetitions)
                        .sum::<u64>(),
                    1
                );
                let calls = fixture.server.take_calls();
                assert_eq!(calls.iter().filter(|call| **call == procedure).count(), 2);
                // The repeated creation is exclusive, so SETATTR must follow to set the normal mode
                // and times.
                if procedure == CREATE && is_known {
                    assert_eq!(calls, [CREATE, CREATE, SETATTR, WRITE]);
                    let (mode, times) = fixture.server.files(|files| {
                        let node = files.find("1").unwrap();
                        (node.mode, node.times)
                    });
                    assert_eq!((mode, times[0].1), (0o644, 0));
                    assert_eq!(
                        fixture.server.files(|files| files.content("1")).unwrap(),
                        content
                    );
                }
            });
        }
    }
}

#[test]
fn repeated_creation_is_recognised_by_verifier() {
    let fixture = Fixture::new(1, "");
    fixture
        .server
        .on(CREATE, 0, Act::LoseRequest)
        .on(CREATE, 1, Act::LoseReply);
    let file = FilePath::new(&fixture.bare(), "1");
    fixture.work(&fixture.settings(), |session| {
        assert_eq!(outcome(session, &make::create(file.name(), TEXT)), Ok(()));
        assert_eq!(
            fixture.server.take_calls(),
            [CREATE, CREATE, CREATE, SETATTR, WRITE]
        );
        assert_eq!(
            (
                fixture.count("CREATE").calls,
                fixture.count("CREATE").repetitions
            ),
            (1, 2)
        );
        assert_eq!(fixture.traffic().count("not_known"), 0);
        assert_eq!(
            fixture.server.files(|files| files.content("1")).unwrap(),
            TEXT
        );
    });
}

#[test]
fn writes_lost_by_restart_and_disconnect_are_repeated() {
    let fixture = Fixture::new(1, "");
    fixture.server.files(|files| files.preferred = (4_096, 512));
    fixture.server.on(WRITE, 2, Act::Restart);
    let file = FilePath::new(&fixture.bare(), "1");
    let settings = Settings {
        durability: Durability::Fdatasync.into(),
        ..fixture.settings()
    };
    let content = [9; 2_000];
    fixture.work(&settings, |session| {
        assert_eq!(
            outcome(session, &make::create(file.name(), &content)),
            Ok(())
        );
        assert_eq!(
            fixture.server.files(|files| files.content("1")).unwrap(),
            content
        );
        let traffic = fixture.traffic();
        assert_eq!(
            (
                traffic.count("verifier_changes"),
                traffic.count("reconnections"),
                fixture.count("WRITE").repetitions
            ),
            (1, 1, 1)
        );
        assert_eq!(traffic.count("rewritten_bytes"), 1_536);
    });
}

#[test]
fn operations_in_flight_at_disconnect_succeed_or_report_unknown_outcome() {
    for (depth, parameters) in [(8, ""), (8, "&nconnect=3"), (16, "&nconnect=2")] {
        let fixture = Fixture::new(depth, parameters);
        for nth in [10, 40, 41, 90] {
            fixture.server.on(
                CREATE,
                nth,
                if nth % 20 == 0 {
                    Act::LoseRequest
                } else {
                    Act::LoseReply
                },
            );
        }
        let files: Vec<_> = (0..150)
            .map(|number| FilePath::new(&fixture.bare(), &number.to_string()))
            .collect();
        fixture.work(&fixture.settings(), |session| {
            let all = outcomes(session, depth, files.len(), |number| {
                make::create(files[number].name(), TEXT)
            });
            let mut not_known = 0;
            for (number, outcome) in all.iter().enumerate() {
                let content = fixture
                    .server
                    .files(|files| files.content(&number.to_string()));
                match outcome {
                    Ok(()) => assert_eq!(content.unwrap(), TEXT, "{number}"),
                    Err(failure) => {
                        assert_eq!(
                            (failure.step, failure.cause),
                            (Step::Call("CREATE"), Cause::NotKnown)
                        );
                        assert_eq!(content.unwrap(), b"", "the first call had made it");
                        not_known += 1;
                    }
                }
            }
            assert_eq!(fixture.traffic().count("not_known"), not_known);
            // The outcome is not known for calls whose replies were lost, including replies that
            // the server sent just before the connection was lost.
            assert!((2..=4 * depth as u64).contains(&not_known), "{not_known}");
            assert!(
                (2..=4).contains(&fixture.traffic().count("reconnections")),
                "{}",
                fixture.traffic().count("reconnections")
            );
        });
    }
}

#[test]
fn session_waits_until_stopped_server_returns() {
    let mut fixture = Fixture::new(4, "&nconnect=2");
    let files: Vec<_> = (0..40)
        .map(|number| FilePath::new(&fixture.bare(), &number.to_string()))
        .collect();
    let (engine, settings) = (fixture.engine.clone(), fixture.settings());
    let work = std::thread::scope(|scope| {
        let (ready, is_ready) = std::sync::mpsc::channel();
        let (again, is_again) = std::sync::mpsc::channel::<()>();
        let files = &files;
        let working = scope.spawn(move || {
            let mut session = engine.open(&settings).unwrap();
            outcomes(&mut session, 4, 20, |number| {
                make::create(files[number].name(), TEXT)
            })
            .into_iter()
            .for_each(|outcome| assert_eq!(outcome, Ok(())));
            ready.send(()).unwrap();
            is_again.recv().unwrap();
            // No server listens during the first 200 ms.
            outcomes(&mut session, 4, 20, |number| {
                make::create(files[20 + number].name(), TEXT)
            })
        });
        is_ready.recv().unwrap();
        fixture.server.stop();
        again.send(()).unwrap();
        std::thread::sleep(Duration::from_millis(200));
        fixture.server.start();
        working.join().unwrap()
    });
    // Calls sent on the lost connection did not reach the server, so their repetitions succeed.
    assert_eq!(work, vec![Ok(()); 20]);
    assert_eq!(fixture.traffic().count("reconnections"), 2);
}

#[test]
fn lost_server_is_reported_and_session_continues() {
    let fixture = Fixture::new(2, "");
    let [file, other] = ["1", "2"].map(|name| FilePath::new(&fixture.bare(), name));
    fixture.work(&fixture.settings(), |session| {
        assert_eq!(outcome(session, &make::create(file.name(), TEXT)), Ok(()));
        fixture.server.stop();
        // The call was sent on a connection that was then lost, so the outcome is not known.
        let found = outcome(session, &make::create(other.name(), TEXT));
        assert_eq!(found.unwrap_err().cause, Cause::NotKnown);
        let began = Instant::now();
        let found = outcome(session, &make::read(file.name(), 36)).unwrap_err();
        // Error 111 is ECONNREFUSED.
        let expected = (Step::Call("LOOKUP"), Some(111));
        assert_eq!((found.step, found.errno()), expected);
        began
            .elapsed()
            .assert((TIMEOUT..4 * TIMEOUT).contains(&began.elapsed()));
        // No part of this call was sent, so the server did not execute it.
        let found = outcome(session, &make::delete(file.name())).unwrap_err();
        assert_eq!(
            (found.step, found.errno()),
            (Step::Call("REMOVE"), Some(111))
        );
    });
}

fn reached(server: &Server, url: &str) -> String {
    let engine = Nfs::with_timeout(1, &[url.into()], TIMEOUT);
    let bare = super::bare(std::path::Path::new(url));
    let namespace = engine.namespace().unwrap();
    let said = namespace.reach(&bare).unwrap_err().to_string();
    let opened = namespace.open(&bare).map(|_| ());
    assert!(opened.is_err());
    server.take_calls();
    let settings = Settings {
        locations: vec![super::location(&bare)],
        ..Settings::default()
    };
    let session = std::thread::scope(|scope| {
        scope
            .spawn(|| engine.open(&settings).map(drop))
            .join()
            .unwrap()
    });
    match session.unwrap_err() {
        OpenError::Server(unreachable) => assert_eq!(unreachable.to_string(), said),
        other => assert!(matches!(other, OpenError::Directory { .. }), "{other}"),
    }
    said
}

#[test]
fn error_for_unreachable_target_names_cause_and_hint() {
    let server = Server::new();
    let url = server.url("").to_str().unwrap().to_owned();
    let has = |url: &str, words: &[&str]| {
        let said = reached(&server, url);
        words
            .iter()
            .for_each(|word| assert!(said.contains(word), "{said}"));
    };
    has(
        &url.replace("export", "other"),
        &["cannot mount /other", "No such file", "is it exported?"],
    );
    has(
        &url.replace("export", "export/inner"),
        &["cannot open the directory /export/inner", "No such file"],
    );
    has(
        &url.replace("127.0.0.1", "no-such-host.invalid"),
        &["cannot resolve the host no-such-host.invalid"],
    );
    server.always(GETATTR, Act::Status(1));
    has(&url, &["cannot use the export /export", "privport=1"]);
    let server = Server::new();
    let url = server.url("").to_str().unwrap().to_owned();
    server.always(GETATTR, Act::Refused(vec![1, 1, 5]));
    let said = reached(&server, &url);
    said.shows("refused the credentials").shows("privport=1");
    server.stop();
    let said = reached(&server, &url);
    said.shows("cannot connect to").shows("refused");
}

/// A load balancer or a tunnel without a server behind it accepts each connection, and closes it
/// after the request.
#[test]
fn server_that_closes_connections_is_retried_until_timeout() {
    /// Generous limit of calls. The delays between calls start at 5 ms and double, so fewer than
    /// ten calls fit into the time limit of 700 ms.
    const CALLS_MAX: usize = 20;
    let fixture = Fixture::new(1, "");
    let namespace = fixture.engine.namespace().unwrap();
    let directory = namespace.open(&fixture.bare()).unwrap();
    fixture.server.always(GETATTR, Act::LoseRequest);
    fixture.server.take_calls();
    let began = Instant::now();
    assert_eq!(directory.facts().unwrap_err(), engine::Errno::CONNRESET);
    began
        .elapsed()
        .assert(began.elapsed() < Duration::from_secs(10));
    let calls = fixture.server.take_calls().len();
    assert!((2..CALLS_MAX).contains(&calls), "{calls} calls");
    // A session retries with the same delays as the namespace above.
    fixture.server.behave().always(READ, Act::LoseRequest);
    let file = FilePath::new(&fixture.bare(), "1");
    fixture.work(&fixture.settings(), |session| {
        done(session, &make::create(file.name(), TEXT));
        fixture.server.take_calls();
        let found = outcome(session, &make::read(file.name(), 36)).unwrap_err();
        assert_eq!(
            (found.step, found.errno()),
            (Step::Call("READ"), Some(libc::ECONNRESET))
        );
    });
    let calls = fixture.server.take_calls().len();
    assert!((2..CALLS_MAX).contains(&calls), "{calls} calls");
}
