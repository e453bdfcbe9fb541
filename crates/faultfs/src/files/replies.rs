//! Converts results of requests into replies to the kernel.

use std::path::Path;

use fuser::{Errno, FileAttr, INodeNo, ReplyAttr, ReplyEmpty, ReplyEntry, ReplyXattr};

use super::{Files, Found, NO_TIME, errno};
use crate::options::RequestKind;

/// Replies to a request with its result, or with the error number.
macro_rules! answer {
    ($reply:ident, $result:expr, $found:pat => $answer:expr) => {
        match $result {
            Ok($found) => $answer,
            Err(error) => $reply.error(error),
        }
    };
}

pub(super) fn entry(reply: ReplyEntry, found: Result<Found, Errno>) {
    answer!(reply, found, found => reply.entry(&NO_TIME, &found.facts, found.generation));
}

pub(super) fn attributes(reply: ReplyAttr, found: Result<FileAttr, Errno>) {
    answer!(reply, found, facts => reply.attr(&NO_TIME, &facts));
}

pub(super) fn empty(reply: ReplyEmpty, done: Result<(), Errno>) {
    answer!(reply, done, () => reply.ok());
}

impl Files {
    pub(super) fn extended(
        &self,
        file: INodeNo,
        room: u32,
        read: impl FnOnce(&Path, &mut [u8]) -> Result<usize, rustix::io::Errno>,
        reply: ReplyXattr,
    ) {
        self.gate.pass(RequestKind::Extended);
        let mut buffer = vec![0; 65_536];
        let value = self.path(file).and_then(|path| {
            let bytes = read(&path, &mut buffer).map_err(errno)?;
            Ok(&buffer[..bytes])
        });
        match value {
            Ok(value) if room == 0 => reply.size(u32::try_from(value.len()).unwrap_or(u32::MAX)),
            Ok(value) if value.len() > room as usize => reply.error(Errno::ERANGE),
            Ok(value) => reply.data(value),
            Err(error) => reply.error(error),
        }
    }
}
