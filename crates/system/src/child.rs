//! Processor time and memory of a child process.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug)]
pub struct ChildCost {
    pub status: ExitStatus,
    /// Wall time from the call of [`wait`] to the child's end. Call `wait` right after starting the
    /// child.
    pub wall: Duration,
    /// Processor time in user mode. The kernel may count it in ticks.
    pub user: Duration,
    /// Processor time in the kernel on behalf of the child.
    pub system: Duration,
    /// Peak resident memory, in bytes.
    pub memory_bytes: u64,
}

/// Waits for a child and returns its resource use.
///
/// # Errors
/// Returns the error of wait4(2).
pub fn wait(child: Child) -> io::Result<ChildCost> {
    let began = Instant::now();
    let mut status = 0;
    // SAFETY: a `struct rusage` holds integers only, so zeroes are valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    let process = i32::try_from(child.id()).map_err(io::Error::other)?;
    loop {
        // SAFETY: both pointers are valid for the call and have the types that wait4(2) expects.
        // This function owns the child, so no other code waits for it.
        let answer = unsafe { libc::wait4(process, &mut status, 0, &mut usage) };
        if answer == process {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    let duration = |time: libc::timeval| {
        Duration::from_micros(time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64)
    };
    Ok(ChildCost {
        status: ExitStatus::from_raw(status),
        wall: began.elapsed(),
        user: duration(usage.ru_utime),
        system: duration(usage.ru_stime),
        memory_bytes: usage.ru_maxrss as u64 * 1024,
    })
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn computing_child_uses_user_time() {
        let script = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; exit 3";
        let child = Command::new("sh").args(["-c", script]).spawn().unwrap();
        let cost = wait(child).unwrap();
        assert_eq!(cost.status.code(), Some(3));
        assert!(
            cost.memory_bytes > 100_000 && cost.memory_bytes < 1 << 30,
            "{cost:?}"
        );
        assert!(
            cost.user > Duration::ZERO && cost.user <= cost.wall + Duration::from_millis(50),
            "{cost:?}"
        );
    }
}
