//! Scales: mappings from values to positions between 0 and 1, with the labelled values of an axis.

/// Approximate number of labelled values on an axis.
const TICKS: f64 = 5.0;
/// Maximum value of an axis. Nanoseconds, bytes and rates do not reach it.
const VALUE_MAX: f64 = 1e30;

/// A mapping from the values of an axis to positions from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scale {
    Linear {
        /// The value at position 0.
        low: f64,
        /// The value at position 1.
        high: f64,
    },
    /// A linear scale from 0, with labels at multiples of a step.
    Stepped {
        /// The value at position 1.
        high: f64,
        /// Distance between two labelled values.
        step: f64,
    },
    Log {
        /// The value at position 0.
        low: f64,
        /// The value at position 1.
        high: f64,
    },
}

impl Scale {
    /// A scale from 0 to a round number that no value exceeds.
    pub(crate) fn from_zero(values: impl Iterator<Item = f64>) -> Self {
        let high = highest(values);
        Self::up_to(high, step(high))
    }

    /// A scale of bytes from 0 to a number that no value exceeds, which is round in units of a
    /// power of 1,024.
    pub(crate) fn of_bytes(values: impl Iterator<Item = f64>) -> Self {
        let high = highest(values);
        let unit = 1024_f64.powf(high.max(1.0).log(1024.0).floor());
        Self::up_to(high, step(high / unit) * unit)
    }

    fn up_to(high: f64, step: f64) -> Self {
        let high = step * (high / step).ceil();
        Self::Stepped { high, step }
    }

    /// A linear scale exactly from the least to the greatest value.
    pub(crate) fn over(values: impl Iterator<Item = f64> + Clone) -> Self {
        let known = values.filter(|value| value.is_finite());
        let low = known.clone().fold(f64::INFINITY, f64::min);
        let high = known.fold(f64::NEG_INFINITY, f64::max);
        match low < high {
            true => Self::Linear { low, high },
            false if low.is_finite() => Self::Linear {
                low,
                high: low + 1.0,
            },
            false => Self::Linear {
                low: 0.0,
                high: 1.0,
            },
        }
    }

    /// A logarithmic scale between powers of ten that enclose all values above 0.
    pub(crate) fn decades(values: impl Iterator<Item = f64> + Clone) -> Self {
        let known = values.filter(|value| *value > 0.0 && value.is_finite());
        let low = known.clone().fold(f64::INFINITY, f64::min);
        let high = known.fold(0.0, f64::max);
        if high <= 0.0 {
            return Self::Log {
                low: 1.0,
                high: 10.0,
            };
        }
        let low = 10_f64.powf(low.clamp(1.0 / VALUE_MAX, VALUE_MAX).log10().floor());
        let high = 10_f64.powf(high.clamp(1.0 / VALUE_MAX, VALUE_MAX).log10().ceil());
        Self::Log {
            low,
            high: if high > low { high } else { low * 10.0 },
        }
    }

    /// A logarithmic scale around 1 that encloses all values above 0, with a small margin.
    pub(crate) fn ratios(values: impl Iterator<Item = f64>) -> Self {
        let known = values.filter(|value| *value > 0.0 && value.is_finite());
        let (low, high) = known.fold((1.0_f64, 1.0_f64), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        let more = (high / low).powf(0.05).max(1.01);
        Self::Log {
            low: low.max(1.0 / VALUE_MAX) / more,
            high: high.min(VALUE_MAX) * more,
        }
    }

    /// Whether a value is beyond the upper end.
    pub(crate) fn is_above(self, value: f64) -> bool {
        match self {
            Self::Linear { high, .. } | Self::Stepped { high, .. } | Self::Log { high, .. } => {
                value > high
            }
        }
    }

    /// The position from 0 to 1; `None` for a value beyond the scale.
    pub(crate) fn place(self, value: f64) -> Option<f64> {
        let place = match self {
            Self::Linear { low, high } => (value - low) / (high - low),
            Self::Stepped { high, .. } => value / high,
            Self::Log { low, high } => (value / low).ln() / (high / low).ln(),
        };
        // A position slightly below 0 or above 1 is a rounding error.
        (-0.01..=1.01)
            .contains(&place)
            .then(|| place.clamp(0.0, 1.0))
    }

    /// The labelled values of the axis.
    pub(crate) fn ticks(self) -> Vec<f64> {
        match self {
            Self::Linear { low, high } => {
                let step = step(high - low);
                let first = (low / step).ceil() as i64;
                let ticks = (0..=2 * TICKS as i64 + 1)
                    .map(|number| (first.saturating_add(number)) as f64 * step);
                ticks.filter(|tick| *tick <= high + step * 1e-6).collect()
            }
            Self::Stepped { high, step } => {
                let number = (high / step).round() as i32;
                (0..=number)
                    .map(|number| f64::from(number) * step)
                    .collect()
            }
            // A scale that covers less than a power of ten has the same labels as a linear scale.
            Self::Log { low, high } if high / low < 9.99 => Self::Linear { low, high }.ticks(),
            Self::Log { low, high } if !is_power(low) || !is_power(high) => {
                let powers = low.log10().floor() as i32..=high.log10().ceil() as i32;
                let wide = high / low > 1e4;
                let steps: &[f64] = if wide { &[1.0] } else { &[1.0, 2.0, 5.0] };
                let ticks = powers
                    .flat_map(|power| steps.iter().map(move |step| step * 10_f64.powi(power)));
                ticks.filter(|tick| (low..=high).contains(tick)).collect()
            }
            Self::Log { low, high } => {
                let decades = (high / low).log10().round().max(1.0);
                let every = (decades / 7.0).ceil();
                let number = (decades / every).floor() as i32;
                (0..=number)
                    .map(|place| low * 10_f64.powf(f64::from(place) * every))
                    .collect()
            }
        }
    }
}

fn is_power(value: f64) -> bool {
    (value.log10() - value.log10().round()).abs() < 1e-9
}

/// The highest value, or 1 if none is above 0.
fn highest(values: impl Iterator<Item = f64>) -> f64 {
    let high = values.filter(|value| value.is_finite()).fold(0.0, f64::max);
    if high > 0.0 { high.min(VALUE_MAX) } else { 1.0 }
}

/// The distance (1, 2 or 5 times a power of ten) that divides a length into about [`TICKS`] parts.
fn step(length: f64) -> f64 {
    let rough = length / TICKS;
    let power = 10_f64.powf(rough.log10().floor());
    let step = match rough / power {
        part if part <= 1.0 => 1.0,
        part if part <= 2.0 => 2.0,
        part if part <= 5.0 => 5.0,
        _ => 10.0,
    };
    step * power
}
