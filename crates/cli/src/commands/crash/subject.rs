//! Describes the runs of crash rounds and their machine, for the result.

use std::time::{SystemTime, UNIX_EPOCH};

use record::RunId;
use rundir::CrashSubject;
use spec::RunSpec;
use system::{Host, Sources, Target};
use verdict::list_row::WorkKind;

use crate::ui::problem::Problem;

/// Options that the result states itself, or that do not affect a round. Those
/// with `true` have a value.
const LEFT_OUT: [(&str, bool); 9] = [
    ("--rounds", true),
    ("--seed", true),
    ("--ack-log", true),
    ("--archive", true),
    ("--tag", true),
    ("--note", true),
    ("--format", true),
    ("--quiet", false),
    ("-q", false),
];

/// Describes the runs of rounds that are planned now.
pub(super) fn subject(spec: &RunSpec) -> Result<CrashSubject, Problem> {
    let host = Host::read(&Sources::default());
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let begun_unix_ns = since.map_or(0, |since| since.as_nanos() as u64);
    let fingerprint =
        workload::fingerprint::fingerprint(&spec.workload).map_err(Problem::refused)?;
    let mut words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    // The program, and the word `crash`.
    let _ = words.by_ref().take_while(|word| word != "crash").count();
    Ok(CrashSubject {
        id: identity(&host, begun_unix_ns),
        begun_unix_ns,
        file_systems: file_system(spec).into_iter().collect(),
        host: host.hostname,
        preset: spec.preset.clone(),
        workload: Some(WorkKind::of(&spec.workload.work).name().to_owned()),
        engine: spec.engine.name().to_owned(),
        workers: spec.workload.workers.count(),
        fingerprint: fingerprint.to_string(),
        arguments: arguments(words),
    })
}

/// Type of the target's file system, or protocol of its server.
fn file_system(spec: &RunSpec) -> Option<String> {
    if spec.engine.calls_server() {
        return Some(spec.engine.name().to_owned());
    }
    let target = Target::read(&Sources::default(), spec::directory(spec.targets.first()?));
    Some(target.mount.known()?.file_system_type.clone())
}

/// The identity differs between any two commands: boot, process and time of a machine.
fn identity(host: &Host, begun_unix_ns: u64) -> RunId {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let mut hasher = DefaultHasher::new();
    let boot = host.boot_id.known();
    (boot, &host.hostname, std::process::id()).hash(&mut hasher);
    RunId::new(u128::from(hasher.finish()) << 64 | u128::from(begun_unix_ns))
}

fn arguments(words: impl Iterator<Item = String>) -> Vec<String> {
    let mut kept = Vec::new();
    let mut skips = false;
    for word in words {
        if std::mem::take(&mut skips) {
            continue;
        }
        let name = word.split('=').next().unwrap_or_default();
        match LEFT_OUT.iter().find(|(option, _)| *option == name) {
            Some((_, has_value)) => skips = *has_value && !word.contains('='),
            None => kept.push(word),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::arguments;

    #[test]
    fn options_that_the_result_states_are_left_out() {
        let typed = "--preset mail --rounds 20 --seed=7 -q -t /mnt/a --ack-log /x --crash 'a b'";
        let words = typed.split(' ').map(str::to_owned);
        let kept = arguments(words).join(" ");
        assert_eq!(kept, "--preset mail -t /mnt/a --crash 'a b'");
    }
}
