//! A session allocates no memory for operations on objects, once it has processed the longest names
//! and contents. Listings are excepted: the parser of XML allocates memory for each page.

use engine::Settings;

use super::Fixture;
use crate::nfs::memory::allocations;
use crate::nfs::operations::in_flight;
use crate::support::{FilePath, TEXT, make};

#[test]
fn session_allocates_no_memory_after_warm_up() {
    for (depth, parameters) in [(1, ""), (8, "&payload=signed")] {
        let fixture = Fixture::new(depth, parameters);
        let bare = fixture.bare();
        let files: Vec<_> = (0..40)
            .map(|number| FilePath::new(&bare, &format!("d/{number}")))
            .collect();
        let temporary = FilePath::new(&bare, "d/temporary");
        let settings = Settings {
            keep_contents_bytes: 64,
            ..fixture.settings()
        };
        let allocated = fixture.work(&settings, |session| {
            let mut allocated = Vec::new();
            for _ in 0..3 {
                for kind in 0..6 {
                    let before = allocations();
                    in_flight(session, depth, files.len(), |number| match kind {
                        0 => make::create(files[number].name(), TEXT),
                        1 => make::read(files[number].name(), 36),
                        2 => make::stat(files[number].name(), Some(36)),
                        3 => make::replace(files[number].name(), temporary.name(), TEXT),
                        4 => make::read_range(files[number].name(), 3, 7),
                        _ => make::delete(files[number].name()),
                    });
                    allocated.push(allocations() - before);
                }
            }
            allocated
        });
        // The test itself allocates up to 4 times in each round, for its lists of outcomes.
        let own = allocated[allocated.len() - 1];
        assert!(own <= 4, "{allocated:?}");
        assert_eq!(
            allocated[6..],
            vec![own; 12],
            "depth {depth}: {allocated:?}"
        );
    }
}
