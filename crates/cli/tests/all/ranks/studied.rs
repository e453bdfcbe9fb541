//! Studies in several ranks, which perform each run together.

use std::path::PathBuf;
use std::process::Command;

use record::{Outcome, Record};
use rustix::process::Signal;

use super::Job;
use crate::support::{Ended, Running};

fn archive(job: &Job) -> PathBuf {
    job.test_dir.path().join("runs.db")
}

fn study(job: &Job, ranks: u32, words: &str) -> Command {
    let mut command = job.launch(ranks);
    command.arg("study").args(words.split_whitespace());
    command.arg("--archive").arg(archive(job));
    command
}

fn perform(job: &Job, ranks: u32, words: &str) -> Ended {
    Running::run_to_end(study(job, ranks, words), &job.target())
}

/// The records of the first `count` archived runs, in order.
fn runs(job: &Job, count: u32) -> Vec<Record> {
    let archive = archive(job);
    let show = |run: u32| {
        let run = run.to_string();
        let words = [
            "show",
            &run,
            "--format",
            "json",
            "--archive",
            archive.to_str().unwrap(),
        ];
        Record::from_json(&job.postmark(&words).code(0).output).unwrap()
    };
    (1..=count).map(show).collect()
}

const SHORT: &str = "--engine posix --files 50 --transactions 300 --seed 7 \
                     --no-overhead --blocks 1 --no-twin --quiet-time 0s --format json";

#[test]
fn all_ranks_perform_the_runs_of_a_study() {
    let Some(job) = Job::new() else { return };
    let target = job.target();
    let target = target.to_str().unwrap();
    let words = format!("{SHORT} --workers 2 --axis ranks=1,2 --target {target}");
    perform(&job, 2, &words).code(0);
    let mut seen: Vec<_> = runs(&job, 2)
        .iter()
        .map(|record| {
            assert_eq!(record.actual.outcome, Outcome::Complete);
            assert!(record.study.is_some());
            let ranks = record.cluster.as_ref().map(|cluster| cluster.ranks.len());
            (
                record.spec.ranks,
                ranks,
                record.spec.workload.workers.count(),
            )
        })
        .collect();
    seen.sort_unstable();
    assert_eq!(seen, [(1, Some(1), 2), (2, Some(2), 4)]);
    assert!(crate::support::names(&job.target()).unwrap().is_empty());
    // A study that needs more ranks than there are processes is refused, both under a launcher and
    // in a single process.
    let more = format!("{SHORT} --axis ranks=1,3 --target {target}");
    perform(&job, 2, &more)
        .code(2)
        .shows("ranks = 3 requires as many processes of a launcher, and there are 2");
    let archive = archive(&job);
    let mut alone: Vec<&str> = vec!["study", "--archive", archive.to_str().unwrap()];
    alone.extend(more.split_whitespace());
    job.postmark(&alone)
        .code(2)
        .shows("and there are 1 (use mpirun -n 3 postmark study ... of a build with MPI, as in");
}

#[test]
fn study_continues_after_a_rank_was_killed() {
    let Some(job) = Job::new() else { return };
    let target = job.target();
    let words = format!(
        "--mix read=1 --think 1ms --files 100 --for 1s --blocks 2 --no-twin --quiet-time 0s \
         --target {0} --target again={0}",
        target.to_str().unwrap()
    );
    let mut running = Running::start(study(&job, 2, &words), &target);
    let file = archive(&job);
    let list = [
        "list",
        "--format",
        "json",
        "--archive",
        file.to_str().unwrap(),
    ];
    running.until("that the archive has a run", |_| {
        file.exists() && job.postmark(&list).output.contains("study:")
    });
    job.send(1, Signal::KILL);
    job.ends_early(running, 2);
    job.is_cleaned();
    let resumed = perform(&job, 2, "--resume last");
    resumed.code(0);
    let alone = job.postmark(&[
        "study",
        "--resume",
        "last",
        "--archive",
        archive(&job).to_str().unwrap(),
    ]);
    alone.ends("2 | ranks = 2 requires as many processes of a launcher");
    let count = job.postmark(&list).output.matches("study:").count();
    let (complete, lost): (Vec<Record>, Vec<Record>) = runs(&job, count as u32)
        .into_iter()
        .partition(|record| record.actual.outcome == Outcome::Complete);
    assert_eq!(lost.len(), 1, "the run whose rank was killed");
    assert!(complete.len() >= 2, "a run in each of two blocks");
    for record in complete {
        assert_eq!(record.cluster.as_ref().unwrap().ranks.len(), 2);
    }
}
