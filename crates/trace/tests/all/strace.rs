//! Operations and profiles from the text of strace.

use crate::{learned, left_out, mix};

#[test]
fn calls_become_operations() {
    let rows = [
        (
            "create=1",
            "openat(AT_FDCWD, \"a\", O_WRONLY|O_CREAT|O_EXCL, 0644) = 3\n\
            write(3, \"x\"..., 100) = 100\nclose(3) = 0\n",
        ),
        (
            "read=1",
            "open(\"a\", O_RDONLY|O_LARGEFILE) = 3\nfstat64(3, {st_mode=S_IFREG|0644, \
            st_size=5, ...}) = 0\nread(3, \"abcde\", 4096) = 5\n\
            read(3, \"\", 4096) = 0\nclose(3) = 0\n",
        ),
        (
            "read-range=1",
            "open(\"a\", O_RDONLY) = 3\npread64(3, \"\"..., 10, 4096) = 10\n\
            close(3) = 0\n",
        ),
        (
            "append=2",
            "open(\"a\", O_WRONLY|O_APPEND) = 3\nwrite(3, \"x\", 1) = 1\nfsync(3) = 0\n\
            write(3, \"x\", 1) = 1\nfsync(3) = 0\nclose(3) = 0\n",
        ),
        (
            "replace=1",
            "open(\"a\", O_WRONLY|O_CREAT|O_EXCL, 0644) = 3\nclose(3) = 0\n\
            stat(\"b\", {st_mode=S_IFREG|0644, st_size=9, ...}) = 0\n\
            open(\"a.t\", O_WRONLY|O_CREAT|O_EXCL, 0644) = 3\nwrite(3, \"x\", 1) = 1\n\
            fsync(3) = 0\nclose(3) = 0\nrename(\"a.t\", \"a\") = 0\n",
        ),
        (
            "deliver=1",
            "open(\"tmp/a\", O_WRONLY|O_CREAT|O_EXCL, 0644) = 3\nwrite(3, \"x\", 1) = 1\n\
            close(3) = 0\nrename(\"tmp/a\", \"new/a\") = 0\n",
        ),
        (
            "lock-file=1",
            "open(\"a.lock\", O_RDWR|O_CREAT|O_EXCL, 0644) = 3\nclose(3) = 0\n\
            unlink(\"a.lock\") = 0\n",
        ),
        (
            "install=1",
            "lstat(\"d/a\", 0x7f) = -1 ENOENT (No such file or directory)\n\
            mkdir(\"d\", 0777) = -1 EEXIST (File exists)\n\
            open(\"d/a\", O_WRONLY|O_CREAT|O_EXCL, 0600) = 4\nwrite(4, \"x\", 1) = 1\n\
            utimensat(4, NULL, [UTIME_OMIT], 0) = 0\nfchmod(4, 0644) = 0\nclose(4) = 0\n",
        ),
        (
            "list=1",
            "open(\"d\", O_RDONLY|O_DIRECTORY) = 3\n\
            getdents64(3, 0x55 /* 4 entries */, 32768) = 112\n\
            getdents64(3, 0x55 /* 0 entries */, 32768) = 0\nclose(3) = 0\n",
        ),
        (
            "list-stat=1",
            "open(\"d\", O_RDONLY|O_DIRECTORY) = 3\n\
            getdents64(3, 0x55 /* 2 entries */, 32768) = 112\n\
            newfstatat(3, \"a\", {st_mode=S_IFREG|0644, st_size=1, ...}, 0) = 0\n\
            getdents64(3, 0x55 /* 0 entries */, 32768) = 0\nclose(3) = 0\n",
        ),
        (
            "stat-missing=2 open-missing=1 mkdir-existing=1",
            "access(\"a\", F_OK) = -1 ENOENT (No such file or directory)\n\
            unlink(\"a\") = -1 ENOENT (No such file or directory)\n\
            open(\"a\", O_RDONLY) = -1 ENOENT (No such file or directory)\n\
            mkdir(\"d\", 0755) = -1 EEXIST (File exists)\n",
        ),
        (
            "copy=1",
            "open(\"a\", O_RDONLY) = 3\nopen(\"b\", O_WRONLY|O_CREAT|O_EXCL, 0644) = 4\n\
            copy_file_range(3, NULL, 4, NULL, 10, 0) = 10\nclose(3) = 0\nclose(4) = 0\n",
        ),
        (
            "read-mmap=1",
            "open(\"a\", O_RDONLY) = 3\n\
            mmap(NULL, 4096, PROT_READ, MAP_SHARED, 3, 0) = 0x7f0000000000\nclose(3) = 0\n",
        ),
        (
            "lock=1",
            "open(\"a\", O_RDWR) = 3\nfcntl64(3, F_SETLKW, {l_type=F_WRLCK}) = 0\n\
            fcntl64(3, F_SETLK, {l_type=F_UNLCK}) = 0\nclose(3) = 0\n",
        ),
        (
            "rewrite=1",
            "open(\"a\", O_WRONLY|O_TRUNC) = 3\nwrite(3, \"x\", 1) = 1\nclose(3) = 0\n",
        ),
        (
            "link=1 remove-link=1 symlink=1 remove-symlink=1 readlink=1",
            "link(\"a\", \"b\") = 0\nsymlink(\"a\", \"s\") = 0\nreadlink(\"s\", \"a\", 9) = 1\n\
            unlink(\"b\") = 0\nunlink(\"s\") = 0\n",
        ),
        (
            "set-attributes=1",
            "fchmodat(AT_FDCWD, \"a\", 0644) = 0\n\
            utimensat(AT_FDCWD, \"a\", [{tv_sec=1}], 0) = 0\n",
        ),
        (
            "remove-tree=1",
            "open(\"d\", O_RDONLY|O_DIRECTORY) = 3\n\
            getdents64(3, 0x55 /* 4 entries */, 32768) = 112\nunlinkat(3, \"a\", 0) = 0\n\
            unlinkat(3, \"b\", 0) = 0\nunlinkat(3, \"c\", 0) = 0\nclose(3) = 0\n\
            unlinkat(AT_FDCWD, \"d\", AT_REMOVEDIR) = 0\n",
        ),
    ];
    for (expected, text) in rows {
        let text = format!("chdir(\"/t\") = 0\n{text}");
        let mix = mix(&learned(text.as_bytes(), "/t").unwrap());
        let words: Vec<&str> = expected.split(' ').collect();
        let found: Vec<&str> = mix.split(' ').filter(|word| words.contains(word)).collect();
        assert_eq!(found.len(), words.len(), "{mix} for\n{text}");
        let others = mix.split(' ').filter(|word| !words.contains(word));
        let others: Vec<&str> = others.collect();
        match expected {
            "replace=1" => assert_eq!(others, ["create=1", "stat=1"]),
            _ => assert_eq!(others, [""; 0], "{text}"),
        }
    }
}

#[test]
fn unfinished_calls_of_several_threads_are_joined() {
    let text = "\
1 chdir(\"/t\") = 0
1 clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD <unfinished ...>
2 openat(AT_FDCWD, \"b\", O_WRONLY|O_CREAT|O_EXCL, 0644 <unfinished ...>
1 <... clone resumed>, child_tidptr=0x7f) = 2
1 openat(AT_FDCWD, \"a\", O_WRONLY|O_CREAT|O_EXCL, 0644) = 3
2 <... openat resumed>) = 3
2 write(3, \"x\"..., 7 <unfinished ...>
1 --- SIGCHLD {si_signo=SIGCHLD} ---
1 write(3, \"x\"..., 5) = 5
2 <... write resumed>) = 7
2 +++ exited with 0 +++
1 close(3) = 0
1 exit_group(0) = ?
1 +++ exited with 0 +++
";
    let profile = learned(text.as_bytes(), "/t").unwrap();
    assert_eq!(mix(&profile), "create=2");
    let sizes = profile.sizes.unwrap();
    assert_eq!((sizes.min(), sizes.max()), (Some(5), Some(7)));
    assert_eq!(profile.workers, Some(2));
    assert_eq!(profile.left_out, []);
}

#[test]
fn descriptors_are_followed_through_dup_fork_and_exec() {
    let text = "\
1 chdir(\"/t\") = 0
1 openat(AT_FDCWD, \"a\", O_WRONLY|O_CREAT|O_EXCL|O_CLOEXEC, 0644) = 3
1 dup2(3, 9) = 9
1 fcntl(9, F_DUPFD, 10) = 10
1 clone3({flags=CLONE_VM|CLONE_VFORK, exit_signal=SIGCHLD}, 88) = 2
2 write(9, \"x\"..., 40) = 40
2 execve(\"/bin/x\", [\"x\"], 0x7f /* 9 vars */) = 0
1 close_range(3, 4294967295, 0) = 0
2 write(9, \"x\"..., 2) = 2
2 exit_group(0) = ?
2 +++ exited with 0 +++
1 +++ exited with 0 +++
";
    let profile = learned(text.as_bytes(), "/t").unwrap();
    assert_eq!(mix(&profile), "create=1");
    assert_eq!(profile.sizes.unwrap().max(), Some(42));
}

#[test]
fn paths_outside_of_the_directory_are_left_out_and_counted() {
    let text = "\
1 chdir(\"/t\") = 0
1 unlink(\"a\") = 0
1 unlink(\"../b\") = 0
1 unlink(\"/etc/c\") = 0
1 openat(AT_FDCWD, \"link\", O_RDONLY) = 3</usr/real>
1 read(3</usr/real>, \"\", 10) = 0
1 close(3</usr/real>) = 0
1 unlink(\"/proc/1/x\") = 0
1 rename(\"a\", \"/elsewhere\") = 0
";
    let profile = learned(text.as_bytes(), "/t").unwrap();
    assert_eq!(mix(&profile), "delete=1");
    assert_eq!(
        left_out(&profile),
        "operations on files outside of the directory=4"
    );
    assert_eq!(profile.left_out[0].example.as_deref(), Some("/b"));
}

#[test]
fn computing_and_popularity_are_learned() {
    let mut text = String::from("1 1700000000.000000 chdir(\"/t\") = 0 <0.000010>\n");
    for index in 0..4000_u32 {
        let file = if index % 4 < 3 { 0 } else { 1 + index / 4 % 99 };
        let (seconds, micros) = (index / 500, index % 500 * 2000);
        text += &format!(
            "1 {}.{micros:06} truncate(\"f{file}\", 0) = 0 <0.000500>\n",
            1_700_000_000 + seconds
        );
    }
    let profile = learned(text.as_bytes(), "/t").unwrap();
    // Not more than 100 us of each gap can be the tracer's.
    let compute = profile.compute.unwrap().quantile(0.5).unwrap();
    assert_eq!(compute, 1_400_000);
    let popularity = profile.popularity.unwrap();
    assert_eq!((popularity.files, popularity.operations), (100, 4000));
    let hottest = popularity.curve[1];
    assert!(
        hottest.0 == 0.01 && (hottest.1 - 0.75).abs() < 0.03,
        "{hottest:?}"
    );
}

/// A trace of calls that follow each other after 20 us, each with its duration in microseconds.
fn timed(calls: &[(u32, &str, u64)]) -> String {
    let mut now_us = 0;
    let mut text = String::new();
    for (thread, call, took_us) in calls {
        text += &format!("{thread} 1700000000.{now_us:06} {call} <0.{took_us:06}>\n");
        now_us += took_us + 20;
    }
    text
}

#[test]
fn computing_sleeps_waits_and_the_tracer_are_distinguished() {
    let close = (1, "close(9) = -1 EBADF (Bad file descriptor)", 5);
    let mut calls = vec![(1, "chdir(\"/t\") = 0", 5)];
    calls.extend([close; 40]);
    calls.extend([
        (1, "read(3</etc/large>, \"\"..., 9) = 9", 505),
        (1, "truncate(\"a\", 0) = 0", 800),
        (
            1,
            "clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=1}, NULL) = 0",
            3_000,
        ),
        (1, "poll([{fd=3}], 1, 1) = 0 (Timeout)", 1_000),
        (1, "truncate(\"a\", 0) = 0", 800),
        (1, "wait4(2, [], 0, NULL) = 2", 7_000),
        (1, "read(5<pipe:[77]>, \"\"..., 9) = 9", 1_000),
        (1, "futex(0x7f, FUTEX_WAIT) = 0", 2_000),
        (1, "unlink(\"a\") = 0", 900),
    ]);
    let profile = learned(timed(&calls).as_bytes(), "/t").unwrap();
    let own = profile.own.unwrap();
    assert_eq!((own.wait_ns, own.calls), (10_000_000, 50));
    // The estimate is not exact before the first calls.
    let read = own.compute_ns[&engine::Action::Truncate];
    assert!((500_000..560_000).contains(&read), "{own:?}");
    assert_eq!(own.compute_ns[&engine::Action::Delete], 0, "{own:?}");
    let pauses = profile.pauses.unwrap();
    assert_eq!((pauses.count(), pauses.sum()), (3, 4_000_000));
    let traced = 25 * 49;
    assert!((own.tracer_ns / 1_000).abs_diff(traced) < 100, "{own:?}");
}

#[test]
fn names_below_a_renamed_directory_are_those_of_its_files() {
    let text = "\
1 chdir(\"/t\") = 0
1 mkdir(\"new\", 0777) = 0
1 openat(AT_FDCWD, \"new/a\", O_WRONLY|O_CREAT|O_EXCL, 0644) = 3
1 write(3, \"x\"..., 9) = 9
1 close(3) = 0
1 rename(\"new\", \"old\") = 0
1 openat(AT_FDCWD, \"old/a\", O_WRONLY|O_APPEND) = 3
1 write(3, \"x\"..., 2) = 2
1 close(3) = 0
1 mkdir(\"new\", 0777) = 0
1 openat(AT_FDCWD, \"new/a\", O_WRONLY|O_CREAT, 0644) = 3
1 close(3) = 0
1 symlink(\"x\", \"none/s\") = -1 ENOENT (No such file or directory)
1 link(\"old/a\", \"new/a\") = -1 EEXIST (File exists)
";
    let profile = learned(text.as_bytes(), "/t").unwrap();
    let expected = "create=2 append=1 stat=1 rename=1 mkdir=2 stat-missing=1";
    assert_eq!(mix(&profile), expected);
    assert_eq!((profile.files, profile.left_out.len()), (Some(2), 0));
}
