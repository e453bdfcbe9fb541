//! An I/O engine of the registry. Run specs and options identify it by its name.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use engine::EngineFacts;
use engines::registry::{self, ROWS};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use workload::Work;

/// An I/O engine in the registry of engines. The value dereferences to the properties of the
/// engine.
#[derive(Clone, Copy)]
pub struct EngineName(&'static EngineFacts);

static ALL: [EngineName; ROWS.len()] = {
    let mut all = [EngineName::STDIO; ROWS.len()];
    let mut index = 0;
    while index < all.len() {
        all[index] = EngineName(ROWS[index].facts);
        index += 1;
    }
    all
};

static NAMES: [&str; ROWS.len()] = {
    let mut names = [""; ROWS.len()];
    let mut index = 0;
    while index < names.len() {
        names[index] = ROWS[index].facts.name;
        index += 1;
    }
    names
};

impl EngineName {
    /// The default engine of the classic workload.
    pub const STDIO: Self = Self(&engines::stdio::FACTS);
    /// The engine of the classic workload if buffering is turned off.
    pub const RAW: Self = Self(&engines::raw::FACTS);
    /// The default engine of mixes.
    pub const POSIX: Self = Self(&engines::posix::FACTS);
    /// The engine that performs no operations. It is used to measure the overhead of the program.
    pub const NULL: Self = Self(&engines::null::FACTS);

    pub fn from_name(name: &str) -> Option<Self> {
        registry::named(name).map(|row| Self(row.facts))
    }

    /// Returns the engine of a workload for which no option selects one.
    pub fn of_work(work: &Work) -> Self {
        match work {
            Work::Mix(_) => Self::POSIX,
            Work::Classic(_) => Self::STDIO,
        }
    }

    /// Returns the engine of the first target that is a URL; `None` if all targets are directories.
    pub fn of_urls<T: AsRef<std::path::Path>>(targets: &[T]) -> Option<Self> {
        let row = targets
            .iter()
            .find_map(|target| registry::of_url(target.as_ref()))?;
        Some(Self(row.facts))
    }

    /// Returns the names of all engines that keep several operations of a worker in flight, for a
    /// message.
    pub(crate) fn with_depth() -> String {
        let deep = ALL.iter().filter(|engine| engine.depth_max > 1);
        let names: Vec<&str> = deep.map(|engine| engine.0.name).collect();
        match names.split_last() {
            Some((last, [])) => (*last).to_owned(),
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => String::new(),
        }
    }

    /// The name of the engine for `--engine`, such as `posix`.
    pub fn name(self) -> &'static str {
        self.0.name
    }
}

impl Deref for EngineName {
    type Target = EngineFacts;

    fn deref(&self) -> &EngineFacts {
        self.0
    }
}

impl PartialEq for EngineName {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for EngineName {}

impl fmt::Debug for EngineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EngineName").field(&self.0.name).finish()
    }
}

impl fmt::Display for EngineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

impl ValueEnum for EngineName {
    fn value_variants<'a>() -> &'a [Self] {
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name).help(self.0.help))
    }
}

impl Serialize for EngineName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name)
    }
}

impl<'de> Deserialize<'de> for EngineName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Cow::<str>::deserialize(deserializer)?;
        let unknown = || serde::de::Error::unknown_variant(&name, &NAMES);
        Self::from_name(&name).ok_or_else(unknown)
    }
}
