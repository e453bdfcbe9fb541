//! URLs of targets on servers that engines call themselves:
//! `scheme://host[:port]/path[?parameters]`. Engines define schemes and parameters ([`UrlSyntax`]).
//!
//! The text of a URL is used as a path: a run appends names to a URL without parameters
//! ([`Url::bare`]). Parameters describe how to call the server and do not identify the directory.
//! For a URL without parameters, the engine uses the parameters of the target that contains the
//! directory ([`Url::leads_to`]).

use std::fmt;
use std::ops::RangeInclusive;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The permitted values of a parameter.
#[derive(Debug, PartialEq, Eq, Hash)]
pub enum Values {
    /// Numbers in this range, and a description of the range for messages.
    Numbers(RangeInclusive<u32>, &'static str),
    /// A boolean: 0 or 1.
    Flag,
    /// One of these words, and a description of the words for messages. The parameter's value is
    /// the index of the word.
    Words(&'static [&'static str], &'static str),
    /// A text of printable ASCII characters, and a description of the text for messages.
    Text(&'static str),
}

/// The value of a parameter in a URL. A flag is the number 0 or 1, and a word is the number of its
/// index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Value {
    Number(u32),
    Text(String),
}

/// A parameter that URLs of an engine accept.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct UrlParameter {
    /// The name before `=` in URLs, such as `nconnect`.
    pub name: &'static str,
    /// The permitted values; others are rejected with [`UrlError::Value`].
    pub values: Values,
    /// The default value, which printed URLs omit; `None` if the parameter has no default value.
    pub default: Option<u32>,
}

/// Determines how an engine's URLs are parsed and printed, with texts for messages about invalid
/// URLs.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct UrlSyntax {
    /// The scheme, which precedes `://`, such as `nfs`.
    pub scheme: &'static str,
    /// The general form of URLs for messages, such as `nfs://host[:port]/export/path`.
    pub form: &'static str,
    /// An example for messages, such as `nfs://server/export/path`.
    pub example: &'static str,
    /// Whether a URL without a path is rejected; otherwise its path is `/`.
    pub needs_path: bool,
    /// The parameters, in the order in which they are printed.
    pub parameters: &'static [UrlParameter],
}

impl UrlSyntax {
    /// Returns the part after `://` if the path is a URL of this scheme.
    fn rest_of<'a>(&self, path: &'a [u8]) -> Option<&'a [u8]> {
        let rest = path.strip_prefix(self.scheme.as_bytes())?;
        rest.strip_prefix(b"://")
    }

    /// Whether a path is a URL of this scheme, and therefore not a path of a mounted file system.
    pub fn matches(&self, path: &Path) -> bool {
        self.rest_of(path.as_os_str().as_bytes()).is_some()
    }

    /// Parses a URL of this scheme.
    ///
    /// # Errors
    /// Returns an error that describes the invalid part of the URL.
    pub fn parse(&'static self, path: &Path) -> Result<Url, UrlError> {
        let bytes = path.as_os_str().as_bytes();
        let rest = self.rest_of(bytes).ok_or(UrlError::Scheme(self.form))?;
        let (rest, parameters) = split(rest, b'?');
        let end = rest
            .iter()
            .position(|byte| *byte == b'/')
            .unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let (host, port) = authority_of(&String::from_utf8_lossy(authority))?;
        if path.is_empty() && self.needs_path {
            return Err(UrlError::NoPath(self.form));
        }
        let mut url = Url {
            syntax: self,
            host,
            port,
            path: path_of(path)?,
            values: vec![None; self.parameters.len()],
        };
        let parameters = String::from_utf8_lossy(parameters.unwrap_or_default());
        let mut seen = Vec::new();
        for parameter in parameters.split('&').filter(|text| !text.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let index = self.index(name).ok_or_else(|| UrlError::Unknown {
                text: name.to_owned(),
                expected: self.names(),
            })?;
            let known = &self.parameters[index];
            let value = known.parse(value)?;
            let is_default =
                matches!(value, Value::Number(number) if known.default == Some(number));
            url.values[index] = Some(value).filter(|_| !is_default);
            if seen.contains(&index) {
                return Err(UrlError::Repeated(known.name));
            }
            seen.push(index);
        }
        Ok(url)
    }

    fn index(&self, name: &str) -> Option<usize> {
        self.parameters.iter().position(|known| known.name == name)
    }

    fn names(&self) -> String {
        let names: Vec<&str> = self.parameters.iter().map(|known| known.name).collect();
        names.join(", ")
    }
}

impl UrlParameter {
    fn parse(&self, text: &str) -> Result<Value, UrlError> {
        let wrong = |expected| UrlError::Value {
            parameter: self.name,
            text: text.to_owned(),
            expected,
        };
        match &self.values {
            Values::Numbers(range, expected) => number(text)
                .filter(|number| range.contains(number))
                .map(Value::Number)
                .ok_or_else(|| wrong(expected)),
            Values::Flag => match text {
                "1" | "true" => Ok(Value::Number(1)),
                "0" | "false" => Ok(Value::Number(0)),
                _ => Err(wrong("0 or 1")),
            },
            Values::Words(words, expected) => match words.iter().position(|word| *word == text) {
                Some(index) => Ok(Value::Number(index as u32)),
                None => Err(wrong(expected)),
            },
            Values::Text(expected) => {
                let text = decoded(text.as_bytes())?;
                let is_sound = !text.is_empty() && text.iter().all(u8::is_ascii_graphic);
                let text = String::from_utf8(text).ok().filter(|_| is_sound);
                text.map(Value::Text).ok_or_else(|| wrong(expected))
            }
        }
    }

    fn show(&self, f: &mut fmt::Formatter<'_>, value: &Value) -> fmt::Result {
        match (&self.values, value) {
            (_, Value::Text(text)) => encode(f, text.as_bytes(), b"-._~!$'()*+,;=:@/"),
            (Values::Words(words, _), Value::Number(index)) => f.write_str(words[*index as usize]),
            (_, Value::Number(number)) => write!(f, "{number}"),
        }
    }
}

/// A directory on a server, and the parameters of the connection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Url {
    syntax: &'static UrlSyntax,
    /// A name, an IPv4 address, or an IPv6 address without brackets.
    pub host: String,
    /// The port of the service; `None` lets the engine choose it.
    pub port: Option<u16>,
    /// The directory's decoded path on the server: `/`, or names that are each preceded by a slash.
    pub path: Vec<u8>,
    /// The values of parameters, in the order of [`UrlSyntax::parameters`]; `None` for default
    /// values.
    values: Vec<Option<Value>>,
}

/// The reason why a text is not a valid URL of an engine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// The text does not start with the scheme.
    #[error("expected {0}")]
    Scheme(&'static str),
    /// The host is missing or contains invalid characters.
    #[error(
        "invalid host '{0}' (expected a name, an IPv4 address, or an IPv6 address in brackets)"
    )]
    Host(String),
    /// The URL has no path, although its scheme requires one ([`UrlSyntax::needs_path`]).
    #[error("no directory (expected {0})")]
    NoPath(&'static str),
    /// The path contains `.`, `..` or invalid bytes.
    #[error("invalid path: {0}")]
    Path(&'static str),
    /// The URL's scheme has no parameter with this name.
    #[error("unknown parameter '{text}' (expected {expected})")]
    Unknown {
        /// The text before `=` in the URL.
        text: String,
        /// The names of the valid parameters.
        expected: String,
    },
    /// The parameter occurs more than once, as in `?uid=1&uid=2`.
    #[error("parameter {0} is given twice")]
    Repeated(&'static str),
    /// The value is not one of the parameter's [`Values`].
    #[error("invalid value '{text}' for {parameter}: expected {expected}")]
    Value {
        /// The name of the parameter, such as `nconnect`.
        parameter: &'static str,
        /// The text after `=` in the URL.
        text: String,
        /// A description of valid values, such as `a number from 1 to 16`.
        expected: &'static str,
    },
}

impl Url {
    /// Returns the value of a numeric parameter: the number in the URL, or else the parameter's
    /// default. `None` if there is neither, if the value is a text, or if the name is unknown.
    pub fn parameter(&self, name: &str) -> Option<u32> {
        let index = self.syntax.index(name)?;
        match self.values[index] {
            Some(Value::Number(number)) => Some(number),
            Some(Value::Text(_)) => None,
            None => self.syntax.parameters[index].default,
        }
    }

    /// Returns the text that the URL contains for a parameter. `None` if the URL lacks the
    /// parameter, or if the value is not a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        match &self.values[self.syntax.index(name)?] {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns the URL without parameters, to which names can be appended.
    pub fn bare(&self) -> PathBuf {
        let values = vec![None; self.values.len()];
        let bare = Self {
            values,
            ..self.clone()
        };
        bare.to_string().into()
    }

    /// Returns the URL of the entry `name` in this directory, with the same parameters.
    #[must_use]
    pub fn below(&self, name: &[u8]) -> Self {
        let mut below = self.clone();
        if below.path != b"/" {
            below.path.push(b'/');
        }
        below.path.extend_from_slice(name);
        below
    }

    /// Whether `other` denotes this directory or one of its subdirectories at any depth, regardless
    /// of parameters.
    pub fn leads_to(&self, other: &Self) -> bool {
        let above = self.path.strip_suffix(b"/").unwrap_or(&self.path);
        let rest = other.path.strip_prefix(above);
        let server = (self.syntax.scheme, &self.host, self.port);
        server == (other.syntax.scheme, &other.host, other.port)
            && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    }
}

fn split(bytes: &[u8], at: u8) -> (&[u8], Option<&[u8]>) {
    match bytes.iter().position(|byte| *byte == at) {
        Some(end) => (&bytes[..end], Some(&bytes[end + 1..])),
        None => (bytes, None),
    }
}

/// Parses a decimal number; `parse` would also accept a sign.
fn number(text: &str) -> Option<u32> {
    text.bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| text.parse().ok())
        .flatten()
}

/// Splits `host[:port]`.
fn authority_of(text: &str) -> Result<(String, Option<u16>), UrlError> {
    let wrong = || UrlError::Host(text.to_owned());
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
    let port = match behind.is_empty() {
        true => None,
        false => Some(port(behind.strip_prefix(':').ok_or_else(wrong)?)?),
    };
    Ok((host.to_owned(), port))
}

fn port(text: &str) -> Result<u16, UrlError> {
    let found = number(text).and_then(|number| u16::try_from(number).ok());
    found
        .filter(|port| *port > 0)
        .ok_or_else(|| UrlError::Value {
            parameter: "port",
            text: text.to_owned(),
            expected: "a number from 1 to 65535",
        })
}

/// Decodes the path; each name is preceded by one slash, and trailing slashes are removed.
fn path_of(encoded: &[u8]) -> Result<Vec<u8>, UrlError> {
    let mut path = Vec::with_capacity(encoded.len());
    for part in encoded
        .split(|byte| *byte == b'/')
        .filter(|part| !part.is_empty())
    {
        let name = decoded(part)?;
        match name.as_slice() {
            b"." | b".." => return Err(UrlError::Path("it has a name that is '.' or '..'")),
            name if name.contains(&b'/') || name.contains(&0) => {
                return Err(UrlError::Path("a name has an encoded '/' or NUL"));
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

fn decoded(part: &[u8]) -> Result<Vec<u8>, UrlError> {
    let mut name = Vec::with_capacity(part.len());
    let mut bytes = part.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'#' => return Err(UrlError::Path("'#' must be written as %23")),
            b'%' => {
                let mut digit = || bytes.next().and_then(|byte| char::from(*byte).to_digit(16));
                let (Some(high), Some(low)) = (digit(), digit()) else {
                    return Err(UrlError::Path(
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

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = self.syntax.scheme;
        match self.host.contains(':') {
            true => write!(f, "{scheme}://[{}]", self.host)?,
            false => write!(f, "{scheme}://{}", self.host)?,
        }
        if let Some(port) = self.port {
            write!(f, ":{port}")?;
        }
        encode(f, &self.path, b"-._~!$&'()*+,;=:@/")?;
        let parameters = self.syntax.parameters.iter().zip(&self.values);
        let given = parameters.filter_map(|(known, value)| Some((known, value.as_ref()?)));
        for (number, (known, value)) in given.enumerate() {
            let mark = if number == 0 { '?' } else { '&' };
            write!(f, "{mark}{}=", known.name)?;
            known.show(f, value)?;
        }
        Ok(())
    }
}

/// Writes the text percent-encoded, except letters, digits and the bytes in `plain`.
fn encode(f: &mut fmt::Formatter<'_>, text: &[u8], plain: &[u8]) -> fmt::Result {
    text.iter().try_for_each(|byte| match byte {
        byte if byte.is_ascii_alphanumeric() || plain.contains(byte) => {
            write!(f, "{}", char::from(*byte))
        }
        byte => write!(f, "%{byte:02X}"),
    })
}
