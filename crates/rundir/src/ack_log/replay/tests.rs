use super::*;

/// A replay with short methods that add operations of one worker.
struct Fed {
    replay: Replay,
    sequence: u64,
}

impl Fed {
    fn new() -> Self {
        Self {
            replay: Replay::new(false),
            sequence: 0,
        }
    }

    fn begins(
        &mut self,
        action: Action,
        names: (&str, &str),
        version: u32,
        before: u64,
        after: u64,
    ) {
        self.sequence += 1;
        let second = (!names.1.is_empty()).then(|| names.1.as_bytes().to_vec());
        let entry = Entry {
            worker: 0,
            sequence: self.sequence,
            action,
            location: 0,
            path: names.0.as_bytes().to_vec(),
            second,
            file: 1,
            version,
            before_bytes: before,
            after_bytes: after,
            offset_bytes: if action == Action::Append { before } else { 0 },
        };
        self.replay.begins(entry).unwrap();
    }

    fn done(&mut self, action: Action, names: (&str, &str), version: u32, before: u64, after: u64) {
        self.begins(action, names, version, before, after);
        self.replay.acknowledges(0, self.sequence).unwrap();
    }

    fn name(&self, name: &str) -> &NameState {
        &self.replay.names[&(0, name.as_bytes().to_vec())]
    }

    fn expected(&self, name: &str) -> Expected {
        let Acked::File(object) = self.name(name).acked else {
            panic!("{name}: {:?}", self.name(name))
        };
        self.replay.objects[object].expected().unwrap()
    }
}

fn whole(version: u32, size_bytes: u64) -> Expected {
    Expected {
        state: FileState {
            file: 1,
            version,
            size_bytes,
        },
        size_min: size_bytes,
        size_max: size_bytes,
        sure_bytes: size_bytes,
    }
}

#[test]
fn file_state_follows_acknowledged_operations() {
    let mut fed = Fed::new();
    fed.done(Action::Create, ("1", ""), 0, 0, 700);
    assert_eq!(fed.expected("1"), whole(0, 700));
    fed.done(Action::Append, ("1", ""), 0, 700, 900);
    assert_eq!(fed.expected("1"), whole(0, 900));
    fed.done(Action::Link, ("1", "2.l"), 0, 900, 900);
    fed.done(Action::Overwrite, ("1", ""), 1, 900, 900);
    fed.done(Action::Truncate, ("1", ""), 1, 900, 10);
    fed.done(Action::SetAttributes, ("1", ""), 1, 10, 10);
    assert_eq!(
        (fed.expected("1"), fed.expected("2.l")),
        (whole(1, 10), whole(1, 10))
    );
    fed.done(Action::Rename, ("1", "3"), 1, 10, 10);
    assert_eq!(
        (&fed.name("1").acked, fed.name("1").by),
        (&Acked::Absent, Action::Rename)
    );
    fed.done(Action::Replace, ("3", "3.t"), 2, 10, 50);
    assert_eq!(
        (fed.expected("3"), fed.expected("2.l")),
        (whole(2, 50), whole(1, 10))
    );
    fed.done(Action::Delete, ("3", ""), 2, 50, 0);
    fed.done(Action::RemoveLink, ("2.l", ""), 0, 0, 0);
    assert_eq!(
        (&fed.name("3").acked, &fed.name("2.l").acked),
        (&Acked::Absent, &Acked::Absent)
    );
    assert_eq!(fed.replay.in_flight(), 0);
    assert_eq!(fed.replay.acknowledged[&Action::Append], 1);
    assert_eq!(fed.replay.acknowledged.values().sum::<u64>(), 10);
}

#[test]
fn operation_in_flight_widens_the_expected_sizes() {
    let mut fed = Fed::new();
    fed.done(Action::Create, ("1", ""), 0, 0, 700);
    fed.begins(Action::Append, ("1", ""), 0, 700, 900);
    let expected = fed.expected("1");
    assert_eq!(
        (expected.size_min, expected.size_max, expected.sure_bytes),
        (700, 900, 700)
    );

    let mut fed = Fed::new();
    fed.done(Action::Create, ("1", ""), 0, 0, 700);
    fed.begins(Action::Truncate, ("1", ""), 0, 700, 100);
    let expected = fed.expected("1");
    assert_eq!(
        (expected.size_min, expected.size_max, expected.sure_bytes),
        (100, 700, 100)
    );

    let mut fed = Fed::new();
    fed.done(Action::Create, ("1", ""), 0, 0, 700);
    fed.begins(Action::Overwrite, ("1", ""), 1, 700, 700);
    let expected = fed.expected("1");
    assert_eq!(
        (expected.size_min, expected.size_max, expected.sure_bytes),
        (700, 700, 0)
    );
    assert_eq!(fed.replay.in_flight(), 1);
}

#[test]
fn acknowledgements_may_arrive_in_any_order() {
    let mut fed = Fed::new();
    fed.done(Action::Create, ("1", ""), 0, 0, 700);
    fed.begins(Action::Delete, ("1", ""), 0, 700, 0);
    fed.begins(Action::Create, ("2", ""), 0, 0, 5);
    fed.begins(Action::Create, ("3", ""), 0, 0, 6);
    // Operation 4 is acknowledged before operation 3. Operation 2 (the deletion) failed, so it is
    // never acknowledged.
    fed.replay.acknowledges(0, 4).unwrap();
    fed.replay.acknowledges(0, 3).unwrap();
    assert_eq!(
        (fed.expected("2"), fed.expected("3")),
        (whole(0, 5), whole(0, 6))
    );
    assert_eq!(fed.name("1").may, [May::Gone]);
    assert_eq!(fed.replay.in_flight(), 1);
    assert!(fed.replay.acknowledges(0, 3).is_err(), "it is told once");
}

#[test]
fn acknowledged_state_survives_operation_in_flight() {
    let mut fed = Fed::new();
    fed.done(Action::Create, ("1", ""), 0, 0, 700);
    fed.begins(Action::Rename, ("1", "2"), 0, 700, 700);
    assert_eq!(fed.expected("1"), whole(0, 700));
    assert_eq!(fed.name("1").may, [May::Moved((0, b"2".to_vec()))]);
    let Acked::File(object) = fed.name("1").acked else {
        panic!()
    };
    assert_eq!(
        (&fed.name("2").acked, &fed.name("2").may[..]),
        (&Acked::Unknown, &[May::Holds(object)][..])
    );

    let mut fed = Fed::new();
    fed.done(Action::Create, ("1", ""), 0, 0, 700);
    fed.begins(Action::Delete, ("1", ""), 0, 700, 0);
    assert_eq!(
        (fed.expected("1"), &fed.name("1").may[..]),
        (whole(0, 700), &[May::Gone][..])
    );
    // The deletion failed, and the worker continued with a creation.
    fed.begins(Action::Create, ("2", ""), 0, 0, 5);
    assert_eq!(fed.replay.in_flight(), 2);
    assert_eq!(fed.name("2").may, [May::Made]);
}

#[test]
fn symbolic_links_and_directories_are_tracked() {
    let mut fed = Fed::new();
    fed.done(Action::SymbolicLink, ("4.y", "17"), 0, 0, 0);
    fed.done(Action::MakeDirectory, ("5.d", ""), 0, 0, 0);
    assert_eq!(fed.name("4.y").acked, Acked::SymbolicLink(b"17".to_vec()));
    assert_eq!(fed.name("5.d").acked, Acked::Directory);
    fed.done(Action::RemoveSymbolicLink, ("4.y", ""), 0, 0, 0);
    fed.done(Action::RemoveDirectory, ("5.d", ""), 0, 0, 0);
    assert_eq!(
        (&fed.name("4.y").acked, fed.name("5.d").by),
        (&Acked::Absent, Action::RemoveDirectory)
    );
}

#[test]
fn state_of_file_older_than_the_log_follows_from_its_operations() {
    let mut fed = Fed::new();
    fed.begins(Action::Append, ("9", ""), 3, 100, 150);
    assert!(!fed.replay.names.contains_key(&(0, b"9".to_vec())));
    fed.replay.acknowledges(0, 1).unwrap();
    assert_eq!(fed.expected("9"), whole(3, 150));
    // The log records no contents of a file that was only renamed, so only its existence is
    // expected.
    fed.done(Action::Rename, ("8", "10"), 0, 70, 70);
    let Acked::File(object) = fed.name("10").acked else {
        panic!()
    };
    assert_eq!(fed.replay.objects[object].expected(), None);
}

#[test]
fn acknowledgement_without_its_operation_is_rejected() {
    let mut fed = Fed::new();
    fed.done(Action::Create, ("1", ""), 0, 0, 700);
    assert!(
        fed.replay
            .acknowledges(0, 1)
            .unwrap_err()
            .contains("did not begin")
    );
    fed.sequence = 5;
    let entry = Entry {
        worker: 0,
        sequence: 6,
        action: Action::Rename,
        location: 0,
        path: b"1".to_vec(),
        second: None,
        file: 1,
        version: 0,
        before_bytes: 0,
        after_bytes: 0,
        offset_bytes: 0,
    };
    let gap = fed.replay.begins(entry.clone()).unwrap_err();
    assert!(gap.contains("in place of its operation 2"), "{gap}");
    let mut fed = Fed::new();
    assert!(
        fed.replay
            .begins(Entry {
                sequence: 1,
                ..entry
            })
            .unwrap_err()
            .contains("instead of two")
    );
}

#[test]
fn installations_rewrites_and_lock_files_are_tracked() {
    let mut fed = Fed::new();
    fed.done(Action::Install, ("1", ""), 0, 0, 700);
    fed.done(Action::InstallLink, ("1", "l1"), 0, 700, 700);
    fed.done(Action::InstallCopy, ("2", "1"), 0, 0, 700);
    for name in ["1", "l1", "2"] {
        assert_eq!(fed.expected(name), whole(0, 700), "{name}");
    }
    fed.begins(Action::LockFile, (".t1", ""), 0, 700, 700);
    assert_eq!(fed.name(".t1").may, [May::Made]);
    fed.replay.acknowledges(0, fed.sequence).unwrap();
    assert_eq!(fed.name(".t1").acked, Acked::Absent);
    // A replacement in flight may have made its temporary file, under the name of the lock file.
    fed.begins(Action::Replace, ("2", ".t1"), 2, 700, 700);
    assert_eq!(fed.name(".t1").may, [May::Made]);
    fed.replay.acknowledges(0, fed.sequence).unwrap();
    // The rewrite in flight may have truncated the file to 0 bytes, so none of the acknowledged
    // bytes is certain.
    fed.begins(Action::Rewrite, ("1", ""), 1, 700, 300);
    let expected = fed.expected("l1");
    let sizes = (expected.size_min, expected.size_max, expected.sure_bytes);
    assert_eq!(sizes, (0, 700, 0));
    fed.replay.acknowledges(0, fed.sequence).unwrap();
    for (name, expected) in [("1", whole(1, 300)), ("2", whole(2, 700))] {
        assert_eq!(fed.expected(name), expected, "{name}");
    }
}

#[test]
fn files_of_copied_and_removed_trees_are_known() {
    let mut fed = Fed::new();
    fed.done(Action::Create, ("s0/1", ""), 0, 0, 5);
    fed.done(Action::Create, ("s1/2", ""), 0, 0, 5);
    fed.done(Action::Link, ("s0/1", "s0/4.l"), 0, 5, 5);
    fed.begins(Action::CopyTree, ("s0/3.r", ""), 0, 0, 0);
    assert_eq!(fed.name("s0/3.r/1").may, [May::Made]);
    fed.replay.acknowledges(0, fed.sequence).unwrap();
    assert_eq!(fed.name("s0/3.r").acked, Acked::Directory);
    assert_eq!(fed.expected("s0/3.r/1"), whole(0, 5));
    for absent in ["s0/3.r/2", "s0/3.r/4.l"] {
        assert!(!fed.replay.names.contains_key(&(0, absent.into())));
    }
    // A later change of the copied file does not change the copy.
    fed.done(Action::Append, ("s0/1", ""), 0, 5, 8);
    assert_eq!(fed.expected("s0/1"), whole(0, 8));
    assert_eq!(fed.expected("s0/3.r/1"), whole(0, 5));
    // The copy of a file that existed before the run is mentioned by its tree.
    let mentions = |fed: &Fed, name: &str| fed.replay.mentions(&(0, name.as_bytes().to_vec()));
    assert!(mentions(&fed, "s0/3.r/17") && !mentions(&fed, "s0/17") && !mentions(&fed, "17"));
    fed.begins(Action::RemoveTree, ("s0/3.r", ""), 0, 0, 0);
    assert_eq!(fed.name("s0/3.r/1").may, [May::Gone]);
    fed.replay.acknowledges(0, fed.sequence).unwrap();
    for name in ["s0/3.r", "s0/3.r/1"] {
        assert_eq!(fed.name(name).acked, Acked::Absent, "{name}");
    }
    assert_eq!(fed.expected("s0/1"), whole(0, 8));
}

#[test]
fn files_of_trees_with_subdirectories_are_known() {
    let mut fed = Fed::new();
    fed.done(Action::Create, ("w0/s0/1", ""), 0, 0, 5);
    fed.done(Action::Create, ("w0/s1/2", ""), 0, 0, 6);
    fed.done(Action::Create, ("w1/s1/2", ""), 0, 0, 7);
    fed.done(Action::Link, ("w0/s0/1", "w0/s0/3.l"), 0, 5, 5);
    for tree in ["w0/4.r", "w0/5.r"] {
        fed.done(Action::CopyTree, (tree, ""), 0, 0, 0);
        let expected = |name: &str| fed.expected(&format!("{tree}/{name}"));
        assert_eq!(expected("s0/1"), whole(0, 5));
        assert_eq!(expected("s1/2"), whole(0, 6));
        // Neither links nor other trees are copied.
        for absent in ["s0/3.l", "4.r", "4.r/s0/1", "w1/s1/2"] {
            let name = format!("{tree}/{absent}").into_bytes();
            assert!(!fed.replay.names.contains_key(&(0, name)), "{absent}");
        }
    }
    let mentions = |fed: &Fed, name: &str| fed.replay.mentions(&(0, name.as_bytes().to_vec()));
    assert!(mentions(&fed, "w0/4.r/s1/17") && !mentions(&fed, "w0/s1/17"));
    fed.done(Action::RemoveTree, ("w0/4.r", ""), 0, 0, 0);
    for name in ["w0/4.r", "w0/4.r/s0/1", "w0/4.r/s1/2"] {
        assert_eq!(fed.name(name).acked, Acked::Absent, "{name}");
    }
    assert_eq!(fed.expected("w0/5.r/s1/2"), whole(0, 6));
}

#[test]
fn files_of_linked_trees_are_the_files_that_were_linked() {
    let mut fed = Fed::new();
    fed.done(Action::Create, ("s0/1", ""), 0, 0, 5);
    fed.done(Action::LinkTree, ("s0/3.r", ""), 0, 0, 0);
    fed.done(Action::CloneTree, ("s0/4.r", ""), 0, 0, 0);
    fed.done(Action::Append, ("s0/1", ""), 0, 5, 8);
    fed.done(Action::Delete, ("s0/1", ""), 0, 8, 0);
    assert_eq!(fed.name("s0/1").acked, Acked::Absent);
    assert_eq!(fed.expected("s0/3.r/1"), whole(0, 8));
    assert_eq!(fed.expected("s0/4.r/1"), whole(0, 5));
}

#[test]
fn next_log_begins_with_all_operations_done() {
    let mut fed = Fed::new();
    fed.done(Action::Create, ("1", ""), 0, 0, 700);
    fed.begins(Action::Rename, ("1", "2"), 0, 700, 700);
    fed.begins(Action::Append, ("2", ""), 0, 700, 900);
    fed.replay.begin_next_log().unwrap();
    assert_eq!(
        (fed.replay.in_flight(), fed.replay.acknowledged.len()),
        (0, 0)
    );
    assert_eq!(fed.name("1").acked, Acked::Absent);
    assert_eq!(fed.expected("2"), whole(0, 900));
    assert!(fed.name("1").may.is_empty() && fed.name("2").may.is_empty());
    assert_eq!(fed.replay.begun(0).count(), 3);
    // The operations of the next log are numbered from 1.
    fed.sequence = 0;
    fed.done(Action::Delete, ("2", ""), 0, 900, 0);
    assert_eq!(fed.replay.begun(0).count(), 4);
    let last = |action, file, version| workload::Intent {
        action,
        file,
        version,
        ..workload::Intent::NOTHING
    };
    assert!(fed.replay.begun(0).ends_with(&last(Action::Delete, 1, 0)));
    assert!(!fed.replay.begun(0).ends_with(&last(Action::Delete, 2, 0)));
}
