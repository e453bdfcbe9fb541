//! Tests with truncated and invalid files, files of other kernels, and counters that go backwards.
//! Such input may cause neither a panic nor a number that the file does not contain.

use proptest::prelude::*;

use super::*;

/// Returns the kinds of messages that are in the reading of a truncated file, but not in that of
/// the whole file.
fn invented(part: &MessagesReading, whole: &MessagesReading) -> Vec<MessageKind> {
    let kinds = part.kinds.known().cloned().unwrap_or_default();
    let whole = whole.kinds.known().unwrap();
    kinds
        .into_iter()
        .filter(|kind| !whole.contains(kind))
        .collect()
}

#[test]
fn truncated_file_is_unavailable_or_has_the_numbers_of_the_whole_file() {
    for (watched, text) in all() {
        let whole = watched.parse(text);
        assert!(whole.kinds.is_known(), "{whole:?}");
        for end in 0..text.len() {
            let part = watched.parse(&text[..end]);
            assert_eq!(invented(&part, &whole), [], "{watched:?} cut at {end}");
            if part.kinds.is_known() {
                assert_eq!(part.kinds, whole.kinds, "{watched:?} cut at {end}");
            }
            for (part, whole) in [
                (&part.server_read_bytes, &whole.server_read_bytes),
                (&part.server_written_bytes, &whole.server_written_bytes),
                (&part.age_s, &whole.age_s),
            ] {
                assert!(
                    !part.is_known() || part == whole,
                    "{watched:?} cut at {end}"
                );
            }
        }
    }
}

#[test]
fn lines_and_fields_of_newer_kernels_are_ignored() {
    let newer = NFS_TELEGRAF
        .replace("\tper-op", "\tnew:\t1 x\n\tper-op")
        .replace(" 0\n", " 0 17 18\n");
    assert_ne!(newer, NFS_TELEGRAF);
    assert_eq!(nfs("/D").parse(&newer), nfs("/D").parse(NFS_TELEGRAF));
    let newer = NFSD[2].to_owned() + "proc5 1 7\nwdeleg_getattr 16\n";
    assert_eq!(nfsd("nfs4").parse(&newer), nfsd("nfs4").parse(NFSD[2]));
    let newer = CIFS.replace("Flushes:", "Compression: 4 good 1 bad\nLeases 3\nFlushes:");
    assert_eq!(all()[15].0.parse(&newer), all()[15].0.parse(CIFS));
}

#[test]
fn missing_parts_of_a_file_are_unavailable() {
    let why =
        |watched: WatchedCounter, text: &str| watched.parse(text).kinds.why().unwrap().to_owned();
    assert!(why(nfs("/E"), NFS_TELEGRAF).contains("/E: no NFS is mounted there"));
    assert!(why(nfs("/mnt"), "device x mounted on /mnt with fstype ext4\n\n").contains("no NFS"));
    let bare = "device x:/ mounted on /mnt with fstype nfs statvers=1.1\n\tage:\t1\n\n";
    assert!(why(nfs("/mnt"), bare).contains("no counts by operation"));
    assert!(
        nfs("/mnt")
            .parse(bare)
            .server_read_bytes
            .why()
            .unwrap()
            .contains("bytes:")
    );
    let twice = NFS_TELEGRAF.replace("ACCESS:", "GETATTR:");
    assert!(why(nfs("/D"), &twice).contains("`GETATTR` is there twice"));
    assert!(why(nfsd("nfs3"), "rc 0 0 0\n").contains("no line `proc3`"));
    assert!(why(nfsd("nfs3"), "proc3 22 1 2\n").contains("as many numbers"));
    assert!(why(smb("//a/b"), CIFS).contains("no such share"));
    assert!(
        why(
            smb("//a/b"),
            "1) \\\\a\\b\nReads: 99999999999999999999999 total 0 failed\n"
        )
        .contains("not understood")
    );
}

/// Creates a reading. Each kind is given by name, requests and retransmissions.
fn reading(age_s: u64, kinds: &[(&str, u64, u64)]) -> MessagesReading {
    let kinds = kinds
        .iter()
        .map(|(kind, requests, retransmissions)| MessageKind {
            retransmissions: Fact::Known(*retransmissions),
            ..MessageKind::counted(kind, *requests)
        });
    MessagesReading {
        age_s: Fact::Known(age_s),
        server_read_bytes: Fact::Known(age_s * 100),
        ..nfs("/mnt").reading(Fact::Known(kinds.collect()))
    }
}

#[test]
fn difference_contains_only_kinds_of_messages_that_occurred() {
    let before = reading(5, &[("CREATE", 10, 1), ("LOOKUP", 7, 0)]);
    let after = reading(9, &[("CREATE", 12, 4), ("LOOKUP", 7, 0), ("READ", 3, 0)]);
    let difference = after.since(&[reading(1, &[]).clone_of("/other"), before.clone()]);
    assert_eq!(
        difference,
        MessagesReading {
            server_read_bytes: Fact::Known(400),
            ..reading(9, &[("CREATE", 2, 3), ("READ", 3, 0)])
        }
    );
    assert_eq!(difference.requests(), Fact::Known(5));
    assert_eq!(difference.server_written_bytes, Fact::NotApplicable);
    assert_eq!(
        after.since(std::slice::from_ref(&after)).kinds,
        Fact::Known(vec![])
    );
}

impl MessagesReading {
    fn clone_of(&self, of: &str) -> MessagesReading {
        MessagesReading {
            of: of.to_owned(),
            ..self.clone()
        }
    }
}

#[test]
fn growth_of_decreased_message_counters_is_unavailable() {
    let before = reading(5, &[("CREATE", 10, 1)]);
    let why = |after: MessagesReading| {
        after
            .since(std::slice::from_ref(&before))
            .kinds
            .why()
            .unwrap()
            .to_owned()
    };
    assert!(why(reading(6, &[("CREATE", 9, 1)])).contains("CREATE went backwards, from 10 to 9"));
    assert!(why(reading(6, &[])).contains("went backwards"));
    assert!(why(reading(4, &[("CREATE", 90, 1)])).contains("mounted again"));
    assert!(why(before.clone_of("/other")).contains("not read before"));
    let remounted = reading(4, &[("CREATE", 90, 1)]).since(std::slice::from_ref(&before));
    assert!(
        remounted
            .server_read_bytes
            .why()
            .unwrap()
            .contains("mounted again")
    );
    assert_eq!(remounted.server_written_bytes, Fact::NotApplicable);
    // Only the retransmissions went backwards.
    let after = reading(6, &[("CREATE", 11, 0)]).since(std::slice::from_ref(&before));
    assert!(
        kind(&after, "CREATE")
            .retransmissions
            .why()
            .unwrap()
            .contains("went backwards")
    );
    assert_eq!(kind(&after, "CREATE").requests, 1);
    let unread = MessagesReading {
        kinds: Fact::Unavailable("gone".into()),
        ..before.clone()
    };
    assert_eq!(before.since(&[unread]).kinds.why(), Some("gone"));
}

#[test]
fn growth_of_operations_in_compounds_is_computed() {
    let of = |count: u64| {
        nfsd("nfs4").parse(&format!(
            "proc4 2 0 {count}\nproc4ops 6 0 0 0 {count} 7 0\n"
        ))
    };
    let difference = of(9).since(&[of(4)]);
    let access = CompoundOperation {
        operation: "ACCESS".into(),
        count: 5,
    };
    assert_eq!(difference.operations, Fact::Known(vec![access]));
    assert_eq!(difference.requests(), Fact::Known(5));
    assert!(
        of(4)
            .since(&[of(9)])
            .operations
            .why()
            .unwrap()
            .contains("backwards")
    );
}

#[test]
fn message_readings_survive_json() {
    for (watched, text) in all() {
        let reading = watched.parse(text);
        let json = serde_json::to_string(&reading).unwrap();
        assert_eq!(
            serde_json::from_str::<MessagesReading>(&json).unwrap(),
            reading
        );
    }
    let json = serde_json::to_string(&nfs("/x").parse("")).unwrap();
    assert!(
        json.starts_with(r#"{"counter":"nfs-client","protocol":"nfs4.2","of":"/x","age_s":"#),
        "{json}"
    );
}

proptest! {
    #[test]
    fn numbers_beyond_64_bits_are_unavailable(numbers in prop::collection::vec(any::<u128>(), 8)) {
        let words: Vec<String> = numbers.iter().map(u128::to_string).collect();
        let line = words.join(" ");
        let text = format!("device x:/ mounted on /mnt with fstype nfs \
            statvers=1.1\n\tbytes:\t{line}\n\tper-op statistics\n\tREAD: {line}\n\n");
        let reading = nfs("/mnt").parse(&text);
        let fits = numbers.iter().all(|number| u64::try_from(*number).is_ok());
        prop_assert_eq!(reading.kinds.is_known(), fits);
        let _ = reading.since(&[nfs("/mnt").parse(NFS_TELEGRAF)]);
    }
}
