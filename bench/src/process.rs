//! Running a program and what it cost.

use std::error::Error;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use observe::child::{ChildCost, wait};

/// Runs a command to its end; its output goes nowhere.
pub fn cost(command: &mut Command) -> Result<ChildCost, Box<dyn Error>> {
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let cost = wait(child)?;
    if cost.status.success() {
        Ok(cost)
    } else {
        Err(format!("{command:?} ended with {}", cost.status).into())
    }
}

/// Runs a program with a file as its standard input.
pub fn cost_with_input(program: &Path, input: &Path) -> Result<ChildCost, Box<dyn Error>> {
    cost(Command::new(program).stdin(File::open(input)?))
}

/// Runs a command to its end and gives its output.
pub fn output(command: &mut Command) -> Result<String, Box<dyn Error>> {
    let output = command.output()?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(format!(
            "{command:?} ended with {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        )
        .into())
    }
}
