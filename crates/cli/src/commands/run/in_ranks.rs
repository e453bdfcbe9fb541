//! `postmark run` in several ranks: all ranks perform the run, and only rank 0 reads files, reports
//! and archives.

use campaign::archive::directory_of_runs;
use campaign::parts::PartsWriter;
use campaign::ranks::{FAILED, Joined, Launched};
use campaign::run_spec::Specified;
use document::sanitize;
use record::Record;
use spec::Count;
use std::ops::ControlFlow;

use crate::args::RunArguments;
use crate::commands::ranks;
use crate::commands::run::ready::{Ready, understand};
use crate::ui::perform::Signals;
use crate::ui::problem::{Problem, USER, refuse};
use crate::ui::signals::InRun;
use crate::ui::watchdog_process::Side;

/// Performs the run on this rank, together with the other ranks. `alone` performs a run in a single
/// process. Rank 0 calls `alone` for `--dry-run`, which needs no other rank.
pub fn together(
    launched: &Launched,
    mut arguments: RunArguments,
    side: &Side,
    alone: fn(&RunArguments, &Side) -> Result<u8, Problem>,
) -> Result<u8, Problem> {
    if launched.is_first() && arguments.monitor_host.is_empty() {
        count_ranks(&mut arguments, launched.count, launched)?;
    }
    if arguments.dry_run {
        return match launched.is_first() {
            true => alone(&arguments, side),
            false => Ok(0),
        };
    }
    ranks::together(launched, side, |joined| {
        joined.observe(&arguments.monitor_host)?;
        let counted = match joined.is_first() && !arguments.monitor_host.is_empty() {
            true => count_ranks(&mut arguments, joined.performing(), launched),
            false => Ok(()),
        };
        // If the number of ranks is wrong, rank 0 sends the error in `counted` to the other ranks
        // instead of the run spec.
        perform_together(joined, &arguments, counted)
    })
}

/// Sets the run's number of ranks to `there`, or returns an error if `--ranks` requests another
/// number.
fn count_ranks(
    arguments: &mut RunArguments,
    there: u32,
    launched: &Launched,
) -> Result<(), Problem> {
    let ranks = &mut arguments.work.options.ranks;
    let Count(asked) = *ranks.get_or_insert(Count(there.into()));
    if asked == u64::from(there) {
        return Ok(());
    }
    let observing = launched.count.saturating_sub(there);
    let without = match observing {
        0 => String::new(),
        _ => format!(", {observing} of which observe"),
    };
    refuse(format_args!(
        "--ranks {asked}: {} has started {} processes{without} (remove --ranks)",
        launched.launcher, launched.count
    ))
}

/// Performs the run on this rank. Ranks other than 0 receive the run spec from rank 0.
fn perform_together(
    joined: &Joined,
    arguments: &RunArguments,
    counted: Result<(), Problem>,
) -> Result<u8, Problem> {
    let mut ready = ready_on_all(joined, arguments, counted)?;
    let performed = perform(joined, arguments, &mut ready);
    let mut parts = ready.watchers.parts.take();
    let record = match performed {
        Ok(Some(record)) => record,
        Ok(None) => return Ok(if joined.is_lost() { FAILED } else { 0 }),
        Err(problem) => {
            // If another rank is lost, this rank's part of the record stays on disk, for `postmark
            // collect`.
            let parts = parts.into_iter().filter(|_| !joined.is_lost());
            parts.for_each(PartsWriter::remove);
            return Err(problem);
        }
    };
    if let Some(parts) = &mut parts {
        parts.finish(joined.is_first().then_some(&record));
    }
    let code = match joined.is_first() {
        true => ready.deliver(arguments, record),
        false => Ok(campaign::exit_status(&record)),
    };
    // Rank 0 has reported and archived the merged record, so the parts are no longer needed. The
    // parts are kept only with `--parts`.
    let unasked = parts.into_iter().filter(|_| arguments.parts.is_none());
    unasked.for_each(PartsWriter::remove);
    code
}

/// Returns the prepared run on every rank: rank 0 checks the options, opens the output files and
/// sends the run spec to the other ranks.
fn ready_on_all(
    joined: &Joined,
    arguments: &RunArguments,
    counted: Result<(), Problem>,
) -> Result<Ready, Problem> {
    let mut first = None;
    let sent = joined.of_first(|| {
        counted?;
        let specified = understand(arguments)?;
        let ControlFlow::Continue(mut ready) = Ready::of(arguments, specified)? else {
            return refuse("a plan needs no ranks");
        };
        ready.calibrate()?;
        let Specified {
            spec,
            engine_is_given,
            ..
        } = &ready.specified;
        let sent = (spec.clone(), *engine_is_given);
        first = Some(ready);
        Ok(sent)
    });
    let (spec, engine_is_given) = sent?;
    Ok(first.unwrap_or_else(|| Ready::of_other(spec, engine_is_given)))
}

/// Performs the run with the other ranks. Returns `None` if this rank is an observer, or if another
/// rank was lost during the run.
fn perform(
    joined: &Joined,
    arguments: &RunArguments,
    ready: &mut Ready,
) -> Result<Option<Record>, Problem> {
    let parts = joined.all(parts_of(joined, arguments))?;
    if let Some(parts) = &parts {
        joined.when_lost(told_of(parts, joined.is_first()));
    }
    ready.watchers.parts = parts;
    let observers = joined.begin_observing(ganesha::FIND)?;
    if joined.is_observer() {
        let signals = InRun::begin().ok();
        let signal = signals.as_ref().map(InRun::caught).unwrap_or_default();
        let observed = observers.map_or(Ok(()), |observers| observers.observe(signal));
        return observed.map(|()| None).map_err(Problem::failed);
    }
    let mut signals = Signals::among(Some(joined.performing_ranks()));
    let mut performed = ready.perform(&mut signals);
    if let (Some(observers), false) = (observers, joined.is_lost()) {
        // A rank may be lost during `end`. The `match` below then returns `None`, so the error of
        // `end` is ignored.
        let _ = observers.end(performed.as_mut().ok());
    }
    match joined.is_lost() {
        true => Ok(None),
        false => performed.map(Some),
    }
}

/// Creates the file for this rank's part of the record. Without `--parts`, a failure is only a
/// warning and returns `None`.
fn parts_of(joined: &Joined, arguments: &RunArguments) -> Result<Option<PartsWriter>, String> {
    if joined.is_observer() {
        return Ok(None);
    }
    let of = joined.part_of();
    if let Some(directory) = &arguments.parts {
        return PartsWriter::begin(directory, of, arguments.force, USER).map(Some);
    }
    let begun = directory_of_runs(arguments.archive.as_deref())
        .map(|directory| directory.join(joined.directory_name()))
        .and_then(|directory| PartsWriter::begin(&directory, of, false, USER));
    if let Err(why) = &begun {
        joined.tell(format_args!(
            "warning: {why}; the run continues without the part of this rank on disk (use --parts \
             DIR)"
        ));
    }
    Ok(begun.ok())
}

/// The end of the message about a lost rank. The message names the directory on this host with the
/// parts of the record, and the commands that use these parts.
fn told_of(parts: &PartsWriter, is_first: bool) -> String {
    let directory = sanitize::path(parts.directory());
    match is_first {
        true => format!(
            "; what each rank completed is in {directory} on its host: 'postmark collect \
             {directory}' makes one record of that, and 'postmark clean' removes the files of the \
             run"
        ),
        false => format!("; what it completed is in {directory}"),
    }
}
