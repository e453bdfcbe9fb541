//! The control group of this process, and its limits.
//!
//! This module reads limits on memory and processor time only, and no statistics. Version 1 of
//! control groups has one hierarchy per controller, version 2 has one hierarchy for all controllers
//! (cgroups(7)). If both versions are mounted, each controller is looked up in the hierarchy that
//! contains it.
//!
//! A limit applies to a group and all groups below it. The effective limit is therefore the
//! smallest limit of all groups from the process's group up to the root of the visible hierarchy.
//! In a container, the group's path often does not exist below the mount. The mount's root is then
//! used, because it is the container's own group.

use std::io;
use std::path::{Component, Path};

use procfs_core::{FromRead, ProcessCGroup, ProcessCGroups};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fact::{Fact, pair};
use crate::mount::{Mount, MountTable};
use crate::sources::Sources;

const MEMBERSHIP: &str = "/proc/self/cgroup";

/// Version 1 reports "no limit" as the greatest multiple of a page below 2^63. Because page sizes
/// differ, any value of at least 2^62 bytes means no limit.
const V1_UNLIMITED_BYTES: u64 = 1 << 62;

/// Versions of cgroup hierarchies that are mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CgroupVersion {
    /// One hierarchy per controller.
    V1,
    /// One hierarchy for all controllers.
    V2,
    /// Both versions are mounted.
    Hybrid,
}

/// The control group of this process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cgroup {
    /// Versions of the mounted hierarchies, from the file system types `cgroup` and `cgroup2`.
    pub version: CgroupVersion,
    /// Path of the group in the hierarchy that limits memory, as in `/proc/self/cgroup`.
    pub path: Fact<String>,
    /// Smallest limit on memory, including the page cache, in bytes. Version 1:
    /// `memory.limit_in_bytes`, and `hierarchical_memory_limit` of `memory.stat`. Version 2:
    /// `memory.max` and `memory.high`; above `memory.high` no allocation fails, but the kernel
    /// reclaims cache. Not applicable if no limit is set.
    pub memory_limit_bytes: Fact<u64>,
    /// Smallest quota of processor time, in processors: `cpu.cfs_quota_us` divided by
    /// `cpu.cfs_period_us` (version 1), or `cpu.max` (version 2). Not applicable if no quota is
    /// set.
    pub cpu_quota_cpus: Fact<f64>,
}

impl Cgroup {
    /// Reads the control group of this process; not applicable if the kernel has no control groups.
    pub fn read(sources: &Sources) -> Fact<Cgroup> {
        MountTable::read(sources).and_then(|table| {
            let membership = match sources.read(MEMBERSHIP) {
                Ok(text) => text,
                Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
                Err(error) => return sources.unavailable(MEMBERSHIP, error),
            };
            let Ok(ProcessCGroups(hierarchies)) = ProcessCGroups::from_read(membership.as_bytes())
            else {
                return sources.unavailable(MEMBERSHIP, "not understood");
            };
            match (version(&table), hierarchies.is_empty()) {
                (None, true) => Fact::NotApplicable,
                (None, false) => sources.unavailable(
                    MEMBERSHIP,
                    "names a group, but no cgroup file system is mounted",
                ),
                (Some(_), true) => sources.unavailable(MEMBERSHIP, "names no group"),
                (Some(version), false) => {
                    Fact::Known(Cgroup::of(sources, version, &table, &hierarchies))
                }
            }
        })
    }

    fn of(
        sources: &Sources,
        version: CgroupVersion,
        table: &MountTable,
        hierarchies: &[ProcessCGroup],
    ) -> Cgroup {
        let memory = Group::of("memory", sources, table, hierarchies);
        let cpu = Group::of("cpu", sources, table, hierarchies);
        Cgroup {
            version,
            path: memory.as_ref().map(|group| group.path.clone()),
            memory_limit_bytes: memory.and_then(|group| group.memory_limit_bytes(sources)),
            cpu_quota_cpus: cpu.and_then(|group| group.cpu_quota_cpus(sources)),
        }
    }
}

fn version(table: &MountTable) -> Option<CgroupVersion> {
    let mounted = |kind| {
        let mut mounts = table.mounts.iter();
        mounts.any(|mount| mount.file_system_type == kind)
    };
    match (mounted("cgroup"), mounted("cgroup2")) {
        (true, true) => Some(CgroupVersion::Hybrid),
        (true, false) => Some(CgroupVersion::V1),
        (false, true) => Some(CgroupVersion::V2),
        (false, false) => None,
    }
}

/// The process's group in the hierarchy of one controller.
struct Group {
    unified: bool,
    /// The group's path, as in `/proc/self/cgroup`.
    path: String,
    /// Directories of the group and of its visible ancestors, innermost first.
    levels: Vec<String>,
}

impl Group {
    fn of(
        controller: &str,
        sources: &Sources,
        table: &MountTable,
        hierarchies: &[ProcessCGroup],
    ) -> Fact<Group> {
        let is_unified = |hierarchy: &ProcessCGroup| hierarchy.hierarchy == 0;
        let own = hierarchies
            .iter()
            .find(|hierarchy| hierarchy.controllers.iter().any(|name| name == controller))
            .or_else(|| hierarchies.iter().find(|hierarchy| is_unified(hierarchy)));
        let Some(hierarchy) = own else {
            return Fact::NotApplicable;
        };
        let unified = is_unified(hierarchy);
        let mount = table.mounts.iter().find(|mount| {
            if unified {
                mount.file_system_type == "cgroup2"
            } else {
                mount.file_system_type == "cgroup"
                    && mount
                        .super_options
                        .iter()
                        .any(|option| option == controller)
            }
        });
        let Some(mount) = mount else {
            let why = format!("the hierarchy of `{controller}` is not mounted");
            return sources.unavailable(MEMBERSHIP, why);
        };
        let mount_point = mount.mount_point.to_string_lossy();
        if !sources.path(&mount_point).is_dir() {
            return sources.unavailable(&mount_point, "the mounted hierarchy is not visible");
        }
        Fact::Known(Group {
            unified,
            path: hierarchy.pathname.clone(),
            levels: levels(sources, mount, &hierarchy.pathname),
        })
    }

    fn memory_limit_bytes(&self, sources: &Sources) -> Fact<u64> {
        let files: &[&str] = if self.unified {
            &["memory.max", "memory.high"]
        } else {
            &["memory.limit_in_bytes"]
        };
        let paths = self
            .levels
            .iter()
            .flat_map(|level| files.iter().map(move |file| format!("{level}/{file}")));
        let own = paths.map(|path| {
            let text = self.limit(sources, &path);
            text.and_then(|text| self.bytes(sources, &path, &text))
        });
        // Version 1 also reports limits of ancestors outside of a container.
        let inherited = (!self.unified).then(|| self.hierarchical_limit_bytes(sources));
        smallest(own.chain(inherited))
    }

    fn hierarchical_limit_bytes(&self, sources: &Sources) -> Fact<u64> {
        let path = format!("{}/memory.stat", self.levels[0]);
        self.limit(sources, &path).and_then(|statistics| {
            let value = statistics
                .lines()
                .find_map(|line| line.strip_prefix("hierarchical_memory_limit "));
            value.map_or(Fact::NotApplicable, |text| self.bytes(sources, &path, text))
        })
    }

    /// Parses a limit in bytes; not applicable if the text means "no limit".
    fn bytes(&self, sources: &Sources, path: &str, text: &str) -> Fact<u64> {
        if text == "max" {
            return Fact::NotApplicable;
        }
        let is_unlimited = |bytes: u64| !self.unified && bytes >= V1_UNLIMITED_BYTES;
        sources
            .parse(path, text)
            .and_then(|bytes| match is_unlimited(bytes) {
                true => Fact::NotApplicable,
                false => Fact::Known(bytes),
            })
    }

    fn cpu_quota_cpus(&self, sources: &Sources) -> Fact<f64> {
        smallest(self.levels.iter().map(|level| {
            let file = if self.unified {
                "cpu.max"
            } else {
                "cpu.cfs_quota_us"
            };
            let path = format!("{level}/{file}");
            self.limit(sources, &path).and_then(|text| {
                // In version 2, the file contains the quota and the period in microseconds, such as
                // `200000 100000`, or `max 100000` without a quota. In version 1, it contains the
                // quota only, which is -1 for no quota.
                let (quota, period) = text.split_once(' ').unwrap_or((&text, "100000"));
                if quota == "max" || quota == "-1" {
                    return Fact::NotApplicable;
                }
                let period = match self.unified {
                    true => Fact::Known(period.to_owned()),
                    false => sources.text(&format!("{level}/cpu.cfs_period_us")),
                };
                period.and_then(|period| ratio(sources, &path, quota, &period))
            })
        }))
    }

    /// Reads the file of a limit. If the file does not exist, this level has no limit. This is the
    /// case for a root group, and for a group whose parent does not enable the controller.
    fn limit(&self, sources: &Sources, path: &str) -> Fact<String> {
        let (level, _) = path.rsplit_once('/').unwrap_or((path, ""));
        sources.feature(path, level)
    }
}

fn ratio(sources: &Sources, path: &str, quota: &str, period: &str) -> Fact<f64> {
    let (quota, period) = (sources.parse(path, quota), sources.parse(path, period));
    pair(&quota, &period, |quota: &f64, period: &f64| {
        let ratio = (*period > 0.0).then(|| quota / period);
        sources.found(path, ratio, || "the period is 0")
    })
}

/// Returns the directories of the group and its ancestors, up to the mount's root.
fn levels(sources: &Sources, mount: &Mount, path: &str) -> Vec<String> {
    let mount_point = mount.mount_point.to_string_lossy();
    let mount_point = mount_point.trim_end_matches('/');
    let relative = Path::new(path)
        .strip_prefix(&mount.root)
        .ok()
        .filter(|relative| {
            // `/../x` is a group outside of this cgroup namespace.
            let mut components = relative.components();
            components.all(|component| matches!(component, Component::Normal(_)))
        })
        .filter(|relative| sources.path(mount_point).join(relative).is_dir())
        .unwrap_or(Path::new(""));
    let mut levels: Vec<String> = relative
        .ancestors()
        .filter(|ancestor| !ancestor.as_os_str().is_empty())
        .map(|ancestor| format!("{mount_point}/{}", ancestor.display()))
        .collect();
    levels.push(mount_point.to_owned());
    levels
}

/// Returns the smallest limit. If a limit cannot be read, the result is unavailable, because this
/// limit might be the smallest.
fn smallest<T: PartialOrd>(limits: impl Iterator<Item = Fact<T>>) -> Fact<T> {
    let mut smallest = Fact::NotApplicable;
    for limit in limits {
        smallest = match (smallest, limit) {
            (_, Fact::Unavailable(why)) => return Fact::Unavailable(why),
            (Fact::Known(least), Fact::Known(value)) if value >= least => Fact::Known(least),
            (_, Fact::Known(value)) => Fact::Known(value),
            (least, Fact::NotApplicable) => least,
        };
    }
    smallest
}

#[cfg(test)]
mod tests;
