//! Who works: what options come to, and the options that come to it.

use workload::{Workers, Workload};

use crate::config_error::ConfigError;
use crate::options::Options;
use crate::values::Count;

/// The workers that are meant: what options say holds over what the file says, and that over the
/// preset. Each of the ranks has as many.
pub(crate) fn mean(
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
            _ => Err(ConfigError::WorkersOfRanks { workers, ranks }),
        },
        // Each rank has a pool, which its workers share.
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
        } => Err(ConfigError::WorkersOfRanks {
            workers: writers.saturating_add(readers),
            ranks,
        }),
    }
}

/// The options that come to this.
pub(super) fn say(workers: Workers, ranks: u32, options: &mut Options) {
    match workers {
        Workers::Private { workers } => {
            options.workers = Some(Count((workers / ranks.max(1)).into()))
        }
        Workers::Shared {
            writers, readers, ..
        } => {
            options.writers = Some(Count(writers.into()));
            options.readers = Some(Count(readers.into()));
        }
    }
}

fn layer(under: Workers, options: &Options) -> Result<Workers, ConfigError> {
    let count = |option: &'static str, said: Option<Count>, otherwise: u32| match said {
        None => Ok(otherwise),
        Some(Count(count)) => match u32::try_from(count) {
            Ok(count) if count <= Workload::WORKERS_MAX => Ok(count),
            _ => Err(ConfigError::Workers(option, count)),
        },
    };
    let shared = [
        ("--writers", options.writers),
        ("--readers", options.readers),
    ];
    if let Some((option, said)) = shared.iter().find(|(_, said)| said.is_some()) {
        if let Some(workers) = options.workers {
            return Err(ConfigError::WorkersAndShared {
                workers: workers.0,
                option,
                count: said.map_or(0, |count| count.0),
            });
        }
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
