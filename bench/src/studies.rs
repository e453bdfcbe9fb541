//! Measures false alarms of studies: how often a study of two identical file systems shows a
//! difference, and how often a gate over it fails. Also performs studies with a candidate that is
//! slowed by a known amount. For these, measures how often they show the difference, and compares
//! their estimates and intervals with the true ratio.
//!
//! Every study runs `postmark study` with its own study file and seed, ten blocks and an A/A
//! control. The table of the study and the decision of the gate are read as JSON. There are two
//! kinds of slowed candidates: a FUSE file system whose server sleeps longer before each creation,
//! and transactions with a longer think time. The true ratio of the rates is computed from the
//! known delay and the baseline's time per transaction.

mod found;

use crate::result::Result;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use ::archive::Filter;
use faultfs::{Delay, RequestKind};
use record::Record;
use study::{Comparisons, Gate, Metric};
use tempfile::TempDir;
use verdict::Summary;

use self::found::{Found, Told};
use crate::archive::open;
use crate::limit::Limit;
use crate::mounts::MountedVolume;
use crate::process::{output, output_and_status};

/// The workload of all studies. It does not sync, so that it does not depend on the kernel threads
/// that a commit waits for.
const WORK: &str = "\
[[workload]]
name = \"messages\"
mix = \"read=5,create=2,delete=2,append=1\"
size = \"1KiB..8KiB\"
size-max = \"256KiB\"
files = 300
";
/// Metrics of the gates over identical systems, and whether the requirement is a minimum.
const REQUIRED: [(&str, bool); 2] = [("transactions", true), ("read.p50", false)];
/// Margins of the requirements in [`REQUIRED`]. A gate uses the smallest margin for which the
/// blocks of a study suffice, given the noise of a first study.
const MARGINS: [f64; 7] = [0.03, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5];
/// The requirement for slowed candidates. A candidate that is slowed by more than 3 % must not
/// pass.
const SLOWED_REQUIREMENT: &str = "transactions >= 0.97";
/// Transactions of each run. The number is fixed, because planning a run by time would take longer
/// than these runs.
const TRANSACTIONS: u32 = 5_000;
/// Transactions of each run on FUSE, where a transaction takes about ten times as long.
const TRANSACTIONS_DELAYED: u32 = 1_500;
const TRANSACTIONS_THINKING: u32 = 300;
/// Think times of the baseline and of the slowed candidate, in microseconds. The baseline also has
/// a think time, so that both include the overhead of a timer.
const THINK_US: [u32; 2] = [1_000, 1_100];
/// Sleep of the server before each creation for the baseline and for the slowed candidate, in
/// microseconds. The baseline's server sleeps as well, so that both include the cost of waking up
/// the server and its client.
const DELAY_US: [u64; 2] = [100, 300];
/// Maximum probability that a difference is shown for identical systems.
const FALSE_CLAIM: Limit = Limit::AtMost(0.05);
/// Maximum probability that a gate over identical systems fails.
const FALSE_FAILURE: Limit = Limit::AtMost(0.01);
/// Maximum probability that a gate passes a candidate that does not meet its requirement.
const FALSE_PASS: Limit = Limit::AtMost(0.05);
/// Minimum probability that an interval contains the true ratio.
const COVERAGE: Limit = Limit::AtLeast(0.95);

/// Exit status of `postmark gate` if it refuses to decide.
const REFUSED: i32 = 2;

#[derive(Clone, Debug, clap::Args)]
pub struct StudiesOptions {
    /// Number of studies of two identical file systems.
    #[arg(long, default_value_t = 40)]
    pub identical: u64,
    /// Number of studies against a FUSE file system whose server sleeps longer before each
    /// creation.
    #[arg(long, default_value_t = 10)]
    pub delayed: u64,
    /// Number of studies that compare a think time with a longer one.
    #[arg(long, default_value_t = 10)]
    pub thinking: u64,
    /// Blocks of each study.
    #[arg(long, default_value_t = 10)]
    pub blocks: u32,
    /// Seed of the first study; each further study uses the next number.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// End with code 1 if the counts disagree with what intervals and gates promise.
    #[arg(long)]
    pub check: bool,
}

/// Performs all studies, and prints them and the shares of false alarms and detected differences.
/// Returns whether the shares keep their limits, for example `FALSE_CLAIM` and `COVERAGE`.
pub fn perform(ours: &Path, size: &StudiesOptions) -> Result<bool> {
    let bench = Bench {
        ours,
        size,
        directory: tempfile::tempdir()?,
    };
    println!(
        "{} studies of two identical ext4, {} with a sleep of {} µs after {} before each creation \
         on FUSE, {} with a think time of {} µs after {}; {} blocks with a twin, seeds from {}",
        size.identical,
        size.delayed,
        DELAY_US[1],
        DELAY_US[0],
        size.thinking,
        THINK_US[1],
        THINK_US[0],
        size.blocks,
        size.seed
    );
    let mut seeds = size.seed..;
    let mut holds = true;
    if size.identical > 0 {
        let memory = MountedVolume::in_memory("tmpfs")?;
        let requirements = bench.requirements(&memory, seeds.next().unwrap_or_default())?;
        let kind = |seed| bench.identical(&memory, &requirements, seed);
        let told = Told::perform("identical", size.identical, &mut seeds, kind)?;
        let is_claimed = told.show("a difference was claimed", Found::is_shown);
        holds &= is_claimed.agrees(FALSE_CLAIM);
        told.show("claimed, and the twin did not make it DOUBTFUL", |found| {
            found.is_shown() && !found.is_doubtful
        });
        told.show("the interval holds 1", Found::holds_known);
        holds &= told.show_gate().failed.agrees(FALSE_FAILURE) && told.stopped == 0;
    }
    for (name, count) in [("delayed", size.delayed), ("thinking", size.thinking)] {
        if count == 0 {
            continue;
        }
        let told = match name {
            "delayed" => Told::perform(name, count, &mut seeds, |seed| bench.delayed(seed))?,
            _ => Told::perform(name, count, &mut seeds, |seed| bench.thinking(seed))?,
        };
        told.show("the difference was found", Found::is_slower);
        told.show("claimed in the wrong direction", |found| {
            found.is_shown() && !found.is_slower()
        });
        let covered = told.show("the interval holds the computed ratio", Found::holds_known);
        holds &= covered.agrees(COVERAGE);
        holds &= told.show_gate().passed.agrees(FALSE_PASS) && told.stopped == 0;
    }
    Ok(holds)
}

struct Bench<'a> {
    ours: &'a Path,
    size: &'a StudiesOptions,
    /// Contains study files and archives.
    directory: TempDir,
}

/// A completed study. Its archive is removed when the results have been read.
struct Performed {
    seed: u64,
    archive: PathBuf,
    comparisons: Comparisons,
    took: Duration,
}

impl Bench<'_> {
    /// Performs a study of two file systems, whose images are next to each other in memory. Decides
    /// a gate over the study with these requirements.
    fn identical(
        &self,
        memory: &MountedVolume,
        requirements: &[String],
        seed: u64,
    ) -> Result<Found> {
        let performed = self.perform_identical(memory, seed)?;
        self.found(performed, requirements, 1.0)
    }

    fn perform_identical(&self, memory: &MountedVolume, seed: u64) -> Result<Performed> {
        let made = format!("make:ext4?size=64MiB&in={}", memory.path().display());
        self.study(&[("a", &made), ("b", &made)], TRANSACTIONS, "", seed)
    }

    /// Performs a study that is not counted, to determine the noise. Returns requirements with the
    /// smallest of [`MARGINS`] for which, at this noise, the blocks of a study suffice, or with the
    /// greatest margin if the blocks suffice for none.
    fn requirements(&self, memory: &MountedVolume, seed: u64) -> Result<Vec<String>> {
        let first = self.perform_identical(memory, seed)?;
        let mut chosen = Vec::new();
        for (metric, is_at_least) in REQUIRED {
            let mut chosen_one = None;
            for margin in MARGINS {
                let requirement = match is_at_least {
                    true => format!("{metric} >= {:.2}", 1.0 - margin),
                    false => format!("{metric} <= {:.2}", 1.0 / (1.0 - margin)),
                };
                // Each gate of the counted studies decides two requirements, and therefore needs
                // more blocks than for one requirement. This gate also gets two requirements: the
                // same one twice.
                let gate =
                    self.gate(&first.archive, &[requirement.clone(), requirement.clone()])?;
                let needed = gate.and_then(|gate| gate.blocks_needed_to_pass);
                let is_enough = needed.is_some_and(|blocks| blocks <= self.size.blocks);
                chosen_one = Some(requirement);
                if is_enough {
                    break;
                }
            }
            chosen.extend(chosen_one);
        }
        std::fs::remove_file(&first.archive)?;
        println!(
            "gates over identical systems require, by a first study with seed {seed}: {}",
            chosen.join(", ")
        );
        Ok(chosen)
    }

    /// Performs a study of two FUSE file systems. The server of one of them sleeps longer before
    /// each creation.
    fn delayed(&self, seed: u64) -> Result<Found> {
        let [quick, slow] = DELAY_US.map(|us| {
            let delay = Delay {
                at: RequestKind::Create,
                by: Duration::from_micros(us),
            };
            MountedVolume::fuse_in_memory(faultfs::Options {
                delay: Some(delay),
                ..faultfs::Options::default()
            })
        });
        let (quick, slow) = (quick?, slow?);
        let at = |mounted: &MountedVolume| mounted.path().to_string_lossy().into_owned();
        let targets = [("quick", &*at(&quick)), ("slow", &*at(&slow))];
        let performed = self.study(&targets, TRANSACTIONS_DELAYED, "", seed)?;
        let records = records(&performed.archive)?;
        let creations: Metric = "create".parse()?;
        let (mut all, mut created) = (0.0, 0.0);
        for summary in side(&records, "slow") {
            all += Metric::Transactions.of(&summary).unwrap_or_default();
            created += creations.of(&summary).unwrap_or_default();
        }
        let slept = |mounted: &MountedVolume| {
            let delayed = mounted.delayed();
            delayed.slept.as_secs_f64() / delayed.requests.max(1) as f64
        };
        let more = (slept(&slow) - slept(&quick)) * created / all;
        let known = known_ratio(&records, "quick", more)?;
        self.found(performed, &[SLOWED_REQUIREMENT.to_owned()], known)
    }

    /// Performs a study of a tmpfs with two think times, [`THINK_US`].
    fn thinking(&self, seed: u64) -> Result<Found> {
        let mounted = MountedVolume::in_memory("tmpfs")?;
        let [think, longer] = THINK_US.map(|us| format!("{us}us"));
        let axis = format!("[axes]\nthink = [\"{think}\", \"{longer}\"]\n");
        let at = mounted.path().to_string_lossy().into_owned();
        let targets = [("tmpfs", at.as_str())];
        let performed = self.study(&targets, TRANSACTIONS_THINKING, &axis, seed)?;
        let more = f64::from(THINK_US[1] - THINK_US[0]) / 1e6;
        let known = known_ratio(
            &records(&performed.archive)?,
            &performed.comparisons.baseline,
            more,
        )?;
        self.found(performed, &[SLOWED_REQUIREMENT.to_owned()], known)
    }

    /// Performs a study. It does not wait for a quiet machine: a shared machine is never quiet, and
    /// a reliable study must cope with other load.
    fn study(
        &self,
        targets: &[(&str, &str)],
        transactions: u32,
        axes: &str,
        seed: u64,
    ) -> Result<Performed> {
        let blocks = self.size.blocks;
        let targets: Vec<String> = targets
            .iter()
            .map(|(name, at)| format!("{{ name = \"{name}\", at = \"{at}\" }}"))
            .collect();
        let text = format!(
            "name = \"bench\"\ntargets = [{}]\nblocks = {blocks}\norder-seed = {seed}\n\
             quiet-time = \"0s\"\n{WORK}transactions = {transactions}\n{axes}",
            targets.join(", ")
        );
        let file = self.directory.path().join("study.toml");
        std::fs::write(&file, text)?;
        let archive = self.directory.path().join(format!("{seed}.db"));
        let began = Instant::now();
        let mut command = Command::new(self.ours);
        command.args(["study", "--quiet", "--format", "json", "--archive"]);
        let text = output(command.arg(&archive).arg(&file))?;
        let took = began.elapsed();
        let tables: Vec<Comparisons> = serde_json::from_str(&text)?;
        let comparisons = tables.into_iter().next().ok_or("the study has no table")?;
        Ok(Performed {
            seed,
            archive,
            comparisons,
            took,
        })
    }

    /// Decides a gate over the study. `None` if the gate refuses because too many runs are INVALID.
    fn gate(&self, archive: &Path, requirements: &[String]) -> Result<Option<Gate>> {
        let mut command = Command::new(self.ours);
        command
            .args(["gate", "last", "--format", "json", "--archive"])
            .arg(archive);
        for requirement in requirements {
            command.args(["--require", requirement]);
        }
        let (text, status) = output_and_status(&mut command)?;
        if status.code() == Some(REFUSED) {
            return Ok(None);
        }
        let gate: Gate = serde_json::from_str(&text)
            .map_err(|error| format!("{command:?} ended with {status}: {error}"))?;
        if status.code() != Some(gate.decision.exit_status().into()) {
            return Err(format!(
                "{command:?} ended with {status}, and the gate {}",
                gate.decision.name()
            )
            .into());
        }
        Ok(Some(gate))
    }

    /// The results of a study. Removes the archive of the study.
    fn found(&self, performed: Performed, requirements: &[String], known: f64) -> Result<Found> {
        let gate = self.gate(&performed.archive, requirements)?;
        std::fs::remove_file(&performed.archive)?;
        let comparisons = &performed.comparisons;
        let row = comparisons
            .rows
            .first()
            .ok_or("the study has no comparison")?;
        Ok(Found {
            seed: performed.seed,
            estimate: row.estimate().copied(),
            known,
            is_doubtful: comparisons.is_doubtful,
            noise: comparisons
                .aa_controls
                .first()
                .and_then(|control| control.noise),
            gate,
            took: performed.took,
        })
    }
}

fn records(path: &Path) -> Result<Vec<Record>> {
    let archive = open(path, false)?;
    let listed = archive.list(&Filter::default())?;
    let numbers = listed.iter().filter_map(|run| run.number);
    Ok(numbers
        .map(|number| archive.record(number))
        .collect::<Result<_, _>>()?)
}

/// The runs of a configuration, including those of its A/A control.
fn side<'a>(records: &'a [Record], cell: &'a str) -> impl Iterator<Item = Summary> + 'a {
    let is_part =
        move |record: &&Record| record.study.as_ref().is_some_and(|part| part.cell == cell);
    records.iter().filter(is_part).map(Summary::of)
}

/// The known ratio of a candidate's rate to the baseline's, if each transaction takes `more`
/// seconds longer. For each baseline run, the ratio is its time per transaction divided by the same
/// time plus `more`. Returns the geometric mean of these ratios, because the intervals of a study
/// also refer to a geometric mean.
fn known_ratio(records: &[Record], baseline: &str, more: f64) -> Result<f64> {
    let rates = side(records, baseline).filter_map(|summary| Metric::Transactions.of(&summary));
    let logs: Vec<f64> = rates
        .map(|rate| (1.0 / rate / (1.0 / rate + more)).ln())
        .collect();
    if logs.is_empty() {
        return Err(format!("there are no runs of {baseline}").into());
    }
    Ok(study::statistics::mean(&logs).exp())
}
