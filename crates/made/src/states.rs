//! Saved states of a file system: copies of its images, or of a tmpfs's files.

use std::path::Path;

use crate::blocks;
use crate::directory::MadeDirectory;
use crate::error::MakeError;
use crate::tool::{self, Around, arguments};

/// Where a state of one image lies, and the image.
pub(crate) struct SavedImage {
    pub(crate) image: std::path::PathBuf,
    pub(crate) copy: std::path::PathBuf,
}

/// The images of a made file system with their copies. The journal's copy lies beside the journal.
pub(crate) fn images(main: &MadeDirectory, journal: Option<&MadeDirectory>, state: &str) -> Vec<SavedImage> {
    let of_journal = journal.map(|directory| SavedImage {
        image: directory.journal(),
        copy: directory.saved(state, "journal"),
    });
    let of_image = SavedImage {
        image: main.image(),
        copy: main.saved(state, "image"),
    };
    std::iter::once(of_image).chain(of_journal).collect()
}

/// Copies the images of a file system that is not mounted. What was copied before is replaced; where it fails, nothing of the state
/// is kept.
pub(crate) fn save(images: &[SavedImage]) -> Result<(), MakeError> {
    remove(images)?;
    for image in images {
        if let Err(error) = blocks::copy(&image.image, &image.copy) {
            // The error that is told is the first one: the rest is removed with the file system.
            drop(remove(images));
            return Err(error);
        }
    }
    Ok(())
}

/// Brings the images back.
pub(crate) fn restore(images: &[SavedImage], is_sparse: bool) -> Result<(), MakeError> {
    images
        .iter()
        .try_for_each(|image| blocks::bring_back(&image.copy, &image.image, is_sparse))
}

/// Removes the copies that are there.
pub(crate) fn remove(images: &[SavedImage]) -> Result<(), MakeError> {
    for image in images {
        match std::fs::remove_file(&image.copy) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(MakeError::io("remove", &image.copy, error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Copies a tree with all that its files are: modes, owners, times, links. What is there is replaced.
pub(crate) fn copy_tree(from: &Path, to: &Path, around: Around) -> Result<(), MakeError> {
    remove_tree(to)?;
    let words = arguments([
        "-a".as_ref(),
        "--sparse=auto".as_ref(),
        "-T".as_ref(),
        from.as_os_str(),
        to.as_os_str(),
    ]);
    match tool::run("cp", words, Some(around), tool::LONG) {
        Ok(_) => Ok(()),
        Err(error) => {
            drop(remove_tree(to));
            Err(error)
        }
    }
}

/// Removes a tree where there is one.
pub(crate) fn remove_tree(path: &Path) -> Result<(), MakeError> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(MakeError::io("remove", path, error)),
        _ => Ok(()),
    }
}

/// Whether a text can be a state's name: it is part of names of files.
pub(crate) fn check_name(state: &str) -> Result<(), MakeError> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if (1..=32).contains(&state.len()) && state.bytes().all(is_plain) {
        return Ok(());
    }
    Err(MakeError::StateName(state.to_owned()))
}
