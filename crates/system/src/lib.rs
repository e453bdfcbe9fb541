//! Facts of the environment: the machine, the file system and devices below a path, free space, and
//! the kernel's counters, as typed snapshots and their differences.
//!
//! The crate draws no conclusion from a fact and prints nothing. Of this workspace it imports only
//! `schema`.
//!
//! How it works: every reading function takes [`Sources`], the root of `/proc`, `/sys` and `/etc`,
//! so that tests read a fixture tree. Reading cannot fail: a value that cannot be read is
//! [`Fact::Unavailable`] with the reason, and a value that does not exist on this system is
//! [`Fact::NotApplicable`]. A missing value is never reported as 0.
//!
//! | module | subject |
//! |---|---|
//! | [`fact`] | known, not applicable, unavailable |
//! | [`sources`] | the root of the kernel's text files, and reading them |
//! | [`host`] | the machine: kernel, memory, clock, load; the whole [`Host`] |
//! | [`processors`] | the processors and those that this process may use |
//! | [`cgroup`] | the control group's limits on memory and processors |
//! | [`memory`] | huge pages, address space and allocation arenas of this process |
//! | [`mount`] | the table of mounts and the mount that contains a path |
//! | [`mount_changes`] | waiting for changes of the table of mounts |
//! | [`device`] | a block device and the devices below it |
//! | [`durability`] | mount options and device caches that affect durability: [`DurabilityFacts`] |
//! | [`target`] | mount, class, free space and device of a directory: [`Target`] |
//! | [`space`] | size and free space of a file system |
//! | [`child`] | processor time and memory of a child process |
//! | [`account`] | I/O of this process, devices and messages between two moments |
//! | [`io`] | bytes that this process exchanged with storage; dropping caches |
//! | [`cpu`] | processor time of the machine, including steal, and of this process |
//! | [`counters`] | counters of process, threads, machine and devices: [`Counters`] |
//! | [`run_queue`] | time that one thread has waited for a processor |
//! | [`messages`] | requests to servers of NFS, SMB and iSCSI, by kind: [`WatchedMessages`] |
//! | [`machine`] | all counters of a machine, including work of other clients: [`WatchedMachine`] |
//! | [`network`] | interfaces that lead to targets' servers: [`WatchedInterfaces`] |
//! | [`clocks`] | suspensions, steps of the clock, and changes of the clock source |
//! | [`fuse`] | server processes of FUSE mounts |
//! | [`loops`] | the file below a loop device |
//! | [`programs`] | processor time of other programs |
//! | [`shared`] | words of shared memory that outlive the process |

pub mod account;
pub mod cgroup;
pub mod child;
mod class;
pub mod clocks;
pub mod counters;
pub mod cpu;
pub mod device;
mod device_number;
pub mod device_users;
pub mod durability;
pub mod fact;
pub mod fuse;
pub mod host;
pub mod io;
pub mod loops;
pub mod machine;
pub mod memory;
pub mod messages;
pub mod mount;
pub mod mount_changes;
pub mod network;
pub mod processors;
pub mod programs;
pub mod run_queue;
pub mod shared;
pub mod sources;
pub mod space;
pub mod target;

pub use account::{Accounted, WatchedAccount};
pub use cgroup::{Cgroup, CgroupVersion};
pub use class::Class;
pub use clocks::{Clocks, ClocksDifference};
pub use counters::{Counters, CountersDifference, DeviceCounters, WatchedDevices};
pub use cpu::spent::SystemTimesSpent;
pub use cpu::{ProcessTimes, SystemTimes};
pub use device::{Device, DeviceKind, LoopBacking};
pub use device_number::DeviceNumber;
pub use durability::DurabilityFacts;
pub use fact::Fact;
pub use host::{CacheBound, CacheLimit, Host, Kernel, LoadAverage, boot_id};
pub use io::{OwnIo, drop_caches, may_drop_caches};
pub use machine::{
    FindServerCalls, MachineCounted, MachineDeviceReading, MachineReading, ServerCalls,
    WatchedMachine,
};
pub use messages::{
    CompoundOperation, MessageCounter, MessageKind, MessagesReading, WatchedCounter,
    WatchedMessages,
};
pub use mount::{Mount, MountTable};
pub use mount_changes::{MountChanges, Waited};
pub use network::{InterfaceReading, WatchedInterface, WatchedInterfaces};
pub use processors::Processors;
pub use programs::{BusyProgram, Programs, Used};
pub use shared::{LineHandle, Lines};
pub use sources::Sources;
pub use space::Space;
pub use target::Target;
