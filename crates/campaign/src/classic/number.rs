//! Numbers as the original reads them: the C library's `atoi` in a 32-bit `int`, which takes what
//! it can get.
//!
//! Not how our own options read numbers (`workload::quantity`): those refuse what this passes over.

/// A number with what was made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptNumber {
    /// What the original understands.
    pub value: i32,
    /// Whether that is what stands there: nothing but blanks around a number that fits.
    pub exact: bool,
}

/// Reads a number as `atoi` does: blanks, a sign, digits, and never mind the rest. Without digits
/// it is 0, and what does not fit in 64 bits stops at their end; of the result the lower 32 bits
/// remain.
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

/// What the C library's `isspace` takes for a blank.
pub fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_what_it_can_get() {
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
