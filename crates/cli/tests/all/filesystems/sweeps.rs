//! Sweeps of several runs that end before their last rung: what was climbed before stays told.

use record::{Load, Outcome, Record};
use rustix::process::Signal;

use crate::ground::{self, Ground};
use crate::runs::Run;
use crate::support::{FileSystem, names};

const RUNGS: &str = "--mix read=1 --files 100 --size 100KiB --warm-up 0s --for 10s";

fn record(output: &str) -> Record {
    Record::from_json(output).unwrap_or_else(|error| panic!("{error}: {output}"))
}

/// The second rung's pools do not fit: that is known only when the first one has been climbed.
#[test]
fn a_later_rung_that_is_refused_leaves_the_rungs_before() {
    let Some(ground) = Ground::with_image(FileSystem::Tmpfs, 64, &[]) else {
        return;
    };
    let ended = Run::new(&ground.at, RUNGS).and("--sweep workers=1,20").end();
    ended.code(1);
    for words in ["rung 2 was refused", "no room"] {
        assert!(
            ended.errors.contains(words),
            "standard error does not say '{words}'\n{ended}"
        );
    }
    let record = record(&ended.output);
    let Outcome::Failed { why } = &record.actual.outcome else {
        panic!("{:?}\n{ended}", record.actual.outcome);
    };
    assert!(why.contains("rung 2 was refused"), "{why}");
    let [rung] = &record.actual.rungs[..] else {
        panic!("one rung was climbed\n{ended}");
    };
    assert_eq!((rung.load, rung.of_run.is_some()), (Load::Workers(1), false));
    assert!(
        rung.transactions()
            .is_some_and(|phase| phase.complete && phase.transactions() > 0)
    );
    assert!(names(&ground.at).unwrap().is_empty(), "{ended}");
}

/// Each later rung says when and under which conditions its own run was performed.
#[test]
fn a_signal_in_a_later_rung_leaves_the_rungs_before() {
    let Some(ground) = ground::tmpfs() else { return };
    let live = ground.elsewhere("live");
    let run = Run::new(&ground.at, RUNGS)
        .and("--sweep workers=1,2")
        .with("--live", &live);
    let mut running = run.start();
    running.until("the second rung is climbed", |_| {
        std::fs::read_to_string(&live).is_ok_and(|lines| lines.contains("\"rung\":2"))
    });
    running.send(Signal::INT);
    let ended = running.finish();
    ended.code(130);
    let record = record(&ended.output);
    assert!(
        matches!(record.actual.outcome, Outcome::Interrupted { signal: 2 }),
        "{ended}"
    );
    let [first, second] = &record.actual.rungs[..] else {
        panic!("two rungs were begun\n{ended}");
    };
    assert!(first.phases.iter().all(|phase| phase.complete), "{ended}");
    let run = second
        .of_run
        .as_ref()
        .unwrap_or_else(|| panic!("it had a run of its own\n{ended}"));
    assert!(run.origin.unix_ns >= record.origin.unix_ns + 10_000_000_000, "{ended}");
    assert_ne!(run.fingerprint, record.fingerprint, "two workers are another work");
    assert!(names(&ground.at).unwrap().is_empty(), "{ended}");
}
