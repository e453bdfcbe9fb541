//! Parses TOML from untrusted sources. The memory for parsing is proportional to the length of the
//! text.

use serde::de::{DeserializeOwned, Error as _};

/// Maximum number of keys, values, brackets and lines in a file: 262,144. A file with 16,384
/// locations, each with three lines and a blank line, is below this maximum. The parser needs up to
/// 1 kB of memory for each of these parts.
const PARTS_MAX: usize = 1 << 18;

/// Parses a TOML text, and refuses a text with more than 262,144 parts (keys, values, brackets and
/// lines).
///
/// # Errors
/// Returns the problem and its position, or only the problem if the text has too many parts.
pub fn read_toml<T: DeserializeOwned>(text: &str) -> Result<T, toml::de::Error> {
    if parts(text) > PARTS_MAX {
        return Err(toml::de::Error::custom(format!(
            "it has more than {PARTS_MAX} keys, values, brackets and lines (use fewer; a long \
             histogram belongs in a file: histogram@FILE)"
        )));
    }
    toml::from_str(text)
}

/// Returns the number of keys, values, brackets and lines of a TOML text. Counts strings, words,
/// and separators outside of strings and comments.
fn parts(text: &str) -> usize {
    let mut rest = text.as_bytes();
    let mut parts = 0;
    let mut is_in_word = false;
    while let Some((first, behind)) = rest.split_first() {
        let (length, is_part) = match first {
            b'#' => (line_end(rest), false),
            b'"' | b'\'' => (string_end(rest, *first), true),
            b' ' | b'\t' => (1, false),
            b'=' | b',' | b'.' | b'[' | b']' | b'{' | b'}' | b'\n' => (1, true),
            _ => {
                let is_first = !is_in_word;
                (is_in_word, rest) = (true, behind);
                parts += usize::from(is_first);
                continue;
            }
        };
        is_in_word = false;
        parts += usize::from(is_part);
        rest = &rest[length..];
    }
    parts
}

fn line_end(text: &[u8]) -> usize {
    text.iter()
        .position(|byte| *byte == b'\n')
        .unwrap_or(text.len())
}

/// Returns the end of the string at the start of `text`. A single-line string ends at the end of
/// its line, even without a closing quote.
fn string_end(text: &[u8], quote: u8) -> usize {
    let is_long = text.starts_with(&[quote; 3]);
    let quotes = if is_long { 3 } else { 1 };
    let mut at = quotes;
    while at < text.len() {
        match text[at] {
            b'\\' if quote == b'"' => at += 2,
            b'\n' if !is_long => return at,
            byte if byte == quote && text[at..].starts_with(&[quote; 3][..quotes]) => {
                return at + quotes;
            }
            _ => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_counted_outside_of_strings_and_comments() {
        for (text, expected) in [
            ("", 0),
            ("files = 10\n", 4),
            ("# a = b, c\n", 1),
            ("a = \"x = 1, [{}] # \\\" y\" # z", 3),
            ("a = 'x\\' # = =", 3),
            ("a = \"\"\"x\n\"y\" = =\n\"\"\"\n", 4),
            ("a = '''\n''' = ''", 5),
            ("a = \"no end = = =\nb = 1", 7),
            ("a.b=[1,{}]", 10),
            ("a = \"\\", 3),
        ] {
            assert_eq!(parts(text), expected, "{text:?}");
        }
    }

    #[test]
    fn largest_allowed_configuration_is_parsed() {
        let bins: Vec<String> = (0..65_536_u64)
            .map(|bin| format!("{bin}KiB..{}KiB=10", bin + 1))
            .collect();
        let mut text = format!("size = \"histogram:{}\"\n", bins.join(","));
        for target in 0..crate::LOCATIONS_MAX {
            text.push_str(&format!(
                "\n[[target]]\npath = \"/mnt/{target}\"\nweight = 1\n"
            ));
        }
        let read: toml::Table = read_toml(&text).unwrap();
        assert_eq!(
            read["target"].as_array().map(Vec::len),
            Some(crate::LOCATIONS_MAX)
        );
    }

    #[test]
    fn text_with_too_many_parts_is_refused_before_parsing() {
        for part in [
            "a.b.c.d=1\n",
            "a={a={a=1}}\n",
            "[[a.b]]\n",
            "\n",
            "a ",
            "{},",
            "\"\" ",
            "'' ",
        ] {
            let error = read_toml::<toml::Table>(&part.repeat((1 << 18) + 1)).unwrap_err();
            assert!(
                error.to_string().contains("more than 262144 keys"),
                "{part:?}: {error}"
            );
        }
    }
}
