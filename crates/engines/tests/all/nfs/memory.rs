//! A session allocates no memory while it performs operations, once it has processed the longest
//! names and contents.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use engine::{Durability, Settings};

use super::Fixture;
use super::operations::in_flight;
use crate::support::{FilePath, TEXT, make};

/// The system's allocator with a counter of allocations per thread.
struct Counting;

thread_local!(static ALLOCATIONS: Cell<u64> = const { Cell::new(0) });

/// Returns the number of allocations that this thread has made since it started.
pub fn allocations() -> u64 {
    ALLOCATIONS.with(Cell::get)
}

fn count() {
    ALLOCATIONS.with(|allocations| allocations.set(allocations.get() + 1));
}

// SAFETY: all calls are forwarded to the system's allocator. The counter is a plain thread-local
// number, which allocates nothing and has no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller fulfils the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller fulfils the contract of `dealloc`.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller fulfils the contract of `realloc`.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn session_allocates_no_memory_after_warm_up() {
    for (depth, parameters) in [(1, ""), (8, ""), (8, "&nconnect=2")] {
        let fixture = Fixture::new(depth, parameters);
        let bare = fixture.bare();
        let files: Vec<_> = (0..40)
            .map(|number| FilePath::new(&bare, &format!("d/{number}")))
            .collect();
        let moved: Vec<_> = (0..40)
            .map(|number| FilePath::new(&bare, &format!("d/m{number}")))
            .collect();
        let directory = FilePath::new(&bare, "d");
        let settings = Settings {
            keep_contents_bytes: 64,
            durability: Durability::Fsync.into(),
            ..fixture.settings()
        };
        let allocated = fixture.work(&settings, |session| {
            in_flight(session, 1, 1, |_| make::make_directory(directory.name()));
            let mut allocated = Vec::new();
            for _ in 0..3 {
                for kind in 0..7 {
                    let before = allocations();
                    in_flight(session, depth, files.len(), |number| match kind {
                        0 => make::create(files[number].name(), TEXT),
                        1 => make::read(files[number].name(), 36),
                        2 => make::append(files[number].name(), TEXT),
                        3 => make::stat(files[number].name(), Some(72)),
                        4 => make::rename(files[number].name(), moved[number].name()),
                        5 => make::list_with_stat(directory.name()),
                        _ => make::delete(moved[number].name()),
                    });
                    allocated.push(allocations() - before);
                }
            }
            allocated
        });
        // The test itself allocates up to 4 times in each round, for its lists of outcomes. After
        // the first 7 rounds, the session allocates nothing, so all later rounds have equal numbers
        // of allocations.
        let own = allocated[allocated.len() - 1];
        assert!(own <= 4, "{allocated:?}");
        assert_eq!(
            allocated[7..],
            vec![own; 14],
            "depth {depth}: {allocated:?}"
        );
    }
}
