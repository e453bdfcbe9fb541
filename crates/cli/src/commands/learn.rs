//! `postmark learn`: learns a workload from a tree or a trace, and reports how well it matches.

use std::fs::File;
use std::hash::{BuildHasher as _, RandomState};
use std::io::Write as _;
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;
use std::time::Duration;

use campaign::input::Input;
use campaign::run_spec::options_text;
use document::{Format, WIDTH, sanitize};
use learn::{Fidelity, Profile, TreeRequest};
use spec::Time;

use trace::{Names, TraceError, TraceRequest};

use crate::args::{LearnArguments, TraceNames};
use crate::ui::output::{Outputs, is_standard_output};
use crate::ui::problem::{Problem, refuse, tell};
use crate::ui::screen;

/// Time limit for writing an output file, because its file system may hang.
const WRITE_MAX: Duration = Duration::from_secs(60);

/// Learns a workload, writes it as a configuration file, and reports its fidelity.
///
/// # Errors
/// Returns an error if the source cannot be read, if a run cannot have its workload, or if an
/// output cannot be written.
pub fn learn(arguments: &LearnArguments) -> Result<u8, Problem> {
    let trace = arguments.trace.as_deref();
    let inputs: Vec<Input> = trace
        .iter()
        .map(|path| Input::new("--trace", path))
        .collect();
    let mut outputs = Outputs::new(arguments.force, None, &inputs)?;
    // The outputs are opened after the source was read, so that they are not part of a tree.
    for (option, path) in [
        ("--output", &arguments.output),
        ("--report", &arguments.report),
    ] {
        path.iter()
            .try_for_each(|path| outputs.judge(option, path))?;
    }
    let profile = profile(arguments)?;
    let options = learn::workload_options(&profile);
    let spec = learn::resolve(&options)
        .map_err(|why| Problem::refused(format_args!("cannot run the learned workload: {why}")))?;
    let fidelity = Fidelity::new(&profile, &spec.workload);
    if let Some(path) = &arguments.output {
        let text = options_text(options)?;
        outputs.open("--output", path)?.write(&text, WRITE_MAX)?;
    }
    if let Some(path) = &arguments.report {
        let page = report::page::document_page(
            "PostMark: learned workload",
            &learn::document(&fidelity),
            &document::json(&fidelity),
        );
        outputs.open("--report", path)?.write(&page, WRITE_MAX)?;
    }
    let is_taken = arguments.output.as_deref().is_some_and(is_standard_output);
    deliver(&fidelity, arguments.format, is_taken)?;
    Ok(0)
}

fn profile(arguments: &LearnArguments) -> Result<Profile, Problem> {
    match (&arguments.directory, &arguments.trace) {
        (Some(directory), _) => {
            let request = TreeRequest {
                directory: directory.clone(),
                crosses_mounts: arguments.cross_mounts,
            };
            learn::learn_tree(&request).map_err(Problem::refused)
        }
        (None, Some(trace)) => profile_of_trace(trace, arguments),
        (None, None) => refuse("expected a directory, or --trace FILE"),
    }
}

fn profile_of_trace(path: &Path, arguments: &LearnArguments) -> Result<Profile, Problem> {
    let shown = sanitize::path(path);
    let failed = |why: TraceError| {
        Problem::refused(format_args!("cannot learn from the trace {shown}: {why}"))
    };
    let is_file = std::fs::metadata(path)
        .map_err(|cause| failed(TraceError::Read(cause)))?
        .is_file();
    if !is_file && arguments.below.is_none() {
        return refuse(format_args!(
            "the trace {shown} is not a regular file, so it cannot be read twice (give the \
             directory whose files are learned with --below)"
        ));
    }
    let below = arguments.below.as_ref().map(|below| {
        let absolute = std::path::absolute(below);
        let absolute = absolute.unwrap_or_else(|_| below.clone());
        absolute.into_os_string().into_vec()
    });
    let request = TraceRequest {
        below,
        names: match arguments.names {
            // Without a secret key, names could be found by hashing likely ones.
            TraceNames::Hashed => Names::Hashed(RandomState::new().hash_one(path)),
            TraceNames::Plain => Names::Plain,
        },
    };
    let learned = trace::learn_trace(|| File::open(path), &request).map_err(failed)?;
    if arguments.below.is_none() && arguments.names == TraceNames::Plain {
        tell(format_args!(
            "the trace is learned below {} (select another directory with --below)",
            learned.below
        ));
    }
    let mut profile = learned.profile;
    if let Some(Time(cpu_ns)) = arguments.cpu_time {
        profile.adapt_to_cpu_time(cpu_ns);
    }
    Ok(profile)
}

/// Writes the report to standard output, or to standard error if the workload is on standard
/// output.
fn deliver(fidelity: &Fidelity, format: Format, is_taken: bool) -> Result<(), Problem> {
    let document = || learn::document(fidelity);
    let json = || document::json(fidelity);
    if !is_taken {
        return screen::answer(format, document, String::new, json);
    }
    let text = match format {
        Format::Json => json(),
        format => format.document(&document(), WIDTH),
    };
    let written = std::io::stderr().write_all(sanitize::lines(&text).as_bytes());
    written.map_err(|cause| Problem::undelivered("standard error", &cause))
}
