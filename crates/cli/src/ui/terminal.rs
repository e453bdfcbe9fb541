//! Whether a stream is a terminal of the user's, which obeys escape sequences and has a width.

use std::io::IsTerminal;

/// Whether somebody sees what is written to a stream. Open MPI's mpirun gives a rank a
/// pseudo-terminal whatever becomes of its output, and so may other launchers.
pub fn is_users(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && !is_launched(&|name| std::env::var_os(name).is_some())
}

/// Whether standard output is a terminal of the user's, or the user asks for colours wherever it
/// goes.
pub fn may_have_colour() -> bool {
    is_users(&std::io::stdout())
        || std::env::var_os("CLICOLOR_FORCE").is_some_and(|value| value != "0")
}

/// Whether a terminal obeys escape sequences, as its name says.
pub fn obeys_escapes() -> bool {
    std::env::var("TERM").is_ok_and(|name| !name.is_empty() && name != "dumb")
}

/// Whether a launcher of ranks has started this process, also as the only one. A step of Slurm has
/// a terminal where the user asked for one (`srun --pty`).
fn is_launched(has: &dyn Fn(&str) -> bool) -> bool {
    let is_slurm = has("SLURM_STEP_ID") || has("SLURM_STEPID");
    has("OMPI_COMM_WORLD_SIZE")
        || !is_slurm && (has("PMI_SIZE") || has("PMI_RANK") || has("PMIX_RANK"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launchers_terminal_is_nobodys() {
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
