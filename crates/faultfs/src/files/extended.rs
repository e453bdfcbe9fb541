//! Replies to requests for extended attributes.

use std::path::Path;

use fuser::{Errno, INodeNo, ReplyXattr};

use super::{Files, errno};
use crate::options::RequestKind;

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
