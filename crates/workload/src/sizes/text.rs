//! The text form of size distributions.

use std::fmt;
use std::str::FromStr;

use super::{Bin, FORMS, Sizes, check_bounds, invalid_sigma};
use crate::WorkloadError;
use crate::quantity;

/// Parses the text of a histogram file. Each line contains a bin: `low..high weight` or `size
/// weight`; `#` begins a comment.
///
/// # Errors
/// Returns an error with the number of the invalid line.
pub fn parse_histogram(text: &str) -> Result<Sizes, WorkloadError> {
    let mut bins = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let bin = parse_bin(line, line.rsplit_once(char::is_whitespace));
        bins.push(bin.map_err(|why| invalid!("line {}: {why}", index + 1))?);
    }
    valid(Sizes::Histogram(bins))
}

fn valid(sizes: Sizes) -> Result<Sizes, WorkloadError> {
    sizes.validate()?;
    Ok(sizes)
}

fn parse_bin(text: &str, parts: Option<(&str, &str)>) -> Result<Bin, WorkloadError> {
    let (range, weight) = parts.ok_or_else(|| {
        invalid!(
            "'{text}' is not a bin with a weight (write it like 1KiB..8KiB=50 or 64KiB=20, in a \
             file like 1KiB..8KiB 50)"
        )
    })?;
    let (low, high) = quantity::byte_range(range)?;
    check_bounds(low, high)?;
    Ok(Bin {
        low,
        high,
        weight: quantity::count(weight)?,
    })
}

/// The parameters of a distribution, as in its text form.
struct Parameters<'a> {
    form: &'static str,
    example: &'static str,
    given: Vec<(&'a str, &'a str)>,
}

impl<'a> Parameters<'a> {
    fn parse(
        form: &'static str,
        example: &'static str,
        names: &[&str],
        text: &'a str,
    ) -> Result<Self, WorkloadError> {
        let mut given: Vec<(&str, &str)> = Vec::new();
        for part in text.split(',').map(str::trim) {
            let parameter = part
                .split_once('=')
                .map(|(name, value)| (name.trim(), value.trim()));
            let Some((name, value)) = parameter.filter(|(name, _)| names.contains(name)) else {
                return Err(invalid!(
                    "'{part}' is not a parameter of {form} (write it like {example})"
                ));
            };
            if given.iter().any(|(other, _)| *other == name) {
                return Err(invalid!("'{name}' occurs twice"));
            }
            given.push((name, value));
        }
        Ok(Self {
            form,
            example,
            given,
        })
    }

    fn find(&self, name: &str) -> Option<&'a str> {
        self.given
            .iter()
            .find(|(other, _)| *other == name)
            .map(|(_, value)| *value)
    }

    fn text(&self, name: &'static str) -> Result<&'a str, WorkloadError> {
        self.find(name).ok_or_else(|| {
            let Self { form, example, .. } = self;
            invalid!("{form} needs the parameter '{name}' (write it like {example})")
        })
    }

    fn bytes(&self, name: &'static str) -> Result<u64, WorkloadError> {
        quantity::bytes(self.text(name)?)
    }

    /// Returns the lower bound of sizes, which is 1 by default.
    fn low(&self) -> Result<u64, WorkloadError> {
        self.find("min").map_or(Ok(1), quantity::bytes)
    }
}

impl FromStr for Sizes {
    type Err = WorkloadError;

    /// Accepts the text forms that the implementation of `Display` writes.
    fn from_str(text: &str) -> Result<Self, WorkloadError> {
        let text = text.trim();
        let Some((form, rest)) = text.split_once(':') else {
            if !text.starts_with(|first: char| first.is_ascii_digit()) {
                return Err(unknown_form(text));
            }
            let (low, high) = quantity::byte_range(text)?;
            let is_range = text.contains("..") || text.contains('-');
            return valid(if is_range {
                Self::Uniform { low, high }
            } else {
                Self::Fixed(low)
            });
        };
        valid(match form.trim() {
            "lognormal" => {
                let example = "lognormal:median=8KiB,sigma=1.2,max=1MiB,min=1";
                let given = Parameters::parse(
                    "lognormal",
                    example,
                    &["median", "sigma", "max", "min"],
                    rest,
                )?;
                let sigma = given.text("sigma")?;
                Self::Lognormal {
                    median: given.bytes("median")?,
                    sigma: sigma.parse().map_err(|_| invalid_sigma(&sigma))?,
                    low: given.low()?,
                    high: given.bytes("max")?,
                }
            }
            "exponential" => {
                let example = "exponential:mean=16KiB,max=1MiB,min=1";
                let given =
                    Parameters::parse("exponential", example, &["mean", "max", "min"], rest)?;
                Self::Exponential {
                    mean: given.bytes("mean")?,
                    low: given.low()?,
                    high: given.bytes("max")?,
                }
            }
            "histogram" => {
                let bins = rest
                    .split(',')
                    .map(|bin| parse_bin(bin.trim(), bin.split_once('=')));
                Self::Histogram(bins.collect::<Result<_, _>>()?)
            }
            _ => return Err(unknown_form(text)),
        })
    }
}

/// Displays a number of bytes in the largest unit that divides it.
struct Bytes(u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(1_u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
        match units
            .iter()
            .find(|(unit, _)| self.0 > 0 && self.0.is_multiple_of(*unit))
        {
            Some((unit, name)) => write!(f, "{}{name}", self.0 / unit),
            None => write!(f, "{}", self.0),
        }
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let min = |f: &mut fmt::Formatter<'_>, low: u64| match low {
            1 => Ok(()),
            _ => write!(f, ",min={}", Bytes(low)),
        };
        match self {
            Self::Fixed(size) => write!(f, "{}", Bytes(*size)),
            Self::Uniform { low, high } => write!(f, "{}..{}", Bytes(*low), Bytes(*high)),
            Self::Lognormal {
                median,
                sigma,
                low,
                high,
            } => {
                let (median, high) = (Bytes(*median), Bytes(*high));
                write!(f, "lognormal:median={median},sigma={sigma},max={high}")?;
                min(f, *low)
            }
            Self::Exponential { mean, low, high } => {
                write!(f, "exponential:mean={},max={}", Bytes(*mean), Bytes(*high))?;
                min(f, *low)
            }
            Self::Histogram(bins) => {
                f.write_str("histogram")?;
                for (index, bin) in bins.iter().enumerate() {
                    f.write_str(if index == 0 { ":" } else { "," })?;
                    write!(f, "{}", Bytes(bin.low))?;
                    if bin.high != bin.low {
                        write!(f, "..{}", Bytes(bin.high))?;
                    }
                    write!(f, "={}", bin.weight)?;
                }
                Ok(())
            }
        }
    }
}

text_form!(Sizes);

fn unknown_form(text: &str) -> WorkloadError {
    invalid!("'{text}' is not a size or distribution of sizes (write it like {FORMS})")
}
