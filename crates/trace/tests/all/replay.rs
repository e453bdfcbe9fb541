//! Tests which operations of a trace are replayed.

use std::io::Cursor;

use engine::Action;
use trace::{ReplayRequest, Replayable, TraceError, read_for_replay};
use workload::replay::{Built, Timing, TracedOperation};

const OPERATIONS_MAX: u64 = 1_000;

fn read(trace: &str, below: Option<&str>) -> Result<Replayable, TraceError> {
    let request = ReplayRequest {
        below: below.map(|below| below.as_bytes().to_vec()),
        operations_max: OPERATIONS_MAX,
    };
    read_for_replay(|| Ok(Cursor::new(trace.as_bytes())), &request)
}

fn actions(operations: &[TracedOperation]) -> Vec<&str> {
    operations.iter().map(|one| one.action.name()).collect()
}

/// The operations of each worker of the replay, as names of actions.
fn workers(mut replayable: Replayable) -> Vec<Vec<&'static str>> {
    let steps = Built::new(&mut replayable.trace, Timing::Pauses)
        .unwrap()
        .steps;
    let of_worker = |all: &Vec<u32>| {
        let each = all
            .iter()
            .map(|index| steps.all[*index as usize].action.name());
        each.collect()
    };
    steps.of_workers.iter().map(of_worker).collect()
}

#[test]
fn operations_are_kept_one_by_one_in_the_order_of_their_begin() {
    let text = "1 chdir(\"/t\") = 0
1 openat(AT_FDCWD, \"log\", O_WRONLY|O_CREAT|O_EXCL, 0644) = 3
1 openat(AT_FDCWD, \"a\", O_RDONLY) = 4
1 read(4, \"\"..., 4096) = 10
1 read(4, \"\", 4096) = 0
1 close(4) = 0
1 write(3, \"\"..., 7) = 7
1 close(3) = 0
1 unlink(\"a\") = 0
1 unlink(\"b\") = 0
1 unlink(\"c\") = 0
1 openat(AT_FDCWD, \"new\", O_WRONLY|O_CREAT|O_EXCL, 0644) = 3
1 write(3, \"\"..., 5) = 5
1 close(3) = 0
1 rename(\"new\", \"log\") = 0
";
    let read = read(text, Some("/t")).unwrap();
    let expected = ["create", "read", "delete", "delete", "delete", "replace"];
    let mut sorted = read.trace.clone();
    sorted.operations.sort_by_key(|one| one.begin);
    assert_eq!(actions(&sorted.operations), expected);
    assert_eq!(workers(read), [expected]);
}

#[test]
fn file_with_a_hole_is_created_with_its_final_size() {
    let text = "1 chdir(\"/t\") = 0
1 openat(AT_FDCWD, \"a.o\", O_RDWR|O_CREAT|O_TRUNC, 0644) = 3
1 lseek(3, 900, SEEK_SET) = 900
1 write(3, \"\"..., 100) = 100
1 close(3) = 0
1 openat(AT_FDCWD, \"a.o\", O_RDONLY) = 3
1 read(3, \"\"..., 4096) = 1000
1 read(3, \"\", 4096) = 0
1 close(3) = 0
";
    let mut read = read(text, Some("/t")).unwrap();
    let built = Built::new(&mut read.trace, Timing::Pauses).unwrap();
    let bytes: Vec<u64> = built.steps.all.iter().map(|step| step.bytes).collect();
    assert_eq!(bytes, [1_000, 1_000]);
    assert_eq!(built.deviations, []);
}

#[test]
fn paths_out_of_the_directory_are_left_out_and_counted() {
    let text = "1 chdir(\"/t\") = 0
1 openat(AT_FDCWD</t>, \"in\", O_WRONLY|O_CREAT|O_EXCL, 0644) = 3</t/in>
1 close(3</t/in>) = 0
1 unlink(\"/etc/passwd\") = 0
1 unlink(\"../etc/shadow\") = 0
1 unlink(\"a/../../b/c\") = 0
1 openat(AT_FDCWD</t>, \"link/x\", O_WRONLY|O_CREAT, 0644) = 3</home/x>
1 close(3</home/x>) = 0
1 rename(\"in\", \"/out\") = 0
1 symlink(\"/etc/passwd\", \"link\") = 0
";
    let read = read(text, Some("/t")).unwrap();
    assert_eq!(actions(&read.trace.operations), ["create", "symlink"]);
    let left_out: Vec<(&str, u64)> = read
        .profile
        .left_out
        .iter()
        .map(|one| (one.what.as_str(), one.count))
        .collect();
    let what = "operations on files outside of the directory";
    assert_eq!(left_out, [(what, 5)]);
}

#[test]
fn a_copy_keeps_its_source_and_a_range_its_offset() {
    let text = "1 chdir(\"/t\") = 0
1 openat(AT_FDCWD, \"a\", O_RDONLY) = 3
1 openat(AT_FDCWD, \"b\", O_WRONLY|O_CREAT|O_EXCL, 0644) = 4
1 copy_file_range(3, NULL, 4, NULL, 100, 0) = 100
1 close(4) = 0
1 close(3) = 0
1 openat(AT_FDCWD, \"b\", O_RDONLY) = 3
1 pread64(3, \"\"..., 10, 60) = 10
1 close(3) = 0
";
    let mut read = read(text, Some("/t")).unwrap();
    let steps = Built::new(&mut read.trace, Timing::Pauses).unwrap().steps;
    let copy = steps
        .all
        .iter()
        .find(|step| step.action == Action::Copy)
        .unwrap();
    assert_eq!((copy.bytes, copy.other), (100, steps.prepared[0].number));
    let range = steps.all.last().unwrap();
    assert_eq!(
        (range.action, range.offset_bytes, range.bytes),
        (Action::ReadRange, 60, 10)
    );
}

#[test]
fn trace_with_too_many_operations_is_refused() {
    let mut text = String::from("1 chdir(\"/t\") = 0\n");
    for index in 0..=OPERATIONS_MAX {
        text += &format!("1 unlink(\"{index}\") = 0\n");
    }
    // What follows is not read.
    text += &"1 stat(\"x\", {st_mode=S_IFREG|0644, st_size=1, ...}) = 0\n".repeat(10);
    let refused = read(&text, Some("/t")).unwrap_err();
    assert!(
        matches!(refused, TraceError::TooLong(OPERATIONS_MAX)),
        "{refused}"
    );
    let some = text
        .replace("unlink(\"7\")", "getpid()")
        .replace("stat(", "getpid(");
    assert_eq!(
        read(&some, Some("/t")).unwrap().trace.operations.len(),
        1_000
    );
}

#[test]
fn directory_is_found_if_none_is_given() {
    let text = "1 unlink(\"/data/spool/a\") = 0\n1 unlink(\"/data/spool/b\") = 0\n";
    assert_eq!(read(text, None).unwrap().below, "/data/spool");
    assert!(matches!(
        read("1 getpid() = 1\n", None),
        Err(TraceError::NoChange)
    ));
    let nothing = read(text, Some("/other")).unwrap_err();
    assert!(matches!(nothing, TraceError::NoOperation(_)));
}
