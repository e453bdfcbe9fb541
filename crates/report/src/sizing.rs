//! Sentences about the number of files that was chosen for `--working-set`.

use document::units::{bytes, counted, duration, grouped};
use record::{Calibration, Drive, Sizing, Stop, Workers, WorkingSet, Workload};

/// Sentences with the chosen number of files, and with the expected duration if there was a
/// calibration.
pub fn sentence(sizing: &Sizing, workload: &Workload, drive: &Drive) -> String {
    let chosen = chosen(sizing, workload);
    match &sizing.calibration {
        Some(calibration) => format!("{chosen}. {}.", takes(sizing, calibration, workload, drive)),
        None => format!("{chosen}."),
    }
}

/// Returns a sentence such as `Chose 131,072 files (8.00 KiB on average, 1.00 GiB in all): 4 x the
/// page cache of 256.00 MiB (the control group's limit)`.
fn chosen(sizing: &Sizing, workload: &Workload) -> String {
    let each = match workload.workers {
        Workers::Private { workers } if workers > 1 => {
            format!(
                "{} for each of {workers} workers, ",
                grouped(workload.files())
            )
        }
        Workers::Private { .. } | Workers::Shared { .. } => String::new(),
    };
    let against = match sizing.working_set {
        WorkingSet::OfCache(factor) => format!(": {factor} x the page cache of"),
        WorkingSet::Bytes(_) => ". The page cache has".to_owned(),
    };
    format!(
        "Chose {} ({each}{} on average, {} in all){against} {} ({})",
        counted(sizing.files, "file"),
        bytes(sizing.mean_file_bytes),
        bytes(sizing.files as f64 * sizing.mean_file_bytes),
        bytes(sizing.cache_bytes as f64),
        sizing.cache_is
    )
}

/// A sentence with the rates of the calibration, and with the durations that follow from them.
fn takes(sizing: &Sizing, calibration: &Calibration, workload: &Workload, drive: &Drive) -> String {
    let mut text = format!(
        "A calibration of {} created {} files/s",
        duration(calibration.duration_ns as f64 / 1e9),
        about(calibration.created_per_second)
    );
    if let Some(rate) = calibration.transactions_per_second {
        text.push_str(&format!(
            " and performed {} transactions/s in a pool that fits in the cache",
            about(rate)
        ));
    }
    let preparing =
        duration(sizing.files as f64 / calibration.created_per_second.max(f64::MIN_POSITIVE));
    text.push_str(&format!(". Creating the pool takes about {preparing}"));
    match (
        sizing.transactions,
        drive.stop,
        calibration.transactions_per_second,
    ) {
        (Some(count), Stop::After(length), _) => text.push_str(&format!(
            ". {} of transactions{} are at most about {}",
            duration(length.as_secs_f64()),
            if drive.sweep.is_some() {
                " on each load level"
            } else {
                ""
            },
            about(count as f64)
        )),
        // The duration of endless transactions cannot be predicted.
        (_, _, Some(rate)) if workload.transactions() < Workload::ENDLESS => {
            let all = workload.transactions() as f64 * f64::from(workload.workers.count());
            text.push_str(&format!(
                ". The transactions take at least about {}",
                duration(all / rate)
            ));
        }
        _ => {}
    }
    text
}

/// Assumed rates of a fast and of a slow target, in files/s and bytes/s.
const FAST: (f64, f64) = (50_000.0, (2_u64 << 30) as f64);
const SLOW: (f64, f64) = (200.0, (50_u64 << 20) as f64);

/// A range for the duration of creating the pool, if there was no calibration.
pub fn assumed(sizing: &Sizing) -> String {
    let files = sizing.files as f64;
    let at = |(per_second, bytes_per_second): (f64, f64)| {
        let seconds = (files / per_second).max(files * sizing.mean_file_bytes / bytes_per_second);
        let rates = format!(
            "{} files/s, {}/s",
            about(per_second),
            bytes(bytes_per_second)
        );
        format!("{} (at {rates})", duration(seconds))
    };
    format!(
        "Creating the pool may take from about {} to about {}.",
        at(FAST),
        at(SLOW)
    )
}

/// A number, rounded to two significant digits.
fn about(number: f64) -> String {
    if number < 10.0 {
        return format!("{number:.1}");
    }
    let unit = 10_f64.powf(number.log10().floor() - 1.0);
    grouped(((number / unit).round() * unit).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimated_duration_is_a_range_without_calibration() {
        let sizing = Sizing {
            working_set: WorkingSet::OfCache(4.0),
            cache_bytes: 64 << 30,
            cache_is: "the machine's memory".to_owned(),
            mean_file_bytes: 8_192.0,
            files: 33_554_432,
            calibration: None,
            transactions: None,
        };
        assert_eq!(
            assumed(&sizing),
            "Creating the pool may take from about 11 min (at 50,000 files/s, 2.00 GiB/s) to \
             about 47 h (at 200 files/s, 50.00 MiB/s)."
        );
        // For large files, the duration depends on the bytes, not on the number of files.
        let large = Sizing {
            mean_file_bytes: (1_u64 << 30) as f64,
            files: 256,
            ..sizing
        };
        assert!(
            assumed(&large).contains("from about 128 s"),
            "{}",
            assumed(&large)
        );
    }

    #[test]
    fn numbers_are_rounded_to_significant_digits() {
        for (number, told) in [
            (0.0, "0.0"),
            (3.24, "3.2"),
            (12.6, "13"),
            (12_345.0, "12,000"),
            (99_600.0, "100,000"),
        ] {
            assert_eq!(about(number), told);
        }
    }
}
