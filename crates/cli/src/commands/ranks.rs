//! The processes that a launcher has started, which perform one run together: this one joins them,
//! and knows what is the first one's alone. Rank 0 reads what the user wrote, reports and archives;
//! the others are told what to perform, and are silent but for what ends them.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use campaign::ErrorForm;
use campaign::parts::PartOf;
use document::sanitize;
use ranks::{CommunicationError, Ranks};
use runner::Observers;
use rustix::system::uname;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::commands::launcher::Launched;
use crate::commands::observed::{self, RankHost};
use crate::ui::problem::{Problem, complain, tell};
use crate::ui::signals::InRun;

/// A rank that gives no sign of life for so long is lost: with what follows, all ranks have ended
/// within 10 s.
#[cfg_attr(
    not(feature = "mpi"),
    allow(dead_code, reason = "without MPI nobody is joined")
)]
const LIFE_LIMIT: Duration = Duration::from_secs(8);

/// This process among those of its launcher.
#[derive(Debug)]
pub struct Joined {
    ranks: Ranks,
    /// How many of them perform the run, from the first on: the others observe.
    performing: u32,
    host: String,
    job: String,
}

/// What rank 0 tells the others in the place of what they wait for.
type Told<T> = Result<T, u8>;

impl Joined {
    /// Joins those that the launcher has started.
    ///
    /// # Errors
    /// Where this program cannot talk to them, or they are not those of the launcher.
    pub fn join(launched: &Launched) -> Result<Self, Problem> {
        let refused = |why: String| Problem::refused(why);
        let ranks = join(launched).map_err(refused)?;
        if (ranks.rank(), ranks.count()) != (launched.rank, launched.count) {
            return Err(refused(format!(
                "{} has started this process as rank {} of {}, and MPI says that it is rank {} of \
                 {} (use the launcher of the MPI that postmark was built with; with srun, \
                 --mpi=pmix or --mpi=pmi2)",
                launched.launcher,
                launched.rank,
                launched.count,
                ranks.rank(),
                ranks.count()
            )));
        }
        let host = uname().nodename().to_string_lossy().into_owned();
        // Two jobs of a launcher may have the same name on different days.
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let seconds = now.unwrap_or_default().as_secs();
        let job = launched.job.as_deref().unwrap_or("job");
        let job = format!("{job}-{seconds}-{}", std::process::id());
        let job = ranks
            .broadcast(Some(job))
            .map_err(|error| refused(error.to_string()))?;
        let joined = Self {
            performing: ranks.count(),
            ranks,
            host,
            job,
        };
        joined.when_lost(String::new());
        Ok(joined)
    }

    /// Says in one line why this rank ends as soon as another is lost, and where its part is. A
    /// later call replaces an earlier one.
    pub fn when_lost(&self, parts: String) {
        let (rank, host) = (self.rank(), self.host.clone());
        self.ranks.when_lost(move |why| {
            tell_as(rank, &host, format_args!("the run failed: {why}{parts}"))
        });
    }

    /// All ranks.
    pub fn ranks(&self) -> &Ranks {
        &self.ranks
    }

    /// Those that perform the run.
    pub fn performing_ranks(&self) -> Ranks {
        self.ranks.without_watching(self.performing)
    }

    /// How many perform the run.
    pub fn performing(&self) -> u32 {
        self.performing
    }

    /// Whether this one performs nothing, and observes.
    pub fn is_observer(&self) -> bool {
        self.rank() >= self.performing
    }

    /// Finds the ranks on the hosts that rank 0 was asked to observe.
    ///
    /// # Errors
    /// On all ranks: where there are none on one of the hosts, or they are not the last.
    pub fn observe(&mut self, asked: &[String]) -> Result<(), Problem> {
        let asked = self.ranks.broadcast(Some(asked.to_vec()));
        let asked: Vec<String> = asked.map_err(|error| self.lost(&error))?;
        if asked.is_empty() {
            return Ok(());
        }
        let names = observed::own_names(&self.host);
        let own = RankHost {
            host: self.host.clone(),
            named: asked
                .iter()
                .map(|host| observed::is_named(&names, host))
                .collect(),
        };
        let all = self.ranks.meet(vec![own], |mut all: Vec<RankHost>, more| {
            all.extend(more);
            all
        });
        let all = all.map_err(|error| self.lost(&error))?;
        let found = observed::performing(&asked, &all);
        self.performing = found.map_err(Problem::refused)?;
        Ok(())
    }

    /// Before the run, on all ranks: nothing where none observes.
    ///
    /// # Errors
    /// Where a rank is lost.
    pub fn begin_observing(&self) -> Result<Option<Observers>, Problem> {
        if self.performing == self.ranks.count() {
            return Ok(None);
        }
        let begun = Observers::begin(&self.ranks, self.performing);
        begun.map(Some).map_err(|error| self.lost(&error))
    }

    /// Observes until the others have performed the run. A signal ends it, as one to any of them
    /// does.
    ///
    /// # Errors
    /// Where a rank is lost.
    pub fn watch(&self, observers: Observers) -> Result<(), Problem> {
        let signals = InRun::begin().ok();
        let signal = signals.as_ref().map(InRun::caught).unwrap_or_default();
        observers.observe(signal).map_err(|error| self.lost(&error))
    }

    /// The number of this one.
    pub fn rank(&self) -> u32 {
        self.ranks.rank()
    }

    /// Whether this is the first one.
    pub fn is_first(&self) -> bool {
        self.ranks.rank() == 0
    }

    /// The name of a directory for the parts of this run.
    pub fn directory_name(&self) -> PathBuf {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-.".contains(letter);
        let job = self
            .job
            .chars()
            .map(|letter| if is_plain(letter) { letter } else { '-' });
        PathBuf::from(format!("postmark-parts-{}", job.collect::<String>()))
    }

    /// What rank 0 has, to all; where it failed, the others are told that it did, with its exit
    /// status.
    ///
    /// # Errors
    /// On rank 0 its own problem; on the others that it has one. On all where a rank is lost.
    pub fn of_first<T>(&self, own: impl FnOnce() -> Result<T, Problem>) -> Result<T, Problem>
    where
        T: Serialize + DeserializeOwned + Send + Clone + 'static,
    {
        if !self.is_first() {
            let told: Told<T> = self
                .ranks
                .broadcast(None)
                .map_err(|error| self.lost(&error))?;
            return told.map_err(|code| {
                Problem::with_code(code, "rank 0 ended the run").shown(ErrorForm::Silent)
            });
        }
        let own = own();
        let told: Told<T> = own
            .as_ref()
            .map(Clone::clone)
            .map_err(|problem| problem.code);
        let told = self
            .ranks
            .broadcast(Some(told))
            .map_err(|error| self.lost(&error));
        let own = own?;
        told.map(|_| own)
    }

    /// Whether a rank is lost.
    pub fn is_lost(&self) -> bool {
        self.ranks.lost().is_some()
    }

    /// Whose part this rank's is.
    pub fn part_of(&self) -> PartOf {
        PartOf {
            rank: self.rank(),
            ranks: self.performing,
            host: self.host.clone(),
            job: self.job.clone(),
        }
    }

    /// What every rank has, where all of them have it; else the first problem, on all ranks.
    ///
    /// # Errors
    /// The problem, or that a rank is lost.
    pub fn all<T>(&self, own: Result<T, String>) -> Result<T, Problem> {
        let why = own.as_ref().err();
        let why = why.map(|why| format!("rank {} ({}): {why}", self.rank(), self.host));
        let met = self
            .ranks
            .meet(why, |one: Option<String>, other| one.or(other));
        match (own, met) {
            (Ok(own), Ok(None)) => Ok(own),
            (_, Ok(Some(why))) | (Err(why), Ok(None)) => Err(Problem::refused(why)),
            (_, Err(error)) => Err(self.lost(&error)),
        }
    }

    /// The exit status of all ranks: that of rank 0, which all have the record of.
    pub fn agreed(&self, own: u8) -> u8 {
        self.ranks.broadcast(Some(own)).unwrap_or(FAILED)
    }

    /// A problem: a rank is lost.
    pub fn lost(&self, error: &CommunicationError) -> Problem {
        Problem::failed(error)
    }

    /// Ends what this rank does with others: waits for all, but where one is lost.
    pub fn leave(&self) {
        self.ranks.leave();
    }

    /// Says something that ends this rank.
    pub fn tell(&self, what: impl fmt::Display) {
        tell_as(self.rank(), &self.host, what);
    }
}

/// Rank 0 speaks for all; others say who they are.
fn tell_as(rank: u32, host: &str, what: impl fmt::Display) {
    let what = sanitize::shown(what);
    match rank {
        0 => tell(what),
        _ => complain(&format!(
            "rank {rank} ({}): {what}",
            sanitize::sanitize(host)
        )),
    }
}

/// The run has failed, or a rank of it.
pub const FAILED: u8 = 1;

/// Whether this program can join ranks.
pub const IS_BUILT: bool = cfg!(feature = "mpi");

/// MPI waits for all processes of the launcher without end; so long they have to start.
#[cfg(feature = "mpi")]
const START_LIMIT: Duration = Duration::from_secs(30);

#[cfg(feature = "mpi")]
fn join(launched: &Launched) -> Result<Ranks, String> {
    let (answer, answers) = std::sync::mpsc::channel();
    let join = move || {
        // Nobody may wait any more.
        let _ = answer.send(Ranks::join(LIFE_LIMIT, ::ranks::mpi::OverMpi::join));
    };
    let thread = std::thread::Builder::new()
        .name("join".to_owned())
        .spawn(join);
    thread.map_err(|error| format!("cannot start a thread for the ranks: {error}"))?;
    match answers.recv_timeout(START_LIMIT) {
        Ok(joined) => joined.map_err(|error| error.to_string()),
        Err(_) => Err(format!(
            "rank {} waited {} s for the other processes of {}: one of {} did not start, or is \
             not postmark (look at all hosts)",
            launched.rank,
            START_LIMIT.as_secs(),
            launched.launcher,
            launched.count
        )),
    }
}

#[cfg(not(feature = "mpi"))]
fn join(launched: &Launched) -> Result<Ranks, String> {
    Err(not_built(launched))
}

/// Why a program without MPI does nothing as a rank.
pub fn not_built(launched: &Launched) -> String {
    format!(
        "{} has started {} processes, and this postmark was built without MPI: each would perform \
         a run of its own (use a postmark built with 'cargo build -p cli --features mpi', or \
         start one process)",
        launched.launcher, launched.count
    )
}

/// Why a command that is neither a run nor a study does nothing as a rank.
pub fn only_runs(launched: &Launched) -> String {
    format!(
        "{} has started {} processes, and only 'postmark run' and 'postmark study' work in \
         several (start this command without {})",
        launched.launcher, launched.count, launched.launcher
    )
}
