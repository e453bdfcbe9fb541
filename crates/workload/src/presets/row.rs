//! A preset as a row of a table, whose values are in the text form of command-line options.

use std::fmt::Display;
use std::str::FromStr;

use super::preset::{Manner, PhaseText, Preset, RUN_FOR_S, Values};
use crate::contents::ContentSpec;
use crate::intent::Action;
use crate::mix::{Mix, Weights};
use crate::phases::weights_of_all;
use crate::quantity;
use crate::whole::{Work, WorkerSeeds, Workers, Workload};

/// A preset without its workload. [`Row::preset`] builds the workload from `values`.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) version: u32,
    pub(super) group: &'static str,
    pub(super) application: &'static str,
    pub(super) what: &'static str,
    pub(super) not_predicted: &'static str,
    pub(super) source: &'static str,
    pub(super) values: &'static [Values],
}

impl Row {
    pub(super) fn preset(&self) -> Preset {
        let mut draft = Draft::default();
        for (option, value) in self.values.iter().flat_map(|values| values.values) {
            draft.set(option, value);
        }
        Preset {
            name: self.name,
            version: Some(self.version),
            group: self.group,
            application: self.application,
            what: self.what,
            not_predicted: self.not_predicted,
            source: self.source,
            values: self.values,
            how: Manner {
                durability: draft.durability,
                run_for_s: Some(RUN_FOR_S),
                phases: draft.phases.clone(),
            },
            workload: draft.workload(),
        }
    }
}

/// An incomplete workload, to which the values of a row are applied one by one.
struct Draft {
    mix: Mix,
    workers: Workers,
    size_max_bytes: Option<u64>,
    durability: Option<&'static str>,
    phases: Vec<PhaseText>,
}

impl Default for Draft {
    fn default() -> Self {
        Self {
            mix: Mix {
                transactions: Workload::ENDLESS,
                weights: Weights::default(),
                ..Mix::default()
            },
            workers: Workers::ONE,
            size_max_bytes: None,
            durability: None,
            phases: Vec::new(),
        }
    }
}

impl Draft {
    fn set(&mut self, option: &'static str, value: &'static str) {
        let mix = &mut self.mix;
        match option {
            "files" => mix.files = count(value),
            "size" => mix.sizes = of(value),
            "append-size" => mix.append_sizes = of(value),
            "size-max" => self.size_max_bytes = Some(bytes(value)),
            "dirs" => mix.layout.shape = of(value),
            "names" => mix.names = of(value),
            "popularity" => mix.popularity = of(value),
            "read-block" => mix.read_block_bytes = bytes(value),
            "write-block" => mix.write_block_bytes = bytes(value),
            _ if option.starts_with("phase ") => {
                let (_, name) = option.split_at("phase ".len());
                self.phases.push(PhaseText { name, keys: value });
            }
            "compute" => mix.compute = of(value),
            "durability" => self.durability = Some(value),
            "workers" => {
                let workers = of(value);
                self.workers = Workers::Private { workers };
            }
            "writers" | "readers" => self.share(option == "writers", of(value)),
            _ => {
                let action = option.strip_prefix("mix ").and_then(Action::of_mix);
                let action = action.unwrap_or_else(|| unreachable!("{option}"));
                mix.weights = std::mem::take(&mut mix.weights).with(action, of(value));
            }
        }
    }

    fn share(&mut self, is_of_writers: bool, number: u32) {
        let (mut writers, mut readers) = match self.workers {
            Workers::Shared {
                writers, readers, ..
            } => (writers, readers),
            Workers::Private { .. } => (0, 0),
        };
        *if is_of_writers {
            &mut writers
        } else {
            &mut readers
        } = number;
        let pools = 1;
        self.workers = Workers::Shared {
            writers,
            readers,
            pools,
        };
    }

    fn workload(self) -> Workload {
        let mut mix = self.mix;
        mix.phases = self.phases.iter().map(PhaseText::work).collect();
        if !mix.phases.is_empty() {
            mix.weights = weights_of_all(&mix.phases);
        }
        mix.size_max_bytes = self.size_max_bytes.unwrap_or(mix.sizes.high());
        mix.layout.maildir = mix.weights.get(Action::Deliver) > 0;
        Workload {
            work: Work::Mix(mix),
            workers: self.workers,
            worker_seeds: WorkerSeeds::Offset,
            contents: Some(ContentSpec {
                kind: of("incompressible"),
                dedup: 1.0,
            }),
        }
    }
}

fn of<T: FromStr<Err: Display>>(text: &str) -> T {
    text.parse()
        .unwrap_or_else(|wrong| unreachable!("{text}: {wrong}"))
}

fn count(text: &str) -> u64 {
    quantity::count(text).unwrap_or_else(|wrong| unreachable!("{text}: {wrong}"))
}

fn bytes(text: &str) -> u64 {
    quantity::bytes(text).unwrap_or_else(|wrong| unreachable!("{text}: {wrong}"))
}
