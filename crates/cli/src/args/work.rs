//! The arguments for the workload and its target, shared by several commands.

use std::path::PathBuf;

use campaign::run_spec::RunRequest;
use clap::{ArgMatches, Args};
use spec::{Invocation, Options, TargetOption};

/// The workload and its target. Options override a configuration file, and a file overrides a
/// preset.
#[derive(Debug, Args)]
pub struct WorkArguments {
    /// Start from a preset; 'postmark presets' lists them.
    ///
    /// A preset is the same workload on every machine. A name like mail is its newest version;
    /// mail-1 is version 1. Other options override its values; --scale multiplies its files.
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// Read options from a configuration file in TOML.
    ///
    /// Its keys are the names of the options; the command line overrides them. Tables named
    /// 'phase' divide the transactions into phases, each with its own mix or walk, end, rate and
    /// cache.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Repeat an earlier run. Other options override its values.
    ///
    /// RUN is one of these:
    ///   12            its number in the archive
    ///   0a1b          at least four digits of its identity
    ///   last          the last run
    ///   result.json   a file written by run --format json
    ///   or -          standard input
    ///
    /// --target and --ack-log are not repeated: give them again.
    #[arg(long, value_name = "RUN", verbatim_doc_comment, conflicts_with_all = ["preset",
        "config"])]
    pub like: Option<PathBuf>,
    /// Archive that contains the run of `--like`. The command that uses these arguments sets it.
    #[arg(skip)]
    pub like_in: Option<PathBuf>,
    /// Facts about the run from the command's own options.
    #[arg(skip)]
    pub invocation: Invocation,
    #[command(flatten)]
    pub options: Options,
    /// Directory or URL of a server [default: .].
    ///
    /// The URL of an NFS server is like nfs://server/export. The default is the working directory.
    ///
    /// Repeat the option to spread one pool over several directories. A URL takes the parameters
    /// uid, gid, mountport, nconnect, privport and timeout, like
    /// 'nfs://server:2049/export?nconnect=4'. Object storage is like
    /// 's3://bucket/prefix?endpoint=http://host:9000' ('postmark help s3').
    #[arg(short, long, value_name = "PATH")]
    pub target: Vec<PathBuf>,
    /// Share of files of the --target before it [default: 1].
    ///
    /// Shares are relative to those of the other targets.
    #[arg(long, value_name = "N", value_parser = weight)]
    pub weight: Vec<u32>,
    /// Targets with their weights, which `complete` pairs. An error if a `--weight` does not
    /// follow a `--target`.
    #[arg(skip = Ok(Vec::new()))]
    pub locations: Result<Vec<TargetOption>, String>,
}

fn weight(text: &str) -> Result<u32, &'static str> {
    text.trim()
        .parse()
        .map_err(|_| "expected a whole number from 1 to 4294967295")
}

impl WorkArguments {
    pub fn request(&self) -> RunRequest {
        RunRequest {
            preset: self.preset.clone(),
            config: self.config.clone(),
            like: self.like.clone(),
            like_in: self.like_in.clone(),
            invocation: self.invocation.clone(),
            options: self.options.clone(),
            locations: self.locations.clone(),
            has_weights: !self.weight.is_empty(),
        }
    }

    /// Completes values that depend on several options: weights of targets, and options that are on
    /// or off.
    pub fn complete(&mut self, matches: &ArgMatches) {
        self.options.take_switches(matches);
        self.take_weights(matches);
    }

    /// Pairs each `--weight` with the `--target` before it, by their positions on the command line.
    fn take_weights(&mut self, matches: &ArgMatches) {
        let places = |id: &str| -> Vec<usize> {
            matches
                .indices_of(id)
                .map(Iterator::collect)
                .unwrap_or_default()
        };
        let targets = places("target");
        let mut locations: Vec<TargetOption> = self
            .target
            .iter()
            .map(|path| TargetOption {
                path: path.clone(),
                weight: 1,
            })
            .collect();
        let mut taken = vec![false; locations.len()];
        for (weight, place) in self.weight.iter().zip(places("weight")) {
            match targets
                .iter()
                .rposition(|target| *target < place)
                .filter(|index| !taken[*index])
            {
                Some(index) => {
                    locations[index].weight = *weight;
                    taken[index] = true;
                }
                None => {
                    self.locations = Err(format!(
                        "--weight {weight} must follow a --target of its own (write --target PATH \
                         --weight {weight})"
                    ));
                    return;
                }
            }
        }
        self.locations = Ok(locations);
    }
}
