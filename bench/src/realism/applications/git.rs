//! git on five releases of a project: clone, status, checkout of the first and of the last release,
//! commit of a copied directory, gc.

use std::process::Command;

use super::super::application::Application;
use super::super::cell::Cell;
use super::super::needs::Need;
use crate::process::output;
use crate::result::Result;

/// Makes a repository `bare.git` from releases on PyPI, with tags v1 to v5.
macro_rules! repository {
    ($project:literal, $versions:literal) => {
        Need::Data {
            name: concat!("git-", $project),
            install: concat!(
                "git init -q work && n=1 && for version in ",
                $versions,
                "; do pip download -q --no-deps --only-binary :all: -d wheels ",
                $project,
                "==$version && find work -mindepth 1 -maxdepth 1 ! -name .git -exec rm -r {} + ",
                "&& python3 -m zipfile -e wheels/*.whl work && rm -r wheels && git -C work add -A ",
                "&& git -C work -c user.name=x -c user.email=x@example.org commit -q -m $version ",
                "&& git -C work tag v$n && n=$((n+1)); done && git clone -q --bare work bare.git ",
                "&& test $n -eq 6 && rm -r work"
            ),
        }
    };
}

const DJANGO: Need = repository!("django", "3.2.25 4.0.10 4.1.13 4.2.11 5.0.9");
const SYMPY: Need = repository!("sympy", "1.9 1.10.1 1.11.1 1.12 1.13.3");
const GIT: Need = Need::Program {
    name: "git",
    install: "apt-get install -y --no-install-recommends git",
};
/// The steps, with the script of each.
const STEPS: [(&str, &str); 5] = [
    (
        "clone",
        "git clone -q bare.git work && git -C work config gc.auto 0",
    ),
    ("status", "git -C work status --porcelain"),
    (
        "checkout",
        "git -C work checkout -q v1 && git -C work checkout -q v5",
    ),
    (
        "commit",
        "cd work && cp -r $(ls -d */ | head -n 1) copied && git add -A && \
         git -c user.name=x -c user.email=x@example.org commit -q -m x",
    ),
    ("gc", "git -C work gc -q"),
];

pub const APPLICATION: Application = Application {
    name: "git-commands",
    group: "git",
    needs: |data| vec![GIT, data.choose(DJANGO, SYMPY)],
    prepare,
    run: |cell| {
        let mut step = |(name, script): &(&str, &str)| {
            // The first status after a clone reads files again whose times are those of the index,
            // and writes the index. It is not measured.
            if *name == "status" {
                cell.wait_a_second();
                cell.run_before(script)?;
                cell.wait_a_second();
            }
            cell.time_script(name, 1, script)
        };
        STEPS.iter().map(&mut step).collect()
    },
    files: "work",
    has_real_sizes: true,
};

/// The first step alone.
pub const CLONE: Application = Application {
    name: "git-clone",
    run: |cell| {
        let (name, script) = STEPS[0];
        Ok(vec![cell.time_script(name, 1, script)?])
    },
    ..APPLICATION
};

fn prepare(cell: &mut Cell<'_>) -> Result<()> {
    let repository = cell.data.choose("git-django", "git-sympy");
    let from = cell.packages.join(repository).join("bare.git");
    output(Command::new("cp").arg("-r").arg(from).arg(&cell.directory)).map(drop)
}
