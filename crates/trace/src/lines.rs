//! Lines of a text of any length, in bounded memory.

use std::io::{self, BufRead};

/// The rest of a longer line is skipped.
const LINE_BYTES_MAX: usize = 64 << 10;

/// Splits an input into lines.
pub struct Lines<R> {
    input: R,
    line: Vec<u8>,
    /// The number of lines that were longer than 64 KiB, of which only the start was read.
    pub cut: u64,
}

impl<R: BufRead> Lines<R> {
    pub fn new(input: R) -> Self {
        Self {
            input,
            line: Vec::new(),
            cut: 0,
        }
    }

    /// Returns the next line without its end; `None` at the end of the input.
    pub fn next_line(&mut self) -> io::Result<Option<&[u8]>> {
        self.line.clear();
        let (mut is_long, mut is_empty) = (false, true);
        loop {
            let bytes = match self.input.fill_buf() {
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => continue,
                bytes => bytes?,
            };
            if bytes.is_empty() {
                break;
            }
            is_empty = false;
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let of_line = &bytes[..end.unwrap_or(bytes.len())];
            let free = LINE_BYTES_MAX - self.line.len();
            is_long |= of_line.len() > free;
            self.line
                .extend_from_slice(&of_line[..of_line.len().min(free)]);
            let used = of_line.len() + usize::from(end.is_some());
            self.input.consume(used);
            if end.is_some() {
                break;
            }
        }
        self.cut += u64::from(is_long);
        Ok((!is_empty).then_some(&self.line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_line_is_cut_and_the_next_line_is_complete() {
        let text = [vec![b'x'; LINE_BYTES_MAX + 5], b"\n\nend".to_vec()].concat();
        let mut lines = Lines::new(io::BufReader::with_capacity(7, &text[..]));
        assert_eq!(
            lines.next_line().unwrap().map(<[u8]>::len),
            Some(LINE_BYTES_MAX)
        );
        assert_eq!(lines.next_line().unwrap(), Some(&b""[..]));
        assert_eq!(lines.next_line().unwrap(), Some(&b"end"[..]));
        assert_eq!(lines.next_line().unwrap(), None);
        assert_eq!(lines.cut, 1);
    }
}
