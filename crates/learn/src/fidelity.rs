//! How well a workload matches the profile from which it was learned.

use std::collections::BTreeMap;

use engine::Action;
use serde::Serialize;
use workload::{Mix, Workload};

use crate::cdf::{self, Cdf};
use crate::distribution::Distribution;
use crate::layout;
use crate::left_out::left_out;
use crate::model::named_in_mixes;
use crate::popularity;
use crate::profile::{LeftOut, Profile};

/// The quantiles that a comparison contains.
const QUANTILES: [f64; 5] = [0.1, 0.5, 0.9, 0.99, 0.999];

/// Version of the JSON of a fidelity report.
pub const SCHEMA_VERSION: u32 = 1;

/// A profile, the workload that was learned from it, and how they differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Fidelity {
    /// The version of this JSON, which is 1.
    pub schema: u32,
    /// What was observed.
    pub profile: Profile,
    /// The learned workload.
    pub workload: Workload,
    /// The total variation distance between the observed operations and the workload's weights,
    /// from 0 to 1; `None` if no operations were observed.
    pub mix_distance: Option<f64>,
    /// Each operation with its observed share and its share in the workload.
    pub mix: Vec<MixShare>,
    /// The largest difference between the observed and the workload's share of operations on the
    /// most popular files, from 0 to 1; `None` if popularity was not observed.
    pub popularity_distance: Option<f64>,
    /// Distributions with their distances.
    pub comparisons: Vec<Comparison>,
    /// What the workload does not represent.
    pub left_out: Vec<LeftOut>,
}

/// The shares of an operation, from 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct MixShare {
    /// The operation.
    pub operation: Action,
    /// Its share of all observed operations.
    pub observed: f64,
    /// Its share of all operations of the workload.
    pub model: f64,
}

/// An observed distribution beside that of the workload.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Comparison {
    /// What is distributed, such as `sizes of files`.
    pub what: &'static str,
    /// The unit of the values.
    pub unit: Unit,
    /// The number of observed values.
    pub count: u64,
    /// The mean of the observed values.
    pub observed_mean: f64,
    /// Shares (0 to 1) of the values, each with the observed value and that of the workload up to
    /// which this share of the values is.
    pub quantiles: Vec<(f64, u64, u64)>,
    /// The Kolmogorov-Smirnov distance, from 0 (equal) to 1.
    pub distance: f64,
}

/// The unit of the values of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// A number of bytes.
    Bytes,
    /// A number of things, such as files or levels.
    Count,
    /// Nanoseconds.
    Ns,
}

impl Fidelity {
    /// Compares a profile with a workload that was learned from it. Workloads other than mixes have
    /// no comparisons.
    pub fn new(profile: &Profile, workload: &Workload) -> Self {
        let mix = workload.mix();
        let shares = mix.map_or_else(Vec::new, |mix| shares(profile, mix));
        let differences = shares.iter().map(|of| (of.observed - of.model).abs());
        let distance = differences.sum::<f64>() / 2.0;
        Self {
            schema: SCHEMA_VERSION,
            profile: profile.clone(),
            workload: workload.clone(),
            mix_distance: (!shares.is_empty()).then_some(distance),
            mix: shares,
            popularity_distance: mix.and_then(|mix| {
                let observed = profile.popularity.as_ref()?;
                Some(popularity::distance(observed, &mix.popularity))
            }),
            comparisons: mix.map_or_else(Vec::new, |mix| comparisons(profile, mix, workload)),
            left_out: left_out(profile),
        }
    }
}

fn shares(profile: &Profile, mix: &Mix) -> Vec<MixShare> {
    let Some(observed) = &profile.mix else {
        return Vec::new();
    };
    let named = named_in_mixes(observed);
    // Operations that no mix can name count as observed, so that they increase the distance.
    let unnamed = observed
        .iter()
        .filter(|(action, _)| **action == Action::Nothing);
    let all: BTreeMap<Action, u64> = named
        .into_iter()
        .chain(unnamed.map(|(a, n)| (*a, *n)))
        .collect();
    let total: u64 = all.values().sum();
    let weights = mix.weights.sum();
    let actions = Action::ALL.iter().filter(|action| {
        all.get(action).is_some_and(|count| *count > 0) || mix.weights.get(**action) > 0
    });
    actions
        .map(|action| MixShare {
            operation: *action,
            observed: ratio(all.get(action).copied().unwrap_or_default(), total),
            model: ratio(mix.weights.get(*action).into(), weights),
        })
        .collect()
}

fn ratio(part: u64, all: u64) -> f64 {
    match all {
        0 => 0.0,
        all => part as f64 / all as f64,
    }
}

/// What is distributed, its observed distribution, and the unit and the distribution of the model.
type Row<'a> = (
    &'static str,
    &'a Option<Distribution>,
    (Unit, Option<Cdf<'a>>),
);

fn comparisons(profile: &Profile, mix: &Mix, workload: &Workload) -> Vec<Comparison> {
    let pools = u64::from(workload.workers.pools());
    let depth = layout::depth(mix.layout.shape);
    let places = u64::from(mix.layout.places());
    let entries = cdf::of_even_parts(mix.files, places);
    let names = cdf::of_names(mix.names, mix.files.saturating_mul(pools));
    let (append_sizes, range_sizes) = (&mix.append_sizes, &mix.range_sizes);
    let sizes = |sizes| (Unit::Bytes, cdf::of_sizes(sizes));
    let rows: [Row<'_>; 8] = [
        ("sizes of files", &profile.sizes, sizes(&mix.sizes)),
        (
            "depths of files",
            &profile.depths,
            (Unit::Count, Some(cdf::of_one(depth))),
        ),
        (
            "files in a directory",
            &profile.entries,
            (Unit::Count, Some(entries)),
        ),
        (
            "lengths of names",
            &profile.name_lengths,
            (Unit::Bytes, Some(names)),
        ),
        (
            "sizes of appends",
            &profile.append_sizes,
            sizes(append_sizes),
        ),
        (
            "sizes of range reads",
            &profile.range_sizes,
            sizes(range_sizes),
        ),
        (
            "pauses",
            &profile.pauses,
            (Unit::Ns, Some(cdf::of_think(mix.think))),
        ),
        (
            "computing",
            &profile.compute,
            (Unit::Ns, Some(cdf::of_compute(&mix.compute, &mix.weights))),
        ),
    ];
    let compared = rows.into_iter().filter_map(|(what, seen, (unit, cdf))| {
        let (seen, cdf) = (seen.as_ref()?, cdf?);
        let quantile =
            |share: f64| Some((share, seen.quantile(share)?, cdf::quantile(&cdf, share)));
        Some(Comparison {
            what,
            unit,
            count: seen.count(),
            observed_mean: seen.mean()?,
            quantiles: QUANTILES.into_iter().filter_map(quantile).collect(),
            distance: seen.distance(&cdf)?,
        })
    });
    compared.collect()
}
