//! The popularity of files: the form whose curve is nearest to the observed one.
//!
//! A curve assigns to a share of the most popular files the share of all operations that are on
//! them.

use workload::popularity::Popularity as Form;

use crate::profile::Popularity;

/// Exponents of Zipf distributions that are examined, in hundredths.
const EXPONENTS: std::ops::RangeInclusive<u32> = 5..=200;
/// A form must be nearer than the uniform one by this distance. Otherwise chance alone, which makes
/// some files appear more popular, would select it.
const GAIN_MIN: f64 = 0.05;

/// Returns the form with the smallest [`distance`]; the uniform form unless another is clearly
/// nearer.
pub(crate) fn nearest(observed: &Popularity) -> Form {
    let zipf = EXPONENTS.step_by(5).map(|exponent| Form::Zipf {
        exponent: f64::from(exponent) / 100.0,
    });
    let points = observed.curve.iter();
    let hot = points.map(|(files, operations)| Form::Hot {
        files_percent: (files * 1e4).round() / 1e2,
        accesses_percent: (operations * 1e4).round() / 1e2,
    });
    let valid = zipf.chain(hot).filter(|form| form.validate().is_ok());
    let best =
        valid.min_by(|one, other| distance(observed, one).total_cmp(&distance(observed, other)));
    let uniform = distance(observed, &Form::Uniform);
    best.filter(|form| distance(observed, form) + GAIN_MIN <= uniform)
        .unwrap_or(Form::Uniform)
}

/// Returns the largest difference between the observed curve and that of a form, from 0 to 1.
pub(crate) fn distance(observed: &Popularity, form: &Form) -> f64 {
    let differences = observed.curve.iter().map(|(files, operations)| {
        (share_of_operations(form, *files, observed.files) - operations).abs()
    });
    differences.fold(0.0, f64::max)
}

/// The share of operations on a share of the most popular of `count` files.
fn share_of_operations(form: &Form, files: f64, count: u64) -> f64 {
    match *form {
        Form::Uniform | Form::Shuffled => files,
        Form::Zipf { exponent } => {
            // The integral of the probabilities, which is near to their sum.
            let integral = |rank: f64| match (1.0 - exponent).abs() < 1e-9 {
                true => rank.ln_1p(),
                false => ((1.0 + rank).powf(1.0 - exponent) - 1.0) / (1.0 - exponent),
            };
            let count = count.max(1) as f64;
            integral(files * count) / integral(count)
        }
        Form::Hot {
            files_percent,
            accesses_percent,
        } => {
            let (hot, accesses) = (files_percent / 100.0, accesses_percent / 100.0);
            match files <= hot {
                true => files / hot * accesses,
                false => accesses + (files - hot) / (1.0 - hot) * (1.0 - accesses),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The curve of a form, at the shares of files that a trace has.
    fn seen(form: &str) -> Popularity {
        let form: Form = form.parse().unwrap();
        let shares = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0];
        let point = |files| (files, share_of_operations(&form, files, 10_000));
        Popularity {
            files: 10_000,
            operations: 1_000_000,
            curve: shares.map(point).to_vec(),
        }
    }

    #[test]
    fn forms_are_found_by_their_curves() {
        for form in ["uniform", "zipf:0.95", "zipf:1", "zipf:1.3", "hot:10%/90%"] {
            let observed = seen(form);
            assert_eq!(nearest(&observed).to_string(), form);
        }
        // A slight difference may be chance.
        assert_eq!(nearest(&seen("hot:50%/53%")), Form::Uniform);
        assert_eq!(nearest(&Popularity::default()), Form::Uniform);
    }
}
