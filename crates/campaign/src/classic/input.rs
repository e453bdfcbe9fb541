//! Sources of input lines: the trait for all sources, and the plain prompt of pipes and scripts.
//! Lines are bytes, because a path need not be UTF-8.

use std::io::{self, BufRead, Read as _, Write};

/// The prompt, which is written before each line.
pub const PROMPT: &str = "pm>";
/// Maximum length of a line, in bytes: far above that of a path, which is 4,096 bytes.
pub(super) const LINE_MAX_BYTES: u64 = 1 << 20;

/// A source of lines that shows a prompt.
pub trait PromptInput {
    /// Writes the prompt to `output` and returns the next line without its line end; `None` at the
    /// end of input.
    ///
    /// # Errors
    /// Returns an error if reading or writing fails.
    fn line(&mut self, output: &mut dyn Write) -> io::Result<Option<Vec<u8>>>;
}

/// The prompt for input or output that is not a terminal. It is written before every line and at
/// the end of input.
#[derive(Debug)]
pub struct Plain<R> {
    reader: R,
}

impl<R: BufRead> Plain<R> {
    pub fn new(reader: R) -> Self {
        Self { reader }
    }
}

impl<R: BufRead> PromptInput for Plain<R> {
    fn line(&mut self, output: &mut dyn Write) -> io::Result<Option<Vec<u8>>> {
        output.write_all(PROMPT.as_bytes())?;
        output.flush()?;
        read_line(&mut self.reader, LINE_MAX_BYTES)
    }
}

/// Reads a line without its line end. Returns `None` at the end of input. The last line may lack a
/// line end.
///
/// # Errors
/// Returns an error if the reader fails, or a line is longer than `max_bytes`.
pub(super) fn read_line(reader: &mut impl BufRead, max_bytes: u64) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    if reader
        .by_ref()
        .take(max_bytes + 1)
        .read_until(b'\n', &mut line)?
        == 0
    {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if line.len() as u64 > max_bytes {
        let message = format!("a line of more than {max_bytes} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    Ok(Some(line))
}
