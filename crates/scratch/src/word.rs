//! A [`MakeSpec`] as a word and as a table of TOML.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use workload::quantity;

use crate::invalid::{InvalidMakeSpec, invalid_fullness};
use crate::spec::{DEFAULT_DIRECTORY, DEFAULT_SIZE_BYTES, ExternalJournal, MakeSpec};

const PREFIX: &str = "make:";
const KEYS: &str = "size, mkfs, mount, in, journal, journal-in, discard, direct or fullness";

/// What was given, key by key, or as a table of TOML: the names of its fields are the keys.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Given {
    make: String,
    size: Option<Size>,
    mkfs: Option<Vec<String>>,
    mount: Option<String>,
    #[serde(rename = "in")]
    directory: Option<PathBuf>,
    journal: Option<Size>,
    journal_in: Option<PathBuf>,
    #[serde(default)]
    discard: bool,
    #[serde(default)]
    direct: bool,
    fullness: Option<Size>,
}

impl Given {
    fn spec(self) -> Result<MakeSpec, InvalidMakeSpec> {
        let bytes = |key: &str, Size(text): &Size| {
            quantity::bytes(text).map_err(|why| invalid!("invalid {key}: {why}"))
        };
        let mut spec = MakeSpec::new(self.make.parse()?);
        if let Some(size) = &self.size {
            spec.size_bytes = bytes("size", size)?;
        }
        if let Some(directory) = self.directory {
            spec.directory = directory;
        }
        spec.journal = match (&self.journal, self.journal_in) {
            (Some(size), directory) => Some(ExternalJournal {
                size_bytes: bytes("journal", size)?,
                directory: directory.filter(|directory| *directory != spec.directory),
            }),
            (None, Some(_)) => {
                return Err(invalid!(
                    "'journal-in' needs 'journal' (add journal=128MiB)"
                ));
            }
            (None, None) => None,
        };
        spec.mkfs_words = self.mkfs.unwrap_or_default();
        let options = self.mount.iter().flat_map(|options| options.split(','));
        spec.mount_options = options.map(str::to_owned).collect();
        spec.discard = self.discard;
        spec.direct = self.direct;
        spec.fullness_percent = self
            .fullness
            .map(|Size(text)| fullness(&text))
            .transpose()?;
        spec.validate()?;
        Ok(spec)
    }
}

fn fullness(text: &str) -> Result<u8, InvalidMakeSpec> {
    let digits = text.strip_suffix('%').unwrap_or(text);
    digits.parse().map_err(|_| invalid_fullness(&text))
}

impl FromStr for MakeSpec {
    type Err = InvalidMakeSpec;

    fn from_str(text: &str) -> Result<Self, InvalidMakeSpec> {
        let rest = text.strip_prefix(PREFIX).ok_or_else(|| {
            invalid!(
                "'{text}' does not begin with 'make:' (write make:KIND or make:KIND?KEY=VALUE&…, \
                 like make:ext4?size=4GiB)"
            )
        })?;
        let (kind, pairs) = rest.split_once('?').unwrap_or((rest, ""));
        let mut given = Given {
            make: kind.to_owned(),
            ..Given::default()
        };
        let mut seen = Vec::new();
        for pair in pairs.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = match pair.split_once('=') {
                Some((key, value)) => (
                    key,
                    Some(unescaped(value)).filter(|value| !value.is_empty()),
                ),
                None => (pair, None),
            };
            if seen.contains(&key) {
                return Err(invalid!("'{key}' is given twice (write it once)"));
            }
            seen.push(key);
            let needed = |key: &'static str| {
                let given = value.clone();
                given.ok_or_else(|| invalid!("'{key}' has no value (write {key}=VALUE)"))
            };
            let alone = |key: &'static str| {
                if pair.contains('=') {
                    Err(invalid!("'{key}' takes no value (write it alone)"))
                } else {
                    Ok(true)
                }
            };
            match key {
                "size" => given.size = Some(Size(needed("size")?)),
                "mkfs" => {
                    given.mkfs = Some(
                        needed("mkfs")?
                            .split_whitespace()
                            .map(str::to_owned)
                            .collect(),
                    )
                }
                "mount" => given.mount = Some(needed("mount")?),
                "in" => given.directory = Some(needed("in")?.into()),
                "journal" => given.journal = Some(Size(needed("journal")?)),
                "journal-in" => given.journal_in = Some(needed("journal-in")?.into()),
                "discard" => given.discard = alone("discard")?,
                "direct" => given.direct = alone("direct")?,
                "fullness" => given.fullness = Some(Size(needed("fullness")?)),
                _ => {
                    return Err(invalid!("unknown key '{key}' (use {KEYS})"));
                }
            }
        }
        given.spec()
    }
}

impl fmt::Display for MakeSpec {
    /// The canonical word: keys in one order, without what is the default.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut pairs = Vec::new();
        if self.size_bytes != DEFAULT_SIZE_BYTES {
            pairs.push(format!("size={}", size_text(self.size_bytes)));
        }
        if !self.mkfs_words.is_empty() {
            pairs.push(format!("mkfs={}", escaped(&self.mkfs_words.join(" "))));
        }
        if !self.mount_options.is_empty() {
            pairs.push(format!("mount={}", escaped(&self.mount_options.join(","))));
        }
        if self.directory != Path::new(DEFAULT_DIRECTORY) {
            pairs.push(format!("in={}", escaped(&self.directory.to_string_lossy())));
        }
        if let Some(journal) = &self.journal {
            pairs.push(format!("journal={}", size_text(journal.size_bytes)));
            if let Some(directory) = &journal.directory {
                pairs.push(format!(
                    "journal-in={}",
                    escaped(&directory.to_string_lossy())
                ));
            }
        }
        for (key, is_set) in [("discard", self.discard), ("direct", self.direct)] {
            if is_set {
                pairs.push(key.to_owned());
            }
        }
        if let Some(percent) = self.fullness_percent {
            pairs.push(format!("fullness={percent}"));
        }
        let question = if pairs.is_empty() { "" } else { "?" };
        write!(f, "{PREFIX}{}{question}{}", self.kind, pairs.join("&"))
    }
}

/// Bytes in the largest unit that they are a multiple of, as [`quantity::bytes`] reads them.
fn size_text(bytes: u64) -> String {
    let units = [
        ("TiB", 1 << 40),
        ("GiB", 1 << 30),
        ("MiB", 1 << 20),
        ("KiB", 1 << 10),
    ];
    let unit = units
        .iter()
        .find(|(_, unit)| bytes > 0 && bytes % unit == 0);
    unit.map_or_else(
        || bytes.to_string(),
        |(name, unit)| format!("{}{name}", bytes / unit),
    )
}

fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('&', "%26")
}

fn unescaped(text: &str) -> String {
    text.replace("%26", "&").replace("%25", "%")
}

/// A number, plain or as a text with a unit.
struct Size(String);

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl serde::de::Visitor<'_> for Visitor {
            type Value = Size;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number, or one with a unit in quotes")
            }

            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Size, E> {
                Ok(Size(number.to_string()))
            }

            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Size, E> {
                Ok(Size(number.to_string()))
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Size, E> {
                Ok(Size(text.to_owned()))
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}

impl<'de> Deserialize<'de> for MakeSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = MakeSpec;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a word like \"make:ext4\", or a table like { make = \"ext4\" }")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<MakeSpec, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<MakeSpec, A::Error> {
                let given = Given::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                given.spec().map_err(serde::de::Error::custom)
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}

impl Serialize for MakeSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
