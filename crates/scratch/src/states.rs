//! Saved states of a file system: copies of its images.

use crate::blocks::{self, Image};
use crate::directory::saved;
use crate::error::MakeError;
use crate::owned::Owned;
use crate::stop::MakeStop;

/// Copies an image of a file system that is not mounted. What was copied before is replaced; where
/// it fails, nothing of the state is kept.
pub(crate) fn save(
    owned: &mut Owned,
    image: &str,
    state: &str,
    stop: &MakeStop,
) -> Result<(), MakeError> {
    let copy = saved(state, image);
    owned.discard(&copy)?;
    let from = owned.open_file(image)?;
    let to = owned.create_file(&copy)?;
    let [from_path, to_path] = [image, &copy].map(|name| owned.directory.at(name));
    let (file, path) = (&from, from_path.as_path());
    let from = Image { file, path };
    let (file, path) = (&to, to_path.as_path());
    let copied = blocks::copy(from, Image { file, path }, stop);
    if copied.is_err() {
        // The error that is told is the first one: the rest is removed with the file system.
        drop(owned.discard(&copy));
    }
    copied
}

/// Brings an image back.
pub(crate) fn restore(
    owned: &Owned,
    image: &str,
    state: &str,
    is_sparse: bool,
    stop: &MakeStop,
) -> Result<(), MakeError> {
    let copy = saved(state, image);
    let [from, to] = [&copy, image].map(|name| owned.open_file(name));
    let [from_path, to_path] = [&copy, image].map(|name| owned.directory.at(name));
    let (file, path) = (&from?, from_path.as_path());
    let copy = Image { file, path };
    let (file, path) = (&to?, to_path.as_path());
    blocks::bring_back(copy, Image { file, path }, is_sparse, stop)
}

/// Whether a text can be a state's name: it is part of names of files.
pub(crate) fn check_name(state: &str) -> Result<(), MakeError> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if (1..=32).contains(&state.len()) && state.bytes().all(is_plain) {
        return Ok(());
    }
    Err(MakeError::new(format!(
        "invalid name of a state '{state}': expected 1 to 32 lower-case letters, digits and hyphens"
    )))
}
