//! Saves and restores the state of a file system, by copying its images.

use crate::blocks;
use crate::directory::saved;
use crate::error::MakeError;
use crate::owned::Owned;
use crate::stop::MakeStop;

/// Copies an image of an unmounted file system into a saved state. Replaces an earlier copy in this
/// state. After an error, the state contains no copy of this image.
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
        // The error of the copy is reported. If the removal fails, removing the file system also
        // removes the incomplete copy.
        drop(owned.discard(&copy));
    }
    copied
}

/// Restores an image from the copy in a saved state.
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

/// Checks the name of a state, which becomes a part of file names.
pub(crate) fn check_name(state: &str) -> Result<(), MakeError> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if (1..=32).contains(&state.len()) && state.bytes().all(is_plain) {
        return Ok(());
    }
    Err(MakeError::new(format!(
        "invalid name of a state '{state}': expected 1 to 32 lower-case letters, digits and hyphens"
    )))
}
