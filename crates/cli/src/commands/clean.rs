//! `postmark clean`: what killed runs left of their files, and killed studies of the file systems
//! that they made.

use std::path::{Path, PathBuf};

use document::{Document, WIDTH, sanitize};
use engines::registry;
use rundir::Cleaned;
use scratch::{FoundMade, MadeRemoved};

use crate::commands::namespace;
use crate::ui::problem::{Problem, WRONG, print, tell};
use crate::ui::screen;
use crate::ui::watchdog_process::Side;

/// Cleans directories; gives 1 where one could not be cleaned or something had to be left, and 2
/// where not one could be looked at because its URL is wrong or its server cannot be used.
///
/// # Errors
/// Where what was done cannot be told.
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
        // A run directory may lie on a made file system: its process is gone with the maker of
        // that.
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
            print(&format!(
                "{}: no files of a killed run\n",
                sanitize::path(path)
            ))?;
        }
        for done in &cleaned {
            let (text, is_left) = describe(done);
            print(&text)?;
            if is_left {
                code = 1;
            }
        }
        for found in found {
            let (text, is_left) = describe_made(found);
            print(&text)?;
            if is_left {
                code = 1;
            }
        }
    }
    Ok(if refused == paths.len() { WRONG } else { code })
}

/// Removes a made file system; what became of it, and whether something of it is still there.
fn describe_made(found: FoundMade) -> (String, bool) {
    let name = found
        .spec
        .as_ref()
        .map_or_else(String::new, |spec| format!(" ({spec})"));
    let MadeRemoved {
        directory,
        mounts,
        loop_devices,
        images,
        left,
    } = found.remove();
    let directory = sanitize::path(&directory);
    let mut text = String::new();
    if left.is_empty() {
        let name = sanitize::sanitize(&name);
        text = format!(
            "{directory}: removed the file system of a killed study{name}: {}, {}, {}\n",
            counted(mounts, "mount"),
            counted(loop_devices, "loop device"),
            counted(images, "image")
        );
    }
    for one in &left {
        let (path, why) = (sanitize::path(&one.path), sanitize::sanitize(&one.why));
        text.push_str(&format!("{directory}: not removed: {path}: {why}\n"));
    }
    (text, !left.is_empty())
}

fn counted(number: usize, name: &str) -> String {
    format!("{number} {name}{}", if number == 1 { "" } else { "s" })
}

fn line(directory: &Path, told: impl std::fmt::Display) -> String {
    format!("{}: {told}\n", sanitize::path(directory))
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
            let place = format!("{}: ", sanitize::path(directory));
            report::text::clean_up(&mut document, &place, clean_up);
            for other in others {
                document.below(format!(
                    "The same run also used {other}: clean that directory too"
                ));
            }
            if *others_more > 0 {
                document.below(format!("and {others_more} more"));
            }
            (screen::text(&document, WIDTH), !clean_up.left.is_empty())
        }
        Cleaned::Drafts { directory, names } => {
            let removed = |name: &String| {
                let name = sanitize::sanitize(name);
                let told = "left by a run that was killed at its start";
                line(directory, format_args!("removed {name}, {told}"))
            };
            (names.iter().map(removed).collect(), false)
        }
        Cleaned::Active { directory, process } => {
            let process =
                process.map_or_else(String::new, |process| format!(" (process {process})"));
            let told = format_args!("in use by a run{process}; nothing was changed");
            (line(directory, told), true)
        }
        Cleaned::InHands { directory, process } => {
            let told = format_args!(
                "in use: the run's process ({process}) has ended, and another process cleans the \
                 directory or uses its pool; nothing was changed (wait, then clean again)"
            );
            (line(directory, told), true)
        }
        Cleaned::Kept { directory } => {
            let told = format_args!(
                "a pool kept for a later run (--reuse); nothing was changed (to remove it, clean \
                 this directory itself)"
            );
            (line(directory, told), false)
        }
        Cleaned::Untouched { directory, why } => {
            let told = format_args!("nothing was changed: {}", sanitize::sanitize(why));
            (line(directory, told), true)
        }
    }
}
