//! Copies, links and removals of trees: directories with their files.

use engine::{Cause, Settings};

use super::Fixture;
use super::files::Whims;
use super::procedure::*;
use super::server::Act;
use crate::support::{FilePath, done, failed, make};
use crate::trees::nested_trees_are_copied_linked_and_removed;

/// The server's pages and transfers are short, and it omits all optional results.
#[test]
fn trees_are_copied_linked_and_removed_completely() {
    let fixture = Fixture::new(1, "");
    let terse = Whims {
        is_terse: true,
        entries_max: Some(3),
        ..Whims::default()
    };
    for procedure in [LOOKUP, CREATE, MKDIR, READDIR] {
        fixture.server.always(procedure, Act::As(terse));
    }
    fixture.server.files(|files| files.preferred = (4096, 2048));
    let directory = fixture.bare();
    let [d, copy, links, other] =
        ["d", "copy", "links", "other"].map(|name| FilePath::new(&directory, name));
    let [empty, short, long, link, symbolic] =
        ["d/0", "d/1", "d/2", "d/3.l", "d/4"].map(|name| FilePath::new(&directory, name));
    let content: Vec<u8> = (0..10_001_u32).map(|number| (number % 251) as u8).collect();
    let files = make::listing(&["0", "1", "2"]);
    let bytes = 3 + 10_001;
    fixture.work(&fixture.settings(), |session| {
        done(session, &make::make_directory(d.name()));
        done(session, &make::create(empty.name(), b""));
        done(session, &make::create(short.name(), b"abc"));
        done(session, &make::create(long.name(), &content));
        done(session, &make::link(short.name(), link.name()));
        done(session, &make::symbolic_link(symbolic.name(), c"1"));
        fixture.server.take_calls();
        done(
            session,
            &make::copy_tree(d.name(), copy.name(), files, bytes),
        );
        // The server answers MKDIR and CREATE without a handle, and LOOKUP without attributes.
        // Three pages contain `.`, `..` and five entries; four of these are looked up.
        let long = [&[READ; 3][..], &[CREATE, LOOKUP], &[WRITE; 5]].concat();
        let calls = [
            &[MKDIR, LOOKUP][..],
            &[READDIR; 3],
            &[LOOKUP, GETATTR].repeat(4),
            &[CREATE, LOOKUP],
            &[READ, CREATE, LOOKUP, WRITE],
            &long,
        ];
        let mut made = fixture.server.take_calls();
        let mut expected = calls.concat();
        // The order of the entries is the server's.
        made.sort_unstable();
        expected.sort_unstable();
        assert_eq!(made, expected);
        let copied = |name: &str| fixture.server.files(|files| files.content(name));
        assert_eq!(copied("copy/0").unwrap(), b"");
        assert_eq!(copied("copy/1").unwrap(), b"abc");
        assert!(copied("copy/2").unwrap() == content);
        assert!(copied("copy/3.l").is_none() && copied("copy/4").is_none());

        let linked = make::link_tree(d.name(), links.name(), files);
        done(session, &linked);
        fixture.server.take_calls();
        done(session, &make::append(short.name(), b"d"));
        assert_eq!(copied("links/1").unwrap(), b"abcd");
        assert_eq!(copied("copy/1").unwrap(), b"abc");
        assert!(copied("links/2").unwrap() == content);
        assert!(copied("links/3.l").is_none() && copied("links/4").is_none());
        done(session, &make::truncate(short.name(), 3));
        assert_eq!(failed(session, &linked).errno(), Some(libc::EEXIST));

        let few = make::listing(&["0", "1"]);
        let wrong_files = Cause::WrongFiles {
            found: 3,
            expected: 2,
        };
        for (operation, cause) in [
            (
                make::copy_tree(d.name(), other.name(), few, bytes),
                wrong_files,
            ),
            (make::remove_tree(copy.name(), few), wrong_files),
        ] {
            assert_eq!(failed(session, &operation).cause, cause, "{operation:?}");
        }
        done(session, &make::remove_directory(other.name()));
        let longer = make::copy_tree(d.name(), other.name(), files, bytes + 1);
        let wrong_size = Cause::WrongSize {
            found: bytes,
            expected: bytes + 1,
        };
        assert_eq!(failed(session, &longer).cause, wrong_size);
        done(session, &make::remove_directory(other.name()));
        fixture.server.take_calls();
        done(session, &make::remove_tree(copy.name(), files));
        let calls = [&[READDIR; 2][..], &[REMOVE; 3], &[RMDIR]].concat();
        assert_eq!(fixture.server.take_calls(), calls);
        done(session, &make::stat_missing(copy.name()));
    });
}

#[test]
fn nested_trees_are_copied_linked_and_removed_over_nfs() {
    for is_terse in [false, true] {
        let fixture = Fixture::new(1, "");
        let whims = Whims {
            is_terse,
            entries_max: Some(3),
            ..Whims::default()
        };
        for procedure in [LOOKUP, CREATE, MKDIR, READDIR] {
            fixture.server.always(procedure, Act::As(whims));
        }
        let directory = fixture.bare();
        let settings = Settings {
            keep_contents_bytes: 64,
            ..fixture.settings()
        };
        fixture.work(&settings, |session| {
            nested_trees_are_copied_linked_and_removed(session, &directory);
        });
    }
}
