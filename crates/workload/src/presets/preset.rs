//! The description, sources and workload of a preset.

use crate::intent::Action;
use crate::mix::Weights;
use crate::phases::{PhaseOperations, PhaseWork};
use crate::whole::{Work, Workload};

/// Options of a preset in addition to its workload, in the text form of the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manner {
    /// The value of `--durability`; `None` for the default.
    pub durability: Option<&'static str>,
    /// The duration of the transactions in seconds, unless a command-line option sets another end.
    /// `None` if the workload's number of transactions ends the run.
    pub run_for_s: Option<u64>,
    /// The phases of the preset with their loads; empty for a preset with a single mix.
    pub phases: Vec<PhaseText>,
}

/// A phase of a preset as text: the keys and values of a table `[[phase]]`, separated by
/// semicolons, such as `walk=read; cache=cold`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseText {
    pub name: &'static str,
    pub keys: &'static str,
}

impl PhaseText {
    fn keys(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let pairs = self.keys.split(';').filter_map(|pair| pair.split_once('='));
        pairs.map(|(key, value)| (key.trim(), value.trim()))
    }

    fn key(&self, wanted: &str) -> Option<&'static str> {
        self.keys()
            .find_map(|(key, value)| (key == wanted).then_some(value))
    }

    /// Returns the phase as a table of a configuration file.
    pub fn to_toml(&self) -> String {
        let mut text = format!("name = \"{}\"\n", self.name);
        for (key, value) in self.keys() {
            let quotes = if value.bytes().all(|byte| byte.is_ascii_digit()) {
                ""
            } else {
                "\""
            };
            text += &format!("{key} = {quotes}{value}{quotes}\n");
        }
        text
    }

    /// Returns the operations of the phase.
    pub(super) fn work(&self) -> PhaseWork {
        let valid = |text: &str| -> Weights {
            text.parse()
                .unwrap_or_else(|wrong| unreachable!("{text}: {wrong}"))
        };
        let operations = match (self.key("walk"), self.key("mix")) {
            (Some(name), None) => PhaseOperations::Walk(
                Action::of_mix(name).unwrap_or_else(|| unreachable!("{name}")),
            ),
            (_, weights) => PhaseOperations::Mix(valid(weights.unwrap_or_default())),
        };
        let transactions = self.key("transactions").map_or(Workload::ENDLESS, |text| {
            text.parse().unwrap_or_else(|_| unreachable!("{text}"))
        });
        PhaseWork {
            name: self.name.to_owned(),
            operations,
            transactions,
        }
    }
}

/// The source of some values of a preset.
#[derive(Debug)]
pub struct Source {
    /// The paper, program, trace or measurement, with its date.
    pub text: &'static str,
    /// Whether this project chose the values itself. `text` is then the reason.
    pub is_own: bool,
}

impl Source {
    pub(super) const fn of(text: &'static str) -> Self {
        let is_own = false;
        Self { text, is_own }
    }

    /// Creates the source of values that this project chose itself. `text` is the reason.
    pub(super) const fn own(text: &'static str) -> Self {
        let is_own = true;
        Self { text, is_own }
    }
}

/// Values of a preset that have the same source.
#[derive(Clone, Copy, Debug)]
pub struct Values {
    pub source: &'static Source,
    /// Command-line options with their values. `mix NAME` is the weight of the operation NAME.
    pub values: &'static [(&'static str, &'static str)],
}

/// A workload that users select by its name instead of by single options.
#[derive(Clone, Debug)]
pub struct Preset {
    /// The name without version, such as `mail`.
    pub name: &'static str,
    /// The version of the workload; `None` for presets of papers, whose workloads never change.
    pub version: Option<u32>,
    /// The heading under which lists show the preset.
    pub group: &'static str,
    /// The application that the preset represents.
    pub application: &'static str,
    /// A one-line description of the work.
    pub what: &'static str,
    /// What results of the preset do not predict.
    pub not_predicted: &'static str,
    /// The main sources, in a few words.
    pub source: &'static str,
    /// All values with their sources; empty for the presets of papers, whose figures all come from
    /// `source`.
    pub values: &'static [Values],
    pub workload: Workload,
    pub how: Manner,
}

impl Preset {
    /// The name with version, such as `mail-1`; records contain it.
    pub fn full_name(&self) -> String {
        match self.version {
            Some(version) => format!("{}-{version}", self.name),
            None => self.name.to_owned(),
        }
    }

    /// Returns whether the work and the contents of a workload equal those of this preset. Ignores
    /// the workers, the number of files and transactions, the seed and the targets.
    pub fn is_of(&self, workload: &Workload) -> bool {
        let mut own = self.workload.work.clone();
        match (&mut own, &workload.work) {
            (Work::Classic(own), Work::Classic(other)) => {
                (own.files, own.transactions, own.seed) =
                    (other.files, other.transactions, other.seed);
                own.weights.clone_from(&other.weights);
            }
            (Work::Mix(own), Work::Mix(other)) => {
                (own.files, own.transactions, own.seed) =
                    (other.files, other.transactions, other.seed);
                own.location_weights.clone_from(&other.location_weights);
            }
            _ => return false,
        }
        own == workload.work && self.workload.contents == workload.contents
    }
}

/// The default duration of a preset's measurement, in seconds.
pub const RUN_FOR_S: u64 = 10;
