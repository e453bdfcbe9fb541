//! Tests of the times of threads, on fixture trees.

use super::*;
use crate::sources::tests::Tree;

const STAT: &str = "7 (a ) b) R 1 2 3 4 5 6 7 8 9 10 120 30 0 0 20 0 3 0 99\n";

fn add(tree: &Tree, tid: u32, schedstat: &str) {
    tree.file(&format!("{TASK}/{tid}/schedstat"), schedstat);
    tree.file(&format!("{TASK}/{tid}/stat"), STAT);
    tree.file(&format!("{TASK}/{tid}/comm"), &format!("worker {tid}\n"));
}

fn process(user_ns: u64, system_ns: u64) -> Fact<ProcessTimes> {
    Fact::Known(ProcessTimes {
        user_ns,
        system_ns,
        voluntary_context_switches: 0,
        involuntary_context_switches: 0,
        max_resident_bytes: Fact::NotApplicable,
        minor_faults: 0,
        major_faults: 0,
    })
}

fn read_with(tree: &Tree, process: &Fact<ProcessTimes>) -> Threads {
    let status = Fact::Known("Name:\tx\nThreads:\t3\n".to_owned());
    Threads::read(&tree.sources, process, &status)
        .into_known()
        .unwrap()
}

fn read(tree: &Tree) -> Threads {
    read_with(tree, &process(1_000, 500))
}

fn one(schedstat: &str) -> ThreadTimes {
    let tree = Tree::new(&[]);
    add(&tree, 7, schedstat);
    read(&tree).each.remove(0)
}

/// The processor time in the text `STAT`: 150 ticks.
fn by_ticks() -> Fact<u64> {
    Fact::Known(150 * NANOSECONDS_PER_SECOND / rustix::param::clock_ticks_per_second())
}

#[test]
fn names_and_times_of_threads_are_read() {
    let tree = Tree::new(&[(&format!("{TASK}/x/comm"), "no thread")]);
    add(&tree, 11, "200 30 4\n");
    add(&tree, 7, "700 5 1\n");
    let thread = |tid, cpu_ns, waiting_ns| ThreadTimes {
        tid,
        name: Fact::Known(format!("worker {tid}")),
        cpu_ns: Fact::Known(cpu_ns),
        waiting_ns: Fact::Known(waiting_ns),
    };
    let expected = Threads {
        count: Fact::Known(3),
        each: vec![thread(7, 700, 5), thread(11, 200, 30)],
        rest_cpu_ns: Fact::Known(600),
    };
    assert_eq!(read(&tree), expected);
}

/// The status of the process is read before the list of threads, and reports 3 threads; the list
/// has 4.
#[test]
fn thread_that_starts_during_the_reading_is_counted() {
    let tree = Tree::new(&[]);
    (7..11).for_each(|tid| add(&tree, tid, "700 5 1\n"));
    assert_eq!(read(&tree).count, Fact::Known(4));
}

#[test]
fn thread_time_in_ticks_is_used_without_schedstat() {
    let tree = Tree::new(&[]);
    tree.file(&format!("{TASK}/7/stat"), STAT);
    let thread = read(&tree).each.remove(0);
    assert_eq!(thread.cpu_ns, by_ticks());
    assert_eq!(thread.waiting_ns, Fact::NotApplicable);
    assert!(thread.name.why().unwrap().contains("/7/comm"));
    let off = one("0 0 0\n");
    assert_eq!(off.cpu_ns, by_ticks());
    assert!(
        off.waiting_ns
            .why()
            .unwrap()
            .contains("counts no time slice")
    );
    let begun = one("0 17 1\n");
    assert_eq!(
        (begun.cpu_ns, begun.waiting_ns),
        (Fact::Known(0), Fact::Known(17))
    );
}

#[test]
fn invalid_schedstat_causes_no_number_and_no_panic() {
    for spoilt in [
        "",
        "\0",
        "1",
        "1 2",
        "a b c",
        "-1 0 0",
        "99999999999999999999999 0 1",
    ] {
        let thread = one(spoilt);
        assert_eq!(thread.cpu_ns, by_ticks(), "{spoilt}");
        assert!(thread.waiting_ns.why().is_some(), "{spoilt}");
    }
    let no_ticks = [
        "",
        ")",
        "7 (x) R",
        "7 (x R 1 2 3 4 5 6 7 8 9 10 120 30",
        "7 (x) R 1 2 3 4 5 6 7 8 9 10 120",
        "7 (x) R 1 2 3 4 5 6 7 8 9 10 120 y",
        "7 (x) R 1 2 3 4 5 6 7 8 9 10 18446744073709551615 1",
        "7 (x) R 1 2 3 4 5 6 7 8 9 10 18446744073709551 1",
    ];
    for text in no_ticks {
        let tree = Tree::new(&[]);
        tree.file(&format!("{TASK}/7/stat"), text);
        let threads = read(&tree);
        let why = threads.each[0].cpu_ns.why().unwrap();
        assert!(
            why.contains("/7/stat: has no processor time"),
            "{text}: {why}"
        );
        assert_eq!(
            threads.rest_cpu_ns,
            Fact::Known(1_500),
            "its time is in the rest"
        );
    }
    let tree = Tree::new(&[]);
    std::fs::create_dir_all(tree.sources.path(&format!("{TASK}/8/schedstat"))).unwrap();
    let thread = read(&tree).each.remove(0);
    assert!(
        thread.waiting_ns.why().unwrap().contains("directory"),
        "{thread:?}"
    );
    assert!(thread.cpu_ns.why().is_some());
}

#[test]
fn name_of_a_thread_may_contain_any_bytes() {
    let tree = Tree::new(&[]);
    add(&tree, 7, "1 1 1");
    std::fs::write(tree.sources.path(&format!("{TASK}/7/comm")), b"a\xff)\n\n").unwrap();
    assert_eq!(read(&tree).each[0].name, Fact::Known("a\u{fffd})\n".into()));
}

#[test]
fn thread_that_ended_before_it_was_read_is_omitted() {
    let tree = Tree::new(&[]);
    add(&tree, 7, "700 5 1\n");
    std::fs::create_dir_all(tree.sources.path(&format!("{TASK}/8"))).unwrap();
    let tids: Vec<u32> = read(&tree).each.iter().map(|thread| thread.tid).collect();
    assert_eq!(tids, [7]);
}

#[test]
fn rest_cpu_time_is_that_of_ended_threads_and_never_negative() {
    let tree = Tree::new(&[]);
    add(&tree, 7, "700 5 1\n");
    add(&tree, 8, "100 5 1\n");
    let before = read_with(&tree, &process(800, 0));
    assert_eq!(before.rest_cpu_ns, Fact::Known(0));
    std::fs::remove_dir_all(tree.sources.path(&format!("{TASK}/8"))).unwrap();
    add(&tree, 7, "750 6 1\n");
    add(&tree, 9, "40 1 1\n");
    let after = read_with(&tree, &process(1_000, 0));
    // Threads 7 and 9 used 50 + 40 of the 200 ns. Thread 8 used the other 110 ns before it ended.
    let difference = after.since(&before, &process(200, 0));
    let used: Vec<(u32, Fact<u64>)> = difference
        .each
        .into_iter()
        .map(|each| (each.tid, each.cpu_ns))
        .collect();
    assert_eq!(used, [(7, Fact::Known(50)), (9, Fact::Known(40))]);
    assert_eq!(difference.rest_cpu_ns, Fact::Known(110));
    assert_eq!(
        after.since(&before, &process(80, 0)).rest_cpu_ns,
        Fact::Known(0)
    );
    let unknown = after.since(&before, &Fact::Unavailable("no getrusage".into()));
    assert_eq!(unknown.rest_cpu_ns.why(), Some("no getrusage"));
}

#[test]
fn growth_of_a_decreased_thread_time_is_unavailable() {
    let tree = Tree::new(&[]);
    add(&tree, 7, "700 5 1\n");
    let before = read(&tree);
    add(&tree, 7, "600 6 1\n");
    let difference = read(&tree).since(&before, &process(40, 0));
    assert!(
        difference.each[0]
            .cpu_ns
            .why()
            .unwrap()
            .contains("/7: processor time went backwards")
    );
    assert_eq!(difference.each[0].waiting_ns, Fact::Known(1));
    assert_eq!(difference.rest_cpu_ns, Fact::Known(40));
}

#[test]
fn time_of_threads_beyond_the_limit_is_in_the_rest() {
    let tree = Tree::new(&[]);
    for tid in 0..THREADS_MAX as u32 + 9 {
        add(&tree, tid, "10 1 1\n");
    }
    let before = read_with(&tree, &process(2_000, 0));
    assert_eq!(before.each.len(), THREADS_MAX);
    assert!(before.each.is_sorted_by_key(|thread| thread.tid));
    assert_eq!(before.rest_cpu_ns, Fact::Known(2_000 - 1_280));
    // One thread ends, and thread 9999, which was beyond the limit, is now listed. The growth of
    // its time is unknown.
    let mut later = before.clone();
    later.each.remove(0);
    let mut late = later.each[0].clone();
    late.tid = 9_999;
    later.each.push(late);
    let difference = later.since(&before, &process(30, 0));
    let last = difference.each.last().unwrap();
    assert!(
        last.cpu_ns
            .why()
            .unwrap()
            .contains("beyond the 128 threads"),
        "{last:?}"
    );
    assert_eq!(difference.rest_cpu_ns, Fact::Known(30));
    // The growth is also unknown if the earlier list is incomplete because a thread ended while it
    // was read.
    let mut short = before.clone();
    short.each.pop();
    short.count = Fact::Known(THREADS_MAX as u64 + 9);
    let difference = later.since(&short, &process(30, 0));
    assert!(difference.each.last().unwrap().cpu_ns.why().is_some());
}

#[test]
fn threads_without_readable_files_are_unavailable() {
    let tree = Tree::new(&[]);
    let status = Fact::Known(String::new());
    let none = Threads::read(&tree.sources, &process(1, 1), &status);
    assert!(none.why().unwrap().contains(TASK));
    add(&tree, 7, "700 5 1\n");
    let threads = Threads::read(&tree.sources, &Fact::NotApplicable, &status)
        .into_known()
        .unwrap();
    assert_eq!(threads.rest_cpu_ns, Fact::NotApplicable);
    assert!(threads.count.why().unwrap().contains("Threads"));
}
