//! Facts of the environment: what machine this is, what a path lies on, how
//! much room is there, and what the kernel has counted, as typed snapshots and
//! their differences.
//!
//! It is not a judge and not a printer: it draws no conclusion from a fact and
//! writes nothing. It imports nothing of ours.
//!
//! How it works: every reading function takes [`Sources`] (where `/proc`,
//! `/sys` and `/etc` lie, so that tests read a fixture tree) and cannot fail.
//! What could not be read is [`Fact::Unavailable`] with the reason, what does
//! not exist here is [`Fact::NotApplicable`], and neither is ever 0.
//!
//! | module | subject |
//! |---|---|
//! | [`fact`] | known, not applicable, unavailable |
//! | [`sources`] | where the kernel's text files lie |
//! | [`host`] | the machine: kernel, memory, clock, load; the whole [`Host`] |
//! | [`processors`] | the processors and which of them we may use |
//! | [`cgroup`] | the control group's limits on memory and processors |
//! | [`memory`] | hints to the kernel about memory |
//! | [`mount`] | the table of mounts and the mount of a path |
//! | [`mount_changes`] | being told when that table changes |
//! | [`device`] | a block device and what lies below it |
//! | [`durability`] | what decides whether data is durable: [`DurabilityFacts`] |
//! | [`target`] | a directory: mount, class, room, device; the whole [`Target`] |
//! | [`space`] | a quick look at the room on a file system |
//! | [`child`] | what a child process cost |
//! | [`account`] | what served a stretch of time: own input and output, devices, messages |
//! | [`io`] | what this process exchanged with storage; dropping the system's caches |
//! | [`cpu`] | processor time: of the machine with steal, and of this process |
//! | [`counters`] | counts of process, threads, machine and devices: [`Counters`] |
//! | [`run_queue`] | how long one thread has waited for a processor |
//! | [`messages`] | requests to servers: of NFS, SMB and iSCSI, by kind: [`WatchedMessages`] |
//! | [`machine`] | everything that a machine counts, for one that others use: [`WatchedMachine`] |
//! | [`network`] | interfaces that lead to targets' servers: [`WatchedInterfaces`] |
//! | [`clocks`] | whether the clocks went as they should: suspensions, steps, another source |

pub mod account;
pub mod cgroup;
pub mod child;
mod class;
pub mod clocks;
pub mod counters;
pub mod cpu;
pub mod device;
mod device_number;
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
pub use host::{CacheBound, CacheLimit, Host, Kernel, LoadAverage};
pub use io::{OwnIo, drop_caches, may_drop_caches};
pub use machine::{MachineCounted, MachineDeviceReading, MachineReading, WatchedMachine};
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
