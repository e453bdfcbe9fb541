//! Parses a [`MakeSpec`] from a word such as `make:ext4?size=4GiB`, and formats it as such a word.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use workload::quantity;

use crate::invalid::{InvalidMakeSpec, invalid_fullness};
use crate::key::{self, KEYS};
use crate::spec::{DEFAULT_DIRECTORY, DEFAULT_SIZE_BYTES, ExternalJournal, MakeSpec};

const PREFIX: &str = "make:";

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
        let given = given(pairs)?;
        let bytes = |key: &str| {
            let read = given.get(key).map(|text| quantity::bytes(text));
            let read = read.transpose();
            read.map_err(|why| invalid!("invalid {key}: {why}"))
        };
        let mut spec = Self::new(kind.parse()?);
        spec.size_bytes = bytes("size")?.unwrap_or(spec.size_bytes);
        if let Some(directory) = given.get("in") {
            spec.directory = directory.into();
        }
        let beside = given.get("journal-in").map(PathBuf::from);
        spec.journal = match bytes("journal")? {
            Some(size_bytes) => Some(ExternalJournal {
                size_bytes,
                directory: beside.filter(|directory| *directory != spec.directory),
            }),
            None if beside.is_some() => {
                return Err(invalid!(
                    "'journal-in' needs 'journal' (add journal=128MiB)"
                ));
            }
            None => None,
        };
        let words = given.get("mkfs").into_iter();
        let words = words.flat_map(|words| words.split_whitespace());
        spec.mkfs_words = words.map(str::to_owned).collect();
        let options = given.get("mount").into_iter();
        let options = options.flat_map(|options| options.split(','));
        spec.mount_options = options.map(str::to_owned).collect();
        spec.discard = given.contains_key("discard");
        spec.direct = given.contains_key("direct");
        if let Some(text) = given.get("fullness") {
            let percent = text.strip_suffix('%').unwrap_or(text).parse();
            spec.fullness_percent = Some(percent.map_err(|_| invalid_fullness(text))?);
        }
        spec.validate()?;
        Ok(spec)
    }
}

/// Returns the values of `KEY=VALUE` pairs by key. The value of a key without `=` is empty.
fn given(pairs: &str) -> Result<BTreeMap<&str, String>, InvalidMakeSpec> {
    let mut given = BTreeMap::new();
    for pair in pairs.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value = unescaped(value);
        if given.contains_key(key) {
            return Err(invalid!("'{key}' is given twice (write it once)"));
        }
        let Some(known) = KEYS.iter().find(|known| known.name == key) else {
            let names = key::names();
            return Err(invalid!(
                "unknown key '{key}' (use {names}: 'postmark help scratch' explains them)"
            ));
        };
        match known.value {
            None if pair.contains('=') => {
                return Err(invalid!("'{key}' takes no value (write it alone)"));
            }
            Some(_) if value.is_empty() => {
                return Err(invalid!("'{key}' has no value (write {key}=VALUE)"));
            }
            _ => {}
        }
        given.insert(key, value);
    }
    Ok(given)
}

impl fmt::Display for MakeSpec {
    /// Writes the canonical word: keys in a fixed order, without defaults.
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

/// Formats a size in the largest unit that divides it, so that [`quantity::bytes`] can parse the
/// text without a loss.
fn size_text(bytes: u64) -> String {
    let units = [
        ("TiB", 1 << 40),
        ("GiB", 1 << 30),
        ("MiB", 1 << 20),
        ("KiB", 1 << 10),
    ];
    let unit = units
        .iter()
        .find(|(_, unit)| bytes > 0 && bytes.is_multiple_of(*unit));
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
