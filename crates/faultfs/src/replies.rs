//! Converts results of requests into replies to the kernel.

use std::time::Duration;

use fuser::{Errno, FileAttr, Generation, ReplyAttr, ReplyEmpty, ReplyEntry};

/// The time for which the kernel may cache entries and attributes: none, so every lookup is a
/// request.
pub(crate) const NO_TIME: Duration = Duration::ZERO;

/// The attributes of a file, and the generation of its inode number.
pub(crate) struct Found {
    pub facts: FileAttr,
    pub generation: Generation,
}

/// Replies to a request with its result, or with the error number.
macro_rules! answer {
    ($reply:ident, $result:expr, $found:pat => $answer:expr) => {
        match $result {
            Ok($found) => $answer,
            Err(error) => $reply.error(error),
        }
    };
}

pub(crate) fn entry(reply: ReplyEntry, found: Result<Found, Errno>) {
    answer!(reply, found, found => reply.entry(&NO_TIME, &found.facts, found.generation));
}

pub(crate) fn attributes(reply: ReplyAttr, found: Result<FileAttr, Errno>) {
    answer!(reply, found, facts => reply.attr(&NO_TIME, &facts));
}

pub(crate) fn empty(reply: ReplyEmpty, done: Result<(), Errno>) {
    answer!(reply, done, () => reply.ok());
}
