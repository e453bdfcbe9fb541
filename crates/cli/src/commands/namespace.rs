//! Where files are that a command is to look at or to remove: directories of this machine, or of a
//! server by its URL.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use document::sanitize;
use engine::namespace::Namespace;
use engines::kernel_namespace::KernelNamespace;
use engines::registry;

use crate::ui::problem::Problem;

/// The namespace of a path. A server is asked whether it can be used.
///
/// # Errors
/// Where the URL is wrong, or the server cannot be used.
pub fn of(path: &Path) -> Result<Arc<dyn Namespace>, Problem> {
    let Some(row) = registry::of_url(path) else {
        return Ok(Arc::new(KernelNamespace::default()));
    };
    let refused = |why: &dyn std::fmt::Display| {
        Problem::refused(format!("cannot use {}: {why}", sanitize::path(path)))
    };
    registry::parse_url(path).map_err(|problem| refused(&problem))?;
    let namespace = (row.make)(1, &[PathBuf::from(path)]).namespace();
    let namespace = namespace.ok_or_else(|| refused(&"this storage keeps no files"))?;
    namespace.reach(path).map_err(|why| refused(&why))?;
    Ok(namespace)
}
