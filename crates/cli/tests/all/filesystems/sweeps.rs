//! Load sweeps that end before their last load level. The completed load levels are reported.

use record::{Load, Outcome, Record};
use rustix::process::Signal;
use testkit::Shows;

use crate::mounted::{self, Mounted};
use crate::runs::Run;
use crate::support::{FileSystem, names};

const SWEEP_STEPS: &str =
    "--mix read=1 --files 100 --size 100KiB --think 2ms --warm-up 0s --for 10s";

fn record(output: &str) -> Record {
    Record::from_json(output).unwrap_or_else(|error| panic!("{error}: {output}"))
}

/// During the first load level, another program fills the file system, so that the pools of the
/// second load level do not fit any more.
#[test]
fn refused_load_level_keeps_earlier_load_levels() {
    let Some(mounted) = Mounted::with_image(FileSystem::Tmpfs, 64, &[]) else {
        return;
    };
    let live = mounted.elsewhere("live");
    let mut running = Run::new(&mounted.at, SWEEP_STEPS)
        .and("--sweep workers=1,4")
        .with("--live", &live)
        .start();
    running.until("the first level is climbed", |_| {
        std::fs::read_to_string(&live).is_ok_and(|lines| lines.contains("\"sweep_step\":1"))
    });
    let filler = mounted.at.join("filler");
    std::fs::write(&filler, vec![0; 30 << 20]).unwrap();
    let ended = running.finish();
    std::fs::remove_file(&filler).unwrap();
    ended.code(1);
    for words in ["level 2 was refused", "not enough space"] {
        assert!(
            ended.errors.contains(words),
            "standard error does not say '{words}'\n{ended}"
        );
    }
    let record = record(&ended.output);
    let Outcome::Failed { why } = &record.actual.outcome else {
        panic!("{:?}\n{ended}", record.actual.outcome);
    };
    why.shows("level 2 was refused");
    let [sweep_step] = &record.actual.sweep_steps[..] else {
        panic!("one level was climbed\n{ended}");
    };
    assert_eq!(
        (sweep_step.load, sweep_step.of_run.is_some()),
        (Load::Workers(1), false)
    );
    assert!(
        sweep_step
            .transactions()
            .is_some_and(|phase| phase.complete && phase.transactions() > 0)
    );
    assert!(names(&mounted.at).unwrap().is_empty(), "{ended}");
}

/// A sweep over workers performs each load level as a separate run. So the second load level in the
/// record has its own start time and fingerprint.
#[test]
fn interrupted_load_level_keeps_earlier_load_levels() {
    let Some(mounted) = mounted::tmpfs() else {
        return;
    };
    let live = mounted.elsewhere("live");
    let run = Run::new(&mounted.at, SWEEP_STEPS)
        .and("--sweep workers=1,2")
        .with("--live", &live);
    let mut running = run.start();
    running.until("the second level is climbed", |_| {
        std::fs::read_to_string(&live).is_ok_and(|lines| lines.contains("\"sweep_step\":2"))
    });
    running.send(Signal::INT);
    let ended = running.finish();
    ended.code(130);
    let record = record(&ended.output);
    assert!(
        matches!(record.actual.outcome, Outcome::Interrupted { signal: 2 }),
        "{ended}"
    );
    let [first, second] = &record.actual.sweep_steps[..] else {
        panic!("two levels were begun\n{ended}");
    };
    assert!(first.phases.iter().all(|phase| phase.complete), "{ended}");
    let run = second
        .of_run
        .as_ref()
        .unwrap_or_else(|| panic!("it had a run of its own\n{ended}"));
    assert!(
        run.origin.unix_ns >= record.origin.unix_ns + 10_000_000_000,
        "{ended}"
    );
    assert_ne!(
        run.fingerprint, record.fingerprint,
        "two workers are another work"
    );
    assert!(names(&mounted.at).unwrap().is_empty(), "{ended}");
}
