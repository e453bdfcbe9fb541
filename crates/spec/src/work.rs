//! The workload: what options come to, and the options that come to it.

mod classic;
mod mix;
mod workers;

use std::io;
use std::path::Path;

use workload::contents::{ContentKind, ContentSpec};
use workload::mix::Think;
use workload::{Classic, Mix, Work, WorkerSeeds, Workers, Workload};

use crate::config_error::ConfigError;
use crate::note::Note;
use crate::options::Options;
use crate::values::Count;

pub(crate) use workers::mean as workers;

/// How the text of a file is read that words name.
pub type Read<'a> = dyn Fn(&Path) -> io::Result<String> + 'a;

/// The workload that options come to, with a preset below them, for these workers and shares of its
/// locations.
pub(crate) fn mean(
    options: &Options,
    preset: Option<&Workload>,
    workers: Workers,
    weights: Vec<u32>,
    read: &Read<'_>,
    notes: &mut Vec<Note>,
) -> Result<Workload, ConfigError> {
    let mut work = work(options, preset, workers, read, notes)?;
    match &mut work {
        Work::Classic(classic) => classic.weights = weights,
        Work::Mix(mix) => mix.location_weights = weights,
    }
    let per_second = options.rate.map(|rate| rate.0);
    if let (Work::Mix(mix), true) = (&mut work, options.sweep.is_some() || per_second.is_some()) {
        if mix.think != Think::None {
            // Said together they contradict one another; a preset's gives way.
            notes.push(Note::ThinkGivesWay {
                think: mix.think,
                per_second: per_second.filter(|_| options.sweep.is_none()),
            });
            mix.think = Think::None;
        }
    }
    let is_mix = matches!(work, Work::Mix(_));
    Ok(Workload {
        contents: if is_mix {
            Some(contents_of_mix(options, preset))
        } else {
            classic::contents(options)
        },
        work,
        workers,
        worker_seeds: match options.worker_seeds {
            Some(seeds) => seeds.into(),
            None => preset.map_or(WorkerSeeds::Offset, |workload| workload.worker_seeds),
        },
    })
}

/// The options that come to this work.
pub(crate) fn say(workload: &Workload, ranks: u32, options: &mut Options) {
    match &workload.work {
        Work::Classic(classic) => classic::say(classic, options),
        Work::Mix(mix) => mix::say(mix, options),
    }
    workers::say(workload.workers, ranks, options);
    options.files = Some(Count(workload.files()));
    options.contents = workload.contents.map(|contents| contents.kind);
    options.dedup = workload.contents.map(|contents| contents.dedup);
    options.worker_seeds = Some(workload.worker_seeds.into());
}

/// The work: classic, a mix, or, on a shared pool, the classic pairs as a mix.
fn work(
    options: &Options,
    preset: Option<&Workload>,
    workers: Workers,
    read: &Read<'_>,
    notes: &mut Vec<Note>,
) -> Result<Work, ConfigError> {
    let base = preset.map(|preset| &preset.work);
    if let Some(Work::Mix(mix)) = base {
        mix::refuse_classic_options(options, true)?;
        let mut mix = mix.clone();
        mix::apply(options, &mut mix, true, read)?;
        return Ok(Work::Mix(mix));
    }
    let mut classic = match base {
        Some(Work::Classic(classic)) => classic.clone(),
        _ => Classic::default(),
    };
    if options.mix.is_some() {
        mix::refuse_classic_options(options, true)?;
        let mut mix = base.map_or_else(Mix::default, |_| mix::of_classic(&classic));
        mix::apply(options, &mut mix, false, read)?;
        return Ok(Work::Mix(mix));
    }
    if workers.is_shared() {
        mix::refuse_classic_options(options, false)?;
        classic::apply_biases(options, &mut classic)?;
        let mut mix = mix::of_classic(&classic);
        mix::apply(options, &mut mix, false, read)?;
        notes.push(Note::PairsBecameMix {
            weights: mix.weights.clone(),
        });
        return Ok(Work::Mix(mix));
    }
    classic::refuse_mix_options(options)?;
    classic::apply(options, &mut classic)?;
    classic::apply_biases(options, &mut classic)?;
    Ok(Work::Classic(classic))
}

fn contents_of_mix(options: &Options, preset: Option<&Workload>) -> ContentSpec {
    let mut spec = preset
        .and_then(|workload| workload.contents)
        .unwrap_or(ContentSpec {
            kind: ContentKind::Incompressible,
            dedup: 1.0,
        });
    set(options.contents, &mut spec.kind);
    set(options.dedup, &mut spec.dedup);
    spec
}

fn set<T>(value: Option<T>, field: &mut T) {
    if let Some(value) = value {
        *field = value;
    }
}
