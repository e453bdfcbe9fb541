//! `postmark run --repeat`: a study of one configuration.

use std::path::{Path, PathBuf};

use campaign::ranks::Launched;
use campaign::run_spec::specify;
use spec::Options;
use study::Metric;
use study::repeats::{RUNS_MIN_UNTIL, metrics};

use crate::args::{RunArguments, StudyArguments};
use crate::commands::study::{absolute, refuse_options_of_runs_alone, refuse_pipes, study};
use crate::ui::problem::{Problem, USER, refuse, tell};
use crate::ui::watchdog_process::Side;

/// Performs the run repeatedly, and reports means with intervals. Returns the exit status.
///
/// # Errors
/// Returns an error if the options are invalid, an option is for single runs only, or the study is
/// refused.
pub fn repeat(arguments: RunArguments, words: Vec<String>, side: &Side) -> Result<u8, Problem> {
    refuse_options_of_one_run(&arguments)?;
    study(of_one_configuration(arguments)?, words, side)
}

fn refuse_options_of_one_run(arguments: &RunArguments) -> Result<(), Problem> {
    if let (Some(repeat), Some(_)) = (arguments.repetition.repeat, &arguments.repetition.until)
        && repeat < RUNS_MIN_UNTIL
    {
        return refuse(format_args!(
            "--until needs at least {RUNS_MIN_UNTIL} runs, and --repeat allows {repeat} \
                 (remove --repeat, or raise it)"
        ));
    }
    if arguments.format.is_classic() {
        return refuse(
            "--repeat has no report in the formats classic and terse (use --format text, \
             markdown, csv or json)",
        );
    }
    let given = [
        ("--full", arguments.full),
        ("--live", arguments.live.is_some()),
        ("--parts", arguments.parts.is_some()),
        ("--monitor-host", !arguments.monitor_host.is_empty()),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => refuse(format_args!(
            "{option} cannot be used with --repeat and --until: it is for a single run (remove it; \
             'postmark show NUMBER --full' shows each run)"
        )),
        None => Ok(()),
    }
}

struct Configuration {
    name: String,
    preset: Option<String>,
    options: Options,
    metrics: Vec<Metric>,
}

/// Resolves the options of the run. Options from a configuration file or an earlier run become part
/// of the configuration, so that the study can be continued without that file or run. Options for
/// single runs, such as `keep`, are left out.
fn configuration(arguments: &RunArguments) -> Result<Configuration, Problem> {
    let request = arguments.work.request();
    let specified = specify(&request, USER)?;
    refuse_pipes(&specified, "--repeat and --until")?;
    let is_first = Launched::here().is_none_or(|launched| launched.is_first());
    if is_first && !arguments.quiet {
        specified.notes.iter().for_each(tell);
    }
    refuse_options_of_runs_alone(&request.options)?;
    let other = match (&request.config, &request.like) {
        (None, None) => None,
        (Some(_), _) => Some("--config"),
        (None, Some(_)) => Some("--like"),
    };
    let (preset, options) = match other {
        Some(option) if specified.spec.drive.sweep.is_some() => {
            let what = match specified.spec.phases() {
                [] => "a load sweep",
                _ => "phases",
            };
            return refuse(format_args!(
                "{option} names {what}, which --repeat and --until cannot repeat (remove them)"
            ));
        }
        Some(_) => (None, specified.spec.to_options().without_runs_alone()),
        None => (request.preset, request.options),
    };
    let workload = &specified.spec.workload;
    let kind = workload.mix().map_or("classic", |_| "mix");
    Ok(Configuration {
        metrics: metrics(workload),
        name: specified
            .spec
            .preset
            .clone()
            .unwrap_or_else(|| kind.to_owned()),
        preset,
        options: Options {
            target: Vec::new(),
            ..options
        },
    })
}

/// Returns the arguments of the study whose only configuration is this run.
fn of_one_configuration(arguments: RunArguments) -> Result<StudyArguments, Problem> {
    let configuration = configuration(&arguments)?;
    let metrics = configuration.metrics.iter();
    let repetition = arguments.repetition;
    Ok(StudyArguments {
        ranks: None,
        is_repetition: true,
        file: None,
        name: Some(configuration.name),
        preset: configuration.preset.into_iter().collect(),
        target: vec![target(&arguments.work.target)?],
        config: None,
        like: None,
        axis: Vec::new(),
        age: None,
        fullness: None,
        blocks: repetition.repeat,
        time_limit: None,
        until: repetition.until,
        order_seed: None,
        twin: false,
        no_twin: true,
        baseline: None,
        metric: metrics.map(ToString::to_string).collect(),
        unlike: false,
        quiet_time: repetition.quiet_time,
        layout: None,
        with_published: false,
        resume: None,
        side: None,
        block: None,
        dry_run: arguments.dry_run,
        no_space_check: arguments.no_space_check,
        allow_unsafe_target: arguments.allow_unsafe_target,
        format: arguments.format,
        report: arguments.report,
        force: arguments.force,
        archive: arguments.archive,
        remarks: arguments.remarks,
        strict: arguments.strict,
        output: arguments.output,
        quiet: arguments.quiet,
        options: configuration.options,
    })
}

/// Returns the only target as a URL or an absolute path. A study could mistake a relative path for
/// a target with a name.
fn target(targets: &[PathBuf]) -> Result<String, Problem> {
    let target = match targets {
        [] => Path::new("."),
        [target] => target,
        _ => {
            return refuse(
                "--repeat and --until measure one target (use 'postmark study' to compare \
                 targets)",
            );
        }
    };
    match target.to_str().filter(|_| spec::is_url(target)) {
        Some(url) => Ok(url.to_owned()),
        None => absolute(target),
    }
}
