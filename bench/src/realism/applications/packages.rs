//! Installations of packages: pnpm from a store on the same file system, and pip from a wheel. Both
//! work offline. pip uses `--prefix`, which installs directly, as in a virtual environment:
//! `--target` would unpack in another directory and then move.

use std::process::Command;

use super::super::application::Application;
use super::super::cell::{Cell, Step, file_sizes};
use super::super::needs::Need;
use crate::process::output;
use crate::result::Result;

/// Makes a pnpm project with these dependencies and a lock file, and a store with the files of the
/// dependencies.
macro_rules! project {
    ($name:literal, $packages:literal) => {
        Need::Data {
            name: concat!("pnpm-", $name),
            install: concat!(
                "mkdir project && cd project && echo '{\"name\":\"x\",\"private\":true}' \
                 >package.json && pnpm add --ignore-scripts --store-dir ../store ",
                $packages,
                " && rm -r node_modules"
            ),
        }
    };
}

/// Downloads the wheel of a release.
macro_rules! wheel {
    ($project:literal, $version:literal) => {
        Need::Data {
            name: concat!("wheel-", $project),
            install: concat!(
                "pip download -q --no-deps --only-binary :all: -d . ",
                $project,
                "==",
                $version
            ),
        }
    };
}

const REACT: Need = project!(
    "react",
    "react@18.3.1 react-dom@18.3.1 vite@5.4.11 eslint@9.17.0 jest@29.7.0 webpack@5.97.1 \
     typescript@5.7.2"
);
const VUE: Need = project!(
    "vue",
    "vue@3.5.13 rollup@4.29.1 mocha@11.0.1 express@4.21.2 @babel/core@7.26.0 prettier@3.4.2"
);
const EXPRESS: Need = project!("express", "express@4.21.2");
const DJANGO: Need = wheel!("django", "4.2.11");
const SYMPY: Need = wheel!("sympy", "1.13.3");
const PNPM: Need = Need::Program {
    name: "pnpm",
    install: "npm install -g pnpm@9.15.9",
};
const PIP: Need = Need::Program {
    name: "pip",
    install: "apt-get install -y --no-install-recommends python3-pip",
};

pub const PNPM_INSTALL: Application = Application {
    name: "pnpm",
    group: "pnpm",
    // With `--small`, the project EXPRESS is installed instead of REACT or VUE.
    needs: |data| vec![PNPM, data.choose(REACT, VUE), EXPRESS],
    prepare,
    run: |cell| {
        let install = pnpm_install(cell)?;
        let script = "rm -rf project/node_modules";
        let remove = cell.time_script("remove", install.operations, script)?;
        Ok(vec![install, remove])
    },
    files: "store",
    has_real_sizes: true,
};

/// The installation alone, without the removal.
pub const PNPM_ONLY: Application = Application {
    name: "pnpm-install",
    run: |cell| Ok(vec![pnpm_install(cell)?]),
    files: "project/node_modules",
    ..PNPM_INSTALL
};

pub const PIP_INSTALL: Application = Application {
    name: "pip",
    group: "pip",
    needs: |data| vec![PIP, data.choose(DJANGO, SYMPY)],
    prepare: |_| Ok(()),
    run: |cell| {
        let project = cell.data.choose("django", "sympy");
        let wheels = cell.packages.join(format!("wheel-{project}"));
        let script = format!(
            "pip install -q --no-index --find-links {} --no-deps --no-compile --ignore-installed \
             --root-user-action=ignore --prefix prefix {project}",
            wheels.display()
        );
        let mut install = cell.time_script("install", 0, &script)?;
        install.operations = file_sizes(&cell.path("prefix")).len() as u64;
        Ok(vec![install])
    },
    files: "prefix",
    has_real_sizes: true,
};

fn pnpm_install(cell: &mut Cell<'_>) -> Result<Step> {
    let script = "cd project && pnpm install --offline --frozen-lockfile --ignore-scripts \
                  --store-dir ../store >/dev/null";
    let mut install = cell.time_script("install", 0, script)?;
    install.operations = file_sizes(&cell.path("project")).len() as u64;
    Ok(install)
}

fn prepare(cell: &mut Cell<'_>) -> Result<()> {
    let name = if cell.is_small {
        "pnpm-express"
    } else {
        cell.data.choose("pnpm-react", "pnpm-vue")
    };
    let from = cell.packages.join(name);
    let mut copy = Command::new("cp");
    copy.arg("-r")
        .args([from.join("store"), from.join("project")]);
    output(copy.arg(&cell.directory)).map(drop)
}
