//! configure and make of a C library: zlib or libiberty.

use std::process::Command;

use super::super::application::Application;
use super::super::cell::Cell;
use super::super::needs::Need;
use super::tree::BINUTILS;
use crate::process::output;
use crate::result::Result;

const fn program(name: &'static str) -> Need {
    Need::Program {
        name,
        install: "apt-get install -y --no-install-recommends gcc make libc6-dev",
    }
}

pub const APPLICATION: Application = Application {
    name: "c-build",
    group: "c-build",
    needs: |_| vec![program("gcc"), program("make"), BINUTILS],
    prepare,
    run: |cell| {
        let library = library(cell);
        let configure = format!("cd {library} && ./configure >/dev/null 2>&1");
        let make = format!("cd {library} && make -j2 >/dev/null 2>&1");
        Ok(vec![
            cell.time_script("configure", 1, &configure)?,
            cell.time_script("make", 1, &make)?,
        ])
    },
    files: "",
    has_real_sizes: true,
};

/// `make` alone, after `configure`.
pub const MAKE: Application = Application {
    name: "make",
    prepare: |cell| {
        prepare(cell)?;
        let directory = cell.path(library(cell));
        let mut configure = Command::new("./configure");
        output(configure.current_dir(directory)).map(drop)
    },
    run: |cell| {
        let make = format!("make -C {} -j2 >/dev/null 2>&1", library(cell));
        Ok(vec![cell.time_script("make", 1, &make)?])
    },
    ..APPLICATION
};

fn library(cell: &Cell<'_>) -> &'static str {
    cell.data.choose("zlib", "libiberty")
}

fn prepare(cell: &mut Cell<'_>) -> Result<()> {
    let archive = format!("binutils/{}.tar", library(cell));
    let mut tar = Command::new("tar");
    tar.arg("-C").arg(&cell.directory).arg("-xf");
    output(tar.arg(cell.packages.join(archive))).map(drop)
}
