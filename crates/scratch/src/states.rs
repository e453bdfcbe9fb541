//! Saved states of a file system: copies of its images.

use crate::blocks;
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
    let from = owned.open_image(image)?;
    let to = owned.create_image(&copy)?;
    let copied = blocks::copy(&from, &to, stop);
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
    let copy = owned.open_image(&saved(state, image))?;
    blocks::bring_back(&copy, &owned.open_image(image)?, is_sparse, stop)
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
