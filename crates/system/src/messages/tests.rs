//! Tests on files copied from real kernels (`tests/captures`, where their origin is stated), and on
//! targets in fixture trees.

use super::*;
use crate::class::Class;
use crate::device::Device;

mod captures;
mod robust;
mod watched;

const NFS_TELEGRAF: &str = include_str!("../../tests/captures/mountstats-telegraf");
const NFS_PROCFS: &str = include_str!("../../tests/captures/mountstats-procfs");
const NFS_RDMA: &str = include_str!("../../tests/captures/mountstats-procfs-rdma");
const NFS_OWN: &str = include_str!("../../tests/captures/mountstats-linux-6.1");
const NFSD_OWN: &str = include_str!("../../tests/captures/nfsd-linux-6.1");
const CIFS_OWN: &str = include_str!("../../tests/captures/cifs-linux-6.1");
const NFSD: [&str; 3] = [
    include_str!("../../tests/captures/nfsd-procfs-40"),
    include_str!("../../tests/captures/nfsd-procfs-59"),
    include_str!("../../tests/captures/nfsd-procfs-72"),
];
const CIFS_OLD: &str = include_str!("../../tests/captures/cifs-procfs");
const CIFS: &str = include_str!("../../tests/captures/cifs-exporter");

fn counter(counter: MessageCounter, protocol: &str, of: &str) -> WatchedCounter {
    WatchedCounter {
        counter,
        protocol: protocol.to_owned(),
        of: of.to_owned(),
    }
}

fn nfs(mount_point: &str) -> WatchedCounter {
    counter(MessageCounter::NfsClient, "nfs4.2", mount_point)
}

fn nfsd(protocol: &str) -> WatchedCounter {
    counter(MessageCounter::NfsServer, protocol, "this machine")
}

fn smb(share: &str) -> WatchedCounter {
    counter(MessageCounter::SmbClient, "smb3.1.1", share)
}

fn disk(name: &str) -> WatchedCounter {
    counter(MessageCounter::IscsiSession, "iscsi", name)
}

/// Returns one pair for each counter in the copied files: the counter, and the text of the file
/// that contains it.
fn all() -> Vec<(WatchedCounter, &'static str)> {
    let mut all: Vec<_> = ["/A", "/B", "/C", "/D"]
        .map(|at| (nfs(at), NFS_TELEGRAF))
        .into();
    all.extend([
        (nfs("/mnt/nfs/test"), NFS_PROCFS),
        (nfs("<mountpoint>"), NFS_RDMA),
    ]);
    all.extend(
        NFSD.iter()
            .flat_map(|text| nfs_server::NFS_VERSIONS.map(|protocol| (nfsd(protocol), *text))),
    );
    all.extend(["//server1/share1", "//server2/share2"].map(|share| (smb(share), CIFS_OLD)));
    all.extend(
        [
            "//smb157.boreal-system.svc.cluster.local/Ddrive$",
            "//smb161.boreal-system.svc.cluster.local/Edrive$",
        ]
        .map(|share| (smb(share), CIFS)),
    );
    all.extend([(nfs("/mnt/n3"), NFS_OWN), (nfs("/mnt/n4"), NFS_OWN)]);
    all.extend([
        (nfsd("nfs3"), NFSD_OWN),
        (nfsd("nfs4"), NFSD_OWN),
        (smb("//127.0.0.1/lab"), CIFS_OWN),
    ]);
    all.push((disk("sda"), "0x1a2b\n"));
    all
}

fn kind<'reading>(reading: &'reading MessagesReading, name: &str) -> &'reading MessageKind {
    let kinds = reading
        .kinds
        .known()
        .unwrap_or_else(|| panic!("{reading:?}"));
    kinds
        .iter()
        .find(|kind| kind.kind == name)
        .unwrap_or_else(|| panic!("{name} in {kinds:?}"))
}

fn requests_by_kind(reading: &MessagesReading) -> Vec<(&str, u64)> {
    let kinds = reading
        .kinds
        .known()
        .unwrap_or_else(|| panic!("{reading:?}"));
    kinds
        .iter()
        .map(|kind| (kind.kind.as_str(), kind.requests))
        .collect()
}
