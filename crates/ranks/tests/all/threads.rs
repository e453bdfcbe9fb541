//! Runs ranks as threads of the test's process.

use std::thread;
use std::time::Duration;

use ranks::{Communicator, Ranks, in_process};

/// Runs `act` on each rank, which then leaves. Returns the results in the order of ranks.
pub fn each<T: Send>(count: u32, limit: Duration, act: impl Fn(&Ranks) -> T + Sync) -> Vec<T> {
    each_over(in_process::ranks(count), limit, act)
}

/// Runs `act` as [`each`] does, with one rank for each of the given communicators.
pub fn each_over<C: Communicator + Send + 'static, T: Send>(
    carriers: Vec<C>,
    limit: Duration,
    act: impl Fn(&Ranks) -> T + Sync,
) -> Vec<T> {
    thread::scope(|scope| {
        let act = &act;
        let all: Vec<_> = carriers
            .into_iter()
            .map(|carrier| {
                scope.spawn(move || {
                    let ranks =
                        Ranks::join(limit, move || Ok(carrier)).expect("a thread for each rank");
                    let outcome = act(&ranks);
                    ranks.leave();
                    outcome
                })
            })
            .collect();
        all.into_iter()
            .map(|rank| rank.join().expect("no rank panics"))
            .collect()
    })
}
