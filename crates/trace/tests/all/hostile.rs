//! Traces that are cut, mixed up or forged.

use std::io::Cursor;

use proptest::prelude::*;
use trace::{ReplayRequest, read_for_replay};
use workload::replay::{Built, Timing};

use crate::{learned, left_out, mix};

const TRACE: &str = "1 chdir(\"/t\") = 0
1 openat(AT_FDCWD, \"a\", O_WRONLY|O_CREAT|O_EXCL, 0644) = 3
2 write(3, \"x\"..., 40 <unfinished ...>
1 write(3, \"\\33\\x1b\"..., 40) = 40
2 <... write resumed>) = 40
1 getdents64(3, 0x55 /* 2 entries */, 32768) = 112
1 copy_file_range(3, NULL, 4, NULL, 10, 0) = 10
1 clone3({flags=CLONE_VM, exit_signal=SIGCHLD}, 88) = 3
3 close_range(0, 4294967295, 0) = 0
1 rename(\"a\", \"b\") = 0
";

#[test]
fn trace_that_is_cut_anywhere_is_read_up_to_there() {
    for end in 0..TRACE.len() {
        let learned = learned(&TRACE.as_bytes()[..end], "/t");
        assert!(learned.is_ok() || end < 700, "{end}");
        replayed(&TRACE.as_bytes()[..end]);
    }
}

/// Determines the replay of a trace, if it has operations.
fn replayed(trace: &[u8]) {
    let request = ReplayRequest {
        below: Some(b"/t".to_vec()),
        operations_max: 1_000,
    };
    if let Ok(mut read) = read_for_replay(|| Ok(Cursor::new(trace)), &request) {
        let built = Built::new(&mut read.trace, Timing::Pauses).unwrap();
        assert!(built.bytes_max() <= 1 << 30);
    }
}

#[test]
fn forged_numbers_neither_overflow_nor_allocate() {
    let mut text = String::from("chdir(\"/t\") = 0\n");
    for number in [
        "9223372036854775807",
        "18446744073709551615",
        "0xffffffffffffffff",
        "-5",
    ] {
        for call in [
            "openat(AT_FDCWD, \"a\", O_RDWR|O_CREAT, 0644) = 3",
            "write(3, \"\", N) = N",
            "pwrite64(3, \"\", N, N) = N",
            "pread64(3, \"\", N, N) = N",
            "lseek(3, N, SEEK_SET) = N",
            "write(3, \"\", N) = N",
            "ftruncate(3, N) = 0",
            "fstat(3, {st_size=N, ...}) = 0",
            "getdents64(3, 0x55 /* N entries */, N) = N",
            "copy_file_range(3, NULL, 3, NULL, N, 0) = N",
            "close_range(0, N, 0) = 0",
            "dup2(3, N) = N",
            "fork() = N",
            "truncate(\"a\", N) = 0",
        ] {
            text += &call.replace('N', number);
            text.push('\n');
        }
    }
    let profile = learned(text.as_bytes(), "/t").unwrap();
    assert_eq!(mix(&profile), "truncate=7 list=1 copy=1");
    replayed(text.as_bytes());
}

#[test]
fn a_million_names_and_threads_are_bounded() {
    let mut text = String::from("1 chdir(\"/t\") = 0\n");
    for index in 0..1_000_000_u32 {
        let thread = match index % 10 {
            0 => index,
            _ => 1,
        };
        text += &format!("{thread} unlink(\"/t/{index}\") = 0\n");
    }
    let profile = learned(text.as_bytes(), "/t").unwrap();
    assert_eq!(profile.files, Some(1_000_000 - 34_465));
    assert_eq!(
        left_out(&profile),
        "lines of threads beyond the first 65,536=34465"
    );
}

#[test]
fn incomplete_lines_are_counted() {
    let text = "1 unlink(\"/t/a\") = 0\n1 unlink(\"/t/a\n2 <... write resumed>) = 1\n1 gar(ba\n";
    let profile = learned(text.as_bytes(), "/t").unwrap();
    assert_eq!(left_out(&profile), "lines that are not complete calls=3");
}

proptest! {
    #[test]
    fn random_bytes_are_no_trace(bytes in prop::collection::vec(any::<u8>(), 0..4000)) {
        let found = learned(&bytes, "/");
        prop_assert!(found.is_err() || mix(&found.unwrap()).contains('='));
    }

    #[test]
    fn lines_in_any_order_and_with_changed_bytes_are_read(
        order in prop::collection::vec((0_usize..10, 0_usize..90, any::<u8>()), 0..60)) {
        let lines: Vec<&str> = TRACE.lines().collect();
        let mut text = Vec::new();
        for (line, at, byte) in order {
            let mut line = lines[line].as_bytes().to_vec();
            if let Some(changed) = line.get_mut(at) {
                *changed = byte;
            }
            text.extend(line);
            text.push(b'\n');
        }
        let found = learned(&text, "/t");
        replayed(&text);
        prop_assert!(found.is_err() || mix(&found.unwrap()).contains('='));
    }

    #[test]
    fn changed_captures_are_read(
        changes in prop::collection::vec((0_usize..4000, any::<u8>()), 1..20)) {
        let mut capture = crate::nfs::session();
        for (at, byte) in changes {
            let length = capture.len();
            capture[at % length] = byte;
        }
        let found = learned(&capture, "/");
        prop_assert!(found.is_err() || mix(&found.unwrap()).contains('='));
    }
}
