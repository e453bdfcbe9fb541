//! Options with very large numbers: plans and refusals use limited memory and time.

use std::fmt::Write as _;
use std::process::Stdio;
use std::time::Duration;

use testkit::table;

use crate::support::interface::{postmark, program};
use crate::support::running::in_shell;
use crate::support::{Running, TestDir};

/// Maximum memory of a plan or a refusal, in bytes.
const MEMORY_MAX: u64 = 1 << 30;
/// Maximum processor time. On an idle machine, 20 s would suffice.
const TIME_MAX: Duration = Duration::from_secs(40);

/// Commands with very large numbers. Their exit status is 0 for a plan, and 2 if they are refused.
const LARGE: &str = "
    plan --mix read=1,append=1 --files 34359738368 | 0
    plan --files 34359738368 | 0
    plan --mix create=1 --for 1m --files 34359738368 | 0
    plan --mix read=1 --working-set 1000x | 0
    plan --working-set 1000x --size 500..1000 | 0
    plan --mix read=1 --dirs tree:16777216x1 | 0
    plan --mix read=1,deliver=1 --dirs tree:4096x2 --entries-max 100000 | 0
    plan --size 1..1GiB --files 10 --transactions 10 | 0
    plan --size 1GiB --compat 1.0 --files 10 --transactions 10 | 0
    plan --size 1..2147483647 --workers 4096 | 2
    plan --mix create=1 --transactions 1000000000000 | 0
    plan --mix read=1 --workers 4096 --files 34359738368 --transactions 1000000000000 | 2
    plan --mix read=1 --workers 200 --files 20k --transactions 100k | 0
    plan --writers 500 --readers 500 --mix read=1,create=1 --files 100 --transactions 100 \
        --size histogram@bins --range-size histogram@bins | 0
    run --mix read=1 --files 34359738368 | 2
    run --mix read=1 --files 34359738368 --no-space-check | 2
    run --files 34359738368 --no-space-check | 2
    run --mix read=1 --workers 4096 --files 34359738368 --engine null | 2
    run --mix read=1 --working-set 1000x | 2
    run --mix read=1 --workers 4096 --dirs tree:16777216x1 --no-space-check | 2
    run --mix read=1 --size 1GiB --workers 4096 --no-space-check | 2
    run --size 1..2147483647 --workers 4096 --no-space-check | 2
";

#[test]
fn plans_and_refusals_use_limited_memory_and_time() {
    let test_dir = TestDir::new();
    let location = test_dir.directory("location");
    let mut bins = String::new();
    for bin in 0..60_000_u64 {
        writeln!(bins, "{}..{} 1", bin * 10, bin * 10 + 9).unwrap();
    }
    std::fs::write(location.join("bins"), bins).unwrap();
    for [words, code] in table(LARGE) {
        let child = Running::command(program())
            .args(words.split(' '))
            .env("POSTMARK_ARCHIVE", "none")
            .current_dir(&location)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let cost = system::child::wait(child).unwrap();
        let status = cost.status.code();
        // If the run does not fit on the disk or into the memory of this machine, `plan` prints the
        // plan and exits with status 2.
        let is_plan = code == "0" && status == Some(2);
        assert!(
            is_plan || status == code.parse().ok(),
            "{words}: {status:?}"
        );
        assert!(
            cost.memory_bytes <= MEMORY_MAX,
            "{words}: {} MiB",
            cost.memory_bytes >> 20
        );
        let time = cost.user + cost.system;
        assert!(time <= TIME_MAX, "{words}: {time:?}");
        assert_eq!(std::fs::read_dir(&location).unwrap().count(), 1, "{words}");
    }
}

#[test]
fn estimates_are_marked_as_such() {
    let test_dir = TestDir::new();
    let location = test_dir.directory("location");
    let say = |words: &str| {
        let mut command = postmark(words);
        command.current_dir(&location);
        Running::run_to_end(command, &location)
    };
    let ended = say("run --dry-run --no-space-check --mix read=1 --files 20M");
    ended.ends("0 | ESTIMATE | 10,000,000 files of each pool");
    ended.does_not_show("Stream ");
    let ended = say("run --dry-run --no-space-check --mix read=1 --files 20M --format json");
    let plan: serde_json::Value = serde_json::from_str(&ended.output).unwrap();
    assert_eq!(plan["followed"]["files"], 10_000_000, "{ended}");
    assert_eq!(plan["plan"]["files_peak"], 20_000_000);
    assert_eq!(
        plan["plan"]["tallies"][0]["create"]["operations"],
        20_000_000
    );
    let ended = say("plan --mix read=1 --files 1000 --format json");
    let plan: serde_json::Value = serde_json::from_str(&ended.output).unwrap();
    assert!(plan.get("followed").is_none(), "{ended}");
}

#[test]
fn lack_of_memory_is_reported_with_cause_and_remedy() {
    let test_dir = TestDir::new();
    let location = test_dir.directory("location");
    let mut command = postmark("run --mix read=1 --files 100M --engine null");
    command.current_dir(&location);
    let script = "ulimit -v 1000000 && exec \"$0\" \"$@\"";
    Running::run_to_end(in_shell(script, &command), &location)
        .code(2)
        .shows("not enough memory: the run needs at least 2.2")
        .shows("100,000,000 files in its pools")
        .shows("the limit of this process (ulimit -v)")
        .shows("use fewer --files");
}

/// A run has more locations than the limit of open files permits.
#[test]
fn limit_of_open_files_is_reported_with_a_remedy() {
    let test_dir = TestDir::new();
    let mut command = postmark("run --quiet --mix read=1 --files 10");
    for number in 0..200 {
        command
            .arg("--target")
            .arg(test_dir.directory(&number.to_string()));
    }
    let ended = Running::run_to_end(
        in_shell("ulimit -n 100 && exec \"$0\" \"$@\"", &command),
        test_dir.path(),
    );
    ended.ends("2 | Too many open files | ulimit -n | fewer targets");
    for number in 0..200 {
        let directory = test_dir.path().join(number.to_string());
        assert_eq!(std::fs::read_dir(directory).unwrap().count(), 0, "{ended}");
    }
}
