//! The options of a run, on the command line and in configuration files.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use engine::Durability;
use serde::{Deserialize, Serialize};
use workload::arrivals::ArrivalProcess;
use workload::contents::ContentKind;
use workload::intent::Action;
use workload::layout::Shape;
use workload::names::Names;
use workload::popularity::Popularity;
use workload::{Edition, Weights};

use crate::engine_name::EngineName;
use crate::settings::{Cache, OnError, SteadyRule};
use crate::sizes::SizesOption;
use crate::sweep::{SloOption, SweepOption};
use crate::table::option_table;
use crate::values::{
    Bytes, Count, PerSecond, ThinkOption, Time, WorkerSeedsName, WorkingSet, bias, bias_in_file,
    real, real_in_file, real_to_file,
};

/// A location with its weight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetOption {
    /// The directory.
    pub path: PathBuf,
    /// Its share of the files.
    #[serde(default = "one")]
    pub weight: u32,
}

fn one() -> u32 {
    1
}

/// The option's name, where this is its scope.
macro_rules! options_scope {
    (alone $name:ident) => {
        long_name(stringify!($name))
    };
}

/// Declares [`Options`] from the names, types, attributes and groups of the table.
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
            /// In files: `[[target]]` tables with `path` and `weight`.
            #[arg(skip)]
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            pub target: Vec<TargetOption>,
        }

        impl Options {
            /// These, and where they say nothing, those.
            #[must_use]
            pub fn over(self, under: Self) -> Self {
                Self {
                    $($($name: self.$name.or(under.$name),)*)*
                    target: if self.target.is_empty() { under.target } else { self.target },
                }
            }

            /// The names of those that a study decides itself.
            #[must_use]
            pub fn of_runs_alone() -> Vec<String> {
                vec![$($($(options_scope!($scope $name),)?)*)*]
            }

            /// The names of the options that are given, with their values as texts: empty for
            /// switches.
            pub(crate) fn given(&self) -> BTreeMap<String, String> {
                let all = [$($(
                    self.$name.as_ref().map(|value| (long_name(stringify!($name)), text(value))),
                )*)*];
                let is_on = |(_, text): &(String, String)| text != "false";
                all.into_iter().flatten().filter(is_on).collect()
            }
        }
    };
}

option_table!(declare);

/// The name of an option as it is typed, without its hyphens.
fn long_name(field: &str) -> String {
    match field {
        "run_for" => "for".to_owned(),
        // What is an engine inside has had this name on the command line from the start.
        "engine" => "storage".to_owned(),
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

/// The help of `--mix`, with all words that it takes.
fn mix_help() -> String {
    format!(
        "Weights of operations, instead of the classic pairs, like \
         read=5,append=2,create=2,delete=2. Operations: {}",
        Action::words()
    )
}
