//! Words of shared memory (64-bit atomics) that outlive the process. One thread writes its state to
//! these words, and another process can read the state after the writer has ended. The words are in
//! a file on a file system in memory, so that nothing is written to a disk.

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use rustix::fs::{
    AtFlags, CWD, FallocateFlags, FlockOperation, Mode, OFlags, flock, linkat, openat,
};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// Number of 8-byte words in a [`Line`], which fills two cache lines of 64 bytes.
pub const LINE_WORDS: usize = 16;

/// Words that one thread writes. They fill two aligned cache lines, so they share no cache line
/// with words of other threads. Two are used because processors fetch cache lines in pairs.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub struct Line(pub [AtomicU64; LINE_WORDS]);

/// An array of [`Line`]s. All words are initially 0.
#[derive(Debug)]
pub struct Lines {
    backing: Backing,
}

#[derive(Debug)]
enum Backing {
    /// Memory of this process, which is released when the process ends.
    Heap(Box<[Line]>),
    /// A shared mapping of a file, unmapped on drop.
    Mapped { first: NonNull<Line>, count: usize },
}

// SAFETY: lines contain atomics only, and the mapping does not move until the last owner drops it.
unsafe impl Send for Lines {}
// SAFETY: threads that share lines change them only through atomics.
unsafe impl Sync for Lines {}

impl Lines {
    /// Creates lines in memory that no other process can read. Unlike lines in a file, they are
    /// lost when this process ends.
    pub fn private(count: usize) -> Arc<Self> {
        Arc::new(Self {
            backing: Backing::Heap((0..count).map(|_| Line::default()).collect()),
        })
    }

    /// Creates lines in a new file that only its owner may access. Returns the lines, and the file,
    /// which is locked (flock(2)) until it is closed. The file has no name until it is locked, so
    /// no other process finds it unlocked while this process is alive.
    ///
    /// # Errors
    /// Returns an error if the file cannot be created, allocated, mapped, locked or named. No file
    /// is left in this case.
    pub fn create(path: &Path, count: usize) -> io::Result<(Arc<Self>, File)> {
        let directory = path.parent().unwrap_or(Path::new("."));
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let file = File::from(openat(CWD, directory, flags, Mode::RUSR | Mode::WUSR)?);
        let lines = Self {
            backing: map(&file, count)?,
        };
        // The mapping keeps its open file description, and a lock on it would outlive the returned
        // file. So the lock is on a description of its own.
        let nameless = format!("/proc/self/fd/{}", file.as_raw_fd());
        let locked = File::open(&nameless)?;
        flock(&locked, FlockOperation::NonBlockingLockExclusive)?;
        linkat(CWD, nameless, CWD, path, AtFlags::SYMLINK_FOLLOW)?;
        Ok((Arc::new(lines), locked))
    }

    /// Returns a handle of one line.
    ///
    /// # Panics
    /// Panics if `index` is out of range.
    pub fn line(self: &Arc<Self>, index: usize) -> LineHandle {
        LineHandle {
            line: NonNull::from(&self[index]),
            _lines: Arc::clone(self),
        }
    }
}

fn map(file: &File, count: usize) -> io::Result<Backing> {
    let bytes = count * size_of::<Line>();
    // Allocates all pages in advance, because a signal would kill the process if a page could not
    // be allocated at its first write.
    rustix::fs::fallocate(file, FallocateFlags::empty(), 0, bytes as u64)?;
    // SAFETY: a new mapping at an address that the kernel chooses does not overlap memory in use.
    let first = unsafe {
        mmap(
            std::ptr::null_mut(),
            bytes,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::SHARED,
            file,
            0,
        )?
    };
    let first = NonNull::new(first.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
    Ok(Backing::Mapped { first, count })
}

impl Deref for Lines {
    type Target = [Line];

    fn deref(&self) -> &[Line] {
        match &self.backing {
            Backing::Heap(lines) => lines,
            // SAFETY: the mapping has room for `count` lines and begins at a page. It was zeroed,
            // which is valid for atomics, and lives as long as `self`.
            Backing::Mapped { first, count } => unsafe {
                std::slice::from_raw_parts(first.as_ptr(), *count)
            },
        }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        if let Backing::Mapped { first, count } = self.backing {
            // SAFETY: the mapping has this length, and no reference to it exists any more.
            let _ = unsafe { munmap(first.as_ptr().cast(), count * size_of::<Line>()) };
        }
    }
}

/// A handle of a line. Access to the line needs no lookup of its index.
#[derive(Clone, Debug)]
pub struct LineHandle {
    line: NonNull<Line>,
    /// Keeps the mapping alive.
    _lines: Arc<Lines>,
}

// SAFETY: a line contains atomics only.
unsafe impl Send for LineHandle {}
// SAFETY: threads that share a line change it only through atomics.
unsafe impl Sync for LineHandle {}

impl Deref for LineHandle {
    type Target = [AtomicU64; LINE_WORDS];

    #[inline]
    fn deref(&self) -> &Self::Target {
        // SAFETY: `line` points into `_lines`, which does not move and lives as long as this
        // handle.
        &unsafe { self.line.as_ref() }.0
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;

    #[test]
    fn words_written_to_a_line_are_in_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lines");
        let (lines, _locked) = Lines::create(&path, 3).unwrap();
        let line = lines.line(2);
        line[5].store(77, Ordering::Relaxed);
        assert_eq!(lines[2].0[5].load(Ordering::Relaxed), 77);
        let text = std::fs::read(&path).unwrap();
        assert_eq!(text.len(), 3 * size_of::<Line>());
        let at = 2 * size_of::<Line>() + 5 * 8;
        assert_eq!(u64::from_ne_bytes(text[at..at + 8].try_into().unwrap()), 77);
        drop(lines);
        line[5].store(78, Ordering::Relaxed);
        assert!(
            Lines::create(&path, 1).is_err(),
            "a file that is there is not taken"
        );
    }

    #[test]
    fn file_is_locked_until_it_is_closed_although_its_lines_are_in_use() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lines");
        let (lines, locked) = Lines::create(&path, 1).unwrap();
        let other = File::open(&path).unwrap();
        let lock = || flock(&other, FlockOperation::NonBlockingLockExclusive);
        assert!(lock().is_err());
        drop(locked);
        assert_eq!(lock(), Ok(()));
        assert_eq!(lines[0].0[0].load(Ordering::Relaxed), 0);
    }

    #[test]
    fn private_lines_keep_written_words() {
        let lines = Lines::private(2);
        lines.line(1)[0].store(1, Ordering::Relaxed);
        assert_eq!(lines[1].0[0].load(Ordering::Relaxed), 1);
        assert_eq!(lines[0].0[0].load(Ordering::Relaxed), 0);
    }
}
