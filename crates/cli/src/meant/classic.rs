//! The classic work as meant.

use workload::contents::{ContentKind, ContentSpec};
use workload::{Bias, Classic, InvalidWhole, InvalidWorkload};

use super::error::refuse;
use super::{MeaningError, set};
use crate::said::{Options, SizesSaid};

/// What to say instead of an option that only mixes have.
const AS_A_MIX: &str = "give --mix, too (the classic pairs are --mix read=5,append=5,create=5,delete=5)";

/// Refuses what only mixes have.
pub(super) fn refuse_mix_options(options: &Options) -> Result<(), MeaningError> {
    let said = [
        ("--append-size", options.append_size.is_some()),
        ("--range-size", options.range_size.is_some()),
        ("--size-max", options.size_max.is_some()),
        ("--popularity", options.popularity.is_some()),
        ("--entries-max", options.entries_max.is_some()),
        ("--names", options.names.is_some()),
        ("--think", options.think.is_some()),
        ("--align", options.align.is_some()),
    ];
    if let Some((option, _)) = said.iter().find(|(_, said)| *said) {
        return refuse(format!(
            "{option}: the classic work has no such thing, only mixes have: {AS_A_MIX}"
        ));
    }
    if let Some(shape) = options.dirs {
        return refuse(format!(
            "--dirs {shape}: the classic work has plain subdirectories only: say --subdirs N, or {AS_A_MIX}"
        ));
    }
    if let Some(SizesSaid::Distribution(_) | SizesSaid::HistogramIn(_)) = &options.size {
        return refuse(format!(
            "--size: the classic work draws sizes evenly between two bounds: give LOW..HIGH, or {AS_A_MIX}"
        ));
    }
    if options.direct == Some(true) {
        return refuse(format!(
            "--direct: the sizes of the classic work are no multiples of 4096 bytes: {AS_A_MIX}"
        ));
    }
    Ok(())
}

/// Puts what was said into the classic work.
pub(super) fn apply(options: &Options, classic: &mut Classic) -> Result<(), MeaningError> {
    set(options.edition, &mut classic.edition);
    set(options.files.map(|count| count.0), &mut classic.files);
    set(options.transactions.map(|count| count.0), &mut classic.transactions);
    if let Some(SizesSaid::Range { low, high, .. }) = options.size {
        (classic.size_low_bytes, classic.size_high_bytes) = (low, high);
    }
    set(options.read_block.map(|bytes| bytes.0), &mut classic.read_block_bytes);
    set(options.write_block.map(|bytes| bytes.0), &mut classic.write_block_bytes);
    if let Some(count) = options.subdirs {
        classic.subdirectories = u32::try_from(count.0).map_err(|_| MeaningError::Subdirectories(count.0))?;
    }
    if let Some(seed) = options.seed {
        classic.seed = u32::try_from(seed.0).or_else(|_| {
            refuse(format!(
                "--seed {}: the classic work takes 0 to 4294967295; a mix takes more",
                seed.0
            ))
        })?;
    }
    Ok(())
}

/// Puts the said chances into the classic work.
pub(super) fn apply_biases(options: &Options, classic: &mut Classic) -> Result<(), InvalidWhole> {
    let bias = |value: i64| Bias::new(value).ok_or(InvalidWorkload::Bias(value));
    set(options.bias_read.map(bias).transpose()?, &mut classic.bias_read);
    set(options.bias_create.map(bias).transpose()?, &mut classic.bias_create);
    Ok(())
}

/// What the files of the classic work hold; nothing: the edition's text.
pub(super) fn contents(options: &Options) -> Option<ContentSpec> {
    let spec = ContentSpec {
        kind: options.contents.unwrap_or(ContentKind::Text),
        dedup: options.dedup.unwrap_or(1.0),
    };
    // Text with repetition is refused where workloads are.
    (spec != ContentSpec::default()).then_some(spec)
}
