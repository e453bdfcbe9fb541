//! Reports of `clean`: removed files of killed runs, and removed file systems of studies.

use document::units::{counted, size};
use document::{Document, sanitize};
use rundir::Cleaned;
use scratch::{MadeRemoved, StillUsed};

/// The result of removing a scratch file system. `spec` is the description of the file system, if
/// known.
pub fn made(spec: Option<&String>, removed: &MadeRemoved) -> Document {
    let directory = sanitize::path(&removed.directory);
    let mut document = Document::default();
    if removed.left.is_empty() {
        let spec = spec.map_or_else(String::new, |spec| format!(" ({spec})"));
        document.line(format!(
            "{directory}: removed a file system that a study left behind{spec}: {}, {}, {}",
            counted(removed.mounts as u64, "mount"),
            counted(removed.loop_devices as u64, "loop device"),
            counted(removed.images as u64, "image")
        ));
    }
    for used in &removed.still_used {
        document.line(format!("{directory}: {}", still_used(used)));
    }
    for left in &removed.left {
        let path = sanitize::path(&left.path);
        document.line(format!("{directory}: not removed: {path}: {}", left.why));
    }
    document
}

/// What remains of a removed image: its loop device and its space, until the last user ends.
pub fn still_used(used: &StillUsed) -> String {
    format!(
        "{} is unmounted here, but still used by {}. Its image {} is removed; the kernel frees the \
         device and {} when the last user ends.",
        used.device,
        sanitize::shown(&used.users()),
        sanitize::path(&used.image),
        size(used.image_bytes as f64)
    )
}

/// The result of removing the files of one run, and whether files are left that should have been
/// removed.
pub fn cleaned(cleaned: &Cleaned) -> (Document, bool) {
    let mut document = Document::default();
    let (directory, told, is_left) = match cleaned {
        Cleaned::Removed {
            directory,
            clean_up,
            others,
            others_more,
        } => {
            let place = format!("{}: ", sanitize::path(directory));
            crate::text::clean_up(&mut document, &place, clean_up);
            for other in others {
                document.below(format!(
                    "The same run also used {other}: clean that directory too"
                ));
            }
            if *others_more > 0 {
                document.below(format!("and {others_more} more"));
            }
            return (document, !clean_up.left.is_empty());
        }
        Cleaned::Drafts { directory, names } => {
            for name in names {
                document.line(format!(
                    "{}: removed {name}, left by a run that was killed at its start",
                    sanitize::path(directory)
                ));
            }
            return (document, false);
        }
        Cleaned::Active { directory, process } => {
            let process =
                process.map_or_else(String::new, |process| format!(" (process {process})"));
            let told = format!("in use by a run{process}; nothing was changed");
            (directory, told, true)
        }
        Cleaned::InHands { directory, process } => {
            let told = format!(
                "in use: the run's process ({process}) has ended, and another process cleans the \
                 directory or uses its pool; nothing was changed (wait, then clean again)"
            );
            (directory, told, true)
        }
        Cleaned::Kept { directory } => {
            let told = "a pool kept for a later run (--reuse); nothing was changed (to remove it, \
                        clean this directory itself)";
            (directory, told.to_owned(), false)
        }
        Cleaned::Untouched { directory, why } => {
            (directory, format!("nothing was changed: {why}"), true)
        }
    };
    document.line(format!("{}: {told}", sanitize::path(directory)));
    (document, is_left)
}
