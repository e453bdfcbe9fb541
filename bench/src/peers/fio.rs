//! Commands of fio: `filecreate` creates empty files, `psync` creates and writes whole files or
//! reads them, `filedelete` deletes files.

use crate::result::Result;
use std::process::Command;

use serde_json::Value;

use super::load::{FILE_BYTES, PeerLoad, PhaseSample, Samples};
use crate::phases::Cost;
use crate::process::output;

const CREATE: [&str; 3] = ["--ioengine=psync", "--rw=write", "--create_on_open=1"];
const READ: [&str; 2] = ["--ioengine=psync", "--rw=read"];
const DELETE: [&str; 1] = ["--ioengine=filedelete"];
const CREATE_ONLY: [&str; 1] = ["--ioengine=filecreate"];

/// A run with one job (a thread) for each worker. File names are plain numbers, as in our run.
/// Files are processed one after the other. The additional calls of fio (advice, allocation) are
/// turned off.
fn command(ground: &PeerLoad, work: &[&str]) -> Command {
    let mut command = Command::new("fio");
    command
        .current_dir(ground.theirs())
        .args("--thread=1 --output-format=json --filename_format=$filenum --openfiles=1".split(' '))
        .args(
            "--file_service_type=sequential --fallocate=none --invalidate=0 --fadvise_hint=0"
                .split(' '),
        )
        .arg(format!("--nrfiles={}", ground.files))
        .args([
            format!("--filesize={FILE_BYTES}"),
            format!("--bs={FILE_BYTES}"),
        ])
        .args(work);
    for (number, directory) in ground.own_directories().into_iter().enumerate() {
        command.arg(format!("--name=job{number}"));
        if let Some(directory) = directory {
            command.arg(format!("--directory={directory}"));
        }
    }
    command
}

/// A run that creates files. At its start, fio looks up every name. The file system then caches
/// that the name does not exist, which saves ext4 and xfs a search. A remount before the clock
/// starts clears that cache.
fn creation(ground: &PeerLoad, work: &[&str]) -> Command {
    let forget = format!(
        "--exec_prerun=mount -o remount {}",
        ground.mounted.path().display()
    );
    let mut work = work.to_vec();
    work.push(&forget);
    command(ground, &work)
}

pub fn commands(ground: &PeerLoad) -> Vec<Command> {
    vec![creation(ground, &CREATE), command(ground, &DELETE)]
}

pub fn reading_commands(ground: &PeerLoad) -> Vec<Command> {
    vec![creation(ground, &CREATE), command(ground, &READ)]
}

pub fn creation_commands(ground: &PeerLoad) -> Vec<Command> {
    vec![creation(ground, &CREATE_ONLY)]
}

pub fn run(ground: &PeerLoad, commands: Vec<Command>) -> Samples {
    let commands = commands.into_iter();
    commands.map(|command| perform(ground, command)).collect()
}

/// Creates the files in random order, and then performs the reading command.
pub fn read(ground: &PeerLoad, mut commands: Vec<Command>) -> Samples {
    ground.create_shuffled()?;
    run(ground, commands.split_off(1))
}

fn perform(ground: &PeerLoad, mut command: Command) -> Result<PhaseSample> {
    let text = output(&mut command)?;
    // fio may print notes before the JSON object.
    let json = &text[text.find('{').ok_or("fio printed no JSON")?..];
    Ok(ground.sample(cost(&serde_json::from_str(json)?, ground.files)?))
}

/// The cost of all jobs: the longest wall time, and the sum of user CPU.
fn cost(report: &Value, files: u64) -> Result<Cost> {
    let jobs = report["jobs"]
        .as_array()
        .ok_or("fio's report has no jobs")?;
    let mut sum = Cost::default();
    for job in jobs {
        let done = [&job["read"], &job["write"]]
            .into_iter()
            .find(|direction| direction["total_ios"].as_u64() == Some(files));
        let runtime_ms = done.ok_or("fio did not serve all files")?["runtime"].as_f64();
        let number = |name: &str| {
            job[name]
                .as_f64()
                .ok_or_else(|| format!("fio's report has no {name}"))
        };
        let job_s = number("job_runtime")? / 1e3;
        sum.wall_s = sum
            .wall_s
            .max(runtime_ms.ok_or("fio's report has no runtime")? / 1e3);
        sum.user_s += number("usr_cpu")? / 100.0 * job_s;
        sum.system_s += number("sys_cpu")? / 100.0 * job_s;
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fio_cost_is_total_cpu_and_longest_job_time() {
        let job = |ms: u64, user: f64| {
            serde_json::json!({
                "job_runtime": ms, "usr_cpu": user, "sys_cpu": 25.0,
                "read": {"total_ios": 7, "runtime": ms}, "write": {"total_ios": 0, "runtime": 0}
            })
        };
        let report = serde_json::json!({"jobs": [job(500, 12.5), job(250, 50.0)]});
        let cost = cost(&report, 7).unwrap();
        assert_eq!(
            (cost.wall_s, cost.user_s, cost.system_s),
            (0.5, 0.1875, 0.1875)
        );
        assert!(super::cost(&report, 8).is_err());
    }
}
