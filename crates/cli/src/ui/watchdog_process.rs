//! If a target has a server (NFS, FUSE, another machine), a second process does the work. So the
//! program can end even if that server hangs.
//!
//! A thread that waits for a hung server stays in the kernel: signals do not interrupt it, and a
//! process ends only after all its threads. So the process that the user started never accesses the
//! target. It starts the program a second time with the same arguments, and forwards signals to
//! this second process. When the second process has sent its exit status, the first process exits
//! with the same status, even if the second process still hangs. While the first process is stopped
//! (SIGSTOP), the second process is also stopped. On file systems without a server, one process
//! does everything.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
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

/// Environment variable that tells the second process its role. It contains the process number of
/// the first process, and the descriptor of the pipe for the exit status.
const MARK: &str = "POSTMARK_APART";
/// How long the second process may take to end after it has sent its exit status or received a
/// signal. After that the first process ends without waiting for it.
const TO_END: Duration = Duration::from_millis(500);

/// Interval at which the second process checks whether the first process is stopped.
const PARENT_EVERY: Duration = Duration::from_millis(100);

/// Whether this is the first or the second process of the program.
#[derive(Debug)]
pub enum Side {
    /// The process that the user started. It does the work itself, or starts a second process for
    /// it.
    Whole,
    /// The second process, which does the work and sends its exit status through this pipe.
    Apart(File),
}

impl Side {
    pub fn of_this_process() -> Self {
        match of_parent() {
            Some(status) => Self::Apart(status),
            None => Self::Whole,
        }
    }

    /// Starts a second process if one of the paths leads to a server, waits for it, and returns its
    /// exit status. Returns `None` if this process must do the work itself, for example because no
    /// process can be started.
    pub fn instead<'a>(&self, paths: impl IntoIterator<Item = &'a Path>) -> Option<u8> {
        // Paths that are URLs need no second process: the client in this program limits how long it
        // waits for a request.
        let mut paths = paths.into_iter().filter(|path| !registry::is_url(path));
        self.instead_if(|table| paths.any(|path| table.leads_to_server(path)))
    }

    /// Same as [`Self::instead`], for a command whose paths are not known yet: starts a second
    /// process if any mounted file system has a server.
    pub fn instead_of_session(&self) -> Option<u8> {
        self.instead_if(|table| table.mounts.iter().any(Mount::has_server))
    }

    fn instead_if(&self, may_hang: impl FnOnce(&MountTable) -> bool) -> Option<u8> {
        let Self::Whole = self else {
            return None;
        };
        // If the terminal mode TOSTOP is set, the terminal stops processes in the background that
        // write to it. The second process would be in the background, so it is not started.
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

    /// Sends the exit status to the first process. The first process may exit immediately, so the
    /// caller must have printed all messages of the command before.
    pub fn tell(&self, code: u8) {
        if let Self::Apart(status) = self {
            // If the pipe fails, the first process gets the exit status when this process ends.
            let _ = (&mut &*status).write_all(&[code]);
        }
    }
}

/// Returns the pipe to the first process if this is the second process. From this call on, the
/// kernel kills the second process when the first process ends.
fn of_parent() -> Option<File> {
    let mark = std::env::var(MARK).ok()?;
    let (parent, pipe) = mark.split_once(':')?;
    let parent = Pid::from_raw(parent.parse().ok()?)?;
    // A child of the second process inherits the variable. The variable does not name the parent of
    // this child, so the child is not taken for a second process.
    if getppid() != Some(parent) {
        return None;
    }
    set_parent_process_death_signal(Some(Signal::KILL)).ok()?;
    if getppid() != Some(parent) {
        let _ = kill_process(getpid(), Signal::KILL);
    }
    // The thread suspends this process while the first process is suspended (SIGTSTP). If the
    // thread cannot be started, this process keeps running meanwhile.
    let _ = thread::Builder::new()
        .name("parent".to_owned())
        .spawn(move || stop_with(parent));
    let pipe: u32 = pipe.parse().ok()?;
    File::options()
        .write(true)
        .open(format!("/proc/self/fd/{pipe}"))
        .ok()
}

/// Runs in the second process. Stops the second process when the first process (`parent`) is
/// stopped. When the first process continues, it forwards SIGCONT.
///
/// In a run of several ranks, a stopped rank must appear stalled to the other ranks. If its second
/// process completed the run, the launcher would wait forever for the stopped first process.
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
    // The process name, in parentheses before the state, may contain any character, even `)`.
    stat.rsplit_once(") ")
        .is_some_and(|(_, state)| state.starts_with('T'))
}

/// Starts the program a second time in its own process group. So Ctrl-C reaches only the first
/// process, which forwards the signal.
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

/// Starts the program with other arguments, as a second process of this one: the kernel kills it
/// when this process ends, and it is stopped while this process is stopped. Its messages are
/// written to a file, and it prints no report.
///
/// # Errors
/// Returns an error if the process cannot be started.
pub fn start_bound(words: &[OsString], messages: File) -> io::Result<Child> {
    // The caller waits for the process itself, so the exit status is not read from a pipe.
    let told = File::options().write(true).open("/dev/null")?;
    fcntl_setfd(&told, FdFlags::empty())?;
    Command::new(std::env::current_exe()?)
        .args(words)
        .env(MARK, format!("{}:{}", std::process::id(), told.as_raw_fd()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(messages)
        .process_group(0)
        .spawn()
}

/// The signals that the first process forwards. SIGINT and SIGTERM are always forwarded, because a
/// run always handles them. Other signals are not forwarded if the first process ignores them: the
/// second process inherits this and ignores them as well.
fn handed_on() -> impl Iterator<Item = i32> {
    let ignored = Masks::of("self").ignored;
    [SIGINT, SIGTERM].into_iter().chain(
        [SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT]
            .into_iter()
            .filter(move |signal| !ignored.has(*signal)),
    )
}

/// Handle of the second process in the first process.
struct Other {
    child: Child,
    /// The pipe from which the exit status is read.
    status: File,
    signals: Signals,
}

impl Other {
    /// Forwards signals until the second process has sent its exit status or has ended. Returns the
    /// exit status.
    fn wait(mut self) -> u8 {
        // If no thread can be started, only the end of the second process makes its exit status
        // known.
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
                    // If this is the first signal and the second process has a handler for it, the
                    // second process ends by itself and sends an exit status. Otherwise this
                    // process ends after [`TO_END`], because a signal cannot end a hung process.
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

/// Reads the exit status from the pipe. Exits with it after [`TO_END`], unless the second process
/// ends earlier: then [`Other::wait`] returns its exit status.
fn end_when_told(mut status: File) {
    let mut code = [0];
    if matches!(status.read(&mut code), Ok(1)) {
        thread::sleep(TO_END);
        std::process::exit(code[0].into());
    }
}

fn hand_on(child: &Child, signal: i32) {
    if let Some(signal) = Signal::from_named_raw(signal) {
        // If the second process has already ended, the signal has no receiver and the error is
        // ignored.
        let _ = kill_process(Pid::from_child(child), signal);
    }
}

/// If a signal ended the second process, ends this process by the same signal. Otherwise returns
/// the exit status of the second process.
fn end_like(status: ExitStatus) -> u8 {
    if let Some(signal) = status.signal() {
        let _ = emulate_default_handler(signal);
    }
    status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .unwrap_or(1)
}
