//! Buffers for reads, writes and directory listings. A session allocates all its buffers when it is
//! opened.

use std::ops::Range;

use engine::DIRECT_ALIGNMENT;
use engine::{OpenError, Settings};

/// Memory whose address is a multiple of [`DIRECT_ALIGNMENT`].
#[derive(Debug)]
pub(crate) struct Memory {
    all: Vec<u8>,
    begin: usize,
    bytes: usize,
}

impl Memory {
    /// Allocates the memory and writes to every page, so that operations cause no page faults.
    pub(crate) fn new(bytes: usize) -> Result<Self, OpenError> {
        let mut all = Vec::new();
        let reserve = bytes.checked_add(DIRECT_ALIGNMENT);
        reserve
            .and_then(|reserve| all.try_reserve_exact(reserve).ok())
            .ok_or(OpenError::NoMemory(bytes))?;
        all.resize(bytes + DIRECT_ALIGNMENT, 1);
        let begin = all.as_ptr().align_offset(DIRECT_ALIGNMENT);
        assert!(begin < DIRECT_ALIGNMENT, "bytes can be aligned");
        Ok(Self { all, begin, bytes })
    }

    #[inline]
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        &mut self.all[self.begin..self.begin + self.bytes]
    }

    #[inline]
    pub(crate) fn filled(&self, range: Range<usize>) -> &[u8] {
        &self.all[self.begin..self.begin + self.bytes][range]
    }

    #[inline]
    pub(crate) fn part(&mut self, range: Range<usize>) -> &mut [u8] {
        &mut self.bytes()[range]
    }
}

/// The buffer that files are read into.
#[derive(Debug)]
pub(crate) struct Reads {
    memory: Memory,
    block: usize,
    keeps: bool,
    /// The offset of the next block in the buffer. If the block does not fit between this offset
    /// and the end of the buffer, it is stored at the start.
    next: usize,
    /// The end of the last read's contents in the buffer.
    filled: usize,
}

impl Reads {
    pub(crate) fn new(settings: &Settings) -> Result<Self, OpenError> {
        let (block, kept) = (settings.read_block_bytes, settings.keep_contents_bytes);
        assert!(block > 0, "a block has at least one byte");
        let bytes = kept
            .max(block)
            .checked_next_multiple_of(block)
            .ok_or(OpenError::NoMemory(kept))?;
        Ok(Self {
            memory: Memory::new(bytes)?,
            block,
            keeps: kept > 0,
            next: 0,
            filled: 0,
        })
    }

    #[inline]
    pub(crate) fn block(&self) -> u64 {
        self.block as u64
    }

    /// Whether contents are kept for verification.
    #[inline]
    pub(crate) fn keeps(&self) -> bool {
        self.keeps
    }

    /// Starts a new read at the beginning of the buffer.
    #[inline]
    pub(crate) fn begin(&mut self) {
        (self.next, self.filled) = (0, 0);
    }

    /// Returns the offset in the buffer for the next block, of which `length` bytes are to be read.
    #[inline]
    pub(crate) fn next_block(&mut self, length: usize) -> usize {
        if length > 0 && self.next + self.block > self.memory.bytes {
            (self.next, self.filled) = (0, 0);
        }
        let at = self.next;
        self.next += length;
        at
    }

    #[inline]
    pub(crate) fn room(&mut self, at: usize, end: usize) -> &mut [u8] {
        self.memory.part(at..end)
    }

    /// Records that the contents in the buffer end at the offset `end`.
    #[inline]
    pub(crate) fn filled(&mut self, end: usize) {
        self.filled = end;
    }

    /// Copies the contents of a whole read to the buffer, block by block.
    pub(crate) fn keep(&mut self, content: &[u8]) {
        for block in content.chunks(self.block) {
            let at = self.next_block(block.len());
            self.room(at, at + block.len()).copy_from_slice(block);
            self.filled(at + block.len());
        }
    }

    /// Returns the contents of the last read; `None` if contents are not kept.
    pub(crate) fn content(&self) -> Option<&[u8]> {
        self.keeps.then(|| self.memory.filled(0..self.filled))
    }
}

/// The block size of writes, and the aligned buffer of direct I/O.
#[derive(Debug)]
pub(crate) struct Writes {
    block: usize,
    /// Buffer of one block for contents that are not aligned; `Some` for direct I/O only.
    aligned: Option<Memory>,
}

impl Writes {
    pub(crate) fn new(settings: &Settings) -> Result<Self, OpenError> {
        let block = settings.write_block_bytes;
        assert!(block > 0, "a block has at least one byte");
        if settings.direct {
            for block in [block, settings.read_block_bytes] {
                assert!(
                    block % DIRECT_ALIGNMENT == 0,
                    "a block of {block} bytes is no multiple of {DIRECT_ALIGNMENT}, as direct \
                     input and output needs it"
                );
            }
        }
        Ok(Self {
            block,
            aligned: settings.direct.then(|| Memory::new(block)).transpose()?,
        })
    }

    #[inline]
    pub(crate) fn block(&self) -> usize {
        self.block
    }

    #[inline]
    pub(crate) fn is_direct(&self) -> bool {
        self.aligned.is_some()
    }

    /// Returns the block, copied to the aligned buffer if direct I/O requires that.
    #[inline]
    pub(crate) fn prepared<'a>(&'a mut self, block: &'a [u8]) -> &'a [u8] {
        match &mut self.aligned {
            Some(memory) if block.as_ptr().align_offset(DIRECT_ALIGNMENT) != 0 => {
                let aligned = memory.part(0..block.len());
                aligned.copy_from_slice(block);
                aligned
            }
            _ => block,
        }
    }
}

/// Buffer for results of the kernel: directory entries, targets of symbolic links, and values of
/// extended attributes. The buffer can store the largest value of an extended attribute, so a value
/// longer than expected is recognized.
#[derive(Debug)]
pub(crate) struct Answers(Memory);

impl Answers {
    /// Linux's `XATTR_SIZE_MAX`, the maximum size of an extended attribute.
    const BYTES: usize = 1 << 16;
    /// The buffer size that the C library uses for getdents64(2).
    const ENTRIES_BYTES: usize = 1 << 15;

    pub(crate) fn new() -> Result<Self, OpenError> {
        Memory::new(Self::BYTES).map(Self)
    }

    #[inline]
    pub(crate) fn all(&mut self) -> &mut [u8] {
        self.0.bytes()
    }

    #[inline]
    pub(crate) fn entries(&mut self) -> &mut [u8] {
        self.0.part(0..Self::ENTRIES_BYTES)
    }
}
