//! The arguments of `run` that repeat the run.

use clap::Args;
use spec::Time;
use study::statistics::BLOCKS_MAX;

#[derive(Debug, Args)]
pub struct RepeatArguments {
    /// Perform this number of runs, and report their mean.
    ///
    /// The report contains mean, standard deviation and 95 % interval of the rate and of each
    /// operation's p99. Every run issues the same operations on new files. All runs are archived as
    /// a study of one configuration; 'postmark study --resume' continues one that did not end. With
    /// --until, this is the maximum number of runs [default: 100].
    #[arg(long, value_name = "N",
        value_parser = clap::value_parser!(u32).range(2..=i64::from(BLOCKS_MAX)))]
    pub repeat: Option<u32>,
    /// Repeat the run until its interval is this narrow.
    ///
    /// The 95 % interval of the rate then deviates from the mean by at most this percentage. At
    /// least 10 runs are performed; --repeat limits their number. The repetition ends early if the
    /// first 5 runs are all INVALID, or more than half of 10 or more runs.
    #[arg(long, value_name = "P%")]
    pub until: Option<String>,
    /// With --repeat: longest wait for quiet [default: 10s].
    ///
    /// With --repeat or --until, each run begins when the machine is quiet, and after this wait at
    /// the latest; 0s is no wait.
    #[arg(long, value_name = "TIME")]
    pub quiet_time: Option<Time>,
}

impl RepeatArguments {
    /// Whether more than one run is requested.
    pub const fn is_given(&self) -> bool {
        self.repeat.is_some() || self.until.is_some()
    }
}
