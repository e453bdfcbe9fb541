//! Checks that the streams reproduce published sessions and tables exactly.

use workload::presets;
use workload::{Action, Classic, Edition, End, Phase, Plan, Planner, Workload};

fn plan(edition: Edition, files: u64, transactions: u64, subdirectories: u32) -> Plan {
    let workload = Workload::from(Classic {
        edition,
        files,
        transactions,
        subdirectories,
        ..Classic::default()
    });
    Planner::new(&workload).plan().unwrap()
}

/// Returns numbers of files in this order: created before the transactions, created in the
/// transactions, read, appended, deleted in the transactions, and deleted at the end.
fn counts(plan: &Plan) -> [u64; 6] {
    [
        (Phase::Prepare, Action::Create),
        (Phase::Transactions, Action::Create),
        (Phase::Transactions, Action::Read),
        (Phase::Transactions, Action::Append),
        (Phase::Transactions, Action::Delete),
        (Phase::Delete, Action::Delete),
    ]
    .map(|(phase, action)| plan.tally(phase, action).operations)
}

#[test]
fn session_in_the_paper_is_reproduced() {
    let plan = plan(Edition::V1_0, 500, 500, 1);
    assert_eq!(counts(&plan), [500, 240, 237, 262, 260, 480]);
    assert_eq!(plan.bytes_read(), 1_337_821);
    assert_eq!(plan.bytes_written(), 4_302_954);
    assert_eq!(plan.end, End::Complete);
}

#[test]
fn session_of_five_million_transactions_is_reproduced() {
    let plan = plan(Edition::V1_5, 9_999, 5_000_000, 1);
    assert_eq!(
        counts(&plan),
        [9_999, 2_500_497, 2_499_695, 2_472_080, 2_499_503, 10_993]
    );
    // The published "16307.03 megabytes read" and "16302.64 megabytes written" are sums in 32-bit
    // floats, which lost digits.
    let megabytes = |bytes: f64| format!("{:.2}", bytes / (1024.0 * 1024.0));
    assert_eq!(megabytes(plan.classic_bytes_read), "16307.03");
    assert_eq!(megabytes(plan.classic_bytes_written), "16302.64");
}

#[test]
fn read_to_written_ratios_of_published_tables_are_reproduced() {
    let tables = [
        (Edition::V1_0, 1_000, 50_000, 1, "0.9780"),
        (Edition::V1_0, 20_000, 50_000, 1, "0.5520"),
        (Edition::V1_0, 20_000, 100_000, 1, "0.7234"),
        (Edition::V1_5, 1_000, 50_000, 1, "0.9571"),
        (Edition::V1_5, 20_000, 50_000, 1, "0.5299"),
        (Edition::V1_5, 20_000, 100_000, 1, "0.6957"),
        (Edition::V1_5, 20_000, 100_000, 100, "0.6976"),
    ];
    for (edition, files, transactions, subdirectories, published) in tables {
        let plan = plan(edition, files, transactions, subdirectories);
        let ratio = plan.bytes_read() as f64 / plan.bytes_written() as f64;
        assert_eq!(
            format!("{ratio:.4}"),
            published,
            "edition {edition}, {files} files, {transactions} transactions, {subdirectories} \
             subdirectories"
        );
    }
}

#[test]
fn massive_presets_perform_the_same_work_in_each_process() {
    for (name, files) in [("veritas-massive-1", 2_000), ("veritas-massive-2", 20_000)] {
        let massive = presets::find(name).unwrap().workload;
        let one = Workload::from(Classic {
            edition: Edition::V1_0,
            files,
            transactions: 50_000,
            subdirectories: 100,
            ..Classic::default()
        });
        let (massive, one) = (
            Planner::new(&massive).plan().unwrap(),
            Planner::new(&one).plan().unwrap(),
        );
        assert_eq!(
            counts(&massive),
            counts(&one).map(|count| 12 * count),
            "{name}"
        );
        assert_eq!(massive.transactions, 12 * one.transactions, "{name}");
    }
}
