//! The classic work: what options come to, and the options that come to it.

use workload::contents::{ContentKind, ContentSpec};
use workload::{Bias, Classic, InvalidWhole, InvalidWorkload};

use super::set;
use crate::config_error::{ConfigError, refuse_any};
use crate::options::Options;
use crate::values::{Bytes, Count, SizesOption};

/// Refuses what only mixes have.
pub(super) fn refuse_mix_options(options: &Options) -> Result<(), ConfigError> {
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
    refuse_any(&said, ConfigError::OfMixes)?;
    if let Some(shape) = options.dirs {
        return Err(ConfigError::ClassicDirs(shape));
    }
    if let Some(SizesOption::Distribution(_) | SizesOption::HistogramIn(_)) = &options.size {
        return Err(ConfigError::ClassicSizes);
    }
    if options.direct == Some(true) {
        return Err(ConfigError::ClassicDirect);
    }
    Ok(())
}

/// Puts what was said into the classic work.
pub(super) fn apply(options: &Options, classic: &mut Classic) -> Result<(), ConfigError> {
    set(options.edition, &mut classic.edition);
    set(options.files.map(|count| count.0), &mut classic.files);
    set(
        options.transactions.map(|count| count.0),
        &mut classic.transactions,
    );
    if let Some(SizesOption::Range { low, high, .. }) = options.size {
        (classic.size_low_bytes, classic.size_high_bytes) = (low, high);
    }
    set(
        options.read_block.map(|bytes| bytes.0),
        &mut classic.read_block_bytes,
    );
    set(
        options.write_block.map(|bytes| bytes.0),
        &mut classic.write_block_bytes,
    );
    if let Some(count) = options.subdirs {
        classic.subdirectories =
            u32::try_from(count.0).map_err(|_| ConfigError::Subdirectories(count.0))?;
    }
    if let Some(seed) = options.seed {
        classic.seed = u32::try_from(seed.0).map_err(|_| ConfigError::ClassicSeed(seed.0))?;
    }
    Ok(())
}

/// The options that come to this.
pub(super) fn say(classic: &Classic, options: &mut Options) {
    options.edition = Some(classic.edition);
    options.size = Some(SizesOption::Range {
        low: classic.size_low_bytes,
        high: classic.size_high_bytes,
        is_range: true,
    });
    options.read_block = Some(Bytes(classic.read_block_bytes));
    options.write_block = Some(Bytes(classic.write_block_bytes));
    options.subdirs = Some(Count(classic.subdirectories.into()));
    options.bias_read = Some(classic.bias_read.into());
    options.bias_create = Some(classic.bias_create.into());
    options.seed = Some(Count(classic.seed.into()));
}

/// Puts the said chances into the classic work.
pub(super) fn apply_biases(options: &Options, classic: &mut Classic) -> Result<(), InvalidWhole> {
    let bias = |value: i64| Bias::new(value).ok_or(InvalidWorkload::Bias(value));
    set(
        options.bias_read.map(bias).transpose()?,
        &mut classic.bias_read,
    );
    set(
        options.bias_create.map(bias).transpose()?,
        &mut classic.bias_create,
    );
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
