//! From a profile to the options of a run.

use std::collections::BTreeMap;
use std::io;

use engine::Action;
use spec::{
    Asked, Bytes, ConfigError, Count, DirsOption, Invocation, Options, RunSpec, SizesOption,
    ThinkOption, resolve as resolve_options,
};
use workload::compute::Compute;
use workload::contents::{ContentKind, RATIO_MAX};
use workload::mix::Think;
use workload::names::{LENGTH_MAX, NameForm, Names};
use workload::sizes::{SIZE_MAX_BYTES, Sizes};
use workload::{Mix, Weights, Workload};

use crate::bins::histogram;
use crate::distribution::Distribution;
use crate::durability;
use crate::layout;
use crate::popularity;
use crate::profile::Profile;

/// The largest weight of an operation in a learned mix, so that the text remains readable.
const WEIGHT_MAX: u64 = 10_000;
/// The shortest length of names that look like hashes; shorter names are padded numbers.
const HASHED_MIN: u64 = 16;
/// The shortest mean pause: a sleep takes about as long, so shorter pauses would be multiplied.
const PAUSE_MIN_NS: u64 = 50_000;
/// Mean times of computing below this one are within the precision of traces.
const COMPUTE_MIN_NS: u64 = 1_000;
/// The longest time that the option `compute` permits.
const COMPUTE_MAX_NS: u64 = 10_000_000_000;
/// Compression and deduplication ratios below this one count as 1.
const RATIO_MIN: f64 = 1.05;

/// Returns the options of a run with the workload of a profile, as in a configuration file. What
/// the profile does not show is left at the default of a mix.
///
/// A tree shows no operations; the model then reads, requests attributes, creates and deletes,
/// which keeps the distribution of sizes.
pub fn workload_options(profile: &Profile) -> Options {
    let new = sizes(&profile.sizes, SIZE_MAX_BYTES);
    let least = new.as_ref().unwrap_or(&Mix::default().sizes).low();
    let appends = sizes(&profile.append_sizes, SIZE_MAX_BYTES - least);
    let ranges = sizes(&profile.range_sizes, SIZE_MAX_BYTES);
    let workers = profile.workers.unwrap_or(1);
    let workers = workers.clamp(1, u64::from(Workload::WORKERS_MAX));
    let contents = profile.contents.unwrap_or_default();
    let files = profile.files.filter(|files| *files > 0);
    // Each worker has a private pool.
    let files = files.map(|files| files.div_ceil(workers).min(Mix::FILES_MAX));
    let shape = layout::shape(profile);
    let has_appends = has(profile, Action::Append);
    Options {
        files: files.map(Count),
        size_max: size_max(new.as_ref(), appends.as_ref()).filter(|_| has_appends),
        size: new.map(SizesOption::Distribution),
        append_size: appends
            .filter(|_| has_appends)
            .map(SizesOption::Distribution),
        range_size: ranges
            .filter(|_| has(profile, Action::ReadRange))
            .map(SizesOption::Distribution),
        dirs: shape.map(DirsOption::Shape),
        contents: contents.compression().map(content_kind),
        dedup: contents
            .dedup()
            .filter(|ratio| *ratio >= RATIO_MIN)
            .map(rounded),
        mix: Some(weights(profile.mix.as_ref())),
        popularity: profile.popularity.as_ref().map(popularity::nearest),
        names: profile.name_lengths.as_ref().and_then(names),
        compute: compute(profile),
        think: profile.pauses.as_ref().and_then(think).map(ThinkOption),
        durability: durability::policies(profile),
        workers: (workers > 1).then_some(Count(workers)),
        ..Options::default()
    }
}

/// Resolves learned options, as `postmark run --config` does with the file that contains them.
///
/// # Errors
/// Returns the contradiction between the options, for example more directories than a run permits.
pub fn resolve(options: &Options) -> Result<RunSpec, ConfigError> {
    let asked = Asked {
        options: Options::default(),
        file: options.clone(),
        preset: None,
        weights: &[],
        earlier_preset: None,
        invocation: Invocation::default(),
        // Learned options contain their histograms.
        read: &|_| Err(io::ErrorKind::NotFound.into()),
        replayed: None,
    };
    let resolved = resolve_options(&asked, |_, workload| Ok::<_, ConfigError>(workload.clone()))?;
    Ok(resolved.spec)
}

fn content_kind(compression: f64) -> ContentKind {
    match rounded(compression) {
        ratio if ratio < RATIO_MIN => ContentKind::Incompressible,
        ratio => ContentKind::Compressible { ratio },
    }
}

/// A ratio with two decimals, within the limits of options.
fn rounded(ratio: f64) -> f64 {
    ((ratio * 100.0).round() / 100.0).clamp(1.0, RATIO_MAX)
}

/// The operations of the profile that a mix can name. A mix removes links by itself, so removals of
/// links count as links.
pub(crate) fn named_in_mixes(mix: &BTreeMap<Action, u64>) -> BTreeMap<Action, u64> {
    let mut named = BTreeMap::new();
    for (action, count) in mix {
        let action = match action {
            Action::RemoveLink => Action::Link,
            Action::RemoveSymbolicLink => Action::SymbolicLink,
            other => *other,
        };
        if action.is_asked_for() && *count > 0 {
            *named.entry(action).or_default() += count;
        }
    }
    named
}

fn weights(mix: Option<&BTreeMap<Action, u64>>) -> Weights {
    let named = mix.map(named_in_mixes).unwrap_or_default();
    let largest = named.values().copied().max().unwrap_or_default();
    if largest == 0 {
        return Weights::default()
            .with(Action::Read, 4)
            .with(Action::Stat, 4)
            .with(Action::Create, 1)
            .with(Action::Delete, 1);
    }
    let scaled = |count: u64| match largest > WEIGHT_MAX {
        true => (count as f64 / largest as f64 * WEIGHT_MAX as f64)
            .round()
            .max(1.0) as u32,
        false => count as u32,
    };
    let each = named.iter();
    each.fold(Weights::default(), |weights, (action, count)| {
        weights.with(*action, scaled(*count))
    })
}

fn sizes(of: &Option<Distribution>, most: u64) -> Option<Sizes> {
    of.as_ref().and_then(|of| histogram(of, most))
}

/// The maximum size of files, if by default no append would fit: with empty new files, or with
/// appends that are larger than they are.
fn size_max(new: Option<&Sizes>, appends: Option<&Sizes>) -> Option<Bytes> {
    let default = Mix::default().sizes;
    let (new, appends) = (new.unwrap_or(&default), appends.unwrap_or(&Sizes::Fixed(1)));
    let has_room = new.low() + appends.low() <= new.high();
    let most = new.high() + appends.high();
    (!has_room).then_some(Bytes(most.min(SIZE_MAX_BYTES)))
}

fn has(profile: &Profile, action: Action) -> bool {
    let mix = profile.mix.as_ref();
    mix.is_some_and(|mix| mix.get(&action).is_some_and(|count| *count > 0))
}

/// The mean time that workers computed before each operation; `None` below a microsecond.
fn compute(profile: &Profile) -> Option<Compute> {
    let own = profile.own.as_ref()?;
    let times = named_in_mixes(&own.compute_ns);
    let counts = named_in_mixes(profile.mix.as_ref()?);
    let mean = |action: &Action, ns: u64| ns / counts.get(action).copied().unwrap_or(1).max(1);
    let words: Vec<String> = times
        .iter()
        .map(|(action, ns)| (action, mean(action, *ns).min(COMPUTE_MAX_NS)))
        .filter(|(action, ns)| *ns >= COMPUTE_MIN_NS && counts.contains_key(action))
        .map(|(action, ns)| format!("{}={ns}ns", action.name()))
        .collect();
    // Each of the words is valid, and no action is named twice.
    words.join(",").parse().ok().filter(|_| !words.is_empty())
}

/// Names with the median length.
fn names(lengths: &Distribution) -> Option<Names> {
    let length = lengths.quantile(0.5)?.clamp(1, LENGTH_MAX.into());
    let form = match length >= HASHED_MIN {
        true => NameForm::Hashed,
        false => NameForm::Padded,
    };
    Some(Names {
        form,
        length: length as u8,
    })
}

/// Pauses with the observed mean: exponential, or constant if their standard deviation is less than
/// half of the mean, because that of exponential pauses equals it. `None` without pauses, or if
/// they are too short for sleeps.
fn think(pauses: &Distribution) -> Option<Think> {
    let mean = pauses.mean()?;
    let squares = pauses.buckets().into_iter().map(|bucket| {
        let middle = bucket.low as f64 / 2.0 + bucket.high as f64 / 2.0;
        (middle - mean).powi(2) * bucket.count as f64
    });
    let deviation = (squares.sum::<f64>() / pauses.count() as f64).sqrt();
    let ns = mean.round() as u64;
    let form = match deviation < mean / 2.0 {
        true => Think::Fixed(ns),
        false => Think::Exponential(ns),
    };
    (ns >= PAUSE_MIN_NS).then_some(form)
}
