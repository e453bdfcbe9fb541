//! Writes and reads of open files, including corruptions.

use std::collections::BTreeMap;
use std::ffi::c_int;

use engine::Errno;

use super::corruption::{Corruption, Event};
use super::state::{Kind, State};

impl State {
    /// Writes to an open file at its position, or at its end if it was opened to append.
    pub(super) fn write(&mut self, file: c_int, bytes: &[u8]) -> Result<(), Errno> {
        let Self {
            open,
            nodes,
            names,
            corruptions,
            truth,
            ..
        } = self;
        let open = open.get_mut(&file).ok_or(Errno::BADF)?;
        let node = nodes.get_mut(&open.node).ok_or(Errno::STALE)?;
        let Kind::File(content) = &mut node.kind else {
            return Err(Errno::ISDIR);
        };
        if bytes.is_empty() {
            return Ok(());
        }
        truth.synchronous_writes += u64::from(open.flags & libc::O_SYNC != 0);
        if open.flags & libc::O_APPEND != 0 {
            match corruptions.of(Event::Append) {
                Some(spoilt @ (_, Corruption::ZeroAppend)) => {
                    content.resize(content.len() + bytes.len(), 0);
                    corruptions.strike(spoilt, path_of(names, open.node));
                }
                Some(spoilt) => {
                    corruptions.strike(spoilt, path_of(names, open.node));
                    return Ok(());
                }
                None => content.extend_from_slice(bytes),
            }
        } else {
            if !std::mem::replace(&mut open.has_written, true) && !content.is_empty() {
                node.earlier = Some(content.clone());
            }
            let end = open.at + bytes.len();
            content.resize(content.len().max(end), 0);
            content[open.at..end].copy_from_slice(bytes);
            open.at = end;
        }
        truth.bytes_written += bytes.len() as u64;
        Ok(())
    }

    /// Appends at most `bytes` bytes of a file, from its position on, to another file.
    pub(super) fn copy(&mut self, from: c_int, to: c_int, bytes: usize) -> Result<usize, Errno> {
        let node = self.open.get(&from).ok_or(Errno::BADF)?;
        let at = node.at;
        let Kind::File(content) = &self.node_of(from)?.kind else {
            return Err(Errno::ISDIR);
        };
        let rest = content.get(at..).unwrap_or_default();
        let copied = rest[..bytes.min(rest.len())].to_vec();
        let Kind::File(content) = &mut self.node_of(to)?.kind else {
            return Err(Errno::ISDIR);
        };
        content.extend_from_slice(&copied);
        if let Some(open) = self.open.get_mut(&from) {
            open.at += copied.len();
        }
        self.truth.copied += 1;
        Ok(copied.len())
    }

    /// Reads from an open file at `offset`, or at its position if there is no offset.
    pub(super) fn read(
        &mut self,
        file: c_int,
        bytes: &mut [u8],
        offset: Option<u64>,
    ) -> Result<usize, Errno> {
        let Self {
            open,
            nodes,
            names,
            corruptions,
            truth,
            ..
        } = self;
        let open = open.get_mut(&file).ok_or(Errno::BADF)?;
        let node = nodes.get(&open.node).ok_or(Errno::STALE)?;
        let Kind::File(content) = &node.kind else {
            return Err(Errno::ISDIR);
        };
        if offset.is_none() && open.at == 0 && !bytes.is_empty() {
            let earlier = node.earlier.as_ref().filter(|earlier| *earlier != content);
            if let (Some(spoilt), Some(earlier)) = (corruptions.of(Event::ReadFromStart), earlier) {
                open.old_version = Some(earlier.clone());
                corruptions.strike(spoilt, path_of(names, open.node));
            }
        }
        let content = open.old_version.as_ref().unwrap_or(content);
        let at = offset.map_or(open.at, |offset| {
            usize::try_from(offset).unwrap_or(usize::MAX)
        });
        let rest = content.get(at..).unwrap_or_default();
        let length = bytes.len().min(rest.len());
        bytes[..length].copy_from_slice(&rest[..length]);
        if offset.is_none() {
            open.at += length;
        }
        if length > 0
            && let Some(spoilt) = corruptions.of(Event::Read)
        {
            bytes[length / 2] ^= 0x10;
            corruptions.strike(spoilt, path_of(names, open.node));
        }
        truth.bytes_read += length as u64;
        Ok(length)
    }
}

/// Returns a path of a node; empty if the node has no name any more.
fn path_of(names: &BTreeMap<Vec<u8>, u64>, node: u64) -> Vec<u8> {
    let found = names.iter().find(|(_, number)| **number == node);
    found.map_or_else(Vec::new, |(name, _)| name.clone())
}
