//! Tests that the facts of a namespace in the registry agree with the namespace's behavior.

use std::path::Path;

use engine::namespace::Lock;
use engine::{Engine, NamespaceFacts};
use engines::registry::ROWS;
use engines::simulated::{Code, Simulated};

/// Creates a mark in `directory` and returns which facts the engine's namespace provides about the
/// mark; `None` for an engine without a namespace.
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
fn namespaces_provide_the_facts_of_their_registry_rows() {
    let at = tempfile::tempdir().unwrap();
    // Birth times are expected only if the file system of the temporary directory stores them.
    let keeps_births = at.path().metadata().unwrap().created().is_ok();
    // Engines with URLs are tested in `nfs::namespace`, which has a server.
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
fn simulated_namespace_provides_all_facts() {
    let simulated = Simulated::new(Code::Posix, 1).with_directory("home");
    let all = NamespaceFacts {
        identity: true,
        birth: true,
        locks: true,
    };
    assert_eq!(known(&simulated, Path::new("home")), Some(all));
}
