//! Parses, resolves and checks a configuration file from an untrusted source, without using a file
//! system. Writes the result as a configuration file, and parses this file. The test `hostile.rs`
//! uses stored inputs, and the fuzz target `config` generates new inputs.

use campaign::run_spec::{RunRequest, Specified, parse_config, specify, to_config};
use cli::ui::problem::USER;
use document::sanitize;
use spec::{EngineName, Options, SizesOption};
use workload::{Phase, Planner, fingerprint};

/// A plan is made only if all workers together have at most this number of files and transactions.
const PLANNED_MAX: u64 = 2_000;
/// A plan is made only if its stream needs at most this number of random draws, because a plan
/// generates the whole stream.
const DRAWS_MAX: u64 = 1_000_000;

/// Returns whether the file was accepted.
///
/// # Panics
/// Panics if a result is not as expected.
pub fn configure(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return false;
    };
    let Some(specified) = meaning(text) else {
        return false;
    };
    judge(&specified);
    let written = to_config(&specified).expect("what came from a text is a text");
    assert!(!written.contains(is_harmful), "{written:?}");
    let again =
        meaning(&written).unwrap_or_else(|| panic!("what was written has a meaning: {written}"));
    assert_eq!(again.spec, specified.spec, "{written}");
    true
}

/// Asserts that each line of an error message, except the first and the last, starts with `|`,
/// after a line number or blanks. So no text of the configuration file starts a line.
fn is_framed(problem: &str) {
    let lines: Vec<&str> = problem.lines().collect();
    let is_of_frame = |line: &&str| {
        let behind = line
            .trim_start_matches(|character: char| character.is_ascii_digit() || character == ' ');
        behind.starts_with('|')
    };
    let between = lines
        .get(1..lines.len().saturating_sub(1))
        .unwrap_or_default();
    assert!(between.iter().all(is_of_frame), "{problem:?}");
}

fn is_harmful(character: char) -> bool {
    !matches!(character, '\n' | '\t') && sanitize::is_harmful(character)
}

/// The run spec of a configuration file. `None` if the file is refused, or if its run spec depends
/// on other files or the machine.
fn meaning(text: &str) -> Option<Specified> {
    let options = match parse_config(text) {
        Ok(options) => options,
        Err(problem) => {
            is_framed(&sanitize::lines(&problem));
            return None;
        }
    };
    if looks_beyond(&options) {
        return None;
    }
    let request = RunRequest {
        invocation: Default::default(),
        preset: None,
        like: None,
        like_in: None,
        config: None,
        has_weights: false,
        locations: Ok(options.target.clone()),
        options,
    };
    match specify(&request, USER) {
        Ok(specified) => Some(specified),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            None
        }
    }
}

fn looks_beyond(options: &Options) -> bool {
    let sizes = [&options.size, &options.append_size, &options.range_size];
    let in_file = |said: &&Option<SizesOption>| matches!(said, Some(SizesOption::HistogramIn(_)));
    options.working_set.is_some() || sizes.iter().any(in_file)
}

/// Performs all checks of a workload that precede a run. Also generates the stream of operations if
/// it is short.
fn judge(specified: &Specified) {
    let workload = &specified.spec.workload;
    workload.validate().expect("it was validated");
    for phase in Phase::ALL {
        assert!(!workload.actions(phase).is_empty());
    }
    let workers = u64::from(workload.workers.count());
    assert!(workload.files_max() >= workload.files());
    assert!(workload.numbers_max() >= workload.files());
    let _ = (
        workload.directories(),
        workload.content_bytes_max(),
        workload.grows(),
    );
    if specified.spec.engine == EngineName::NULL {
        // The check may refuse the run. The test only fails if the check panics.
        let _ = runner::dispatch::judge(&specified.spec);
    }
    let all = workload.files().saturating_add(workload.transactions());
    // Planning takes too long if it draws too many random numbers. The original PostMark draws an
    // additional number for each block that it writes.
    let blocks = 1 + workload.content_bytes_max() / workload.write_block_bytes();
    let draws = all.saturating_mul(workers).saturating_mul(blocks);
    let is_short = all.saturating_mul(workers) <= PLANNED_MAX && draws <= DRAWS_MAX;
    if is_short && workload.directories() <= PLANNED_MAX {
        // Planning may fail. The test only fails if it panics.
        if let Ok(plan) = Planner::new(workload).plan() {
            assert!(plan.transactions <= all.saturating_mul(workers));
        }
        let _ = fingerprint::fingerprint(workload);
    }
}
