//! Conversion of options to the phases of a workload, and of phases to options.

use std::time::Duration;

use workload::arrivals::check_rate;
use workload::mix::Think;
use workload::phases::{PhaseOperations, PhaseWork, can_walk, weights_of_all};
use workload::presets::{PhaseText, Preset, RUN_FOR_S};
use workload::{Mix, Workload};

use crate::config_error::ConfigError;
use crate::draft::Draft;
use crate::load::{Drive, Sweep};
use crate::phase_option::PhaseOption;
use crate::run_spec::RunSpec;
use crate::settings::Cache;
use crate::stop::{Pace, PhaseLoad, Stop};
use crate::sweep::Climb;
use crate::values::{Count, PerSecond, Time};

/// Returns the phases of a run spec as options.
pub(crate) fn to_options(spec: &RunSpec) -> Vec<PhaseOption> {
    let to_option = |(work, load): (&PhaseWork, &PhaseLoad)| {
        let (mix, walk) = match &work.operations {
            PhaseOperations::Mix(weights) => (Some(weights.clone()), None),
            PhaseOperations::Walk(action) => (None, Some(*action)),
        };
        PhaseOption {
            name: work.name.clone(),
            mix,
            walk,
            run_for: match load.stop {
                Stop::After(time) => Some(Time::of(time)),
                Stop::Transactions | Stop::Steady(_) => None,
            },
            transactions: (work.transactions != Workload::ENDLESS)
                .then_some(Count(work.transactions)),
            rate: load.rate().map(PerSecond),
            cache: Some(load.cache),
        }
    };
    let both = spec.phases().iter().zip(spec.phase_loads());
    both.map(to_option).collect()
}

/// Sets the phases of a mix and the load of each phase. Without phases, removes those of the
/// preset.
pub(crate) fn set(draft: &mut Draft<'_>) -> Result<(), ConfigError> {
    let asked = draft.options.phase.clone();
    let works = asked.iter().map(work).collect::<Result<Vec<_>, _>>()?;
    draft.mix(|mix| set_works(mix, works));
    if asked.is_empty() {
        return Ok(());
    }
    let first = draft.spec.cache;
    let loads = asked.iter().enumerate().map(|(number, phase)| {
        let cache = if number == 0 { first } else { Cache::AsIs };
        load(phase, draft, phase.cache.unwrap_or(cache))
    });
    let loads = loads.collect::<Result<Vec<_>, _>>()?;
    // The loads contain the cache states of all phases.
    draft.spec.cache = Cache::AsIs;
    draft.spec.drive = Drive {
        sweep: Some(Sweep {
            climb: Climb::Phases(loads),
            arrivals: crate::load_options::arrivals_or_default(draft.options),
            fresh: false,
            slo_operation: None,
            slo_p99_ns: None,
        }),
        ..Drive::default()
    };
    Ok(())
}

fn set_works(mix: &mut Mix, works: Vec<PhaseWork>) {
    if !works.is_empty() {
        mix.weights = weights_of_all(&works);
    }
    mix.phases = works;
}

fn wrong(phase: &PhaseOption, problem: impl std::fmt::Display) -> ConfigError {
    ConfigError::new(format!("[[phase]] '{}': {problem}", phase.name))
}

fn work(phase: &PhaseOption) -> Result<PhaseWork, ConfigError> {
    let operations = match (&phase.mix, phase.walk) {
        (Some(weights), None) => PhaseOperations::Mix(weights.clone()),
        (None, Some(action)) if can_walk(action) => PhaseOperations::Walk(action),
        (None, Some(action)) => {
            let problem = format_args!(
                "a walk cannot perform {}: it uses each file or each directory of the pool (use \
                 mix = \"{}=1\")",
                action.name(),
                action.name()
            );
            return Err(wrong(phase, problem));
        }
        (Some(_), Some(_)) => {
            let problem = "mix and walk cannot be combined (make two phases of them)";
            return Err(wrong(phase, problem));
        }
        (None, None) => {
            let problem = "it has no operations (add mix = \"read=1\", or walk = \"read\")";
            return Err(wrong(phase, problem));
        }
    };
    let transactions = match phase.transactions {
        Some(Count(0)) => {
            let problem = "transactions: expected at least 1 (remove the phase, or the number)";
            return Err(wrong(phase, problem));
        }
        Some(Count(most)) => most,
        None => Workload::ENDLESS,
    };
    Ok(PhaseWork {
        name: phase.name.clone(),
        operations,
        transactions,
    })
}

fn load(phase: &PhaseOption, draft: &Draft<'_>, cache: Cache) -> Result<PhaseLoad, ConfigError> {
    let pace = match phase.rate {
        None => Pace::Closed,
        Some(PerSecond(per_second)) => {
            check_rate(per_second).map_err(|problem| wrong(phase, format!("rate: {problem}")))?;
            if draft
                .options
                .think
                .is_some_and(|think| think.0 != Think::None)
            {
                let problem = "rate and --think cannot be combined: both set when the next \
                               operation starts";
                return Err(wrong(phase, problem));
            }
            Pace::Open {
                per_second,
                arrivals: crate::load_options::arrivals_or_default(draft.options),
            }
        }
    };
    let is_endless = phase.transactions.is_none() && phase.walk.is_none();
    let by_default = is_endless.then(|| {
        let seconds = Duration::from_secs(RUN_FOR_S);
        draft.options.run_for.unwrap_or(Time::of(seconds))
    });
    let stop = match phase.run_for.or(by_default) {
        None => Stop::Transactions,
        Some(Time(0)) => {
            return Err(wrong(phase, "for: expected a time above 0, like 10s"));
        }
        Some(time) => Stop::After(time.duration()),
    };
    Ok(PhaseLoad { stop, pace, cache })
}

/// Returns the phases of a preset as options; none if the preset has no phases.
pub(crate) fn of_preset(preset: Option<&Preset>) -> Result<Vec<PhaseOption>, ConfigError> {
    let texts = preset.map_or(&[][..], |preset| &preset.how.phases);
    texts.iter().map(of_text).collect()
}

fn of_text(text: &PhaseText) -> Result<PhaseOption, ConfigError> {
    let table = text.to_toml();
    toml::from_str(&table).map_err(|problem| ConfigError::new(format!("{table}: {problem}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;
    use crate::{Asked, Invocation, resolve};

    fn resolved(options: Options, file: Options) -> Result<RunSpec, ConfigError> {
        let asked = Asked {
            options,
            file,
            preset: None,
            weights: &[],
            earlier_preset: None,
            invocation: Invocation::default(),
            read: &|_| unreachable!("there is no file"),
            replayed: None,
        };
        let size = |_, _: &Workload| unreachable!("there is no working set");
        resolve::<ConfigError>(&asked, size).map(|resolved| resolved.spec)
    }

    fn phases() -> Vec<PhaseOption> {
        let texts = [
            ("scan", "walk=list-stat; cache=cold"),
            ("modify", "mix=append=3,replace=1; transactions=500"),
            ("offered", "mix=read=1; for=5s; rate=1000; cache=warm"),
            ("plain", "mix=read=1"),
        ];
        let texts = texts.map(|(name, keys)| PhaseText { name, keys });
        texts.iter().map(|text| of_text(text).unwrap()).collect()
    }

    #[test]
    fn phases_resolve_to_works_and_loads() {
        let file = Options {
            phase: phases(),
            ..Options::default()
        };
        let spec = resolved(Options::default(), file.clone()).unwrap();
        assert_eq!(
            spec.caches(),
            [Cache::Cold, Cache::AsIs, Cache::Warm, Cache::AsIs]
        );
        let numbers: Vec<u64> = spec
            .phases()
            .iter()
            .map(|phase| phase.transactions)
            .collect();
        let endless = Workload::ENDLESS;
        assert_eq!(numbers, [endless, 500, endless, endless]);
        let stops: Vec<Stop> = spec.phase_loads().iter().map(|load| load.stop).collect();
        let after = |seconds| Stop::After(Duration::from_secs(seconds));
        assert_eq!(
            stops,
            [Stop::Transactions, Stop::Transactions, after(5), after(10)]
        );
        assert_eq!(spec.phase_loads()[2].rate(), Some(1_000.0));
        assert_eq!(
            resolved(Options::default(), spec.to_options()).unwrap(),
            spec
        );
        let text = serde_json::to_string(&spec).unwrap();
        assert_eq!(
            serde_json::from_str::<RunSpec>(&text).unwrap(),
            spec,
            "{text}"
        );
        // A mix on the command line replaces the phases of a file.
        let mix = Options {
            mix: Some("read=1".parse().unwrap()),
            ..Options::default()
        };
        let spec = resolved(mix.clone(), file).unwrap();
        assert!(spec.phases().is_empty() && spec.drive.sweep.is_none());
        let both = Options {
            phase: phases(),
            ..mix
        };
        let refused = resolved(Options::default(), both).unwrap_err().to_string();
        assert!(
            refused.contains("--mix and [[phase]] cannot be combined"),
            "{refused}"
        );
    }

    #[test]
    fn default_length_and_cache_of_phases_are_those_of_the_options() {
        let options = Options {
            run_for: Some(Time::of(Duration::from_secs(3))),
            cache: Some(Cache::ColdData),
            ..Options::default()
        };
        let file = Options {
            phase: phases().split_off(3),
            ..Options::default()
        };
        let spec = resolved(options, file).unwrap();
        let [load] = spec.phase_loads() else {
            panic!("{:?}", spec.phase_loads())
        };
        assert_eq!(load.stop, Stop::After(Duration::from_secs(3)));
        assert_eq!(load.cache, Cache::ColdData);
    }
}
