//! Ranks as threads.

use std::thread;
use std::time::Duration;

use cluster::{Together, in_process};

/// Small, so that there may be thousands.
const STACK_BYTES: usize = 256 << 10;

/// What each rank comes to, in their order, when all do the same.
pub fn each<T: Send>(count: u32, limit: Duration, act: impl Fn(Together<in_process::InProcess>) -> T + Sync) -> Vec<T> {
    thread::scope(|scope| {
        let act = &act;
        let all: Vec<_> = in_process::ranks(count)
            .into_iter()
            .map(|rank| {
                let thread = thread::Builder::new().stack_size(STACK_BYTES);
                thread
                    .spawn_scoped(scope, move || act(Together::new(rank, limit)))
                    .expect("a thread for each rank")
            })
            .collect();
        all.into_iter()
            .map(|rank| rank.join().expect("no rank panics"))
            .collect()
    })
}
