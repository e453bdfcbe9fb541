//! The arguments of `crash`.

use std::path::PathBuf;

use campaign::crash::{Aim, Survivors};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Command};
use document::Format;
use spec::Time;

use super::{ArchiveArgument, RemarkArguments, WorkArguments, format};

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 if no round lost an acknowledged operation; 1 if one did, or if a \
                  run, a command or the verification failed; 2 if the rounds were refused; 130 or \
                  143 if a signal ended them. --resume or 'postmark clean' removes the files of a \
                  killed command.

Examples:
  postmark crash --preset varmail --durability fsync+dir --rounds 200 \\
      -t /mnt/my --kill-server /run/my.pid --restore ./start.sh
  postmark crash --preset varmail --durability fsync+dir --rounds 20 \\
      -t /mnt/disk --crash ./power-off --restore ./power-on
  postmark crash --preset varmail --durability fsync+dir --rounds 200 \\
      -t /mnt/any --crash forget
  postmark crash --resume /var/tmp/ack.rounds"
)]
pub struct CrashArguments {
    #[command(flatten)]
    pub work: WorkArguments,
    /// Number of crashes [default: 20].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(
        1..=i64::from(campaign::crash::ROUNDS_MAX)))]
    pub rounds: Option<u32>,
    /// Command that crashes the target, or forget [default: kill].
    ///
    /// 'sh -c' executes the command; $POSTMARK_ROUND is the round, $POSTMARK_TARGET the target. The
    /// run is stopped before the command and killed after it. Five words have another meaning.
    ///
    /// kill: kills only the run; the system goes on, so this shows nothing about durability.
    ///
    /// forget: mounts a file system in memory over the target, which loses at a crash what was not
    /// synced: data, sizes and names. This tests the durability policy of the run. Needs root and a
    /// build with the feature forget.
    ///
    /// forget:BUG: the same with a planted bug, to show that the rounds can fail:
    /// no-directory-sync, rename-before-data, early-sync, size-without-data or journal-twice.
    ///
    /// flakey:NAME: lets the dm-flakey device NAME, which is mounted at the target, lose all
    /// writes; then mounts it again. Needs root and the device mapper.
    ///
    /// log-writes:NAME: cuts the power of the dm-log-writes device NAME, which is mounted at the
    /// target: its disk keeps only what was flushed. The device must have been made on a blank
    /// disk. Needs root and the device mapper.
    #[arg(long, value_name = "COMMAND")]
    pub crash: Option<String>,
    /// Moment of the crash, after its time has passed.
    ///
    /// time: at once. acknowledgement: as soon as the log contains another acknowledgement. With
    /// forget also sync, rename and directory-sync: in the middle of the next such request; and
    /// mixed: one of all these for each round, which --seed determines. A round whose moment does
    /// not come within 3 s crashes without it [default: mixed with forget, otherwise time].
    #[arg(long, value_name = "MOMENT", value_parser = one_of_moments())]
    pub aim: Option<Aim>,
    /// Crash by SIGKILL to the process in this file.
    ///
    /// The file contains the process number of a server. --restore must start the server and write
    /// the new number.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "crash",
        requires = "restore"
    )]
    pub kill_server: Option<PathBuf>,
    /// Command that restores the target.
    ///
    /// It must return only when the target can be used: the file system is mounted, or the server
    /// answers.
    #[arg(long, value_name = "COMMAND")]
    pub restore: Option<String>,
    /// Time limit of --restore [default: 60s].
    #[arg(long, value_name = "TIME")]
    pub restore_timeout: Option<Time>,
    /// Longest time until the crash [default: 2s].
    ///
    /// The time is counted from the end of the preparation. --seed determines the time of each
    /// round.
    #[arg(long, value_name = "TIME")]
    pub crash_within: Option<Time>,
    /// Files of a round after its verification [default: remove].
    ///
    /// remove: they are removed, and the next run makes a new pool. continue: the pool is repaired
    /// (operations in flight are completed, and losses are undone), and the next run continues on
    /// it; each crash must keep the files of all earlier rounds. It needs a mix of operations on
    /// files, private pools, and a mounted file system.
    #[arg(long, value_name = "WORD", value_parser = one_of_survivors())]
    pub survivors: Option<Survivors>,
    /// Continue rounds that did not end.
    ///
    /// FILE is the acknowledgement log of the rounds with the ending .rounds. All other options are
    /// those of the earlier command.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["rounds", "crash", "aim", "kill_server",
        "restore", "restore_timeout", "crash_within", "survivors", "preset", "config", "like",
        "target", "weight", "no_space_check", "allow_unsafe_target"])]
    pub resume: Option<PathBuf>,
    /// Run on a target without enough free space.
    #[arg(long)]
    pub no_space_check: bool,
    /// Let root use targets that other users can replace.
    ///
    /// As root, the runs keep root's rights in a target that other users can rename or replace
    /// (unsafe).
    #[arg(long)]
    pub allow_unsafe_target: bool,
    /// Format of the result.
    #[arg(long, value_parser = format::one_of(format::CRASH), default_value = "text")]
    pub format: Format,
    #[command(flatten)]
    pub archive: ArchiveArgument,
    #[command(flatten)]
    pub remarks: RemarkArguments,
    /// Do not show the result of each round.
    #[arg(short, long)]
    pub quiet: bool,
}

fn one_of_survivors() -> impl TypedValueParser<Value = Survivors> {
    PossibleValuesParser::new(Survivors::ALL.map(Survivors::name)).try_map(|name| {
        let mut all = Survivors::ALL.into_iter();
        all.find(|one| one.name() == name).ok_or("unknown word")
    })
}

fn one_of_moments() -> impl TypedValueParser<Value = Aim> {
    PossibleValuesParser::new(Aim::ALL.map(Aim::name)).try_map(|name| {
        let mut all = Aim::ALL.into_iter();
        all.find(|aim| aim.name() == name).ok_or("unknown moment")
    })
}

/// Options of runs that a round cannot have.
const NOT_OF_ROUNDS: [&str; 11] = [
    "weight",
    "sweep",
    "slo",
    "fresh",
    "no-fresh",
    "keep",
    "no-keep",
    "reuse",
    "no-reuse",
    "ranks",
    "neighbour",
];

/// Adapts the help of the options of runs to rounds.
pub fn for_rounds(command: Command) -> Command {
    command
        .mut_args(|arg| {
            let name = arg.get_long().unwrap_or_default();
            let is_hidden = NOT_OF_ROUNDS.contains(&name);
            arg.hide(is_hidden)
        })
        .mut_arg("ack_log", |arg| {
            arg.help("Path of the acknowledgement logs").long_help(
                "Path of the acknowledgement logs.\n\nThe log of round 1 is FILE.1. It is removed \
                 unless the round shows a loss. FILE.rounds is the state for --resume. The files \
                 must lie on another file system than the target [default: a new name beside the \
                 archive].",
            )
        })
}
