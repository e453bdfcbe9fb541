//! The interactive prompt on a real terminal, which the program `script` creates: editing,
//! completion, history, Ctrl-C and Ctrl-D. Shell commands with `!` and a run that Ctrl-C interrupts
//! are tested as well.

use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use testkit::Shows;

use crate::original;

const DEADLINE: Duration = Duration::from_secs(60);
const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";
const UP: &str = "\x1b[A";

/// A session of the program on a new terminal.
struct Terminal {
    child: Child,
    keys: ChildStdin,
    screen: Arc<Mutex<String>>,
    /// Offset in `screen` up to which the test has already waited for output.
    seen: usize,
    directory: tempfile::TempDir,
}

impl Terminal {
    fn open() -> Self {
        let directory = original::directory();
        // `exec` replaces the shell by the program. Otherwise the shell would receive Ctrl-C as
        // well, and some shells would exit.
        let program = format!("exec '{}'", original::ours().to_str().unwrap());
        let mut child = Command::new("/usr/bin/script")
            .args(["-q", "-e", "-c", &program, "/dev/null"])
            .current_dir(directory.path())
            .env("TERM", "xterm")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("script is needed: apt-get install bsdutils");
        let mut output = child.stdout.take().unwrap();
        let screen = Arc::new(Mutex::new(String::new()));
        let written = Arc::clone(&screen);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                written
                    .lock()
                    .unwrap()
                    .push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
        });
        let mut terminal = Self {
            keys: child.stdin.take().unwrap(),
            child,
            screen,
            seen: 0,
            directory,
        };
        terminal.wait_for("pm>");
        terminal
    }

    /// Waits until a text appears after the last awaited text. Returns the output before it.
    fn wait_for(&mut self, text: &str) -> String {
        let begun = Instant::now();
        loop {
            let screen = self.screen.lock().unwrap().clone();
            if let Some(at) = screen[self.seen..].find(text) {
                let before = screen[self.seen..self.seen + at].to_owned();
                self.seen += at + text.len();
                return before;
            }
            assert!(
                begun.elapsed() < DEADLINE,
                "no {text:?} behind {:?}",
                &screen[self.seen..]
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits for the next prompt. Returns the output before it.
    fn prompt(&mut self) -> String {
        // Before each prompt, the line editor enables bracketed paste. No other output contains
        // this control sequence.
        let before = self.wait_for("\x1b[?2004h");
        self.wait_for("pm>");
        before
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// Types a line. Returns the output up to the next prompt.
    fn line(&mut self, line: &str) -> String {
        self.press(&format!("{line}\r"));
        self.wait_for("\r\n");
        self.prompt()
    }

    /// Waits until the program has ended. Returns its exit status.
    fn end(mut self) -> Option<i32> {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                assert!(
                    original::tree(self.directory.path()).is_empty(),
                    "something is left behind"
                );
                return status.code();
            }
            assert!(begun.elapsed() < DEADLINE, "it does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // If the test failed, the program still runs. Killing `script` closes the terminal, which
        // ends the program.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The line about the help is on standard error, because standard output contains only text that
/// the original prints as well.
#[test]
fn prompt_names_the_help_on_standard_error() {
    let terminal = Terminal::open();
    let screen = terminal.screen.lock().unwrap().clone();
    assert!(
        screen.starts_with("'postmark help' lists the commands"),
        "{screen}"
    );
    drop(terminal);
    let piped = Command::new(original::ours())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(piped.stderr.is_empty() && piped.stdout.starts_with(b"PostMark"));
}

#[test]
fn prompt_completes_and_remembers_lines() {
    let mut terminal = Terminal::open();
    terminal.line("set nu\t 77");
    assert!(
        terminal
            .line("show")
            .contains("The base number of files is 77\r\n")
    );
    terminal.line("set seed 7");
    terminal.press(UP);
    terminal.press(UP);
    assert!(
        terminal
            .line("")
            .contains("Random number generator seed is 7\r\n")
    );
    terminal.press("quit\r");
    assert_eq!(terminal.end(), Some(0));
}

#[test]
fn ctrl_c_starts_a_new_prompt_and_ctrl_d_ends() {
    let mut terminal = Terminal::open();
    terminal.press(&format!("set number 5{CTRL_C}"));
    terminal.prompt();
    assert!(
        terminal
            .line("show")
            .contains("The base number of files is 500\r\n")
    );
    terminal.press(CTRL_D);
    assert_eq!(terminal.end(), Some(0));
}

#[test]
fn interrupted_run_shows_partial_results_and_the_prompt_stays() {
    let mut terminal = Terminal::open();
    terminal.line("set transactions 2000000000");
    terminal.press("run\r");
    terminal.wait_for("Performing transactions.");
    terminal.press(CTRL_C);
    let answer = terminal.prompt();
    answer.shows("PARTIAL");
    terminal.press("quit\r");
    assert_eq!(terminal.end(), Some(1));
}

#[test]
fn shell_commands_work_only_at_a_terminal() {
    let mut terminal = Terminal::open();
    assert!(terminal.line("!echo $((6 * 7))").contains("42\r\n"));
    terminal.press("exit\r");
    assert_eq!(terminal.end(), Some(0));
    let piped = original::say(
        original::ours(),
        &[],
        &std::env::temp_dir(),
        b"!echo $((6 * 7))\n",
        &[],
    );
    assert!(!String::from_utf8_lossy(&piped.output).contains("42"));
    assert!(String::from_utf8_lossy(&piped.errors).starts_with("Error: '!' "));
}
