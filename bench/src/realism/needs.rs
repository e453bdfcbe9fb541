//! Programs and data that applications need, and the commands that install them.

use crate::result::Result;
use std::path::Path;
use std::process::Command;

use crate::process::output;

/// A program or a data set that an application needs on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    Program {
        name: &'static str,
        /// The shell command that installs the program.
        install: &'static str,
    },
    /// A subdirectory of the directory for downloaded data.
    Data {
        name: &'static str,
        /// A script for sh(1) that creates the data in its working directory, which becomes the
        /// directory of the data.
        install: &'static str,
    },
}

/// Directories of programs that are not in every user's PATH.
const MORE_PATHS: [&str; 3] = ["/usr/sbin", "/sbin", "/usr/lib/news/bin"];

impl Need {
    pub fn is_met(self, packages: &Path) -> bool {
        match self {
            Self::Data { name, .. } => packages.join(name).is_dir(),
            Self::Program { name, .. } => {
                let path = std::env::var_os("PATH").unwrap_or_default();
                let more = MORE_PATHS.map(std::path::PathBuf::from);
                let mut places = std::env::split_paths(&path).chain(more);
                places.any(|place| place.join(name).is_file())
            }
        }
    }

    /// The command with which a user can install the program or the data.
    pub fn advice(self, packages: &Path) -> String {
        match self {
            Self::Program { install, .. } => install.to_owned(),
            Self::Data { name, install } => {
                let place = packages.join(name).display().to_string();
                format!("mkdir -p {place} && cd {place} && {{ {install}; }}")
            }
        }
    }

    /// Installs the program, or downloads the data.
    pub fn install(self, packages: &Path) -> Result<()> {
        match self {
            Self::Program { install, .. } => {
                let mut command = Command::new("sh");
                command.env("DEBIAN_FRONTEND", "noninteractive");
                output(command.args(["-e", "-c", install])).map(drop)
            }
            Self::Data { name, install } => {
                std::fs::create_dir_all(packages)?;
                // The directory gets its final name only when the data is complete.
                let partial = tempfile::Builder::new().prefix(name).tempdir_in(packages)?;
                let mut command = Command::new("sh");
                command.args(["-e", "-c", install]);
                output(command.current_dir(partial.path()))?;
                std::fs::rename(partial.keep(), packages.join(name))?;
                Ok(())
            }
        }
    }
}
