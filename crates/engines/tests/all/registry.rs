//! What the registry says of an engine's namespace is what the namespace does.

use std::path::Path;

use engine::namespace::Lock;
use engine::{Engine, NamespaceFacts};
use engines::registry::ROWS;
use engines::simulated::{Code, Simulated};

/// What a namespace knows of a mark that it makes in a directory.
fn known(engine: &dyn Engine, directory: &Path) -> Option<NamespaceFacts> {
    let held = engine.namespace()?.open(directory).unwrap();
    let mark = held.draft("mark").unwrap();
    let facts = mark.facts().unwrap();
    let first = mark.lock().unwrap();
    let again = held.mark("mark").unwrap().unwrap();
    let second = again.lock().unwrap();
    let locks = match (first, second) {
        (Lock::Ours, Lock::Others) => true,
        (Lock::Unknown, Lock::Unknown) => false,
        other => panic!("{other:?}"),
    };
    assert_eq!(held.remove(b"mark", &facts), Ok(true));
    Some(NamespaceFacts {
        identity: facts.identity.is_some(),
        birth: facts.born.is_some(),
        locks,
    })
}

#[test]
fn namespaces_know_what_their_rows_say() {
    let at = tempfile::tempdir().unwrap();
    // Not every file system keeps births: where this one does, they are known.
    let keeps_births = at.path().metadata().unwrap().created().is_ok();
    // `nfs::namespace` has a server for the others.
    for row in ROWS.iter().filter(|row| !row.facts.uses_urls()) {
        let engine = (row.make)(1, &[]);
        let said = row.facts.namespace.map(|facts| NamespaceFacts {
            birth: facts.birth && keeps_births,
            ..facts
        });
        assert_eq!(known(&*engine, at.path()), said, "{}", row.facts.name);
    }
}

#[test]
fn a_simulated_namespace_knows_all() {
    let simulated = Simulated::new(Code::Posix, 1).with_directory("home");
    let all = NamespaceFacts {
        identity: true,
        birth: true,
        locks: true,
    };
    assert_eq!(known(&simulated, Path::new("home")), Some(all));
}
