//! A mix: what options come to, and the options that come to it.

use workload::layout::Shape;
use workload::sizes::{self, SIZE_MAX_BYTES, Sizes};
use workload::{Action, Classic, Mix, Weights};

use super::{Read, set};
use crate::config_error::ConfigError;
use crate::limits::DIRECT_BYTES;
use crate::options::Options;
use crate::values::{Bytes, Count, SizesOption, ThinkOption};

/// Refuses what only the classic work has. `with_biases`: chances, too.
pub(super) fn refuse_classic_options(
    options: &Options,
    with_biases: bool,
) -> Result<(), ConfigError> {
    if let Some(edition) = options.edition {
        return Err(ConfigError::MixEdition(edition));
    }
    for (option, value) in [
        ("--bias-read", options.bias_read),
        ("--bias-create", options.bias_create),
    ] {
        if let (true, Some(value)) = (with_biases, value) {
            return Err(ConfigError::MixBias(option, value));
        }
    }
    Ok(())
}

/// The classic pairs as a mix.
pub(super) fn of_classic(classic: &Classic) -> Mix {
    let pair = |tenths: Option<u8>| {
        tenths.map_or((0, 0), |tenths| (u32::from(tenths), 10 - u32::from(tenths)))
    };
    let (read, append) = pair(classic.bias_read.tenths());
    let (create, delete) = pair(classic.bias_create.tenths());
    let (low, high) = (classic.size_low_bytes, classic.size_high_bytes);
    let mut mix = Mix {
        files: classic.files,
        transactions: classic.transactions,
        weights: Weights::default()
            .with(Action::Read, read)
            .with(Action::Append, append)
            .with(Action::Create, create)
            .with(Action::Delete, delete),
        sizes: if low == high {
            Sizes::Fixed(low)
        } else {
            Sizes::Uniform { low, high }
        },
        append_sizes: Sizes::Uniform {
            low: 1,
            high: high.max(1),
        },
        size_max_bytes: high,
        read_block_bytes: classic.read_block_bytes,
        write_block_bytes: classic.write_block_bytes,
        seed: classic.seed.into(),
        ..Mix::default()
    };
    mix.layout.shape = subdirectories(classic.subdirectories);
    mix
}

fn subdirectories(count: u32) -> Shape {
    match count {
        1 => Shape::Flat,
        count => Shape::Subdirectories(count),
    }
}

/// Puts what was said into a mix. What goes with the sizes of new files follows them where nothing
/// else is said, but for what a preset has.
pub(super) fn apply(
    options: &Options,
    mix: &mut Mix,
    is_preset: bool,
    read: &Read<'_>,
) -> Result<(), ConfigError> {
    set(options.files.map(|count| count.0), &mut mix.files);
    set(
        options.transactions.map(|count| count.0),
        &mut mix.transactions,
    );
    set(options.mix.clone(), &mut mix.weights);
    set(options.popularity, &mut mix.popularity);
    set(options.names, &mut mix.names);
    set(options.think.map(|think| think.0), &mut mix.think);
    set(options.seed.map(|seed| seed.0), &mut mix.seed);
    set(
        options.read_block.map(|bytes| bytes.0),
        &mut mix.read_block_bytes,
    );
    set(
        options.write_block.map(|bytes| bytes.0),
        &mut mix.write_block_bytes,
    );
    apply_sizes(options, mix, is_preset, read)?;
    apply_layout(options, mix)?;
    apply_alignment(options, mix)?;
    refuse_vain_appends(mix)
}

fn apply_sizes(
    options: &Options,
    mix: &mut Mix,
    is_preset: bool,
    read: &Read<'_>,
) -> Result<(), ConfigError> {
    if let Some(said) = &options.size {
        mix.sizes = sizes_of("--size", said, read)?;
        let high = mix.sizes.high();
        if !is_preset {
            mix.append_sizes = Sizes::Uniform {
                low: 1,
                high: high.max(1),
            };
        }
        mix.size_max_bytes = if is_preset {
            mix.size_max_bytes.max(high)
        } else {
            high
        };
    }
    if let Some(said) = &options.append_size {
        mix.append_sizes = sizes_of("--append-size", said, read)?;
    }
    if let Some(said) = &options.range_size {
        mix.range_sizes = sizes_of("--range-size", said, read)?;
    }
    if let Some(Bytes(size_max)) = options.size_max {
        if size_max > SIZE_MAX_BYTES {
            return Err(ConfigError::SizeMax(size_max));
        }
        mix.size_max_bytes = size_max;
    }
    Ok(())
}

/// What sizes as said come to; files are read and become part of the workload.
fn sizes_of(
    option: &'static str,
    said: &SizesOption,
    read: &Read<'_>,
) -> Result<Sizes, ConfigError> {
    let sizes = match said {
        SizesOption::Range {
            low,
            high,
            is_range,
        } if *is_range => Sizes::Uniform {
            low: *low,
            high: *high,
        },
        SizesOption::Range { low, .. } => Sizes::Fixed(*low),
        SizesOption::Distribution(sizes) => sizes.clone(),
        SizesOption::HistogramIn(path) => {
            let wrong = |problem: String| ConfigError::Histogram {
                option,
                path: path.clone(),
                problem,
            };
            let text =
                read(path).map_err(|error| wrong(format!("cannot read the file: {error}")))?;
            sizes::parse_histogram(&text).map_err(|error| wrong(error.to_string()))?
        }
    };
    match sizes.validate() {
        Ok(()) => Ok(sizes),
        Err(problem) => Err(ConfigError::Sizes {
            option,
            sizes,
            problem,
        }),
    }
}

fn apply_layout(options: &Options, mix: &mut Mix) -> Result<(), ConfigError> {
    match (options.dirs, options.subdirs) {
        (Some(shape), Some(count)) => {
            return Err(ConfigError::DirsAndSubdirs(shape, count.0));
        }
        (Some(shape), None) => mix.layout.shape = shape,
        (None, Some(count)) => {
            let count = u32::try_from(count.0).map_err(|_| ConfigError::Subdirectories(count.0))?;
            mix.layout.shape = subdirectories(count);
        }
        (None, None) => {}
    }
    if let Some(count) = options.entries_max {
        mix.layout.entries_max = Some(count.0);
    }
    // Deliveries need a directory to write in and one to deliver to.
    mix.layout.maildir = mix.weights.get(Action::Deliver) > 0;
    Ok(())
}

fn apply_alignment(options: &Options, mix: &mut Mix) -> Result<(), ConfigError> {
    if let Some(Bytes(align)) = options.align {
        if align == 0 || align > SIZE_MAX_BYTES {
            return Err(ConfigError::Align(align));
        }
        mix.align_bytes = align;
    }
    if options.direct != Some(true) {
        return Ok(());
    }
    for (option, said) in [
        ("--align", options.align),
        ("--read-block", options.read_block),
        ("--write-block", options.write_block),
    ] {
        if let Some(Bytes(bytes)) = said.filter(|bytes| bytes.0 == 0 || bytes.0 % DIRECT_BYTES != 0)
        {
            return Err(ConfigError::DirectMultiples(option, bytes));
        }
    }
    mix.align_bytes = mix.align_bytes.next_multiple_of(DIRECT_BYTES);
    for block in [&mut mix.read_block_bytes, &mut mix.write_block_bytes] {
        *block = block.next_multiple_of(DIRECT_BYTES);
    }
    Ok(())
}

/// Appends that the largest size never lets happen are nobody's wish.
fn refuse_vain_appends(mix: &Mix) -> Result<(), ConfigError> {
    let smallest = sizes::aligned(mix.sizes.low(), mix.align_bytes);
    let least = sizes::aligned(mix.append_sizes.low(), mix.align_bytes);
    if mix.weights.get(Action::Append) > 0 && smallest.saturating_add(least) > mix.size_max_bytes {
        return Err(ConfigError::VainAppends {
            size_max: mix.size_max_bytes,
            smallest,
            least,
        });
    }
    Ok(())
}

/// The options that come to this.
pub(super) fn say(mix: &Mix, options: &mut Options) {
    let sizes = |sizes: &Sizes| Some(SizesOption::Distribution(sizes.clone()));
    options.mix = Some(mix.weights.clone());
    options.size = sizes(&mix.sizes);
    options.append_size = sizes(&mix.append_sizes);
    options.range_size = sizes(&mix.range_sizes);
    options.size_max = Some(Bytes(mix.size_max_bytes));
    options.popularity = Some(mix.popularity);
    options.dirs = Some(mix.layout.shape);
    options.entries_max = mix.layout.entries_max.map(Count);
    options.names = Some(mix.names);
    options.think = Some(ThinkOption(mix.think));
    options.read_block = Some(Bytes(mix.read_block_bytes));
    options.write_block = Some(Bytes(mix.write_block_bytes));
    options.align = Some(Bytes(mix.align_bytes));
    options.seed = Some(Count(mix.seed));
}
