//! Where lines come from: anything that gives them with a prompt, and the plain prompt of pipes and
//! scripts. Lines are bytes: a path need not be text.

use std::io::{self, BufRead, Read as _, Write};

/// What stands before a line.
pub const PROMPT: &str = "pm>";
/// The longest line that is taken; paths end at 4,096 bytes.
pub(super) const LINE_MAX_BYTES: u64 = 1 << 20;

/// Gives lines.
pub trait PromptInput {
    /// The next line, without its end; `None` at the end of input. The prompt goes to `output`.
    ///
    /// # Errors
    /// Where there is nothing to read from or to write to.
    fn line(&mut self, output: &mut dyn Write) -> io::Result<Option<Vec<u8>>>;
}

/// The prompt as it is where input or output is no terminal: printed before every line, at the end
/// too.
#[derive(Debug)]
pub struct Plain<R> {
    reader: R,
}

impl<R: BufRead> Plain<R> {
    /// Takes lines from a reader.
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

/// A line without its end, `None` at the end of input. The last line needs no end.
///
/// # Errors
/// Where the reader cannot be read, or a line is longer than `max_bytes`.
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
