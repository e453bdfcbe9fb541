//! The processes, called ranks, that a launcher started to perform one run together. Rank 0 reads
//! the user's input, reports and archives. Each other rank receives its run spec from rank 0, and
//! prints only the reason if it ends early.

mod hosts;
mod launcher;

use std::fmt::Display;
use std::path::PathBuf;
use std::time::Duration;

use ::ranks::{Connect, Ranks};
use document::sanitize;
use runner::Observers;
use rustix::system::uname;
use serde::Serialize;
use serde::de::DeserializeOwned;
use system::FindServerCalls;

use crate::error::{Error, ErrorForm};
use crate::parts::PartOf;
use crate::user::User;
use hosts::RankHost;
pub use launcher::Launched;

/// The connection of this process to the other processes that its launcher started.
#[derive(Debug)]
pub struct Joined {
    ranks: Ranks,
    /// Number of ranks that perform the run: those with the lowest numbers. The remaining ranks
    /// (observers) only read the counters of their hosts.
    performing: u32,
    host: String,
    job: String,
    user: User,
}

impl Joined {
    /// Connects this process to the other processes that the launcher started.
    ///
    /// # Errors
    /// Returns an error if the connection fails, or if MPI reports other ranks than the launcher.
    pub fn join(launched: &Launched, connect: Connect, user: User) -> Result<Self, Error> {
        let ranks = join(launched, connect)?;
        if (ranks.rank(), ranks.count()) != (launched.rank, launched.count) {
            return Err(Error::refused(format_args!(
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
        // A launcher may reuse job names on another day, so the time is added.
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let seconds = now.unwrap_or_default().as_secs();
        let job = launched.job.as_deref().unwrap_or("job");
        let job = format!("{job}-{seconds}-{}", std::process::id());
        let joined = Self {
            performing: ranks.count(),
            job: ranks.broadcast(Some(job)).map_err(Error::refused)?,
            ranks,
            host: uname().nodename().to_string_lossy().into_owned(),
            user,
        };
        joined.when_lost(String::new());
        Ok(joined)
    }

    /// Sets the message that this rank shows when it ends because another rank is lost. The message
    /// contains the reason and the text `parts`, which names the directory with the rank files. A
    /// later call replaces the text.
    pub fn when_lost(&self, parts: String) {
        let (user, who) = (self.user, self.who());
        self.ranks.when_lost(move |why| {
            let why = sanitize::shown(why);
            user.tell(format_args!("{who}the run failed: {why}{parts}"));
        });
    }

    /// Returns the prefix of messages: empty for rank 0, which reports for all ranks.
    fn who(&self) -> String {
        match self.rank() {
            0 => String::new(),
            rank => format!("rank {rank} ({}): ", sanitize::sanitize(&self.host)),
        }
    }

    /// Returns all ranks, including those that observe.
    pub fn ranks(&self) -> &Ranks {
        &self.ranks
    }

    pub fn performing_ranks(&self) -> Ranks {
        self.ranks.without_watching(self.performing)
    }

    pub fn performing(&self) -> u32 {
        self.performing
    }

    /// Whether this rank performs no operations, and only reads the counters of its host.
    pub fn is_observer(&self) -> bool {
        self.rank() >= self.performing
    }

    /// Determines which ranks observe: those on the hosts that were requested on rank 0.
    ///
    /// # Errors
    /// Returns an error on all ranks if a requested host has no rank, or if no rank remains to
    /// perform the run. Also returns an error if an observer is followed by a rank that performs
    /// the run.
    pub fn observe(&mut self, asked: &[String]) -> Result<(), Error> {
        let asked = self.ranks.broadcast(Some(asked.to_vec()));
        let asked: Vec<String> = asked.map_err(Error::failed)?;
        if asked.is_empty() {
            return Ok(());
        }
        let names = hosts::own_names(&self.host);
        let own = RankHost {
            host: self.host.clone(),
            named: asked
                .iter()
                .map(|host| hosts::is_named(&names, host))
                .collect(),
        };
        let all = self.ranks.meet(vec![own], |mut all: Vec<RankHost>, more| {
            all.extend(more);
            all
        });
        let all = all.map_err(Error::failed)?;
        let found = hosts::performing(&asked, &all);
        self.performing = found.map_err(Error::refused)?;
        Ok(())
    }

    /// Starts the observers before the run, on all ranks. Returns `None` if no rank observes. If
    /// `find_ganesha` finds an NFS-Ganesha server, observers also read the server's counts of
    /// calls.
    ///
    /// # Errors
    /// Returns an error if a rank is lost.
    pub fn begin_observing(
        &self,
        find_ganesha: Option<FindServerCalls>,
    ) -> Result<Option<Observers>, Error> {
        if self.performing == self.ranks.count() {
            return Ok(None);
        }
        let begun = Observers::begin(&self.ranks, self.performing, find_ganesha);
        begun.map(Some).map_err(Error::failed)
    }

    pub fn rank(&self) -> u32 {
        self.ranks.rank()
    }

    /// Whether this is rank 0, which reports for all ranks.
    pub fn is_first(&self) -> bool {
        self.ranks.rank() == 0
    }

    /// Returns a directory name that is unique to this job, for the rank files of the run.
    pub fn directory_name(&self) -> PathBuf {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-.".contains(letter);
        let job = self
            .job
            .chars()
            .map(|letter| if is_plain(letter) { letter } else { '-' });
        PathBuf::from(format!("postmark-parts-{}", job.collect::<String>()))
    }

    /// Broadcasts the result of rank 0. If rank 0 failed, the other ranks return an error with its
    /// exit status.
    ///
    /// # Errors
    /// Returns an error on all ranks if rank 0 failed or if a rank is lost. Only rank 0 shows its
    /// own error.
    pub fn of_first<T>(&self, own: impl FnOnce() -> Result<T, Error>) -> Result<T, Error>
    where
        T: Serialize + DeserializeOwned + Send + Clone + 'static,
    {
        if !self.is_first() {
            let told: Result<T, u8> = self.ranks.broadcast(None).map_err(Error::failed)?;
            return told.map_err(|code| {
                Error::with_code(code, "rank 0 ended the run").shown(ErrorForm::Silent)
            });
        }
        let own = own();
        let told: Result<T, u8> = own.as_ref().map(Clone::clone).map_err(|error| error.code);
        let told = self.ranks.broadcast(Some(told)).map_err(Error::failed);
        let own = own?;
        told.map(|_| own)
    }

    /// Whether communication with the other ranks has failed, usually because a rank was lost.
    pub fn is_lost(&self) -> bool {
        self.ranks.lost().is_some()
    }

    /// Returns the identification that the file of this rank begins with.
    pub fn part_of(&self) -> PartOf {
        PartOf {
            rank: self.rank(),
            ranks: self.performing,
            host: self.host.clone(),
            job: self.job.clone(),
        }
    }

    /// Checks that all ranks succeeded. Otherwise, all ranks return the problem of the first failed
    /// rank.
    ///
    /// # Errors
    /// Returns the problem, or an error if a rank is lost.
    pub fn all<T>(&self, own: Result<T, String>) -> Result<T, Error> {
        let why = own.as_ref().err();
        let why = why.map(|why| format!("rank {} ({}): {why}", self.rank(), self.host));
        let met = self
            .ranks
            .meet(why, |one: Option<String>, other| one.or(other));
        match (own, met) {
            (Ok(own), Ok(None)) => Ok(own),
            (_, Ok(Some(why))) | (Err(why), Ok(None)) => Err(Error::refused(why)),
            (_, Err(error)) => Err(Error::failed(error)),
        }
    }

    /// Broadcasts the exit status of rank 0, which knows the outcomes of all ranks.
    pub fn agreed(&self, own: u8) -> u8 {
        self.ranks.broadcast(Some(own)).unwrap_or(FAILED)
    }

    /// Shows the message with which this rank ends.
    pub fn tell(&self, what: impl Display) {
        self.user.tell(format_args!("{}{what}", self.who()));
    }
}

/// Exit status if the run or one of its ranks failed.
pub const FAILED: u8 = 1;

fn join(launched: &Launched, connect: Connect) -> Result<Ranks, Error> {
    /// A rank that sends no heartbeat for this long counts as lost. The limit is short enough for
    /// all other ranks to end within 10 s.
    const LIFE_LIMIT: Duration = Duration::from_secs(8);
    /// Time limit for the start of all processes. MPI itself waits without a limit.
    const START_LIMIT: Duration = Duration::from_secs(30);
    let (answer, answers) = std::sync::mpsc::channel();
    let join = move || {
        // The receiver may have stopped waiting, so the error is ignored.
        let _ = answer.send(connect(LIFE_LIMIT));
    };
    let thread = std::thread::Builder::new()
        .name("join".to_owned())
        .spawn(join);
    thread.map_err(|error| {
        Error::refused(format_args!("cannot start a thread for the ranks: {error}"))
    })?;
    match answers.recv_timeout(START_LIMIT) {
        Ok(joined) => joined.map_err(Error::refused),
        Err(_) => Err(Error::refused(format_args!(
            "rank {} waited {} s for the other processes of {}: one of {} did not start, or is \
             not postmark (look at all hosts)",
            launched.rank,
            START_LIMIT.as_secs(),
            launched.launcher,
            launched.count
        ))),
    }
}
