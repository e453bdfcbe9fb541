//! Safety campaign: checks that no file of a user is touched. Runs are killed, ended, moved away,
//! mounted over and unmounted at random moments, among a user's files with the same names as the
//! run's. Then `clean` is called.
//!
//! A round has a location on one of the file systems, user files in it, a run, an incident, more
//! user files, and `clean`. Afterwards every user file must be identical in name, kind, contents,
//! mode, owner and modification time (directories: name, mode and owner). Nothing of the run may be
//! left except directories that contain user files.
//!
//! After a kill, `clean` may leave files that it names, at most one for each worker. In this case
//! the manifest still exists and the exit status is 1. Once the user files that are in the way have
//! been moved, `clean` must finish. In one round of three, a study makes scratch file systems, and
//! the user moves or replaces their directories and puts files into them.
//!
//! The actions follow from the seed and the round's number, and `--seed S --round N` repeats them.
//! The exact timing of the actions varies.

mod choice;
mod outcome;
mod perform;
mod study;
mod tree;
mod user_files;

use crate::result::Result;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sched::{CloneFlags, unshare};

use crate::mounts::MountedVolume;
use crate::process::{caught, output};

use crate::draws::Draws;
use outcome::Ended;

/// The default file systems of a campaign.
pub const FILE_SYSTEMS: &str = "ext4,xfs,btrfs,tmpfs,overlay,fuse";

/// On average, one of this number of rounds performs a study that makes file systems (`study`). The
/// other rounds perform a run (`perform`).
const STUDIES_ONCE_IN: u64 = 3;

#[derive(Clone, Debug, clap::Args)]
pub struct Campaign {
    /// File systems: ext4, xfs, btrfs, tmpfs, overlay, fuse.
    #[arg(long, value_delimiter = ',', default_value = FILE_SYSTEMS)]
    pub on: Vec<String>,
    /// Number of rounds. Has no effect with `--round`.
    #[arg(long, default_value_t = 100)]
    pub rounds: u64,
    /// Seed of all random choices. The same seed repeats them [default: taken from the clock].
    #[arg(long)]
    pub seed: Option<u64>,
    /// Perform only the round with this number.
    #[arg(long)]
    pub round: Option<u64>,
}

/// Mounts a private tmpfs over the shared memory in which runs keep their heartbeat files, so that
/// other runs do not affect the campaign.
fn have_own_memory() -> Result<()> {
    unshare(CloneFlags::CLONE_NEWNS)
        .map_err(|errno| format!("cannot have mounts of its own: {errno}: run as root"))?;
    output(Command::new("mount").args(["--make-rprivate", "/"]))?;
    output(Command::new("mount").args(["-t", "tmpfs", "tmpfs", outcome::SHARED_MEMORY]))?;
    Ok(())
}

/// Performs all rounds and prints the results. Returns whether all of them passed.
pub fn perform(ours: &Path, campaign: &Campaign) -> Result<bool> {
    let ours = std::fs::canonicalize(ours)
        .map_err(|error| format!("cannot find {}: {error}", ours.display()))?;
    let seed = campaign.seed.unwrap_or_else(seed_of_now);
    println!("seed {seed}");
    have_own_memory()?;
    let began = Instant::now();
    let mut volumes: Vec<(&str, Option<MountedVolume>)> = campaign
        .on
        .iter()
        .map(|kind| (kind.as_str(), None))
        .collect();
    if volumes.is_empty() {
        return Err("no file system is given: take some of --on".into());
    }
    let rounds = match campaign.round {
        Some(round) => round..round + 1,
        None => 0..campaign.rounds,
    };
    let mut sum = Sum::default();
    for round in rounds {
        let place = (round % volumes.len() as u64) as usize;
        let (kind, volume) = &mut volumes[place];
        // All rounds on the same kind of file system use the same mount.
        let mounted = match volume {
            Some(mounted) => mounted,
            None => volume.insert(MountedVolume::in_memory(kind)?),
        };
        let round_dir = mounted.path().join(format!("round-{round}"));
        let (ended, is_study) = perform_round(&ours, &round_dir, *kind == "fuse", (seed, round))
            .map_err(|error| format!("seed {seed}, round {round} on {kind}: {error}"))?;
        remove(&round_dir)?;
        if let Some(signal) = caught() {
            return Err(format!("ended by signal {signal}").into());
        }
        if !ended.problems.is_empty() {
            show_failure(
                &ended,
                &format!("round {round} on {kind}"),
                &format!(
                    "bench safety --on {} --seed {seed} --round {round}",
                    campaign.on.join(",")
                ),
            );
        }
        sum.studies += u64::from(is_study);
        sum.add(&ended);
    }
    sum.show(began.elapsed());
    Ok(sum.failed == 0)
}

/// Performs one round, and returns its result and whether it was a round of studies.
fn perform_round(
    ours: &Path,
    round_dir: &Path,
    is_fuse: bool,
    (seed, round): (u64, u64),
) -> Result<(Ended, bool)> {
    let mut dice = Draws::new(seed, "safety", round as u32);
    // Studies on FUSE get no loop devices. A loop device over a file of the FUSE server in this
    // process could prevent the end of the process.
    let is_study = dice.once_in(STUDIES_ONCE_IN);
    fs::create_dir(round_dir)?;
    let ended = match is_study {
        true => study::round(ours, round_dir, !is_fuse, &mut dice),
        false => perform::round(ours, round_dir, is_fuse, &mut dice),
    };
    Ok((ended?, is_study))
}

/// Removes the directory of a round. Removes mounts that a failed round has left in it, so that the
/// next round can start.
fn remove(round_dir: &Path) -> Result<()> {
    let mounts = fs::read("/proc/self/mounts")?;
    let mounts = String::from_utf8_lossy(&mounts);
    let points = mounts.lines().filter_map(|line| line.split(' ').nth(1));
    for point in points.filter(|point| Path::new(point).starts_with(round_dir)) {
        let _ = Command::new("umount")
            .args(["--lazy", point])
            .stderr(Stdio::null())
            .status();
    }
    fs::remove_dir_all(round_dir)
        .map_err(|error| format!("cannot remove {}: {error}", round_dir.display()).into())
}

fn seed_of_now() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |now| now.as_nanos() as u64 % 1_000_000_007)
}

fn show_failure(ended: &Ended, round: &str, command: &str) {
    println!("FAILED: {round} ({command})");
    for problem in &ended.problems {
        println!("  {problem}");
    }
    for line in &ended.log {
        println!("    {}", line.replace('\n', "\n    "));
    }
}

#[derive(Default)]
struct Sum {
    rounds: u64,
    studies: u64,
    failed: u64,
    killed: u64,
    with_left: u64,
    left: u64,
    user_files: u64,
}

impl Sum {
    fn show(&self, took: Duration) {
        println!(
            "{} rounds in {:.1} s, {} of studies: {} failed; {} killed while they ran, of which {} \
         had files left by clean and named, {} in all; {} guests",
            self.rounds,
            took.as_secs_f64(),
            self.studies,
            self.failed,
            self.killed,
            self.with_left,
            self.left,
            self.user_files,
        );
    }

    fn add(&mut self, ended: &Ended) {
        self.rounds += 1;
        self.failed += u64::from(!ended.problems.is_empty());
        self.killed += u64::from(ended.was_killed);
        self.with_left += u64::from(ended.left > 0);
        self.left += ended.left;
        self.user_files += ended.user_files;
    }
}
