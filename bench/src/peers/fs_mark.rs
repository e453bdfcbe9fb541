//! Commands of fs_mark, which creates and writes files and then deletes them, with a process for
//! each worker.

use crate::result::Result;
use std::fs::read_to_string;
use std::process::Command;

use super::load::{FILE_BYTES, PeerLoad, PhaseSample, Samples};
use crate::phases::{self, Cost};
use crate::process::output;

/// Options of fs_mark for the length of file names, and for the number of random characters in a
/// name.
const NAME_BYTES: [&str; 4] = ["-p", "20", "-r", "8"];

fn command(ground: &PeerLoad) -> Command {
    let mut command = Command::new("fs_mark");
    let bytes = FILE_BYTES.to_string();
    command
        .current_dir(ground.theirs())
        .args(["-S", "0", "-s", &bytes, "-w", &bytes])
        .args(NAME_BYTES)
        .args([
            "-n",
            &ground.files.to_string(),
            "-t",
            &ground.workers.to_string(),
        ])
        .arg("-l")
        .arg(ground.beside("fs_mark-log"));
    for directory in ground.own_directories() {
        command.args(["-d", directory.as_deref().unwrap_or(".")]);
    }
    command
}

pub fn commands(ground: &PeerLoad) -> Vec<Command> {
    vec![command(ground)]
}

pub fn run(ground: &PeerLoad, mut commands: Vec<Command>) -> Samples {
    let borders = ground.beside("borders");
    if borders.exists() {
        std::fs::remove_file(&borders)?;
    }
    output(
        commands[0]
            .env("LD_PRELOAD", &ground.borders)
            .env("BORDERS", &borders),
    )?;
    let costs = parse(&read_to_string(&borders)?)?;
    if costs.len() != ground.workers as usize {
        return Err(format!(
            "fs_mark had {} processes, not {}",
            costs.len(),
            ground.workers
        )
        .into());
    }
    Ok([0, 1]
        .map(|phase| sample(costs.iter().map(|costs| costs[phase]), ground.files))
        .into())
}

/// Parses the costs of creation and deletion for each process.
fn parse(text: &str) -> Result<Vec<[Cost; 2]>> {
    let of_line = |line: &str| {
        let mut numbers = line.split_whitespace();
        Ok([phases::cost(&mut numbers)?, phases::cost(&mut numbers)?])
    };
    text.lines().map(of_line).collect()
}

/// The sum of the rates of all processes, as in fs_mark itself, because its processes do not wait
/// for one another between phases. User CPU per file is the mean over the processes.
fn sample(costs: impl Iterator<Item = Cost>, files: u64) -> PhaseSample {
    let files = files as f64;
    let mut sum = PhaseSample {
        files_per_s: 0.0,
        user_us_per_file: 0.0,
    };
    let mut processes = 0.0;
    for cost in costs {
        sum.files_per_s += files / cost.wall_s;
        sum.user_us_per_file += cost.user_s / files * 1e6;
        processes += 1.0;
    }
    sum.user_us_per_file /= processes;
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fs_mark_rate_is_the_total_of_all_processes() {
        let costs = parse("1 0.1 0.5 0.5 0.05 0.2 \n2 0.3 0.5 0.5 0.05 0.2 \n").unwrap();
        let created = sample(costs.iter().map(|costs| costs[0]), 100_000);
        assert_eq!(created.files_per_s, 150_000.0);
        assert!((created.user_us_per_file - 2.0).abs() < 1e-9);
    }
}
