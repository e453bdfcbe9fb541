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

/// A target with its weight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetOption {
    /// A directory, or the URL of a server.
    pub path: PathBuf,
    /// Its share of the files, relative to the weights of the other targets.
    #[serde(default = "one")]
    pub weight: u32,
}

fn one() -> u32 {
    1
}

/// Expands to the option's name if the option has this scope.
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
            /// Returns these options, completed by those of `under`.
            #[must_use]
            pub fn over(self, under: Self) -> Self {
                Self {
                    $($($name: self.$name.or(under.$name),)*)*
                    target: if self.target.is_empty() { under.target } else { self.target },
                }
            }

            /// The names of the options that a study sets itself.
            #[must_use]
            pub fn of_runs_alone() -> Vec<String> {
                vec![$($($(options_scope!($scope $name),)?)*)*]
            }

            /// The given options by name, with their values as text: empty for switches. Switches
            /// that are off are left out.
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

/// The name of an option as the user types it, without hyphens in front.
fn long_name(field: &str) -> String {
    match field {
        "run_for" => "for".to_owned(),
        // The command line has called the engine "storage" from the start.
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

/// The help of `--mix`, with the names of all operations.
fn mix_help() -> String {
    format!(
        "Weights of operations, instead of the classic pairs, like \
         read=5,append=2,create=2,delete=2. Operations: {}",
        Action::words()
    )
}
