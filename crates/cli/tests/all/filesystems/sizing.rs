//! `--working-set`: pools whose size is relative to the page cache, without a memory limit and with
//! one of 256 MiB. The short runs that calibrate the duration must leave no files.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use record::Sizing;
use rustix::process::Signal;
use system::{Class, Fact, Sources, Target};

use crate::mounted::{Mounted, ext4, on, tmpfs};
use crate::runs::{Ran, Run, postmark};
use crate::support::interface::own_directories;
use crate::support::running::in_shell;
use crate::support::{FileSystem, Running, TestDir, is_met, is_root, names};

/// A pool as large as a thousandth of the memory, which fits on every image of the tests.
const LITTLE: &str = "--size 16KiB --working-set 0.001x";

fn sizing(ran: &Ran) -> &Sizing {
    let sizing = ran.record.sizing.as_ref();
    sizing.unwrap_or_else(|| panic!("the record does not say what was chosen\n{ran}"))
}

/// The sentence in the report about the chosen pool size.
fn sentence(ran: &Ran) -> String {
    let record = &ran.record;
    report::sizing::sentence(sizing(ran), &record.spec.workload, &record.spec.drive)
}

fn is_as_large_as_was_asked_for(ran: &Ran, pools: u64) {
    let sizing = sizing(ran);
    let workload = &ran.record.spec.workload;
    let bytes = sizing.files as f64 * sizing.mean_file_bytes;
    let asked = sizing.working_set.bytes(sizing.cache_bytes) as f64;
    // A pool may exceed the requested size by less than one file.
    let too_many = bytes - asked;
    ran.assert(
        too_many >= 0.0 && too_many <= 16_384.0 * pools as f64,
        format_args!("{bytes} bytes for {asked}"),
    )
    .assert(
        workload.files() * pools == sizing.files,
        "the pools are not what was chosen",
    );
    let calibration = sizing.calibration.as_ref();
    let calibration = calibration.unwrap_or_else(|| panic!("nothing was calibrated\n{ran}"));
    ran.assert(
        calibration.created_per_second > 1.0
            && calibration
                .transactions_per_second
                .is_some_and(|rate| rate > 1.0),
        "the calibration tells no rates",
    )
    .assert(
        calibration.files <= sizing.files,
        "the calibration's pool is larger than the run's",
    )
    .assert(
        ran.record.host.cache_limit_bytes() == Fact::Known(sizing.cache_bytes),
        "the cache is not the host's",
    );
}

fn chosen_pool_size_equals_the_plan_and_calibration_leaves_no_files(mounted: Mounted) {
    for (workers, pools) in [
        ("--mix read=3,stat=1", 1),
        ("--mix read=3,stat=1 --workers 3", 3),
        (
            "--mix read=3,append=1 --size-max 64KiB --writers 1 --readers 2",
            1,
        ),
        // Options without `--mix` request the classic workload.
        ("--durability fsync", 1),
    ] {
        let work = Run::new(&mounted.at, LITTLE)
            .and(workers)
            .and("--for 300ms");
        let ran = work.perform();
        ran.is_complete().has_all_phases();
        is_as_large_as_was_asked_for(&ran, pools);
        let sizing = sizing(&ran);
        ran.assert(
            sizing.transactions.is_some_and(|count| count > 0),
            "no transactions are expected",
        );
        ran.ended.assert(
            ran.ended.errors.contains(&sentence(&ran))
                && sentence(&ran).contains("Creating the pool takes about"),
            "it does not say what it chose",
        );
        let words: Vec<&str> = LITTLE.split(' ').chain(workers.split(' ')).collect();
        let at = mounted.at.to_str().unwrap();
        let words = [
            &["plan", "--for", "300ms", "--format", "json", "--target", at],
            &words[..],
        ]
        .concat();
        let words: Vec<&std::ffi::OsStr> = words.iter().map(std::ffi::OsStr::new).collect();
        let planned = postmark(&mounted.at, &words);
        planned.code(0);
        let plan: serde_json::Value = serde_json::from_str(&planned.output).unwrap();
        planned
            .assert(
                plan["sizing"]["files"] == sizing.files,
                "the plan chooses otherwise",
            )
            .assert(
                plan["sizing"]
                    .get("calibration")
                    .is_some_and(serde_json::Value::is_null),
                "a plan calibrates nothing",
            );
        assert_eq!(
            plan["plan"]["fingerprint"],
            serde_json::to_value(&ran.record.fingerprint).unwrap(),
            "{planned}"
        );
    }
    let quiet = Run::new(&mounted.at, LITTLE)
        .and("--mix stat=1 --transactions 20000 --quiet --no-overhead")
        .perform();
    quiet.is_complete().has_all_phases();
    is_as_large_as_was_asked_for(&quiet, 1);
    quiet
        .assert(sizing(&quiet).transactions.is_none(), "no time was said")
        .ended
        .assert(quiet.ended.errors.is_empty(), "it is not quiet");
}
on!(chosen_pool_size_equals_the_plan_and_calibration_leaves_no_files: ext4, xfs, btrfs);

#[test]
fn working_set_beyond_the_cache_is_refused_on_tmpfs() {
    let Some(mounted) = tmpfs() else { return };
    for words in ["--dry-run", ""] {
        let ended = Run::new(&mounted.at, LITTLE).and(words).end();
        ended.ends("2 | lies in memory | --working-set 0.001x | --target");
        assert!(names(&mounted.at).unwrap().is_empty(), "{ended}");
    }
}

#[test]
fn refusal_for_lack_of_space_shows_the_chosen_pool() {
    let Some(mounted) = Mounted::with_image(FileSystem::Ext4, 64, &[]) else {
        return;
    };
    let before = names(&mounted.at).unwrap();
    let ended = Run::new(
        &mounted.at,
        "--mix read=1 --size 16MiB --working-set 1x --for 1s",
    )
    .end();
    ended
        .code(2)
        .shows("not enough space on the file system of")
        .shows("Chose ")
        .shows("A --working-set smaller than 1x may fit");
    assert_eq!(names(&mounted.at).unwrap(), before, "{ended}");
}

#[test]
fn interrupted_calibration_leaves_no_files() {
    let Some(mounted) = ext4() else { return };
    let before = names(&mounted.at).unwrap();
    for signal in [Signal::INT, Signal::TERM] {
        let mut running = Run::new(&mounted.at, LITTLE)
            .and("--mix read=1 --for 60s")
            .start();
        // Waits for the second pool of the calibration. It exists for a second, and is larger than
        // the first pool.
        running.until("the calibration", |_| {
            let own = own_directories(&mounted.at);
            own.iter()
                .any(|own| names(own).is_ok_and(|names| names.len() > 100))
        });
        running.send(signal);
        let ended = running.finish();
        ended
            .code(128 + signal.as_raw())
            .shows("the calibration for --working-set was interrupted by signal")
            .does_not_show("not removed")
            .assert(
                ended.output.is_empty(),
                "there is a report of a run that was not begun",
            );
        assert_eq!(names(&mounted.at).unwrap(), before, "{ended}");
    }
}

/// A control group (cgroup) with a memory limit.
struct Limited(PathBuf);

impl Limited {
    /// Creates a control group with a memory limit in bytes. `None` if the test may not do this.
    fn to(bytes: u64) -> Option<Self> {
        let root = Path::new("/sys/fs/cgroup");
        let (parent, file) = if root.join("memory/memory.limit_in_bytes").exists() {
            (root.join("memory"), "memory.limit_in_bytes")
        } else {
            // Enables the memory controller for child groups. If this fails, setting the limit
            // below fails as well.
            let _ = std::fs::write(root.join("cgroup.subtree_control"), "+memory");
            (root.to_owned(), "memory.max")
        };
        let group = parent.join(format!("postmark-test-{}", std::process::id()));
        if !is_met(
            std::fs::create_dir(&group).is_ok(),
            "a control group of its own",
        ) {
            return None;
        }
        let group = Self(group);
        let limited = std::fs::write(group.0.join(file), bytes.to_string()).is_ok();
        is_met(limited, "a control group with a limit on memory").then_some(group)
    }

    /// Returns a command that runs `command` in this control group.
    fn command(&self, command: &Command) -> Command {
        let script = format!(
            "echo $$ > {}/cgroup.procs && exec \"$0\" \"$@\"",
            self.0.display()
        );
        in_shell(&script, command)
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        let began = Instant::now();
        // The kernel may still count a process that has just ended. Until then, the control group
        // cannot be removed.
        while let Err(error) = std::fs::remove_dir(&self.0) {
            if began.elapsed() > Duration::from_secs(10) {
                assert!(
                    std::thread::panicking(),
                    "cannot remove {}: {error}",
                    self.0.display()
                );
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn pool_exceeds_a_memory_limit_and_reads_reach_the_device() {
    const LIMIT: u64 = 256 << 20;
    if !is_root() {
        return;
    }
    // The pool is on the disk and not in an image, because the page cache of a loop device might be
    // counted for the control group.
    let test_dir = TestDir::new();
    let at = test_dir.directory("location");
    let class = Target::read(&Sources::default(), &at).class;
    if !is_met(
        class != Fact::Known(Class::Memory),
        "temporary files on a disk (TMPDIR)",
    ) {
        return;
    }
    let Some(limited) = Limited::to(LIMIT) else {
        return;
    };
    let work = Run::new(&at, "--mix read=1 --size 64KiB --working-set 2x --for 2s");
    let ran = Ran::of(
        Running::start(limited.command(&work.command()), &at).finish(),
        Vec::new(),
    );
    ran.is_complete().leaves_nothing();
    let sizing = sizing(&ran);
    ran.assert(
        (sizing.cache_bytes, sizing.files) == (LIMIT, 2 * LIMIT / (64 << 10)),
        format_args!("{sizing:?}"),
    )
    .assert(
        sizing.cache_is.contains("control group"),
        "the limit is not the group's",
    )
    .assert(
        sentence(&ran).contains("2 x the page cache of 256.00 MiB"),
        "it says something else",
    );
    let (device_bytes, read_bytes) = ran.served_by();
    ran.assert(read_bytes > 0, "nothing was read").assert(
        device_bytes * 4 >= read_bytes,
        format_args!(
            "{device_bytes} bytes of {read_bytes} came from the device: half of the pool has no \
             room in the cache"
        ),
    );
}
