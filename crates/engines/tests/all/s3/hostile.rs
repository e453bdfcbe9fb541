//! Hostile answers end with an error and bounded memory, and the session can be used afterwards.

use engine::{Cause, Errno, Operation};

use super::Fixture;
use super::server::Act;
use crate::support::{FilePath, Seen, TEXT, make, perform};

const CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
const LONG: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 999999999999\r\n\r\n";

/// Performs an operation twice. The server treats the first request of this name according to
/// `act`, so the first operation fails. Returns the cause; the second operation must succeed.
fn cause(fixture: &Fixture, operation: &Operation<'_>, name: &'static str, act: Act) -> Cause {
    fixture.server.behave();
    fixture.work(&fixture.settings(), |session| {
        fixture.server.on(name, 0, act);
        let failure = perform(session, operation, &mut Seen::default()).unwrap_err();
        assert_eq!(perform(session, operation, &mut Seen::default()), Ok(()));
        failure.cause
    })
}

#[test]
fn wrong_lengths_are_rejected() {
    let fixture = Fixture::new(1, "");
    fixture.server.put("p/1", TEXT);
    let file = FilePath::new(&fixture.bare(), "1");
    let read = make::read(file.name(), 36);
    let bytes = |text: &[u8]| Act::Bytes(text.to_vec());
    let ended = |read| Cause::EndedEarly { read, expected: 36 };
    for (answer, expected) in [
        (
            &b"HTTP/1.1 200 OK\r\ncontent-length: 36\r\n\r\nshort"[..],
            Cause::System(Errno::CONNRESET),
        ),
        (
            b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nshort",
            ended(5),
        ),
        (
            b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
            Cause::Garbled,
        ),
        (b"HTTP/1.1 200 OK\r\n\r\nwithout length", Cause::Garbled),
        (
            LONG,
            Cause::WrongSize {
                found: 999_999_999_999,
                expected: 36,
            },
        ),
        (
            b"HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n\
              1\r\nx\r\n0\r\n\r\n",
            ended(1),
        ),
        (b"\r\n\r\n\r\n\r\n", Cause::Garbled),
        (b"SSH-2.0-OpenSSH\r\n\r\n", Cause::Garbled),
    ] {
        let found = cause(&fixture, &read, "GetObject", bytes(answer));
        assert_eq!(found, expected, "{}", answer.escape_ascii());
    }
}

#[test]
fn endless_answers_are_cut_off() {
    let fixture = Fixture::new(1, "");
    fixture.server.put("p/1", TEXT);
    let [file, top] = ["1", ""].map(|name| FilePath::new(&fixture.bare(), name));
    let (read, list) = (make::read(file.name(), 36), make::list(top.name()));
    let head = b"HTTP/1.1 200 OK\r\n";
    for (operation, name, first, again) in [
        (&read, "GetObject", &head[..], &b"x-more: y\r\n"[..]),
        (&read, "GetObject", b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (&read, "GetObject", CHUNKED, b"1\r\nx\r\n"),
        (&read, "GetObject", CHUNKED, b"0"),
        (&list, "ListObjectsV2", LONG, b"<ListBucketResult>"),
        (&list, "ListObjectsV2", CHUNKED, b"9\r\n<Key>x<a>\r\n"),
        (&list, "ListObjectsV2", CHUNKED, b"1;x=y\r\n \r\n"),
    ] {
        let found = cause(&fixture, operation, name, Act::Endless(first, again));
        assert_eq!(found, Cause::Garbled, "{}", again.escape_ascii());
    }
}

#[test]
fn invalid_listings_are_rejected() {
    let fixture = Fixture::new(1, "");
    fixture.server.put("p/1", TEXT);
    let top = FilePath::new(&fixture.bare(), "");
    let list = make::list(top.name());
    for document in [
        "",
        "<ListBucketResult>",
        "<html>Welcome</html>",
        "<ListBucketResult><Contents><Key>elsewhere</Key></Contents></ListBucketResult>",
        "<!DOCTYPE a [<!ENTITY b \"c\">]><ListBucketResult/>",
        "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
    ] {
        let answer = format!(
            "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{document}",
            document.len()
        );
        let found = cause(
            &fixture,
            &list,
            "ListObjectsV2",
            Act::Bytes(answer.into_bytes()),
        );
        assert_eq!(found, Cause::Garbled, "{document}");
    }
    let repeated = "<ListBucketResult><IsTruncated>true</IsTruncated>\
        <NextContinuationToken>same</NextContinuationToken></ListBucketResult>";
    let answer = format!(
        "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{repeated}",
        repeated.len()
    );
    let answer: &'static [u8] = answer.leak().as_bytes();
    fixture.work(&fixture.settings(), |session| {
        fixture.server.behave();
        for nth in 0..2 {
            fixture
                .server
                .on("ListObjectsV2", nth, Act::Bytes(answer.to_vec()));
        }
        let failure = perform(session, &list, &mut Seen::default()).unwrap_err();
        assert!(
            matches!(failure.cause, Cause::Garbled | Cause::System(_)),
            "{failure:?}"
        );
    });
}

#[test]
fn redirects_to_another_host_are_refused() {
    let fixture = Fixture::new(1, "");
    fixture.server.put("p/1", TEXT);
    let file = FilePath::new(&fixture.bare(), "1");
    let answer = b"HTTP/1.1 307 Temporary Redirect\r\nlocation: http://127.0.0.1:1/\r\n\
        connection: close\r\ncontent-length: 0\r\n\r\n";
    let read = make::read(file.name(), 36);
    let found = cause(&fixture, &read, "GetObject", Act::Bytes(answer.to_vec()));
    assert_eq!(found, Cause::System(Errno::REMCHG));
}

#[test]
fn early_answer_to_a_large_request_is_read() {
    let fixture = Fixture::new(1, "&part=64");
    let content = vec![1; 20 << 20];
    let file = FilePath::new(&fixture.bare(), "1");
    let overwrite = make::overwrite(file.name(), &content);
    let answer = b"HTTP/1.1 100 Continue\r\n\r\n\
          HTTP/1.1 503 Slow Down\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
    let found = cause(
        &fixture,
        &overwrite,
        "PutObject",
        Act::Bytes(answer.to_vec()),
    );
    assert_eq!(found, Cause::System(Errno::AGAIN));
}
