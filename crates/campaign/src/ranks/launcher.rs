//! Detects from the environment variables whether mpirun, mpiexec or srun started this process
//! together with others.
//!
//! The detection uses no MPI call. A process without a launcher, or the only process of its job, is
//! not a rank.

use std::fmt;
use std::time::Duration;

use crate::error::{Error, ErrorForm};

/// The rank that a launcher assigned to this process, and the number of ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launched {
    pub launcher: Launcher,
    /// Number of the rank, from 0.
    pub rank: u32,
    /// Number of ranks: at least 2.
    pub count: u32,
    /// The launcher's name of the job; `None` if not available.
    pub job: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launcher {
    /// Open MPI's mpirun.
    OpenMpi,
    /// A process manager with PMI: mpiexec of MPICH or Intel MPI.
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

/// Time for which the other ranks wait after a refusal, so that rank 0 can show the reason. Without
/// this wait, the launcher could end rank 0 first, because it ends all ranks as soon as one rank
/// ends.
const FIRST_SPEAKS_WITHIN: Duration = Duration::from_secs(1);

impl Launched {
    /// Returns the rank of this process; `None` if a launcher did not start it together with
    /// others.
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
            // An srun with PMI sets the same variables as mpiexec.
            let is_slurm = text("SLURM_STEP_ID").is_some() && text("MPI_LOCALNRANKS").is_none();
            Some(match is_slurm {
                true => (Launcher::Slurm, pair),
                false => (Launcher::Pmi, pair),
            })
        };
        // A batch script of sbatch also has the variable SLURM_NTASKS, but is not a step of the
        // job.
        let of_slurm = || {
            step()?;
            let rank = number("SLURM_PROCID")?;
            let count = number("SLURM_STEP_NUM_TASKS").or_else(|| number("SLURM_NTASKS"))?;
            Some((Launcher::Slurm, (count, rank)))
        };
        // An inner launcher is checked before an outer one, because mpirun may be started in a step
        // of Slurm.
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

    /// Whether this is rank 0, which reports for all ranks.
    pub fn is_first(&self) -> bool {
        self.rank == 0
    }

    /// Returns the error for all ranks. Only rank 0 shows the error. The other ranks wait before
    /// they end, so that rank 0 has time to show the error.
    pub fn refuse(&self, why: Error) -> Error {
        match self.is_first() {
            true => why,
            false => {
                std::thread::sleep(FIRST_SPEAKS_WITHIN);
                why.shown(ErrorForm::Silent)
            }
        }
    }

    /// Returns the error for a command that must not be started as several processes.
    pub fn refuse_command(&self) -> Error {
        self.refuse(Error::refused(format_args!(
            "{} has started {} processes, and only 'postmark run' and 'postmark study' work in \
             several (start this command without {})",
            self.launcher, self.count, self.launcher
        )))
    }

    /// Returns the error for a rank of a program that was built without MPI.
    pub fn refuse_without_mpi(&self) -> Error {
        self.refuse(Error::refused(format_args!(
            "{} has started {} processes, and this postmark was built without MPI: each would \
             perform a run of its own (use a postmark built with 'cargo build -p cli --features \
             mpi', or start one process)",
            self.launcher, self.count
        )))
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
    fn launcher_is_detected_by_its_environment_variables() {
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
        // mpirun in a step of Slurm: the variables of mpirun, the inner launcher, take precedence.
        let inner = [&of_srun[..], &of_open_mpi[..]].concat();
        assert_eq!(
            launched(&inner).map(|found| (found.1, found.2)),
            Some((2, 4))
        );
    }

    #[test]
    fn single_process_is_not_a_rank() {
        for variables in [
            &[][..],
            &[("OMPI_COMM_WORLD_SIZE", "1"), ("OMPI_COMM_WORLD_RANK", "0")],
            &[("OMPI_COMM_WORLD_SIZE", "4")],
            &[("OMPI_COMM_WORLD_SIZE", ""), ("OMPI_COMM_WORLD_RANK", "")],
            // The variables in a batch script of sbatch.
            &[
                ("SLURM_NTASKS", "16"),
                ("SLURM_PROCID", "0"),
                ("SLURM_JOB_ID", "77"),
            ],
            // The variables in a shell of srun --pty.
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
