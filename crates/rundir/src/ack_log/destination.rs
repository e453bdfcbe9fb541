//! Where an acknowledgement log goes: to a file, or through standard output to another program.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionread;

/// Interval at which a pipe is examined, in nanoseconds.
const POLL_NS: i64 = 50_000;

/// Whether the log goes to standard output.
pub fn is_standard_output(path: &Path) -> bool {
    path == Path::new("-")
}

pub(super) fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => directory,
        _ => Path::new("."),
    }
}

#[derive(Debug)]
pub(super) struct Destination {
    file: File,
    /// Whether it is a pipe, a socket or a terminal, which cannot be synced.
    is_stream: bool,
}

impl Destination {
    /// Opens standard output, or creates the file.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = match is_standard_output(path) {
            true => File::from(io::stdout().as_fd().try_clone_to_owned()?),
            false => {
                let mut options = OpenOptions::new();
                let options = options.append(true).create_new(true).mode(0o644);
                options.open(path)?
            }
        };
        Self::of(file)
    }

    pub(super) fn of(file: File) -> io::Result<Self> {
        let kind = file.metadata()?.file_type();
        Ok(Self {
            file,
            is_stream: kind.is_fifo() || kind.is_socket() || kind.is_char_device(),
        })
    }

    pub(super) fn write(&mut self, lines: &[u8]) -> io::Result<()> {
        self.file.write_all(lines)
    }

    /// Waits until the written lines are on the device of the file, or until the reader of the pipe
    /// has read them.
    pub(super) fn sync(&self) -> io::Result<()> {
        match self.is_stream {
            true => self.wait_for_reader(),
            false => self.file.sync_data(),
        }
    }

    /// Syncs the file and its directory, after the first line.
    pub(super) fn sync_with_directory(&self, path: &Path) -> io::Result<()> {
        if self.is_stream {
            return self.wait_for_reader();
        }
        self.file.sync_all()?;
        if is_standard_output(path) {
            return Ok(());
        }
        match File::open(directory_of(path)).and_then(|directory| directory.sync_all()) {
            // Some file systems do not support syncing directories.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
            synced => synced,
        }
    }

    fn wait_for_reader(&self) -> io::Result<()> {
        // A socket and a terminal report no bytes.
        while ioctl_fionread(&self.file).unwrap_or(0) > 0 {
            let mut ended = [PollFd::new(&self.file, PollFlags::empty())];
            let interval = Timespec {
                tv_sec: 0,
                tv_nsec: POLL_NS,
            };
            if poll(&mut ended, Some(&interval))? > 0 {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::time::Duration;

    use super::*;

    fn pipe() -> (Destination, File) {
        let (reader, writer) = rustix::pipe::pipe().unwrap();
        (Destination::of(writer.into()).unwrap(), reader.into())
    }

    #[test]
    fn sync_of_a_pipe_returns_when_its_reader_has_read_everything() {
        let (mut destination, mut reader) = pipe();
        destination.write(b"12345").unwrap();
        let synced = std::thread::spawn(move || destination.sync());
        let mut first = [0; 4];
        reader.read_exact(&mut first).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        assert!(!synced.is_finished(), "a byte is in the pipe");
        reader.read_exact(&mut first[..1]).unwrap();
        synced.join().unwrap().unwrap();
    }

    #[test]
    fn pipe_without_a_reader_is_an_error() {
        let (mut destination, reader) = pipe();
        destination.write(b"12345").unwrap();
        drop(reader);
        let error = destination.sync().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        let error = destination.write(b"6").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
