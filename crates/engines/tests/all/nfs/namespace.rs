//! Tests of the namespace on an NFS server: marks, listings, attributes and removals.

use engine::namespace::{EntryKind, Facts, Lock};
use engine::server::FactValue;
use engine::{Durability, Engine, Errno};

use super::Fixture;
use super::files::Whims;
use super::procedure::*;
use super::server::Act;

#[test]
fn mark_can_be_written_renamed_read_and_removed() {
    for has_links in [true, false] {
        let fixture = Fixture::new(1, "");
        fixture.server.files(|files| files.has_links = has_links);
        let namespace = fixture.engine.namespace().unwrap();
        let directory = namespace.open(&fixture.bare()).unwrap();
        let draft = directory.draft("draft").unwrap();
        assert_eq!(directory.draft("draft").unwrap_err(), Errno::EXIST);
        assert_eq!(draft.facts().unwrap().mode, Some(0o644));
        draft.write(b"a longer text").unwrap();
        draft.write(b"a text").unwrap();
        let mark = directory.name_draft(draft, "mark", false).unwrap();
        assert_eq!((mark.name(), mark.is_named()), ("mark", Ok(true)));
        assert_eq!(mark.read(100).unwrap(), b"a text");
        assert_eq!(mark.read(3).unwrap(), b"a t");
        assert_eq!(mark.lock(), Ok(Lock::Unknown));
        assert_eq!(mark.facts().unwrap().names, Some(1));
        assert!(directory.mark("draft").unwrap().is_none());
        // An existing name is replaced only if that is requested.
        let other = directory.draft("draft").unwrap();
        other.write(b"other").unwrap();
        assert_eq!(
            directory.name_draft(other, "mark", false).unwrap_err(),
            Errno::EXIST
        );
        assert_eq!(
            directory.mark("mark").unwrap().unwrap().read(9).unwrap(),
            b"a text"
        );
        let other = directory.mark("draft").unwrap().unwrap();
        let other = directory.name_draft(other, "mark", true).unwrap();
        assert_eq!(
            (other.read(9).unwrap(), mark.is_named()),
            (b"other".to_vec(), Ok(false))
        );
        other.restrict(0o600);
        assert_eq!(other.facts().unwrap().mode, Some(0o600));
        let facts = directory.facts_of(b"mark").unwrap();
        let elsewhere = directory.facts().unwrap();
        assert_eq!(directory.remove(b"mark", &elsewhere), Ok(false));
        assert_eq!(directory.remove(b"mark", &facts), Ok(true));
        assert_eq!(directory.facts_of(b"mark"), Err(Errno::NOENT));
        // An entry without an identity is removed by its name.
        let probed = directory.draft("draft").unwrap().facts().unwrap();
        let by_name = Facts {
            identity: None,
            ..probed
        };
        assert_eq!(directory.remove(b"draft", &by_name), Ok(true));
        assert!(fixture.server.files(|files| files.find("draft").is_none()));
    }
}

#[test]
fn directories_are_created_listed_and_opened() {
    let fixture = Fixture::new(1, "");
    for nth in 0..40 {
        let whims = Whims {
            entries_max: Some(3),
            ..Whims::default()
        };
        fixture.server.on(READDIR, nth, Act::As(whims));
    }
    let namespace = fixture.engine.namespace().unwrap();
    let directory = namespace.open(&fixture.bare()).unwrap();
    directory.make(b"inner", 0o700).unwrap();
    assert_eq!(directory.make(b"inner", 0o700), Err(Errno::EXIST));
    let inner = directory.open(b"inner").unwrap();
    for number in 0..10 {
        inner.make(format!("d{number}").as_bytes(), 0o700).unwrap();
    }
    let mut names = Vec::new();
    let listed = inner.list(&mut |entry| {
        // `each` may make calls on the same namespace.
        let facts = inner.facts_of(entry.name)?;
        assert_eq!(
            (facts.kind, facts.mode),
            (EntryKind::Directory, Some(0o700))
        );
        assert_eq!(facts.identity.map(|identity| identity.inode), entry.number);
        names.push(entry.name.to_owned());
        Ok(())
    });
    assert_eq!((listed, names.len()), (Ok(()), 10));
    let path = fixture.bare().join("inner");
    assert_eq!(
        namespace.facts(&path).unwrap().identity,
        inner.facts().unwrap().identity
    );
    assert_eq!(namespace.real_path(&path).unwrap(), path);
    assert_eq!(
        namespace.real_path(&fixture.bare().join("none")),
        Err(Errno::NOENT)
    );
    assert_eq!(directory.free_bytes(), Some(1 << 39));
    directory.set_times((5, 6), (7, 8)).unwrap();
    assert_eq!(directory.facts().unwrap().modified, Some((7, 8)));
    let facts = inner.facts_of(b"d3").unwrap();
    assert_eq!(inner.remove(b"d3", &facts), Ok(true));
    let facts = directory.facts_of(b"inner").unwrap();
    assert_eq!(directory.remove(b"inner", &facts), Err(Errno::NOTEMPTY));
    let servers = namespace.servers(Durability::None);
    assert_eq!(servers.len(), 1);
    // The facts agree with the engine's row in the registry.
    let knows = engines::nfs::FACTS.namespace.unwrap();
    let facts = directory.facts().unwrap();
    assert_eq!(facts.identity.is_some(), knows.identity);
    assert_eq!(facts.born.is_some(), knows.birth);
    let facts = &servers[0].facts;
    assert_eq!(facts["export"], FactValue::Text("/export".to_owned()));
    assert_eq!(facts["read_bytes_max"], FactValue::Number(64 << 10));
}

#[test]
fn namespace_repeats_calls_after_lost_connections() {
    let fixture = Fixture::new(1, "");
    let namespace = fixture.engine.namespace().unwrap();
    let directory = namespace.open(&fixture.bare()).unwrap();
    fixture.server.take_calls();
    for (procedure, act) in [
        (CREATE, Act::LoseReply),
        (LINK, Act::LoseReply),
        (REMOVE, Act::LoseReply),
        (WRITE, Act::CutStream),
        (GETATTR, Act::LoseRequest),
        (SETATTR, Act::Status(10_008)),
    ] {
        fixture.server.on(procedure, 0, act);
    }
    let draft = directory.draft("draft").unwrap();
    draft.write(b"text").unwrap();
    let mark = directory.name_draft(draft, "mark", false).unwrap();
    assert_eq!(mark.read(9).unwrap(), b"text");
    assert!(directory.mark("draft").unwrap().is_none());
    let traffic = fixture.traffic();
    assert_eq!(
        (traffic.count("reconnections"), traffic.count("delayed")),
        (5, 1)
    );
    assert_eq!(
        traffic
            .calls
            .iter()
            .map(|line| line.repetitions)
            .sum::<u64>(),
        5
    );
    // After the repeated REMOVE, which did not find the name, a look-up confirms the removal.
    let calls = fixture.server.take_calls();
    let removed = calls.iter().rposition(|call| *call == REMOVE).unwrap();
    assert_eq!(calls[removed + 1], LOOKUP, "{calls:?}");
    // The reply to MKDIR was lost, so the caller cannot know whether the server created the
    // directory.
    fixture.server.on(MKDIR, 0, Act::LoseReply);
    assert_eq!(directory.make(b"d", 0o700), Err(Errno::CONNRESET));
    assert!(
        fixture
            .server
            .files(|files| files.names("").contains(&"d".to_owned()))
    );
}

#[test]
fn name_is_removed_only_if_the_server_confirms_it() {
    let fixture = Fixture::new(1, "");
    let namespace = fixture.engine.namespace().unwrap();
    let directory = namespace.open(&fixture.bare()).unwrap();
    directory.draft("draft").unwrap();
    let facts = directory.facts_of(b"draft").unwrap();
    // The connection is closed at every REMOVE before the server executes it.
    fixture.server.always(REMOVE, Act::LoseRequest);
    assert_eq!(directory.remove(b"draft", &facts), Err(Errno::CONNRESET));
    assert!(fixture.server.files(|files| files.find("draft").is_some()));
    // The server executes the first REMOVE, but the client gets no reply to any REMOVE.
    fixture.server.behave().always(REMOVE, Act::LoseReply);
    assert_eq!(directory.remove(b"draft", &facts), Ok(true));
    assert!(fixture.server.files(|files| files.find("draft").is_none()));
}
