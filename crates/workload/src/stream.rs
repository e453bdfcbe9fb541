//! The stream of the classic workload: the algorithm of the original PostMark for both editions.

use std::sync::Arc;

use crate::WorkloadError;
use crate::classic::Classic;
use crate::edition::SubdirectoryChoice;
use crate::endless::ENDLESS;
use crate::generator::Generator;
use crate::intent::{Action, End, Intent, Kept, Phase, PoolState, Stream};
use crate::names::NameKind;
use crate::random::running_sums;
use crate::skip::SkipReason;
use crate::table::{FileTable, MemoryHint, TableEntry};

/// The intents of one worker of the classic workload.
#[derive(Clone, Debug)]
pub struct ClassicStream {
    generator: Generator,
    table: FileTable,
    text: Arc<Vec<u8>>,
    files: u64,
    transactions: u64,
    size_low: u64,
    size_high: u64,
    bias_read: Option<u8>,
    bias_create: Option<u8>,
    subdirectories: u32,
    subdirectory_choice: SubdirectoryChoice,
    /// Running sums of the targets' weights. A random number selects the first target whose sum is
    /// greater than the number.
    shares: Vec<u64>,
    created: u64,
    deleted: u64,
    transactions_begun: u64,
    /// Whether the next intent is the second operation of the current transaction.
    second_half: bool,
    deletion_at: u64,
    /// The generator can draw only slots of the table of files below this number.
    reach: u64,
    /// The number of files in slots below `reach`.
    in_reach: u64,
    end: End,
}

impl ClassicStream {
    /// Creates the stream of a workload. First, the generator draws the text of file contents.
    ///
    /// # Errors
    /// Returns an error if the workload is invalid or its table does not fit in memory.
    pub fn new(workload: &Classic) -> Result<Self, WorkloadError> {
        Self::with_hint(workload, |_| ())
    }

    /// Creates the stream. `hint` receives the memory of the table (see [`FileTable::with_hint`]).
    ///
    /// # Errors
    /// Returns an error if the workload is invalid or its table does not fit in memory.
    pub fn with_hint(workload: &Classic, hint: MemoryHint) -> Result<Self, WorkloadError> {
        let rules = workload.edition.rules();
        let mut generator = Generator::new(rules.generator, workload.seed);
        workload.validate()?;
        let text = draw_text(&mut generator, workload.size_high_bytes)?;
        Self::after_text(workload, hint, generator, text)
    }

    /// Creates a stream without the text, for callers that need only the intents. The intents equal
    /// those of a stream with the text. The text would take as much memory as the largest file.
    ///
    /// # Errors
    /// Returns an error if the workload is invalid or its table does not fit in memory.
    pub fn without_text(workload: &Classic, hint: MemoryHint) -> Result<Self, WorkloadError> {
        workload.validate()?;
        let mut generator = Generator::new(workload.edition.rules().generator, workload.seed);
        generator.skip(2 * workload.size_high_bytes);
        Self::after_text(workload, hint, generator, Arc::default())
    }

    fn after_text(
        workload: &Classic,
        hint: MemoryHint,
        generator: Generator,
        text: Arc<Vec<u8>>,
    ) -> Result<Self, WorkloadError> {
        let rules = workload.edition.rules();
        Ok(Self {
            reach: workload.slots().min(generator.outputs()),
            generator,
            table: FileTable::with_hint(workload.slots(), hint)?,
            text,
            files: workload.files,
            transactions: workload.transactions,
            size_low: workload.size_low_bytes,
            size_high: workload.size_high_bytes,
            bias_read: workload.bias_read.tenths(),
            bias_create: workload.bias_create.tenths(),
            subdirectories: workload.subdirectories,
            subdirectory_choice: rules.subdirectory_choice,
            shares: running_sums(workload.weights.iter().copied().map(u64::from)).collect(),
            created: 0,
            deleted: 0,
            transactions_begun: 0,
            second_half: false,
            deletion_at: 0,
            in_reach: 0,
            end: End::Complete,
        })
    }

    /// Returns the text that is the content of files: every operation writes a prefix of the text.
    /// The text is as long as the upper bound of sizes. The text is empty if the stream was created
    /// without text.
    pub fn text(&self) -> Arc<Vec<u8>> {
        Arc::clone(&self.text)
    }

    fn create(&mut self) -> Intent {
        let Some(slot) = self.table.next_free() else {
            return Intent::skipped(SkipReason::TableFull);
        };
        let number = self.created + 1;
        let location = match self.shares.as_slice() {
            [_] => 0,
            shares => {
                let share = self.generator.draw(shares[shares.len() - 1]);
                shares.partition_point(|end| *end <= share)
            }
        };
        let subdirectory = match self.subdirectory_choice {
            _ if self.subdirectories == 1 => 0,
            SubdirectoryChoice::RunningNumber => number % u64::from(self.subdirectories),
            SubdirectoryChoice::Drawn => self.generator.draw(u64::from(self.subdirectories)),
        };
        let place = location as u32 * self.subdirectories + subdirectory as u32;
        let bytes = self.size_low + self.generator.draw(self.size_high - self.size_low);
        let entry = TableEntry {
            number,
            size_bytes: bytes,
            place,
        };
        self.table.put(slot, entry);
        self.created = number;
        self.in_reach += u64::from(slot < self.reach);
        Intent {
            action: Action::Create,
            place,
            number,
            bytes,
            file: number,
            ..Intent::NOTHING
        }
    }

    /// Draws slots until the drawn slot is in use. The caller ensures that at least one used slot
    /// can be drawn.
    #[inline]
    fn victim(&mut self) -> u64 {
        loop {
            let slot = self.generator.draw(self.table.slots());
            if self.table.is_in_use(slot) {
                return slot;
            }
        }
    }

    fn read_or_append(&mut self, chance_of_read: u8) -> Intent {
        let reads = self.generator.draw(10) < u64::from(chance_of_read);
        let slot = self.victim();
        let entry = self.table.get(slot);
        let mut intent = Intent {
            action: Action::Read,
            place: entry.place,
            number: entry.number,
            bytes: entry.size_bytes,
            size_bytes: entry.size_bytes,
            file: entry.number,
            ..Intent::NOTHING
        };
        if reads {
            return intent;
        }
        if entry.size_bytes >= self.size_high {
            return Intent::skipped(SkipReason::AtMaximumSize);
        }
        intent.action = Action::Append;
        intent.offset_bytes = entry.size_bytes;
        intent.bytes = self.generator.draw(self.size_high - entry.size_bytes) + 1;
        self.table.resize(slot, entry.size_bytes + intent.bytes);
        intent
    }

    fn create_or_delete(&mut self, chance_of_create: u8) -> Intent {
        if self.generator.draw(10) < u64::from(chance_of_create) {
            return self.create();
        }
        let slot = self.victim();
        self.delete(slot)
    }

    fn delete(&mut self, slot: u64) -> Intent {
        let entry = self.table.get(slot);
        self.table.free(slot);
        self.deleted += 1;
        self.in_reach -= u64::from(slot < self.reach);
        Intent {
            action: Action::Delete,
            place: entry.place,
            number: entry.number,
            size_bytes: entry.size_bytes,
            file: entry.number,
            ..Intent::NOTHING
        }
    }

    fn draw_transaction(&mut self, intent: &mut Intent) -> bool {
        if !self.second_half {
            if self.end != End::Complete || self.transactions_begun == self.transactions {
                return false;
            }
            if self.created == self.deleted {
                self.end = End::OutOfFiles;
                return false;
            }
            let deletes = self.bias_create.is_some_and(|chance| chance < 10);
            if self.in_reach == 0 && (self.bias_read.is_some() || deletes) {
                self.end = End::OutOfReach;
                return false;
            }
            self.transactions_begun += 1;
            if let Some(chance) = self.bias_read {
                self.second_half = true;
                *intent = self.read_or_append(chance);
                return true;
            }
        }
        self.second_half = false;
        *intent = match self.bias_create {
            Some(chance) => self.create_or_delete(chance),
            None => Intent::NOTHING,
        };
        intent.ends_transaction = true;
        true
    }
}

impl Stream for ClassicStream {
    #[inline]
    fn draw(&mut self, phase: Phase, intent: &mut Intent) -> bool {
        match phase {
            Phase::Prepare if self.created >= self.files => return false,
            Phase::Prepare => *intent = self.create(),
            Phase::Transactions => return self.draw_transaction(intent),
            Phase::Delete => {
                let Some(slot) = self.table.next_in_use(self.deletion_at) else {
                    return false;
                };
                self.deletion_at = slot + 1;
                *intent = self.delete(slot);
            }
        }
        true
    }

    fn remaining(&self, phase: Phase) -> u64 {
        match phase {
            Phase::Prepare => self.files - self.created.min(self.files),
            Phase::Transactions => self.transactions - self.transactions_begun,
            Phase::Delete => self.table.in_use(),
        }
    }

    fn end(&self) -> End {
        self.end
    }

    fn transactions_begun(&self) -> u64 {
        self.transactions_begun
    }

    /// With a fixed number of transactions, always returns true, because the original PostMark
    /// continues to the last transaction even if it can perform no operation.
    fn can_perform_any(&self, pool: &PoolState) -> bool {
        let is_drawn = |tenths: Option<u8>, chances: std::ops::Range<u8>| {
            tenths.is_some_and(|chance| chances.contains(&chance))
        };
        let has_room = self.table.in_use() < self.table.slots();
        let can_grow = pool.sizes.is_some_and(|(least, _)| least < self.size_high);
        self.transactions != ENDLESS
            || is_drawn(self.bias_read, 1..11)
            || is_drawn(self.bias_create, 0..10)
            || (is_drawn(self.bias_create, 1..11) && has_room)
            || (is_drawn(self.bias_read, 0..10) && can_grow)
    }

    fn pool(&self, each: &mut dyn FnMut(Kept)) {
        let mut at = 0;
        while let Some(slot) = self.table.next_in_use(at) {
            at = slot + 1;
            let entry = self.table.get(slot);
            each(Kept {
                kind: NameKind::File,
                place: entry.place,
                number: entry.number,
                size_bytes: entry.size_bytes,
                file: entry.number,
                version: 0,
            });
        }
    }
}

/// Returns the first `bytes` bytes of the text with which every file begins; the whole text if the
/// text is shorter.
pub fn text_begins(workload: &Classic, bytes: u64) -> Vec<u8> {
    let mut generator = Generator::new(workload.edition.rules().generator, workload.seed);
    (0..bytes.min(workload.size_high_bytes))
        .map(|_| 32 + generator.draw(95) as u8)
        .collect()
}

/// Draws the text of a workload: printable characters, with one draw for each. The original
/// PostMark draws twice as many characters as the upper bound of sizes, and uses the first half.
fn draw_text(generator: &mut Generator, size_high: u64) -> Result<Arc<Vec<u8>>, WorkloadError> {
    let mut text = Vec::new();
    text.try_reserve_exact(size_high as usize).map_err(|_| {
        invalid!(
            "not enough memory for {size_high} bytes of text (use a smaller upper bound for --size)"
        )
    })?;
    text.extend((0..size_high).map(|_| 32 + generator.draw(95) as u8));
    generator.skip(size_high);
    Ok(Arc::new(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classic::Bias;
    use crate::edition::Edition;

    fn intents(stream: &mut ClassicStream, phase: Phase) -> Vec<Intent> {
        std::iter::from_fn(|| stream.next(phase)).collect()
    }

    #[test]
    fn stream_without_text_has_the_same_intents() {
        for edition in [Edition::V1_0, Edition::V1_5] {
            let workload = Classic {
                edition,
                transactions: 5_000,
                ..Classic::default()
            };
            let mut with = ClassicStream::new(&workload).unwrap();
            let mut without = ClassicStream::without_text(&workload, |_| ()).unwrap();
            assert!(without.text().is_empty());
            for phase in Phase::ALL {
                assert_eq!(
                    intents(&mut with, phase),
                    intents(&mut without, phase),
                    "{edition} {phase:?}"
                );
            }
        }
    }

    #[test]
    fn text_begins_returns_the_start_of_the_text() {
        let workload = Classic::default();
        let text = ClassicStream::new(&workload).unwrap().text();
        assert_eq!(text_begins(&workload, 64), text[..64]);
        assert_eq!(text_begins(&workload, u64::MAX), *text);
    }

    #[test]
    fn all_created_files_are_deleted() {
        for edition in Edition::ALL {
            let workload = Classic {
                edition,
                transactions: 3_000,
                subdirectories: 7,
                ..Classic::default()
            };
            let mut stream = ClassicStream::new(&workload).unwrap();
            let mut live = std::collections::BTreeMap::new();
            for phase in Phase::ALL {
                for intent in intents(&mut stream, phase) {
                    match intent.action {
                        Action::Create => {
                            assert_eq!(
                                live.insert(intent.number, (intent.place, intent.bytes)),
                                None
                            );
                        }
                        Action::Delete => {
                            let file = live.remove(&intent.number);
                            assert_eq!(file, Some((intent.place, intent.size_bytes)));
                        }
                        Action::Read => assert_eq!(live[&intent.number].1, intent.bytes),
                        Action::Append => {
                            let size = &mut live.get_mut(&intent.number).unwrap().1;
                            assert_eq!(*size, intent.size_bytes);
                            *size += intent.bytes;
                            assert!(*size <= workload.size_high_bytes);
                        }
                        _ => {}
                    }
                }
                if phase == Phase::Transactions {
                    let mut kept = 0;
                    stream.pool(&mut |_| kept += 1);
                    assert_eq!(kept, live.len());
                }
            }
            assert!(live.is_empty());
        }
    }

    #[test]
    fn deleting_without_creating_empties_the_pool() {
        let workload = Classic {
            files: 20,
            transactions: 100,
            bias_create: Bias::new(0).unwrap(),
            ..Classic::default()
        };
        let mut stream = ClassicStream::new(&workload).unwrap();
        assert_eq!(intents(&mut stream, Phase::Prepare).len(), 20);
        intents(&mut stream, Phase::Transactions);
        assert_eq!(
            (stream.end(), stream.transactions_begun()),
            (End::OutOfFiles, 20)
        );
    }

    #[test]
    fn transactions_end_if_no_file_can_be_drawn() {
        // Edition 1.0 draws only slots below 32,768. The pool of 50,000 files has 100,000 slots.
        // Deletions free slots below 32,768, but new files get slots above.
        let workload = Classic {
            edition: Edition::V1_0,
            files: 50_000,
            transactions: 200_000,
            size_low_bytes: 1,
            size_high_bytes: 10,
            ..Classic::default()
        };
        let mut stream = ClassicStream::new(&workload).unwrap();
        intents(&mut stream, Phase::Prepare);
        intents(&mut stream, Phase::Transactions);
        assert_eq!(stream.end(), End::OutOfReach);
        assert!(stream.transactions_begun() > 32_768);
        assert!(intents(&mut stream, Phase::Delete).len() > 10_000);
    }

    #[test]
    fn disabled_operations_of_pairs_do_not_change_the_number_of_transactions() {
        for (read, create) in [(-1, 5), (5, -1), (-1, -1)] {
            let workload = Classic {
                bias_read: Bias::new(read).unwrap(),
                bias_create: Bias::new(create).unwrap(),
                ..Classic::default()
            };
            let mut stream = ClassicStream::new(&workload).unwrap();
            intents(&mut stream, Phase::Prepare);
            let ended = intents(&mut stream, Phase::Transactions)
                .iter()
                .filter(|intent| intent.ends_transaction)
                .count();
            assert_eq!(ended, 500, "biases {read} and {create}");
        }
    }
}
