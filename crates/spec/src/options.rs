//! The options of a run, on the command line and in configuration files.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Args, Command};
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

/// Declares [`Options`] from the names, types, attributes and groups of the table.
macro_rules! declare {
    ($($group:literal { $($(#[$meta:meta])* $name:ident: $of:ty => $get:expr, $set:expr
        $(, shows $order:literal => $shows:expr)?;)* })*) => {
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

/// Lets options that are true or false stand without their value, as in `--verify`.
pub fn with_switches(command: Command) -> Command {
    command.mut_args(|option| {
        if option.get_value_parser().type_id() != TypeId::of::<bool>()
            || !option.get_action().takes_values()
        {
            return option;
        }
        let option = option
            .value_name("BOOL")
            .num_args(0..=1)
            .require_equals(true);
        option.default_missing_value("true")
    })
}

/// The help of `--mix`, with all words that it takes.
fn mix_help() -> String {
    format!(
        "Weights of operations, instead of the classic pairs, like \
         read=5,append=2,create=2,delete=2. Operations: {}",
        Action::words()
    )
}
