//! The result of a listing, and the hash of names that it contains.

/// The result of a listing, without entries whose names begin with a dot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Number of entries, without those whose names begin with a dot.
    pub entries: u64,
    /// The wrapping sum of the [`name_digest`]s of the names, which does not depend on the order of
    /// the names.
    pub digest: u64,
}

impl Listing {
    /// Counts an entry and adds its name to the digest. The caller skips names that begin with a
    /// dot.
    #[inline]
    pub fn add(&mut self, name: &[u8]) {
        self.entries += 1;
        self.digest = self.digest.wrapping_add(name_digest(name));
    }

    /// Removes an entry from the count and the digest.
    #[inline]
    pub fn remove(&mut self, name: &[u8]) {
        self.entries -= 1;
        self.digest = self.digest.wrapping_sub(name_digest(name));
    }
}

/// The 64-bit XXH3 hash of a name without its directory.
#[inline]
pub fn name_digest(name: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(name)
}
