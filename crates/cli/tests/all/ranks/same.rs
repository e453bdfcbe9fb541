//! Workers perform the same operations, however they are distributed over ranks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use record::{Action, Fact, Outcome, Record, Role};

use super::Job;
use crate::support::Ended;

/// Parses the record of a job, which must have succeeded and left no files.
fn record(job: &Job, ended: &Ended) -> Record {
    ended.code(0);
    let record = Record::from_json(&ended.output);
    let record = record.unwrap_or_else(|error| panic!("there is no record: {error}\n{ended}"));
    assert_eq!(record.actual.outcome, Outcome::Complete, "{ended}");
    assert!(record.actual.errors.is_empty(), "{ended}");
    let checked = record
        .actual
        .check
        .known()
        .unwrap_or_else(|| panic!("nothing was checked\n{ended}"));
    assert!(
        checked.names > 0 && checked.wrong == 0,
        "{checked:?}\n{ended}"
    );
    assert!(
        crate::support::names(&job.target()).unwrap().is_empty(),
        "{ended}"
    );
    record
}

/// Number and bytes of the operations, by phase, role and action.
fn done(record: &Record) -> Vec<(usize, Role, Action, u64, u64)> {
    let of_workload = record
        .actual
        .sweep_steps
        .iter()
        .flat_map(|step| &step.phases);
    let phases = record.actual.phases.iter().chain(of_workload).enumerate();
    let segments = phases
        .flat_map(|(number, phase)| phase.segments.iter().map(move |segment| (number, segment)));
    let mut done: Vec<_> = segments
        .flat_map(|(number, segment)| {
            let operations = segment.operations.iter();
            operations.map(move |operation| {
                let meter = &operation.meter;
                (
                    number,
                    operation.role,
                    operation.action,
                    meter.latency.count(),
                    meter.bytes,
                )
            })
        })
        .collect();
    done.sort_by_key(|row| (row.0, row.1, row.2));
    done
}

#[test]
fn four_workers_perform_the_same_operations_on_one_two_and_four_ranks() {
    let Some(job) = Job::new() else { return };
    let options = "--preset mail --files 400 --transactions 2000";
    let run = |ranks: u32| {
        let ended = job.perform(ranks, &format!("{options} --workers {}", 4 / ranks));
        let record = record(&job, &ended);
        assert_eq!(record.spec.ranks, ranks);
        let cluster = record
            .cluster
            .as_ref()
            .map(|cluster| (cluster.ranks.len() as u32, cluster.missing.len()));
        assert_eq!(cluster, (ranks > 1).then_some((ranks, 0)), "{ended}");
        let Fact::Known(hash) = record.actual.stream_hash.clone() else {
            panic!("there is no hash of the stream\n{ended}");
        };
        let names = record
            .actual
            .check
            .known()
            .map(|check| (check.names, check.directories));
        (record.fingerprint.clone(), hash, done(&record), names)
    };
    let alone = run(1);
    assert!(alone.2.iter().map(|row| row.3).sum::<u64>() > 2_000);
    assert_eq!(run(2), alone);
    assert_eq!(run(4), alone);
}

#[test]
fn phases_perform_the_same_operations_on_one_and_two_ranks() {
    let Some(job) = Job::new() else { return };
    let config = job.test_dir.path().join("phases.toml");
    let phases = "files = 60\ndirs = 6\nsize = \"100..4000\"\n\
                  [[phase]]\nname = \"scan\"\nwalk = \"list-stat\"\n\
                  [[phase]]\nname = \"modify\"\ntransactions = 200\n\
                  mix = \"append=3,replace=2,rename=1,create=1\"\n\
                  [[phase]]\nname = \"look\"\nwalk = \"stat\"\n";
    std::fs::write(&config, phases).unwrap();
    let run = |ranks: u32| {
        let workers = 4 / ranks;
        let options = format!("--config {} --workers {workers}", config.display());
        let record = record(&job, &job.perform(ranks, &options));
        assert_eq!(record.spec.ranks, ranks);
        (record.fingerprint.clone(), done(&record))
    };
    let alone = run(1);
    let of = |wanted: Action| {
        let rows = alone.1.iter().filter(|row| row.2 == wanted);
        rows.map(|row| row.3).sum::<u64>()
    };
    assert_eq!(of(Action::ListWithStat), 4 * 6);
    let [appended, looked] = [Action::Append, Action::Stat].map(of);
    assert!(appended > 100 && looked > 4 * 60, "{appended} {looked}");
    assert_eq!(run(2), alone);
}

/// The contents of every file below a directory, by path.
fn pool(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut pool = BTreeMap::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(next) = directories.pop() {
        for entry in std::fs::read_dir(&next).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.file_type().unwrap().is_dir() {
                directories.push(entry.path());
            } else if !name.starts_with(".postmark") {
                let path = entry.path().strip_prefix(directory).unwrap().to_owned();
                pool.insert(path, std::fs::read(entry.path()).unwrap());
            }
        }
    }
    pool
}

#[test]
fn four_workers_leave_the_same_files_on_one_two_and_four_ranks() {
    let Some(job) = Job::new() else { return };
    let kept = |ranks: u32| {
        let workers = 4 / ranks;
        job.perform(
            ranks,
            &format!("--preset mail --files 200 --transactions 600 --workers {workers} --keep"),
        )
        .code(0);
        let left = crate::support::names(&job.target()).unwrap();
        let [left] = &left[..] else {
            panic!("there is not one directory: {left:?}");
        };
        let left = job.target().join(left);
        let pool = pool(&left);
        std::fs::remove_dir_all(left).unwrap();
        pool
    };
    let alone = kept(1);
    assert!(alone.len() > 400, "{} files", alone.len());
    for ranks in [2, 4] {
        let found = kept(ranks);
        assert!(
            found.keys().eq(alone.keys()),
            "{ranks} ranks leave other names"
        );
        let other = found
            .iter()
            .find(|(path, contents)| alone[*path] != **contents);
        assert_eq!(
            other.map(|(path, _)| path),
            None,
            "{ranks} ranks leave other contents"
        );
    }
}

#[test]
fn only_rank_0_reports_and_archives() {
    let Some(job) = Job::new() else { return };
    let archive = job.test_dir.path().join("archive.db");
    let mut command = job.run(3, "--files 50 --transactions 100 --archive");
    command.arg(&archive).args([
        "--output".as_ref(),
        job.test_dir.path().join("out.json").as_os_str(),
    ]);
    command.arg("--live").arg(job.test_dir.path().join("live"));
    let ended = crate::support::Running::run_to_end(command, &job.target());
    ended
        .code(0)
        .assert(ended.output.is_empty(), "the report was to go to a file");
    let text = std::fs::read_to_string(job.test_dir.path().join("out.json")).unwrap();
    let record = Record::from_json(&text).unwrap();
    assert_eq!(record.cluster.as_ref().unwrap().ranks.len(), 3);
    let listed = job.postmark(&[
        "list",
        "--format",
        "csv",
        "--archive",
        archive.to_str().unwrap(),
    ]);
    assert_eq!(listed.code(0).output.lines().count(), 2, "{listed}");
    // The parts, which were beside the archive, were removed after the run.
    let beside = crate::support::names(job.test_dir.path()).unwrap();
    let parts = |name: &std::ffi::OsString| name.to_string_lossy().contains("parts");
    assert!(!beside.iter().any(parts), "{beside:?}");
}

#[test]
fn refusal_is_printed_once_and_changes_nothing() {
    let Some(job) = Job::new() else { return };
    for (ranks, options, told) in [
        (3, "--files 10 --transactions x", "--transactions"),
        (
            2,
            "--files 10 --ranks 3",
            "--ranks 3: mpirun has started 2 processes",
        ),
        (2, "--files 10 --target /nowhere/at/all", "/nowhere/at/all"),
        (
            2,
            "--files 10 --parts /dev/null/parts",
            "cannot write /dev/null/parts/rank-0000",
        ),
    ] {
        let ended = job.perform(ranks, options);
        ended.code(2).shows(told);
        let lines = ended
            .errors
            .lines()
            .filter(|line| line.starts_with("postmark:") || line.starts_with("error:"));
        assert_eq!(lines.count(), 1, "{ended}");
        assert!(
            crate::support::names(&job.target()).unwrap().is_empty(),
            "{ended}"
        );
    }
}

#[test]
fn parts_of_the_record_stay_and_collect_joins_them_to_the_same_record() {
    let Some(job) = Job::new() else { return };
    let mut command = job.run(4, "--files 50 --transactions 100 --parts");
    command.arg(job.parts());
    let ended = crate::support::Running::run_to_end(command, &job.target());
    let whole = record(&job, &ended);
    let collected = job.collect();
    assert_eq!(
        Record::from_json(&collected.code(0).output).unwrap().id,
        whole.id
    );
    // Without the merged record of rank 0, `collect` derives the same result from the parts.
    std::fs::remove_file(job.parts().join("merged.json")).unwrap();
    let collected = job.collect();
    let joined = Record::from_json(&collected.code(0).output).unwrap();
    assert_eq!(done(&joined), done(&whole), "{collected}");
    std::fs::remove_file(job.parts().join("rank-00002.jsonl")).unwrap();
    let collected = job.collect();
    collected.code(1).shows("rank 2 is missing");
    let partial = Record::from_json(&collected.output).unwrap();
    assert_eq!(partial.cluster.as_ref().unwrap().missing[0].rank, 2);
    assert_eq!(partial.cluster.as_ref().unwrap().ranks.len(), 3);
    assert_ne!(partial.actual.outcome, Outcome::Complete);
}
