//! Mixes: conversion of the classic pairs to a mix, and values that are derived from options.

use workload::layout::Shape;
use workload::sizes::{self, Sizes};
use workload::{Action, Classic, Mix, Weights};

use crate::config_error::ConfigError;
use crate::limits::DIRECT_BYTES;
use crate::options::Options;
use crate::values::Bytes;

/// Splits the pairs of a classic workload into single operations. The biases, in tenths, become
/// weights.
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

/// The number of subdirectories of a shape; `None` for a tree.
pub(super) fn count(shape: Shape) -> Option<u32> {
    match shape {
        Shape::Flat => Some(1),
        Shape::Subdirectories(count) => Some(count),
        Shape::Tree { .. } => None,
    }
}

pub(super) fn subdirectories(count: u32) -> Shape {
    match count {
        1 => Shape::Flat,
        count => Shape::Subdirectories(count),
    }
}

/// Sets the values of a mix that are derived from options.
pub(super) fn finish(options: &Options, mix: &mut Mix) -> Result<(), ConfigError> {
    // A delivery writes a file in one directory and moves it to another, so it requires a maildir
    // layout.
    mix.layout.maildir = mix.weights.get(Action::Deliver) > 0;
    if options.direct == Some(true) {
        align_for_direct(options, mix)?;
    }
    refuse_vain_appends(mix)
}

/// Rounds the alignment and the block sizes up to multiples of the unit of direct I/O.
fn align_for_direct(options: &Options, mix: &mut Mix) -> Result<(), ConfigError> {
    for (option, said) in [
        ("--align", options.align),
        ("--read-block", options.read_block),
        ("--write-block", options.write_block),
    ] {
        if let Some(Bytes(bytes)) = said.filter(|bytes| bytes.0 == 0 || bytes.0 % DIRECT_BYTES != 0)
        {
            let expected =
                format_args!("expected a multiple of {DIRECT_BYTES} bytes, because of --direct");
            return Err(ConfigError::invalid(bytes, option, expected));
        }
    }
    mix.align_bytes = mix.align_bytes.next_multiple_of(DIRECT_BYTES);
    for block in [&mut mix.read_block_bytes, &mut mix.write_block_bytes] {
        *block = block.next_multiple_of(DIRECT_BYTES);
    }
    Ok(())
}

/// Refuses a mix with appends if the maximum size of files prevents every append.
fn refuse_vain_appends(mix: &Mix) -> Result<(), ConfigError> {
    let smallest = sizes::sampler::aligned(mix.sizes.low(), mix.align_bytes);
    let least = sizes::sampler::aligned(mix.append_sizes.low(), mix.align_bytes);
    if mix.weights.get(Action::Append) > 0 && smallest.saturating_add(least) > mix.size_max_bytes {
        return Err(ConfigError::new(format!(
            "--size-max {} leaves no room for appends: new files have at least {smallest} bytes, \
             and an append adds at least {least} (use a larger --size-max, or remove append from \
             --mix)",
            mix.size_max_bytes
        )));
    }
    Ok(())
}
