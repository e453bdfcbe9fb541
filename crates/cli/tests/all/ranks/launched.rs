//! Starts the program as a launcher does, and tests its behavior before it joins the other ranks.
//! The tests set the environment variables of a launcher themselves, so they need no launcher.

use std::path::Path;
use std::process::Command;

use crate::support::interface;
use crate::support::{Ended, Running, TestDir};

/// Runs the program, built without MPI, as rank `number` of `of` ranks.
fn rank(number: u32, of: u32, words: &[&str], test_dir: &TestDir) -> Ended {
    let mut command: Command = Running::command(interface::program());
    command.env("OMPI_COMM_WORLD_RANK", number.to_string());
    command.env("OMPI_COMM_WORLD_SIZE", of.to_string());
    command
        .args(words)
        .current_dir(test_dir.directory("target"));
    Running::run_to_end(command, test_dir.path())
}

#[test]
fn program_without_mpi_refuses_to_be_a_rank() {
    let test_dir = TestDir::new();
    let words = ["run", "--files", "10", "--transactions", "10"];
    let first = rank(0, 4, &words, &test_dir);
    first.ends("2 | mpirun has started 4 processes, and this postmark was built without MPI");
    first.shows("cargo build -p cli --features mpi");
    let other = rank(3, 4, &words, &test_dir);
    other.code(2).assert(
        other.errors.is_empty() && other.output.is_empty(),
        "all ranks say the same",
    );
    assert!(
        crate::support::names(&test_dir.directory("target"))
            .unwrap()
            .is_empty()
    );
    rank(0, 1, &words, &test_dir).code(0);
}

#[test]
fn only_runs_and_studies_work_in_ranks() {
    let test_dir = TestDir::new();
    for words in [
        &["presets"][..],
        &["schema"],
        &["list"],
        &["clean", "."],
        &[],
    ] {
        let ended = rank(0, 2, words, &test_dir);
        ended.ends("2 | only 'postmark run' and 'postmark study' work in several");
        rank(1, 2, words, &test_dir)
            .code(2)
            .does_not_show("postmark");
    }
}

#[test]
fn parts_option_requires_ranks() {
    let test_dir = TestDir::new();
    let parts = test_dir.path().join("parts");
    let mut command = Running::command(interface::program());
    command
        .args(["run", "--parts"])
        .arg(&parts)
        .current_dir(test_dir.path());
    let ended = Running::run_to_end(command, test_dir.path());
    ended.ends("2 | --parts is for the processes that mpirun or srun starts");
    assert!(!parts.exists());
}

#[test]
fn collect_refuses_files_that_are_no_parts() {
    let test_dir = TestDir::new();
    let collect = |directory: &Path| {
        let mut command = Running::command(interface::program());
        command.arg("collect").arg(directory);
        Running::run_to_end(command, test_dir.path())
    };
    let empty = test_dir.directory("empty");
    collect(&empty)
        .code(2)
        .shows("no part of a run can be read");
    collect(&test_dir.path().join("missing"))
        .code(2)
        .shows("cannot read");
    let begun = |rank: u32, ranks: u32, job: &str| {
        format!(
            "{{\"rank\":{{\"rank\":{rank},\"ranks\":{ranks},\"host\":\"h\",\"job\":\"{job}\"}}}}\n"
        )
    };
    for (name, first, second, told) in [
        (
            "other",
            begun(0, 2, "a"),
            begun(1, 2, "b"),
            "are parts of different runs",
        ),
        (
            "twice",
            begun(1, 2, "a"),
            begun(1, 2, "a"),
            "are both of rank 1",
        ),
        (
            "begun",
            begun(0, 2, "a"),
            begun(1, 2, "a"),
            "no rank has left a part",
        ),
        (
            "beyond",
            begun(2, 2, "a"),
            begun(9, 2, "a"),
            "rank 2 of 2 cannot be",
        ),
        ("many", begun(2, u32::MAX, "a"), String::new(), "cannot be"),
        (
            "text",
            "some text".to_owned(),
            "{}".to_owned(),
            "expected a JSON object",
        ),
        ("cut", "{\"rank\":".to_owned(), String::new(), "truncated"),
    ] {
        let directory = test_dir.directory(name);
        std::fs::write(directory.join("rank-00000.jsonl"), first).unwrap();
        std::fs::write(directory.join("rank-00001.jsonl"), second).unwrap();
        collect(&directory).code(2).shows(told);
    }
}
