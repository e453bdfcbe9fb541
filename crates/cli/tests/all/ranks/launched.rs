//! What the program does where a launcher has started it, before any rank joins another. No
//! launcher is needed for it.

use std::path::Path;
use std::process::Command;

use crate::support::faces;
use crate::support::{Ended, Running, Scene};

/// The program without MPI, as rank of so many.
fn rank(number: u32, of: u32, words: &[&str], scene: &Scene) -> Ended {
    let mut command: Command = Running::command(faces::program());
    command.env("OMPI_COMM_WORLD_RANK", number.to_string());
    command.env("OMPI_COMM_WORLD_SIZE", of.to_string());
    command.args(words).current_dir(scene.directory("target"));
    Running::to_its_end(command, scene.path())
}

#[test]
fn a_program_without_mpi_refuses_to_be_a_rank() {
    let scene = Scene::new();
    let words = ["run", "--files", "10", "--transactions", "10"];
    let first = rank(0, 4, &words, &scene);
    first.ends("2 | mpirun has started 4 processes, and this postmark was built without MPI");
    first.says("cargo build -p cli --features mpi");
    let other = rank(3, 4, &words, &scene);
    other.code(2).assert(
        other.errors.is_empty() && other.output.is_empty(),
        "all ranks say the same",
    );
    assert!(
        crate::support::names(&scene.directory("target"))
            .unwrap()
            .is_empty()
    );
    rank(0, 1, &words, &scene).code(0);
}

#[test]
fn nothing_but_a_run_works_in_ranks() {
    let scene = Scene::new();
    for words in [
        &["presets"][..],
        &["schema"],
        &["list"],
        &["clean", "."],
        &[],
    ] {
        let ended = rank(0, 2, words, &scene);
        ended.ends("2 | only 'postmark run' and 'postmark study' work in several");
        rank(1, 2, words, &scene).code(2).does_not_say("postmark");
    }
}

#[test]
fn parts_are_of_ranks() {
    let scene = Scene::new();
    let parts = scene.path().join("parts");
    let mut command = Running::command(faces::program());
    command
        .args(["run", "--parts"])
        .arg(&parts)
        .current_dir(scene.path());
    let ended = Running::to_its_end(command, scene.path());
    ended.ends("2 | --parts is for the processes that mpirun or srun starts");
    assert!(!parts.exists());
}

#[test]
fn what_is_no_part_of_a_run_is_refused() {
    let scene = Scene::new();
    let collect = |directory: &Path| {
        let mut command = Running::command(faces::program());
        command.arg("collect").arg(directory);
        Running::to_its_end(command, scene.path())
    };
    let empty = scene.directory("empty");
    collect(&empty).code(2).says("no part of a run can be read");
    collect(&scene.path().join("missing"))
        .code(2)
        .says("cannot read");
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
        let directory = scene.directory(name);
        std::fs::write(directory.join("rank-00000.jsonl"), first).unwrap();
        std::fs::write(directory.join("rank-00001.jsonl"), second).unwrap();
        collect(&directory).code(2).says(told);
    }
}
