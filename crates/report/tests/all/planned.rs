//! Reasons for which the verdict on a planned run will not be VALID.

use std::time::Duration;

use record::{
    ArrivalProcess, Class, Durability, Fact, Load, Pace, PlanRecord, Record, Stop, TimeEstimate,
    TimeSource, Workload,
};
use testkit::Shows;
use verdict::Verdict;

use crate::built;

/// The plan of the stored run after a change, as text in one line.
fn plan(change: impl FnOnce(&mut PlanRecord)) -> String {
    let kept = Record::from_json(include_str!("../golden/run.json")).unwrap();
    let mut record = built::plan(&kept, kept.spec.workload.clone());
    change(&mut record);
    record.expected = Verdict::expected(&record, &kept.host);
    let text = report::plan::render(&record);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn ends_after(record: &mut PlanRecord, seconds: u64) {
    record.spec.drive.stop = Stop::After(Duration::from_secs(seconds));
    record.spec.workload = record.spec.workload.with_transactions(Workload::ENDLESS);
}

/// An estimate from run 18, which performed this number of transactions/s in a closed loop.
fn estimate(transactions_per_second: f64) -> Option<TimeEstimate> {
    Some(TimeEstimate {
        prepare_s: None,
        transactions_s: None,
        transactions_may_end_earlier: false,
        load_levels: None,
        delete_s: None,
        transactions_per_second: Some(transactions_per_second),
        source: TimeSource::Run {
            number: 18,
            files: None,
        },
    })
}

#[test]
fn plan_predicts_the_verdict_on_a_short_run() {
    plan(|record| ends_after(record, 4)).shows(
        "this run will be DOUBTFUL (too-short): 4.00 s measured, at least 10 s; use --for 10s",
    );
    let long = plan(|record| ends_after(record, 60));
    assert!(!long.contains("too-short"), "{long}");
}

#[test]
fn plan_predicts_the_rate_above_which_few_transactions_are_too_short() {
    let above = "this run will be DOUBTFUL (too-short) at more than 50.00 transactions/s";
    plan(|_| ()).shows(&format!(
        "{above}: less than 10 s measured; use more --transactions, or --for 10s without \
         --transactions"
    ));
    let known = plan(|record| record.time = estimate(2_000.0));
    known.shows(&format!(
        "{above} (expected: 2,000): 250 ms measured, at least 10 s; use"
    ));
    let slow = plan(|record| record.time = estimate(40.0));
    assert!(!slow.contains("too-short"), "{slow}");
}

#[test]
fn plan_predicts_that_random_changes_resize_a_small_pool() {
    plan(|record| ends_after(record, 60)).shows(
        "this run will be DOUBTFUL (pool-changed-size) at more than 167 transactions/s: random \
         creations and deletions change the pool of 500 files by more than 20.0 %; use more \
         --files, like --files 20k",
    );
    let slow = plan(|record| {
        ends_after(record, 60);
        record.time = estimate(100.0);
    });
    assert!(!slow.contains("pool-changed-size"), "{slow}");
}

#[test]
fn offered_rate_above_that_of_an_earlier_run_is_not_reached() {
    let offered = |per_second| {
        plan(|record| {
            ends_after(record, 60);
            record.spec.drive.pace = Pace::Open {
                per_second,
                arrivals: ArrivalProcess::Constant,
            };
            record.time = estimate(500.0);
        })
    };
    offered(1_000.0).shows(
        "this run will be INVALID (rate-not-reached): run 18 achieved 500 transactions/s in a \
         closed loop, and this run offers 1,000 (50.0 %, at least 99.0 %); use a lower --rate or \
         more workers",
    );
    let reached = offered(500.0);
    assert!(!reached.contains("rate-not-reached"), "{reached}");
}

#[test]
fn plan_predicts_the_verdict_on_durability_in_memory() {
    let durable = |record: &mut PlanRecord| record.spec.durability = Durability::Fsync.into();
    plan(|record| {
        durable(record);
        record.targets[0].class = Fact::Known(Class::Memory);
    })
    .shows("this run will be INVALID (durability-in-memory): --durability fsync, but ");
    let on_disk = plan(durable);
    assert!(!on_disk.contains("durability-in-memory"), "{on_disk}");
}

#[test]
fn plan_names_its_load_level_and_what_is_not_known_without_the_server() {
    plan(|record| record.load_level = Some(Load::Workers(64)))
        .shows("all numbers of operations, files and bytes are those of the level with 64 workers");
    plan(|record| {
        record.room = Fact::Unavailable("cannot connect to server: refused".to_owned());
        record.refused.push("no MPI".to_owned());
    })
    .shows_all(
        "Room not known, like the other facts about the server, because it does not answer: \
         cannot connect to server: refused | A run would be refused: no MPI",
    );
    plan(|record| {
        let Fact::Known(room) = &mut record.room else {
            panic!("the stored plan has its room");
        };
        room.volumes[0].available_bytes = Fact::Known(1);
        record.spec.room_check = false;
    })
    .shows_all("DOES NOT FIT | A run would not be refused, because --no-space-check lets it begin");
}
