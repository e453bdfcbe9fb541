//! Checks the architecture: which crates a crate may import, which crates may contain unsafe code,
//! and which may use the operating system.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use testkit::table;

/// The crates of this workspace that each crate may import, as in the table of ARCHITECTURE.md.
const MAY_IMPORT: &str = "
    document |
    # The derive macro `JsonSchema`, which expands to nothing in a program.
    schema | schema-derive
    schema-derive |
    engine | schema
    workload | engine schema
    nfs-client |
    s3-client |
    engines | engine nfs-client s3-client
    measure | schema
    system | schema
    ganesha | system
    spec | document workload engine engines measure schema
    record | document engine workload measure system schema spec
    verdict | document engine workload measure system schema spec record
    rundir | workload engine system schema spec record
    runner | document workload engine engines ranks measure system spec record rundir
    campaign | archive document engine faultfs ranks report scratch workload system spec record \
        verdict rundir study runner published learn trace
    learn | document engine workload spec
    trace | engine learn nfs-client workload
    scratch | workload system schema
    ranks |
    ranks-mpi | ranks
    archive | document record verdict
    study | workload spec record verdict
    report | document engine workload scratch record verdict measure study rundir
    published | document workload record verdict study
    cli | document workload engine engines ranks ranks-mpi measure system ganesha spec record \
        verdict learn trace rundir runner campaign scratch archive report published study \
        faultfs
    bench | workload engines measure system scratch record verdict runner archive study faultfs
    postmark-fuzz | archive campaign cli document published system record verdict testkit report \
        runner spec learn nfs-client s3-client study trace workload
    faultfs |
    # Supports of tests: no program of ours may import them.
    testkit | engine engines record runner workload
";

const MAY_BE_UNSAFE: [&str; 2] = ["engines", "system"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args("metadata --format-version 1 --no-deps --offline".split(' '))
        .current_dir(root())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

#[test]
fn crates_import_only_allowed_crates() {
    let rows = table(MAY_IMPORT).into_iter();
    let law: BTreeMap<&str, Vec<&str>> = rows
        .map(|[name, others]| (name, others.split(' ').collect()))
        .collect();
    let packages = packages();
    let ours: Vec<&str> = packages
        .iter()
        .map(|package| package["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        ours.len(),
        law.len(),
        "crates {ours:?} and the law's {:?}",
        law.keys()
    );
    for package in &packages {
        let name = package["name"].as_str().unwrap();
        let allowed = law
            .get(name)
            .unwrap_or_else(|| panic!("crate {name} is not in the law"));
        for dependency in package["dependencies"].as_array().unwrap() {
            let other = dependency["name"].as_str().unwrap();
            // Dependencies of tests are not restricted.
            if dependency["kind"].is_null() && ours.contains(&other) {
                assert!(allowed.contains(&other), "{name} must not import {other}");
            }
        }
    }
}

#[test]
fn only_the_archive_imports_sqlite() {
    let users: Vec<String> = packages()
        .iter()
        .filter(|package| {
            let dependencies = package["dependencies"].as_array().unwrap();
            // Dependencies of tests are not restricted.
            let programs = dependencies.iter().filter(|other| other["kind"].is_null());
            programs
                .map(|other| other["name"].as_str().unwrap())
                .any(|other| other.contains("sqlite"))
        })
        .map(|package| package["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(users, ["archive"]);
}

#[test]
fn unsafe_code_is_only_in_allowed_crates() {
    let mut seen = 0;
    for file in rust_files(&root().join("crates")) {
        // Only the part of the path below `crates` is examined, because the workspace itself may be
        // in a directory named `tests`.
        let inside = file.strip_prefix(root().join("crates")).unwrap();
        let crate_name = inside.iter().next().unwrap().to_string_lossy().into_owned();
        let is_test = inside.iter().any(|part| part == "tests");
        let text = std::fs::read_to_string(&file).unwrap();
        let is_unsafe = text.lines().any(|line| {
            line.contains("unsafe {")
                || line.contains("unsafe fn")
                || line.contains("unsafe extern")
        });
        if is_unsafe && !is_test {
            assert!(
                MAY_BE_UNSAFE.contains(&crate_name.as_str()),
                "unsafe code in {}",
                file.display()
            );
            seen += 1;
        }
    }
    assert!(seen > 0, "the search finds the unsafe code that is there");
}

#[test]
fn pure_crates_touch_no_system() {
    for [names, words] in table(PURE) {
        for name in names.split(' ') {
            is_pure(name, words);
        }
    }
}

/// Each row: crates, and the words that must not occur in their sources. `std::time` forbids the
/// clocks of the standard library; `core::time::Duration` is permitted. Engines may use files but
/// no clock; the runner and `system` must not print.
const PURE: &str = "
    document workload engine measure record verdict report published trace | std::fs std::time \
        std::env std::net std::process println! eprintln!
    spec study | std::fs std::env std::process Instant SystemTime println!
    archive | println! std::env process::exit Command::
    engines | std::time std::env println! clock_gettime
    nfs-client | std::env Instant SystemTime clock_gettime
    s3-client | println! std::process
    system ganesha runner | println!
    rundir | println! engines:: std::env process::exit
    scratch | println! process::exit
    learn | println! std::env Command::
";

fn is_pure(name: &str, words: &str) {
    let files = rust_files(&root().join("crates").join(name).join("src"));
    assert!(!files.is_empty(), "crate {name} has files");
    for file in files {
        // The rules do not apply to unit tests.
        if file.file_name().is_some_and(|name| name == "tests.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        for word in words.split(' ') {
            assert!(!code.contains(word), "{} uses {word}", file.display());
        }
    }
}

/// rustfmt does not break long comments and strings, so a test checks the length of lines.
#[test]
fn lines_have_at_most_100_columns() {
    let folders = ["crates", "bench", "fuzz"].map(|name| root().join(name));
    let files: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| rust_files(folder))
        .collect();
    assert!(files.len() > 500, "only {} files were found", files.len());
    let mut long = Vec::new();
    for file in files {
        for (number, line) in (1..).zip(std::fs::read_to_string(&file).unwrap().lines()) {
            if line.chars().count() > 100 {
                long.push(format!("{}:{number}", file.display()));
            }
        }
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
}

fn rust_files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

#[test]
fn architecture_map_names_existing_files() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (_, map) = text.split_once("## The map").unwrap();
    let (map, _) = map.split_once("\n## ").unwrap();
    let mut sources = PathBuf::new();
    let mut rooms = 0;
    for line in map.lines().filter(|line| line.starts_with("    ")) {
        for word in line.split([' ', ',']) {
            if word.starts_with("crates/") {
                sources = root().join(word).join("src");
                assert!(sources.is_dir(), "{word}");
            } else if word.ends_with(".rs") {
                assert!(
                    sources.join(word).is_file(),
                    "{}: {line}",
                    sources.join(word).display()
                );
                rooms += 1;
            }
        }
    }
    assert!(rooms > 100, "{rooms}");
}
