//! The table of files of the classic workload. It contains the used slots, the files in them, and
//! the next free slot.
//!
//! The original PostMark scans an array for a free slot, which takes most of its time for large
//! pools. This table finds the same slot directly. The lowest level has one bit for every slot,
//! which is set if the slot is free. Each higher level has one bit for every word of the level
//! below, which is set if the word is not 0. A slot takes 15 bytes for its file, and less than 1.02
//! bits in all levels together.

use crate::WorkloadError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableEntry {
    /// The running number in the file's name, below 2^48.
    pub number: u64,
    /// The file's size in bytes, below 2^40.
    pub size_bytes: u64,
    /// The number of the file's directory.
    pub place: u32,
}

/// Bytes of a packed entry: 48 bits for `number`, 40 for `size_bytes`, 32 for `place`.
const ENTRY_BYTES: usize = 15;

/// A function that receives memory which will soon be accessed in random order. The function may,
/// for example, request huge pages, but must not change the contents of the memory.
pub type MemoryHint = fn(&[u8]);

#[derive(Clone, Debug)]
pub struct FileTable {
    /// The packed entries, followed by one byte of padding, so that 16 bytes can be read at every
    /// entry.
    entries: Vec<u8>,
    /// `levels[0]` contains a bit for every slot, which is set if the slot is free. Each higher
    /// level contains a bit for every word of the level below, which is set if that word is not 0.
    /// The highest level is a single word.
    levels: Vec<Vec<u64>>,
    slots: u64,
    in_use: u64,
    cursor: u64,
    /// Whether the cursor is inside the table and its slot is free. This value is stored, so that
    /// [`Self::next_free`] need not read `levels` while this slot is free.
    cursor_is_free: bool,
}

impl FileTable {
    /// Creates a table of `slots` free slots. The cursor is at the first slot.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory for the table.
    pub fn new(slots: u64) -> Result<Self, WorkloadError> {
        Self::with_hint(slots, |_| ())
    }

    /// Creates a table of `slots` free slots, and passes its memory to `hint` before the first
    /// access.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory for the table.
    pub fn with_hint(slots: u64, hint: MemoryHint) -> Result<Self, WorkloadError> {
        let no_memory = || {
            let entries_bytes = slots.saturating_mul(ENTRY_BYTES as u64);
            invalid!(
                "not enough memory for a table of {slots} files ({} bytes; use fewer files)",
                entries_bytes.saturating_add(slots / 8)
            )
        };
        let bytes = usize::try_from(slots)
            .ok()
            .and_then(|slots| slots.checked_mul(ENTRY_BYTES))
            .and_then(|bytes| bytes.checked_add(16 - ENTRY_BYTES))
            .ok_or_else(no_memory)?;
        let entries = zeroed::<u8>(bytes).ok_or_else(no_memory)?;
        hint(&entries);
        let mut levels = Vec::new();
        let mut bits = slots;
        loop {
            let words = bits.div_ceil(64).max(1);
            let mut level = zeroed::<u64>(words as usize).ok_or_else(no_memory)?;
            level.fill(u64::MAX);
            if !bits.is_multiple_of(64) || bits == 0 {
                level[words as usize - 1] = (1 << (bits % 64)) - 1;
            }
            levels.push(level);
            if words == 1 {
                break;
            }
            bits = words;
        }
        Ok(Self {
            entries,
            levels,
            slots,
            in_use: 0,
            cursor: 0,
            cursor_is_free: slots > 0,
        })
    }

    pub fn slots(&self) -> u64 {
        self.slots
    }

    /// Returns the number of slots that contain a file.
    pub fn in_use(&self) -> u64 {
        self.in_use
    }

    #[inline]
    pub fn is_in_use(&self, slot: u64) -> bool {
        self.levels[0][(slot / 64) as usize] & (1 << (slot % 64)) == 0
    }

    /// Returns the slot for the next file: the cursor's slot if it is inside the table and free, or
    /// else the lowest free slot. Returns `None` if the table is full. The search reads one word
    /// per level: at most six words for up to 2^36 slots.
    #[inline]
    pub fn next_free(&self) -> Option<u64> {
        self.next_free_counted(&mut 0)
    }

    #[inline]
    fn next_free_counted(&self, words: &mut u32) -> Option<u64> {
        if self.cursor_is_free {
            return Some(self.cursor);
        }
        let mut index = 0_u64;
        for level in self.levels.iter().rev() {
            *words += 1;
            let word = level[index as usize];
            if word == 0 {
                return None;
            }
            index = index * 64 + u64::from(word.trailing_zeros());
        }
        Some(index)
    }

    /// Stores a file in a free slot, and moves the cursor to the slot behind it.
    ///
    /// # Panics
    /// Panics if the slot is not free.
    #[inline]
    pub fn put(&mut self, slot: u64, entry: TableEntry) {
        assert!(
            slot < self.slots && !self.is_in_use(slot),
            "slot {slot} is not free"
        );
        let mut index = slot;
        for level in &mut self.levels {
            let word = &mut level[(index / 64) as usize];
            *word &= !(1 << (index % 64));
            if *word != 0 {
                break;
            }
            index /= 64;
        }
        self.write(slot, entry);
        self.in_use += 1;
        self.cursor = slot + 1;
        self.cursor_is_free = self.cursor < self.slots && !self.is_in_use(self.cursor);
    }

    /// Returns the file in a used slot.
    #[inline]
    pub fn get(&self, slot: u64) -> TableEntry {
        let at = slot as usize * ENTRY_BYTES;
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&self.entries[at..at + 16]);
        let packed = u128::from_le_bytes(bytes);
        TableEntry {
            number: packed as u64 & ((1 << 48) - 1),
            size_bytes: (packed >> 48) as u64 & ((1 << 40) - 1),
            place: (packed >> 88) as u32,
        }
    }

    /// Changes the size of the file in a used slot.
    #[inline]
    pub fn resize(&mut self, slot: u64, size_bytes: u64) {
        let entry = TableEntry {
            size_bytes,
            ..self.get(slot)
        };
        self.write(slot, entry);
    }

    /// Frees a used slot.
    ///
    /// # Panics
    /// Panics if the slot is free.
    #[inline]
    pub fn free(&mut self, slot: u64) {
        assert!(self.is_in_use(slot), "slot {slot} is free already");
        let mut index = slot;
        for level in &mut self.levels {
            let word = &mut level[(index / 64) as usize];
            let before = *word;
            *word |= 1 << (index % 64);
            if before != 0 {
                break;
            }
            index /= 64;
        }
        self.in_use -= 1;
        self.cursor_is_free |= slot == self.cursor;
    }

    /// Returns the first used slot from slot `from` on.
    #[inline]
    pub fn next_in_use(&self, from: u64) -> Option<u64> {
        if from >= self.slots {
            return None;
        }
        let leaf = &self.levels[0];
        let mut at = (from / 64) as usize;
        let mut used = !leaf[at] & (u64::MAX << (from % 64));
        while used == 0 {
            at += 1;
            used = !*leaf.get(at)?;
        }
        let slot = at as u64 * 64 + u64::from(used.trailing_zeros());
        // The search finds a clear bit. The bits of used slots are clear, but so are the bits after
        // the last slot.
        (slot < self.slots).then_some(slot)
    }

    #[inline]
    fn write(&mut self, slot: u64, entry: TableEntry) {
        assert!(
            entry.number < 1 << 48 && entry.size_bytes < 1 << 40,
            "{entry:?} does not fit"
        );
        let packed = u128::from(entry.number)
            | u128::from(entry.size_bytes) << 48
            | u128::from(entry.place) << 88;
        let at = slot as usize * ENTRY_BYTES;
        self.entries[at..at + ENTRY_BYTES].copy_from_slice(&packed.to_le_bytes()[..ENTRY_BYTES]);
    }
}

/// Returns a vector of zeros; `None` if there is not enough memory.
fn zeroed<T: Clone + Default>(length: usize) -> Option<Vec<T>> {
    // `vec![0; n]` gets zeroed pages from the system, but aborts the program if there is not enough
    // memory. Therefore `try_reserve_exact` first tests whether the memory is available.
    Vec::<T>::new().try_reserve_exact(length).ok()?;
    Some(vec![T::default(); length])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The original PostMark's search for a free slot: a linear scan of the table.
    struct Walk {
        used: Vec<bool>,
        cursor: usize,
    }

    impl Walk {
        fn next_free(&self) -> Option<usize> {
            if self.cursor < self.used.len() && !self.used[self.cursor] {
                return Some(self.cursor);
            }
            self.used.iter().position(|used| !used)
        }
    }

    fn entry(number: u64) -> TableEntry {
        TableEntry {
            number,
            size_bytes: number * 3,
            place: number as u32,
        }
    }

    proptest! {
        #[test]
        fn next_free_slot_equals_that_of_a_linear_search(slots in 1_usize..9_000,
            choices in prop::collection::vec(any::<u32>(), 1..3_000), fill in 0_u32..10) {
            let mut table = FileTable::new(slots as u64).unwrap();
            let mut walk = Walk { used: vec![false; slots], cursor: 0 };
            for (number, choice) in choices.into_iter().enumerate() {
                if choice % 10 < fill {
                    let mut words = 0;
                    let slot = table.next_free_counted(&mut words);
                    prop_assert!(words <= 6);
                    prop_assert_eq!(slot, walk.next_free().map(|slot| slot as u64));
                    if let Some(slot) = slot {
                        table.put(slot, entry(number as u64));
                        prop_assert_eq!(table.get(slot), entry(number as u64));
                        walk.used[slot as usize] = true;
                        walk.cursor = slot as usize + 1;
                    }
                } else {
                    let slot = choice as usize % slots;
                    prop_assert_eq!(table.is_in_use(slot as u64), walk.used[slot]);
                    if walk.used[slot] {
                        table.free(slot as u64);
                        walk.used[slot] = false;
                    }
                    let next = (slot..slots).find(|slot| walk.used[*slot]).map(|slot| slot as u64);
                    prop_assert_eq!(table.next_in_use(slot as u64), next);
                }
                prop_assert_eq!(table.in_use(), walk.used.iter().filter(|used|
                    **used).count() as u64);
            }
        }
    }

    #[test]
    fn search_for_a_free_slot_reads_at_most_six_words() {
        let mut table = FileTable::new(20_000_000).unwrap();
        let mut most = 0;
        for number in 0..20_000_000 {
            let slot = table.next_free().unwrap();
            table.put(slot, entry(number));
        }
        for slot in [19_999_999, 12_345_678, 64, 0] {
            table.free(slot);
            let mut words = 0;
            assert_eq!(table.next_free_counted(&mut words), Some(slot));
            most = most.max(words);
        }
        assert!((1..=6).contains(&most), "{most} words");
    }

    #[test]
    fn table_takes_at_most_sixteen_bytes_per_slot() {
        for slots in [1_000_u64, 40_000, 2_000_000, 20_000_000] {
            let table = FileTable::new(slots).unwrap();
            let bytes = table.entries.capacity()
                + table
                    .levels
                    .iter()
                    .map(|level| level.capacity() * 8)
                    .sum::<usize>();
            assert!(
                bytes as u64 <= 16 * slots,
                "{bytes} bytes for {slots} slots"
            );
        }
    }

    #[test]
    fn table_larger_than_memory_is_refused() {
        assert!(FileTable::new(1 << 60).is_err());
    }

    #[test]
    fn table_entries_store_the_largest_allowed_values() {
        let mut table = FileTable::new(2).unwrap();
        let greatest = TableEntry {
            number: (1 << 48) - 1,
            size_bytes: (1 << 40) - 1,
            place: u32::MAX,
        };
        table.put(0, greatest);
        table.put(1, entry(1));
        assert_eq!((table.get(0), table.get(1)), (greatest, entry(1)));
        table.resize(0, 17);
        assert_eq!(
            table.get(0),
            TableEntry {
                size_bytes: 17,
                ..greatest
            }
        );
        assert_eq!(table.get(1), entry(1));
    }
}
