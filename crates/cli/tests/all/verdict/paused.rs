//! A program that was stopped for a while, and the end of a run whose workers think.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::text;
use crate::support::faces::{has_ended, program};
use crate::support::{Running, Scene};

#[test]
fn a_program_that_was_stopped_says_so() {
    let scene = Scene::in_memory();
    let location = scene.directory("location");
    let mut command = Running::command(program());
    command.args("run --mix stat=1 --files 100 --storage posix --rate 1000 --for 7s --target".split(' '));
    command.arg(text(&location));
    let mut running = Running::start(command, &location);
    running.until("the transactions", |running| has_ended(&running.errors(), "sync"));
    // It is seen where counters are read, a second after the phase has begun at the latest.
    std::thread::sleep(Duration::from_millis(1_500));
    running.stop();
    std::thread::sleep(Duration::from_millis(2_500));
    running.send(Signal::CONT);
    let ended = running.finish();
    ended
        .code(0)
        .says("The program did not run for up to")
        .says("  INVALID\n");
}

#[test]
fn the_end_does_not_wait_for_think_time() {
    let scene = Scene::in_memory();
    let location = scene.directory("location");
    let mut command = Running::command(program());
    command.args("run --mix stat=1 --files 20 --storage posix --think 60s --for 1s --target".split(' '));
    command.arg(text(&location));
    let began = Instant::now();
    Running::to_its_end(command, &location).code(0);
    assert!(
        began.elapsed() < Duration::from_secs(30),
        "it took {:?}",
        began.elapsed()
    );
}
