//! The namespace of object storage: marks, listings, identity and removals.

use engine::namespace::{EntryKind, Lock};
use engine::{Durability, Engine, Errno, Identity};

use super::Fixture;
use super::server::Act;
use crate::support::TEXT;

#[test]
fn mark_is_created_once_and_identified() {
    for act in [
        None,
        Some(Act::IgnoresCondition),
        Some(Act::Status(501, "NotImplemented")),
    ] {
        let fixture = Fixture::new(1, "");
        // The first PutObject (0) has no condition. The second one (1) is the first with the
        // condition `If-None-Match: *`.
        if let Some(act) = &act {
            fixture.server.on("PutObject", 1, act.clone());
        }
        let namespace = fixture.engine.namespace().unwrap();
        let directory = namespace.open(&fixture.bare()).unwrap();
        let draft = directory.draft("draft").unwrap();
        draft.write(b"a text").unwrap();
        assert_eq!(draft.lock(), Ok(Lock::Unknown));
        let mark = directory.name_draft(draft, "mark", false).unwrap();
        assert_eq!(fixture.server.keys(), ["p/mark"]);
        assert_eq!((mark.name(), mark.is_named()), ("mark", Ok(true)));
        assert_eq!(
            (mark.read(100).unwrap(), mark.read(3).unwrap()),
            (b"a text".to_vec(), b"a t".to_vec())
        );
        let other = directory.draft("draft").unwrap();
        other.write(b"other").unwrap();
        let taken = directory.name_draft(other, "mark", false);
        assert_eq!(taken.unwrap_err(), Errno::EXIST);
        let other = directory.draft("draft").unwrap();
        other.write(b"other").unwrap();
        let other = directory.name_draft(other, "mark", true).unwrap();
        assert_eq!(
            (other.read(9).unwrap(), mark.is_named()),
            (b"other".to_vec(), Ok(false))
        );
        assert!(directory.mark("draft").unwrap().is_none());
        let requests = fixture.traffic().count("unconditional_creations");
        assert_eq!(requests, if act.is_some() { 2 } else { 0 });
    }
}

#[test]
fn object_is_removed_only_with_its_identity() {
    let fixture = Fixture::new(1, "");
    fixture.server.put("p/1", TEXT);
    let namespace = fixture.engine.namespace().unwrap();
    let directory = namespace.open(&fixture.bare()).unwrap();
    let facts = directory.facts_of(b"1").unwrap();
    assert_eq!((facts.kind, facts.size_bytes), (EntryKind::File, 36));
    assert_eq!(facts.modified, Some((1_795_725_780, 0)));
    // The object gets the same contents again, which changes its identity.
    fixture.server.put("p/1", TEXT);
    assert_eq!(directory.remove(b"1", &facts), Ok(false));
    let facts = directory.facts_of(b"1").unwrap();
    assert_eq!(directory.remove(b"1", &facts), Ok(true));
    assert_eq!(directory.facts_of(b"1"), Err(Errno::NOENT));
    assert!(fixture.server.keys().is_empty());
}

#[test]
fn directories_are_listed_with_the_identities_of_their_entries() {
    let fixture = Fixture::new(1, "");
    for key in [
        "other", "p/", "p/1", "p/2&", "p/.h", "p/d/", "p/d/x", "p/e/y/z", "px",
    ] {
        fixture.server.put(key, b"text");
    }
    let namespace = fixture.engine.namespace().unwrap();
    let directory = namespace.open(&fixture.bare()).unwrap();
    let (mut names, mut identities) = (Vec::new(), Vec::new());
    directory
        .list(&mut |entry| {
            let facts = directory.facts_of(entry.name).unwrap();
            let number = facts.identity.map(|identity: Identity| identity.inode);
            assert_eq!(entry.number, number);
            identities.push((entry.name.to_vec(), facts.identity));
            names.push((String::from_utf8(entry.name.to_vec()).unwrap(), facts.kind));
            Ok(())
        })
        .unwrap();
    names.sort_by(|a, b| a.0.cmp(&b.0));
    let [file, inner] = [EntryKind::File, EntryKind::Directory];
    let expected = [
        (".h", file),
        ("1", file),
        ("2&", file),
        ("d", inner),
        ("e", inner),
    ];
    assert_eq!(names, expected.map(|(name, kind)| (name.to_owned(), kind)));
    // After the listing, a request for each entry returns the same identity as the listing.
    for (name, identity) in identities {
        assert_eq!(directory.facts_of(&name).unwrap().identity, identity);
    }
    assert!(directory.open(b"e").is_ok());
    assert_eq!(directory.open(b"1").unwrap_err(), Errno::NOTDIR);
    assert_eq!(directory.open(b"none").unwrap_err(), Errno::NOENT);
    assert_eq!(directory.make(b"d", 0o700), Err(Errno::EXIST));
    assert_eq!(directory.make(b"new", 0o700), Ok(()));
    let inner = directory.open(b"d").unwrap();
    let above = inner.above().unwrap().facts().unwrap();
    assert_eq!(above.identity, directory.facts().unwrap().identity);
    assert_eq!(
        namespace.facts(&fixture.bare().join("none")),
        Err(Errno::NOENT)
    );
    assert!(namespace.facts(&fixture.bare().join("d")).is_ok());
    let mut begins = [0; 9];
    assert_eq!(directory.read(b"1", 1, &mut begins), Ok(3));
    assert_eq!(&begins[..3], b"ext");
}

#[test]
fn only_empty_directories_and_their_uploads_are_removed() {
    let fixture = Fixture::new(1, "");
    let namespace = fixture.engine.namespace().unwrap();
    let directory = namespace.open(&fixture.bare()).unwrap();
    directory.make(b"d", 0o700).unwrap();
    fixture.server.put("p/d/x", b"text");
    {
        let mut state = fixture.server.state();
        for (id, key) in [(91, "p/d/1"), (92, "p/e/1"), (93, "p/d")] {
            let upload = (key.as_bytes().to_vec(), Default::default());
            state.uploads.insert(id, upload);
        }
    }
    let facts = directory.facts_of(b"d").unwrap();
    assert_eq!(directory.remove(b"d", &facts), Err(Errno::NOTEMPTY));
    let inner = directory.open(b"d").unwrap();
    let file = inner.facts_of(b"x").unwrap();
    assert_eq!(inner.remove(b"x", &file), Ok(true));
    assert_eq!(directory.remove(b"d", &facts), Ok(true));
    assert!(fixture.server.keys().is_empty());
    // Uploads outside of the directory remain, because other programs may have begun them.
    let left = || -> Vec<u64> { fixture.server.state().uploads.keys().copied().collect() };
    assert_eq!(left(), [92, 93]);
    // In a user's directory, only uploads of the accepted names are aborted.
    let discarded = directory.discard_incomplete(&|name| name == b"d");
    assert_eq!((discarded, left()), (Ok(()), vec![92]));
}

#[test]
fn own_uploads_are_found_behind_pages_of_other_uploads() {
    let fixture = Fixture::new(1, "");
    let namespace = fixture.engine.namespace().unwrap();
    let directory = namespace.open(&fixture.bare()).unwrap();
    for id in 0..10 {
        let name = if id % 6 == 5 { "own" } else { "other" };
        let upload = (format!("p/{id}-{name}").into_bytes(), Default::default());
        fixture.server.state().uploads.insert(id, upload);
    }
    let discarded = directory.discard_incomplete(&|name| name.ends_with(b"own"));
    assert_eq!(discarded, Ok(()));
    let left: Vec<u64> = fixture.server.state().uploads.keys().copied().collect();
    assert_eq!(left, [0, 1, 2, 3, 4, 6, 7, 8, 9]);
}

#[test]
fn unusable_targets_are_refused_with_a_hint() {
    let fixture = Fixture::new(1, "");
    let engine = |url: &str| super::engine(1, std::path::Path::new(url));
    let reach = |url: &str| {
        let namespace = engine(url).namespace().unwrap();
        namespace
            .reach(std::path::Path::new(url))
            .unwrap_err()
            .to_string()
    };
    fixture
        .server
        .always("ListObjectsV2", Act::Status(403, "SignatureDoesNotMatch"));
    let url = fixture.url.to_str().unwrap().to_owned();
    for (url, words) in [
        (url.as_str(), "access denied (check the access key"),
        ("s3://bucket/p", "add ?endpoint=http://host:port"),
        (
            "s3://bucket:9/p?endpoint=http://127.0.0.1:1",
            "a bucket has no port",
        ),
        (
            "s3://bucket/p?endpoint=ftp://127.0.0.1:1",
            "expected http://host[:port]",
        ),
        (
            "s3://bucket/p?endpoint=http://127.0.0.1:1",
            "Connection refused",
        ),
        (
            "s3://bucket/p?endpoint=http://none.invalid",
            "cannot resolve none.invalid",
        ),
    ] {
        let refused = reach(url);
        assert!(refused.contains(words), "{url}: {refused}");
    }
    let none = s3_client::Environment {
        variable: &|_| None,
        file: &|_| None,
    };
    let engine = engines::s3::S3::in_environment(1, std::slice::from_ref(&fixture.url), &none);
    let refused = engine.namespace().unwrap().reach(&fixture.url).unwrap_err();
    assert!(
        refused.to_string().contains("set AWS_ACCESS_KEY_ID"),
        "{refused}"
    );
}

#[test]
fn facts_of_the_server_contain_no_secret() {
    let fixture = Fixture::new(3, "&region=west&payload=signed");
    let namespace = fixture.engine.namespace().unwrap();
    namespace.reach(&fixture.url).unwrap();
    let servers = namespace.servers(Durability::None);
    assert_eq!(servers.len(), 1);
    let shown = format!("{servers:?} {:?} {namespace:?}", fixture.engine);
    assert!(shown.contains("west") && shown.contains("signed"));
    assert!(
        !shown.contains("SECRET") && !shown.contains("KEY\""),
        "{shown}"
    );
}
