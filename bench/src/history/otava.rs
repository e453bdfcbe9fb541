//! Apache Otava, in a Python process that analyses one history after another.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde::{Deserialize, Serialize};

use super::series::{DELAYS, Findings, NEAR, Simulated};
use crate::result::Result;

const PROGRAM: &str = include_str!("../../otava_changes.py");

pub(super) struct Otava {
    child: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

#[derive(Serialize)]
struct Request<'a> {
    values: Vec<f64>,
    change: usize,
    delays: &'a [usize],
    near: usize,
}

#[derive(Deserialize)]
struct Answer {
    changes: Vec<usize>,
    delay: Option<usize>,
}

impl Otava {
    /// Starts the process. Returns `None`, with a message, if the package is not installed.
    pub(super) fn start(python: &Path) -> Result<Option<Self>> {
        let probe = Command::new(python).args(["-c", "import otava"]).output();
        if !probe.is_ok_and(|probe| probe.status.success()) {
            println!(
                "without Apache Otava: {} cannot import it (python3 -m venv target/otava && \
                 target/otava/bin/pip install apache-otava)",
                python.display()
            );
            return Ok(None);
        }
        let mut child = Command::new(python)
            .args(["-c", PROGRAM])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let requests = child.stdin.take();
        let answers = child.stdout.take().ok_or("no standard output")?;
        Ok(Some(Self {
            child,
            requests,
            answers: BufReader::new(answers),
        }))
    }

    pub(super) fn analyse(&mut self, simulated: &Simulated) -> Result<Findings> {
        // Otava computes relative changes, so it gets the results, not their logarithms.
        let request = Request {
            values: simulated
                .values
                .iter()
                .map(|log| 1_000.0 * log.exp())
                .collect(),
            change: simulated.change.unwrap_or_default(),
            delays: match simulated.change {
                Some(_) => &DELAYS,
                None => &[],
            },
            near: NEAR,
        };
        let line = serde_json::to_string(&request)? + "\n";
        let requests = self.requests.as_mut().ok_or("no standard input")?;
        requests.write_all(line.as_bytes())?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        let answer: Answer = serde_json::from_str(&answer)?;
        Ok(Findings {
            changes: answer.changes,
            delay: answer.delay,
        })
    }
}

impl Drop for Otava {
    fn drop(&mut self) {
        // The process ends at the end of its input.
        drop(self.requests.take());
        let _ = self.child.wait();
    }
}
