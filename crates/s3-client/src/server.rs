//! A bucket at an endpoint, with the settings of requests: addresses, credentials and time limits.

use core::net::SocketAddr;
use core::time::Duration;
use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;

use rustix::io::Errno;

use crate::credentials::Credentials;
use crate::error::ServerError;
use crate::tls;

/// How requests name the bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// In the path: `http://host/bucket/key`.
    #[default]
    Path,
    /// In the host: `http://bucket.host/key`.
    Virtual,
}

/// The address of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// A name, an IPv4 address, or an IPv6 address in brackets.
    pub host: String,
    /// The port; 80 by default, 443 with encryption.
    pub port: u16,
    /// Whether connections are encrypted by TLS (`https://`).
    pub is_encrypted: bool,
}

const fn default_port(is_encrypted: bool) -> u16 {
    if is_encrypted { 443 } else { 80 }
}

impl Endpoint {
    /// Parses a URL like `http://host:9000`.
    ///
    /// # Errors
    /// Returns an error if `text` is not such a URL.
    pub fn parse(text: &str) -> Result<Self, ServerError> {
        let wrong = || ServerError::Endpoint(text.to_owned());
        let encrypted = text.strip_prefix("https://");
        let is_encrypted = encrypted.is_some();
        let plain = || text.strip_prefix("http://");
        let authority = encrypted.or_else(plain).ok_or_else(wrong)?;
        let authority = authority.strip_suffix('/').unwrap_or(authority);
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => {
                let is_number = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
                let port = is_number.then(|| port.parse().ok()).flatten();
                (host, port.filter(|port| *port > 0).ok_or_else(wrong)?)
            }
            _ => (authority, default_port(is_encrypted)),
        };
        let is_address = match host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'))
        {
            Some(inner) => inner.parse::<core::net::Ipv6Addr>().is_ok(),
            None => {
                let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
                !host.is_empty() && host.bytes().all(is_part)
            }
        };
        match is_address {
            true => Ok(Self {
                host: host.to_owned(),
                port,
                is_encrypted,
            }),
            false => Err(wrong()),
        }
    }

    fn resolve(&self, prefix: &str) -> Result<Vec<SocketAddr>, ServerError> {
        let host = format!("{prefix}{}", self.host);
        let plain = without_brackets(&host);
        let error = |why: String| ServerError::Resolve {
            host: host.clone(),
            why,
        };
        let found = (plain, self.port).to_socket_addrs();
        let found: Vec<SocketAddr> = found.map_err(|why| error(why.to_string()))?.collect();
        match found.is_empty() {
            true => Err(error("it has no address".to_owned())),
            false => Ok(found),
        }
    }
}

/// A bucket at an endpoint, with the settings of requests: addresses, credentials and time limits.
#[derive(Clone, Debug)]
pub struct Server {
    /// The value of the header `Host`.
    pub(crate) host: String,
    addresses: Vec<SocketAddr>,
    /// The settings of encrypted connections; `None` for connections without encryption.
    pub(crate) tls: Option<tls::Settings>,
    /// The bucket's name.
    pub bucket: String,
    /// How requests name the bucket.
    pub style: Style,
    /// The region for which requests are signed.
    pub region: String,
    /// The keys with which requests are signed.
    pub credentials: Credentials,
    /// Whether signatures cover the bodies of requests, which are then hashed.
    pub signs_payload: bool,
    /// The time limit for connecting, and for each answer. An answer may take one second longer for
    /// each MiB in the request or in the answer.
    pub timeout: Duration,
}

impl Server {
    /// Resolves the endpoint's host. Certificates of encrypted connections are checked against
    /// those of the file `authorities`, else against those of the system.
    ///
    /// # Errors
    /// Returns an error if the host's name cannot be resolved, or if there are no certificates of
    /// authorities.
    pub fn new(
        endpoint: &Endpoint,
        bucket: &str,
        style: Style,
        region: &str,
        credentials: Credentials,
        authorities: Option<&Path>,
    ) -> Result<Self, ServerError> {
        let prefix = match style {
            Style::Path => String::new(),
            Style::Virtual => format!("{bucket}."),
        };
        let name = format!("{prefix}{}", endpoint.host);
        let host = match endpoint.port {
            port if port == default_port(endpoint.is_encrypted) => name.clone(),
            port => format!("{name}:{port}"),
        };
        let tls = match endpoint.is_encrypted {
            true => Some(tls::Settings::new(without_brackets(&name), authorities)?),
            false => None,
        };
        Ok(Self {
            addresses: endpoint.resolve(&prefix)?,
            tls,
            host,
            bucket: bucket.to_owned(),
            style,
            region: region.to_owned(),
            credentials,
            signs_payload: false,
            timeout: Duration::from_secs(20),
        })
    }

    /// The address that is tried first.
    pub fn address(&self) -> SocketAddr {
        self.addresses[0]
    }

    pub(crate) fn connect(&self) -> Result<TcpStream, Errno> {
        let mut last = Errno::HOSTUNREACH;
        for address in &self.addresses {
            match TcpStream::connect_timeout(address, self.timeout) {
                Ok(stream) => return Ok(stream),
                Err(error) if error.kind() == std::io::ErrorKind::TimedOut => {
                    last = Errno::TIMEDOUT
                }
                Err(error) => last = Errno::from_io_error(&error).unwrap_or(Errno::IO),
            }
        }
        Err(last)
    }

    /// The time limit for an exchange of this number of bytes.
    pub fn limit(&self, bytes: u64) -> Duration {
        self.timeout + Duration::from_secs(bytes >> 20)
    }
}

/// Removes the brackets around an IPv6 address.
fn without_brackets(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_parsed() {
        for (text, host, port) in [
            ("http://host:9000", "host", 9000),
            ("http://10.0.0.1/", "10.0.0.1", 80),
            ("http://[::1]:7", "[::1]", 7),
            ("http://[::1]", "[::1]", 80),
            ("https://host", "host", 443),
            ("https://host:9000", "host", 9000),
        ] {
            let endpoint = Endpoint::parse(text).unwrap();
            assert_eq!(
                (endpoint.host.as_str(), endpoint.port),
                (host, port),
                "{text}"
            );
        }
        for (text, words) in [
            ("host:9000", "expected http://"),
            ("http://", "expected http://"),
            ("http://user@host", "expected http://"),
            ("http://host/path", "expected http://"),
            ("http://host:0", "expected http://"),
            ("http://host:+1", "expected http://"),
            ("http://host:65536", "expected http://"),
            ("http://[::1", "expected http://"),
            ("https://", "expected http://"),
            ("HTTPS://host", "expected http://"),
        ] {
            let refused = Endpoint::parse(text).unwrap_err().to_string();
            assert!(refused.contains(words), "{text}: {refused}");
        }
    }

    #[test]
    fn bucket_is_part_of_the_host_in_virtual_style() {
        let credentials = Credentials {
            key: "k".to_owned(),
            secret: "s".to_owned(),
            token: None,
        };
        let endpoint = Endpoint::parse("http://127.0.0.1:81").unwrap();
        let path =
            Server::new(&endpoint, "b", Style::Path, "r", credentials.clone(), None).unwrap();
        assert_eq!(
            (path.host.as_str(), path.address().port()),
            ("127.0.0.1:81", 81)
        );
        let unknown =
            Server::new(&endpoint, "b", Style::Virtual, "r", credentials, None).unwrap_err();
        assert!(unknown.to_string().contains("b.127.0.0.1"), "{unknown}");
    }
}
