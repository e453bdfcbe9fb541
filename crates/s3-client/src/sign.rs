//! Signature Version 4 of requests, as "Authenticating Requests (AWS Signature Version 4)" of the
//! Amazon S3 API Reference describes it. The signature is in the header `Authorization`.

use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};

use crate::credentials::Credentials;
use crate::date::Date;
use crate::encode::hex;

/// The hash in the header `x-amz-content-sha256` of a request without a body.
pub const EMPTY_SHA256: &[u8; 64] =
    b"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
/// The text in place of a hash if the body is not signed.
pub const UNSIGNED: &[u8] = b"UNSIGNED-PAYLOAD";

const ALGORITHM: &[u8] = b"AWS4-HMAC-SHA256";

/// A request, in the form in which it is signed.
#[derive(Clone, Copy, Debug)]
pub struct Canonical<'a> {
    /// The method, such as `GET`.
    pub method: &'a [u8],
    /// The percent-encoded path, beginning with a slash.
    pub path: &'a [u8],
    /// The percent-encoded query, its parameters sorted by name, each with `=`; may be empty.
    pub query: &'a [u8],
    /// The signed headers, sorted by name: the name in lower case, and the value.
    pub headers: &'a [(&'a str, &'a [u8])],
    /// The value of `x-amz-content-sha256`.
    pub payload: &'a [u8],
}

/// Signs requests with credentials for a region. The signing key, which is valid for a day, is
/// derived once a day.
#[derive(Debug)]
pub struct Signer {
    credentials: Credentials,
    region: String,
    key: Key,
    text: Vec<u8>,
}

#[derive(Default)]
struct Key {
    day: [u8; 8],
    bytes: [u8; 32],
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

fn keyed(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

/// Writes the SHA-256 hash of a body in hexadecimal digits, for the header `x-amz-content-sha256`.
pub fn payload_hash(body: &[u8], out: &mut Vec<u8>) {
    hex(out, &Sha256::digest(body));
}

impl Signer {
    /// Creates a signer for the service `s3` in a region.
    pub fn new(credentials: Credentials, region: &str) -> Self {
        Self {
            credentials,
            region: region.to_owned(),
            key: Key::default(),
            text: Vec::with_capacity(1024),
        }
    }

    fn key(&mut self, day: &[u8]) -> [u8; 32] {
        if self.key.day != day {
            let secret = ["AWS4", &self.credentials.secret].concat();
            let mut key = keyed(secret.as_bytes(), &[day]);
            for part in [self.region.as_bytes(), b"s3", b"aws4_request"] {
                key = keyed(&key, &[part]);
            }
            self.key.day.copy_from_slice(day);
            self.key.bytes = key;
        }
        self.key.bytes
    }

    /// Appends the value of the header `Authorization` for a request at this time.
    pub fn authorize(&mut self, request: &Canonical<'_>, date: Date, out: &mut Vec<u8>) {
        let stamp = date.of_signature();
        let day = &stamp[..8];
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        canonical(request, &mut text);
        let hash = Sha256::digest(&text);
        text.clear();
        hex(&mut text, &hash);
        let key = self.key(day);
        let region = self.region.as_bytes();
        let scope = [day, b"/", region, b"/s3/aws4_request"];
        let mut mac = Hmac::<Sha256>::new_from_slice(&key).expect("HMAC takes keys of any length");
        for part in [ALGORITHM, b"\n", &stamp, b"\n"] {
            mac.update(part);
        }
        scope.iter().for_each(|part| mac.update(part));
        mac.update(b"\n");
        mac.update(&text);
        let signature: [u8; 32] = mac.finalize().into_bytes().into();
        out.extend_from_slice(ALGORITHM);
        out.extend_from_slice(b" Credential=");
        out.extend_from_slice(self.credentials.key.as_bytes());
        out.push(b'/');
        scope.iter().for_each(|part| out.extend_from_slice(part));
        out.extend_from_slice(b",SignedHeaders=");
        names(request, out);
        out.extend_from_slice(b",Signature=");
        hex(out, &signature);
        self.text = text;
    }
}

fn canonical(request: &Canonical<'_>, text: &mut Vec<u8>) {
    for part in [request.method, request.path, request.query] {
        text.extend_from_slice(part);
        text.push(b'\n');
    }
    for (name, value) in request.headers {
        text.extend_from_slice(name.as_bytes());
        text.push(b':');
        text.extend_from_slice(value);
        text.push(b'\n');
    }
    text.push(b'\n');
    names(request, text);
    text.push(b'\n');
    text.extend_from_slice(request.payload);
}

fn names(request: &Canonical<'_>, text: &mut Vec<u8>) {
    for (number, (name, _)) in request.headers.iter().enumerate() {
        if number > 0 {
            text.push(b';');
        }
        text.extend_from_slice(name.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of "Signature Calculations for the Authorization Header" in the Amazon S3 API
    /// Reference.
    #[test]
    fn examples_of_the_documentation_have_the_same_signatures() {
        let credentials = Credentials {
            key: "AKIAIOSFODNN7EXAMPLE".to_owned(),
            secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned(),
            token: None,
        };
        let mut signer = Signer::new(credentials, "us-east-1");
        let date = Date::of_unix(1_369_353_600);
        let host: (&str, &[u8]) = ("host", b"examplebucket.s3.amazonaws.com");
        let empty: (&str, &[u8]) = ("x-amz-content-sha256", EMPTY_SHA256);
        let stamp: (&str, &[u8]) = ("x-amz-date", b"20130524T000000Z");
        let welcome = b"44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072";
        let mut hash = Vec::new();
        payload_hash(b"Welcome to Amazon S3.", &mut hash);
        assert_eq!(hash, welcome);
        let put: [(&str, &[u8]); 5] = [
            ("date", b"Fri, 24 May 2013 00:00:00 GMT"),
            host,
            ("x-amz-content-sha256", welcome),
            stamp,
            ("x-amz-storage-class", b"REDUCED_REDUNDANCY"),
        ];
        let get: [(&str, &[u8]); 4] = [host, ("range", b"bytes=0-9"), empty, stamp];
        let list: [(&str, &[u8]); 3] = [host, empty, stamp];
        for (method, path, query, headers, signature) in [
            (
                "GET",
                "/test.txt",
                "",
                &get[..],
                "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
            ),
            (
                "PUT",
                "/test%24file.text",
                "",
                &put[..],
                "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
            ),
            (
                "GET",
                "/",
                "lifecycle=",
                &list[..],
                "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
            ),
            (
                "GET",
                "/",
                "max-keys=2&prefix=J",
                &list[..],
                "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
            ),
        ] {
            let payload = if method == "PUT" {
                &welcome[..]
            } else {
                EMPTY_SHA256
            };
            let canonical = Canonical {
                method: method.as_bytes(),
                path: path.as_bytes(),
                query: query.as_bytes(),
                headers,
                payload,
            };
            let mut out = Vec::new();
            signer.authorize(&canonical, date, &mut out);
            let out = String::from_utf8(out).unwrap();
            assert!(
                out.ends_with(&format!(",Signature={signature}")),
                "{path}: {out}"
            );
            assert!(out.starts_with(
                "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/\
                 aws4_request,SignedHeaders="
            ));
        }
    }

    #[test]
    fn debug_output_hides_keys() {
        let credentials = Credentials {
            key: "AKIA".to_owned(),
            secret: "hidden-secret".to_owned(),
            token: Some("hidden-token".to_owned()),
        };
        let shown = format!("{:?}", Signer::new(credentials, "r"));
        assert!(!shown.contains("hidden"), "{shown}");
    }
}
