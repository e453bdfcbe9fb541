//! Runs the programs that make and mount file systems as child processes, without a shell, in the C
//! locale, and with a time limit. Each program runs in its own process group, so that Ctrl-C at the
//! terminal does not interrupt mkfs.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::error::MakeError;
use crate::stop::MakeStop;

/// Time limit of a program that only reads, or makes a small change.
pub(crate) const SHORT: Duration = Duration::from_secs(60);
/// Time limit of a program that writes to a whole image.
pub(crate) const LONG: Duration = Duration::from_secs(1_800);

/// Maximum number of bytes of a program's output that are kept. Further output is read and dropped.
const OUTPUT_BYTES_MAX: u64 = 16 << 10;
/// Polling interval for the end of a child process.
const ASK_EACH: Duration = Duration::from_millis(2);
/// Maximum wait for the end of a killed program. A program that hangs in the kernel is then
/// abandoned.
const AFTER_KILL: Duration = Duration::from_secs(5);
/// Time that a program gets to clean up after a signal, before it is killed.
const GRACE: Duration = Duration::from_secs(2);

/// Searches for a program in the directories of PATH, and in the administrator's directories, which
/// a user's PATH often lacks.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let administrators = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    let directories = std::env::split_paths(&path).filter(|directory| directory.is_absolute());
    directories
        .chain(administrators)
        .map(|directory| directory.join(name))
        .find(|program| {
            let facts = std::fs::metadata(program);
            facts.is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
        })
}

/// The lock, the working directory and the stop signal of a program.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a> {
    /// The locked manifest, which becomes the program's standard input. The program then holds the
    /// lock until it ends, even if this process is killed earlier. The file is positioned at its
    /// end, so the program reads no input.
    pub(crate) lock: &'a File,
    /// The working directory of the program, to which relative names in its arguments refer.
    pub(crate) directory: &'a Path,
    /// The signal that ends the program; `None` for removals, which a signal must not end.
    pub(crate) stop: Option<&'a MakeStop>,
}

/// Formats a command line as a user would type it.
pub(crate) fn command_line(name: &str, arguments: &[OsString]) -> String {
    let mut line = name.to_owned();
    for argument in arguments {
        let text = argument.to_string_lossy();
        let is_plain = !text.is_empty()
            && text
                .chars()
                .all(|c| c.is_alphanumeric() || "-_=/.,:%+@".contains(c));
        line.push(' ');
        if is_plain {
            line.push_str(&text);
        } else {
            line.push_str(&format!("'{}'", text.replace('\'', "'\\''")));
        }
    }
    line
}

/// Runs a program until it ends, and returns its standard output.
///
/// # Errors
/// Returns an error if the program cannot be started, fails, is killed, or exceeds the time limit.
pub(crate) fn run<A: Into<OsString>>(
    name: &str,
    arguments: impl IntoIterator<Item = A>,
    around: Option<Around>,
    limit: Duration,
) -> Result<String, MakeError> {
    let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    let (status, [output, errors]) = ended(name, &arguments, around, limit)?;
    let command = || command_line(name, &arguments);
    if let Some(signal) = status.signal() {
        return Err(MakeError::new(format!(
            "'{}' was killed by signal {signal}",
            command()
        )));
    }
    if !status.success() {
        let answer = if errors.trim().is_empty() {
            output
        } else {
            errors
        };
        return Err(MakeError::new(format!(
            "'{}' failed with exit status {}: {}",
            command(),
            status.code().unwrap_or(-1),
            one_line(&answer)
        )));
    }
    Ok(output)
}

/// Returns the first line that a program prints with `-V`, on standard output or else on standard
/// error. The exit status is ignored, because some programs return an error after printing their
/// version.
pub(crate) fn version(name: &str) -> Result<String, MakeError> {
    let arguments = [OsString::from("-V")];
    let (_, [output, errors]) = ended(name, &arguments, None, SHORT)?;
    let mut lines = output.lines().chain(errors.lines()).map(str::trim);
    let first = lines.find(|line| !line.is_empty()).map(str::to_owned);
    first.ok_or_else(|| MakeError::answer(&command_line(name, &arguments), ""))
}

/// Runs a program, and returns its exit status, standard output and standard error.
fn ended(
    name: &str,
    arguments: &[OsString],
    around: Option<Around>,
    limit: Duration,
) -> Result<(ExitStatus, [String; 2]), MakeError> {
    let not_started = |answer: std::io::Error| {
        let command = command_line(name, arguments);
        MakeError::new(format!("cannot start '{command}': {answer}"))
    };
    let program = find(name).ok_or_else(|| not_started(std::io::ErrorKind::NotFound.into()))?;
    let stdin = match around {
        Some(around) => around.lock.try_clone().map_err(not_started)?.into(),
        None => Stdio::null(),
    };
    let mut child = Command::new(program)
        .args(arguments)
        .env("LC_ALL", "C")
        // Switches off the cache of libblkid, whose entries may be outdated. An outdated entry
        // contains the UUID that the image had on another loop device, and mkfs.btrfs would refuse
        // this UUID.
        .env("BLKID_FILE", "/dev/null")
        .current_dir(around.map_or(Path::new("/"), |around| around.directory))
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(not_started)?;
    let outputs = [
        child.stdout.take().map(reader),
        child.stderr.take().map(reader),
    ];
    let never = MakeStop::default();
    let stop = around.and_then(|around| around.stop).unwrap_or(&never);
    let Some(status) = waited(&mut child, limit, stop).map_err(not_started)? else {
        let command = command_line(name, arguments);
        if stop.is_asked() {
            end(
                &mut child,
                &[(Signal::TERM, GRACE), (Signal::KILL, AFTER_KILL)],
            );
            return Err(MakeError::interrupted(&format!("'{command}'")));
        }
        end(&mut child, &[(Signal::KILL, AFTER_KILL)]);
        return Err(MakeError::new(format!(
            "'{command}' did not end within {} s and was killed (is the device or the file system \
             below it hanging?)",
            limit.as_secs()
        )));
    };
    Ok((
        status,
        outputs.map(|output| output.map_or_else(String::new, text)),
    ))
}

/// Reads a stream until its end, in a separate thread, so that the pipe never fills up.
fn reader(mut stream: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        // If reading fails, the text that was read until then is returned.
        drop(
            stream
                .by_ref()
                .take(OUTPUT_BYTES_MAX)
                .read_to_end(&mut kept),
        );
        drop(std::io::copy(&mut stream, &mut std::io::sink()));
        kept
    })
}

/// Returns the text that was read from a stream. The wait is limited, because a daemon that the
/// program started may keep the stream open.
fn text(output: JoinHandle<Vec<u8>>) -> String {
    let began = Instant::now();
    while !output.is_finished() && began.elapsed() < Duration::from_secs(1) {
        std::thread::sleep(ASK_EACH);
    }
    if !output.is_finished() {
        return String::new();
    }
    String::from_utf8_lossy(&output.join().unwrap_or_default()).into_owned()
}

/// Sends the signals to a program's process group, one after another, until the program ends. A
/// program that survives all signals is abandoned.
fn end(child: &mut Child, signals: &[(Signal, Duration)]) {
    for (signal, patience) in signals {
        // The child was not reaped yet, so no other process can have its process ID.
        let _ = kill_process_group(Pid::from_child(child), *signal);
        if matches!(waited(child, *patience, &MakeStop::default()), Ok(Some(_))) {
            return;
        }
    }
}

/// Waits until a program ends. Returns `None` if the time limit is exceeded or a signal arrives.
fn waited(
    child: &mut Child,
    limit: Duration,
    stop: &MakeStop,
) -> std::io::Result<Option<ExitStatus>> {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if began.elapsed() >= limit || stop.is_asked() {
            return Ok(None);
        }
        std::thread::sleep(ASK_EACH);
    }
}

/// Joins the lines of a text into one line, for a message.
fn one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines.collect::<Vec<_>>().join("; ");
    if line.is_empty() {
        "no message".to_owned()
    } else {
        line
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn message(name: &str, arguments: &[&str]) -> String {
        run(name, arguments, None, Duration::from_millis(200))
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn error_contains_the_exit_status_and_output_of_the_program() {
        assert_eq!(run("echo", ["a", "b"], None, SHORT).unwrap(), "a b\n");
        assert_eq!(
            message(
                "sh",
                &["-c", "echo out; echo one >&2; echo two >&2; exit 3"]
            ),
            "'sh -c 'echo out; echo one >&2; echo two >&2; exit 3'' failed with exit status 3: \
             one; two"
        );
        assert_eq!(
            message("false", &[]),
            "'false' failed with exit status 1: no message"
        );
        assert_eq!(
            message("sh", &["-c", "kill -9 $$"]),
            "'sh -c 'kill -9 $$'' was killed by signal 9"
        );
        assert!(
            message("sleep", &["60"])
                .starts_with("'sleep 60' did not end within 0 s and was killed")
        );
        assert!(message("no-such-program", &[]).starts_with("cannot start 'no-such-program': "));
    }

    #[test]
    fn signal_ends_a_hanging_program_and_its_children() {
        let scene = tempfile::tempdir().unwrap();
        let lock = File::open("/dev/null").unwrap();
        for script in [
            "sleep 60",
            "trap '' TERM; sleep 60 & echo $! > child; wait; wait",
        ] {
            let caught = Arc::<AtomicUsize>::default();
            let stop = MakeStop::from(Arc::clone(&caught));
            let around = Around {
                lock: &lock,
                directory: scene.path(),
                stop: Some(&stop),
            };
            let began = Instant::now();
            let error = std::thread::scope(|scope| {
                let run =
                    scope.spawn(|| run("sh", ["-c", script], Some(around), SHORT).unwrap_err());
                std::thread::sleep(Duration::from_millis(100));
                caught.store(15, Ordering::SeqCst);
                run.join().unwrap()
            });
            assert_eq!(
                error.to_string(),
                format!(
                    "'sh -c '{}'' was ended because of a signal",
                    script.replace('\'', "'\\''")
                )
            );
            assert!(error.is_interrupted() && began.elapsed() < Duration::from_secs(30));
        }
        let child = std::fs::read_to_string(scene.path().join("child")).unwrap();
        let began = Instant::now();
        let is_there = || {
            let status = std::fs::read_to_string(format!("/proc/{}/status", child.trim()));
            status.is_ok_and(|status| !status.contains("State:\tZ"))
        };
        while is_there() {
            assert!(began.elapsed() < Duration::from_secs(20), "it goes on");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn programs_run_in_their_own_process_group_and_the_c_locale() {
        let script =
            "ps -o pgid= -p $$ 2>/dev/null || cut -d ' ' -f 5 /proc/$$/stat; echo $$ $LC_ALL";
        let answer = run("sh", ["-c", script], None, SHORT).unwrap();
        let words: Vec<&str> = answer.split_whitespace().collect();
        assert_eq!(words[0], words[1], "its own group: {answer}");
        assert_eq!(words[2], "C");
    }

    #[test]
    fn large_output_does_not_block_a_program() {
        let output = run("head", ["-c", "1000000", "/dev/zero"], None, SHORT).unwrap();
        assert_eq!(output.len() as u64, OUTPUT_BYTES_MAX);
    }
}
