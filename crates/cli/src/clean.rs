//! `postmark clean`.

use std::path::PathBuf;
use std::sync::Arc;

use contract::home::Home;
use document::{Document, WIDTH, harmless};
use rundir::Cleaned;
use storage::home::KernelHome;

use crate::apart::Side;
use crate::problem::{Problem, print, tell};
use crate::screen;

/// Cleans directories; gives 1 where one could not be cleaned or something had to be left.
///
/// # Errors
/// Where what was done cannot be told.
pub fn clean(paths: &[PathBuf], side: &Side) -> Result<u8, Problem> {
    if let Some(code) = side.instead(paths.iter().map(PathBuf::as_path)) {
        return Ok(code);
    }
    let home: Arc<dyn Home> = Arc::new(KernelHome);
    let mut code = 0;
    for path in paths {
        let cleaned = match rundir::clean(&home, path) {
            Ok(cleaned) => cleaned,
            Err(error) => {
                tell(error);
                code = 1;
                continue;
            }
        };
        if cleaned.is_empty() {
            print(&format!("{}: no files of a killed run\n", harmless::path(path)))?;
        }
        for done in &cleaned {
            let (text, is_left) = describe(done);
            print(&text)?;
            if is_left {
                code = 1;
            }
        }
    }
    Ok(code)
}

/// What became of one run's leavings, and whether something of it is still there.
fn describe(cleaned: &Cleaned) -> (String, bool) {
    match cleaned {
        Cleaned::Removed {
            directory,
            clean_up,
            others,
            others_more,
        } => {
            let mut document = Document::default();
            let place = format!("{}: ", harmless::path(directory));
            report::text::clean_up(&mut document, &place, clean_up);
            for other in others {
                document.below(format!("The same run also used {other}: clean that directory too"));
            }
            if *others_more > 0 {
                document.below(format!("and {others_more} more"));
            }
            (screen::text(&document, WIDTH), !clean_up.left.is_empty())
        }
        Cleaned::Drafts { directory, names } => {
            let directory = harmless::path(directory);
            let line = |name: &String| {
                let name = harmless::harmless(name);
                format!("{directory}: removed {name}, left by a run that was killed at its start\n")
            };
            (names.iter().map(line).collect(), false)
        }
        Cleaned::Active { directory, process } => {
            let process = process.map_or_else(String::new, |process| format!(" (process {process})"));
            (
                format!(
                    "{}: in use by a run{process}; nothing was changed\n",
                    harmless::path(directory)
                ),
                true,
            )
        }
        Cleaned::InHands { directory, process } => (
            format!(
                "{}: in use: the run's process ({process}) has ended, and another process cleans the directory or uses its pool; nothing was changed (wait, then clean again)\n",
                harmless::path(directory)
            ),
            true,
        ),
        Cleaned::Kept { directory } => (
            format!(
                "{}: a pool kept for a later run (--reuse); nothing was changed (to remove it, clean this directory itself)\n",
                harmless::path(directory)
            ),
            false,
        ),
        Cleaned::Untouched { directory, why } => (
            format!(
                "{}: nothing was changed: {}\n",
                harmless::path(directory),
                harmless::harmless(why)
            ),
            true,
        ),
    }
}
