//! Handles SIGINT, SIGTERM and SIGHUP. Without a run, these signals end the program, as by default.
//! During a run, the first signal ends the run, which removes its files. A second signal ends the
//! program immediately.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

/// The state that the signal handlers share with the program. The handlers are installed once and
/// never removed.
struct Handlers {
    /// While set, the next signal ends the program.
    deadly: Arc<AtomicBool>,
    /// Number of the last signal, or 0.
    caught: Arc<AtomicUsize>,
}

static HANDLERS: OnceLock<Handlers> = OnceLock::new();

/// Whether a signal that ends a run has arrived since the latest run started.
pub fn is_pending() -> bool {
    HANDLERS
        .get()
        .is_some_and(|handlers| handlers.caught.load(Ordering::SeqCst) != 0)
}

/// The signals that end a run: SIGINT, SIGTERM, and SIGHUP unless this process ignores it.
pub fn ending() -> impl Iterator<Item = i32> {
    let ignored = Masks::of("self").ignored;
    // Under nohup SIGHUP is ignored, because the run must outlive its terminal. Shell scripts start
    // background jobs with SIGINT ignored. SIGINT and SIGTERM must end a run even in these cases,
    // so they are always handled.
    let signals = [SIGINT, SIGTERM, SIGHUP].into_iter();
    signals.filter(move |signal| *signal != SIGHUP || !ignored.has(*signal))
}

/// Turns SIGXFSZ into an ordinary write error for a file that reaches the size limit (ulimit -f).
/// By default this signal ends the program without a message.
pub fn outlive_size_limit() {
    // If the handler cannot be installed, the signal ends the program as by default.
    let _ = flag::register(SIGXFSZ, Arc::default());
}

fn handlers() -> std::io::Result<&'static Handlers> {
    if let Some(handlers) = HANDLERS.get() {
        return Ok(handlers);
    }
    let handlers = Handlers {
        deadly: Arc::new(AtomicBool::new(true)),
        caught: Arc::default(),
    };
    for signal in ending() {
        // When a signal arrives, `signal_hook` performs the registered actions in this order. The
        // first action ends the program if `deadly` is set. So during a run, only a second signal
        // ends the program.
        flag::register_conditional_default(signal, Arc::clone(&handlers.deadly))?;
        flag::register_usize(signal, Arc::clone(&handlers.caught), signal as usize)?;
        flag::register(signal, Arc::clone(&handlers.deadly))?;
    }
    Ok(HANDLERS.get_or_init(|| handlers))
}

/// A set of signals: bit 0 stands for signal 1.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mask(u64);

impl Mask {
    pub fn has(self, signal: i32) -> bool {
        self.0 & (1 << (signal - 1)) != 0
    }
}

/// How a process treats signals, from proc_pid_status(5). Empty if the file cannot be read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Masks {
    pub ignored: Mask,
    /// Signals that the process has a handler for.
    pub caught: Mask,
}

impl Masks {
    /// Reads the signal sets of a process: its number, or `self`.
    pub fn of(process: &str) -> Self {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let mask = |name| {
            let mask = status.lines().find_map(|line| line.strip_prefix(name));
            let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
            Mask(mask.unwrap_or(0))
        };
        Self {
            ignored: mask("SigIgn:"),
            caught: mask("SigCgt:"),
        }
    }
}

/// While this value exists, the first signal ends the run instead of the program.
pub struct InRun {
    handlers: &'static Handlers,
}

impl InRun {
    /// Installs the signal handlers if necessary, and redirects the first signal to the run.
    ///
    /// # Errors
    /// Returns an error if a handler cannot be installed.
    pub fn begin() -> std::io::Result<Self> {
        let handlers = handlers()?;
        let missed = handlers.caught.swap(0, Ordering::SeqCst);
        if missed != 0 {
            // The signal arrived after the previous run had ended its work. The user wanted to
            // stop, so no further run starts and the program ends.
            signal_hook::low_level::emulate_default_handler(missed as i32)?;
        }
        handlers.deadly.store(false, Ordering::SeqCst);
        Ok(Self { handlers })
    }

    /// The number of the last signal, or 0.
    pub fn caught(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.handlers.caught)
    }
}

impl Drop for InRun {
    fn drop(&mut self) {
        self.handlers.deadly.store(true, Ordering::SeqCst);
    }
}
