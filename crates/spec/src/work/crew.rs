//! Who works: what options come to, and the options that come to it.

use workload::{Crew, Workload};

use crate::contradiction::Contradiction;
use crate::options::Options;
use crate::values::Count;

/// The workers that are meant: what options say holds over what the file says, and that over the preset.
pub(crate) fn mean(preset: Option<&Workload>, layers: [&Options; 2]) -> Result<Crew, Contradiction> {
    let mut crew = preset.map_or(Crew::ONE, |preset| preset.crew);
    for options in layers {
        crew = layer(crew, options)?;
    }
    Ok(crew)
}

/// The options that come to this.
pub(super) fn say(crew: Crew, options: &mut Options) {
    match crew {
        Crew::Private { workers } => options.workers = Some(Count(workers.into())),
        Crew::Shared { writers, readers } => {
            options.writers = Some(Count(writers.into()));
            options.readers = Some(Count(readers.into()));
        }
    }
}

fn layer(under: Crew, options: &Options) -> Result<Crew, Contradiction> {
    let count = |option: &'static str, said: Option<Count>, otherwise: u32| match said {
        None => Ok(otherwise),
        Some(Count(count)) => match u32::try_from(count) {
            Ok(count) if count <= Workload::WORKERS_MAX => Ok(count),
            _ => Err(Contradiction::Workers(option, count)),
        },
    };
    let shared = [("--writers", options.writers), ("--readers", options.readers)];
    if let Some((option, said)) = shared.iter().find(|(_, said)| said.is_some()) {
        if let Some(workers) = options.workers {
            return Err(Contradiction::WorkersAndShared {
                workers: workers.0,
                option,
                count: said.map_or(0, |count| count.0),
            });
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
