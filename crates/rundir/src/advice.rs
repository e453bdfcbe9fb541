//! What to do about an error of the system, in words.

/// Advice for an error number; empty where there is none to give.
pub fn for_errno(errno: Option<i32>) -> &'static str {
    use rustix::io::Errno;
    let Some(errno) = errno else {
        return "";
    };
    match Errno::from_raw_os_error(errno) {
        Errno::NOSPC => "; the file system is full: free some blocks or inodes, or give fewer or smaller files",
        Errno::DQUOT => "; the quota is used up: free some of it, or give fewer or smaller files",
        Errno::ROFS => "; the file system has become read-only: see the kernel's log (dmesg) for why",
        Errno::IO => "; the file system or its device has failed: see the kernel's log (dmesg)",
        Errno::ACCESS | Errno::PERM => "; see the permissions of the directory and its mount",
        Errno::EXIST => {
            "; somebody else made it while the run went on, and it was not touched: give the run a directory that nobody else uses"
        }
        Errno::NOENT => {
            "; somebody else removed it while the run went on: give the run a directory that nobody else uses"
        }
        Errno::NOTEMPTY => "; somebody else put something there, and it was not touched",
        Errno::MFILE => {
            "; the limit of open files is too low: raise it (ulimit -n), or give fewer locations (each worker holds each one open)"
        }
        Errno::NFILE => {
            "; the machine's limit of open files is used up: raise it (sysctl fs.file-max), or give fewer workers or locations"
        }
        Errno::NAMETOOLONG => "; the path must stay below 4096 bytes",
        Errno::FBIG => "; see 'ulimit -f', or give smaller files",
        Errno::STALE => "; the server has lost the file: see its log",
        _ => "",
    }
}
