//! A mark in a directory of an NFS server, identified by its handle.

use std::sync::Arc;

use engine::Errno;
use engine::namespace::{Facts, Lock, Mark};
use nfs_client::{
    CallError, Handle, Procedure, Stable,
    arguments::{self, NewAttributes},
    results,
};

use super::line::HomeLine;

#[derive(Debug)]
pub(super) struct NfsMark {
    pub(super) line: Arc<HomeLine>,
    pub(super) directory: Handle,
    pub(super) file: Handle,
    pub(super) name: String,
}

impl NfsMark {
    fn write_all(&self, text: &[u8]) -> Result<(), CallError> {
        let line = &self.line;
        let most = line.target.mounted.sizes.write as usize;
        let mut done = 0;
        while done < text.len() {
            let part = &text[done..text.len().min(done + most)];
            let arguments = |out: &mut Vec<u8>| {
                arguments::write(out, &self.file, done as u64, Stable::File, part)
            };
            let result = line.call(Procedure::Write, arguments, |reader| {
                results::write(reader, part.len())
            })?;
            if result.count == 0 || result.stable < Stable::File {
                return Err(CallError::Failed(Errno::IO));
            }
            done += result.count;
        }
        // If the previous text was longer, the file still contains its last bytes after the new
        // text. So the file is truncated.
        let size = line
            .with(|client| client.attributes(&self.file))?
            .size_bytes;
        match size > text.len() as u64 {
            true => line.set_attributes(&self.file, &NewAttributes::of_size(text.len() as u64)),
            false => Ok(()),
        }
    }
}

impl Mark for NfsMark {
    fn name(&self) -> &str {
        &self.name
    }

    fn facts(&self) -> Result<Facts, Errno> {
        self.line.facts(&self.file)
    }

    fn lock(&self) -> Result<Lock, Errno> {
        Ok(Lock::Unknown)
    }

    fn is_named(&self) -> Result<bool, Errno> {
        let name = self.name.as_bytes();
        Ok(self.line.stands_for(&self.directory, name, &self.file)?)
    }

    fn read(&self, bytes_max: u64) -> Result<Vec<u8>, Errno> {
        let size = self.facts()?.size_bytes.min(bytes_max);
        let mut text = vec![0; usize::try_from(size).map_err(|_| Errno::FBIG)?];
        let length = self.line.read(&self.file, 0, &mut text)?;
        text.truncate(length);
        Ok(text)
    }

    fn write(&self, text: &[u8]) -> Result<(), Errno> {
        Ok(self.write_all(text)?)
    }

    fn restrict(&self, mode: u32) {
        // If the server refuses, the mark keeps its permissions, because the protocol has no other
        // way to change them.
        let _ = self
            .line
            .set_attributes(&self.file, &NewAttributes::of_mode(mode));
    }
}
