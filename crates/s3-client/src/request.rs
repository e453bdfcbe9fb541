//! Requests of S3, and the heads with which they are sent.

use std::sync::Arc;

use crate::date::Date;
use crate::encode::{decimal, encode};
use crate::server::{Server, Style};
use crate::sign::{Canonical, EMPTY_SHA256, Signer, UNSIGNED, payload_hash};

macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident = $method:literal $name:literal,)+) => {
        /// A kind of request.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Kind {
            $($(#[$doc])* $variant,)+
        }

        impl Kind {
            /// All kinds, in declaration order.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// The name in the API reference, such as `PutObject`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// The HTTP method.
            pub const fn method(self) -> &'static str {
                match self {
                    $(Self::$variant => $method,)+
                }
            }
        }
    };
}

kinds! {
    /// Writes an object.
    Put = "PUT" "PutObject",
    /// Reads an object, or a range of it.
    Get = "GET" "GetObject",
    /// Requests the size, tag and date of an object.
    Head = "HEAD" "HeadObject",
    /// Removes an object.
    Delete = "DELETE" "DeleteObject",
    /// Writes an object with the contents of another one.
    Copy = "PUT" "CopyObject",
    /// Lists objects.
    List = "GET" "ListObjectsV2",
    /// Begins an upload in parts.
    CreateUpload = "POST" "CreateMultipartUpload",
    /// Uploads a part.
    UploadPart = "PUT" "UploadPart",
    /// Joins the uploaded parts to one object.
    CompleteUpload = "POST" "CompleteMultipartUpload",
    /// Removes the parts of an upload that was not completed.
    AbortUpload = "DELETE" "AbortMultipartUpload",
    /// Lists uploads that were not completed.
    ListUploads = "GET" "ListMultipartUploads",
}

/// A condition under which the server performs a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Condition<'a> {
    /// The server performs the request in any case.
    #[default]
    None,
    /// The object does not exist: `If-None-Match: *`.
    Missing,
    /// The object still has this tag: `If-Match`.
    Tag(&'a [u8]),
}

/// A request. Keys and parameters are not percent-encoded.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The kind, which determines the method.
    pub kind: Kind,
    /// The key of the object; empty for the bucket itself.
    pub key: &'a [u8],
    /// The parameters of the query, sorted by name.
    pub query: &'a [(&'a str, &'a [u8])],
    /// The range to read: the offset of its first byte, and its number of bytes, which is at least
    /// 1.
    pub range: Option<(u64, u64)>,
    /// The condition under which the server performs the request.
    pub condition: Condition<'a>,
    /// For [`Kind::Copy`]: the key of the object that is copied, in the same bucket.
    pub copy_of: Option<&'a [u8]>,
    /// The body; empty if the request has none.
    pub body: &'a [u8],
}

impl<'a> Request<'a> {
    /// Creates a request without parameters and body.
    pub fn new(kind: Kind, key: &'a [u8]) -> Self {
        Self {
            kind,
            key,
            query: &[],
            range: None,
            condition: Condition::None,
            copy_of: None,
            body: &[],
        }
    }
}

/// Writes the heads of requests, and reuses its buffers for all of them.
pub(crate) struct Writer {
    server: Arc<Server>,
    signer: Signer,
    token: String,
    path: Vec<u8>,
    query: Vec<u8>,
    payload: Vec<u8>,
    range: Vec<u8>,
    source: Vec<u8>,
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The token is a secret.
        f.debug_struct("Writer").finish_non_exhaustive()
    }
}

const BUFFER_BYTES: usize = 2048;

impl Writer {
    pub(crate) fn new(server: &Arc<Server>) -> Self {
        let buffer = || Vec::with_capacity(BUFFER_BYTES);
        Self {
            signer: Signer::new(server.credentials.clone(), &server.region),
            token: server.credentials.token.clone().unwrap_or_default(),
            server: Arc::clone(server),
            path: buffer(),
            query: buffer(),
            payload: Vec::with_capacity(64),
            range: Vec::with_capacity(64),
            source: buffer(),
        }
    }

    fn prepare(&mut self, request: &Request<'_>) {
        self.path.clear();
        if self.server.style == Style::Path {
            self.path.push(b'/');
            self.path.extend_from_slice(self.server.bucket.as_bytes());
        }
        if !request.key.is_empty() || self.path.is_empty() {
            self.path.push(b'/');
        }
        encode(&mut self.path, request.key, true);
        self.query.clear();
        for (number, (name, value)) in request.query.iter().enumerate() {
            if number > 0 {
                self.query.push(b'&');
            }
            encode(&mut self.query, name.as_bytes(), false);
            self.query.push(b'=');
            encode(&mut self.query, value, false);
        }
        self.payload.clear();
        match (request.body.is_empty(), self.server.signs_payload) {
            (true, _) => self.payload.extend_from_slice(EMPTY_SHA256),
            (false, true) => payload_hash(request.body, &mut self.payload),
            (false, false) => self.payload.extend_from_slice(UNSIGNED),
        }
        self.range.clear();
        if let Some((first, count)) = request.range {
            self.range.extend_from_slice(b"bytes=");
            decimal(&mut self.range, first);
            self.range.push(b'-');
            decimal(&mut self.range, first.saturating_add(count - 1));
        }
        self.source.clear();
        if let Some(key) = request.copy_of {
            self.source.push(b'/');
            self.source.extend_from_slice(self.server.bucket.as_bytes());
            self.source.push(b'/');
            encode(&mut self.source, key, true);
        }
    }

    /// Appends the head of a request that is sent at `now_s`, in seconds since the epoch.
    pub(crate) fn write(&mut self, request: &Request<'_>, now_s: i64, out: &mut Vec<u8>) {
        self.prepare(request);
        let date = Date::of_unix(now_s);
        let stamp = date.of_signature();
        let (if_match, if_missing): (&[u8], &[u8]) = match request.condition {
            Condition::None => (b"", b""),
            Condition::Missing => (b"", b"*"),
            Condition::Tag(tag) => (tag, b""),
        };
        // All headers that a request may have; those without a value are left out.
        let all: [(&str, &[u8]); 8] = [
            ("host", self.server.host.as_bytes()),
            ("if-match", if_match),
            ("if-none-match", if_missing),
            ("range", &self.range),
            ("x-amz-content-sha256", &self.payload),
            ("x-amz-copy-source", &self.source),
            ("x-amz-date", &stamp),
            ("x-amz-security-token", self.token.as_bytes()),
        ];
        let mut headers = all;
        let mut count = 0;
        for header in all.iter().filter(|(_, value)| !value.is_empty()) {
            headers[count] = *header;
            count += 1;
        }
        let headers = &headers[..count];
        out.extend_from_slice(request.kind.method().as_bytes());
        out.push(b' ');
        out.extend_from_slice(&self.path);
        if !self.query.is_empty() {
            out.push(b'?');
            out.extend_from_slice(&self.query);
        }
        out.extend_from_slice(b" HTTP/1.1\r\n");
        for (name, value) in headers {
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b": ");
            out.extend_from_slice(value);
            out.extend_from_slice(b"\r\n");
        }
        if matches!(request.kind.method(), "PUT" | "POST") {
            out.extend_from_slice(b"content-length: ");
            decimal(out, request.body.len() as u64);
            out.extend_from_slice(b"\r\n");
        }
        out.extend_from_slice(b"authorization: ");
        let canonical = Canonical {
            method: request.kind.method().as_bytes(),
            path: &self.path,
            query: &self.query,
            headers,
            payload: &self.payload,
        };
        self.signer.authorize(&canonical, date, out);
        out.extend_from_slice(b"\r\n\r\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::credentials::Credentials;
    use crate::server::Endpoint;

    fn written(request: &Request<'_>, signs_payload: bool) -> String {
        let credentials = Credentials {
            key: "KEY".to_owned(),
            secret: "very-secret".to_owned(),
            token: Some("TOKEN".to_owned()),
        };
        let endpoint = Endpoint::parse("http://127.0.0.1:9000").unwrap();
        let server = Server::new(
            &endpoint,
            "bucket",
            Style::Path,
            "us-east-1",
            credentials,
            None,
        );
        let mut server = server.unwrap();
        server.signs_payload = signs_payload;
        let mut out = Vec::new();
        Writer::new(&Arc::new(server)).write(request, 1_369_353_600, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn heads_contain_only_needed_headers() {
        let put = Request {
            condition: Condition::Missing,
            body: b"contents",
            ..Request::new(Kind::Put, b"a b/c")
        };
        let head = written(&put, false);
        let lines: Vec<&str> = head.split("\r\n").collect();
        let expected = [
            "PUT /bucket/a%20b/c HTTP/1.1",
            "host: 127.0.0.1:9000",
            "if-none-match: *",
            "x-amz-content-sha256: UNSIGNED-PAYLOAD",
            "x-amz-date: 20130524T000000Z",
            "x-amz-security-token: TOKEN",
            "content-length: 8",
        ];
        assert_eq!(lines[..7], expected);
        assert!(lines[7].contains(
            "SignedHeaders=host;if-none-match;x-amz-content-sha256;x-amz-date;x-amz-security-token"
        ));
        assert_eq!(lines[8..], ["", ""]);
        assert!(!head.contains("very-secret"));
        assert!(
            written(&put, true).contains("x-amz-content-sha256: d1b2a59fbea7e20077af9f91b27e95e8")
        );
    }

    #[test]
    fn queries_ranges_and_copies_are_encoded() {
        let list = Request {
            query: &[("list-type", b"2"), ("prefix", b"a/b c")],
            ..Request::new(Kind::List, b"")
        };
        assert!(written(&list, false).starts_with("GET /bucket?list-type=2&prefix=a%2Fb%20c HTTP"));
        let get = Request {
            range: Some((5, 10)),
            ..Request::new(Kind::Get, b"k")
        };
        let get = written(&get, false);
        assert!(get.contains("\r\nrange: bytes=5-14\r\n") && !get.contains("content-length"));
        let copy = Request {
            copy_of: Some(b"x y"),
            ..Request::new(Kind::Copy, b"k")
        };
        assert!(written(&copy, false).contains("\r\nx-amz-copy-source: /bucket/x%20y\r\n"));
    }
}
