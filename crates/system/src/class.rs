//! Classes of file systems by the kind of storage, such as memory, a block device or a network.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mount::Mount;

/// Kind of storage behind a file system, as far as it affects speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Memory: tmpfs, ramfs. Data reaches a device only by swapping.
    Memory,
    /// Layers over other file systems: overlay, as in containers.
    Overlay,
    /// Another machine, or the host of this virtual machine: NFS, CIFS, 9p, virtiofs.
    Network,
    /// A block device of this machine.
    Block,
    /// All other file systems: ZFS (which hides its devices), FUSE, proc.
    Other,
}

impl Mount {
    /// Whether the file system has a server, which may stop answering: a process (FUSE) or another
    /// machine (class network). This includes autofs, which mounts such file systems on first
    /// access.
    pub fn has_server(&self) -> bool {
        let kind = self.file_system_type.as_str();
        kind == "autofs" || self.is_fuse() || self.class() == Class::Network
    }

    /// Whether a process of this machine implements the file system.
    pub fn is_fuse(&self) -> bool {
        self.file_system_type.starts_with("fuse")
    }

    /// Whether the kernel counts this process's reads from storage (`read_bytes` of `/proc/PID/io`,
    /// proc(5)). Reads from FUSE are not counted, because the server reads on behalf of its
    /// clients. Of the network file systems, only NFS and SMB are known to count reads.
    pub fn counts_reads(&self) -> bool {
        const COUNTED: [&str; 5] = ["nfs", "nfs4", "cifs", "smb3", "smbfs"];
        let is_counted =
            self.class() != Class::Network || COUNTED.contains(&self.file_system_type.as_str());
        is_counted && !self.is_fuse()
    }

    pub fn class(&self) -> Class {
        const MEMORY: [&str; 4] = ["tmpfs", "ramfs", "devtmpfs", "hugetlbfs"];
        const OVERLAY: [&str; 5] = [
            "overlay",
            "overlayfs",
            "aufs",
            "unionfs",
            "fuse.fuse-overlayfs",
        ];
        const NETWORK: [&str; 31] = [
            "9p",
            "afs",
            "beegfs",
            "ceph",
            "cifs",
            "coda",
            "fuse.ceph",
            "fuse.ceph-fuse",
            "fuse.curlftpfs",
            "fuse.davfs",
            "fuse.gcsfuse",
            "fuse.glusterfs",
            "fuse.juicefs",
            "fuse.moosefs",
            "fuse.rclone",
            "fuse.s3fs",
            "fuse.sshfs",
            "fuse.vmhgfs-fuse",
            "glusterfs",
            "gpfs",
            "lustre",
            "nfs",
            "nfs4",
            "orangefs",
            "prl_fs",
            "pvfs2",
            "smb3",
            "smbfs",
            "vboxsf",
            "virtiofs",
            "vmhgfs",
        ];
        let kind = self.file_system_type.as_str();
        let is_fuse = kind == "fuse" || kind.starts_with("fuse.");
        if MEMORY.contains(&kind) {
            Class::Memory
        } else if OVERLAY.contains(&kind) {
            Class::Overlay
        } else if NETWORK.contains(&kind) {
            Class::Network
        } else if is_fuse {
            // Some FUSE file systems have the source /dev/fuse, which is not a block device.
            Class::Other
        } else if !self.device.is_anonymous() || self.source.starts_with("/dev/") {
            Class::Block
        } else {
            Class::Other
        }
    }
}
