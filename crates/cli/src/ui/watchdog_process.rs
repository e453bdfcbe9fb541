//! Work on a target that somebody else serves (NFS, FUSE, another machine) is done by a second
//! process.
//!
//! Where such a server hangs, a request that it has taken keeps the thread that made it in the
//! kernel, whatever signal comes, and a process does not end before all its threads do. So the
//! process that the user started touches no target: it starts the program again with
//! the same words, hands on the signals that it gets, and ends with the other one's exit status as
//! soon as that is known. The other process ends when the kernel lets it, and stands still while
//! the first one is stopped. On all other file systems everything is done in one process.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::Duration;

use engines::registry;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    Pid, Signal, getpid, getppid, kill_process, set_parent_process_death_signal,
};
use rustix::termios::{LocalModes, tcgetattr};
use signal_hook::consts::{
    SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGSTOP, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2,
};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use system::{Mount, MountTable, Sources};

use crate::ui::signals::Masks;

/// In the environment of the second process: who has started it, and the number of the pipe that
/// takes its exit status.
const MARK: &str = "POSTMARK_APART";
/// A process that has told its exit status, or that a signal is to end, has this long to end.
const TO_END: Duration = Duration::from_millis(500);

/// How often a process looks whether the one that waits for it is stopped.
const PARENT_EVERY: Duration = Duration::from_millis(100);

/// Who this process is.
#[derive(Debug)]
pub enum Side {
    /// The one that the user has started.
    Whole,
    /// The one that does the work, and tells its exit status here.
    Apart(File),
}

impl Side {
    /// Of this process.
    pub fn of_this_process() -> Self {
        match of_parent() {
            Some(status) => Self::Apart(status),
            None => Self::Whole,
        }
    }

    /// Has another process do everything, where one of the paths leads to somebody's server; gives
    /// the exit status. Nothing where this process is to do it, also where no other can be
    /// started.
    pub fn instead<'a>(&self, paths: impl IntoIterator<Item = &'a Path>) -> Option<u8> {
        // To a URL the program speaks itself, and waits for no reply for ever.
        let mut paths = paths.into_iter().filter(|path| !registry::is_url(path));
        self.instead_if(|table| paths.any(|path| table.leads_to_server(path)))
    }

    /// The same where it is not known yet which paths there will be.
    pub fn instead_of_session(&self) -> Option<u8> {
        self.instead_if(|table| table.mounts.iter().any(Mount::has_server))
    }

    fn instead_if(&self, may_hang: impl FnOnce(&MountTable) -> bool) -> Option<u8> {
        let Self::Whole = self else {
            return None;
        };
        // The other process would be stopped at its first word.
        let stops_writers = |terminal: BorrowedFd<'_>| {
            tcgetattr(terminal).is_ok_and(|modes| modes.local_modes.contains(LocalModes::TOSTOP))
        };
        if stops_writers(io::stdout().as_fd()) || stops_writers(io::stderr().as_fd()) {
            return None;
        }
        let table = MountTable::read(&Sources::default()).into_known()?;
        if !may_hang(&table) {
            return None;
        }
        Some(start().ok()?.wait())
    }

    /// All is done and told: the exit status, for who waits.
    pub fn tell(&self, code: u8) {
        if let Self::Apart(status) = self {
            // Without it the status is known when the process ends.
            let _ = (&mut &*status).write_all(&[code]);
        }
    }
}

/// The way to tell the process that waits for this one, where there is one. This one is not to
/// outlive it.
fn of_parent() -> Option<File> {
    let mark = std::env::var(MARK).ok()?;
    let (parent, pipe) = mark.split_once(':')?;
    let parent = Pid::from_raw(parent.parse().ok()?)?;
    // What this process starts inherits the mark.
    if getppid() != Some(parent) {
        return None;
    }
    set_parent_process_death_signal(Some(Signal::KILL)).ok()?;
    if getppid() != Some(parent) {
        let _ = kill_process(getpid(), Signal::KILL);
    }
    // Without it this process goes on while the other one is stopped.
    let _ = thread::Builder::new()
        .name("parent".to_owned())
        .spawn(move || stop_with(parent));
    let pipe: u32 = pipe.parse().ok()?;
    File::options()
        .write(true)
        .open(format!("/proc/self/fd/{pipe}"))
        .ok()
}

/// Stops this process where the one that waits for it is stopped, which has it continued when it is
/// continued itself. Of ranks the others see one that stands still; it would complete the run with
/// them, and their launcher would wait for its end in vain.
fn stop_with(parent: Pid) {
    loop {
        thread::sleep(PARENT_EVERY);
        if is_stopped(parent) {
            let _ = kill_process(getpid(), Signal::STOP);
        }
    }
}

fn is_stopped(process: Pid) -> bool {
    let stat =
        std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_pid())).unwrap_or_default();
    // The name before it may have any character.
    stat.rsplit_once(") ")
        .is_some_and(|(_, state)| state.starts_with('T'))
}

/// Starts the program again, in a process group of its own: what a terminal sends is to come
/// through this process alone.
fn start() -> io::Result<Other> {
    let (status, told) = pipe_with(PipeFlags::CLOEXEC)?;
    fcntl_setfd(&told, FdFlags::empty())?;
    let mut words = std::env::args_os();
    let mut command = Command::new(std::env::current_exe()?);
    if let Some(name) = words.next() {
        command.arg0(name);
    }
    command
        .args(words)
        .env(MARK, format!("{}:{}", std::process::id(), told.as_raw_fd()))
        .process_group(0);
    let signals = Signals::new(handed_on().chain([SIGCHLD]))?;
    let child = command.spawn()?;
    Ok(Other {
        child,
        status: status.into(),
        signals,
    })
}

/// The signals that are for the other process. What this one ignores that one ignores, too, but for
/// the two that a run always takes.
fn handed_on() -> impl Iterator<Item = i32> {
    let ignored = Masks::of("self").ignored;
    [SIGINT, SIGTERM].into_iter().chain(
        [SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT]
            .into_iter()
            .filter(move |signal| !ignored.has(*signal)),
    )
}

/// The process that does the work.
struct Other {
    child: Child,
    /// What it tells of its end.
    status: File,
    signals: Signals,
}

impl Other {
    /// Waits for what it tells, or for its end, and hands on signals until then. Gives the exit
    /// status.
    fn wait(mut self) -> u8 {
        // Should the system have no thread for it, its end tells the same.
        let _ = thread::Builder::new().spawn(move || end_when_told(self.status));
        let mut is_ending = false;
        for signal in self.signals.forever() {
            match signal {
                SIGCHLD => {
                    if let Ok(Some(status)) = self.child.try_wait() {
                        return end_like(status);
                    }
                }
                SIGTSTP => {
                    hand_on(&self.child, SIGSTOP);
                    let _ = emulate_default_handler(SIGSTOP);
                }
                SIGCONT => hand_on(&self.child, SIGCONT),
                signal => {
                    // The first one that it takes it follows, and tells when it has.
                    let takes =
                        !is_ending && Masks::of(&self.child.id().to_string()).caught.has(signal);
                    is_ending = true;
                    hand_on(&self.child, signal);
                    if !takes {
                        let _ = thread::Builder::new().spawn(move || {
                            thread::sleep(TO_END);
                            let _ = emulate_default_handler(signal);
                        });
                    }
                }
            }
        }
        unreachable!("signals are waited for without end")
    }
}

/// Ends this process with the exit status that the other one tells, before that one's end if that
/// is late.
fn end_when_told(mut status: File) {
    let mut code = [0];
    if matches!(status.read(&mut code), Ok(1)) {
        thread::sleep(TO_END);
        std::process::exit(code[0].into());
    }
}

fn hand_on(child: &Child, signal: i32) {
    if let Some(signal) = Signal::from_named_raw(signal) {
        // It may have ended just now.
        let _ = kill_process(Pid::from_child(child), signal);
    }
}

/// The exit status of a process that has ended; where a signal has ended it, that ends this one.
fn end_like(status: ExitStatus) -> u8 {
    if let Some(signal) = status.signal() {
        let _ = emulate_default_handler(signal);
    }
    status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .unwrap_or(1)
}
