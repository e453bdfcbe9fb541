//! `postmark clean`: removes the files of killed runs, and the file systems of killed studies.

use std::path::PathBuf;

use document::sanitize;
use engines::registry;

use crate::commands::namespace;
use crate::ui::problem::{Problem, WRONG, print, tell};
use crate::ui::screen;
use crate::ui::watchdog_process::Side;

/// Removes the leftovers in each path. Returns 1 if files or file systems remain. Returns 2 if
/// every path is an invalid URL or a server that cannot be used.
///
/// # Errors
/// Returns an error if the results cannot be printed.
pub fn clean(paths: &[PathBuf], side: &Side) -> Result<u8, Problem> {
    if let Some(code) = side.instead(paths.iter().map(PathBuf::as_path)) {
        return Ok(code);
    }
    let mut code = 0;
    let mut refused = 0;
    for path in paths {
        let home = match namespace::of(path) {
            Ok(home) => home,
            Err(problem) => {
                tell(problem);
                refused += 1;
                code = 1;
                continue;
            }
        };
        let cleaned = match rundir::clean(&home, path) {
            Ok(cleaned) => cleaned,
            Err(error) => {
                tell(error);
                code = 1;
                continue;
            }
        };
        // A scratch file system of a killed study may contain files of killed runs. The files of
        // runs are removed before the scratch file system.
        let found = match registry::is_url(path) {
            true => Ok(Vec::new()),
            false => scratch::find(path),
        };
        let found = found.unwrap_or_else(|error| {
            tell(error);
            code = 1;
            Vec::new()
        });
        if cleaned.is_empty() && found.is_empty() {
            let path = sanitize::path(path);
            print(&format!("{path}: no files of a killed run\n"))?;
        }
        let made = found.into_iter().map(|found| {
            let spec = found.spec.clone();
            let removed = found.remove();
            let document = report::clean::made(spec.as_ref(), &removed);
            (document, !removed.left.is_empty())
        });
        for (document, is_left) in cleaned.iter().map(report::clean::cleaned).chain(made) {
            screen::print(&screen::text(&document))?;
            code = code.max(is_left.into());
        }
    }
    Ok(if refused == paths.len() { WRONG } else { code })
}
