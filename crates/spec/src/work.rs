//! The workload of a run spec: the workload before options are applied, the effects of options, and
//! values that are derived from them.

mod mix;
pub(crate) mod workers;

use workload::contents::{ContentKind, ContentSpec};
use workload::layout::DEPTH_MAX;
use workload::sizes::{SIZE_MAX_BYTES, Sizes};
use workload::{Bias, Classic, Mix, Work, WorkerSeeds, Workers, Workload};

use crate::config_error::ConfigError;
use crate::dirs::DirsOption;
use crate::draft::Draft;
use crate::note::Note;
use crate::options::Options;
use crate::run_spec::RunSpec;
use crate::sizes::SizesOption;
use crate::values::{Bytes, Count};

/// Returns the workload to which options are applied: that of the preset, or the default. With
/// shared pools, a classic workload becomes a mix. The bias options are then applied here, because
/// a mix has no biases.
pub(crate) fn base(
    options: &mut Options,
    preset: Option<&Workload>,
    workers: Workers,
    notes: &mut Vec<Note>,
) -> Result<Workload, ConfigError> {
    let work = match preset.map(|preset| &preset.work) {
        Some(work @ Work::Mix(_)) => work.clone(),
        None if options.mix.is_some() || options.has_phases() => Work::Mix(Mix::default()),
        classic => {
            let mut classic = match classic {
                Some(Work::Classic(classic)) => classic.clone(),
                _ => Classic::default(),
            };
            match (
                options.mix.is_some() || options.has_phases(),
                workers.is_shared(),
            ) {
                (true, _) => Work::Mix(mix::of_classic(&classic)),
                (false, true) => Work::Mix(mix_of_pairs(options, &mut classic, notes)?),
                (false, false) => Work::Classic(classic),
            }
        }
    };
    let contents =
        match work {
            Work::Classic(_) => None,
            Work::Mix(_) => Some(preset.and_then(|preset| preset.contents).unwrap_or(
                ContentSpec {
                    kind: ContentKind::Incompressible,
                    dedup: 1.0,
                },
            )),
        };
    Ok(Workload {
        work,
        workers,
        worker_seeds: preset.map_or(WorkerSeeds::Offset, |preset| preset.worker_seeds),
        contents,
    })
}

fn mix_of_pairs(
    options: &mut Options,
    classic: &mut Classic,
    notes: &mut Vec<Note>,
) -> Result<Mix, ConfigError> {
    if let Some(tenths) = options.bias_read.take() {
        classic.bias_read = Bias::new(tenths)?;
    }
    if let Some(tenths) = options.bias_create.take() {
        classic.bias_create = Bias::new(tenths)?;
    }
    let mix = mix::of_classic(classic);
    notes.push(Note::PairsBecameMix {
        weights: mix.weights.clone(),
    });
    Ok(mix)
}

/// Sets the weights of the locations, and all values of the workload that are derived from options.
pub(crate) fn finish(draft: &mut Draft<'_>, location_weights: Vec<u32>) -> Result<(), ConfigError> {
    let options = draft.options;
    let workload = &mut draft.spec.workload;
    match &mut workload.work {
        Work::Classic(classic) => {
            classic.weights = location_weights;
            // The default contents, the text of the original PostMark, are stored as `None`.
            workload.contents = workload
                .contents
                .filter(|contents| *contents != ContentSpec::default());
        }
        Work::Mix(mix) => {
            mix.location_weights = location_weights;
            mix::finish(options, mix)?;
        }
    }
    Ok(())
}

pub(crate) fn sizes(spec: &RunSpec) -> SizesOption {
    match &spec.workload.work {
        Work::Classic(classic) => SizesOption::Range {
            low: classic.size_low_bytes,
            high: classic.size_high_bytes,
            is_range: true,
        },
        Work::Mix(mix) => SizesOption::Distribution(mix.sizes.clone()),
    }
}

/// Sets the sizes of new files. In a mix, the append sizes and the maximum size are derived from
/// these sizes. In the mix of a preset, only the maximum size is derived, and it is never reduced.
pub(crate) fn set_sizes(draft: &mut Draft<'_>, said: SizesOption) -> Result<(), ConfigError> {
    if let (Work::Classic(classic), SizesOption::Range { low, high, .. }) =
        (&mut draft.spec.workload.work, &said)
    {
        (classic.size_low_bytes, classic.size_high_bytes) = (*low, *high);
        return Ok(());
    }
    let is_preset = draft.is_preset_mix;
    draft.set_sizes("--size", &said, |mix, sizes| {
        let high = sizes.high();
        mix.sizes = sizes;
        if is_preset {
            mix.size_max_bytes = mix.size_max_bytes.max(high);
        } else {
            mix.size_max_bytes = high;
            mix.append_sizes = Sizes::Uniform {
                low: 1,
                high: high.max(1),
            };
        }
    })
}

pub(crate) fn set_size_max(draft: &mut Draft<'_>, Bytes(most): Bytes) -> Result<(), ConfigError> {
    if most > SIZE_MAX_BYTES {
        return Err(ConfigError::invalid(
            most,
            "--size-max",
            "expected at most 1GiB",
        ));
    }
    draft.mix(|mix| mix.size_max_bytes = most);
    Ok(())
}

pub(crate) fn set_align(draft: &mut Draft<'_>, Bytes(align): Bytes) -> Result<(), ConfigError> {
    if align == 0 || align > SIZE_MAX_BYTES {
        return Err(ConfigError::invalid(
            align,
            "--align",
            "expected 1 (no alignment) to 1GiB",
        ));
    }
    draft.mix(|mix| mix.align_bytes = align);
    Ok(())
}

pub(crate) fn set_tree_levels(
    draft: &mut Draft<'_>,
    Count(levels): Count,
) -> Result<(), ConfigError> {
    let levels = u32::try_from(levels)
        .ok()
        .filter(|levels| *levels <= DEPTH_MAX)
        .ok_or_else(|| ConfigError::invalid(levels, "--tree-levels", "expected 0 to 64"))?;
    draft.mix(|mix| mix.tree_levels = levels);
    Ok(())
}

/// Multiplies the number of files in each pool by `scale`.
pub(crate) fn set_scale(draft: &mut Draft<'_>, Count(scale): Count) -> Result<(), ConfigError> {
    let files = draft.spec.workload.files().checked_mul(scale);
    let files = files.filter(|_| scale > 0).ok_or_else(|| {
        ConfigError::invalid(
            scale,
            "--scale",
            "expected a factor of the preset's files, like 4",
        )
    })?;
    draft.spec.workload = draft.spec.workload.with_files(files);
    Ok(())
}

pub(crate) fn dirs(spec: &RunSpec) -> DirsOption {
    match &spec.workload.work {
        Work::Classic(classic) => DirsOption::Count(classic.subdirectories.into()),
        Work::Mix(mix) => DirsOption::Shape(mix.layout.shape),
    }
}

/// Sets the directories. A shape that a classic workload does not have is refused as a conflict of
/// options.
pub(crate) fn set_dirs(draft: &mut Draft<'_>, dirs: DirsOption) -> Result<(), ConfigError> {
    let count =
        match dirs {
            DirsOption::Count(count) => Some(u32::try_from(count).map_err(|_| {
                ConfigError::invalid(count, "--dirs", "expected at most 4294967295")
            })?),
            DirsOption::Shape(shape) => mix::count(shape),
        };
    draft.either(
        |classic| classic.subdirectories = count.unwrap_or(classic.subdirectories),
        |mix| {
            mix.layout.shape = match dirs {
                DirsOption::Count(_) => mix::subdirectories(count.unwrap_or_default()),
                DirsOption::Shape(shape) => shape,
            };
        },
    );
    Ok(())
}

pub(crate) fn set_seed(draft: &mut Draft<'_>, Count(seed): Count) -> Result<(), ConfigError> {
    draft.either(
        |classic| match u32::try_from(seed) {
            Ok(seed) => {
                classic.seed = seed;
                Ok(())
            }
            Err(_) => Err(ConfigError::invalid(
                seed,
                "--seed",
                "expected 0 to 4294967295 for the classic workload (mixes take larger seeds)",
            )),
        },
        |mix| {
            mix.seed = seed;
            Ok(())
        },
    )
}
