//! A sequence of operations that includes every kind.

use std::ffi::CStr;
use std::path::Path;

use engine::{Durability, Name, Operation, OperationKind, Step};

use super::{FilePath, TEXT, make};

pub const KEY: &CStr = c"user.postmark";
pub const TIMES_NS: i64 = 1_234_567_890_123_456_789;
pub const MODE: u32 = 0o640;
/// The mode that installations set, and the access and modification time in nanoseconds since the
/// epoch.
pub const SET: (u32, i64) = (MODE, TIMES_NS);

pub struct Names {
    all: Vec<FilePath>,
}

impl Names {
    const RELATIVE: [&str; 16] = [
        "d",
        "e",
        "d/1",
        "d/2",
        "d/3",
        "e/4",
        "d/5",
        "d/6",
        "tmp",
        "copied",
        "d/7",
        "d/8.r",
        "d/8.r/5",
        "d/9.l",
        "d/linked.r",
        "d/cloned.r",
    ];

    pub fn new(directory: &Path) -> Self {
        let all = Self::RELATIVE
            .iter()
            .map(|relative| FilePath::new(directory, relative));
        Self { all: all.collect() }
    }

    pub fn of(&self, relative: &str) -> Name<'_> {
        let at = Self::RELATIVE
            .iter()
            .position(|known| *known == relative)
            .unwrap();
        self.all[at].name()
    }
}

/// Returns a sequence of operations that includes every kind, each with its `Step`s. The `Step`s
/// include all syncs; [`steps_of`] removes the syncs that a policy does not make.
pub fn work(names: &Names) -> Vec<(Operation<'_>, Vec<Step>)> {
    use Step::*;
    let [d, e, one, two, three] = ["d", "e", "d/1", "d/2", "d/3"].map(|name| names.of(name));
    let [four, five, six, temporary] = ["e/4", "d/5", "d/6", "tmp"].map(|name| names.of(name));
    let (content, value, target) = (&TEXT[..10], &TEXT[..5], c"1");
    let written = vec![Open, Write, Sync, Close];
    let elsewhere = vec![Open, Write, Sync, Close, Rename, SyncDirectory];
    let copied = names.of("copied");
    let installed = names.of("d/7");
    let [tree, linked, cloned] = ["d/8.r", "d/linked.r", "d/cloned.r"].map(|name| names.of(name));
    let files = make::listing(&["5", "6"]);
    let installs = |step| {
        let before = [Stat, MakeDirectory, Open, step];
        [
            &before[..],
            &[SetMode, SetTimes, Sync, Close, SyncDirectory],
        ]
        .concat()
    };
    let copies = |step| vec![Open, step, Sync, Close, SyncDirectory];
    let makes_tree = |step| vec![MakeDirectory, Open, List, step, Close, SyncDirectory];
    let removes_tree = vec![Open, List, Unlink, Close, RemoveDirectory, SyncDirectory];
    vec![
        (make::make_directory(d), vec![MakeDirectory, SyncDirectory]),
        (make::make_directory(e), vec![MakeDirectory, SyncDirectory]),
        (
            make::create(one, content),
            [&written[..], &[SyncDirectory]].concat(),
        ),
        (make::append(one, content), written.clone()),
        (make::overwrite(one, b"abc"), written),
        (make::make_existing(d), vec![MakeDirectory]),
        (make::stat_missing(two), vec![Stat]),
        (make::open_missing(two), vec![Open]),
        (make::open_close(one), vec![Open, Close]),
        (make::lock(one), vec![Open, Lock, Unlock, Close]),
        (make::copy(one, copied, 20), copies(Copy)),
        (make::delete(copied), vec![Unlink, SyncDirectory]),
        (make::clone(one, copied, 20), copies(Clone)),
        (make::delete(copied), vec![Unlink, SyncDirectory]),
        (make::install_copy(one, copied, 20, SET), installs(Copy)),
        (make::delete(copied), vec![Unlink, SyncDirectory]),
        (make::install_clone(one, copied, 20, SET), installs(Clone)),
        (make::delete(copied), vec![Unlink, SyncDirectory]),
        (
            make::install(installed, content, SET),
            vec![
                Stat,
                MakeDirectory,
                Open,
                Write,
                SetMode,
                SetTimes,
                Sync,
                Close,
                SyncDirectory,
            ],
        ),
        (
            make::rewrite(installed, b"abc"),
            vec![Open, Write, Sync, Close],
        ),
        (make::delete(installed), vec![Unlink, SyncDirectory]),
        (
            make::install_link(one, installed),
            vec![Stat, MakeDirectory, Link, SyncDirectory],
        ),
        (make::delete(installed), vec![Unlink, SyncDirectory]),
        (
            make::lock_file(installed),
            vec![Open, Write, Sync, Close, Unlink, SyncDirectory],
        ),
        (make::stat_missing(installed), vec![Stat]),
        (make::read_mapped(one, 20), vec![Open, Map, Stat, Close]),
        // A read whose contents are kept also checks the file's size.
        (make::read(one, 20), vec![Open, Read, Stat, Close]),
        (make::read_range(one, 2, 11), vec![Open, Read, Close]),
        (make::truncate(one, 13), vec![Open, Truncate, Sync, Close]),
        (make::stat(one, Some(13)), vec![Stat]),
        (make::stat(one, None), vec![Stat]),
        (
            make::set_attributes(one, MODE, TIMES_NS),
            vec![Open, SetMode, SetTimes, Sync, Close],
        ),
        (
            make::set_extended(one, KEY, value),
            vec![Open, SetExtended, Sync, Close],
        ),
        (
            make::get_extended(one, KEY, value),
            vec![Open, GetExtended, Close],
        ),
        (make::link(one, two), vec![Link, SyncDirectory]),
        (
            make::symbolic_link(three, target),
            vec![SymbolicLink, SyncDirectory],
        ),
        (make::read_link(three, target), vec![ReadLink]),
        (
            make::rename(two, four),
            vec![Rename, SyncDirectory, SyncDirectory],
        ),
        (make::rename(one, five), vec![Rename, SyncDirectory]),
        (
            make::replace(five, temporary, &TEXT[..7]),
            elsewhere.clone(),
        ),
        (make::deliver(temporary, six, &TEXT[..8]), elsewhere),
        (make::list(d), vec![Open, List, Close]),
        (make::list_with_stat(d), vec![Open, List, Close]),
        // The directory also contains a symbolic link and the new directory, which are not copied.
        (make::copy_tree(d, tree, files, 15), makes_tree(Copy)),
        (make::remove_tree(tree, files), removes_tree.clone()),
        (make::link_tree(d, linked, files), makes_tree(Link)),
        (make::remove_tree(linked, files), removes_tree.clone()),
        (make::clone_tree(d, cloned, files), makes_tree(Clone)),
        (make::remove_tree(cloned, files), removes_tree),
        (make::stat_missing(tree), vec![Stat]),
        (make::evict(six), vec![Open, Evict, Close]),
        (make::delete(three), vec![Unlink, SyncDirectory]),
        (make::delete(four), vec![Unlink, SyncDirectory]),
        (
            make::remove_directory(e),
            vec![RemoveDirectory, SyncDirectory],
        ),
    ]
}

/// Adapts `steps`, which include all syncs, to a durability policy. Removes the calls that the
/// policy does not need. For batches of one operation, adds the sync of the file system.
pub fn steps_of(steps: &[Step], operation: OperationKind, durability: Durability) -> Vec<Step> {
    use Durability::{Batch, Fdatasync, Fsync, FsyncDirectory};
    let syncs = matches!(durability, Fdatasync | Fsync | FsyncDirectory);
    // Attributes are set by name if no sync follows, so the file is not opened.
    let by_name = !syncs && operation == OperationKind::SetAttributes;
    let kept = steps.iter().copied().filter(|step| match step {
        Step::Sync => syncs,
        Step::SyncDirectory => durability == FsyncDirectory,
        Step::Open | Step::Close => !by_name,
        _ => true,
    });
    let mut kept: Vec<_> = kept.collect();
    if durability == Batch(1) && operation.changes() {
        kept.push(Step::SyncFileSystem);
    }
    kept
}
