//! tar, cp, find, grep and rm on the source tree of a project. `find` and `grep` read from the
//! device, because the file system is remounted before them.

use crate::result::Result;
use std::path::PathBuf;
use std::process::Command;

use super::super::application::Application;
use super::super::cell::{Cell, Step, file_sizes};
use super::super::needs::Need;
use crate::process::output;

/// The sources of Go's standard library: the tree for which the presets were tuned.
const GOLANG: Need = Need::Data {
    name: "golang",
    install: "apt-get download golang-1.19-src \
              && dpkg-deb -x golang-1.19-src_*.deb deb && rm *.deb \
              && tar -C deb/usr/share/go-1.19 --exclude=src/cmd -cf tree.tar src \
              && tar -C deb/usr/share/go-1.19/src -cf small.tar net && rm -r deb",
};
/// The sources of GNU binutils without its test suites, which have tens of thousands of tiny
/// files. Also zlib and libiberty, libraries of binutils that have a configure script.
pub const BINUTILS: Need = Need::Data {
    name: "binutils",
    install: "apt-get download binutils-source && dpkg-deb -x binutils-source_*.deb deb \
              && tar -xJf deb/usr/src/binutils/binutils-2.40.tar.xz && cd binutils-2.40 \
              && tar -cf ../tree.tar bfd binutils gold include opcodes libiberty gprofng zlib \
              && tar -cf ../small.tar include && FILES=$(find . -maxdepth 1 -type f) \
              && tar -cf ../zlib.tar $FILES config zlib \
              && tar -cf ../libiberty.tar $FILES config include libiberty \
              && cd .. && rm -r deb binutils-2.40 *.deb",
};

const fn application(
    name: &'static str,
    prepare: fn(&mut Cell<'_>) -> Result<()>,
    run: fn(&mut Cell<'_>) -> Result<Vec<Step>>,
) -> Application {
    Application {
        name,
        group: "tree",
        needs: |data| vec![data.choose(GOLANG, BINUTILS)],
        prepare,
        run,
        files: "tree",
        has_real_sizes: true,
    }
}

pub const TAR: Application = application("tar", cache_archive, |cell| {
    std::fs::create_dir(cell.path("tree"))?;
    let script = format!("tar -C tree -xf {}", archive(cell).display());
    let mut step = cell.time_script("tar", 0, &script)?;
    step.operations = files(cell);
    Ok(vec![step])
});

/// A first search reads from the device, and a second one from memory.
pub const FIND: Application = application("find", unpack_cold, |cell| {
    let script = "find tree -type f -size +100k >/dev/null";
    let cold = on_files(cell, "cold", script)?;
    cell.wait_a_second();
    Ok(vec![cold, on_files(cell, "warm", script)?])
});

/// Reads all files. grep(1) ends with status 1 if it finds nothing, as is intended.
const READ_ALL: &str = "grep -r -l -F 'copyright holder x' tree || test $? -eq 1";

pub const GREP: Application = application("grep", unpack_cold, |cell| {
    Ok(vec![on_files(cell, "grep", READ_ALL)?])
});

pub const CP: Application = application("cp", unpack_warm, |cell| {
    Ok(vec![on_files(cell, "cp", "cp -r tree copy")?])
});

pub const RM: Application = application("rm", unpack, |cell| {
    Ok(vec![on_files(cell, "rm", "rm -rf tree")?])
});

fn on_files(cell: &mut Cell<'_>, name: &str, script: &str) -> Result<Step> {
    let files = files(cell);
    cell.time_script(name, files, script)
}

fn files(cell: &Cell<'_>) -> u64 {
    file_sizes(&cell.path("tree")).len() as u64
}

fn archive(cell: &Cell<'_>) -> PathBuf {
    let project = cell.data.choose("golang", "binutils");
    let archive = if cell.is_small {
        "small.tar"
    } else {
        "tree.tar"
    };
    cell.packages.join(project).join(archive)
}

/// Reads the archive into the page cache, so that tar only writes to a device.
fn cache_archive(cell: &mut Cell<'_>) -> Result<()> {
    let archive = archive(cell);
    std::io::copy(&mut std::fs::File::open(archive)?, &mut std::io::sink())?;
    Ok(())
}

/// Unpacks the tree, if `tar` has not done so before.
fn unpack(cell: &mut Cell<'_>) -> Result<()> {
    let tree = cell.path("tree");
    if !tree.exists() {
        std::fs::create_dir(&tree)?;
        let mut tar = Command::new("tar");
        output(tar.arg("-C").arg(&tree).arg("-xf").arg(archive(cell)))?;
    }
    Ok(())
}

/// Reads all files, so that a copy reads from memory.
fn unpack_warm(cell: &mut Cell<'_>) -> Result<()> {
    unpack(cell)?;
    cell.run_before(READ_ALL)
}

fn unpack_cold(cell: &mut Cell<'_>) -> Result<()> {
    unpack(cell)?;
    cell.volume.remount()
}

#[cfg(test)]
mod tests {
    use super::super::super::data::Data;
    use super::*;

    #[test]
    fn both_data_sets_are_different_projects() {
        assert_ne!((TAR.needs)(Data::Tuned), (TAR.needs)(Data::Other));
    }
}
