//! Who works, as meant.

use workload::{Crew, Workload};

use super::error::refuse;
use super::{MeaningError, Words};
use crate::said::{Count, Options};

/// The workers that are meant: what options say holds over what the file says, and that over the preset.
pub(super) fn mean(preset: Option<Crew>, words: &Words<'_>) -> Result<Crew, MeaningError> {
    let mut crew = preset.unwrap_or(Crew::ONE);
    for options in [&words.file, &words.arguments.options] {
        crew = layer(crew, options, words)?;
    }
    Ok(crew)
}

fn layer(under: Crew, options: &Options, words: &Words<'_>) -> Result<Crew, MeaningError> {
    let count = |option: &str, said: Option<Count>, otherwise: u32| match said {
        None => Ok(otherwise),
        Some(Count(count)) => match u32::try_from(count) {
            Ok(count) if count <= Workload::WORKERS_MAX => Ok(count),
            _ => refuse(format!(
                "{option} {count}: give 1 to {} workers altogether (said in {})",
                Workload::WORKERS_MAX,
                words.places()
            )),
        },
    };
    let shared = [("--writers", options.writers), ("--readers", options.readers)];
    if let Some((option, said)) = shared.iter().find(|(_, said)| said.is_some()) {
        if let Some(workers) = options.workers {
            return refuse(format!(
                "--workers {} and {option} {}: workers have pools of their own, writers and readers share one: say --workers, \
                 or --writers and --readers",
                workers.0,
                said.map_or(0, |count| count.0)
            ));
        }
        let (writers, readers) = match under {
            Crew::Shared { writers, readers } => (writers, readers),
            Crew::Private { .. } => (0, 0),
        };
        return Ok(Crew::Shared {
            writers: count("--writers", options.writers, writers)?,
            readers: count("--readers", options.readers, readers)?,
        });
    }
    Ok(match options.workers {
        Some(workers) => Crew::Private {
            workers: count("--workers", Some(workers), 1)?,
        },
        None => under,
    })
}
