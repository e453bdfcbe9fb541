//! The options of a run, on the command line and in configuration files.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args};
use engine::Policies;
use serde::{Deserialize, Serialize};
use workload::arrivals::ArrivalProcess;
use workload::compute::Compute;
use workload::contents::ContentKind;
use workload::intent::Action;
use workload::names::Names;
use workload::popularity::Popularity;
use workload::replay::Timing;
use workload::{Edition, Weights};

use crate::dirs::DirsOption;
use crate::engine_name::EngineName;
use crate::phase_option::PhaseOption;
use crate::settings::{Cache, OnError, SteadyRule};
use crate::sizes::SizesOption;
use crate::sweep::{SloOption, SweepOption};
use crate::table::option_table;
use crate::values::{
    Bytes, Count, PerSecond, ThinkOption, Time, WorkerSeedsName, WorkingSet, bias, bias_in_file,
    real, real_in_file, real_to_file,
};

/// An entry of `[[target]]` in a configuration file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetOption {
    /// A directory, or the URL of a server.
    pub path: PathBuf,
    /// Share of the files on this target, relative to the weights of the other targets.
    #[serde(default = "one")]
    pub weight: u32,
}

fn one() -> u32 {
    1
}

/// Expands to the command-line name of an option if the option table marks it with `(alone)`.
macro_rules! options_scope {
    (alone $name:ident) => {
        long_name(stringify!($name))
    };
}

/// Sets an option to `None` if the option table marks it with `(alone)`.
macro_rules! remove_option {
    (alone $options:ident $name:ident) => {
        $options.$name = None
    };
}

/// Declares [`Options`] from the names, types, attributes and groups in the option table.
macro_rules! declare {
    ($($group:literal { $($(#[$meta:meta])* $name:ident: $of:ty => $get:expr, $set:expr
        $(, shows $order:literal => $shows:expr)? $(, ($scope:ident))?;)* })*) => {
        /// The options. Everything may be left out.
        #[derive(Clone, Debug, Default, Args, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case", deny_unknown_fields)]
        pub struct Options {
            $($(
                #[arg(long, help_heading = $group)]
                $(#[$meta])*
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $name: Option<$of>,
            )*)*
            /// In a configuration file, each target is a table `[[target]]` with `path` and
            /// `weight`.
            #[arg(skip)]
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            pub target: Vec<TargetOption>,
            /// In a configuration file, each phase of the workload is a table `[[phase]]`.
            #[arg(skip)]
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            pub phase: Vec<PhaseOption>,
        }

        impl Options {
            /// Returns these options. A missing option is replaced by that of `under`.
            #[must_use]
            pub fn over(self, under: Self) -> Self {
                Self {
                    $($($name: self.$name.or(under.$name),)*)*
                    target: if self.target.is_empty() { under.target } else { self.target },
                    phase: if self.phase.is_empty() { under.phase } else { self.phase },
                }
            }

            /// Returns the names of the options that a study file must not contain, because the
            /// study sets them for its runs.
            #[must_use]
            pub fn of_runs_alone() -> Vec<String> {
                // Every phase has its own results, and a study compares the result of a run.
                let mut names = vec![$($($(options_scope!($scope $name),)?)*)*];
                names.push("phase".to_owned());
                names
            }

            /// Returns these options without the targets, the phases, and the options of
            /// [`Self::of_runs_alone`]. A study or a repetition can use the remaining options for
            /// all its runs.
            #[must_use]
            pub fn without_runs_alone(self) -> Self {
                let mut options = Self { target: Vec::new(), phase: Vec::new(), ..self };
                $($($(remove_option!($scope options $name);)?)*)*
                options
            }

            /// Sets the options of type `bool`. clap parses `--OPTION` and `--no-OPTION` as two
            /// options; the last one on the command line counts.
            pub fn take_switches(&mut self, matches: &ArgMatches) {
                for switch in SWITCHES.iter() {
                    let is_on = switch.value(matches);
                    $($(if stringify!($name) == switch.id {
                        let value: &mut dyn Any = &mut self.$name;
                        if let Some(value) = value.downcast_mut::<Option<bool>>() {
                            *value = is_on;
                        }
                    })*)*
                }
            }

            /// Returns the options that are set, by name, with their values as text. A `bool`
            /// option has an empty text; if it is off, it is omitted.
            pub(crate) fn given(&self) -> BTreeMap<String, String> {
                let all = [$($(
                    self.$name.as_ref().map(|value| (long_name(stringify!($name)), text(value))),
                )*)*];
                let is_on = |(_, text): &(String, String)| text != "false";
                all.into_iter().flatten().filter(is_on).collect()
            }
        }

        /// The options of type `bool`, each with its form `--no-OPTION`.
        pub(crate) static SWITCHES: LazyLock<Vec<Switch>> = LazyLock::new(|| {
            let all = [$($((stringify!($name), TypeId::of::<$of>()),)*)*];
            let switches = all.into_iter().filter(|(_, of)| *of == TypeId::of::<bool>());
            switches.map(|(id, _)| Switch::new(id)).collect()
        });
    };
}

option_table!(declare);

impl Options {
    /// Whether the options describe phases of the workload.
    pub(crate) fn has_phases(&self) -> bool {
        !self.phase.is_empty()
    }
}

/// An option that is on or off: `--OPTION` or `--no-OPTION`.
pub(crate) struct Switch {
    /// The identity of `--OPTION` for clap.
    pub id: &'static str,
    /// The name on the command line, without the leading hyphens.
    pub name: String,
    /// The identity of `--no-OPTION`, which is also its name.
    pub negative: String,
}

impl Switch {
    fn new(id: &'static str) -> Self {
        let name = long_name(id);
        let negative = format!("no-{name}");
        Self { id, name, negative }
    }

    /// Returns `None` if the command line contains neither `--OPTION` nor `--no-OPTION`. If it
    /// contains both, clap has removed the earlier one.
    fn value(&self, matches: &ArgMatches) -> Option<bool> {
        let is_given = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
        match (is_given(self.id), is_given(&self.negative)) {
            (true, _) => Some(true),
            (false, true) => Some(false),
            (false, false) => None,
        }
    }
}

/// Returns the name of an option on the command line, without the leading hyphens.
fn long_name(field: &str) -> String {
    match field {
        "run_for" => "for".to_owned(),
        field => field.replace('_', "-"),
    }
}

fn text(value: &impl Serialize) -> String {
    match toml::Value::try_from(value) {
        Ok(toml::Value::String(text)) => text,
        Ok(toml::Value::Boolean(true)) | Err(_) => String::new(),
        Ok(other) => other.to_string(),
    }
}

/// Returns the help of `--mix`, which lists the names of all operations.
fn mix_help() -> String {
    format!(
        "Weights of operations, instead of the classic pairs, like \
         read=5,append=2,create=2,delete=2.\n\nOperations: {}",
        Action::words()
    )
}
