//! Verified workloads on an NFS server, with `POSTMARK_NFS_OPERATIONS` operations each. No file may
//! be missing, and no contents may be wrong.

use record::{Action, Phase, Role};
use testkit::number_of;

use super::ganesha::Ganesha;
use super::{LACKS, Traffic, asked, is_whole, start, tell, within};
use crate::runs::Ran;

fn operations() -> u64 {
    number_of("POSTMARK_NFS_OPERATIONS", 2_000)
}

/// Number of workers in the runs of presets. Each worker performs its own transactions, so the
/// number of operations is divided by the number of workers.
const PRESET_WORKERS: u64 = 4;

/// Time limit of a run: half a minute for its start, and time for its operations.
fn limit() -> std::time::Duration {
    std::time::Duration::from_secs(30 + operations() / 100)
}

fn perform(ganesha: &Ganesha, options: &str) -> Ran {
    let before = ganesha.names();
    let ran = Ran::of(
        within(start(ganesha, &ganesha.url("export"), options), limit()),
        before,
    );
    is_whole(&ran);
    let traffic = Traffic::of(&ran);
    for counter in [
        "reconnections",
        "verifier_changes",
        "rewritten_bytes",
        "not_known",
        "stray_replies",
    ] {
        ran.assert(
            traffic.number(counter) == 0,
            format_args!("{counter}: {}", traffic.0),
        );
    }
    ran.assert(traffic.repetitions() == 0, &traffic.0);
    ran
}

#[test]
fn presets_and_a_replay_are_performed_without_errors() {
    let Some(ganesha) = Ganesha::with_room(4_096) else {
        return;
    };
    replay(&ganesha);
    for preset in ["varmail", "web-cache", "containers"] {
        for depth in [1, 8] {
            let transactions = operations().div_ceil(PRESET_WORKERS);
            let ran = perform(
                &ganesha,
                &format!(
                    "--preset {preset} --workers {PRESET_WORKERS} --files 150 --transactions \
                     {transactions} --depth {depth} --verify"
                ),
            );
            let done = ran.phase(Phase::Transactions).transactions.unwrap();
            let performed = ran.record.actual.phase(Phase::Transactions).unwrap();
            ran.assert(
                performed.issued() >= operations(),
                "not everything was done",
            );
            tell(&format!(
                "{preset}, depth {depth}: {:.0} transactions a second",
                done.per_second.unwrap()
            ));
        }
    }
}

/// Performs operations of a trace, with names in several directories and syncs.
fn replay(ganesha: &Ganesha) {
    let trace = ganesha.test_dir().path().join("trace.txt");
    let text = "1 chdir(\"/t\") = 0
1 openat(AT_FDCWD, \"x/a\", O_WRONLY|O_CREAT|O_EXCL, 0644) = 3
1 write(3, \"\"..., 9000) = 9000
1 fsync(3) = 0
1 close(3) = 0
1 rename(\"x/a\", \"y/a\") = 0
1 rename(\"x/c\", \"y/c\") = 0
1 link(\"y/a\", \"x/b\") = 0
1 openat(AT_FDCWD, \"x/b\", O_RDONLY) = 3
1 read(3, \"\"..., 9000) = 9000
1 close(3) = 0
1 unlink(\"y/a\") = 0
";
    std::fs::write(&trace, text).unwrap();
    let options = format!("--replay {} --below /t --verify", trace.display());
    let ran = perform(ganesha, &options);
    let transactions = ran.record.actual.phase(Phase::Transactions).unwrap();
    ran.assert(transactions.issued() == 5, "not everything was done");
}

fn everything(workers: &str, roles: &[Role], share: u64) {
    let Some(ganesha) = Ganesha::with_room(4_096) else {
        return;
    };
    // Trees need private pools.
    let mut asked = asked();
    asked.retain(|action| roles.len() == 1 || !action.is_on_tree());
    let mix: Vec<String> = asked
        .iter()
        .map(|action| format!("{}=1", action.name()))
        .collect();
    let mix = mix.join(",").replace("delete=1", "delete=2");
    let directories = match roles.len() {
        1 => "tree:2x2 --tree-levels 1",
        _ => "subdirs:4",
    };
    for depth in [1, 8] {
        let transactions = operations().div_ceil(share);
        let ran = perform(
            &ganesha,
            &format!(
                "--mix {mix} --files 200 --dirs {directories} --size 1..12000 --transactions \
                 {transactions} {workers} --depth {depth} --verify"
            ),
        );
        for &action in &asked {
            let role = if roles.len() > 1 && action.reads() {
                roles[1]
            } else {
                roles[0]
            };
            ran.assert(
                ran.count(role, action) > 0,
                format_args!("there was no '{}'", action.name()),
            );
        }
        let done = ran
            .record
            .actual
            .phase(Phase::Transactions)
            .unwrap()
            .issued();
        ran.assert(
            done == transactions * share,
            format_args!("{done} were done"),
        );
    }
}

#[test]
fn every_operation_is_performed_on_private_pools() {
    everything("--workers 2", &[Role::Worker], 2);
}

#[test]
fn every_operation_is_performed_on_a_shared_pool() {
    everything("--writers 3 --readers 2", &[Role::Writer, Role::Reader], 5);
}

#[test]
fn mixes_contain_all_operations_that_the_protocol_has() {
    let all = Action::operations()
        .filter(|action| action.is_asked_for())
        .count();
    assert_eq!(asked().len() + LACKS.len(), all);
}
