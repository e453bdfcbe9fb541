//! Two studies at the same time, and a study that two processes try to perform.

use rustix::process::Signal;

use super::{LITTLE, Lab, until_measured};

#[test]
fn simultaneous_studies_contain_only_their_own_runs() {
    let lab = Lab::new();
    let words =
        |name: &str| format!("study {LITTLE} --name {name} --blocks 5 --target a --target b");
    let running = ["one", "other"].map(|name| lab.start(&words(name)));
    for running in running {
        running.finish().code(0).shows("(baseline)");
    }
    let runs = lab.counted();
    assert_eq!(runs.len(), 30);
    for name in ["one", "other"] {
        assert_eq!(
            runs.iter().filter(|(part, _)| part.name == name).count(),
            15
        );
        lab.answer(&format!("compare {name}"));
    }
    lab.is_clean(&[], &"two studies");
}

/// A second process cannot continue a study in progress, neither during a run nor between two runs.
#[test]
fn running_study_is_not_continued_by_another_process() {
    let lab = Lab::new();
    let words = format!("study {LITTLE} --blocks 30 --target a --target b").replace("0s", "600ms");
    let mut running = lab.start(&words);
    until_measured(&mut running, "block 1 of 30, run 1");
    for _ in 0..3 {
        let ended = lab.shows("study --resume");
        ended.ends("2 | is still running");
        ended.does_not_show("run 2 of");
    }
    lab.shows("study --resume --dry-run");
    running.send(Signal::INT);
    running.finish().code(130);
    let before = lab.complete().len();
    let mut running = lab.start("study --resume");
    running.until("its next run", |_| lab.complete().len() > before);
    running.send(Signal::INT);
    let ended = running.finish();
    ended.code(130);
    lab.is_clean(&[], &ended);
}
