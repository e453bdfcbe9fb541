//! Parses numbers as the original PostMark does: like the C library's `atoi`, into a 32-bit `int`.
//! Trailing text is ignored.
//!
//! Other options of this program use `workload::quantity`, which rejects trailing text.

/// A number as `atoi` returns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptNumber {
    /// The value that the original would use.
    pub value: i32,
    /// Whether the text consists only of this number and blanks, and the number fits into an `int`.
    pub exact: bool,
}

/// Parses a number as `atoi` does: blanks, a sign and digits; trailing text is ignored. Without
/// digits the result is 0. The value saturates at 64 bits, and its lower 32 bits are returned.
pub fn atoi(text: &[u8]) -> PromptNumber {
    let blanks = text.iter().take_while(|byte| is_blank(**byte)).count();
    let (negative, from) = match text.get(blanks) {
        Some(b'-') => (true, blanks + 1),
        Some(b'+') => (false, blanks + 1),
        _ => (false, blanks),
    };
    let digits = text[from..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let mut wide = 0_i64;
    for byte in &text[from..from + digits] {
        let digit = i64::from(byte - b'0');
        let digit = if negative { -digit } else { digit };
        wide = wide.saturating_mul(10).saturating_add(digit);
    }
    let rest = &text[from + digits..];
    PromptNumber {
        value: wide as i32,
        exact: digits > 0 && rest.iter().all(|byte| is_blank(*byte)) && i32::try_from(wide).is_ok(),
    }
}

/// Whether the byte is a blank for the C library's `isspace`.
pub fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_atoi_does() {
        for (text, value, exact) in [
            ("500", 500, true),
            ("  -7 ", -7, true),
            ("+5", 5, true),
            ("60\r", 60, true),
            ("", 0, false),
            ("x", 0, false),
            ("-", 0, false),
            ("- 5", 0, false),
            ("1k", 1, false),
            ("12.7", 12, false),
            ("0x10", 0, false),
            ("4294967297", 1, false),
            ("99999999999", 1_215_752_191, false),
            ("2147483647", i32::MAX, true),
            ("2147483648", i32::MIN, false),
            ("99999999999999999999", -1, false),
            ("-99999999999999999999", 0, false),
        ] {
            assert_eq!(
                atoi(text.as_bytes()),
                PromptNumber { value, exact },
                "{text}"
            );
        }
    }
}
