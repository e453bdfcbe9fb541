//! The table of mounts, and the mount that contains a path.
//!
//! The module reads `/proc/self/mountinfo` (proc_pid_mountinfo(5)) and obtains a path's mount id
//! from statx(2). The module reads neither devices nor free space.
//!
//! A mount point contains the unchanged bytes of the kernel, because it is compared with paths.
//! Other names are text: bytes that are not UTF-8 become U+FFFD. The same applies to a mount point
//! when it is serialized.

use std::ffi::OsString;
use std::net::IpAddr;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, StatxFlags};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use crate::device_number::DeviceNumber;
use crate::fact::Fact;
use crate::sources::{Sources, unavailable};

const MOUNTINFO: &str = "/proc/self/mountinfo";

/// One line of `/proc/self/mountinfo`, unescaped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mount {
    /// Identifier of this mount; the kernel reuses it after unmounting.
    pub mount_id: u64,
    /// Identifier of the mount that contains the mount point; the mount's own identifier if there
    /// is no such mount.
    pub parent_id: u64,
    /// Device of the superblock. All subvolumes of a btrfs have the same superblock device, whereas
    /// `st_dev` of stat(2) differs. The major number is 0 if the file system is not on a single
    /// block device.
    pub device: DeviceNumber,
    /// Directory within the file system that is the mount's root. It differs from `/` for bind
    /// mounts and subvolumes.
    pub root: String,
    /// Directory on which the file system is mounted, as this process sees it.
    #[serde(serialize_with = "as_text")]
    #[schemars(with = "String")]
    pub mount_point: PathBuf,
    /// Options of this mount (`rw`, `noatime`, …).
    pub mount_options: Vec<String>,
    /// Type of the file system, with subtype: `ext4`, `fuse.sshfs`.
    pub file_system_type: String,
    /// Mounted source: a device, `server:/export`, or any word.
    pub source: String,
    /// Options of the file system itself (`rw`, `data=ordered`, …).
    pub super_options: Vec<String>,
}

impl Mount {
    /// Returns the value of the file system's option `name=value`.
    pub fn super_option(&self, name: &str) -> Option<&str> {
        self.super_options
            .iter()
            .find_map(|option| option.strip_prefix(name)?.strip_prefix('='))
    }

    /// Returns the server's address of an NFS or SMB mount: the option `addr`, or the host in the
    /// source if this host is an address.
    pub fn server_address(&self) -> Option<IpAddr> {
        let host = match self.source.strip_prefix("//") {
            Some(share) => share.split('/').next(),
            None => self.source.rsplit_once(":/").map(|(host, _)| host),
        };
        let address = self.super_option("addr").or(host)?;
        let address = address.trim_start_matches('[').trim_end_matches(']');
        // A link-local address is followed by `%` and the interface.
        let address = address.split('%').next()?;
        address.parse().ok()
    }

    fn parse(line: &[u8]) -> Option<Mount> {
        // Single spaces separate the fields; an empty source is between two spaces.
        let mut fields = line.split(|byte| *byte == b' ');
        let number = |field: &[u8]| std::str::from_utf8(field).ok()?.parse().ok();
        let mount_id = number(fields.next()?)?;
        let parent_id = number(fields.next()?)?;
        let device = DeviceNumber::parse(std::str::from_utf8(fields.next()?).ok()?)?;
        let root = text(fields.next()?);
        let mount_point = OsString::from_vec(unescaped(fields.next()?)).into();
        let mount_options = options(fields.next()?);
        // Skips a variable number of optional fields (`shared:1`), which end with a hyphen.
        fields.find(|field| *field == b"-")?;
        Some(Mount {
            mount_id,
            parent_id,
            device,
            root,
            mount_point,
            mount_options,
            file_system_type: text(fields.next()?),
            source: text(fields.next()?),
            super_options: options(fields.next()?),
        })
    }
}

/// All mounts that this process sees, in the kernel's order. Of two mounts with the same mount
/// point, the later one covers the earlier one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountTable {
    pub mounts: Vec<Mount>,
}

impl MountTable {
    pub fn read(sources: &Sources) -> Fact<MountTable> {
        sources.bytes(MOUNTINFO).and_then(|table| {
            MountTable::parse(&table).map_or_else(
                |line| sources.unavailable(MOUNTINFO, format!("not understood: `{line}`")),
                Fact::Known,
            )
        })
    }

    /// Parses a whole table; the error is the line that is not understood.
    pub fn parse(table: impl AsRef<[u8]>) -> Result<MountTable, String> {
        let lines = table
            .as_ref()
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty());
        let mounts = lines
            .map(|line| {
                Mount::parse(line).ok_or_else(|| String::from_utf8_lossy(line).into_owned())
            })
            .collect::<Result<_, _>>()?;
        Ok(MountTable { mounts })
    }

    /// Returns the mount that contains an existing path. The mount is identified by the path's
    /// mount id, if the kernel reports this id (Linux 5.8). Otherwise it is the mount with the
    /// longest mount point that contains the path. Mounts of the path's device are preferred.
    pub fn mount_of(&self, path: &Path) -> Fact<Mount> {
        let (mount_id, device) = match place_of(path) {
            Ok(place) => place,
            Err(error) => return unavailable(path, format!("statx: {error}")),
        };
        let canonical = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        match self.choose(&canonical, mount_id, device) {
            Some(mount) => Fact::Known(mount.clone()),
            None => unavailable(path, format!("{MOUNTINFO} has no mount for it")),
        }
    }

    /// Whether a path, which need not exist, leads through a file system with a server
    /// ([`Mount::has_server`]). Such a file system is not accessed, because the access could block
    /// for ever.
    pub fn leads_to_server(&self, path: &Path) -> bool {
        // The kernel follows at most 40 symbolic links (path_resolution(7)); a path with more links
        // does not resolve.
        let mut links_left = 40;
        // Returns the names of a path in reverse order, so that `pop` returns the first name of the
        // path.
        let names = |path: &Path| -> Vec<PathBuf> {
            let components = path
                .components()
                .map(|component| component.as_os_str().into());
            components.rev().collect()
        };
        let mut ahead = names(path);
        let mut here = std::env::current_dir().unwrap_or_default();
        while let Some(name) = ahead.pop() {
            if name == Path::new("..") {
                here.pop();
                continue;
            }
            here.push(&name);
            if self
                .covering(&here, |_| true)
                .is_some_and(Mount::has_server)
            {
                return true;
            }
            let target = std::fs::read_link(&here);
            if let Some(target) = target.ok().filter(|_| links_left > 0) {
                links_left -= 1;
                here.pop();
                ahead.extend(names(&target));
            }
        }
        false
    }

    /// Chooses the mount of a canonical path for [`MountTable::mount_of`], without a system call.
    fn choose(&self, path: &Path, id: Option<u64>, device: DeviceNumber) -> Option<&Mount> {
        let of_id = self.mounts.iter().find(|mount| Some(mount.mount_id) == id);
        of_id
            .or_else(|| self.covering(path, |mount| mount.device == device))
            .or_else(|| self.covering(path, |_| true))
    }

    /// Returns the mount with the longest mount point that contains the path and fulfils `fits`.
    fn covering(&self, path: &Path, fits: impl Fn(&Mount) -> bool) -> Option<&Mount> {
        let is_above = |mount: &&Mount| path.starts_with(&mount.mount_point) && fits(mount);
        // If several mounts have the same mount point, the last one covers the others. `max_by_key`
        // returns the last maximum.
        let above = self.mounts.iter().filter(is_above);
        above.max_by_key(|mount| mount.mount_point.as_os_str().len())
    }
}

/// Returns the mount id of a path, if the kernel reports one, and the path's device.
fn place_of(path: &Path) -> std::io::Result<(Option<u64>, DeviceNumber)> {
    let flags = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
    match rustix::fs::statx(CWD, path, AtFlags::empty(), flags) {
        Ok(status) => {
            let told = status.stx_mask & StatxFlags::MNT_ID.bits() != 0;
            let device = DeviceNumber {
                major: status.stx_dev_major,
                minor: status.stx_dev_minor,
            };
            Ok((told.then_some(status.stx_mnt_id), device))
        }
        // Kernels before 4.11 and old sandboxes have no statx.
        Err(rustix::io::Errno::NOSYS) => {
            let status = rustix::fs::stat(path)?;
            Ok((None, DeviceNumber::of(status.st_dev)))
        }
        Err(error) => Err(error.into()),
    }
}

fn as_text<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

fn options(field: &[u8]) -> Vec<String> {
    field
        .split(|byte| *byte == b',')
        .filter(|option| !option.is_empty())
        .map(text)
        .collect()
}

/// Removes the escapes of a field and converts it to text.
fn text(field: &[u8]) -> String {
    String::from_utf8_lossy(&unescaped(field)).into_owned()
}

pub(crate) fn unescape(field: &str) -> String {
    text(field.as_bytes())
}

/// Replaces escapes such as `\040` with their bytes. The kernel escapes spaces, tabs, line feeds,
/// backslashes and number signs.
fn unescaped(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let octal = bytes
            .get(at + 1..at + 4)
            .filter(|digits| bytes[at] == b'\\' && digits.iter().all(|d| (b'0'..=b'7').contains(d)))
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        plain.push(octal.unwrap_or(bytes[at]));
        at += if octal.is_some() { 4 } else { 1 };
    }
    plain
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    const TABLE: &str = "\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard,resuid=65534
40 27 8:1 / /mnt/with\\040space\\134and\\011tab rw,noatime shared:2 master:3 - xfs /dev/sda1 \
                         rw,attr2
41 27 8:1 /deep/dir /srv/bind ro,relatime - xfs /dev/sda1 rw,attr2
42 27 0:45 /@home /home rw,relatime - btrfs /dev/sdb2 rw,ssd,subvolid=257,subvol=/@home
43 27 0:46 / /merged rw - overlay overlay rw,lowerdir=/l1:/l2,upperdir=/u,workdir=/w
44 27 0:47 / /covered rw - tmpfs first rw
45 44 0:48 / /covered rw - tmpfs  ro,size=4k
";

    fn table() -> MountTable {
        MountTable::parse(TABLE).unwrap()
    }

    fn number(major: u32, minor: u32) -> DeviceNumber {
        DeviceNumber { major, minor }
    }

    #[test]
    fn line_with_optional_fields_is_parsed() {
        let expected = Mount {
            mount_id: 27,
            parent_id: 1,
            device: number(254, 0),
            root: "/".into(),
            mount_point: "/".into(),
            mount_options: vec!["rw".into(), "relatime".into()],
            file_system_type: "ext4".into(),
            source: "/dev/vda".into(),
            super_options: vec!["rw".into(), "discard".into(), "resuid=65534".into()],
        };
        assert_eq!(table().mounts[1], expected);
        assert_eq!(expected.super_option("resuid"), Some("65534"));
        assert_eq!(expected.super_option("resu"), None);
    }

    #[test]
    fn escapes_bind_mounts_subvolumes_and_empty_sources_are_parsed() {
        let mounts = table().mounts;
        assert_eq!(
            mounts[2].mount_point,
            Path::new("/mnt/with space\\and\ttab")
        );
        assert_eq!(mounts[3].root, "/deep/dir");
        let is_read_only = |options: &[String]| options.iter().any(|option| option == "ro");
        assert!(is_read_only(&mounts[3].mount_options) && !is_read_only(&mounts[2].mount_options));
        assert_eq!(mounts[4].super_option("subvol"), Some("/@home"));
        assert_eq!(mounts[5].super_option("upperdir"), Some("/u"));
        assert_eq!(mounts[7].source, "");
        assert!(is_read_only(&mounts[7].super_options));
    }

    #[test]
    fn server_address_is_read_from_mount_option_or_source() {
        let address = |kind: &str, source: &str, options: &str| {
            let line = format!("40 1 0:45 / /mnt rw - {kind} {source} {options}");
            let address = Mount::parse(line.as_bytes()).unwrap().server_address();
            address.map(|address| address.to_string())
        };
        let is = |address: &str| Some(address.to_owned());
        assert_eq!(
            address(
                "nfs4",
                "server:/x",
                "rw,clientaddr=192.0.2.2,addr=192.0.2.7"
            ),
            is("192.0.2.7")
        );
        assert_eq!(address("nfs", "192.0.2.7:/x", "rw"), is("192.0.2.7"));
        assert_eq!(address("nfs4", "[2001:db8::7]:/x", "rw"), is("2001:db8::7"));
        assert_eq!(
            address("nfs4", "server:/x", "rw,addr=fe80::1%eth0"),
            is("fe80::1")
        );
        assert_eq!(
            address("cifs", "//192.0.2.7/share/x", "rw"),
            is("192.0.2.7")
        );
        assert_eq!(address("cifs", "//server/share", "rw"), None);
        assert_eq!(address("tmpfs", "tmpfs", "rw"), None);
    }

    #[test]
    fn invalid_escapes_remain_unchanged() {
        assert_eq!(unescape("a\\04"), "a\\04");
        assert_eq!(unescape("a\\089\\"), "a\\089\\");
        assert_eq!(unescape("\\777"), "\\777", "beyond a byte");
        assert_eq!(unescape("\\303\\244"), "ä");
    }

    #[test]
    fn a_mount_point_keeps_bytes_that_are_not_utf_8() {
        let line = b"40 27 7:1 / /images/\xff\\040\xfe rw - ext4 /dev/loop1 rw\n";
        let mount = MountTable::parse(line).unwrap().mounts.remove(0);
        assert_eq!(
            mount.mount_point.as_os_str().as_bytes(),
            b"/images/\xff \xfe"
        );
        let json = serde_json::to_value(&mount).unwrap();
        assert_eq!(json["mount_point"], "/images/\u{fffd} \u{fffd}");
        assert_eq!(serde_json::from_value::<Mount>(json).unwrap().mount_id, 40);
    }

    #[test]
    fn error_contains_the_invalid_line() {
        let error = MountTable::parse("27 1 254:0 / / rw ext4 /dev/vda rw").unwrap_err();
        assert!(error.starts_with("27 1"), "{error}");
    }

    #[test]
    fn mount_is_chosen_by_id_then_device_then_longest_mount_point() {
        let table = table();
        let choose = |path: &str, id, device| {
            let mount = table.choose(Path::new(path), id, device).unwrap();
            mount.mount_id
        };
        assert_eq!(
            choose("/srv/bind/x", Some(40), number(9, 9)),
            40,
            "the id decides"
        );
        assert_eq!(choose("/srv/bind/x", None, number(8, 1)), 41);
        assert_eq!(
            choose("/srv/bindings", None, number(254, 0)),
            27,
            "whole names"
        );
        assert_eq!(
            choose("/home/me", Some(999), number(0, 77)),
            42,
            "btrfs st_dev"
        );
        assert_eq!(
            choose("/covered/x", None, number(0, 99)),
            45,
            "the covering mount"
        );
        assert_eq!(
            choose("/covered/x", None, number(0, 47)),
            44,
            "the device decides"
        );
    }

    #[test]
    fn mounts_of_root_and_proc_are_found_on_this_machine() {
        let table = MountTable::read(&Sources::default()).into_known().unwrap();
        let mount = table.mount_of(Path::new("/")).into_known().unwrap();
        assert_eq!(mount.mount_point, Path::new("/"));
        let proc = table.mount_of(Path::new("/proc")).into_known().unwrap();
        assert_eq!(proc.file_system_type, "proc");
    }

    #[test]
    fn mount_of_a_missing_path_is_unavailable() {
        let fact = table().mount_of(Path::new("/no/such/path"));
        assert!(fact.why().unwrap().contains("/no/such/path"));
    }

    #[test]
    fn path_leads_to_a_server_through_mounts_or_links() {
        let scene = tempfile::tempdir().unwrap();
        let place = scene.path().canonicalize().unwrap();
        for (link, target) in [
            ("in", "served/deep"),
            ("out", "plain"),
            ("to-itself", "to-itself"),
        ] {
            std::os::unix::fs::symlink(target, place.join(link)).unwrap();
        }
        for directory in ["served", "plain", "again"] {
            std::fs::create_dir(place.join(directory)).unwrap();
        }
        let line = |id: u32, point: &str, kind: &str| {
            let place = place.display();
            format!("{id} 1 0:{id} / {place}/{point} rw - {kind} source rw\n")
        };
        let lines = [
            line(50, "served", "fuse.sshfs"),
            line(51, "served/deep/local", "tmpfs"),
            line(52, "again", "nfs4"),
            line(53, "again", "tmpfs"),
            line(54, "automatic", "autofs"),
        ];
        let table = MountTable::parse(&(TABLE.to_owned() + &lines.concat())).unwrap();
        let leads = |path: &str| table.leads_to_server(&place.join(path));
        // `served/deep/local` is a mount in memory, but its path leads through the FUSE mount
        // `served`.
        for path in [
            "served",
            "served/new/file",
            "in",
            "in/../x",
            "out/../in/file",
            "served/deep/local",
            "automatic/home",
        ] {
            assert!(leads(path), "{path}");
        }
        for path in [
            "",
            "plain/served",
            "out/file",
            "in-no-case",
            "to-itself/served",
            "again/file",
            "served/..",
        ] {
            assert_eq!(leads(path), path == "served/..", "{path}");
        }
    }
}
