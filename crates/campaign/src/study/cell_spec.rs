//! What the runs of a cell are asked for.

use std::path::Path;

use spec::{Invocation, TargetOption};
use study::{Design, StudyCell};

use crate::error::Error;
use crate::run_spec::{self, RunRequest, Specified};
use crate::user::User;

/// What a cell's runs are asked for, in a directory.
///
/// # Errors
/// Where it contradicts itself.
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

/// The same before there is a directory: what a target's URL says is known by then.
///
/// # Errors
/// Where it contradicts itself.
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
