//! Advice on system errors, for the messages of a run.

/// Returns the error text, followed by advice for the user.
pub(crate) fn told(errno: engine::Errno) -> String {
    format!("{errno}{}", for_errno(Some(errno.raw_os_error())))
}

/// Returns advice for an error number; empty if there is no advice.
pub fn for_errno(errno: Option<i32>) -> &'static str {
    use rustix::io::Errno;
    let Some(errno) = errno else {
        return "";
    };
    match Errno::from_raw_os_error(errno) {
        Errno::NOSPC => {
            "; the file system is full (free some blocks or inodes, or use fewer or smaller files)"
        }
        Errno::DQUOT => "; the quota is used up (free some space, or use fewer or smaller files)",
        Errno::ROFS => "; the file system has become read-only (see the kernel's log with dmesg)",
        Errno::IO => "; the file system or its device has failed (see the kernel's log with dmesg)",
        Errno::ACCESS | Errno::PERM => "; check the permissions of the directory and its mount",
        Errno::EXIST => {
            "; another process created it during the run (use a directory that nobody else uses)"
        }
        Errno::NOENT => {
            "; another process removed it during the run (use a directory that nobody else uses)"
        }
        Errno::NOTEMPTY => "; it contains files of another process, which were left alone",
        Errno::MFILE => {
            "; the limit of open files is too low (raise it with ulimit -n, or use fewer targets: \
             each worker holds each one open)"
        }
        Errno::NFILE => {
            "; the machine's limit of open files is reached (raise it with sysctl fs.file-max, or \
             use fewer workers or targets)"
        }
        Errno::NAMETOOLONG => "; the path must stay below 4096 bytes",
        Errno::FBIG => "; see 'ulimit -f', or use smaller files",
        Errno::BADMSG => {
            "; the server's reply cannot be understood, or its listing goes in a circle (see its \
             log, or use another server)"
        }
        Errno::OVERFLOW => {
            "; the directory has too many entries, or the server's listing does not end (list it \
             on the server)"
        }
        Errno::STALE => "; the server has lost the file (see its log)",
        _ => "",
    }
}
