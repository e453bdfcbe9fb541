//! Tests with a filter of system calls (seccomp) that forbids io_uring, as containers have.

use engine::{Engine, Need};
use engines::uring::Uring;
use testkit::Shows;

/// Makes io_uring_setup(2) fail with this error, for the calling thread only.
fn forbid_rings(errno: i32) {
    let step = |code: u32, jump_true: u8, jump_false: u8, k: u32| libc::sock_filter {
        code: code as u16,
        jt: jump_true,
        jf: jump_false,
        k,
    };
    // The number of the call is the first field of the data that a filter sees.
    let filter = [
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            0,
            1,
            libc::SYS_io_uring_setup as u32,
        ),
        step(
            libc::BPF_RET | libc::BPF_K,
            0,
            0,
            libc::SECCOMP_RET_ERRNO | errno as u32,
        ),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_ptr().cast_mut(),
    };
    // SAFETY: the filter outlives the calls, which affect only this thread.
    let set = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_SET_MODE_FILTER,
                0,
                &raw const program,
            ) == 0
    };
    assert!(set, "{}", std::io::Error::last_os_error());
}

#[test]
fn run_is_refused_where_a_filter_forbids_rings() {
    for (errno, reason) in [
        (libc::EPERM, "a security policy forbids io_uring"),
        (libc::ENOSYS, "this kernel has no io_uring"),
    ] {
        let refused = std::thread::spawn(move || {
            forbid_rings(errno);
            Uring::new(8).supports(&Need::default())
        });
        let said = refused.join().unwrap().unwrap_err().to_string();
        said.shows("--engine uring cannot open a ring: ");
        said.shows(reason);
        said.shows("use --engine posix");
    }
}
