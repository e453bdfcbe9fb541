//! The namespace in which a command reads or removes files: this machine's directories, or a server
//! named by URL.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use document::sanitize;
use engine::namespace::Namespace;
use engines::kernel_namespace::KernelNamespace;
use engines::registry;

use crate::ui::problem::Problem;

/// The namespace of a path. If the path is a URL, its server is contacted.
///
/// # Errors
/// Returns an error if the URL is invalid, or the server cannot be used.
pub fn of(path: &Path) -> Result<Arc<dyn Namespace>, Problem> {
    let Some(row) = registry::of_url(path) else {
        return Ok(Arc::new(KernelNamespace::default()));
    };
    let refused = |why: &dyn std::fmt::Display| {
        Problem::refused(format!("cannot use {}: {why}", sanitize::path(path)))
    };
    registry::parse_url(path).map_err(|problem| refused(&problem))?;
    let namespace = (row.make)(1, &[PathBuf::from(path)]).namespace();
    let namespace = namespace.ok_or_else(|| refused(&"this engine keeps no files"))?;
    namespace.reach(path).map_err(|why| refused(&why))?;
    Ok(namespace)
}
