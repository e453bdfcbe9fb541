//! Short constructors of operations.

use std::ffi::CStr;

use engine::{Listing, Name, Operation};

pub fn create<'a>(name: Name<'a>, content: &'a [u8]) -> Operation<'a> {
    Operation::Create { name, content }
}

pub fn append<'a>(name: Name<'a>, content: &'a [u8]) -> Operation<'a> {
    Operation::Append { name, content }
}

pub fn read(name: Name<'_>, bytes: u64) -> Operation<'_> {
    Operation::Read { name, bytes }
}

pub fn delete(name: Name<'_>) -> Operation<'_> {
    Operation::Delete { name }
}

pub fn make_directory(name: Name<'_>) -> Operation<'_> {
    Operation::MakeDirectory { name }
}

pub fn remove_directory(name: Name<'_>) -> Operation<'_> {
    Operation::RemoveDirectory { name }
}

pub fn read_range(name: Name<'_>, offset: u64, bytes: u64) -> Operation<'_> {
    Operation::ReadRange {
        name,
        offset,
        bytes,
    }
}

pub fn overwrite<'a>(name: Name<'a>, content: &'a [u8]) -> Operation<'a> {
    Operation::Overwrite { name, content }
}

pub fn truncate(name: Name<'_>, bytes: u64) -> Operation<'_> {
    Operation::Truncate { name, bytes }
}

pub fn stat(name: Name<'_>, bytes: Option<u64>) -> Operation<'_> {
    Operation::Stat { name, bytes }
}

pub fn stat_missing(name: Name<'_>) -> Operation<'_> {
    Operation::StatMissing { name }
}

pub fn open_missing(name: Name<'_>) -> Operation<'_> {
    Operation::OpenMissing { name }
}

pub fn make_existing(name: Name<'_>) -> Operation<'_> {
    Operation::MakeDirectoryExisting { name }
}

pub fn open_close(name: Name<'_>) -> Operation<'_> {
    Operation::OpenClose { name }
}

pub fn read_mapped(name: Name<'_>, bytes: u64) -> Operation<'_> {
    Operation::ReadMapped { name, bytes }
}

pub fn lock(name: Name<'_>) -> Operation<'_> {
    Operation::Lock { name }
}

pub fn copy<'a>(from: Name<'a>, name: Name<'a>, bytes: u64) -> Operation<'a> {
    Operation::Copy { name, from, bytes }
}

pub fn clone<'a>(from: Name<'a>, name: Name<'a>, bytes: u64) -> Operation<'a> {
    Operation::Clone { name, from, bytes }
}

pub fn rewrite<'a>(name: Name<'a>, content: &'a [u8]) -> Operation<'a> {
    Operation::Rewrite { name, content }
}

pub fn lock_file(name: Name<'_>) -> Operation<'_> {
    let content = b"postmark";
    Operation::LockFile { name, content }
}

pub fn install<'a>(
    name: Name<'a>,
    content: &'a [u8],
    (mode, times_ns): (u32, i64),
) -> Operation<'a> {
    Operation::Install {
        name,
        content,
        mode,
        times_ns,
    }
}

pub fn install_link<'a>(name: Name<'a>, to: Name<'a>) -> Operation<'a> {
    Operation::InstallLink { name, to }
}

pub fn install_copy<'a>(
    from: Name<'a>,
    name: Name<'a>,
    bytes: u64,
    (mode, times_ns): (u32, i64),
) -> Operation<'a> {
    Operation::InstallCopy {
        name,
        from,
        bytes,
        mode,
        times_ns,
    }
}

pub fn install_clone<'a>(
    from: Name<'a>,
    name: Name<'a>,
    bytes: u64,
    (mode, times_ns): (u32, i64),
) -> Operation<'a> {
    Operation::InstallClone {
        name,
        from,
        bytes,
        mode,
        times_ns,
    }
}

pub fn set_attributes(name: Name<'_>, mode: u32, times_ns: i64) -> Operation<'_> {
    Operation::SetAttributes {
        name,
        mode,
        times_ns,
    }
}

pub fn rename<'a>(name: Name<'a>, to: Name<'a>) -> Operation<'a> {
    Operation::Rename { name, to }
}

pub fn replace<'a>(name: Name<'a>, temporary: Name<'a>, content: &'a [u8]) -> Operation<'a> {
    Operation::Replace {
        name,
        temporary,
        content,
    }
}

pub fn deliver<'a>(temporary: Name<'a>, name: Name<'a>, content: &'a [u8]) -> Operation<'a> {
    Operation::Deliver {
        temporary,
        name,
        content,
    }
}

pub fn link<'a>(name: Name<'a>, to: Name<'a>) -> Operation<'a> {
    Operation::Link { name, to }
}

pub fn symbolic_link<'a>(name: Name<'a>, target: &'a CStr) -> Operation<'a> {
    Operation::SymbolicLink { name, target }
}

pub fn read_link<'a>(name: Name<'a>, target: &'a CStr) -> Operation<'a> {
    Operation::ReadLink { name, target }
}

pub fn set_extended<'a>(name: Name<'a>, key: &'a CStr, value: &'a [u8]) -> Operation<'a> {
    Operation::SetExtended { name, key, value }
}

pub fn get_extended<'a>(name: Name<'a>, key: &'a CStr, value: &'a [u8]) -> Operation<'a> {
    Operation::GetExtended { name, key, value }
}

pub fn list(name: Name<'_>) -> Operation<'_> {
    Operation::List { name }
}

pub fn list_with_stat(name: Name<'_>) -> Operation<'_> {
    Operation::ListWithStat { name }
}

/// An operation on a tree without subdirectories, as are the next three.
pub fn copy_tree<'a>(
    from: Name<'a>,
    name: Name<'a>,
    entries: Listing,
    bytes: u64,
) -> Operation<'a> {
    Operation::CopyTree {
        name,
        from,
        entries,
        levels: 0,
        bytes,
    }
}

pub fn clone_tree<'a>(from: Name<'a>, name: Name<'a>, entries: Listing) -> Operation<'a> {
    Operation::CloneTree {
        name,
        from,
        entries,
        levels: 0,
    }
}

pub fn link_tree<'a>(from: Name<'a>, name: Name<'a>, entries: Listing) -> Operation<'a> {
    Operation::LinkTree {
        name,
        from,
        entries,
        levels: 0,
    }
}

pub fn remove_tree(name: Name<'_>, entries: Listing) -> Operation<'_> {
    Operation::RemoveTree {
        name,
        entries,
        levels: 0,
    }
}

/// The same operation on a tree with levels of subdirectories.
pub fn with_levels(mut operation: Operation<'_>, below: u32) -> Operation<'_> {
    if let Operation::CopyTree { levels, .. }
    | Operation::CloneTree { levels, .. }
    | Operation::LinkTree { levels, .. }
    | Operation::RemoveTree { levels, .. } = &mut operation
    {
        *levels = below;
    }
    operation
}

/// The listing of these names.
pub fn listing(names: &[&str]) -> Listing {
    let mut listing = Listing::default();
    names.iter().for_each(|name| listing.add(name.as_bytes()));
    listing
}

pub fn evict(name: Name<'_>) -> Operation<'_> {
    Operation::Evict { name }
}
