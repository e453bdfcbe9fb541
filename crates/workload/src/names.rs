//! File names: short or long, in order or scattered. Every name contains the running number of its
//! file. Parsing rejects a name that the format would not write for this number.

use std::fmt;
use std::str::FromStr;

use engine::NameWriter;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::WorkloadError;
use crate::random::{again, before_again};

pub use engine::NameKind;

/// The maximum length of a name in bytes, without the suffix of its kind.
pub const LENGTH_MAX: u8 = 200;
/// The number of hexadecimal digits that encode the running number in a hashed name.
const HASH_DIGITS: usize = 16;
/// The time in seconds with which maildir names begin. Running numbers are added to this time as
/// microseconds.
const MAILDIR_SECONDS: u64 = 1_700_000_000;
const MICROSECONDS: u64 = 1_000_000;
const MAILDIR_MIDDLE: &[u8] = b".M";
const MAILDIR_END: &[u8] = b"P1.postmark";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NameForm {
    /// The running number: `17`.
    #[default]
    Decimal,
    /// The running number with leading zeros: `0000000000000017`.
    Padded,
    /// Hexadecimal digits in no visible order, as from a hash: `61c8864680b583eb`.
    Hashed,
    /// The format of file names on mail servers: `1700000000.M000017P1.postmark`.
    Maildir,
}

/// The names of files. Serialised as its text form, such as `padded:16`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = "^(decimal|maildir|(padded|hashed):[0-9]+)$"))]
pub struct Names {
    pub form: NameForm,
    /// The length of a name in bytes; 0 if the format has no fixed length.
    pub length: u8,
}

impl NameForm {
    const ALL: [Self; 4] = [Self::Decimal, Self::Padded, Self::Hashed, Self::Maildir];

    const fn name(self) -> &'static str {
        match self {
            Self::Decimal => "decimal",
            Self::Padded => "padded",
            Self::Hashed => "hashed",
            Self::Maildir => "maildir",
        }
    }

    /// Returns the minimum length of names in this format; `None` if the format has no fixed
    /// length.
    const fn length_min(self) -> Option<u8> {
        match self {
            Self::Padded => Some(1),
            Self::Hashed => Some(HASH_DIGITS as u8),
            Self::Decimal | Self::Maildir => None,
        }
    }

    fn invalid_length(self, text: &str, low: u8) -> WorkloadError {
        let form = self.name();
        invalid!(
            "invalid length in '{text}': {form} names have {low} to {LENGTH_MAX} bytes, like \
             {form}:{low}"
        )
    }
}

impl Names {
    /// Checks that the length of names is within the limits of their format.
    pub fn validate(&self) -> Result<(), WorkloadError> {
        match self.form.length_min() {
            Some(low) if !(low..=LENGTH_MAX).contains(&self.length) => {
                Err(self.form.invalid_length(&self.to_string(), low))
            }
            None if self.length != 0 => Err(no_length(&format!("{self}:{}", self.length))),
            _ => Ok(()),
        }
    }

    #[inline]
    pub fn write(&self, kind: NameKind, number: u64, to: &mut NameWriter<'_>) {
        match self.form {
            NameForm::Decimal => to.push_decimal(number, 1),
            NameForm::Padded => to.push_decimal(number, usize::from(self.length)),
            NameForm::Hashed => push_hashed(number, usize::from(self.length), to),
            NameForm::Maildir => {
                to.push_decimal(MAILDIR_SECONDS + number / MICROSECONDS, 1);
                to.extend(MAILDIR_MIDDLE);
                to.push_decimal(number % MICROSECONDS, 6);
                to.extend(MAILDIR_END);
            }
        }
        to.extend(kind.suffix());
    }

    /// Returns the kind and the number in a name; `None` if [`Self::write`] never writes this name.
    pub fn parse(&self, name: &[u8]) -> Option<(NameKind, u64)> {
        let mut others = NameKind::ALL[1..].iter().copied();
        let kind = others
            .find(|kind| name.ends_with(kind.suffix()))
            .unwrap_or(NameKind::File);
        let stem = name.strip_suffix(kind.suffix())?;
        let number = match self.form {
            NameForm::Decimal | NameForm::Padded => parse_decimal(stem)?,
            NameForm::Hashed => parse_hashed(stem)?,
            NameForm::Maildir => {
                let end = stem
                    .len()
                    .checked_sub(MAILDIR_MIDDLE.len() + 6 + MAILDIR_END.len())?;
                let seconds = parse_decimal(&stem[..end])?.checked_sub(MAILDIR_SECONDS)?;
                let microseconds = parse_decimal(
                    &stem[end + MAILDIR_MIDDLE.len()..end + MAILDIR_MIDDLE.len() + 6],
                )?;
                seconds
                    .checked_mul(MICROSECONDS)?
                    .checked_add(microseconds)?
            }
        };
        // A name that `write` would not produce, for example one with additional zeros, is
        // rejected.
        let mut written = Vec::with_capacity(name.len());
        self.write(kind, number, &mut NameWriter::new(&mut written));
        (written == name).then_some((kind, number))
    }

    /// Returns the length in bytes of the longest name of any kind, for numbers up to
    /// `numbers_max`.
    pub fn length_max(&self, numbers_max: u64) -> usize {
        let mut longest = Vec::new();
        self.write(
            NameKind::Temporary,
            numbers_max,
            &mut NameWriter::new(&mut longest),
        );
        longest.len()
    }
}

/// Parses a decimal number, which may have leading zeros.
pub(crate) fn parse_decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, digit| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

fn push_hashed(number: u64, length: usize, to: &mut NameWriter<'_>) {
    let mut left = length.max(HASH_DIGITS);
    let mut hash = number;
    while left > 0 {
        hash = again(hash);
        let mut digits = [0; HASH_DIGITS];
        for (place, digit) in (1..).zip(&mut digits) {
            *digit = b"0123456789abcdef"[hash.rotate_left(4 * place) as usize & 15];
        }
        let wanted = left.min(HASH_DIGITS);
        to.extend(&digits[..wanted]);
        left -= wanted;
    }
}

fn parse_hashed(stem: &[u8]) -> Option<u64> {
    let hash = stem
        .get(..HASH_DIGITS)?
        .iter()
        .try_fold(0_u64, |hash, digit| {
            let digit = char::from(*digit).to_digit(16)?;
            Some(hash << 4 | u64::from(digit))
        })?;
    Some(before_again(hash))
}

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.form.name())?;
        match self.form.length_min() {
            Some(_) => write!(f, ":{}", self.length),
            None => Ok(()),
        }
    }
}

impl FromStr for Names {
    type Err = WorkloadError;

    /// Accepts `decimal`, `padded:16`, `hashed:20`, and `maildir`. The default length is 16.
    fn from_str(text: &str) -> Result<Self, WorkloadError> {
        let text = text.trim();
        let (name, length) = match text.split_once(':') {
            Some((name, length)) => (name, Some(length.trim())),
            None => (text, None),
        };
        let form = NameForm::ALL
            .into_iter()
            .find(|form| form.name() == name.trim())
            .ok_or_else(|| invalid!("expected decimal, padded:16, hashed:20 or maildir"))?;
        let length = match (form.length_min(), length) {
            (None, None) => 0,
            (None, Some(_)) => return Err(no_length(text)),
            (Some(_), None) => HASH_DIGITS as u8,
            (Some(low), Some(length)) => length
                .parse()
                .ok()
                .filter(|length| (low..=LENGTH_MAX).contains(length))
                .ok_or_else(|| form.invalid_length(text, low))?,
        };
        Ok(Self { form, length })
    }
}

text_form!(Names);

fn no_length(text: &str) -> WorkloadError {
    invalid!("'{text}' must not have a length: these names have no fixed length")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(text: &str) -> Names {
        text.parse().unwrap()
    }

    fn written(text: &str, kind: NameKind, number: u64) -> String {
        let mut bytes = Vec::new();
        names(text).write(kind, number, &mut NameWriter::new(&mut bytes));
        String::from_utf8(bytes).unwrap()
    }

    const FORMS: [&str; 8] = [
        "decimal",
        "padded:1",
        "padded:16",
        "padded:200",
        "hashed:16",
        "hashed:20",
        "hashed:200",
        "maildir",
    ];

    #[test]
    fn names_have_the_documented_format() {
        assert_eq!(written("decimal", NameKind::File, 17), "17");
        assert_eq!(written("decimal", NameKind::Temporary, 0), "0.t");
        assert_eq!(written("padded:8", NameKind::File, 17), "00000017");
        assert_eq!(written("padded:2", NameKind::Link, 12_345), "12345.l");
        assert_eq!(written("hashed:16", NameKind::File, 0), "e220a8397b1dcdaf");
        assert_eq!(
            written("hashed:20", NameKind::SymbolicLink, 0),
            "e220a8397b1dcdafa706.y"
        );
        assert_eq!(
            written("maildir", NameKind::File, 3_000_017),
            "1700000003.M000017P1.postmark"
        );
        assert_eq!(
            written("maildir", NameKind::Directory, 1),
            "1700000000.M000001P1.postmark.d"
        );
    }

    proptest! {
        #[test]
        fn written_names_parse(number: u64, shift in 0_u32..64, form in 0_usize..8,
            kind in 0_usize..6) {
            let (names, kind, number) = (names(FORMS[form]), NameKind::ALL[kind], number >> shift);
            let mut name = Vec::new();
            names.write(kind, number, &mut NameWriter::new(&mut name));
            prop_assert_eq!(names.parse(&name), Some((kind, number)));
            prop_assert!(name.len() <= names.length_max(number) && name.len() < 256);
            // A name with one changed or missing byte is not parsed as the same number.
            for at in 0..name.len() {
                let mut other = name.clone();
                other[at] ^= 1;
                prop_assert!(names.parse(&other) != Some((kind, number)));
                other.remove(at);
                prop_assert!(names.parse(&other) != Some((kind, number)));
            }
        }

        #[test]
        fn only_names_that_would_be_written_parse(
            name in "[0-9a-f]{0,22}(\\.M[0-9]{6}P1\\.postmark)?(\\.[tlydrx])?",
            form in 0_usize..8
        ) {
            let names = names(FORMS[form]);
            if let Some((kind, number)) = names.parse(name.as_bytes()) {
                let mut written = Vec::new();
                names.write(kind, number, &mut NameWriter::new(&mut written));
                prop_assert_eq!(written, name.as_bytes());
            }
        }
    }

    #[test]
    fn foreign_names_are_rejected() {
        for name in [
            "",
            ".",
            "..",
            ".t",
            "t",
            "017",
            "+17",
            "-1",
            " 17",
            "17 ",
            "17.T",
            "17.x",
            "17.t.t",
            "0x17",
            "18446744073709551616",
            "README",
            "s3",
            ".postmark-manifest.json",
        ] {
            assert_eq!(names("decimal").parse(name.as_bytes()), None, "{name}");
        }
        for (form, name) in [
            ("padded:4", "17"),
            ("padded:4", "00017"),
            ("hashed:16", "E220A8397B1DCDAF"),
            ("hashed:16", "e220a8397b1dcdafa706"),
            ("hashed:20", "e220a8397b1dcdafa707"),
            ("hashed:16", "e220a8397b1dcda"),
            ("maildir", "1699999999.M000001P1.postmark"),
            ("maildir", "01700000000.M000001P1.postmark"),
            ("maildir", "1700000000.M1P1.postmark"),
            ("maildir", "1700000000.M000001P2.postmark"),
            ("maildir", "17"),
        ] {
            assert_eq!(names(form).parse(name.as_bytes()), None, "{form} {name}");
        }
    }

    #[test]
    fn names_parse_and_print() {
        for text in FORMS {
            assert_eq!(names(text).to_string(), text);
            assert_eq!(names(text).validate(), Ok(()));
        }
        assert_eq!(names("hashed"), names("hashed:16"));
        for (text, part) in [
            ("", "expected decimal"),
            ("random", "expected decimal"),
            ("decimal:5", "must not have a length"),
            ("padded:0", "1 to 200"),
            ("padded:x", "1 to 200"),
            ("hashed:15", "16 to 200"),
            ("hashed:201", "16 to 200"),
        ] {
            let message = text.parse::<Names>().unwrap_err().to_string();
            assert!(message.contains(part), "{text}: {message}");
        }
        let wrong = [
            (NameForm::Decimal, 3),
            (NameForm::Hashed, 0),
            (NameForm::Padded, 201),
        ];
        for (form, length) in wrong {
            assert!(Names { form, length }.validate().is_err());
        }
    }
}
