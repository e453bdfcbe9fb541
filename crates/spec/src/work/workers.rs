//! Conversion of the options for workers and ranks to a spec, and of a spec to options.

use workload::{Workers, Workload};

use crate::config_error::ConfigError;
use crate::draft::Draft;
use crate::limits::{DEPTH_MAX, RANKS_MAX};
use crate::options::Options;
use crate::run_spec::RunSpec;
use crate::sweep::Climb;
use crate::values::Count;

/// Resolves the number and pools of all ranks' workers. Options override the file, and the file
/// overrides the preset. Each rank has the same number of workers.
pub(crate) fn resolve(
    preset: Option<&Workload>,
    layers: [&Options; 2],
    ranks: u32,
) -> Result<Workers, ConfigError> {
    let mut workers = preset.map_or(Workers::ONE, |preset| preset.workers);
    for options in layers {
        workers = layer(workers, options)?;
    }
    match workers {
        _ if ranks == 1 => Ok(workers),
        Workers::Private { workers } => match workers.checked_mul(ranks) {
            Some(workers) if workers <= Workload::WORKERS_MAX => Ok(Workers::Private { workers }),
            _ => Err(too_many(workers, ranks)),
        },
        // Each rank has its own pool, which the workers of the rank share.
        Workers::Shared {
            writers, readers, ..
        } if writers.saturating_add(readers) <= Workload::WORKERS_MAX / ranks => {
            Ok(Workers::Shared {
                writers,
                readers,
                pools: ranks,
            })
        }
        Workers::Shared {
            writers, readers, ..
        } => Err(too_many(writers.saturating_add(readers), ranks)),
    }
}

fn layer(under: Workers, options: &Options) -> Result<Workers, ConfigError> {
    let count = |option: &'static str, said: Option<Count>, otherwise: u32| match said {
        None => Ok(otherwise),
        Some(Count(count)) => match u32::try_from(count) {
            Ok(count) if count <= Workload::WORKERS_MAX => Ok(count),
            _ => Err(ConfigError::of_number(format!(
                "invalid value '{count}' for {option}: expected 1 to {} workers in all",
                Workload::WORKERS_MAX
            ))),
        },
    };
    let shared = [options.writers, options.readers];
    if shared.iter().any(Option::is_some) {
        let (writers, readers) = match under {
            Workers::Shared {
                writers, readers, ..
            } => (writers, readers),
            Workers::Private { .. } => (0, 0),
        };
        return Ok(Workers::Shared {
            writers: count("--writers", options.writers, writers)?,
            readers: count("--readers", options.readers, readers)?,
            pools: 1,
        });
    }
    Ok(match options.workers {
        Some(workers) => Workers::Private {
            workers: count("--workers", Some(workers), 1)?,
        },
        None => under,
    })
}

fn too_many(workers: u32, ranks: u32) -> ConfigError {
    ConfigError::new(format!(
        "--workers {workers} of each of {ranks} ranks are too many: expected at most {} workers \
         in all",
        Workload::WORKERS_MAX
    ))
}

pub(crate) fn ranks(options: &Options) -> Result<u32, ConfigError> {
    let Count(ranks) = options.ranks.unwrap_or(Count(1));
    let expected = format_args!("expected 1 to {RANKS_MAX}");
    within(ranks, 1, RANKS_MAX).ok_or_else(|| ConfigError::invalid(ranks, "--ranks", expected))
}

pub(crate) fn set_neighbour(
    draft: &mut Draft<'_>,
    Count(further): Count,
) -> Result<(), ConfigError> {
    let ranks = draft.spec.ranks;
    let expected =
        format_args!("expected 1 to one less than the number of ranks, which is {ranks}");
    draft.spec.neighbour = within(further, 1, ranks.saturating_sub(1))
        .ok_or_else(|| ConfigError::invalid(further, "--neighbour", expected))?;
    Ok(())
}

pub(crate) fn set_depth(draft: &mut Draft<'_>, Count(depth): Count) -> Result<(), ConfigError> {
    let expected = format_args!("expected 1 to {DEPTH_MAX} operations in flight");
    draft.spec.depth = within(depth, 1, DEPTH_MAX)
        .ok_or_else(|| ConfigError::invalid(depth, "--depth", expected))?;
    Ok(())
}

fn within(count: u64, least: u32, most: u32) -> Option<u32> {
    let count = u32::try_from(count).ok()?;
    (least..=most).contains(&count).then_some(count)
}

/// Returns the number of workers of each rank as an option, if pools are private. `None` if a load
/// sweep sets the number.
pub(crate) fn private(spec: &RunSpec) -> Option<Count> {
    let sweep = spec.drive.sweep.as_ref();
    let is_swept = sweep.is_some_and(|sweep| matches!(sweep.climb, Climb::Workers(_)));
    match spec.workload.workers {
        Workers::Private { workers } if !is_swept => {
            Some(Count((workers / spec.ranks.max(1)).into()))
        }
        _ => None,
    }
}

/// Returns the number of writers and of readers of each shared pool as options.
pub(crate) fn shared(spec: &RunSpec) -> Option<(Count, Count)> {
    match spec.workload.workers {
        Workers::Private { .. } => None,
        Workers::Shared {
            writers, readers, ..
        } => Some((Count(writers.into()), Count(readers.into()))),
    }
}
