//! Detects contradictions within a run spec. Contradictions between options are detected when the
//! options are resolved.

use std::path::PathBuf;

use engines::registry;
use workload::{Phase, Workload};

use crate::config_error::ConfigError;
use crate::conflicts::{COMPLETE, find};
use crate::engine_name::EngineName;
use crate::limits::{BISECTIONS_MAX, SWEEP_SLICES_MAX};
use crate::load::{Drive, Sweep};
use crate::run_spec::RunSpec;
use crate::settings::{Cache, Place, directory};
use crate::stop::Stop;
use crate::sweep::Climb;

impl RunSpec {
    /// Checks whether parts of the spec contradict each other.
    ///
    /// # Errors
    /// Returns the first contradiction.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.place != Place::Nowhere {
            self.check_targets()?;
        }
        let (depth, engine) = (self.depth, self.engine);
        if depth as usize > engine.depth_max && engine.depth_max > 1 {
            return Err(ConfigError::new(format!(
                "--depth {depth} is too large for --engine {engine}: a worker has at most {} \
                 operations in flight (use more --workers)",
                engine.depth_max
            )));
        }
        if depth as usize > engine.depth_max {
            let workers = u64::from(self.workload.workers.count()) * u64::from(depth);
            return Err(ConfigError::new(format!(
                "--depth {depth} requires --engine {}: with --engine {engine} a worker performs \
                 one operation at a time (use --workers {workers} for as many at once)",
                EngineName::with_depth()
            )));
        }
        let performed = self.performed_actions();
        self.durability
            .check(|action| performed.contains(&action))
            .map_err(ConfigError::new)?;
        let options = self.to_options();
        find(COMPLETE, &options, self)?;
        let Some(sweep) = &self.drive.sweep else {
            return Ok(());
        };
        self.check_counts(&sweep.climb)?;
        self.check_slo(sweep)?;
        if self.series && self.sweep_slices(&sweep.climb) > SWEEP_SLICES_MAX {
            return Err(ConfigError::new(format!(
                "the time series of this {} is too long for a record: more than \
                 {SWEEP_SLICES_MAX} entries (use fewer or shorter {}, or --no-series)",
                match sweep.climb.is_of_phases() {
                    true => "workload",
                    false => "--sweep",
                },
                match sweep.climb.is_of_phases() {
                    true => "phases",
                    false => "levels",
                }
            )));
        }
        Ok(())
    }

    /// Checks whether the workload performs the operation of an SLO.
    fn check_slo(&self, sweep: &Sweep) -> Result<(), ConfigError> {
        let Some((slo, operation)) = sweep.slo().and_then(|slo| Some((slo, slo.operation?))) else {
            return Ok(());
        };
        let performed = self.workload.actions(Phase::Transactions);
        if performed.contains(&operation) {
            return Ok(());
        }
        let names: Vec<&str> = performed.iter().map(|action| action.name()).collect();
        Err(ConfigError::new(format!(
            "--slo '{slo}' cannot be met: the transactions have no operation '{}' (use {})",
            operation.name(),
            names.join(", ")
        )))
    }

    /// Checks the numbers of workers or of ranks in a load sweep.
    fn check_counts(&self, climb: &Climb) -> Result<(), ConfigError> {
        match climb {
            Climb::Rates(_) | Climb::OfClosedLoop(_) | Climb::Phases(_) => Ok(()),
            Climb::Workers(_) if self.workload.workers.is_shared() => Err(ConfigError::new(
                "--sweep workers=... requires private pools, and this workload has a shared pool \
                 (sweep rates, or use --workers instead of --writers and --readers)",
            )),
            Climb::Workers(workers) => {
                let most = Workload::WORKERS_MAX / self.ranks.max(1);
                let expected = format_args!("expected 1 to {most} workers for each rank");
                let too_many = workers.iter().find(|count| **count > most);
                too_many.map_or(Ok(()), |count| {
                    let value = format_args!("workers={count}");
                    Err(ConfigError::invalid(value, "--sweep", expected))
                })
            }
            Climb::Ranks(ranks) => self.check_rank_counts(ranks),
        }
    }

    fn check_rank_counts(&self, counts: &[u32]) -> Result<(), ConfigError> {
        let (ranks, neighbour) = (self.ranks, self.neighbour);
        if let Some(asked) = counts.iter().find(|count| **count > ranks) {
            let are = if ranks == 1 { "is" } else { "are" };
            return Err(ConfigError::new(format!(
                "--sweep ranks=... has a level of {asked} ranks, and there {are} {ranks} (use \
                 mpirun -n {asked} postmark run ... of a build with MPI, as in 'postmark help \
                 hosts', or sweep fewer ranks)"
            )));
        }
        match counts.first() {
            Some(first) if neighbour >= *first && neighbour > 0 => {
                let least = neighbour + 1;
                Err(ConfigError::new(format!(
                    "--neighbour {neighbour} needs at least {least} ranks, and --sweep ranks=... \
                     has a level of {first} (begin with ranks={least}, or remove --neighbour)"
                )))
            }
            _ => Ok(()),
        }
    }

    /// Checks that each target is a directory, or a URL that the engine supports.
    fn check_targets(&self) -> Result<(), ConfigError> {
        let engine = self.engine;
        let mut has_url = false;
        for target in &self.targets {
            let invalid = |problem| ConfigError::invalid(target.display(), "--target", problem);
            if registry::parse_url(target).map_err(invalid)?.is_some() {
                has_url = true;
            } else if engine.uses_urls() {
                return Err(ConfigError::new(format!(
                    "--engine {engine} cannot use the directory {}: all of its targets are URLs \
                     like {}",
                    directory(target).display(),
                    engine.url_example()
                )));
            }
        }
        if !has_url {
            return Ok(());
        }
        let of_url = |target: &PathBuf| EngineName::of_urls(&[target]);
        let other = |one: &EngineName| *one != engine;
        if let Some(of_url) = self.targets.iter().filter_map(of_url).find(other) {
            return Err(ConfigError::new(format!(
                "--engine {engine} cannot use a target like {} (remove --engine, or use \
                 --engine {of_url})",
                of_url.url_example()
            )));
        }
        let asked = [
            ("--direct", self.direct),
            ("--cache cold", self.caches().contains(&Cache::Cold)),
            (
                "--cache cold-data",
                self.caches().contains(&Cache::ColdData),
            ),
        ];
        asked
            .iter()
            .find(|(_, is_asked)| *is_asked)
            .map_or(Ok(()), |(option, _)| {
                Err(ConfigError::new(format!(
                    "{option} cannot be used with --engine {engine}: no cache of this machine \
                     lies between the program and the server (remove it)"
                )))
            })
    }

    /// Checks whether a run can be reported in a format of the original PostMark, and whether it
    /// can be shown with `--live`.
    ///
    /// # Errors
    /// Returns the first contradiction.
    pub fn check_shown(
        &self,
        classic_format: Option<&'static str>,
        is_live: bool,
    ) -> Result<(), ConfigError> {
        let what = match classic_format {
            Some(_) if self.workload.classic().is_none() => {
                Some("a mix, only the classic workload".to_owned())
            }
            Some(_) if self.drive != Drive::default() => Some(self.drive.options().join(", ")),
            _ => None,
        };
        let text = match (classic_format, what) {
            (Some(format), Some(what)) => {
                let or = match self.drive.options()[..] {
                    ["--for"] => ", or end the run with --compat 1.5 or --transactions",
                    _ => "",
                };
                format!("--format {format} cannot show {what} (use --format text or json{or})")
            }
            _ if is_live && !self.latencies => {
                "--live and --no-latencies cannot be combined: lines for each second need the \
                 clock readings of operations"
                    .to_owned()
            }
            _ if is_live && !self.series => {
                "--live and --no-series cannot be combined: the lines of --live are the time series"
                    .to_owned()
            }
            _ => return Ok(()),
        };
        Err(ConfigError::new(text))
    }

    /// Returns the maximum number of time-series entries of a sweep: one for each second, load
    /// level and kind of operation.
    fn sweep_slices(&self, climb: &Climb) -> u64 {
        let roles = if self.workload.workers.is_shared() {
            2
        } else {
            1
        };
        let kinds = roles * self.workload.actions(Phase::Transactions).len();
        if let Climb::Phases(loads) = climb {
            let seconds = loads.iter().map(|load| match load.stop {
                Stop::After(time) => (time.as_secs() + 1).min(measure::SLICES_MAX as u64),
                Stop::Transactions | Stop::Steady(_) => 0,
            });
            return seconds.sum::<u64>() * kinds as u64;
        }
        // The closed loop, the listed load levels, and up to `BISECTIONS_MAX` further levels each
        // for the saturation rate and for the SLO.
        let sweep_steps = 1 + climb.sweep_steps() + 2 * BISECTIONS_MAX;
        let measured = match self.drive.stop {
            Stop::After(time) => time,
            Stop::Transactions | Stop::Steady(_) => std::time::Duration::ZERO,
        };
        let seconds = self.drive.warm_up.saturating_add(measured).as_secs() + 1;
        seconds.min(measure::SLICES_MAX as u64) * (sweep_steps * kinds) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::SweepOption;
    use workload::Workers;

    fn asked(
        engine: EngineName,
        targets: &[&str],
        change: impl FnOnce(&mut RunSpec),
    ) -> Result<(), String> {
        let workload = workload::Mix::default().into();
        let targets = targets.iter().map(Into::into).collect();
        let mut spec = RunSpec {
            engine,
            ..RunSpec::classic(workload, targets, Place::OwnDirectory)
        };
        change(&mut spec);
        spec.check()
            .map_err(|contradiction| contradiction.to_string())
    }

    #[test]
    fn sweep_of_ranks_or_workers_must_fit_the_number_of_ranks() {
        let swept = |text: &str, ranks: u32, neighbour: u32| {
            asked(EngineName::POSIX, &["/mnt"], |spec| {
                let workers = Workers::Private { workers: ranks };
                (spec.ranks, spec.neighbour, spec.workload.workers) = (ranks, neighbour, workers);
                let SweepOption(climb) = text.parse().unwrap();
                spec.drive.sweep = Some(Sweep {
                    climb,
                    arrivals: workload::arrivals::ArrivalProcess::Poisson,
                    fresh: true,
                    slo_operation: None,
                    slo_p99_ns: None,
                });
            })
        };
        assert_eq!(swept("ranks=1,2,4", 4, 0), Ok(()));
        assert_eq!(swept("ranks=2,4", 4, 1), Ok(()));
        assert_eq!(swept("ranks=1", 1, 0), Ok(()));
        assert_eq!(swept("workers=1,250", 4, 0), Ok(()));
        for (text, ranks, neighbour, words) in [
            (
                "ranks=1,2,4",
                2,
                0,
                "4 ranks, and there are 2 (use mpirun -n 4",
            ),
            ("ranks=2", 1, 0, "2 ranks, and there is 1"),
            ("ranks=1,2", 2, 1, "--neighbour 1 needs at least 2 ranks"),
            (
                "ranks=2,4",
                4,
                2,
                "(begin with ranks=3, or remove --neighbour)",
            ),
            ("workers=1,999999", 1000, 0, "expected 1 to"),
        ] {
            let refused = swept(text, ranks, neighbour).unwrap_err();
            assert!(refused.contains(words), "{text}: {refused}");
        }
    }

    #[test]
    fn urls_require_an_engine_that_supports_them() {
        let (nfs, posix) = (EngineName::from_name("nfs").unwrap(), EngineName::POSIX);
        const URL: &str = "nfs://server/export?nconnect=2";
        let as_it_is = |_: &mut RunSpec| {};
        assert_eq!(asked(nfs, &[URL, "nfs://another/export"], as_it_is), Ok(()));
        assert_eq!(asked(nfs, &[URL], |spec| spec.depth = 8), Ok(()));
        assert_eq!(asked(nfs, &[URL], |spec| spec.cache = Cache::Warm), Ok(()));
        assert_eq!(asked(posix, &["/mnt/disk"], as_it_is), Ok(()));
        for (refused, words) in [
            (
                asked(posix, &[URL], as_it_is),
                "remove --engine, or use --engine nfs",
            ),
            (
                asked(nfs, &["/mnt/disk"], as_it_is),
                "cannot use the directory /mnt/disk",
            ),
            (
                asked(nfs, &[URL, "/mnt/disk"], as_it_is),
                "all of its targets are URLs",
            ),
            (
                asked(nfs, &["nfs://server"], as_it_is),
                "invalid value 'nfs://server' for --target: no directory",
            ),
            (
                asked(posix, &["/mnt/disk"], |spec| spec.depth = 8),
                "--depth 8 requires --engine uring, nfs or s3: with --engine posix",
            ),
            (
                asked(nfs, &[URL], |spec| spec.direct = true),
                "--direct cannot be used",
            ),
            (
                asked(nfs, &[URL], |spec| spec.cache = Cache::Cold),
                "--cache cold cannot be used",
            ),
        ] {
            let said = refused.unwrap_err();
            assert!(said.contains(words), "{said}");
        }
    }

    #[test]
    fn url_target_selects_its_engine_and_keeps_queue_depth() {
        let options = crate::Options {
            target: vec![crate::TargetOption {
                path: "nfs://server/export".into(),
                weight: 1,
            }],
            depth: Some(crate::Count(8)),
            ..crate::Options::default()
        };
        let resolved = |options: &crate::Options| {
            let asked = crate::Asked {
                options: options.clone(),
                file: crate::Options::default(),
                preset: None,
                weights: &[],
                earlier_preset: None,
                invocation: crate::Invocation::default(),
                read: &|_| unreachable!("there is no file"),
                replayed: None,
            };
            let size = |_, _: &Workload| unreachable!("there is no working set");
            crate::resolve::<ConfigError>(&asked, size).map(|resolved| resolved.spec)
        };
        let spec = resolved(&options).unwrap();
        assert_eq!((spec.engine.name(), spec.depth), ("nfs", 8));
        assert!(!spec.sync_phases, "no kernel writes anything back");
        assert_eq!(resolved(&spec.to_options()).unwrap(), spec);
        let text = serde_json::to_string(&spec).unwrap();
        assert!(text.contains("\"depth\":8"), "{text}");
        assert_eq!(serde_json::from_str::<RunSpec>(&text).unwrap(), spec);
        for depth in [0, 1_025] {
            let depth = crate::Options {
                depth: Some(crate::Count(depth)),
                ..options.clone()
            };
            let refused = resolved(&depth).unwrap_err().to_string();
            assert!(refused.contains("expected 1 to 1024"), "{refused}");
        }
    }
}
