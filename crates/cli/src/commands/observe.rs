//! `postmark observe`: performs any command, and reports the load that the devices and servers of a
//! target have during that time.
//!
//! The observed command inherits this process's streams, terminal and process group, so that it
//! works as usual. It is not started if the target or the output file cannot be used.

use std::ffi::OsString;
use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use document::{Format, sanitize};
use engines::registry;
use record::observation::OBSERVATION_VERSION;
use record::{CommandEnd, Observation, TargetSync, Tool};
use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getpgrp, kill_process, waitid};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use system::child::wait;
use system::{Accounted, Fact, Host, Sources, Target, WatchedAccount};

use crate::args::ObserveArguments;
use crate::ui::output::{OutputFile, Outputs};
use crate::ui::problem::{Problem, refuse, tell};
use crate::ui::signals::Masks;

/// Exit status if the command does not exist, as in a shell.
const NOT_FOUND: u8 = 127;
/// Exit status if the command cannot be executed, as in a shell.
const NOT_EXECUTABLE: u8 = 126;
/// If a signal ended the command, the exit status is this number plus the number of the signal, as
/// in a shell.
const KILLED: u8 = 128;
/// Time limit for writing the report, because its file system may hang.
const WRITTEN_WITHIN: Duration = Duration::from_secs(10);

/// Performs the command and reports its cost. Returns the exit status of the command.
///
/// # Errors
/// Returns an error if the target or the output cannot be used, counters cannot be read, or the
/// report cannot be written.
pub fn observe(arguments: &ObserveArguments) -> Result<u8, Problem> {
    let path = arguments.target.as_deref().unwrap_or(Path::new("."));
    let directory = directory(path)?;
    let mut outputs = Outputs::new(arguments.force, None, &[])?;
    let output = outputs.judge_and_open("--output", arguments.output.as_deref())?;
    let sources = Sources::default();
    let target = Target::read(&sources, path);
    let account = WatchedAccount::of(&sources, [&target]);
    let host = Host::read(&sources);
    let signals = HandedOn::begin().map_err(cannot_observe)?;
    let before = account.read(&sources);
    let began_unix_ns = unix_ns();
    let began = Instant::now();
    let [program, words @ ..] = &arguments.command[..] else {
        return refuse("expected a command after --");
    };
    let child = match Command::new(program).args(words).spawn() {
        Ok(child) => child,
        Err(error) => {
            let program = sanitize::os(program);
            tell(format_args!("cannot run {program}: {error}"));
            return Ok(match error.kind() {
                ErrorKind::NotFound => NOT_FOUND,
                _ => NOT_EXECUTABLE,
            });
        }
    };
    let ended = signals.until_the_end_of(&child).and_then(|()| {
        let wall = began.elapsed();
        Ok((wall, wait(child)?))
    });
    let (wall, cost) = ended.map_err(cannot_observe)?;
    let after = account.read(&sources);
    let sync = (!arguments.no_sync).then(|| synced(&directory, &after, || account.read(&sources)));
    let observation = Observation {
        schema: OBSERVATION_VERSION,
        tool: Tool::this(),
        command: arguments.command.iter().map(in_text).collect(),
        began_unix_ns,
        host,
        target,
        end: end(cost.status),
        wall_ns: ns(wall),
        user_ns: ns(cost.user),
        system_ns: ns(cost.system),
        performing: after.since(&before),
        sync,
    };
    deliver(&observation, arguments.format, output)?;
    Ok(code(observation.end))
}

/// Opens the directory of the target. It stays open for `syncfs` after the command.
fn directory(path: &Path) -> Result<File, Problem> {
    let wrong = |problem: &dyn std::fmt::Display| {
        let path = sanitize::path(path);
        Problem::refused(format_args!("cannot observe the target {path}: {problem}"))
    };
    if registry::is_url(path) {
        return Err(wrong(
            &"the kernel has no counters for this server (observe the directory at which it is \
              mounted)",
        ));
    }
    // With `O_DIRECTORY`, opening anything but a directory fails. Without the flag it could block,
    // for example on a pipe without a writer.
    let flags = OFlags::DIRECTORY.bits() as i32;
    let opened = File::options().read(true).custom_flags(flags).open(path);
    opened.map_err(|error| match error.kind() {
        ErrorKind::NotADirectory => wrong(&"it is not a directory"),
        _ => wrong(&error),
    })
}

fn cannot_observe(error: std::io::Error) -> Problem {
    Problem::refused(format!("cannot observe the command: {error}"))
}

fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, ns)
}

fn ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn in_text(word: &OsString) -> String {
    word.to_string_lossy().into_owned()
}

fn end(status: ExitStatus) -> CommandEnd {
    match (status.code(), status.signal()) {
        (Some(status), _) => CommandEnd::Exited { status },
        (None, signal) => CommandEnd::Killed {
            signal: signal.unwrap_or(0),
        },
    }
}

fn code(end: CommandEnd) -> u8 {
    match end {
        CommandEnd::Exited { status } => u8::try_from(status).unwrap_or(u8::MAX),
        CommandEnd::Killed { signal } => KILLED.saturating_add(u8::try_from(signal).unwrap_or(0)),
    }
}

/// Syncs the target's file system, and counts the device activity of this sync separately from that
/// of the command.
fn synced(directory: &File, before: &Accounted, read: impl FnOnce() -> Accounted) -> TargetSync {
    let began = Instant::now();
    let synced = rustix::fs::syncfs(directory);
    let took = began.elapsed();
    TargetSync {
        duration_ns: Fact::from(synced.map(|()| ns(took))),
        counted: read().since(before),
    }
}

fn deliver(
    observation: &Observation,
    format: Format,
    output: Option<OutputFile>,
) -> Result<(), Problem> {
    let text = format.answer(
        || report::text::observation(observation),
        String::new,
        || observation.to_json(),
    );
    match output {
        Some(output) => output.write(&text, WRITTEN_WITHIN),
        None => std::io::stderr()
            .write_all(text.as_bytes())
            .map_err(|cause| Problem::undelivered("standard error".to_owned(), &cause)),
    }
}

/// Forwards signals to the command while it runs. Afterwards signals end this process.
struct HandedOn {
    signals: Signals,
    is_over: Arc<AtomicBool>,
}

impl HandedOn {
    fn begin() -> std::io::Result<Self> {
        let ignored = Masks::of("self").ignored;
        // The command inherits the ignored signals of this process, so these signals are not
        // forwarded.
        let taken: Vec<i32> = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
            .into_iter()
            .filter(|signal| !ignored.has(*signal))
            .collect();
        let is_over = Arc::new(AtomicBool::new(false));
        for signal in &taken {
            signal_hook::flag::register_conditional_default(*signal, Arc::clone(&is_over))?;
        }
        Ok(Self {
            signals: Signals::new(taken.into_iter().chain([SIGCHLD]))?,
            is_over,
        })
    }

    /// Forwards signals until the child has ended. The child is not reaped yet, so a signal cannot
    /// reach another process with the same number.
    fn until_the_end_of(mut self, child: &Child) -> std::io::Result<()> {
        let process = Pid::from_child(child);
        for signal in self.signals.forever() {
            if signal == SIGCHLD {
                let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
                if waitid(WaitId::Pid(process), options)?.is_some() {
                    break;
                }
            } else if !comes_from_terminal(signal)
                && let Some(signal) = Signal::from_named_raw(signal)
            {
                // If the command has already ended, the signal has no receiver and the error is
                // ignored.
                let _ = kill_process(process, signal);
            }
        }
        self.is_over.store(true, Ordering::SeqCst);
        Ok(())
    }
}

/// Whether the terminal has probably sent the signal to the command as well. The terminal sends
/// SIGINT (Ctrl-C) and SIGQUIT to the whole foreground process group. The sender of a signal is not
/// known here. So if this process is in the foreground, neither signal is forwarded.
fn comes_from_terminal(signal: i32) -> bool {
    let is_in_foreground = || {
        let terminal = File::open("/dev/tty").ok()?;
        Some(rustix::termios::tcgetpgrp(&terminal).ok()? == getpgrp())
    };
    [SIGINT, SIGQUIT].contains(&signal) && is_in_foreground().unwrap_or(false)
}
