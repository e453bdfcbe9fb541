//! Plans of runs that this build, this machine or this target cannot perform, and plans without the
//! server of their target.

use std::net::TcpListener;

use serde_json::Value;
use testkit::Shows;

use crate::original::{Said, directory, ended, json, split};

/// Both outputs of a command in one line, and its exit status.
fn said(said: &Said) -> (String, Option<i32>) {
    let text = [&said.output, &said.errors].map(|text| String::from_utf8_lossy(text).into_owned());
    let words: Vec<String> = text
        .concat()
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    (words.join(" "), said.code)
}

/// Every worker has 4 GB of files, so that 1,024 workers need more memory or space than a machine
/// for tests has.
const LARGE: &str = "--mix read=1 --files 125 --size 32MiB --for 10s";

#[test]
fn plan_names_the_level_of_a_worker_sweep_that_does_not_fit() {
    let at = directory();
    let refused = "the load level with 1,024 workers: not enough";
    let of = |command: &str| {
        let words = format!("{command} {LARGE} --sweep workers=1,1024 --durability none");
        said(&ended(&split(&words), at.path()))
    };
    let (text, code) = of("plan");
    text.shows_all("those of the level with 1,024 workers, the largest | A run would be refused:");
    text.shows(refused);
    assert_eq!(code, Some(2));
    // The run is refused before its first level.
    let (text, code) = of("run");
    text.shows(refused);
    assert_eq!(code, Some(2));
    assert_eq!(std::fs::read_dir(at.path()).unwrap().count(), 0);
    let words = "plan --files 10 --size 1KiB --for 10s --sweep workers=1,2";
    let (text, code) = said(&ended(&split(words), at.path()));
    text.shows("those of the level with 2 workers")
        .does_not_show("refused");
    assert_eq!(code, Some(0));
}

#[test]
fn study_names_the_cell_that_does_not_fit_before_its_first_run() {
    let at = directory();
    let words = "study --mix read=1 --size 100MiB --transactions 10 --axis files=1,1000000 \
                 --target . --archive runs.db";
    for words in [words.to_owned(), format!("{words} --dry-run")] {
        let (text, code) = said(&ended(&split(&words), at.path()));
        text.shows("cell files=1000000: not enough space on the file system of");
        assert_eq!(code, Some(2), "{words}");
    }
    let words = format!("{words} --dry-run --no-space-check");
    let (text, code) = said(&ended(&split(&words), at.path()));
    text.shows("files=1: 1 file")
        .shows("files=1000000: 1,000,000 files");
    assert_eq!(code, Some(0));
}

#[test]
fn plan_that_does_not_fit_has_the_exit_status_of_a_refused_run() {
    let at = directory();
    let words = "--mix read=1 --files 1000000 --size 100MiB --transactions 10";
    let of = |command: &str| said(&ended(&split(&format!("{command} {words}")), at.path()));
    for command in ["plan", "run --dry-run"] {
        let (text, code) = of(command);
        text.shows_all("DOES NOT FIT | A run would be refused: not enough space");
        assert_eq!(code, Some(2), "{command}");
    }
    for command in ["plan --no-space-check", "run --dry-run --no-space-check"] {
        let (text, code) = of(command);
        text.shows_all("DOES NOT FIT | A run would not be refused, because --no-space-check");
        assert_eq!(code, Some(0), "{command}");
    }
}

/// A preset has durability policies for single actions. Those of actions that `--mix` leaves out do
/// not apply.
#[test]
fn mix_drops_the_policies_of_a_preset_for_actions_that_it_leaves_out() {
    let at = directory();
    let words = "plan --preset mail --mix read=1,append=1 --files 10 --transactions 10";
    let (text, code) = said(&ended(&split(words), at.path()));
    assert_eq!(code, Some(0), "{text}");
    let words = format!("{words} --durability deliver=fsync+dir");
    let (text, code) = said(&ended(&split(&words), at.path()));
    text.shows("the workload performs no deliver");
    assert_eq!(code, Some(2));
}

#[test]
fn plan_of_ranks_is_refused_by_a_build_without_mpi() {
    let at = directory();
    let words = "plan --files 10 --transactions 10 --ranks 2";
    let (text, code) = said(&ended(&split(words), at.path()));
    text.shows("mpirun -n 2 postmark run");
    match cfg!(feature = "mpi") {
        true => assert_eq!(code, Some(0)),
        false => {
            text.shows("A run would be refused: this postmark was built without MPI");
            assert_eq!(code, Some(2));
        }
    }
}

#[test]
fn plan_does_not_need_an_answer_of_the_server() {
    let at = directory();
    let port = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let words = format!(
        "plan --preset varmail --files 20 --transactions 50 --target \
         nfs://127.0.0.1:{port}/export?mountport={port}"
    );
    let (text, code) = said(&ended(&split(&words), at.path()));
    text.shows_all("transactions; 0 operations left out | Room not known | Connection refused");
    assert_eq!(code, Some(0));
    let plan: Value = json(&split(&words), at.path());
    assert_eq!(plan["refused"], Value::Array(Vec::new()));
    assert!(plan["plan"]["files_peak"].as_u64() >= Some(40), "{plan}");
}

#[test]
fn scratch_file_system_as_the_target_of_a_run_is_explained() {
    let at = directory();
    for words in [
        "run --preset mail --target make:ext4",
        "plan --preset mail --target make:ext4",
    ] {
        let (text, code) = said(&ended(&split(words), at.path()));
        text.shows_all(
            "cannot use --target make:ext4 | as root: postmark study --preset mail-1 --target \
             make:ext4 --target make:xfs",
        )
        .does_not_show("create the directory");
        assert_eq!(code, Some(2), "{words}");
    }
    // An existing directory with the name `make:ext4` is an ordinary target.
    std::fs::create_dir(at.path().join("make:ext4")).unwrap();
    let words = "run --quiet --files 2 --transactions 2 --target make:ext4";
    let (text, code) = said(&ended(&split(words), at.path()));
    assert_eq!(code, Some(0), "{text}");
}
