//! Pools that a run keeps (`--keep`) and a later run reuses (`--reuse`).

use std::time::Duration;

use record::Phase;

use crate::mounted::{Mounted, on};
use crate::runs::{Ran, Run, postmark};
use crate::support::interface::{clean, draft_of_killed_run, has_ended, own_directories};
use crate::support::names;

const WORK: &str = "--mix read=4,create=3,append=2,rename=2,delete=3,replace=1,stat=1 --files 400 \
                    --workers 2 --dirs subdirs:5 --verify";

fn phases(ran: &Ran) -> Vec<Phase> {
    ran.record
        .actual
        .phases
        .iter()
        .map(|phase| phase.phase)
        .collect()
}

fn killed_run_makes_a_kept_pool_unusable(mounted: Mounted) {
    let before = names(&mounted.at).unwrap();
    let work = Run::new(&mounted.at, WORK);
    // The first run keeps its pool after some transactions, and later runs continue with this pool.
    let kept = work.clone().and("--transactions 500 --keep").perform();
    kept.is_complete();
    kept.assert(
        phases(&kept) == [Phase::Prepare, Phase::Transactions],
        "a pool that is kept is prepared and worked on, and not deleted",
    )
    .assert(
        kept.record.spec.keeping.keep,
        "the record does not say that it was kept",
    );
    assert_eq!(
        own_directories(&mounted.at).len(),
        1,
        "the pool is not there\n{kept}"
    );
    clean(&mounted.at).code(0).shows("--reuse");
    let taken = work
        .clone()
        .and("--transactions 500 --reuse --keep")
        .perform();
    taken.is_complete();
    taken
        .assert(
            phases(&taken) == [Phase::Transactions],
            "a pool that is taken and kept is worked on only",
        )
        .assert(
            taken.record.spec.keeping.reuse,
            "the record does not say that it was taken",
        )
        .assert(
            taken
                .record
                .actual
                .taken
                .is_some_and(|taken| taken.names > 0),
            "the pool was not checked when it was taken",
        );
    // If a run that reuses a pool is killed, the contents of the pool are not known.
    let manifest = own_directories(&mounted.at)[0].join(".postmark-manifest.json");
    let kept = std::fs::read(&manifest).unwrap();
    let mut running = work
        .clone()
        .and("--transactions 100000000 --reuse --no-space-check")
        .start();
    // The manifest changes before the pool does.
    running.until("that the pool is taken", |running| {
        has_ended(&running.errors(), "take")
            && std::fs::read(&manifest).is_ok_and(|text| text != kept)
    });
    std::thread::sleep(Duration::from_millis(300));
    running.kill().signal(9);
    let own = own_directories(&mounted.at);
    let ended = work.clone().and("--transactions 500 --reuse").end();
    ended.code(2).shows("postmark clean");
    assert_eq!(
        own_directories(&mounted.at),
        own,
        "a refused run has changed something\n{ended}"
    );
    let cleaned = clean(&mounted.at);
    cleaned.code(0);
    assert_eq!(
        names(&mounted.at).unwrap(),
        before,
        "something is left\n{cleaned}"
    );
    // `clean` has removed the pool, so there is no pool to reuse.
    work.and("--transactions 500 --reuse")
        .end()
        .code(2)
        .shows("--keep");
}
on!(killed_run_makes_a_kept_pool_unusable);

fn prepared_pool_can_be_reused_for_another_mix(mounted: Mounted) {
    let shared = "--writers 2 --readers 2 --files 400 --dirs subdirs:5 --verify";
    let kept = Run::new(&mounted.at, shared)
        .and("--mix read=1,create=1,delete=1 --transactions 0 --keep")
        .perform();
    kept.is_complete();
    // A run that is killed while it takes the pool may leave a draft of the manifest.
    let draft = own_directories(&mounted.at)[0].join(draft_of_killed_run());
    std::fs::write(draft, "").unwrap();
    // A pool on which no transactions were performed can be reused for any mix.
    let taken = Run::new(&mounted.at, shared)
        .and("--mix read=3,list=1,append=1,rename=1,create=2,delete=2 --transactions 500 --reuse")
        .perform();
    taken.is_complete();
    taken.assert(
        phases(&taken) == [Phase::Transactions, Phase::Delete],
        "a pool that is taken is worked on and deleted",
    );
    let left = names(&mounted.at).unwrap();
    taken.assert(
        left.iter().all(|name| name == "lost+found"),
        format_args!("something is left: {left:?}"),
    );
    // `clean` removes a kept pool if it is called with the directory of the pool.
    Run::new(&mounted.at, shared)
        .and("--mix read=1,create=1,delete=1 --transactions 0 --keep")
        .perform()
        .is_complete();
    for own in own_directories(&mounted.at) {
        postmark(&mounted.at, &["clean".as_ref(), own.as_os_str()]).code(0);
    }
    assert!(
        own_directories(&mounted.at).is_empty(),
        "the pool is still there"
    );
}
on!(prepared_pool_can_be_reused_for_another_mix);
