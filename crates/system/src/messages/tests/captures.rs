//! Compares readings with the numbers in files that were copied from real kernels.

use super::*;

#[test]
fn nfs_clients_of_old_and_new_kernels_are_read() {
    let reading = nfs("/C").parse(NFS_TELEGRAF);
    assert_eq!(reading.age_s, Fact::Known(1_084_700));
    assert_eq!(reading.server_read_bytes, Fact::Known(0));
    let getattr = MessageKind {
        kind: "GETATTR".into(),
        requests: 145_712,
        retransmissions: Fact::Known(0),
        sent_bytes: Fact::Known(22_994_472),
        received_bytes: Fact::Known(16_319_744),
        queued_ms: Fact::Known(532),
        round_trip_ms: Fact::Known(107_480),
        execution_ms: Fact::Known(109_969),
    };
    assert_eq!(*kind(&reading, "GETATTR"), getattr);
    assert_eq!(
        kind(&reading, "NULL").retransmissions,
        Fact::Known(1),
        "sent twice"
    );
    // The section of `/D` is from the newest kernel in the file. It has nine columns, and lines
    // that describe the server.
    let newest = nfs("/D").parse(NFS_TELEGRAF);
    assert_eq!(newest.requests(), Fact::Known(19));
    assert_eq!(
        kind(&newest, "RECLAIM_COMPLETE").execution_ms,
        Fact::Known(107)
    );
    // The section of `/A` is indented by four spaces instead of a tab, and the next mount follows
    // without an empty line.
    let oldest = nfs("/A").parse(NFS_TELEGRAF);
    let kinds = requests_by_kind(&oldest);
    assert_eq!(
        (kinds.len(), kinds[0], kinds[20]),
        (21, ("ACCESS", 400), ("WRITE", 700))
    );
    assert_eq!(oldest.server_read_bytes, Fact::Known(1_134_399_088_816));
    assert_eq!(oldest.server_written_bytes, Fact::Known(407_107_155_723));
    assert_eq!(kind(&oldest, "READ").requests, 600);
    assert_eq!(kind(&oldest, "READ").retransmissions, Fact::Known(1));
    let rdma = nfs("<mountpoint>").parse(NFS_RDMA);
    assert_eq!(requests_by_kind(&rdma), [("NULL", 16)]);
    assert_eq!(rdma.server_read_bytes, Fact::Known(2_013_200_952_170_479));
}

#[test]
fn impossible_numbers_are_unavailable_and_all_others_are_known() {
    let reading = nfs("/mnt/nfs/test").parse(NFS_PROCFS);
    let access = kind(&reading, "ACCESS");
    assert_eq!(access.requests, 2_927_395_007);
    assert!(
        access
            .retransmissions
            .why()
            .unwrap()
            .contains("2927394995 transmissions")
    );
    assert!(access.queued_ms.why().unwrap().contains("below 0"));
    assert_eq!(access.round_trip_ms, Fact::Known(1_667_369_447));
    assert_eq!(
        kind(&reading, "READ").received_bytes,
        Fact::Known(1_210_292_152)
    );
}

#[test]
fn nfs_servers_of_three_kernels_are_read() {
    let readings =
        NFSD.map(|text| nfs_server::NFS_VERSIONS.map(|protocol| nfsd(protocol).parse(text)));
    let [[busy, unused], [_, older], [three, four]] = &readings;
    assert_eq!(kind(busy, "WRITE").requests, 21_668_847);
    assert_eq!(kind(busy, "COMMIT").requests, 1_989_658);
    assert_eq!(kind(busy, "COMMIT").retransmissions, Fact::NotApplicable);
    assert_eq!(busy.operations, Fact::NotApplicable);
    assert_eq!(unused.kinds, Fact::Known(vec![]));
    assert_eq!(unused.operations, Fact::Known(vec![]));
    assert_eq!(
        requests_by_kind(older),
        [("COMPOUND", 182_991), ("NULL", 101)]
    );
    let of_three = [
        ("ACCESS", 111),
        ("FSINFO", 2),
        ("GETATTR", 112),
        ("LOOKUP", 2719),
        ("NULL", 2),
        ("PATHCONF", 1),
        ("READDIR", 27),
        ("READDIRPLUS", 216),
    ];
    assert_eq!(requests_by_kind(three), of_three);
    assert_eq!(four.requests(), Fact::Known(10_855));
    let operations = four.operations.known().unwrap();
    let count = |name: &str| {
        operations
            .iter()
            .find(|operation| operation.operation == name)
            .map(|found| found.count)
    };
    assert_eq!(
        ["ACCESS", "PUTFH", "RENEW", "SETCLIENTID_CONFIRM", "WRITE"].map(count),
        [Some(1098), Some(9609), Some(1236), Some(3), None]
    );
}

/// The files are from one machine, whose NFS client and NFS server count independently.
#[test]
fn nfs_client_and_nfs_server_count_the_same_calls() {
    let (client, server) = (nfs("/mnt/n3").parse(NFS_OWN), nfsd("nfs3").parse(NFSD_OWN));
    let of = |reading: &MessagesReading| -> Vec<(String, u64)> {
        let kinds = requests_by_kind(reading).into_iter();
        // mount.nfs(8) also sends NULL calls to the server.
        let kinds = kinds.filter(|(kind, _)| *kind != "NULL");
        kinds
            .map(|(kind, count)| (kind.to_owned(), count))
            .collect()
    };
    assert_eq!(of(&client), of(&server));
    assert_eq!(client.requests(), Fact::Known(176));
    assert_eq!(client.server_written_bytes, Fact::Known(1_310_900));
    // Version 4: the client counts by kind of request, the server counts operations in compounds.
    let (client, server) = (nfs("/mnt/n4").parse(NFS_OWN), nfsd("nfs4").parse(NFSD_OWN));
    let operations = server.operations.known().unwrap();
    for name in [
        "CLOSE",
        "COMMIT",
        "DELEGRETURN",
        "READDIR",
        "REMOVE",
        "RENAME",
        "WRITE",
    ] {
        let count = operations
            .iter()
            .find(|operation| operation.operation == name);
        assert_eq!(
            count.map(|found| found.count),
            Some(kind(&client, name).requests),
            "{name}"
        );
    }
    let opened = ["OPEN", "OPEN_NOATTR"].map(|name| kind(&client, name).requests);
    assert_eq!(opened, [31, 30]);
    assert!(operations.contains(&CompoundOperation {
        operation: "OPEN".into(),
        count: 61
    }));
}

#[test]
fn unknown_operations_are_named_by_number() {
    let zeros = "0 ".repeat(76);
    let text = format!("proc4 2 0 1\nproc4ops 77 {zeros}5\n");
    let reading = nfsd("nfs4").parse(&text);
    let operations = reading.operations.known().unwrap();
    assert_eq!(
        (operations[0].operation.as_str(), operations[0].count),
        ("76", 5)
    );
}

#[test]
fn shares_of_smb_1_2_and_3_are_read() {
    let one = smb("//server1/share1").parse(CIFS_OLD);
    assert_eq!(requests_by_kind(&one), [("FindFirst", 1)]);
    assert_eq!(one.server_read_bytes, Fact::Known(0));
    let two = smb("//SERVER2/share2").parse(CIFS_OLD);
    assert_eq!(kind(&two, "Creates").requests, 11);
    assert_eq!(kind(&two, "OplockBreaks").requests, 770);
    assert!(
        two.server_written_bytes
            .why()
            .unwrap()
            .contains("no bytes written")
    );
    let [(three, _), (other, _)] = [&all()[14], &all()[15]];
    let three = three.parse(CIFS);
    assert_eq!(three.requests(), Fact::Known(195_840));
    assert_eq!(three.server_read_bytes, Fact::Known(3_407_203_268));
    assert_eq!(three.server_written_bytes, Fact::Known(1_908_651_680));
    assert_eq!(kind(&other.parse(CIFS), "Creates").requests, 19_052);
    let own = smb("//127.0.0.1/lab").parse(CIFS_OWN);
    assert_eq!(
        own.requests(),
        Fact::Known(317),
        "as many as its line `SMBs` says"
    );
    assert_eq!(own.server_written_bytes, Fact::Known(1_310_900));
    let bytes = "1) \\\\s\\x\nSMBs: 3\nReads:  2 Bytes: 8192\nWrites: 1 Bytes: 17\nRenames: 4 T2 \
                 Renames 5\n\n";
    let reading = smb("//s/x").parse(bytes);
    assert_eq!(reading.server_read_bytes, Fact::Known(8192));
    assert_eq!(reading.server_written_bytes, Fact::Known(17));
    assert_eq!(
        requests_by_kind(&reading),
        [
            ("Reads", 2),
            ("Renames", 4),
            ("T2 Renames", 5),
            ("Writes", 1)
        ]
    );
}

#[test]
fn counts_of_all_sessions_of_a_share_are_added() {
    let section = "1) \\\\s\\x\nBytes read: 1  Bytes written: 2\nReads: 5 total 0 \
                   failed\nOplockBreaks: 0 sent 0 failed\n";
    let reading = smb("//s/x").parse(&format!("{section}\n{section}"));
    assert_eq!(requests_by_kind(&reading), [("Reads", 10)]);
    assert_eq!(reading.server_written_bytes, Fact::Known(4));
}

#[test]
fn commands_of_an_iscsi_disk_are_read() {
    assert_eq!(
        requests_by_kind(&disk("sda").parse("0x1a2b\n")),
        [("commands", 6699)]
    );
    assert_eq!(disk("sda").parse("0x0\n").kinds, Fact::Known(vec![]));
    assert!(
        disk("sda")
            .parse("6699\n")
            .kinds
            .why()
            .unwrap()
            .contains("sda/device")
    );
}

#[test]
fn escaped_and_covered_mount_points_are_found_in_mountstats() {
    let of = |source: &str, count: u32| {
        format!(
            "device {source} mounted on /mnt/a\\040b with fstype nfs \
             statvers=1.1\n\tage:\t{count}\n\tper-op statistics\n\t READ: {count} {count} 0 0 0 0 \
             0 0\n\n"
        )
    };
    let text = of("one:/x", 1)
        + "device tmpfs mounted on /mnt/a\\040b with fstype tmpfs\n"
        + &of("two:/y", 2);
    let reading = nfs("/mnt/a b").parse(&text);
    assert_eq!(requests_by_kind(&reading), [("READ", 2)]);
    assert_eq!(reading.age_s, Fact::Known(2));
}
