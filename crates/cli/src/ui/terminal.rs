//! Detects whether a stream is a terminal that a user reads, and whether it supports escape
//! sequences.

use std::io::IsTerminal;

/// Whether a stream is a terminal that a user reads. Returns false if a launcher of ranks started
/// the process: Open MPI's mpirun gives each rank a pseudo-terminal even if the output is
/// redirected.
pub fn is_users(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && !is_launched(&|name| std::env::var_os(name).is_some())
}

/// Whether standard output may have colours: a user reads it on a terminal, or CLICOLOR_FORCE
/// requests colours.
pub fn may_have_colour() -> bool {
    is_users(&std::io::stdout())
        || std::env::var_os("CLICOLOR_FORCE").is_some_and(|value| value != "0")
}

/// Whether the terminal that TERM names supports escape sequences.
pub fn obeys_escapes() -> bool {
    std::env::var("TERM").is_ok_and(|name| !name.is_empty() && name != "dumb")
}

/// Whether a launcher of ranks started this process, even as the only rank. A process of Slurm does
/// not count: Slurm gives it a terminal only if the user requests one (`srun --pty`). Open MPI
/// counts even within Slurm, because its mpirun always creates a pseudo-terminal.
fn is_launched(has: &dyn Fn(&str) -> bool) -> bool {
    let is_slurm = has("SLURM_STEP_ID") || has("SLURM_STEPID");
    has("OMPI_COMM_WORLD_SIZE")
        || !is_slurm && (has("PMI_SIZE") || has("PMI_RANK") || has("PMIX_RANK"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pseudo_terminal_of_a_launcher_is_not_a_users_terminal() {
        for (names, expected) in [
            (&[][..], false),
            (&["OMPI_COMM_WORLD_SIZE", "PMIX_RANK"], true),
            (&["PMI_SIZE", "PMI_RANK"], true),
            (&["PMIX_RANK"], true),
            (&["SLURM_STEP_ID", "PMIX_RANK"], false),
            (&["SLURM_STEP_ID", "OMPI_COMM_WORLD_SIZE"], true),
        ] {
            assert_eq!(
                is_launched(&|name| names.contains(&name)),
                expected,
                "{names:?}"
            );
        }
    }
}
