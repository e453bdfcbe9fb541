//! A call in the text of strace: name, arguments and result.

use crate::line::nanoseconds;

/// A finished call. Arguments are as strace shows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call<'a> {
    /// The name without suffixes of 32-bit systems: `fcntl` for `fcntl64`.
    pub name: &'a str,
    pub arguments: Vec<&'a [u8]>,
    /// The return value; `None` if the call failed or did not return.
    pub answer: Option<i64>,
    /// The name of the error, such as `ENOENT`.
    pub error: Option<&'a str>,
    /// With the option `-y`, the path of the returned descriptor.
    pub returned_path: Option<&'a [u8]>,
    /// With the option `-T`, the duration in nanoseconds.
    pub took_ns: Option<u64>,
}

/// A descriptor as an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor<'a> {
    /// The number; `None` for `AT_FDCWD`.
    pub number: Option<i32>,
    /// With the option `-y`, the path.
    pub path: Option<&'a [u8]>,
}

impl<'a> Call<'a> {
    /// Parses a call; `None` if the text is not a complete call.
    pub fn parse(text: &'a [u8]) -> Option<Self> {
        let open = text.iter().position(|byte| *byte == b'(')?;
        let name = std::str::from_utf8(&text[..open]).ok()?;
        let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        if name.is_empty() || !name.bytes().all(is_name) {
            return None;
        }
        let (arguments, rest) = split(&text[open + 1..])?;
        let rest = rest.trim_ascii_start().strip_prefix(b"= ")?;
        let (rest, took_ns) = duration(rest);
        let length = rest.iter().position(|byte| b" <".contains(byte));
        let (value, rest) = rest.split_at(length.unwrap_or(rest.len()));
        let is_failure = value == b"-1" || value == b"?";
        let error = rest.trim_ascii_start().split(|byte| *byte == b' ').next();
        let error = error.and_then(|error| std::str::from_utf8(error).ok());
        Some(Self {
            name: plain_name(name),
            arguments,
            answer: (!is_failure).then(|| number(value)).flatten(),
            error: error.filter(|error| is_failure && error.starts_with('E')),
            returned_path: path_in_brackets(rest),
            took_ns,
        })
    }

    /// Returns an argument; empty if the call has fewer.
    pub fn argument(&self, index: usize) -> &'a [u8] {
        self.arguments.get(index).copied().unwrap_or_default()
    }

    /// Whether an argument contains a flag, such as `O_CREAT`.
    pub fn has(&self, index: usize, flag: &str) -> bool {
        let argument = self.argument(index);
        let words = argument.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
        words.into_iter().any(|word| word == flag.as_bytes())
    }

    pub fn number(&self, index: usize) -> Option<i64> {
        number(self.argument(index))
    }

    /// Returns the descriptor at `index`; `None` if the argument is something else.
    pub fn descriptor(&self, index: usize) -> Option<Descriptor<'a>> {
        let argument = self.argument(index);
        let length = argument.iter().position(|byte| *byte == b'<');
        let (value, rest) = argument.split_at(length.unwrap_or(argument.len()));
        let number = match value {
            b"AT_FDCWD" => None,
            value => Some(number(value)?.try_into().ok()?),
        };
        let path = path_in_brackets(rest);
        Some(Descriptor { number, path })
    }

    /// Decodes the string at `index`; `None` if the argument is not a string, or was truncated.
    pub fn string(&self, index: usize) -> Option<Vec<u8>> {
        let argument = self.argument(index);
        let inside = argument.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        Some(unescaped(inside))
    }

    /// Returns the value of a field such as `st_size` in a structure.
    pub fn field(&self, index: usize, name: &str) -> Option<&'a [u8]> {
        let argument = self.argument(index);
        let start = crate::line::find(argument, name.as_bytes())? + name.len();
        let value = argument[start..].strip_prefix(b"=")?;
        let end = value.iter().position(|byte| b",}".contains(byte));
        Some(&value[..end.unwrap_or(value.len())])
    }
}

/// Removes the marks of 32-bit systems and of wider types from the name of a call.
fn plain_name(name: &str) -> &str {
    let name = name.strip_suffix("_time64").unwrap_or(name);
    let name = name.strip_suffix("64").unwrap_or(name);
    let name = name.strip_suffix("32").unwrap_or(name);
    match name {
        "newfstatat" => "fstatat",
        "_llseek" => "lseek",
        "mmap2" => "mmap",
        "preadv2" => "preadv",
        "pwritev2" => "pwritev",
        name => name,
    }
}

/// Parses a number: decimal, hexadecimal or octal.
pub fn number(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?;
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16)
            .ok()
            .map(|value| value as i64);
    }
    match text.strip_prefix('0') {
        Some(digits) if !digits.is_empty() => i64::from_str_radix(digits, 8).ok(),
        _ => text.parse().ok(),
    }
}

/// Splits off the duration at the end of a result, such as `<0.000017>`.
fn duration(rest: &[u8]) -> (&[u8], Option<u64>) {
    let inside = rest.strip_suffix(b">");
    let start = rest.iter().rposition(|byte| *byte == b'<');
    let found = inside.zip(start).and_then(|(inside, start)| {
        let took = nanoseconds(inside.get(start + 1..)?)?;
        Some((rest[..start].trim_ascii_end(), Some(took)))
    });
    found.unwrap_or((rest, None))
}

/// Returns the path in angle brackets; `None` for sockets, pipes and other objects.
fn path_in_brackets(text: &[u8]) -> Option<&[u8]> {
    let inside = text.strip_prefix(b"<")?;
    let end = inside.iter().position(|byte| *byte == b'>')?;
    Some(&inside[..end]).filter(|path| path.starts_with(b"/"))
}

/// Splits arguments up to the closing parenthesis, and returns what follows.
fn split(text: &[u8]) -> Option<(Vec<&[u8]>, &[u8])> {
    let mut arguments = Vec::new();
    let (mut start, mut depth, mut at) = (0, 0_u32, 0);
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => at = end_of_string(text, at)?,
            b'<' if at > 0 && is_bracket(text, at) => at = end_of_path(text, at)?,
            b'(' | b'[' | b'{' => depth += 1,
            b')' if depth == 0 => {
                let last = text[start..at].trim_ascii();
                if !last.is_empty() {
                    arguments.push(last);
                }
                return Some((arguments, &text[at + 1..]));
            }
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                arguments.push(text[start..at].trim_ascii());
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Whether an angle bracket encloses the path of a descriptor. `<<` is a shift.
fn is_bracket(text: &[u8], at: usize) -> bool {
    let before = text[at - 1];
    (before.is_ascii_digit() || before == b'D') && text.get(at + 1) != Some(&b'<')
}

fn end_of_string(text: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match text.get(at)? {
            b'\\' => at += 2,
            b'"' => return Some(at),
            _ => at += 1,
        }
    }
}

/// An arrow in the address of a socket, `->`, does not end it.
fn end_of_path(text: &[u8], start: usize) -> Option<usize> {
    let ends = (start + 1..text.len()).find(|at| text[*at] == b'>' && text[at - 1] != b'-');
    ends.filter(|at| *at < text.len())
}

/// Decodes the escapes of strace: `\n`, `\"`, octal such as `\33`, and `\x1b`.
pub fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        let Some((kind, after)) = after.split_first().filter(|_| *byte == b'\\') else {
            bytes.push(*byte);
            continue;
        };
        let (value, used) = match kind {
            b'x' => digits(&after[..after.len().min(2)], 16),
            b'0'..=b'7' => digits(&rest[..rest.len().min(3)], 8),
            _ => (simple(*kind), 0),
        };
        bytes.push(value);
        rest = match kind {
            b'0'..=b'7' => &rest[used..],
            _ => &after[used..],
        };
    }
    bytes
}

fn simple(kind: u8) -> u8 {
    match kind {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'v' => 0x0b,
        b'f' => 0x0c,
        other => other,
    }
}

fn digits(text: &[u8], radix: u32) -> (u8, usize) {
    let values = text
        .iter()
        .map_while(|byte| char::from(*byte).to_digit(radix));
    let (value, used) = values.fold((0_u32, 0), |(value, used), digit| {
        (value * radix + digit, used + 1)
    });
    (value as u8, used)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Call<'_> {
        Call::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn arguments_with_paths_structures_and_strings_are_split() {
        let call = parsed(
            "fstatat64(3</a, (b)>, \"x, \\\"y\\\")\", {st_mode=S_IFREG|0644, st_size=12, ...}, \
             AT_SYMLINK_NOFOLLOW) = 0 <0.000017>",
        );
        assert_eq!((call.name, call.arguments.len()), ("fstatat", 4));
        let directory = Descriptor {
            number: Some(3),
            path: Some(b"/a, (b)"),
        };
        assert_eq!(call.descriptor(0), Some(directory));
        assert_eq!(call.string(1).unwrap(), b"x, \"y\")");
        assert_eq!(call.field(2, "st_size"), Some(&b"12"[..]));
        assert!(call.has(3, "AT_SYMLINK_NOFOLLOW") && !call.has(3, "AT_SYMLINK"));
        assert_eq!((call.answer, call.took_ns), (Some(0), Some(17_000)));
    }

    #[test]
    fn results_are_parsed() {
        let call = parsed("openat(AT_FDCWD</>, \"a\", O_RDONLY) = 3</a>");
        assert_eq!(
            (call.answer, call.returned_path),
            (Some(3), Some(&b"/a"[..]))
        );
        let call = parsed("open(\"a\", O_RDONLY) = -1 ENOENT (No such file or directory)");
        assert_eq!((call.answer, call.error), (None, Some("ENOENT")));
        let call = parsed("mmap2(NULL, 4096, PROT_READ, MAP_SHARED, 3, 0) = 0x7f0000000000");
        assert_eq!((call.name, call.answer), ("mmap", Some(0x7f00_0000_0000)));
        let call = parsed("read(3<TCP:[1.2.3.4:5->6.7.8.9:10]>, \"\"..., 9) = ? ERESTARTSYS (x)");
        assert_eq!((call.answer, call.error), (None, Some("ERESTARTSYS")));
        assert_eq!(call.string(1), None);
        assert_eq!(
            number(b"0xffffffffffffffff9"),
            None,
            "forged numbers are none"
        );
        for text in ["read(3, \"ab", "read(3", "exit_group(0)", "x y() = 0", ""] {
            assert_eq!(Call::parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn escapes_are_decoded() {
        let rows: [(&str, &[u8]); 4] = [
            ("a\\n\\\"\\\\", b"a\n\"\\"),
            ("\\33[0\\0009", b"\x1b[0\x009"),
            ("\\xc3\\xa4\\x", b"\xc3\xa4\0"),
            ("\\", b"\\"),
        ];
        for (text, bytes) in rows {
            assert_eq!(unescaped(text.as_bytes()), bytes, "{text}");
        }
    }
}
