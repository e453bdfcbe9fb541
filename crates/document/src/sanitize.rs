//! Escapes harmful characters in untrusted strings before the strings are printed. Records, paths,
//! names of hosts and devices, answers of the system, configuration files and arguments may contain
//! characters that control a terminal or are invisible.
//!
//! C0 controls and DEL are escaped by their numbers, as `\x1b`, but `\n`, `\r` and `\t` by these
//! names. All other harmful characters are escaped by their code points, as `\u{202e}`. These other
//! characters include C1 controls, and all characters that Unicode 16 defines as format characters
//! (Cf), as line or paragraph separators, or as default-ignorable. The source is
//! `DerivedCoreProperties.txt` (<https://www.unicode.org/reports/tr44/>). Harmful characters thus
//! include bidirectional overrides, isolates and marks, zero-width characters, fillers, variation
//! selectors and tags. Other text of any script is unchanged.
//!
//! A backslash is not escaped, so that escaping twice has the same result as escaping once. An
//! escaped character and the same escape as literal text therefore look alike; both are harmless.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Ranges of invisible and control characters (first and last) in ascending order. C0, DEL and C1
/// are recognised by [`char::is_control`].
const INVISIBLE: [(char, char); 25] = [
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{600}', '\u{605}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{6dd}', '\u{6dd}'),
    ('\u{70f}', '\u{70f}'),
    ('\u{890}', '\u{891}'),
    ('\u{8e2}', '\u{8e2}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{2028}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fffb}'),
    ('\u{110bd}', '\u{110bd}'),
    ('\u{110cd}', '\u{110cd}'),
    ('\u{13430}', '\u{1343f}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

/// Returns whether a character must be escaped.
pub fn is_harmful(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_control();
    }
    let after = INVISIBLE.partition_point(|(_, last)| *last < character);
    character.is_control()
        || INVISIBLE
            .get(after)
            .is_some_and(|(first, _)| *first <= character)
}

/// Escapes a text for one line. Unlike [`lines`], it also escapes newlines.
pub fn sanitize(text: &str) -> Cow<'_, str> {
    escaped(text, is_harmful)
}

/// Escapes a text of several lines. Newlines, tabs, and carriage returns directly before newlines
/// (the line ends of CSV) are unchanged. Untrusted strings in the text must already be escaped,
/// because their newlines would add lines.
pub fn lines(text: &str) -> Cow<'_, str> {
    let is_escaped = |character: char| !matches!(character, '\n' | '\t') && is_harmful(character);
    if !text.contains("\r\n") {
        return escaped(text, is_escaped);
    }
    let lines: Vec<Cow<'_, str>> = text
        .split("\r\n")
        .map(|line| escaped(line, is_escaped))
        .collect();
    Cow::Owned(lines.join("\r\n"))
}

/// Escapes a path for one line. Bytes that are not UTF-8 are escaped by their values, as `\xff`, so
/// paths that differ in such bytes have different texts.
pub fn path(path: &Path) -> Cow<'_, str> {
    os(path.as_os_str())
}

/// Escapes a string of the operating system in the same way as [`path`] escapes a path.
pub fn os(text: &OsStr) -> Cow<'_, str> {
    if let Some(text) = text.to_str() {
        return sanitize(text);
    }
    let mut shown = String::new();
    for chunk in text.as_bytes().utf8_chunks() {
        shown.push_str(&sanitize(chunk.valid()));
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(shown, "\\x{byte:02x}");
        }
    }
    Cow::Owned(shown)
}

/// Escapes any displayable value for one line. Callers use it for arguments of `format!`, and for
/// values that are not strings.
pub fn shown<T: fmt::Display>(value: T) -> impl fmt::Display {
    Shown(value)
}

struct Shown<T>(T);

impl<T: fmt::Display> fmt::Display for Shown<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.width().is_some() || f.precision().is_some() {
            return f.pad(&sanitize(&self.0.to_string()));
        }
        write!(Escaping(f), "{}", self.0)
    }
}

/// A writer that escapes all text, including newlines.
pub struct Escaping<W>(
    /// Receives the escaped text.
    pub W,
);

impl<W: Write> Write for Escaping<W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write_str(&sanitize(text))
    }
}

/// Escapes harmful characters in JSON by JSON's own escapes (RFC 8259), so that the parsed value is
/// the same. Newlines between values are unchanged; JSON writes newlines in strings as `\n`.
pub fn json(text: &str) -> Cow<'_, str> {
    let is_escaped = |character: char| character != '\n' && is_harmful(character);
    if !text.contains(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_escaped(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// Escapes a field of a CSV file (RFC 4180), quoted if necessary. A text that a spreadsheet would
/// interpret as a formula gets a leading apostrophe
/// (<https://owasp.org/www-community/attacks/CSV_Injection>). Numbers must not be escaped by this
/// function, because negative numbers would become text.
pub fn csv(text: &str) -> Cow<'_, str> {
    let text = sanitize(text);
    let is_formula = text.trim_start().starts_with([
        '=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}',
    ]);
    match (is_quoted(&text), is_formula) {
        (false, false) => text,
        (false, true) => Cow::Owned(format!("'{text}")),
        (true, _) => {
            let lead = if is_formula { "'" } else { "" };
            Cow::Owned(format!("\"{lead}{}\"", text.replace('"', "\"\"")))
        }
    }
}

/// Quotes a field of CSV that contains a text of this program, if necessary. No apostrophe is
/// added, so a leading minus remains.
pub(crate) fn quoted(text: &str) -> Cow<'_, str> {
    if !is_quoted(text) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
}

fn is_quoted(text: &str) -> bool {
    // A semicolon is quoted, because spreadsheets whose decimal separator is a comma separate
    // fields by semicolons.
    text.contains(['"', ',', ';']) || text.starts_with(' ') || text.ends_with(' ')
}

/// Escapes a text for an element or a quoted attribute of HTML or SVG, so that it is not
/// interpreted as markup.
pub fn html(text: &str) -> Cow<'_, str> {
    let text = sanitize(text);
    if !text.contains(['&', '<', '>', '"', '\'']) {
        return text;
    }
    let mut marked = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '&' => marked.push_str("&amp;"),
            '<' => marked.push_str("&lt;"),
            '>' => marked.push_str("&gt;"),
            '"' => marked.push_str("&quot;"),
            '\'' => marked.push_str("&#39;"),
            _ => marked.push(character),
        }
    }
    Cow::Owned(marked)
}

/// Escapes a text for a line or a table's cell of Markdown (CommonMark, with GitHub's tables and
/// links). The escaped text is not interpreted as markup, HTML or a link, and does not start a
/// heading, a list or a quotation.
pub fn markdown(text: &str) -> Cow<'_, str> {
    let text = sanitize(text);
    let begins = text.len() - text.trim_start().len();
    // The position after the digits that could begin a numbered list, as in `12. item`.
    let numbered = text.len()
        - text[begins..]
            .trim_start_matches(|digit: char| digit.is_ascii_digit())
            .len();
    let mut marked = String::with_capacity(text.len());
    for (at, character) in text.char_indices() {
        match character {
            '&' => marked.push_str("&amp;"),
            '<' => marked.push_str("&lt;"),
            '>' => marked.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '{' | '}' | '#' | '|' | '~' | '!' | '$' => {
                marked.extend(['\\', character]);
            }
            '-' | '+' | '=' if at == begins => marked.extend(['\\', character]),
            '.' | ')' if at == numbered && at > begins => marked.extend(['\\', character]),
            // GitHub converts texts with `://`, `www.` or `@` to links.
            ':' if text[at..].starts_with("://") => marked.push_str("\\:"),
            '.' if ends_with_www(&text[..at]) => marked.push_str("\\."),
            '@' => marked.push_str("&#64;"),
            _ => marked.push(character),
        }
    }
    if marked == text {
        text
    } else {
        Cow::Owned(marked)
    }
}

fn ends_with_www(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 3 && bytes[bytes.len() - 3..].eq_ignore_ascii_case(b"www")
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    // Almost all texts consist of printable ASCII characters and newlines. They are returned
    // without a copy, which saves time in long lists.
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\n');
    if text.bytes().all(is_plain) && (!is_escaped('\n') || !text.contains('\n')) {
        return Cow::Borrowed(text);
    }
    let Some(first) = text.find(&is_escaped) else {
        return Cow::Borrowed(text);
    };
    let mut shown = String::with_capacity(text.len() + 16);
    shown.push_str(&text[..first]);
    for character in text[first..].chars() {
        if is_escaped(character) {
            escape(&mut shown, character);
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

fn escape(shown: &mut String, character: char) {
    match character {
        '\n' => shown.push_str("\\n"),
        '\r' => shown.push_str("\\r"),
        '\t' => shown.push_str("\\t"),
        // Writing to a string cannot fail.
        _ if character.is_ascii() => {
            let _ = write!(shown, "\\x{:02x}", u32::from(character));
        }
        _ => {
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(character));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn visible_text_is_unchanged() {
        for text in [
            "",
            "/mnt/disk",
            "C:\\temp",
            "größer, 日本語, русский, עברית, العربية, हिन्दी",
            "µs ± ≥ …",
            "☠ 🦀",
        ] {
            assert!(
                matches!(sanitize(text), Cow::Borrowed(shown) if shown == text),
                "{text}"
            );
        }
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(
            sanitize("\u{1b}[2J\u{1b}]0;title\u{7}"),
            "\\x1b[2J\\x1b]0;title\\x07"
        );
        assert_eq!(sanitize("a\u{8}b\u{7f}c\0d"), "a\\x08b\\x7fc\\x00d");
        assert_eq!(
            sanitize("one\ntwo\rthree\tfour"),
            "one\\ntwo\\rthree\\tfour"
        );
        // The C1 control U+009B introduces a control sequence with a single character.
        assert_eq!(sanitize("\u{9b}31m"), "\\u{9b}31m");
        assert_eq!(lines("one\n\u{1b}two\t\n"), "one\n\\x1btwo\t\n");
        // CSV lines end with a carriage return and a newline. A single carriage return would let
        // the terminal overwrite the line.
        assert_eq!(lines("a,\u{1b}\r\nb\rc\r\r\n"), "a,\\x1b\r\nb\\rc\\r\r\n");
        assert_eq!(lines("\r\n"), "\r\n");
    }

    #[test]
    fn invisible_characters_are_escaped() {
        for invisible in [
            "\u{202a}",
            "\u{202e}",
            "\u{2066}",
            "\u{2069}",
            "\u{200e}",
            "\u{200f}",
            "\u{61c}",
            "\u{200b}",
            "\u{200d}",
            "\u{2028}",
            "\u{2029}",
            "\u{feff}",
            "\u{ad}",
            "\u{2060}",
            "\u{180e}",
            "\u{3164}",
            "\u{fe0f}",
            "\u{e0041}",
            "\u{e01ef}",
            "\u{fff9}",
            "\u{85}",
            "\u{110bd}",
        ] {
            let code = u32::from(invisible.chars().next().unwrap());
            assert_eq!(
                sanitize(&format!("a{invisible}b")),
                format!("a\\u{{{code:x}}}b")
            );
        }
    }

    #[test]
    fn ranges_of_invisible_characters_are_ascending_and_disjoint() {
        assert!(INVISIBLE.iter().all(|(first, last)| first <= last));
        assert!(INVISIBLE.windows(2).all(|pair| pair[0].1 < pair[1].0));
    }

    #[test]
    fn bytes_that_are_not_utf8_are_escaped_in_paths() {
        let bytes = OsStr::from_bytes(b"/mnt/\xff\x1b[31m/\xc3\xa4");
        assert_eq!(path(Path::new(bytes)), "/mnt/\\xff\\x1b[31m/ä");
        assert_eq!(os(OsStr::new("plain")), "plain");
    }

    #[test]
    fn escaped_values_are_padded_to_the_width_of_the_format() {
        assert_eq!(
            format!("{}", shown(format_args!("{}\u{1b}{}", 1, "\n"))),
            "1\\x1b\\n"
        );
        assert_eq!(
            format!("{:>6}|{:<6}|", shown("\u{1b}"), shown(12)),
            "  \\x1b|12    |"
        );
    }

    #[test]
    fn no_csv_field_is_a_formula() {
        for (text, field) in [
            ("plain", "plain"),
            ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            (" =1", "\"' =1\""),
            ("\u{ff1d}1", "'\u{ff1d}1"),
            ("\t=1", "\\t=1"),
            ("a,b", "\"a,b\""),
            ("a;b", "\"a;b\""),
            ("say \"so\"", "\"say \"\"so\"\"\""),
            (
                "=HYPERLINK(\"x\",\"y\")",
                "\"'=HYPERLINK(\"\"x\"\",\"\"y\"\")\"",
            ),
            ("two\r\nlines", "two\\r\\nlines"),
        ] {
            assert_eq!(csv(text), field);
        }
    }

    #[test]
    fn markdown_texts_contain_no_markup() {
        for (text, shown) in [
            ("plain-text 1.5 (x)", "plain-text 1.5 (x)"),
            ("a|b", "a\\|b"),
            ("`rm -rf`", "\\`rm -rf\\`"),
            (
                "<script>alert(1)</script>",
                "&lt;script&gt;alert(1)&lt;/script&gt;",
            ),
            ("&lt;b&gt;", "&amp;lt;b&amp;gt;"),
            ("[a](javascript:b)", "\\[a\\](javascript:b)"),
            ("![a](http://b)", "\\!\\[a\\](http\\://b)"),
            ("www.example.org WWW.a", "www\\.example.org WWW\\.a"),
            ("a@b.org", "a&#64;b.org"),
            ("# heading", "\\# heading"),
            ("- item", "\\- item"),
            ("12. item", "12\\. item"),
            ("12) item", "12\\) item"),
            ("===", "\\==="),
            ("***", "\\*\\*\\*"),
            ("\\", "\\\\"),
            ("line\nbreak", "line\\\\nbreak"),
        ] {
            assert_eq!(markdown(text), shown);
        }
    }

    #[test]
    fn escaped_json_has_the_same_value() {
        let hostile = "\u{1b}[2J\u{7f}\u{9b}1m\u{202e}\u{e0041}ä\n\"\\";
        let written = serde_json::to_string_pretty(&[hostile]).unwrap();
        let shown = json(&written);
        assert!(
            !shown
                .chars()
                .any(|character| character != '\n' && is_harmful(character)),
            "{shown}"
        );
        assert!(shown.contains("\\u202e\\udb40\\udc41ä"), "{shown}");
        assert_eq!(
            serde_json::from_str::<[String; 1]>(&shown).unwrap(),
            [hostile]
        );
    }

    proptest! {
        #[test]
        fn escaped_text_contains_no_harmful_characters(text in any::<String>()) {
            let shown = sanitize(&text);
            prop_assert!(!shown.chars().any(is_harmful));
            prop_assert_eq!(sanitize(&shown), shown.clone());
            prop_assert_eq!(format!("{}", super::shown(&text)), shown.as_ref());
            let of_lines = lines(&text).replace("\r\n", "\n");
            prop_assert!(!of_lines.chars().any(|character| !matches!(character, '\n' |
                '\t') && is_harmful(character)));
            prop_assert!(!markdown(&text).contains(['<', '>']));
            prop_assert!(!csv(&text).chars().any(is_harmful));
        }

        #[test]
        fn escaped_paths_are_harmless(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let shown = os(OsStr::from_bytes(&bytes)).into_owned();
            prop_assert!(!shown.chars().any(is_harmful));
        }
    }
}
