//! The control group that this process is in, and what it may use at most.
//!
//! Memory and processor time only; no statistics. Version 1 keeps a hierarchy
//! for each controller, version 2 one for all (cgroups(7)); in a hybrid system
//! each controller is looked up in the hierarchy that has it.
//!
//! A limit holds for a group and all below it, so the one that counts is the
//! smallest from the process's group up to the root of what is visible. In a
//! container the group's path often does not exist beneath the mount; then the
//! mount's root is the container's own group.

use std::io;
use std::path::{Component, Path};

use procfs_core::{FromRead, ProcessCGroup, ProcessCGroups};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fact::{Fact, pair};
use crate::mount::{Mount, MountTable};
use crate::sources::Sources;

const MEMBERSHIP: &str = "/proc/self/cgroup";

/// Version 1 says "no limit" with the greatest multiple of a page below 2^63;
/// the page's size varies, so all from 2^62 bytes on counts as none.
const V1_UNLIMITED_BYTES: u64 = 1 << 62;

/// Which hierarchies are mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CgroupVersion {
    /// One hierarchy for each controller.
    V1,
    /// One hierarchy for all.
    V2,
    /// Both are mounted.
    Hybrid,
}

/// This process's control group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cgroup {
    /// What is mounted.
    pub version: CgroupVersion,
    /// The group's path in the hierarchy that limits memory, as
    /// `/proc/self/cgroup` has it.
    pub path: Fact<String>,
    /// The smallest limit on memory, page cache included, in bytes:
    /// `memory.limit_in_bytes` and `hierarchical_memory_limit` of
    /// `memory.stat` (version 1), `memory.max` and `memory.high` (version 2:
    /// beyond that one nothing fails, but cache is reclaimed all the same).
    /// Not applicable where no limit is set.
    pub memory_limit_bytes: Fact<u64>,
    /// The smallest quota of processor time, in processors:
    /// `cpu.cfs_quota_us` by `cpu.cfs_period_us` (version 1), `cpu.max`
    /// (version 2). Not applicable where no quota is set.
    pub cpu_quota_cpus: Fact<f64>,
}

impl Cgroup {
    /// Reads the group; not applicable where the kernel has no control groups.
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
    /// As the kernel names it.
    path: String,
    /// Its directory and those of its visible ancestors, innermost first.
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
        // Version 1 also tells what ancestors outside a container impose.
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

    /// What a limit's text says, where it limits anything.
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
                // Version 2: `200000 100000`, quota and period in microseconds, or `max 100000`.
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

    /// A limit's file. Roots have none, nor have groups to which the parent
    /// does not pass the controller on: there is no limit at that level then.
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

/// The directories from the group's own up to the mount's root.
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

/// The smallest known limit; one that could not be read makes it unavailable,
/// since it might have been smaller.
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
