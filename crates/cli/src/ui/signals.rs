//! SIGINT, SIGTERM and SIGHUP: outside of a run they end the program as ever; in a run the first
//! one ends the run, which then removes what it made, and the second one ends the program at once.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

/// The process's handlers are registered once and live as long as it does.
struct Handlers {
    /// While set, a signal ends the program.
    deadly: Arc<AtomicBool>,
    /// The last signal.
    caught: Arc<AtomicUsize>,
}

static HANDLERS: OnceLock<Handlers> = OnceLock::new();

/// Whether a signal has come that nothing has followed yet.
pub fn is_pending() -> bool {
    HANDLERS
        .get()
        .is_some_and(|handlers| handlers.caught.load(Ordering::SeqCst) != 0)
}

/// The signals that end a run.
pub fn ending() -> impl Iterator<Item = i32> {
    let ignored = Masks::of("self").ignored;
    // Under nohup a run outlives its terminal. The other two are always somebody's wish to end the
    // run, from a script too, where a shell has what it starts in the background ignore SIGINT.
    let signals = [SIGINT, SIGTERM, SIGHUP].into_iter();
    signals.filter(move |signal| *signal != SIGHUP || !ignored.has(*signal))
}

/// From now on a file beyond the limit of sizes (ulimit -f) is an error like any other: by default
/// it ends the program without a word, in the middle of what it writes.
pub fn outlive_size_limit() {
    // Where the system takes no handler, all is as by default.
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
        // Performed in this order when a signal comes.
        flag::register_conditional_default(signal, Arc::clone(&handlers.deadly))?;
        flag::register_usize(signal, Arc::clone(&handlers.caught), signal as usize)?;
        flag::register(signal, Arc::clone(&handlers.deadly))?;
    }
    Ok(HANDLERS.get_or_init(|| handlers))
}

/// Signals, a bit each from signal 1 on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mask(u64);

impl Mask {
    /// Whether it has this one.
    pub fn has(self, signal: i32) -> bool {
        self.0 & (1 << (signal - 1)) != 0
    }
}

/// What a process does with signals: proc_pid_status(5). Nothing where that cannot be read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Masks {
    /// It ignores them.
    pub ignored: Mask,
    /// It has handlers for them.
    pub caught: Mask,
}

impl Masks {
    /// Of a process: its number, or `self`.
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

/// Takes signals for a run as long as it lives.
pub struct InRun {
    handlers: &'static Handlers,
}

impl InRun {
    /// From now on the first signal is for the run.
    ///
    /// # Errors
    /// Where the system takes no handler.
    pub fn begin() -> std::io::Result<Self> {
        let handlers = handlers()?;
        let missed = handlers.caught.swap(0, Ordering::SeqCst);
        if missed != 0 {
            // It came when the run before had done all its work: the next one is not what it asked
            // for.
            signal_hook::low_level::emulate_default_handler(missed as i32)?;
        }
        handlers.deadly.store(false, Ordering::SeqCst);
        Ok(Self { handlers })
    }

    /// Where the signal's number is left.
    pub fn caught(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.handlers.caught)
    }
}

impl Drop for InRun {
    fn drop(&mut self) {
        self.handlers.deadly.store(true, Ordering::SeqCst);
    }
}
