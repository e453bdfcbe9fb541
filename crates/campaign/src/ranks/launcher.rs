//! What has started this process as one of several: mpirun, mpiexec or srun, as their environment
//! says.
//!
//! Nothing of MPI is touched here. A process that none of them has started, or that is the only one
//! of its job, is alone.

use std::fmt;
use std::time::Duration;

use crate::error::{Error, ErrorForm};

/// Which rank this process is, and of how many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launched {
    /// What has started it.
    pub launcher: Launcher,
    /// Its number, from 0.
    pub rank: u32,
    /// How many there are, at least 2.
    pub count: u32,
    /// How the launcher calls the job; nothing where it does not tell.
    pub job: Option<String>,
}

/// What starts ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launcher {
    /// Open MPI's mpirun.
    OpenMpi,
    /// A process manager that speaks PMI: MPICH's and Intel's mpiexec.
    Pmi,
    /// Slurm's srun.
    Slurm,
}

impl fmt::Display for Launcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OpenMpi => "mpirun",
            Self::Pmi => "mpiexec",
            Self::Slurm => "srun",
        })
    }
}

/// A rank that refuses waits so long for the first one, which says why: with the first that ends,
/// the launcher ends all.
const FIRST_SPEAKS_WITHIN: Duration = Duration::from_secs(1);

impl Launched {
    /// Of this process; nothing where it is alone.
    pub fn here() -> Option<Self> {
        Self::by(&|name| std::env::var(name).ok())
    }

    fn by(variable: &dyn Fn(&str) -> Option<String>) -> Option<Self> {
        let text = |name: &str| variable(name).filter(|value| !value.is_empty());
        let number = |name: &str| text(name)?.parse::<u32>().ok();
        let pair = |count: &str, rank: &str| Some((number(count)?, number(rank)?));
        let step = || text("SLURM_STEP_ID").or_else(|| text("SLURM_STEPID"));
        let of_open_mpi = || {
            let pair = pair("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK")?;
            Some((Launcher::OpenMpi, pair))
        };
        let of_pmi = || {
            let pair =
                pair("PMI_SIZE", "PMI_RANK").or_else(|| pair("MPI_LOCALNRANKS", "PMI_RANK"))?;
            // An srun that speaks PMI sets these as well.
            let is_slurm = text("SLURM_STEP_ID").is_some() && text("MPI_LOCALNRANKS").is_none();
            Some(match is_slurm {
                true => (Launcher::Slurm, pair),
                false => (Launcher::Pmi, pair),
            })
        };
        // A script of sbatch has SLURM_NTASKS, too, and is no step of the job.
        let of_slurm = || {
            step()?;
            let rank = number("SLURM_PROCID")?;
            let count = number("SLURM_STEP_NUM_TASKS").or_else(|| number("SLURM_NTASKS"))?;
            Some((Launcher::Slurm, (count, rank)))
        };
        // The inner launcher before the outer: mpirun may have been started in a step of Slurm.
        let found = of_open_mpi().or_else(of_pmi).or_else(of_slurm);
        let (launcher, (count, rank)) = found?;
        let slurm_job = || Some(format!("{}.{}", text("SLURM_JOB_ID")?, step()?));
        (count > 1).then(|| Self {
            launcher,
            rank,
            count,
            job: text("PMIX_NAMESPACE").or_else(slurm_job),
        })
    }

    /// Whether it is the first one, which alone speaks for all.
    pub fn is_first(&self) -> bool {
        self.rank == 0
    }

    /// Why no rank does anything: the first one says it, and the others wait for that.
    pub fn refuse(&self, why: Error) -> Error {
        match self.is_first() {
            true => why,
            false => {
                std::thread::sleep(FIRST_SPEAKS_WITHIN);
                why.shown(ErrorForm::Silent)
            }
        }
    }

    /// Refuses a command that is for one process.
    pub fn refuse_command(&self) -> Error {
        self.refuse(Error::refused(format_args!(
            "{} has started {} processes, and only 'postmark run' and 'postmark study' work in \
             several (start this command without {})",
            self.launcher, self.count, self.launcher
        )))
    }

    /// Why a program without MPI does nothing as a rank; nothing of one that has it.
    pub fn not_built(&self) -> Option<Error> {
        let why = format_args!(
            "{} has started {} processes, and this postmark was built without MPI: each would \
             perform a run of its own (use a postmark built with 'cargo build -p cli --features \
             mpi', or start one process)",
            self.launcher, self.count
        );
        (!cfg!(feature = "mpi")).then(|| Error::refused(why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launched(variables: &[(&str, &str)]) -> Option<(Launcher, u32, u32, Option<String>)> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let found = Launched::by(&variable)?;
        Some((found.launcher, found.rank, found.count, found.job))
    }

    #[test]
    fn every_launcher_is_known_by_what_it_sets() {
        let of_open_mpi = [
            ("OMPI_COMM_WORLD_SIZE", "4"),
            ("OMPI_COMM_WORLD_RANK", "2"),
            ("PMIX_NAMESPACE", "1234"),
            ("PMIX_RANK", "2"),
        ];
        let job = Some("1234".to_owned());
        assert_eq!(launched(&of_open_mpi), Some((Launcher::OpenMpi, 2, 4, job)));
        let of_hydra = [
            ("PMI_SIZE", "3"),
            ("PMI_RANK", "0"),
            ("MPI_LOCALNRANKS", "2"),
        ];
        assert_eq!(launched(&of_hydra), Some((Launcher::Pmi, 0, 3, None)));
        let of_srun = [
            ("SLURM_STEP_ID", "0"),
            ("SLURM_JOB_ID", "77"),
            ("SLURM_STEP_NUM_TASKS", "8"),
            ("SLURM_NTASKS", "16"),
            ("SLURM_PROCID", "5"),
        ];
        let job = Some("77.0".to_owned());
        assert_eq!(
            launched(&of_srun),
            Some((Launcher::Slurm, 5, 8, job.clone()))
        );
        let with_pmi = [&of_srun[..], &[("PMI_SIZE", "8"), ("PMI_RANK", "5")]].concat();
        assert_eq!(launched(&with_pmi), Some((Launcher::Slurm, 5, 8, job)));
        // mpirun in a step of Slurm, as its daemons are.
        let inner = [&of_srun[..], &of_open_mpi[..]].concat();
        assert_eq!(
            launched(&inner).map(|found| (found.1, found.2)),
            Some((2, 4))
        );
    }

    #[test]
    fn whoever_is_alone_is_no_rank() {
        for variables in [
            &[][..],
            &[("OMPI_COMM_WORLD_SIZE", "1"), ("OMPI_COMM_WORLD_RANK", "0")],
            &[("OMPI_COMM_WORLD_SIZE", "4")],
            &[("OMPI_COMM_WORLD_SIZE", ""), ("OMPI_COMM_WORLD_RANK", "")],
            // A script of sbatch.
            &[
                ("SLURM_NTASKS", "16"),
                ("SLURM_PROCID", "0"),
                ("SLURM_JOB_ID", "77"),
            ],
            // A shell of srun --pty.
            &[
                ("SLURM_STEP_ID", "0"),
                ("SLURM_STEP_NUM_TASKS", "1"),
                ("SLURM_PROCID", "0"),
            ],
        ] {
            assert_eq!(launched(variables), None, "{variables:?}");
        }
    }
}
