//! The files in the pool of a mix. They have consecutive positions from 0. Each file takes 24
//! bytes. The files are stored in chunks, so that the pool grows without copying. When a file is
//! removed, the last file moves to the free position.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File {
    /// The running number in the file's name, below 2^48.
    pub number: u64,
    /// The number that identifies the file under all of its names, below 2^48.
    pub file: u64,
    /// The file's size in bytes, below 2^40.
    pub size_bytes: u64,
    /// The number of the file's directory.
    pub place: u32,
    /// The version of the file's contents, below 2^23.
    pub version: u32,
    /// Whether the file has the extended attribute that is set by operations of a mix.
    pub has_extended: bool,
}

/// A file in 24 bytes: 48 bits for `number`, 48 for `file`, 40 for `size_bytes`, 32 for `place`, 23
/// for `version`, and 1 for `has_extended`.
pub type Packed = [u64; 3];

const BITS_48: u64 = (1 << 48) - 1;
const BITS_40: u64 = (1 << 40) - 1;

/// The highest version number, after which versions start again at 1.
pub const VERSION_MAX: u32 = (1 << 23) - 1;

impl File {
    #[inline]
    pub fn pack(self) -> Packed {
        let size = self.size_bytes & BITS_40;
        let version = u64::from(self.version & VERSION_MAX) << 1 | u64::from(self.has_extended);
        [
            self.number & BITS_48 | (size & 0xffff) << 48,
            self.file & BITS_48 | (size >> 16 & 0xffff) << 48,
            u64::from(self.place) | version << 32 | (size >> 32) << 56,
        ]
    }

    #[inline]
    pub fn unpack([a, b, c]: Packed) -> Self {
        Self {
            number: a & BITS_48,
            file: b & BITS_48,
            size_bytes: a >> 48 | b >> 48 << 16 | c >> 56 << 32,
            place: c as u32,
            version: (c >> 33) as u32 & VERSION_MAX,
            has_extended: c >> 32 & 1 == 1,
        }
    }

    /// Returns the number of the next version. [`VERSION_MAX`] is followed by 1.
    #[must_use]
    pub fn next_version(self) -> u32 {
        if self.version == VERSION_MAX {
            1
        } else {
            self.version + 1
        }
    }
}

const CHUNK: usize = 1 << 14;

#[derive(Clone, Debug, Default)]
pub struct Files {
    chunks: Vec<Vec<Packed>>,
    count: usize,
}

impl Files {
    #[inline]
    pub fn len(&self) -> u64 {
        self.count as u64
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the file at a position.
    ///
    /// # Panics
    /// Panics if the position is not below [`Self::len`].
    #[inline]
    pub fn get(&self, position: u64) -> File {
        let position = position as usize;
        File::unpack(self.chunks[position / CHUNK][position % CHUNK])
    }

    /// Replaces the file at a position.
    ///
    /// # Panics
    /// Panics if the position is not below [`Self::len`].
    #[inline]
    pub fn set(&mut self, position: u64, file: File) {
        let position = position as usize;
        self.chunks[position / CHUNK][position % CHUNK] = file.pack();
    }

    /// Appends a file. Allocates memory for a whole chunk of files at a time.
    #[inline]
    pub fn push(&mut self, file: File) {
        if self.count == self.chunks.len() * CHUNK {
            self.chunks.push(Vec::with_capacity(CHUNK));
        }
        let chunk = &mut self.chunks[self.count / CHUNK];
        if chunk.len() == self.count % CHUNK {
            chunk.push(file.pack());
        } else {
            chunk[self.count % CHUNK] = file.pack();
        }
        self.count += 1;
    }

    /// Removes the file at a position. The last file moves to this position.
    ///
    /// # Panics
    /// Panics if the position is not below [`Self::len`].
    #[inline]
    pub fn remove(&mut self, position: u64) -> File {
        let file = self.get(position);
        let last = self.get(self.len() - 1);
        self.set(position, last);
        self.count -= 1;
        file
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn files() -> impl Strategy<Value = File> {
        (
            0..=BITS_48,
            0..=BITS_48,
            0..=BITS_40,
            any::<u32>(),
            0..=VERSION_MAX,
            any::<bool>(),
        )
            .prop_map(
                |(number, file, size_bytes, place, version, has_extended)| File {
                    number,
                    file,
                    size_bytes,
                    place,
                    version,
                    has_extended,
                },
            )
    }

    proptest! {
        #[test]
        fn unpack_is_the_inverse_of_pack(file in files()) {
            prop_assert_eq!(File::unpack(file.pack()), file);
        }

        #[test]
        fn files_act_like_a_vec(steps in prop::collection::vec((any::<u16>(), files()), 1..400)) {
            let mut pool = Files::default();
            let mut vector: Vec<File> = Vec::new();
            for (choice, file) in steps {
                let position = usize::from(choice) % (vector.len() + 1);
                match choice % 4 {
                    0 if position < vector.len() => {
                        prop_assert_eq!(pool.remove(position as u64), vector.swap_remove(position));
                    }
                    1 if position < vector.len() => {
                        pool.set(position as u64, file);
                        vector[position] = file;
                    }
                    _ => {
                        pool.push(file);
                        vector.push(file);
                    }
                }
                prop_assert_eq!(pool.len(), vector.len() as u64);
            }
            for (position, file) in vector.iter().enumerate() {
                prop_assert_eq!(pool.get(position as u64), *file);
            }
        }
    }

    #[test]
    fn chunks_are_reused() {
        let mut pool = Files::default();
        let file = File {
            number: 1,
            file: 1,
            size_bytes: 1,
            place: 0,
            version: 0,
            has_extended: false,
        };
        for _ in 0..3 {
            for number in 0..CHUNK as u64 + 5 {
                pool.push(File { number, ..file });
            }
            assert_eq!(pool.get(CHUNK as u64 + 4).number, CHUNK as u64 + 4);
            while !pool.is_empty() {
                pool.remove(0);
            }
        }
        assert_eq!(pool.chunks.len(), 2);
    }
}
