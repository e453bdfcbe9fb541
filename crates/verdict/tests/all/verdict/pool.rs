//! The rule about pools that change their size.

use record::{Action, Phase, Record, SegmentKind};
use verdict::rules::PoolChangedSize;
use verdict::{Level, Reason};
use workload::{Bias, Classic, Mix, Work};

use crate::verdict::made::{
    BEGAN, is_valid, meter, of, operation, phase, reason, segment, transactions,
};

/// Adds operations to a segment of the transactions. The pool contains 500 files.
fn also(record: &mut Record, index: usize, each: &[(Action, u64)]) {
    let operations = &mut transactions(record).segments[index].operations;
    operations.extend(
        each.iter()
            .map(|(action, count)| operation(*action, meter(*count))),
    );
}

fn changed(files_before: u64, files_after: u64) -> (Level, Reason) {
    let reason = Reason::PoolChangedSize(PoolChangedSize {
        files_before,
        files_after,
        is_balanced: true,
    });
    (Level::Doubtful, reason)
}

#[test]
fn a_pool_that_changes_by_more_than_a_fifth_is_doubtful() {
    use Action::{Create, Delete, Deliver};
    is_valid(|record| also(record, 0, &[(Create, 1_000), (Delete, 900)]));
    is_valid(|record| also(record, 0, &[(Deliver, 1_000), (Delete, 1_100)]));
    let found = reason(|record| also(record, 0, &[(Create, 500), (Deliver, 501), (Delete, 900)]));
    assert_eq!(found, changed(500, 601));
    let found = reason(|record| also(record, 0, &[(Create, 1_000), (Delete, 1_101)]));
    assert_eq!(found, changed(500, 399));
}

#[test]
fn advice_depends_on_the_weights() {
    let advice = |work: Work| {
        let verdict = of(|record| {
            record.spec.workload.work = work;
            also(record, 0, &[(Action::Create, 601), (Action::Delete, 500)]);
        });
        let is_of_pool = |reason: &&Reason| matches!(reason, Reason::PoolChangedSize(_));
        verdict.reasons.iter().find(is_of_pool).unwrap().advice()
    };
    let classic = |tenths| {
        let bias_create = Bias::new(tenths).unwrap();
        let classic = Classic {
            bias_create,
            ..Classic::default()
        };
        advice(Work::Classic(classic))
    };
    let mix = |weights: &str| {
        let weights = weights.parse().unwrap();
        let mix = Mix {
            weights,
            ..Mix::default()
        };
        advice(Work::Mix(mix))
    };
    for advice in [
        classic(5),
        mix("create=10,deliver=10,delete=20"),
        mix("create=20,delete=18"),
    ] {
        assert_eq!(advice, "use more --files, like --files 20k");
    }
    for advice in [classic(6), mix("create=2,delete=1")] {
        assert_eq!(advice, "use a mix that creates as often as it deletes");
    }
}

#[test]
fn pool_size_at_the_start_includes_the_warm_up() {
    let warmed_up = |create| {
        move |record: &mut Record| {
            let warm_up = segment(SegmentKind::WarmUp, BEGAN, BEGAN, 1_000);
            transactions(record).segments.insert(0, warm_up);
            also(record, 0, &[(Action::Create, 500)]);
            also(record, 1, &[(Action::Create, create)]);
        }
    };
    is_valid(warmed_up(200));
    assert_eq!(reason(warmed_up(201)), changed(1_000, 1_201));
}

#[test]
fn work_that_only_creates_or_only_deletes_may_change_the_pool() {
    for action in [Action::Create, Action::Deliver, Action::Delete] {
        is_valid(|record| {
            let operations = &mut transactions(record).segments[0].operations;
            for operation in operations {
                operation.action = action;
                operation.meter.operations = 400;
            }
        });
    }
}

/// Without a preparation, the size of the pool follows from a complete deletion at the end.
#[test]
fn the_size_of_a_kept_pool_follows_from_its_deletion() {
    let taken = |is_removed| {
        move |record: &mut Record| {
            also(record, 0, &[(Action::Create, 201), (Action::Delete, 0)]);
            record
                .actual
                .phases
                .retain(|phase| phase.phase != Phase::Prepare);
            phase(record, Phase::Delete).segments[0].operations =
                vec![operation(Action::Delete, meter(1_201))];
            phase(record, Phase::Delete).complete = is_removed;
        }
    };
    assert_eq!(reason(taken(true)), changed(1_000, 1_201));
    is_valid(taken(false));
}
