//! Reads the text of strace.

use std::collections::HashMap;
use std::io::{self, BufRead};

use crate::call::Call;
use crate::done::Stamp;
use crate::line::{Body, Line, Time, parse};
use crate::lines::Lines;
use crate::processes::Sharing;
use crate::reason::Reason;
use crate::recorder::Recorder;
use crate::world::{Event, World};

/// The number of calls that are unfinished at the same time.
const UNFINISHED_MAX: usize = 1 << 16;
/// The number of bytes of all unfinished calls.
const UNFINISHED_BYTES_MAX: usize = 64 << 20;

/// The start of a call that is not finished.
struct Unfinished {
    text: Vec<u8>,
    begin: Stamp,
}

/// Reads a trace line by line.
struct Reader {
    world: World,
    unfinished: HashMap<u32, Unfinished>,
    unfinished_bytes: usize,
    now: Stamp,
}

/// Reads a trace and records its operations.
///
/// # Errors
/// Returns the error of the input.
pub fn read(input: impl BufRead, mut recorder: Recorder) -> io::Result<Recorder> {
    recorder.count_own_times();
    let mut lines = Lines::new(input);
    let mut reader = Reader {
        world: World::new(recorder),
        unfinished: HashMap::new(),
        unfinished_bytes: 0,
        now: Stamp::default(),
    };
    while let Some(line) = lines.next_line()? {
        reader.take(&parse(line));
        if reader.world.recorder.is_full() {
            break;
        }
    }
    let (now, world) = (reader.now, &mut reader.world);
    for thread in world.processes.threads() {
        world.end_thread(thread, now);
    }
    let beyond = world.processes.beyond;
    world.recorder.leave_out_times(Reason::Descriptors, beyond);
    world.recorder.leave_out_times(Reason::LongLines, lines.cut);
    Ok(reader.world.recorder)
}

impl Reader {
    fn take(&mut self, line: &Line<'_>) {
        self.now.order += 1;
        self.now.ns = match line.time {
            Some(Time::At(ns)) => Some(ns),
            Some(Time::SinceLast(ns)) => Some(self.now.ns.unwrap_or(0).saturating_add(ns)),
            None => None,
        };
        let thread = line.thread;
        match line.body {
            Body::Other => return,
            Body::Exited => {
                self.forget(thread);
                self.world.end_thread(thread, self.now);
                return;
            }
            _ if !self.world.processes.admit(thread) => {
                self.world.recorder.leave_out(Reason::Threads, None);
                return;
            }
            _ => {}
        }
        match line.body {
            Body::Call(text) => self.call(thread, text, self.now),
            Body::Unfinished(text) => self.begin(thread, text),
            Body::Resumed(rest) => {
                let Some(start) = self.forget(thread) else {
                    self.world.recorder.leave_out(Reason::Incomplete, None);
                    return;
                };
                let text = [&start.text[..], rest.trim_ascii_start()].concat();
                self.call(thread, &text, start.begin);
            }
            Body::Exited | Body::Other => {}
        }
    }

    fn begin(&mut self, thread: u32, text: &[u8]) {
        self.forget(thread);
        let bytes = self.unfinished_bytes + text.len();
        if self.unfinished.len() >= UNFINISHED_MAX || bytes > UNFINISHED_BYTES_MAX {
            self.world.recorder.leave_out(Reason::Incomplete, None);
            return;
        }
        if let Some(sharing) = clones(text) {
            self.world.processes.begin_clone(thread, sharing);
        }
        self.unfinished_bytes = bytes;
        let start = Unfinished {
            text: text.to_vec(),
            begin: self.now,
        };
        self.unfinished.insert(thread, start);
    }

    fn forget(&mut self, thread: u32) -> Option<Unfinished> {
        let start = self.unfinished.remove(&thread)?;
        self.unfinished_bytes -= start.text.len();
        Some(start)
    }

    fn call(&mut self, thread: u32, text: &[u8], begin: Stamp) {
        let Some(call) = Call::parse(text) else {
            // `exit_group` does not return, and strace writes messages of its own.
            if !text.starts_with(b"exit") && !text.starts_with(b"strace: ") {
                self.world.recorder.leave_out(Reason::Incomplete, None);
            }
            return;
        };
        let took = begin.ns.zip(call.took_ns);
        let end = Stamp {
            order: self.now.order,
            ns: took
                .map(|(begin, took)| begin.saturating_add(took))
                .or(self.now.ns),
        };
        self.world.follow(&Event {
            thread,
            call: &call,
            begin,
            end,
        });
    }
}

/// What the thread shares that an unfinished call creates; `None` if it creates none.
fn clones(text: &[u8]) -> Option<Sharing> {
    let names: [&[u8]; 4] = [b"clone(", b"clone3(", b"fork(", b"vfork("];
    let creates = names.iter().any(|name| text.starts_with(name));
    let has = |flag: &[u8]| crate::line::find(text, flag).is_some();
    creates.then(|| Sharing {
        descriptors: has(b"CLONE_FILES"),
        directory: has(b"CLONE_FS"),
    })
}
