//! The files that all compared programs create, read and delete, and the file system for them.

use crate::result::Result;
use std::path::PathBuf;
use std::process::Command;

use workload::names::Names;
use workload::popularity::Popularity;
use workload::sizes::Sizes;
use workload::{Action, Mix, Weights, Workers, Workload};

use crate::floor::compile;
use crate::mounts::{MountedVolume, sync};
use crate::ours;
use crate::phases::Cost;

/// Size of each file that the compared programs create, in bytes, except for fio's `filecreate`.
pub const FILE_BYTES: u64 = 4096;

#[derive(Clone, Copy, Debug)]
pub struct PhaseSample {
    pub files_per_s: f64,
    pub user_us_per_file: f64,
}

/// A sample for each compared operation of a contest, in order.
pub type Samples = Result<Vec<PhaseSample>>;

const OBSERVER: &str = include_str!("../../borders.c");

pub struct PeerLoad {
    pub mounted: MountedVolume,
    pub files: u64,
    pub workers: u32,
    /// The compiled library (`borders.c`) that measures the phases of fs_mark from within its
    /// processes.
    pub borders: PathBuf,
}

impl PeerLoad {
    pub fn new(kind: &str, files: u64, workers: u32) -> Result<Self> {
        let mounted = MountedVolume::new(kind)?;
        let to = mounted.path().with_file_name("borders.so");
        let borders = compile(OBSERVER, &to, &["-shared", "-fPIC"])?;
        Ok(Self {
            mounted,
            files,
            workers,
            borders,
        })
    }

    /// A path next to the mount point.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.mounted.path().with_file_name(name)
    }

    pub fn theirs(&self) -> PathBuf {
        self.mounted.path().join("rival")
    }

    /// Replaces the directories of PostMark and of the other program, because a directory that was
    /// large stays slower than a new one.
    pub fn renew(&self) -> Result<()> {
        for directory in [self.mounted.path().join("ours"), self.theirs()] {
            if directory.exists() {
                std::fs::remove_dir_all(&directory)?;
            }
            std::fs::create_dir(&directory)?;
        }
        for own in self.own_directories().into_iter().flatten() {
            std::fs::create_dir(self.theirs().join(own))?;
        }
        sync(&self.mounted.path())
    }

    /// Creates files in random order, so that a program that reads files in the order of their
    /// names reads at random positions.
    pub fn create_shuffled(&self) -> Result<()> {
        let mut numbers: Vec<u64> = (0..self.files).collect();
        numbers.sort_by_key(|number| workload::random::again(*number));
        for own in self.own_directories() {
            let directory = own.map_or_else(|| self.theirs(), |own| self.theirs().join(own));
            for number in &numbers {
                std::fs::write(
                    directory.join(number.to_string()),
                    [b'x'; FILE_BYTES as usize],
                )?;
            }
        }
        Ok(())
    }

    /// The name of each worker's directory; a single `None` if there is only one worker.
    pub fn own_directories(&self) -> Vec<Option<String>> {
        match self.workers {
            1 => vec![None],
            workers => (0..workers)
                .map(|worker| Some(format!("w{worker}")))
                .collect(),
        }
    }

    pub fn ours(&self, (bytes, names): (u64, &str), reads: u64) -> Result<Command> {
        let mix = Mix {
            files: self.files,
            transactions: reads,
            weights: Weights::default().with(Action::Read, 1),
            sizes: Sizes::Fixed(bytes),
            names: names.parse::<Names>()?,
            popularity: Popularity::Shuffled,
            ..Mix::default()
        };
        let workload = Workload {
            workers: Workers::Private {
                workers: self.workers,
            },
            ..mix.into()
        };
        ours::command(&workload, &self.mounted.path().join("ours"), false)
    }

    pub fn sum_files(&self) -> f64 {
        (self.files * u64::from(self.workers)) as f64
    }

    pub fn sample(&self, cost: Cost) -> PhaseSample {
        PhaseSample {
            files_per_s: self.sum_files() / cost.wall_s,
            user_us_per_file: cost.user_s / self.sum_files() * 1e6,
        }
    }
}
