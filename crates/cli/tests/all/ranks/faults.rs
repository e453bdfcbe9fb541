//! Ranks that are killed or stopped, and launchers that are killed. All ranks end in time with a
//! failure, complete parts are on disk, and `clean` removes all files.

use record::{Outcome, Phase, Record};
use rustix::process::{Pid, Signal, kill_process};
use testkit::Shows;

use super::Job;
use crate::support::{Ended, Running};

/// Options of a run that is long enough to interrupt every phase.
const LONG: &str = "--preset mail --workers 1 --files 10000 --transactions 20000";

/// Starts a long run of four ranks that write parts, and waits until each rank has completed
/// `completed` phases.
fn begun(job: &Job, completed: usize) -> Running {
    let mut running = job.start(4, &format!("{LONG} --parts {}", job.parts().display()));
    for rank in 0..4 {
        job.until_completed(&mut running, rank, completed);
    }
    // Rank 0 merges the parts of a phase a moment after the ranks have written them. If `completed`
    // is 0, there are no parts to wait for.
    running.until("that rank 0 has merged the phases", |_| {
        let merged = || std::fs::read_to_string(job.parts().join("merged-so-far.json"));
        let phases = |text: String| Record::from_json(&text).unwrap().actual.phases.len();
        completed == 0 || merged().is_ok_and(|text| phases(text) >= completed)
    });
    running
}

/// Runs `collect`, and returns the record. Every part is incomplete, so the exit status is 1.
fn collected(job: &Job) -> (Ended, Record) {
    let collected = job.collect();
    collected.code(1);
    for rank in 0..4 {
        collected.shows(&format!("rank {rank} ("));
    }
    let record = Record::from_json(&collected.output).unwrap();
    assert_ne!(record.actual.outcome, Outcome::Complete, "{collected}");
    assert_eq!(
        record.cluster.as_ref().unwrap().ranks.len(),
        4,
        "{collected}"
    );
    (collected, record)
}

/// The phases of a record, each with its number of workers.
fn phases(record: &Record) -> Vec<(Phase, usize)> {
    let phases = record.actual.phases.iter();
    phases
        .map(|phase| (phase.phase, phase.workers.len()))
        .collect()
}

#[test]
fn job_ends_when_a_rank_is_killed_in_any_phase() {
    let Some(job) = Job::new() else { return };
    for (completed, rank) in [(0, 3), (1, 1), (2, 2), (2, 0)] {
        let running = begun(&job, completed);
        job.send(rank, Signal::KILL);
        let ended = job.ends_early(running, 4);
        let (collected, record) = collected(&job);
        // On a busy machine, other ranks may complete the next phase before the signal arrives.
        let mut found = phases(&record);
        found.truncate(completed + 1);
        found.retain(|(_, workers)| *workers == 4);
        let expected = [Phase::Prepare, Phase::Transactions];
        assert_eq!(
            found,
            expected[..completed]
                .iter()
                .map(|phase| (*phase, 4))
                .collect::<Vec<_>>(),
            "{ended}\n{collected}"
        );
        job.is_cleaned();
        std::fs::remove_dir_all(job.parts()).unwrap();
    }
}

#[test]
fn job_ends_when_the_launcher_is_killed() {
    let Some(job) = Job::new() else { return };
    let running = begun(&job, 1);
    running.send(Signal::KILL);
    job.ends_early(running, 4);
    let (_, record) = collected(&job);
    assert_eq!(phases(&record), [(Phase::Prepare, 4)]);
    // Even if the part of a rank is lost or on another host, the phases that rank 0 has merged
    // contain the results of this rank.
    std::fs::remove_file(job.parts().join("rank-00003.jsonl")).unwrap();
    let merged = job.collect();
    merged.ends("1 | rank 3 is missing | as rank 0 has merged it");
    let record = Record::from_json(&merged.output).unwrap();
    assert_eq!(phases(&record), [(Phase::Prepare, 4)]);
    assert_eq!(record.cluster.as_ref().unwrap().ranks.len(), 4, "{merged}");
    std::fs::remove_file(job.parts().join("merged-so-far.json")).unwrap();
    let without = job.collect();
    without.code(1).shows("rank 3 is missing");
    let record = Record::from_json(&without.output).unwrap();
    assert_eq!(phases(&record), [(Phase::Prepare, 3)]);
    job.is_cleaned();
}

#[test]
fn job_ends_when_a_rank_is_stopped() {
    let Some(job) = Job::new() else { return };
    let running = begun(&job, 1);
    job.send(2, Signal::STOP);
    let ended = job.ends_early(running, 4);
    ended
        .shows("rank 2 gave no sign of life for 8 s")
        .shows("postmark: rank 1 (")
        .shows("'postmark collect");
    let (_, record) = collected(&job);
    assert_eq!(phases(&record), [(Phase::Prepare, 4)]);
    job.is_cleaned();
}

/// If a mounted file system has a server, a rank has two processes. The launcher knows and stops
/// only the first process. The second process must then stop as well.
#[test]
fn stopping_the_launched_process_stops_the_rank() {
    let Some(job) = Job::new() else { return };
    let Some(_served) = job.served() else { return };
    let running = begun(&job, 1);
    let processes = job.processes(2);
    assert_eq!(processes.len(), 2, "{processes:?}");
    let is_parent = |process: &&Pid| {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", process.as_raw_pid())).unwrap();
        let parent = status
            .lines()
            .find_map(|line| line.strip_prefix("PPid:"))
            .unwrap()
            .trim();
        processes
            .iter()
            .all(|other| other.as_raw_pid().to_string() != parent)
    };
    let outer = processes.iter().find(is_parent).unwrap();
    kill_process(*outer, Signal::STOP).unwrap();
    let ended = job.ends_early(running, 4);
    ended.shows("rank 2 gave no sign of life for 8 s");
    job.is_cleaned();
}

#[test]
fn collected_record_replaces_the_unfinished_entry_of_rank_0() {
    let Some(job) = Job::new() else { return };
    let archive = job.test_dir.directory("archive").join("runs.db");
    let archive = archive.to_str().unwrap();
    let mut running = job.start(2, &format!("{LONG} --archive {archive}"));
    let directory = || {
        let names = crate::support::names(&job.test_dir.directory("archive")).unwrap();
        let parts = names
            .into_iter()
            .find(|name| name.to_string_lossy().starts_with("postmark-parts-"));
        parts.map(|parts| job.test_dir.directory("archive").join(parts))
    };
    running.until("that a phase is complete", |_| {
        directory().is_some_and(|parts| {
            (0..2).all(|rank| {
                let text = std::fs::read_to_string(parts.join(format!("rank-{rank:05}.jsonl")));
                text.is_ok_and(|text| text.lines().count() >= 3)
            })
        })
    });
    running.send(Signal::KILL);
    job.ends_early(running, 2);
    let parts = directory().unwrap();
    let list = || {
        job.postmark(&["list", "--format", "json", "--archive", archive])
            .code(0)
            .output
            .clone()
    };
    list().shows("unfinished");
    let collected = job.postmark(&["collect", parts.to_str().unwrap(), "--archive", archive]);
    collected.ends("1 | archived as run 1 | 2 of 2 ranks did not complete the run");
    list().shows("failed");
    let again = job.postmark(&["collect", parts.to_str().unwrap(), "--archive", archive]);
    again.code(1).shows("archived already: run 1");
    job.is_cleaned();
}
