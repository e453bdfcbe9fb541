//! `postmark clean` removes the scratch file system of a killed study, but not that of a study in
//! progress.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use scratch::{Made, MakeSpec};

use crate::support::interface::clean;
use crate::support::{TestDir, is_met, is_root, names};

const SPEC: &str = "POSTMARK_MADE_SPEC";

/// Not a test, but the process that creates a scratch file system. The test below starts it.
#[test]
fn maker() {
    let Ok(spec) = std::env::var(SPEC) else {
        return;
    };
    let made = Made::make(&spec.parse().unwrap(), "to be killed").unwrap();
    std::fs::write(made.directory().join("file"), "text").unwrap();
    println!("reached");
    std::io::stdout().flush().unwrap();
    std::thread::sleep(Duration::from_secs(600));
}

fn started(spec: &MakeSpec) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["safety::made_cleaned::maker", "--exact", "--nocapture"])
        .env(SPEC, spec.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    assert!(
        output
            .lines()
            .any(|line| line.unwrap().ends_with("reached"))
    );
    child
}

#[test]
fn clean_removes_the_file_system_of_a_killed_study() {
    let test_dir = TestDir::in_memory();
    let directory = test_dir.directory("images");
    let spec: MakeSpec = format!("make:ext4?size=16MiB&in={}", directory.display())
        .parse()
        .unwrap();
    if !is_root() || !is_met(spec.check().is_ok(), "ext4 and loop devices") {
        return;
    }
    let mut maker = started(&spec);
    let of_living = clean(&directory);
    of_living
        .code(1)
        .shows(&format!("in use by its maker (process {})", maker.id()));
    assert!(
        names(
            &directory
                .join(&names(&directory).unwrap()[0])
                .join("mount/work")
        )
        .unwrap()
            == ["file"]
    );
    maker.kill().unwrap();
    maker.wait().unwrap();
    let began = Instant::now();
    clean(&directory).code(0).shows(&format!(
        ": removed a file system that a study left behind ({spec}): 1 mount, 1 loop device, 1 image"
    ));
    assert!(began.elapsed() < Duration::from_secs(20));
    assert!(names(&directory).unwrap().is_empty());
    clean(&directory).code(0).shows("no files of a killed run");
}
