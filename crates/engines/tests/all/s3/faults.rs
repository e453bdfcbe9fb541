//! Failures of the server and of connections.

use std::time::Duration;

use engine::{Cause, Errno, Operation, OperationOutcome, Step};

use super::Fixture;
use super::server::Act;
use crate::support::{FilePath, Seen, TEXT, make, perform};

fn outcome(fixture: &Fixture, operation: &Operation<'_>) -> OperationOutcome {
    fixture.work(&fixture.settings(), |session| {
        perform(session, operation, &mut Seen::default())
    })
}

#[test]
fn errors_of_the_server_fail_the_operation_without_a_repetition() {
    for (status, code, errno) in [
        (503, "SlowDown", Errno::AGAIN),
        (500, "InternalError", Errno::REMOTEIO),
        (403, "AccessDenied", Errno::ACCESS),
        (403, "RequestTimeTooSkewed", Errno::TIME),
        (507, "", Errno::NOSPC),
        (200, "InternalError", Errno::REMOTEIO),
    ] {
        let fixture = Fixture::new(1, "");
        fixture
            .server
            .always("PutObject", Act::Status(status, code));
        let file = FilePath::new(&fixture.bare(), "1");
        let failure = outcome(&fixture, &make::create(file.name(), TEXT)).unwrap_err();
        let expected = (Step::Call("PutObject"), Cause::System(errno));
        assert_eq!((failure.step, failure.cause), expected, "{status} {code}");
        assert_eq!(fixture.server.take_requests(), ["PutObject"], "{status}");
        let slow = u64::from(code == "SlowDown");
        assert_eq!(fixture.traffic().count("slow_downs"), slow, "{code}");
    }
}

#[test]
fn lost_connection_leaves_outcome_of_a_change_unknown() {
    let fixture = Fixture::new(1, "");
    let files = ["1", "2"].map(|name| FilePath::new(&fixture.bare(), name));
    let [one, two] = [&files[0], &files[1]].map(FilePath::name);
    let lost = Cause::System(Errno::CONNRESET);
    fixture.server.put("p/1", TEXT);
    for (operation, request, cause) in [
        (make::create(two, TEXT), "PutObject", Cause::NotKnown),
        (make::delete(two), "DeleteObject", Cause::NotKnown),
        (make::read(one, 36), "GetObject", lost),
        (make::stat(one, None), "HeadObject", lost),
        (make::rename(one, two), "CopyObject", Cause::NotKnown),
    ] {
        for act in [
            Act::LoseReply,
            Act::Bytes(b"HTTP/1.1 200 OK\r\ncontent-le".to_vec()),
        ] {
            fixture.server.behave().on(request, 0, act);
            fixture.work(&fixture.settings(), |session| {
                let failure = perform(session, &operation, &mut Seen::default()).unwrap_err();
                assert_eq!((failure.step, failure.cause), (Step::Call(request), cause));
                // The next operation opens another connection.
                let read = perform(session, &make::read(one, 36), &mut Seen::default());
                assert_eq!(read, Ok(()), "{operation:?}");
            });
            fixture.server.state().objects.remove(&b"p/2"[..]);
        }
    }
    let traffic = fixture.traffic();
    assert_eq!(
        (traffic.count("not_known"), traffic.count("reconnections")),
        (6, 10)
    );
}

#[test]
fn connection_closed_after_an_answer_is_replaced_without_a_failure() {
    let fixture = Fixture::new(1, "");
    fixture.server.put("p/1", TEXT);
    fixture.server.always(
        "HeadObject",
        Act::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 36\r\nconnection: close\r\n\r\n".to_vec()),
    );
    let file = FilePath::new(&fixture.bare(), "1");
    fixture.work(&fixture.settings(), |session| {
        for _ in 0..5 {
            let stat = make::stat(file.name(), Some(36));
            assert_eq!(perform(session, &stat, &mut Seen::default()), Ok(()));
        }
    });
    let traffic = fixture.traffic();
    // Five connections for the operations, and one for the check of the directory. A connection
    // that the server announces to close does not count as lost.
    assert_eq!(
        (traffic.count("connections"), traffic.count("reconnections")),
        (6, 0)
    );
}

#[test]
fn creation_checks_with_head_on_a_server_without_if_none_match() {
    let fixture = Fixture::new(1, "");
    fixture
        .server
        .on("PutObject", 0, Act::Status(501, "NotImplemented"));
    let files = ["1", "2"].map(|name| FilePath::new(&fixture.bare(), name));
    let [one, two] = [&files[0], &files[1]].map(FilePath::name);
    fixture.work(&fixture.settings(), |session| {
        for (operation, requests) in [
            (
                make::create(one, TEXT),
                &["PutObject", "HeadObject", "PutObject"][..],
            ),
            (make::create(two, TEXT), &["HeadObject", "PutObject"]),
        ] {
            let performed = perform(session, &operation, &mut Seen::default());
            assert_eq!(performed, Ok(()), "{operation:?}");
            let made = fixture.server.take_requests();
            assert_eq!(made, *requests, "{operation:?}");
            fixture.server.behave();
        }
        let again = perform(session, &make::create(one, TEXT), &mut Seen::default());
        assert_eq!(again.unwrap_err().cause, Cause::System(Errno::EXIST));
    });
    assert_eq!(fixture.traffic().count("unconditional_creations"), 3);
}

#[test]
fn upload_is_removed_after_a_failure() {
    let content = vec![7; 11 << 20];
    for (request, act, cause) in [
        (
            "UploadPart",
            Act::Status(500, ""),
            Cause::System(Errno::REMOTEIO),
        ),
        (
            "UploadPart",
            Act::LoseReply,
            Cause::System(Errno::CONNRESET),
        ),
        (
            "UploadPart",
            Act::Bytes(b"nonsense\r\n\r\n".to_vec()),
            Cause::Garbled,
        ),
        (
            "CompleteMultipartUpload",
            Act::Status(200, "InternalError"),
            Cause::System(Errno::REMOTEIO),
        ),
    ] {
        let fixture = Fixture::new(1, "&part=5");
        let nth = usize::from(request == "UploadPart");
        fixture.server.on(request, nth, act);
        let file = FilePath::new(&fixture.bare(), "1");
        let failure = outcome(&fixture, &make::create(file.name(), &content)).unwrap_err();
        assert_eq!((failure.step, failure.cause), (Step::Call(request), cause));
        assert!(fixture.server.state().uploads.is_empty(), "{request}");
        assert!(fixture.server.keys().is_empty());
    }
}

#[test]
fn late_answer_fails_the_operation() {
    let fixture = Fixture::new(1, "&timeout=1");
    fixture.server.put("p/1", TEXT);
    fixture
        .server
        .always("HeadObject", Act::Slow(Duration::from_millis(200)));
    let file = FilePath::new(&fixture.bare(), "1");
    let failure = outcome(&fixture, &make::stat(file.name(), None)).unwrap_err();
    assert_eq!(failure.cause, Cause::System(Errno::TIMEDOUT));
}

#[test]
fn slow_answer_in_time_is_complete() {
    let fixture = Fixture::new(1, "");
    fixture.server.put("p/1", TEXT);
    fixture
        .server
        .always("GetObject", Act::Slow(Duration::from_micros(100)));
    let file = FilePath::new(&fixture.bare(), "1");
    assert_eq!(outcome(&fixture, &make::read(file.name(), 36)), Ok(()));
}
