//! Memory that sessions read to, write from and take answers in: had when a session opens, never
//! afterwards.

use std::ops::Range;

use engine::DIRECT_ALIGNMENT;
use engine::{OpenError, Settings};

/// Memory that begins at a multiple of [`DIRECT_ALIGNMENT`].
#[derive(Debug)]
pub(crate) struct Memory {
    all: Vec<u8>,
    begin: usize,
    bytes: usize,
}

impl Memory {
    /// Touched, so that its pages are there before the first operation.
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
    pub(crate) fn part(&mut self, range: Range<usize>) -> &mut [u8] {
        &mut self.bytes()[range]
    }
}

/// Where reads go.
#[derive(Debug)]
pub(crate) struct Reads {
    memory: Memory,
    block: usize,
    keeps: bool,
    /// Where the next block goes, where it fits.
    next: usize,
    /// How far the last read's contents reach.
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

    /// Whether contents are kept, to be looked at.
    #[inline]
    pub(crate) fn keeps(&self) -> bool {
        self.keeps
    }

    /// A new read begins.
    #[inline]
    pub(crate) fn begin(&mut self) {
        (self.next, self.filled) = (0, 0);
    }

    /// Where the next block goes, of which so many bytes are wanted.
    #[inline]
    pub(crate) fn next_block(&mut self, length: usize) -> usize {
        if length > 0 && self.next + self.block > self.memory.bytes {
            (self.next, self.filled) = (0, 0);
        }
        let at = self.next;
        self.next += length;
        at
    }

    /// The room from `at` to `end`.
    #[inline]
    pub(crate) fn room(&mut self, at: usize, end: usize) -> &mut [u8] {
        self.memory.part(at..end)
    }

    /// The contents now reach this far.
    #[inline]
    pub(crate) fn filled(&mut self, end: usize) {
        self.filled = end;
    }

    /// What the last read gave, where that is kept.
    pub(crate) fn content(&self) -> Option<&[u8]> {
        let begin = self.memory.begin;
        self.keeps
            .then(|| &self.memory.all[begin..begin + self.filled])
    }
}

/// Where writes come from.
#[derive(Debug)]
pub(crate) struct Writes {
    block: usize,
    /// One block, to which contents are copied that are not aligned: in direct input and output
    /// only.
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

    /// A block in the form that it can be written in.
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

/// Room for answers of the kernel: entries of directories, targets of links, values of attributes.
/// As long as the longest of them (an extended attribute's value), so that one that is too long is
/// seen as such.
#[derive(Debug)]
pub(crate) struct Answers(Memory);

impl Answers {
    /// Linux's `XATTR_SIZE_MAX`.
    const BYTES: usize = 1 << 16;
    /// What the C library reads directories with.
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
