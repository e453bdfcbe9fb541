//! **`server`** (the server). *Part*: the time that workers sleep in calls, if the target is on
//! NFS, SMB, another network file system or FUSE, or if the engine calls a server itself. It
//! includes the network, and waits of workers for each other in the client. *Evidence*: the type
//! of the file system; processor time and run-queue wait, which are not sleep.

use super::times::Times;
use super::waits_for::WaitsFor;

pub(super) fn part(times: &Times) -> f64 {
    match times.waits_for {
        Some(WaitsFor::Server) => times.asleep(),
        Some(WaitsFor::Device { .. } | WaitsFor::Memory) | None => 0.0,
    }
}
