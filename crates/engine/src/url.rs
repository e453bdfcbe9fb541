//! The URL of a target that no kernel mounts: `nfs://host[:port]/export/path[?parameters]`.
//!
//! Its text is a path to whoever only passes it on: names that a run makes are joined to the end of
//! a URL without parameters ([`ServerUrl::bare`]). The parameters say how a server is spoken to,
//! not which directory is meant; whoever speaks to the server has them from the target
//! ([`ServerUrl::leads_to`]).

use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// What the text of a URL begins with.
const SCHEME: &str = "nfs://";
/// What a parameter may be, for whoever gave another.
const PARAMETERS: &str = "uid, gid, mountport, nconnect, privport, timeout";

/// A directory of an NFS server, and how the server is spoken to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ServerUrl {
    /// A name, an IPv4 address, or an IPv6 address without its brackets.
    pub host: String,
    /// The port of the NFS service; `None` asks the server's port mapper.
    pub port: Option<u16>,
    /// The port of the MOUNT service; `None` asks the server's port mapper.
    pub mount_port: Option<u16>,
    /// The directory's path on the server, decoded: `/`, or names that each have a slash before
    /// them.
    pub path: Vec<u8>,
    /// The user as whom calls are made; `None` is the user of this process.
    pub uid: Option<u32>,
    /// The group as which calls are made; `None` is the group of this process.
    pub gid: Option<u32>,
    /// How many connections a session has.
    pub connections: u32,
    /// Whether connections leave from a port below 1024, which takes a right.
    pub privileged: bool,
    /// How long a reply is waited for, and a server that is gone, in seconds; `None` leaves that
    /// to the storage.
    pub timeout_s: Option<u32>,
}

/// A text that is no URL of a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServerUrlError {
    /// It begins otherwise.
    #[error("expected nfs://host[:port]/export/path")]
    Scheme,
    /// No host, or one with characters that none has.
    #[error(
        "invalid host '{0}' (expected a name, an IPv4 address, or an IPv6 address in brackets)"
    )]
    Host(String),
    /// No number of a port.
    #[error("invalid value '{text}' for {parameter}: expected a number from 1 to 65535")]
    Port {
        /// Which one.
        parameter: &'static str,
        /// What was given.
        text: String,
    },
    /// Nothing behind the host.
    #[error("no directory (expected nfs://host[:port]/export/path)")]
    NoPath,
    /// A name that leads elsewhere, or bytes that no name has.
    #[error("invalid path: {0}")]
    Path(&'static str),
    /// A parameter that there is not.
    #[error("unknown parameter '{0}' (expected {PARAMETERS})")]
    Unknown(String),
    /// A parameter more than once.
    #[error("parameter {0} is given twice")]
    Repeated(&'static str),
    /// A parameter whose value is not of its kind.
    #[error("invalid value '{text}' for {parameter}: expected {expected}")]
    Value {
        /// Which one.
        parameter: &'static str,
        /// What was given.
        text: String,
        /// What would be right.
        expected: &'static str,
    },
}

impl ServerUrl {
    /// More connections of a session than anybody needs are a mistake.
    pub const CONNECTIONS_MAX: u32 = 16;
    /// Nobody waits longer for a reply.
    pub const TIMEOUT_S_MAX: u32 = 3600;

    /// Whether a path is the URL of a server: nothing that the kernel finds.
    pub fn is_one(path: &Path) -> bool {
        path.as_os_str().as_bytes().starts_with(SCHEME.as_bytes())
    }

    /// The URL without its parameters: other names can be joined to its end.
    pub fn bare(&self) -> PathBuf {
        let bare = Self {
            host: self.host.clone(),
            port: self.port,
            path: self.path.clone(),
            ..Self::of_host(String::new())
        };
        bare.to_string().into()
    }

    /// A directory in this one, or a path of names below it, with the same parameters.
    #[must_use]
    pub fn below(&self, name: &[u8]) -> Self {
        let mut below = self.clone();
        if below.path != b"/" {
            below.path.push(b'/');
        }
        below.path.extend_from_slice(name);
        below
    }

    /// Whether another URL is of this directory or of one below it, whatever the parameters.
    pub fn leads_to(&self, other: &Self) -> bool {
        let above = self.path.strip_suffix(b"/").unwrap_or(&self.path);
        let rest = other.path.strip_prefix(above);
        (&self.host, self.port) == (&other.host, other.port)
            && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    }

    /// The same directory, spoken to as another one is.
    #[must_use]
    pub fn with_parameters_of(&self, other: &Self) -> Self {
        Self {
            host: self.host.clone(),
            port: self.port,
            path: self.path.clone(),
            ..other.clone()
        }
    }

    fn of_host(host: String) -> Self {
        Self {
            host,
            port: None,
            mount_port: None,
            path: Vec::new(),
            uid: None,
            gid: None,
            connections: 1,
            privileged: false,
            timeout_s: None,
        }
    }

    /// The URL that bytes are, which need not be text.
    fn parse(bytes: &[u8]) -> Result<Self, ServerUrlError> {
        let rest = bytes
            .strip_prefix(SCHEME.as_bytes())
            .ok_or(ServerUrlError::Scheme)?;
        let (rest, parameters) = split(rest, b'?');
        let end = rest
            .iter()
            .position(|byte| *byte == b'/')
            .unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let mut url = authority_of(&String::from_utf8_lossy(authority))?;
        url.path = path_of(path)?;
        let parameters = String::from_utf8_lossy(parameters.unwrap_or_default());
        let mut seen = Vec::new();
        for parameter in parameters.split('&').filter(|text| !text.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let name = url.set(name, value)?;
            if seen.contains(&name) {
                return Err(ServerUrlError::Repeated(name));
            }
            seen.push(name);
        }
        Ok(url)
    }

    /// Takes a parameter, and gives its name.
    fn set(&mut self, name: &str, value: &str) -> Result<&'static str, ServerUrlError> {
        let wrong = |parameter, expected| ServerUrlError::Value {
            parameter,
            text: value.to_owned(),
            expected,
        };
        let id = |parameter| {
            number(value).ok_or_else(|| wrong(parameter, "a number from 0 to 4294967295"))
        };
        Ok(match name {
            "uid" => {
                self.uid = Some(id("uid")?);
                "uid"
            }
            "gid" => {
                self.gid = Some(id("gid")?);
                "gid"
            }
            "mountport" => {
                self.mount_port = Some(port("mountport", value)?);
                "mountport"
            }
            "nconnect" => {
                let connections =
                    number(value).filter(|count| (1..=Self::CONNECTIONS_MAX).contains(count));
                self.connections =
                    connections.ok_or_else(|| wrong("nconnect", "a number from 1 to 16"))?;
                "nconnect"
            }
            "privport" => {
                self.privileged = match value {
                    "1" | "true" => true,
                    "0" | "false" => false,
                    _ => return Err(wrong("privport", "0 or 1")),
                };
                "privport"
            }
            "timeout" => {
                let seconds =
                    number(value).filter(|seconds| (1..=Self::TIMEOUT_S_MAX).contains(seconds));
                self.timeout_s = Some(
                    seconds
                        .ok_or_else(|| wrong("timeout", "a number of seconds from 1 to 3600"))?,
                );
                "timeout"
            }
            _ => return Err(ServerUrlError::Unknown(name.to_owned())),
        })
    }
}

fn split(bytes: &[u8], at: u8) -> (&[u8], Option<&[u8]>) {
    match bytes.iter().position(|byte| *byte == at) {
        Some(end) => (&bytes[..end], Some(&bytes[end + 1..])),
        None => (bytes, None),
    }
}

/// Digits alone: `parse` would take a sign, too.
fn number(text: &str) -> Option<u32> {
    text.bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| text.parse().ok())
        .flatten()
}

fn port(parameter: &'static str, text: &str) -> Result<u16, ServerUrlError> {
    let found = number(text).and_then(|number| u16::try_from(number).ok());
    found
        .filter(|port| *port > 0)
        .ok_or_else(|| ServerUrlError::Port {
            parameter,
            text: text.to_owned(),
        })
}

/// Host and port.
fn authority_of(text: &str) -> Result<ServerUrl, ServerUrlError> {
    let wrong = || ServerUrlError::Host(text.to_owned());
    let (host, behind) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, behind) = rest.split_once(']').ok_or_else(wrong)?;
            host.parse::<core::net::Ipv6Addr>().map_err(|_| wrong())?;
            (host, behind)
        }
        None => {
            let end = text.find(':').unwrap_or(text.len());
            let (host, behind) = text.split_at(end);
            let is_of_a_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
            if host.is_empty() || !host.bytes().all(is_of_a_name) {
                return Err(wrong());
            }
            (host, behind)
        }
    };
    let mut url = ServerUrl::of_host(host.to_owned());
    if !behind.is_empty() {
        url.port = Some(port("port", behind.strip_prefix(':').ok_or_else(wrong)?)?);
    }
    Ok(url)
}

/// The decoded path, with one slash before each name and none at its end.
fn path_of(encoded: &[u8]) -> Result<Vec<u8>, ServerUrlError> {
    if encoded.is_empty() {
        return Err(ServerUrlError::NoPath);
    }
    let mut path = Vec::with_capacity(encoded.len());
    for part in encoded
        .split(|byte| *byte == b'/')
        .filter(|part| !part.is_empty())
    {
        let name = decoded(part)?;
        match name.as_slice() {
            b"." | b".." => return Err(ServerUrlError::Path("it has a name that is '.' or '..'")),
            name if name.contains(&b'/') || name.contains(&0) => {
                return Err(ServerUrlError::Path("a name has an encoded '/' or NUL"));
            }
            name => {
                path.push(b'/');
                path.extend_from_slice(name);
            }
        }
    }
    if path.is_empty() {
        path.push(b'/');
    }
    Ok(path)
}

fn decoded(part: &[u8]) -> Result<Vec<u8>, ServerUrlError> {
    let mut name = Vec::with_capacity(part.len());
    let mut bytes = part.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'#' => return Err(ServerUrlError::Path("'#' must be written as %23")),
            b'%' => {
                let mut digit = || bytes.next().and_then(|byte| char::from(*byte).to_digit(16));
                let (Some(high), Some(low)) = (digit(), digit()) else {
                    return Err(ServerUrlError::Path(
                        "'%' takes two hexadecimal digits ('%' itself is %25)",
                    ));
                };
                name.push((high * 16 + low) as u8);
            }
            other => name.push(*other),
        }
    }
    Ok(name)
}

impl FromStr for ServerUrl {
    type Err = ServerUrlError;

    fn from_str(text: &str) -> Result<Self, ServerUrlError> {
        Self::parse(text.as_bytes())
    }
}

impl TryFrom<&Path> for ServerUrl {
    type Error = ServerUrlError;

    fn try_from(path: &Path) -> Result<Self, ServerUrlError> {
        Self::parse(path.as_os_str().as_bytes())
    }
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "{SCHEME}[{}]", self.host)?,
            false => write!(f, "{SCHEME}{}", self.host)?,
        }
        if let Some(port) = self.port {
            write!(f, ":{port}")?;
        }
        for byte in &self.path {
            match byte {
                byte if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/".contains(byte) => {
                    write!(f, "{}", char::from(*byte))?;
                }
                byte => write!(f, "%{byte:02X}")?,
            }
        }
        let parameters = [
            ("uid", self.uid),
            ("gid", self.gid),
            ("mountport", self.mount_port.map(u32::from)),
            (
                "nconnect",
                (self.connections != 1).then_some(self.connections),
            ),
            ("privport", self.privileged.then_some(1)),
            ("timeout", self.timeout_s),
        ];
        let given = parameters
            .iter()
            .filter_map(|(name, value)| value.map(|value| (name, value)));
        for (number, (name, value)) in given.enumerate() {
            let mark = if number == 0 { '?' } else { '&' };
            write!(f, "{mark}{name}={value}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_written_as_it_was_read() {
        for text in [
            "nfs://server/",
            "nfs://server/export",
            "nfs://10.0.0.1:12049/export/a",
            "nfs://[::1]:2049/export",
            "nfs://server/with%20blank%25/%C3%A9?uid=0&gid=7&mountport=12050&nconnect=4&\
             privport=1&timeout=5",
        ] {
            assert_eq!(text.parse::<ServerUrl>().unwrap().to_string(), text);
        }
        let url: ServerUrl = "nfs://server//export//a/?privport=0&nconnect=1"
            .parse()
            .unwrap();
        assert_eq!(url.to_string(), "nfs://server/export/a");
        let url: ServerUrl = "nfs://server/b%2e%63?mountport=7&uid=3".parse().unwrap();
        assert_eq!(
            (url.path.as_slice(), url.mount_port, url.uid),
            (&b"/b.c"[..], Some(7), Some(3))
        );
    }

    #[test]
    fn other_texts_are_refused_with_what_would_be_right() {
        for (text, words) in [
            ("/mnt/disk", "expected nfs://"),
            ("nfs://server", "no directory"),
            ("nfs:///export", "invalid host"),
            ("nfs://user@server/export", "invalid host"),
            ("nfs://[::1/export", "invalid host"),
            ("nfs://[server]/export", "invalid host"),
            ("nfs://server:0/export", "from 1 to 65535"),
            ("nfs://server:+1/export", "from 1 to 65535"),
            ("nfs://server:/export", "from 1 to 65535"),
            ("nfs://server/a/../b", "'.' or '..'"),
            ("nfs://server/a/%2e%2E/b", "'.' or '..'"),
            ("nfs://server/a%2fb", "an encoded '/'"),
            ("nfs://server/a%00", "NUL"),
            ("nfs://server/a%2", "two hexadecimal digits"),
            ("nfs://server/a#b", "%23"),
            (
                "nfs://server/a?rsize=7",
                "unknown parameter 'rsize' (expected uid, gid",
            ),
            ("nfs://server/a?uid=1&uid=1", "parameter uid is given twice"),
            ("nfs://server/a?uid=-1", "a number from 0 to 4294967295"),
            ("nfs://server/a?uid", "a number from 0"),
            ("nfs://server/a?nconnect=17", "a number from 1 to 16"),
            ("nfs://server/a?privport=yes", "0 or 1"),
            ("nfs://server/a?timeout=0", "from 1 to 3600"),
            ("nfs://server/a?mountport=65536", "from 1 to 65535"),
        ] {
            let said = text.parse::<ServerUrl>().unwrap_err().to_string();
            assert!(said.contains(words), "{text}: {said}");
        }
    }

    #[test]
    fn names_are_joined_where_there_are_no_parameters() {
        let url: ServerUrl = "nfs://server:7/a%20b?uid=3".parse().unwrap();
        assert_eq!(
            url.bare().join("c").to_str(),
            Some("nfs://server:7/a%20b/c")
        );
        assert_eq!(
            url.below(b"c/d").to_string(),
            "nfs://server:7/a%20b/c/d?uid=3"
        );
        let root: ServerUrl = "nfs://server:7/".parse().unwrap();
        assert_eq!(root.below(b"c").to_string(), "nfs://server:7/c");
        let joined = ServerUrl::try_from(url.bare().join("c").as_path()).unwrap();
        assert_eq!(joined.with_parameters_of(&url), url.below(b"c"));
        assert!(ServerUrl::is_one(&url.bare()) && !ServerUrl::is_one(Path::new("/nfs://x")));
    }

    #[test]
    fn a_directory_leads_to_what_is_below_it() {
        let url = |text: &str| text.parse::<ServerUrl>().unwrap();
        let above = url("nfs://server/a?uid=3");
        for (other, leads) in [
            ("nfs://server/a", true),
            ("nfs://server/a/b?uid=4", true),
            ("nfs://server/ab", false),
            ("nfs://server:2049/a", false),
            ("nfs://another/a", false),
            ("nfs://server/", false),
        ] {
            assert_eq!(above.leads_to(&url(other)), leads, "{other}");
        }
        assert!(url("nfs://server/").leads_to(&url("nfs://server/a")));
    }
}
