//! Ranks over MPI: the processes that mpirun or srun has started.
//!
//! A build without the feature `mpi` needs no MPI. The feature changes this crate and the command
//! line only, so that builds with and without the feature share all other crates.

#[cfg(feature = "mpi")]
mod over_mpi;

#[cfg(feature = "mpi")]
pub use over_mpi::OverMpi;

/// Connects this process with the other processes of its launcher; `None` in a build without MPI.
#[cfg(feature = "mpi")]
pub const CONNECT: Option<ranks::Connect> = Some(|limit| ranks::Ranks::join(limit, OverMpi::join));
/// Connects this process with the other processes of its launcher; `None` in a build without MPI.
#[cfg(not(feature = "mpi"))]
pub const CONNECT: Option<ranks::Connect> = None;
