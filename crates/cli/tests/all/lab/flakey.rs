//! During a run, the writes of the device start to fail. The run reports the failures, and does not
//! count an operation as completed that the device did not perform.

use serde_json::Value;

use super::{Results, Script};

/// The value of `--on-error` for each run. With 100 %, the run continues until the file system
/// cannot be synced.
const RUNS: [&str; 2] = ["stop", "100%"];

const EIO: u64 = 5;
/// The error number of a write to an ext4 that has become read-only because of errors.
const EROFS: u64 = 30;

pub(super) fn script() -> Script {
    Script {
        name: "flakey",
        disks: vec!["64M"; 2],
        arguments: RUNS.map(str::to_owned).to_vec(),
        check: failing_writes_are_reported_and_not_counted,
    }
}

fn failing_writes_are_reported_and_not_counted(results: &Results) {
    for allowed in RUNS {
        let text = |what: &str| results.text(&format!("{allowed}.{what}"));
        let messages = text("messages");
        let check = |is_so, what: &str| {
            results.assert(is_so, &format!("--on-error {allowed}: {what}\n{messages}"))
        };
        let ended = text("status");
        check(ended.trim() == "1", &format!("exit status {ended}"));
        check(
            messages.contains("the run failed"),
            "nobody tells that the run failed",
        );
        // After the device started to fail, one operation may still be acknowledged: it was in
        // flight, and had already been written.
        let acknowledged: Vec<u64> = text("acknowledged")
            .lines()
            .map(|line| line.parse().unwrap())
            .collect();
        let [failing, last] = acknowledged[..] else {
            panic!("{acknowledged:?} are not two numbers")
        };
        check(
            last <= failing + 1,
            &format!(
                "{} operations were acknowledged by a device that fails",
                last - failing
            ),
        );
        let record = results.json(&format!("{allowed}.json"));
        let (done, failed) = counted(&record);
        check(
            done == last,
            &format!("{done} operations count as done, and {last} were acknowledged"),
        );
        check(failed > 0, "no failure is counted");
        let errors = record["record"]["actual"]["errors"].as_array().unwrap();
        let is_told = |error: &Value| {
            [EIO, EROFS].contains(&error["errno"]["known"].as_u64().unwrap_or_default())
        };
        check(
            !errors.is_empty() && errors.iter().all(is_told),
            &format!("the failures are {errors:?}"),
        );
    }
}

/// Number of completed and of failed operations in all phases.
fn counted(record: &Value) -> (u64, u64) {
    let phases = record["summary"]["phases"].as_array().unwrap().iter();
    let operations = phases.flat_map(|phase| phase["operations"].as_array().unwrap());
    operations.fold((0, 0), |(done, failed), operation| {
        let count = |value: &Value| value.as_u64().unwrap();
        (
            done + count(&operation["operations"]["count"]),
            failed + count(&operation["failed"]),
        )
    })
}
