//! Finds the programs that used processor time between two moments, except this process and its
//! descendants. Also determines the processor time of the targets' servers.
//!
//! For each moment, all files `/proc/PID/stat` are read (proc_pid_stat(5)), whose times are in
//! ticks. Processes that end before the second moment are missed, and so are processes that `/proc`
//! hides (`hidepid`). Kernel threads have no time in user mode and are not included.

use std::collections::{BTreeMap, BTreeSet};

use procfs_core::FromRead;
use procfs_core::process::Stat;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cpu::NANOSECONDS_PER_SECOND;
use crate::fact::Fact;
use crate::sources::Sources;

/// Maximum number of programs in [`Used::busiest`].
const NAMED_MAX: usize = 3;

/// All processes at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Programs {
    each: BTreeMap<i32, Program>,
    tick_ns: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Program {
    parent: i32,
    name: String,
    /// Start time in ticks since boot. It distinguishes processes with the same process number.
    began: u64,
    /// Time in user mode, in ticks.
    user: u64,
}

/// A program with its share of the machine's processor time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BusyProgram {
    /// Name of the program (proc_pid_comm(5)), which the kernel cuts after 15 bytes.
    pub name: String,
    /// Process number, as `/proc` shows it.
    pub pid: i32,
    /// Time that the program used in user mode, as a share of the time of all processors, from 0 to
    /// 1.
    pub fraction: f64,
}

/// User time of programs between two moments.
#[derive(Clone, Debug, PartialEq)]
pub struct Used {
    /// Up to three programs that are not servers, the busiest first.
    pub busiest: Vec<BusyProgram>,
    /// The servers of FUSE targets that still run. The time of each server includes its
    /// descendants.
    pub servers: Vec<BusyProgram>,
}

impl Programs {
    /// Reads `/proc/*/stat`. Processes that end during the reading are omitted.
    pub fn read(sources: &Sources) -> Fact<Self> {
        let Some(tick_ns) =
            NANOSECONDS_PER_SECOND.checked_div(rustix::param::clock_ticks_per_second())
        else {
            return sources.unavailable("/proc", "the system has no ticks");
        };
        let entries = match std::fs::read_dir(sources.path("/proc")) {
            Ok(entries) => entries,
            Err(error) => return sources.unavailable("/proc", error),
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let numbers = names.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
        let each = numbers.filter_map(|number| {
            let bytes = std::fs::read(sources.path(&format!("/proc/{number}/stat"))).ok()?;
            let stat = Stat::from_read(&bytes[..]).ok()?;
            let program = Program {
                parent: stat.ppid,
                name: stat.comm,
                began: stat.starttime,
                user: stat.utime,
            };
            Some((stat.pid, program))
        });
        Fact::Known(Self {
            each: each.collect(),
            tick_ns,
        })
    }

    /// Returns the programs that used processor time since an earlier moment; `total_ns` is the
    /// time of all processors between the two moments. This process (`own`) and its descendants are
    /// excluded. The result reports the `servers` in a separate list, each with its descendants.
    pub fn used_since(
        &self,
        earlier: &Self,
        total_ns: u64,
        (own, servers): (i32, &BTreeSet<i32>),
    ) -> Used {
        let own = self.family(own);
        let mut told = own.clone();
        let of_servers = servers.iter().filter_map(|pid| {
            let program = self.each.get(pid)?;
            // All processes descend from process 1, whose time would otherwise include all others.
            let family = if *pid == 1 {
                BTreeSet::from([1])
            } else {
                self.family(*pid)
            };
            let new = family.difference(&told).copied().collect::<Vec<i32>>();
            let user = new.iter().map(|pid| self.user_since(earlier, *pid)).sum();
            told.extend(new);
            Some((user, *pid, program.name.as_str()))
        });
        let of_servers: Vec<(u64, i32, &str)> = of_servers.collect();
        let others = self.each.iter().filter(|(pid, _)| !told.contains(pid));
        let mut busy: Vec<(u64, i32, &str)> = others
            .map(|(pid, program)| (self.user_since(earlier, *pid), *pid, program.name.as_str()))
            .filter(|(user, ..)| *user > 0)
            .collect();
        busy.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(&other.1)));
        busy.truncate(NAMED_MAX);
        let program = |(user, pid, name): (u64, i32, &str)| BusyProgram {
            name: name.to_owned(),
            pid,
            fraction: (user.saturating_mul(self.tick_ns) as f64 / total_ns.max(1) as f64).min(1.0),
        };
        Used {
            busiest: busy.into_iter().map(program).collect(),
            servers: of_servers.into_iter().map(program).collect(),
        }
    }

    /// Returns the user time of a process since an earlier moment, in ticks.
    fn user_since(&self, earlier: &Self, pid: i32) -> u64 {
        self.each.get(&pid).map_or(0, |program| {
            let before = earlier
                .each
                .get(&pid)
                .filter(|before| before.began == program.began);
            program
                .user
                .saturating_sub(before.map_or(0, |before| before.user))
        })
    }

    /// Returns the numbers of the process `of` and of its descendants.
    fn family(&self, of: i32) -> BTreeSet<i32> {
        let mut family = BTreeSet::from([of]);
        loop {
            let children = self
                .each
                .iter()
                .filter(|(_, program)| family.contains(&program.parent));
            let children: Vec<i32> = children.map(|(pid, _)| *pid).collect();
            let before = family.len();
            family.extend(children);
            if family.len() == before {
                return family;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Creates a moment. Each process is given by number, name, parent, user ticks and start time.
    fn moment(processes: &[(i32, &str, i32, u64, u64)]) -> Programs {
        let root = tempfile::tempdir().unwrap();
        for (pid, name, parent, user, began) in processes {
            let directory = root.path().join(format!("proc/{pid}"));
            fs::create_dir_all(&directory).unwrap();
            let zeros = "0 ".repeat(30);
            let text = format!(
                "{pid} ({name}) S {parent} 1 1 0 -1 0 0 0 0 0 {user} 7 0 0 20 0 1 0 {began} \
                 {zeros}\n"
            );
            fs::write(directory.join("stat"), text).unwrap();
        }
        // Two entries that must be ignored: a directory that is not a process, and a process that
        // ends before it is read.
        fs::create_dir_all(root.path().join("proc/sys")).unwrap();
        fs::create_dir_all(root.path().join("proc/77")).unwrap();
        Programs::read(&Sources::beneath(root.path()))
            .into_known()
            .unwrap()
    }

    #[test]
    fn busiest_programs_exclude_the_run_and_its_descendants() {
        let earlier = moment(&[
            (1, "init", 0, 100, 1),
            (10, "postmark", 1, 0, 5),
            (20, "a) (b", 1, 1_000, 6),
            (30, "ended", 1, 1_000, 6),
            (40, "idle", 1, 9_000, 6),
        ]);
        let later = moment(&[
            (1, "init", 0, 101, 1),
            (9, "grandchild", 11, 900, 8),
            (10, "postmark", 1, 500, 5),
            (11, "child", 10, 500, 7),
            (20, "a) (b", 1, 1_030, 6),
            (30, "another", 1, 50, 9),
            (40, "idle", 1, 9_000, 6),
            (50, "new", 1, 2, 10),
        ]);
        let total_ns = 1_000 * later.tick_ns;
        let used = |servers: &[i32]| {
            later.used_since(&earlier, total_ns, (10, &servers.iter().copied().collect()))
        };
        let named = |programs: &[BusyProgram]| -> Vec<(String, i32, f64)> {
            let each = programs
                .iter()
                .map(|of| (of.name.clone(), of.pid, of.fraction));
            each.collect()
        };
        let expected = |each: &[(&str, i32, f64)]| -> Vec<(String, i32, f64)> {
            each.iter()
                .map(|(name, pid, fraction)| ((*name).to_owned(), *pid, *fraction))
                .collect()
        };
        let without = used(&[]);
        let others = [
            ("another", 30, 0.05),
            ("a) (b", 20, 0.03),
            ("new", 50, 0.002),
        ];
        assert_eq!(named(&without.busiest), expected(&others));
        assert!(without.servers.is_empty());
        // Processes 1 and 30 are servers, server 99 has ended. Descendants of process 1 are not
        // included in its time.
        let served = used(&[1, 30, 99]);
        assert_eq!(named(&served.busiest), expected(&others[1..]));
        assert_eq!(
            named(&served.servers),
            expected(&[("init", 1, 0.001), ("another", 30, 0.05)])
        );
    }

    /// The server is the parent of the run and of another process.
    #[test]
    fn cpu_time_of_server_includes_its_children_but_not_the_run() {
        let earlier = moment(&[
            (5, "sshfs", 1, 0, 1),
            (6, "ssh", 5, 0, 2),
            (10, "postmark", 5, 0, 3),
        ]);
        let later = moment(&[
            (5, "sshfs", 1, 10, 1),
            (6, "ssh", 5, 30, 2),
            (10, "postmark", 5, 500, 3),
        ]);
        let used = later.used_since(
            &earlier,
            1_000 * later.tick_ns,
            (10, &BTreeSet::from([5, 6])),
        );
        assert!(used.busiest.is_empty());
        let servers: Vec<(i32, f64)> = used
            .servers
            .iter()
            .map(|of| (of.pid, of.fraction))
            .collect();
        assert_eq!(
            servers,
            [(5, 0.04), (6, 0.0)],
            "each process is counted once"
        );
    }

    /// A child process that uses a processor until this value is dropped.
    struct Busy(std::process::Child);

    impl Drop for Busy {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    fn busy_child_is_found_among_the_descendants() {
        let child = std::process::Command::new("sh")
            .args(["-c", "while :; do :; done"])
            .spawn();
        let child = Busy(child.unwrap());
        let pid = i32::try_from(child.0.id()).unwrap();
        let own = i32::try_from(std::process::id()).unwrap();
        let found = (0..500).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            let now = Programs::read(&Sources::default()).into_known().unwrap();
            assert!(now.family(own).contains(&pid), "it is a child");
            now.each[&pid].user > 0
        });
        assert!(found);
    }

    #[test]
    fn missing_proc_is_unavailable() {
        let root = tempfile::tempdir().unwrap();
        let why = Programs::read(&Sources::beneath(root.path()));
        assert!(why.why().unwrap().contains("/proc"));
    }
}
