//! What the original does wrong with its configuration files, and ours does not: lines of more than
//! 255 characters, a last line without an end, a shell behind `!`, fewer than ten transactions, a
//! location that holds what a run uses.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use crate::support::faces::program;
use crate::support::scene::furnish;
use crate::support::{Ended, FACES, Running, Scene, Snapshot, Work};

/// A session with a configuration file, in a directory of its own.
fn session(scene: &Scene, text: &[u8]) -> Ended {
    std::fs::write(scene.path().join("commands"), text).unwrap();
    let mut command = Running::command(program());
    command.arg("commands").current_dir(scene.path());
    Running::to_its_end(command, scene.path())
}

#[test]
fn fewer_than_ten_transactions() {
    for transactions in 1..=12 {
        for face in FACES {
            let scene = Scene::new();
            let location = scene.directory("location");
            furnish(&location);
            let before = Snapshot::of(&location);
            let work = Work {
                transactions,
                ..Work::little(&location)
            };
            let ended = face.perform(&work, &scene);
            ended.code(0);
            if face.is_prompt() {
                // A dot for each of them, or for every tenth.
                let dots = ".".repeat(usize::try_from(transactions).unwrap());
                ended
                    .says(&format!("Performing transactions{dots}Done\n"))
                    .says("seconds total");
            }
            before.assert_kept(&location, &ended);
        }
    }
}

#[test]
fn long_lines() {
    let scene = Scene::new();
    let name = "long".repeat(60);
    let location = scene.directory(&format!("{name}/{name}/{name}"));
    furnish(&location);
    let before = Snapshot::of(&location);
    let path = location.display();
    let ended = session(
        &scene,
        format!("set location {path}\nset transactions 20\nshow\nrun\n").as_bytes(),
    );
    ended
        .code(0)
        .says(&path.to_string())
        .says("Performing transactions..........Done")
        .does_not_say("Eh?");
    before.assert_kept(&location, &ended);
    // Where the original would take the rest of a long line for a line of its own.
    let padding = " ".repeat(300);
    let touched = scene.path().join("touched");
    let ended = session(
        &scene,
        format!(
            "nonsense{padding}show\n{padding}!touch {}\n",
            touched.display()
        )
        .as_bytes(),
    );
    assert_eq!(ended.output.matches("Eh?").count(), 2, "{ended}");
    ended.does_not_say("Current configuration");
    assert!(!touched.exists());
}

#[test]
fn a_last_line_without_an_end() {
    let scene = Scene::new();
    for text in ["set transactions 30\nrun", "run"] {
        let ended = session(&scene, text.as_bytes());
        ended.code(0).says("seconds total").does_not_say("Eh?");
    }
    let ended = session(
        &scene,
        b"set number 77\nset transactions 123\nshow\nset seed 9",
    );
    ended.code(0).says("123").does_not_say("Eh?");
}

#[test]
fn a_shell_is_for_people_only() {
    let scene = Scene::new();
    let touched = scene.path().join("touched");
    let line = format!("!touch {}\n", touched.display());
    let ended = session(&scene, line.as_bytes());
    ended.says("Error: '!' runs a shell at an interactive prompt only");
    // From a pipe, and from a file that is loaded.
    std::fs::write(scene.path().join("loaded"), &line).unwrap();
    std::fs::write(scene.path().join(".pmrc"), &line).unwrap();
    for input in [line.as_str(), "load loaded\n"] {
        let mut command = Running::command(program());
        command
            .current_dir(scene.path())
            .stdin(Stdio::from(file_of(&scene, input)));
        let ended = Running::to_its_end(command, scene.path());
        assert_eq!(ended.errors.matches("interactive").count(), 2, "{ended}");
    }
    assert!(!touched.exists(), "a shell was run");
}

/// A file, open at its start, with this content.
fn file_of(scene: &Scene, content: &str) -> std::fs::File {
    let path = scene.path().join("input");
    let mut file = std::fs::File::create(&path).unwrap();
    file.write_all(content.as_bytes()).unwrap();
    std::fs::File::open(path).unwrap()
}

/// After a run that was refused or failed the session goes on, and its end tells.
#[test]
fn a_failed_run_is_told_at_the_end_of_the_session() {
    let scene = Scene::new();
    let location = scene.directory("location");
    std::fs::write(location.join("1"), "mine\n").unwrap();
    let text = format!(
        "set location {}\nrun\nset location .\nset transactions 20\nrun\nquit\n",
        location.display()
    );
    let ended = session(&scene, text.as_bytes());
    ended.ends("1 | already contains '1' | seconds total");
    assert_eq!(std::fs::read(location.join("1")).unwrap(), b"mine\n");
    let names = names(scene.path());
    assert_eq!(names, ["commands", "location"], "{ended}");
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
