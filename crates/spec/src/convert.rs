//! Conversions that the option table defines: from options to a run spec and back, and from a run
//! spec to the settings in reports.

use std::fmt::Display;
use std::path::PathBuf;

use document::units::grouped;
use engine::Policies;
use workload::arrivals::ArrivalProcess;
use workload::compute::Compute;
use workload::contents::ContentKind;
use workload::names::Names;
use workload::popularity::Popularity;
use workload::replay::Timing;
use workload::{Classic, Edition, Mix, Weights};

use crate::config_error::ConfigError;
use crate::dirs::DirsOption;
use crate::draft::Draft;
use crate::engine_name::EngineName;
use crate::load::{self, Sweep};
use crate::load_options;
use crate::options::{Options, TargetOption};
use crate::phases;
use crate::replay::{limit, replay};
use crate::run_spec::RunSpec;
use crate::settings::{Cache, OnError, SteadyRule};
use crate::sizes::SizesOption;
use crate::sweep::{SloOption, SweepOption};
use crate::table::option_table;
use crate::values::{Bytes, Count, PerSecond, ThinkOption, Time, WorkerSeedsName, WorkingSet};
use crate::work::{self, workers};

/// Generates the conversion functions. The generated functions call the functions of each option in
/// the option table.
macro_rules! convert {
    ($($group:literal { $($(#[$meta:meta])* $name:ident: $of:ty => $get:expr, $set:expr
        $(, shows $order:literal => $shows:expr)? $(, ($scope:ident))?;)* })*) => {
        impl RunSpec {
            /// Returns options that resolve to this spec. Options that are on or off are omitted if
            /// they have their default.
            pub fn to_options(&self) -> Options {
                Options {
                    $($($name: get(self, $get),)*)*
                    target: targets(self),
                    phase: phases::to_options(self),
                }
                .without_traced()
            }

            /// Describes the settings that differ from those of the original PostMark, for reports.
            pub fn settings(&self) -> Vec<String> {
                let mut all: Vec<(u32, Option<String>)> =
                    vec![$($($(($order, get(self, $shows)),)?)*)*];
                all.sort_by_key(|(order, _)| *order);
                all.into_iter().filter_map(|(_, words)| words).collect()
            }
        }

        impl Draft<'_> {
            /// Applies all given options to the draft.
            pub(crate) fn set_options(&mut self) -> Result<(), ConfigError> {
                let options = self.options;
                $($(
                    if let Some(value) = options.$name.clone() {
                        set::<$of, _>(self, value, $set)?;
                    }
                )*)*
                Ok(())
            }
        }
    };
}

option_table!(convert);

fn get<T>(spec: &RunSpec, row: impl FnOnce(&RunSpec) -> Option<T>) -> Option<T> {
    row(spec)
}

fn set<T, R: Done>(
    draft: &mut Draft<'_>,
    value: T,
    row: impl FnOnce(&mut Draft<'_>, T) -> R,
) -> Result<(), ConfigError> {
    row(draft, value).done()
}

/// Result type of a function that sets an option; it is `()` if the function accepts all values.
trait Done {
    fn done(self) -> Result<(), ConfigError>;
}

impl Done for () {
    fn done(self) -> Result<(), ConfigError> {
        Ok(())
    }
}

impl Done for Result<(), ConfigError> {
    fn done(self) -> Self {
        self
    }
}

fn classic<T>(spec: &RunSpec, get: impl FnOnce(&Classic) -> Option<T>) -> Option<T> {
    spec.workload.classic().and_then(get)
}

fn mix<T>(spec: &RunSpec, get: impl FnOnce(&Mix) -> Option<T>) -> Option<T> {
    spec.workload.mix().and_then(get)
}

fn sweep<T>(spec: &RunSpec, get: impl FnOnce(&Sweep) -> Option<T>) -> Option<T> {
    spec.drive.sweep.as_ref().and_then(get)
}

/// The value of `--mix`; `None` for a workload with phases, each of which has its own operations.
fn weights(spec: &RunSpec) -> Option<Weights> {
    mix(spec, |mix| {
        mix.phases.is_empty().then(|| mix.weights.clone())
    })
}

/// The value of `--sweep`; `None` for the phases of a workload.
fn levels(spec: &RunSpec) -> Option<SweepOption> {
    let is_option = |sweep: &Sweep| !sweep.climb.is_of_phases();
    sweep(spec, |sweep| {
        is_option(sweep).then(|| SweepOption(sweep.climb.clone()))
    })
}

/// Value of an option that is off by default; `None` if it is off.
fn on(is_on: bool) -> Option<bool> {
    is_on.then_some(true)
}

/// Value of an option that is on by default; `None` if it is on.
fn off(is_on: bool) -> Option<bool> {
    (!is_on).then_some(false)
}

/// Value of `--compat`; `None` for a mix. Also `None` for version 1.5 of the classic workload with
/// a check, a sync or an overhead measurement, which the original PostMark does not perform.
fn compat(spec: &RunSpec) -> Option<Edition> {
    let does_more = spec.check || spec.sync_phases || spec.overhead;
    let edition = classic(spec, |classic| Some(classic.edition));
    edition.filter(|edition| *edition == Edition::V1_0 || !does_more)
}

/// Value of an option whose default is on, or off with `--compat`. `None` if the value is the
/// default. Also `None` if `is_possible` is false: the engine does not support the option.
fn unusual(spec: &RunSpec, is_possible: bool, is_on: bool) -> Option<bool> {
    let is_default = is_on == compat(spec).is_none();
    (is_possible && !is_default).then_some(is_on)
}

/// Value of an option that is a number; `None` if it is at most the default.
fn above(count: u32, default: u32) -> Option<Count> {
    (count > default).then_some(Count(count.into()))
}

fn when(is_so: bool, words: &str) -> Option<String> {
    is_so.then(|| words.to_owned())
}

fn unless<T: PartialEq + Display>(default: &T, value: &T, what: &str) -> Option<String> {
    (value != default).then(|| format!("{what} {value}"))
}

/// Returns the targets as options. If the only target is the working directory, returns none,
/// because a configuration file may be used in another directory.
fn targets(spec: &RunSpec) -> Vec<TargetOption> {
    let weights = spec.workload.location_weights();
    let is_anywhere = |target: &PathBuf| target.as_os_str().is_empty();
    if weights == [1] && spec.targets.iter().all(is_anywhere) {
        return Vec::new();
    }
    let all = spec.targets.iter().zip(weights);
    all.map(|(target, weight)| TargetOption {
        path: crate::directory(target).to_owned(),
        weight: *weight,
    })
    .collect()
}
