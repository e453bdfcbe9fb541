//! The run spec: the complete, typed description of one run. All other crates use it.
//!
//! [`resolve`] converts options and configuration files ([`Options`]) into a [`RunSpec`].
//! [`RunSpec::to_options`] converts a run spec back into equivalent options. The runner performs
//! the run spec, and the record contains it. A run that cannot be performed is reported as a
//! [`ConfigError`]. This crate detects errors that follow from the description alone. Crates that
//! inspect the machine or the target detect all other errors.

mod check;
mod config_error;
mod config_text;
mod conflicts;
mod convert;
mod dirs;
mod draft;
mod engine_name;
mod help;
mod limits;
mod load;
mod load_options;
mod note;
mod options;
mod phase_option;
mod phases;
mod replay;
mod resolve;
mod run_spec;
#[cfg(feature = "schema")]
mod schema;
mod serial;
mod settings;
mod sizes;
mod stop;
mod sweep;
mod table;
mod values;
mod work;

pub use config_error::ConfigError;
pub use config_text::read_toml;
pub use dirs::DirsOption;
pub use engine::{Durability, Policies};
pub use engine_name::EngineName;
pub use engines::registry::{is_url, parse_url};
pub use help::with_help;
pub use limits::{BISECTIONS_MAX, LOCATIONS_MAX, SWEEP_SLICES_MAX, SWEEP_STEPS_MAX};
pub use load::{Drive, Sweep};
pub use note::Note;
pub use options::{Options, TargetOption};
pub use phase_option::PhaseOption;
pub use replay::{
    NOT_OF_REPLAYS, OPERATIONS_DEFAULT, OPERATIONS_LIMIT, ReplayOptions, Replayed, TRACE_DETERMINES,
};
pub use resolve::{Asked, Invocation, Resolved, resolve};
pub use run_spec::RunSpec;
pub use settings::{Cache, Keeping, OnError, Place, SteadyRule, directory};
pub use sizes::{Read, SizesOption};
pub use stop::{Pace, PhaseLoad, SteadyAsked, Stop};
pub use sweep::{Climb, SloOption, SweepOption};
pub use values::{Bytes, Count, PerSecond, ThinkOption, Time, WorkerSeedsName, WorkingSet};
