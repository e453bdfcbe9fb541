//! Resolves the run specs of a study's configurations.

use std::path::Path;

use spec::{Invocation, TargetOption};
use study::{Design, StudyCell};

use crate::error::Error;
use crate::run_spec::{self, RunRequest, Specified};
use crate::user::User;

/// Resolves the options of a configuration into the run spec of runs in `directory`.
///
/// # Errors
/// Returns an error if the options contradict each other.
pub fn specify(
    design: &Design,
    cell: &StudyCell,
    directory: &Path,
    invocation: Invocation,
    user: User,
) -> Result<Specified, Error> {
    let request = RunRequest {
        preset: design.workloads[cell.workload].preset.clone(),
        config: None,
        like: None,
        like_in: None,
        invocation,
        options: cell.options.clone(),
        locations: Ok(vec![TargetOption {
            path: directory.to_owned(),
            weight: 1,
        }]),
        has_weights: false,
    };
    run_spec::specify(&request, user)
}

/// Resolves the options of a configuration before its directory exists. A target that is a URL is
/// used unchanged.
///
/// # Errors
/// Returns an error if the options contradict each other.
pub fn specify_somewhere(
    design: &Design,
    cell: &StudyCell,
    user: User,
) -> Result<Specified, Error> {
    let at = Path::new(&design.targets[cell.target].at);
    let directory = match spec::is_url(at) {
        true => at,
        false => Path::new("/"),
    };
    specify(design, cell, directory, Invocation::default(), user)
}
