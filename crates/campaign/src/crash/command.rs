//! The commands that crash and restore the target.

use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use document::sanitize;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, pidfd_send_signal};

use super::device::{self, Device};
use super::plan::{Crash, CrashPlan};
use super::process_end::wait;
use crate::Error;

/// Time limit of a crash: a command that crashes a machine or a device is fast.
const CRASH_MAX: Duration = Duration::from_secs(60);

/// Maximum length of a quoted line of a command's output, in characters.
const QUOTED_MAX: usize = 200;

/// Crashes the target.
pub(super) fn crash(plan: &CrashPlan, round: u32) -> Result<(), Error> {
    match &plan.crash {
        Crash::Kill => Ok(()),
        Crash::Command(command) => execute(plan, round, ("--crash", command), CRASH_MAX),
        Crash::Flakey(_) => execute(plan, round, ("--crash", device::LOSE_WRITES), CRASH_MAX),
        Crash::LogWrites(device) => mark(plan, round, device),
        // The file system of this program is crashed by the round itself.
        Crash::Forget(_) => Ok(()),
        Crash::KillServer(path) => kill_server(path, round),
    }
}

/// Restores the target after a crash.
pub(super) fn restore(plan: &CrashPlan, round: u32) -> Result<(), Error> {
    match (&plan.crash, &plan.restore) {
        (Crash::Flakey(_), _) => {
            for command in [device::UNMOUNT, device::KEEP_WRITES, device::MOUNT] {
                restore_by(plan, round, ("--crash flakey: the restore", command))?;
            }
            Ok(())
        }
        (Crash::LogWrites(device), _) => cut_power(plan, round, device),
        (_, Some(text)) => restore_by(plan, round, ("--restore", text)),
        (_, None) => Ok(()),
    }
}

fn restore_by(plan: &CrashPlan, round: u32, command: (&str, &str)) -> Result<(), Error> {
    execute(plan, round, command, plan.restore_timeout())
}

/// Marks the crash in the log of a dm-log-writes device.
fn mark(plan: &CrashPlan, round: u32, device: &Device) -> Result<(), Error> {
    let command = ("--crash", device::MARK);
    mark_by(plan, round, (command, device), &mark_of(plan, round))
}

/// Executes a command that writes a mark with this text, and waits for the mark.
fn mark_by(
    plan: &CrashPlan,
    round: u32,
    ((what, command), device): ((&str, &str), &Device),
    text: &str,
) -> Result<(), Error> {
    let failed = |cause| device_failed(plan, round, (what, device), &cause);
    let before = device.marks(text).map_err(failed)?.len();
    execute(plan, round, (what, command), CRASH_MAX)?;
    device.wait_for_mark(text, before).map_err(failed)
}

/// Gives a dm-log-writes device the contents after a power cut, and mounts it again.
fn cut_power(plan: &CrashPlan, round: u32, device: &Device) -> Result<(), Error> {
    let what = "--crash log-writes: the restore";
    let failed = |cause| device_failed(plan, round, (what, device), &cause);
    let text = mark_of(plan, round);
    // A command that was killed before its crash has made no mark.
    if device.marks(&text).map_err(failed)?.is_empty() {
        mark(plan, round, device)?;
    }
    restore_by(plan, round, (what, device::UNMOUNT))?;
    let command = (what, device::MARK_UNMOUNTED);
    mark_by(plan, round, (command, device), &format!("{text}-unmounted"))?;
    let image = plan.beside("disk");
    device.cut_power(&text, &image).map_err(failed)?;
    restore_by(plan, round, (what, device::MOUNT))
}

fn device_failed(
    plan: &CrashPlan,
    round: u32,
    (what, device): (&str, &Device),
    cause: &std::io::Error,
) -> Error {
    Error::failed(format_args!(
        "{what} failed in round {round}: the device {}: {cause} (correct it; postmark crash \
         --resume {} continues)",
        device.name,
        sanitize::path(&plan.state())
    ))
}

/// The mark of a round, which no other rounds on the device have.
fn mark_of(plan: &CrashPlan, round: u32) -> String {
    format!("postmark-{}-{round}", plan.subject.id)
}

/// Executes a command and waits for it. Its output goes to a file, because a server that it starts
/// would keep a pipe open. At the time limit, the command's process group is killed.
fn execute(
    plan: &CrashPlan,
    round: u32,
    (what, text): (&str, &str),
    limit: Duration,
) -> Result<(), Error> {
    let output = plan.beside("output");
    let failed = |why: String| {
        Error::failed(format_args!(
            "{what} failed in round {round}: {} {why} (correct it; postmark crash --resume {} \
             continues)",
            named(plan, text),
            sanitize::path(&plan.state())
        ))
    };
    let started = File::create(&output).and_then(|file| {
        Command::new("sh")
            .args(["-c", text])
            .env("POSTMARK_ROUND", round.to_string())
            .env("POSTMARK_TARGET", &plan.target)
            .envs(variables(plan, round))
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            .process_group(0)
            .spawn()
    });
    let mut child = started.map_err(|cause| failed(format!("cannot be started: {cause}")))?;
    let ended = wait(&mut child, limit).map_err(|cause| failed(cause.to_string()))?;
    match ended {
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(failed(format!("ended with {status}{}", last_line(&output)))),
        None => {
            // The group was created for this command, so it contains no other process.
            let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
            let _ = wait(&mut child, Duration::from_secs(1));
            let seconds = limit.as_secs_f64();
            let told = format!("did not end within {seconds} s{}", last_line(&output));
            Err(failed(told))
        }
    }
}

/// The environment of the commands for a device.
fn variables(plan: &CrashPlan, round: u32) -> Vec<(&'static str, String)> {
    match &plan.crash {
        Crash::Flakey(device) | Crash::LogWrites(device) => {
            let mut variables = device.variables().to_vec();
            variables.push(("POSTMARK_MARK", mark_of(plan, round)));
            variables
        }
        _ => Vec::new(),
    }
}

/// Names a command: the text of the user, or the device that a command of this program switches.
fn named(plan: &CrashPlan, text: &str) -> String {
    match &plan.crash {
        Crash::Flakey(device) | Crash::LogWrites(device) => {
            format!("a command for the device {}", device.name)
        }
        _ => format!("'{}'", sanitize::sanitize(text)),
    }
}

/// Returns a colon and the last line of a file with a command's output. Returns an empty text if
/// the file has no such line.
pub(super) fn last_line(output: &Path) -> String {
    let bytes = std::fs::read(output).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(4096)..]).into_owned();
    let last = text.lines().rev().find(|line| !line.trim().is_empty());
    last.map_or_else(String::new, |line| {
        let short: String = line.trim().chars().take(QUOTED_MAX).collect();
        format!(": {}", sanitize::sanitize(&short))
    })
}

/// Kills the process whose number is in a file, and waits until it has ended.
fn kill_server(path: &Path, round: u32) -> Result<(), Error> {
    let failed = |why: &dyn std::fmt::Display| {
        Error::failed(format_args!(
            "cannot kill the server of {} in round {round}: {why} (let --restore start the server \
             and write its process number to this file)",
            sanitize::path(path)
        ))
    };
    let text = std::fs::read_to_string(path).map_err(|cause| failed(&cause))?;
    let number: i32 = text
        .trim()
        .parse()
        .map_err(|_| failed(&"the file does not contain a process number"))?;
    let process = Pid::from_raw(number)
        .filter(|_| number > 1)
        .ok_or_else(|| failed(&"the file does not contain a process number"))?;
    let held = pidfd_open(process, PidfdFlags::empty()).map_err(|cause| failed(&cause))?;
    pidfd_send_signal(&held, Signal::KILL).map_err(|cause| failed(&cause))?;
    let mut ready = [rustix::event::PollFd::new(
        &held,
        rustix::event::PollFlags::IN,
    )];
    let limit = rustix::event::Timespec {
        tv_sec: CRASH_MAX.as_secs() as i64,
        tv_nsec: 0,
    };
    match rustix::event::poll(&mut ready, Some(&limit)) {
        Ok(0) => Err(failed(&"it did not end within 60 s")),
        Ok(_) => Ok(()),
        Err(cause) => Err(failed(&cause)),
    }
}
