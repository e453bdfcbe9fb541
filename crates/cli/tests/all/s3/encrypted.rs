//! Encrypted connections to versitygw, with certificates that openssl makes.

use std::path::{Path, PathBuf};

use crate::support::{TestDir, is_met, tool};

use super::store::{Store, is_program};
use super::{MIX, perform};

/// An authority, whose certificates the tests give to servers.
pub struct Authority {
    test_dir: TestDir,
}

/// Extensions of a certificate for the address of the tests' servers.
const OF_LOOPBACK: &str = "subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n";

impl Authority {
    /// `None` if openssl is not installed.
    pub fn new() -> Option<Self> {
        is_met(is_program("openssl"), "openssl").then(|| {
            let made = Self {
                test_dir: TestDir::in_memory(),
            };
            let [key, certificate] = ["key", "pem"].map(|kind| made.path("authority", kind));
            made.openssl(&format!(
                "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=authority \
                 -days 2 -keyout {} -out {}",
                key.display(),
                certificate.display()
            ));
            made
        })
    }

    fn openssl(&self, options: &str) {
        let options: Vec<&str> = options.split_whitespace().collect();
        tool("openssl", &options);
    }

    fn path(&self, name: &str, kind: &str) -> PathBuf {
        self.test_dir.path().join(format!("{name}.{kind}"))
    }

    /// The authority's own certificate and key.
    pub fn own(&self) -> (PathBuf, PathBuf) {
        (self.path("authority", "pem"), self.path("authority", "key"))
    }

    /// Makes a certificate and its key.
    pub fn sign(&self, name: &str, extensions: &str, days: i32) -> (PathBuf, PathBuf) {
        let [key, request, certificate, file] =
            ["key", "csr", "pem", "ext"].map(|kind| self.path(name, kind));
        std::fs::write(&file, extensions).unwrap();
        let (authority, authority_key) = self.own();
        self.openssl(&format!(
            "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN={name} -keyout {} \
             -out {}",
            key.display(),
            request.display()
        ));
        self.openssl(&format!(
            "x509 -req -in {} -CA {} -CAkey {} -CAcreateserial -days {days} -extfile {} -out {}",
            request.display(),
            authority.display(),
            authority_key.display(),
            file.display(),
            certificate.display()
        ));
        (certificate, key)
    }
}

/// Starts versitygw with a certificate and its key. Runs on this server trust the authorities in
/// the file `trusted`.
fn encrypted(of: &(PathBuf, PathBuf), trusted: &Path) -> Option<Store> {
    let options = [
        format!("--cert={}", of.0.display()),
        format!("--key={}", of.1.display()),
    ];
    let store = Store::versitygw_with(&options, "https")?;
    Some(store.with_variable("AWS_CA_BUNDLE", trusted.to_str().unwrap()))
}

#[test]
fn every_operation_is_performed_on_encrypted_connections() {
    let Some(authority) = Authority::new() else {
        return;
    };
    let of = authority.sign("server", OF_LOOPBACK, 2);
    let Some(store) = encrypted(&of, &authority.own().0) else {
        return;
    };
    for (depth, workers) in [(1, 1), (8, 2)] {
        perform(
            &store,
            &format!(
                "{MIX} --files 60 --dirs subdirs:3 --size 1..12000 --transactions 400 \
                 --workers {workers} --depth {depth} --verify"
            ),
        );
    }
    let store = store.with_parameters("&part=5");
    // Bodies that exceed the buffers of sockets and of the encryption.
    perform(
        &store,
        "--mix create=1,read=2,replace=1,delete=1 --files 3 --size 6MiB..11MiB --depth 2 \
         --transactions 12 --verify",
    );
    assert_eq!(store.keys(), [""; 0]);
}

fn refused(store: &Store, words: &str) {
    let ended = store.start("--mix create=1 --files 5 --transactions 5");
    ended.finish().code(2).shows(words);
}

#[test]
fn wrong_certificates_are_refused_with_a_remedy() {
    let Some(authority) = Authority::new() else {
        return;
    };
    let other = Authority::new().unwrap();
    let trusted = authority.own().0;
    let of_name = OF_LOOPBACK.replace("IP:127.0.0.1", "DNS:other.example");
    for (of, words) in [
        (
            authority.sign("name", &of_name, 2),
            "is for another name (use one of its names in the endpoint)",
        ),
        (
            authority.sign("old", OF_LOOPBACK, -1),
            "has expired (renew it, or set this machine's clock)",
        ),
        (other.sign("server", OF_LOOPBACK, 2), "by AWS_CA_BUNDLE"),
        (authority.own(), "is that of an authority"),
    ] {
        let Some(store) = encrypted(&of, &trusted) else {
            return;
        };
        refused(&store, words);
    }
}

#[test]
fn endpoint_must_match_the_encryption_of_the_server() {
    let Some(authority) = Authority::new() else {
        return;
    };
    let (trusted, nothing) = (authority.own().0, "/nonexistent/authorities.pem");
    let Some(plain) = Store::versitygw() else {
        return;
    };
    let plain = plain.with_scheme("https");
    let plain = plain.with_variable("AWS_CA_BUNDLE", trusted.to_str().unwrap());
    refused(&plain, "does not speak TLS (use an http:// endpoint)");
    let plain = plain.with_variable("AWS_CA_BUNDLE", nothing);
    refused(&plain, &format!("cannot read certificates of {nothing}"));
    let of = authority.sign("server", OF_LOOPBACK, 2);
    let store = encrypted(&of, &trusted).unwrap().with_scheme("http");
    refused(&store, "if it speaks TLS, use an https:// endpoint");
}
