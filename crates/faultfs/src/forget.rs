//! A FUSE file system in memory that forgets at a crash what was not synced: data, sizes and names.
//!
//! Its promises are those of a journaled file system: a sync of any file or directory makes all
//! earlier changes of names and attributes durable, and a sync of a file also its data and size.
//! [`Bug`] lists defects that can be planted, with which crash tests show that they can fail.
//!
//! [`Forgetting::crash`] crashes the file system at once, [`Forgetting::crash_at`] in the middle of
//! the next request of a kind. Everything that is not durable is lost. By chance, which the seed
//! determines, names that were not synced survive, and pages of data: some of them, in any order,
//! or a part of one. From the crash on all requests wait, as if the machine had no power.
//! [`Forgetting::fail_requests`] lets killed processes end, and [`Forgetting::revive`] serves
//! requests again.

#[cfg(not(feature = "fuse"))]
mod absent;
mod bug;
#[cfg(feature = "fuse")]
mod model;
mod moment;
#[cfg(feature = "fuse")]
mod mounted;
#[cfg(feature = "fuse")]
mod node;
#[cfg(feature = "fuse")]
mod pages;
#[cfg(feature = "fuse")]
mod requests;

#[cfg(not(feature = "fuse"))]
pub use self::absent::Forgetting;
pub use self::bug::Bug;
pub use self::moment::Moment;
#[cfg(feature = "fuse")]
pub use self::mounted::Forgetting;
