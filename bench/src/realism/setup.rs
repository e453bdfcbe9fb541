//! What benchmarks of applications have in common: options, missing programs and data, and the file
//! systems.

use crate::result::Result;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use scratch::MakeStop;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::application::Application;
use super::data::Data;
use super::needs::Need;
use super::volume::Volume;
use crate::draws::Draws;

/// The path of the program, whatever the working directory is.
pub fn whole_program(ours: &Path) -> Result<PathBuf> {
    Ok(ours
        .canonicalize()
        .map_err(|error| format!("cannot use {}: {error} (use --ours)", ours.display()))?)
}

/// Adds the requirements that are missed to a result in Markdown.
pub fn write_missed(text: &mut String, missed: &[String]) {
    text.push_str("\nMissed requirements:\n\n");
    match missed {
        [] => text.push_str("none\n"),
        _ => missed.iter().for_each(|sentence| {
            text.push_str("- ");
            text.push_str(sentence);
            text.push('\n');
        }),
    }
}

/// Options of benchmarks that run applications.
#[derive(Clone, Debug, clap::Args)]
pub struct SetupOptions {
    /// Data set of the applications.
    #[arg(long, value_enum, default_value = "other")]
    pub data: Data,
    /// Use small data sets, for a quick trial of the applications.
    #[arg(long)]
    pub small: bool,
    /// Size of each file system.
    #[arg(long, default_value = "2GiB")]
    pub size: String,
    /// Directory for the images of file systems. Each image is written to its full size.
    #[arg(long, default_value = "/var/tmp")]
    pub images: PathBuf,
    /// Directory for downloaded data, such as source trees and packages.
    #[arg(long, default_value = "target/realism/packages")]
    pub packages: PathBuf,
    /// Install missing programs and download missing data.
    #[arg(long)]
    pub install: bool,
}

impl SetupOptions {
    /// The name of a data set in files of results, for example `other-small`.
    pub fn data_name(&self, data: Data) -> String {
        let small = if self.small { "-small" } else { "" };
        format!("{}{small}", data.name())
    }

    /// Creates the directory for packages, and makes its path absolute.
    pub fn with_whole_paths(&self) -> Result<Self> {
        Ok(Self {
            packages: whole(&self.packages)?,
            ..self.clone()
        })
    }

    /// Returns the applications whose programs and data are on this machine, only those in `names`
    /// unless it is empty. For each missing program or data set, prints the command that installs
    /// it, or installs it (`--install`, with the data sets `installed`).
    pub fn available(
        &self,
        all: &[&'static Application],
        names: &[String],
        installed: &[Data],
    ) -> Result<Vec<&'static Application>> {
        let is_selected =
            |one: &&&Application| names.is_empty() || names.iter().any(|of| of == one.name);
        let packages = &self.packages;
        let mut available = Vec::new();
        for application in all.iter().filter(is_selected) {
            let missing = |data| {
                let needs = (application.needs)(data).into_iter();
                needs.filter(|need: &Need| !need.is_met(packages))
            };
            if self.install {
                for data in installed {
                    missing(*data).try_for_each(|need| need.install(packages))?;
                }
            }
            let mut is_available = true;
            for need in missing(self.data) {
                is_available = false;
                let (name, advice) = (application.name, need.advice(packages));
                println!("{name} is skipped; it needs: {advice}");
            }
            if is_available {
                available.push(*application);
            }
        }
        Ok(available)
    }
}

/// Creates a directory and makes its path absolute, because the programs of applications run in
/// other working directories.
pub fn whole(path: &Path) -> Result<PathBuf> {
    std::fs::create_dir_all(path)
        .and_then(|()| path.canonicalize())
        .map_err(|error| format!("cannot use {}: {error}", path.display()).into())
}

/// The file systems in the random order of a round of a benchmark.
pub fn shuffled<'a>(benchmark: &str, kinds: &'a [String], round: u32) -> Vec<&'a str> {
    let mut draws = Draws::new(1, benchmark, round);
    let mut rest: Vec<&str> = kinds.iter().map(String::as_str).collect();
    let count = rest.len();
    let mut draw = |_| rest.swap_remove(draws.below(rest.len() as u64) as usize);
    (0..count).map(&mut draw).collect()
}

/// The file systems, each made when it is first used and removed at the end.
pub struct Volumes<'a> {
    options: &'a SetupOptions,
    stop: MakeStop,
    made: BTreeMap<String, Volume>,
}

impl<'a> Volumes<'a> {
    pub fn new(options: &'a SetupOptions) -> Result<Self> {
        let caught = Arc::new(AtomicUsize::new(0));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let number = usize::try_from(signal).unwrap_or(1);
            signal_hook::flag::register_usize(signal, caught.clone(), number)?;
        }
        Ok(Self {
            options,
            stop: caught.into(),
            made: BTreeMap::new(),
        })
    }

    /// Returns an empty file system of this kind: a new one, or the existing one formatted.
    pub fn empty(&mut self, kind: &str) -> Result<&mut Volume> {
        if let Some(volume) = self.made.get_mut(kind) {
            volume.remake()?;
        } else {
            let SetupOptions { size, images, .. } = self.options;
            let volume = Volume::new(kind, size, images, self.stop.clone())?;
            self.made.insert(kind.to_owned(), volume);
        }
        self.made
            .get_mut(kind)
            .ok_or_else(|| format!("{kind} was not made").into())
    }

    pub fn remove(self) -> Result<()> {
        self.made.into_values().try_for_each(Volume::remove)
    }
}
