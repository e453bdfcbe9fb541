//! If a target has a server (NFS, FUSE, another machine), a second process does the work.
//!
//! If such a server hangs, a thread whose request it has taken stays in the kernel, and signals do
//! not interrupt it. A process ends only after all its threads. So the process that the user
//! started touches no target. It starts the program a second time with the same arguments and
//! passes signals on. It exits with the second process's exit status as soon as it receives that
//! status. The second process ends when the kernel permits it. It is stopped while the first one is
//! stopped. On all other file systems one process does everything.

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

/// Environment variable of the second process: the first process's number and the pipe's descriptor
/// for the exit status.
const MARK: &str = "POSTMARK_APART";
/// How long the second process may take to end, after it has sent its exit status or received a
/// signal.
const TO_END: Duration = Duration::from_millis(500);

/// Interval at which the second process checks whether the first one is stopped.
const PARENT_EVERY: Duration = Duration::from_millis(100);

/// Which of the two processes this is.
#[derive(Debug)]
pub enum Side {
    /// The process that the user started.
    Whole,
    /// The second process, which does the work and writes its exit status to this pipe.
    Apart(File),
}

impl Side {
    pub fn of_this_process() -> Self {
        match of_parent() {
            Some(status) => Self::Apart(status),
            None => Self::Whole,
        }
    }

    /// Starts a second process and waits for it if one of the paths leads to a server. Returns its
    /// exit status. Returns `None` if this process must do the work itself, also if no process can
    /// be started.
    pub fn instead<'a>(&self, paths: impl IntoIterator<Item = &'a Path>) -> Option<u8> {
        // For URLs the program has its own client, whose requests time out.
        let mut paths = paths.into_iter().filter(|path| !registry::is_url(path));
        self.instead_if(|table| paths.any(|path| table.leads_to_server(path)))
    }

    /// Like [`Self::instead`], if the paths are not known yet: any mounted server suffices.
    pub fn instead_of_session(&self) -> Option<u8> {
        self.instead_if(|table| table.mounts.iter().any(Mount::has_server))
    }

    fn instead_if(&self, may_hang: impl FnOnce(&MountTable) -> bool) -> Option<u8> {
        let Self::Whole = self else {
            return None;
        };
        // With TOSTOP the terminal would stop the second process at its first output, because it is
        // in the background.
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

    /// Sends the exit status to the first process. The command must have printed all its messages.
    pub fn tell(&self, code: u8) {
        if let Self::Apart(status) = self {
            // On an error, the first process gets the status when this one ends.
            let _ = (&mut &*status).write_all(&[code]);
        }
    }
}

/// The pipe to the first process, if this is the second one. Also makes this process end with the
/// first one.
fn of_parent() -> Option<File> {
    let mark = std::env::var(MARK).ok()?;
    let (parent, pipe) = mark.split_once(':')?;
    let parent = Pid::from_raw(parent.parse().ok()?)?;
    // Child processes of this one inherit the variable, but have another parent.
    if getppid() != Some(parent) {
        return None;
    }
    set_parent_process_death_signal(Some(Signal::KILL)).ok()?;
    if getppid() != Some(parent) {
        let _ = kill_process(getpid(), Signal::KILL);
    }
    // Without this thread the process continues while the first one is stopped.
    let _ = thread::Builder::new()
        .name("parent".to_owned())
        .spawn(move || stop_with(parent));
    let pipe: u32 = pipe.parse().ok()?;
    File::options()
        .write(true)
        .open(format!("/proc/self/fd/{pipe}"))
        .ok()
}

/// Stops this process while the first one is stopped. The first process passes SIGCONT on. For a
/// stopped rank, the other ranks must see that it is stalled. Otherwise it would complete the run
/// with them, and the launcher would wait for its exit forever.
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
    // The name before the state may contain any character.
    stat.rsplit_once(") ")
        .is_some_and(|(_, state)| state.starts_with('T'))
}

/// Starts the program a second time, in its own process group: signals of the terminal must reach
/// only this process.
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

/// The signals to pass on. The second process ignores those that this one ignores, except SIGINT
/// and SIGTERM, which a run always takes.
fn handed_on() -> impl Iterator<Item = i32> {
    let ignored = Masks::of("self").ignored;
    [SIGINT, SIGTERM].into_iter().chain(
        [SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT]
            .into_iter()
            .filter(move |signal| !ignored.has(*signal)),
    )
}

/// The second process, as the first one sees it.
struct Other {
    child: Child,
    /// Delivers the exit status.
    status: File,
    signals: Signals,
}

impl Other {
    /// Passes signals on until the exit status or the end of the second process. Returns the exit
    /// status.
    fn wait(mut self) -> u8 {
        // If no thread can be started, the status follows from the end of the process.
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
                    // It handles the first signal that it has a handler for, and reports its exit
                    // status.
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

/// Exits with the received status after [`TO_END`], if the second process has not ended by itself.
fn end_when_told(mut status: File) {
    let mut code = [0];
    if matches!(status.read(&mut code), Ok(1)) {
        thread::sleep(TO_END);
        std::process::exit(code[0].into());
    }
}

fn hand_on(child: &Child, signal: i32) {
    if let Some(signal) = Signal::from_named_raw(signal) {
        // It may have ended in the meantime.
        let _ = kill_process(Pid::from_child(child), signal);
    }
}

/// Exit status of an ended process. If a signal ended it, the same signal ends this process.
fn end_like(status: ExitStatus) -> u8 {
    if let Some(signal) = status.signal() {
        let _ = emulate_default_handler(signal);
    }
    status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .unwrap_or(1)
}
