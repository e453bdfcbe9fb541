//! Names in an acknowledgement log.

/// A name: the number of its location, and its path within the location's directory.
pub(crate) type Key = (u32, Vec<u8>);
