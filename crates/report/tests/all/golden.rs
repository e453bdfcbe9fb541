//! Reports of records that are stored with the tests, compared with golden files. `run.json` is a
//! record of a real run.

use record::{
    Action, ArrivalProcess, Calibration, Check, CleanUp, Durability, End, ErrorRecord, Fact, Left,
    Outcome, Overhead, Phase, ReadError, Record, Role, Sizing, SliceMeter, Slices, Stop, Workers,
};
use testkit::{
    Assert, Shows,
    runs::{at_rate, by, private},
};

use crate::built;

const RUN: &str = include_str!("../golden/run.json");

/// Width of a common terminal, in characters.
const SCREEN_WIDTH: usize = 80;

fn kept() -> Record {
    Record::from_json(RUN).unwrap()
}

/// Compares a text with a golden file, or writes the file if POSTMARK_WRITE_GOLDEN is set.
pub fn compare(name: &str, golden: &str, text: &str) {
    if std::env::var_os("POSTMARK_WRITE_GOLDEN").is_some() {
        let path = format!("{}/tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::write(path, text).unwrap();
    }
    assert_eq!(text, golden, "{name}");
}

#[test]
fn report_of_a_complete_run_matches_its_golden_file() {
    compare(
        "complete.txt",
        include_str!("../golden/complete.txt"),
        &report::text::render(&kept()),
    );
}

#[test]
fn short_report_fits_on_one_screen() {
    let text = document::text(&report::text::short(&kept()), SCREEN_WIDTH);
    compare("short.txt", include_str!("../golden/short.txt"), &text);
    assert!(text.lines().count() <= 40, "{text}");
    assert!(
        text.lines()
            .all(|line| line.chars().count() <= SCREEN_WIDTH),
        "{text}"
    );
}

/// A run of two workers on a disk with a model. The first line and the reasons are wrapped.
#[test]
fn short_report_matches_its_golden_file_at_three_widths() {
    let mut record = valid();
    record.spec.workload = by(private(2), record.spec.workload.clone());
    let times = &mut record.during.counted.system.times;
    let Fact::Known(times) = times else {
        panic!("the kept record knows them");
    };
    times.steal_ns = times.total_ns.clone().map(|total| total / 20);
    record.spec.preset = Some("mail-1".to_owned());
    record.spec.durability = Durability::FsyncDirectory.into();
    record.spec.drive.warm_up = std::time::Duration::from_secs(10);
    record.spec.drive.stop = Stop::After(std::time::Duration::from_secs(60));
    for location in &mut record.locations {
        let Fact::Known(target) = &mut location.target else {
            panic!("the kept record knows it");
        };
        let Fact::Known(device) = &mut target.device else {
            panic!("the kept record knows it");
        };
        device.name = "nvme0n1".to_owned();
        device.model = Fact::Known("Samsung PM9A3".to_owned());
        device.loop_backing = Fact::NotApplicable;
    }
    let short = report::text::short(&record);
    let texts = [60, 80, 120].map(|width| {
        let colour = false;
        let terminal = document::Terminal { width, colour };
        format!(
            "{width} columns\n{}",
            document::on_terminal(&short, terminal)
        )
    });
    compare(
        "screen.txt",
        include_str!("../golden/screen.txt"),
        &texts.join("\n"),
    );
}

#[test]
fn short_report_shows_reads_from_cache() {
    let screen = |fetched_share: Fact<u64>| {
        let mut record = kept();
        let mut phases = record.actual.phases.iter_mut();
        let transactions = phases
            .find(|phase| phase.phase == Phase::Transactions)
            .unwrap();
        let operations = transactions.all_operations();
        let read_bytes: u64 = operations
            .filter(|operation| operation.action == Action::Read)
            .map(|operation| operation.meter.bytes)
            .sum();
        let fetched_bytes = fetched_share.map(|share: u64| read_bytes / share);
        transactions.evidence = Some(built::evidence(fetched_bytes, 40_960));
        document::text(&report::text::short(&record), SCREEN_WIDTH)
    };
    let known = screen(Fact::Known(8));
    known.shows("reads: 87.5 % from page cache\ndurability: not available\n");
    let unknown = screen(Fact::Unavailable("the kernel does not tell".to_owned()));
    unknown.shows("reads: what served them is not available (the kernel does not tell)");
}

/// A run that only reads acknowledges no changes, so the report must not state a durability level.
#[test]
fn short_report_of_a_run_that_only_reads_has_no_line_about_writes() {
    let screen = |is_kept: fn(Action) -> bool| {
        let mut record = kept();
        let mut phases = record.actual.phases.iter_mut();
        let transactions = phases
            .find(|phase| phase.phase == Phase::Transactions)
            .unwrap();
        for segment in &mut transactions.segments {
            segment
                .operations
                .retain(|operation| is_kept(operation.action));
        }
        document::text(&report::text::short(&record), SCREEN_WIDTH)
    };
    assert!(screen(|_| true).contains("durability: "));
    let reads = screen(|action| action == Action::Read);
    assert!(
        !reads.contains("durability: ") && !reads.contains("writes: "),
        "{reads}"
    );
}

#[test]
fn failed_run_reports_the_error_and_remaining_files() {
    let mut record = kept();
    record.actual.outcome = Outcome::Failed {
        why: "cannot append to /mnt/disk/7 (write): No space left on device (os error 28)"
            .to_owned(),
    };
    record.actual.stream_hash =
        Fact::Unavailable("the run ended before the last operation".to_owned());
    record.actual.phases.pop();
    let transactions = record.actual.phases.last_mut().unwrap();
    transactions.complete = false;
    record.actual.errors.push(ErrorRecord {
        operation: "append".to_owned(),
        step: "write".to_owned(),
        errno: Fact::Known(28),
        message: "No space left on device (os error 28)".to_owned(),
        count: 1,
        first_path: "/mnt/disk/7".to_owned(),
        moved_bytes: Fact::Known(4096),
    });
    record.actual.clean_up = Some(CleanUp {
        files: 1_234,
        directories: 4,
        left: vec![Left {
            path: "/mnt/disk/5".to_owned(),
            why: "it is older than the run".to_owned(),
        }],
        incomplete: true,
    });
    compare(
        "failed.txt",
        include_str!("../golden/failed.txt"),
        &report::text::render(&record),
    );
}

#[test]
fn open_loop_reports_requested_rate_and_waiting_transactions() {
    let mut record = kept();
    record.spec.drive.pace = at_rate(30_000.0, ArrivalProcess::Poisson);
    record.actual.phases[1].waiting = Some(1_234);
    compare(
        "open.txt",
        include_str!("../golden/open.txt"),
        &report::text::render(&record),
    );
}

#[test]
fn interrupted_run_and_exhausted_pool_are_marked_in_the_report() {
    let mut record = kept();
    record.actual.outcome = Outcome::Interrupted { signal: 2 };
    record.spec.latencies = false;
    record.hints.push(record::Note::NotPrepared);
    let text = report::text::render(&record);
    text.shows("PARTIAL: interrupted by signal 2");
    text.shows("Latencies were not recorded");
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(
        words.join(" ").ends_with(
            "Note: The repeated run chose its operations before it began. This run chooses them \
             while it runs."
        ),
        "{text}"
    );
    for (end, words) in [
        (End::OutOfFiles, "ran dry"),
        (End::OutOfReach, "search for ever"),
    ] {
        record.actual.end = Fact::Known(end);
        assert!(report::text::render(&record).contains(words), "{words}");
    }
}

/// The record of `run.json`, with a measurement of one minute.
pub fn valid() -> Record {
    const SECOND: u64 = 1_000_000_000;
    let mut record = kept();
    let transactions = &mut record.actual.phases[1];
    let measured = &mut transactions.segments[0];
    measured.ended_ns = measured.began_ns + 60 * SECOND;
    transactions.first_done = None;
    transactions.slices = Slices::default();
    for second in 0..60 {
        let meter = SliceMeter {
            operations: 10_000 - second,
            ..SliceMeter::default()
        };
        transactions
            .slices
            .add(second, (Role::Worker, Action::Read), meter);
    }
    record.during.clocks.elapsed_ns = 61 * SECOND;
    transactions.evidence = Some(built::evidence(Fact::Known(0), 40_960));
    record
}

#[test]
fn valid_verdict_lists_the_checks_that_passed() {
    let record = valid();
    let text = report::text::render(&record);
    let lines: Vec<&str> = text.lines().skip(1).take(2).collect();
    assert_eq!(
        lines,
        [
            // The stored record contains only a few latencies, so even a large drift may be chance
            // (`noise ±25.7 %`).
            "Verdict     VALID: 60.000 s measured, too noisy to show small changes (drift -0.6 %, \
             noise ±25.7 %),",
            "            no errors, other programs 0.0 %, CPU steal 0.0 %, 0.0 % of reads from \
             the device"
        ]
    );
}

#[test]
fn reason_less_severe_than_the_verdict_is_marked() {
    let mut record = valid();
    record.during.clocks.suspended_ns = 12_000_000_000;
    let times = &mut record.during.counted.system.times;
    let Fact::Known(times) = times else {
        panic!("the kept record knows them");
    };
    times.steal_ns = times.total_ns.clone().map(|total| total / 20);
    let text = report::text::render(&record);
    let lines: Vec<&str> = text.lines().skip(1).take(4).collect();
    assert_eq!(
        lines,
        [
            "Verdict     INVALID",
            "  - suspended: the machine was suspended for 12.0 s: keep it awake (systemd-inhibit)",
            "  - (doubtful) steal: 5.0 % of the processor time taken by the hypervisor, limit 1.0 \
             %: use a",
            "    machine that is not shared",
        ]
    );
}

#[test]
fn report_of_workers_with_private_pools_matches_its_golden_file() {
    compare(
        "private.txt",
        include_str!("../golden/private.txt"),
        &report::text::render(&built::private(&kept())),
    );
}

#[test]
fn report_of_writers_and_readers_matches_its_golden_file() {
    compare(
        "shared.txt",
        include_str!("../golden/shared.txt"),
        &report::text::render(&built::shared(&kept())),
    );
}

#[test]
fn machine_section_fits_the_width_and_is_omitted_for_short_runs() {
    let mut record = built::shared(&kept());
    let text = report::text::render(&record);
    let table = |text: &str, head: &str| -> Vec<String> {
        let lines = text.lines().skip_while(|line| !line.starts_with(head));
        lines
            .take_while(|line| !line.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let section = |text: &str| [table(text, "  Device, "), table(text, "  CPU, ")].concat();
    let lines = section(&text);
    assert!((8..=13).contains(&lines.len()), "{text}");
    let said_why = "  (not available: ";
    let is_narrow = |line: &&String| line.chars().count() <= 100 || line.starts_with(said_why);
    assert_eq!(lines.iter().find(|line| !is_narrow(line)), None);
    assert!(
        lines.iter().any(|line| line.starts_with(said_why)),
        "{text}"
    );
    // With a longer device name, the line exceeds the width, so it must be broken.
    let machine = record.actual.phases[1].machine.as_mut().unwrap();
    if let Fact::Known(devices) = &mut machine.devices {
        devices[0].name = "nvme0n1p12".to_owned();
    }
    let broken = section(&report::text::render(&record));
    assert_eq!(broken.len(), lines.len() + 1, "{broken:#?}");
    assert_eq!(broken.iter().find(|line| !is_narrow(line)), None);
    // From here on, the transactions have the counters of one worker and of no device.
    let machine = record.actual.phases[1].machine.as_mut().unwrap();
    machine.devices = Fact::NotApplicable;
    machine.unknown.clear();
    if let Fact::Known(threads) = &mut machine.threads {
        threads.truncate(2);
    }
    let lines = section(&report::text::render(&record));
    lines.assert(
        lines
            .iter()
            .any(|line| line.contains("the worker 10.0, other threads 33.3;")),
    );
    lines.assert(
        !lines
            .iter()
            .any(|line| line.contains("Device") || line.contains(said_why)),
    );
    for phase in &mut record.actual.phases {
        let machine = phase.machine.as_mut().unwrap();
        machine.ended_ns = vec![machine.began_ns + 99_000_000];
    }
    let summary = verdict::Summary::of(&record);
    assert!(summary.phases.iter().all(|phase| phase.machine.is_some()));
    assert_eq!(
        section(&report::text::render(&record)),
        Vec::<String>::new()
    );
}

#[test]
fn missing_values_are_reported_with_reasons() {
    let mut record = built::shared(&kept());
    let actual = &mut record.actual;
    actual.phases[1].evidence = Some(built::evidence(
        Fact::Unavailable("there is no /proc".to_owned()),
        40_960,
    ));
    actual.phases[1].claim_waits.clear();
    actual.phases[2].sync.as_mut().unwrap().space_back_ns =
        Fact::Unavailable("5 bytes are missing".to_owned());
    actual.taken = Some(Check {
        names: 1,
        directories: 1,
        wrong: 0,
        left_out: 0,
        duration_ns: 1_000,
    });
    record.spec.latencies = false;
    let text = report::text::render(&record);
    for words in [
        "(reads from the cache, device reads: not available (there is no /proc))\n",
        "No worker waited for a file that another worker used.\n",
        "(time until the space was free: not available (5 bytes are missing))\n",
        "Pool of the earlier run, count and samples checked: 1 name in 1 directory (0.000001 s)\n",
        "Latencies were not recorded (--no-latencies).\n",
    ] {
        text.shows(words);
    }
    text.does_not_show("\n  Call ");
}

#[test]
fn chosen_working_set_is_described_in_a_sentence() {
    let mut record = kept();
    let sentence = "Chose 131,072 files (8.00 KiB on average, 1.00 GiB in all): 4 x the page \
                    cache of 256.00 MiB (the control group's limit). A calibration of 2.1 s \
                    created 12,000 files/s. Creating the pool takes about 11 s.";
    let sizing = Sizing {
        working_set: record::WorkingSet::OfCache(4.0),
        cache_bytes: 256 << 20,
        cache_is: "the control group's limit".to_owned(),
        mean_file_bytes: 8_192.0,
        files: 131_072,
        calibration: Some(Calibration {
            duration_ns: 2_100_000_000,
            files: 20_000,
            created_per_second: 12_000.0,
            transactions_per_second: None,
        }),
        transactions: None,
    };
    assert!(
        !report::text::render(&record).contains("Sizing"),
        "nothing was chosen"
    );
    record.sizing = Some(sizing.clone());
    let mut plan = built::plan(&record, record.spec.workload.clone());
    plan.sizing = Some(Sizing {
        calibration: None,
        ..sizing.clone()
    });
    let unmeasured = report::plan::render(&plan);
    unmeasured.shows("Creating the pool may take from about");
    plan.sizing = Some(sizing);
    for (text, more) in [
        (report::text::render(&record), ""),
        (report::plan::render(&plan), " A run estimates its duration"),
    ] {
        let lines = text
            .lines()
            .skip_while(|line| !line.starts_with("Sizing      Chose "));
        let lines: Vec<&str> = lines
            .take_while(|line| !line.starts_with("Fingerprint"))
            .collect();
        assert!(
            lines.iter().all(|line| line.chars().count() <= 100),
            "{text}"
        );
        let words: Vec<&str> = lines
            .iter()
            .flat_map(|line| line.split_whitespace())
            .collect();
        assert!(
            words
                .join(" ")
                .starts_with(&format!("Sizing {sentence}{more}")),
            "{text}"
        );
    }
}

#[test]
fn report_states_the_overhead_in_one_line() {
    let mut record = kept();
    assert!(
        !report::text::render(&record).contains("Overhead"),
        "it was not measured"
    );
    record.actual.overhead = Fact::Unavailable("signal 2 ended it".to_owned());
    let text = report::text::render(&record);
    text.shows("Overhead: not available (signal 2 ended it)\n");
    let transactions = record
        .actual
        .phases
        .iter_mut()
        .find(|phase| phase.phase == Phase::Transactions);
    let worker = &mut transactions.unwrap().workers[0];
    (worker.began_ns, worker.ended_ns, worker.operations) = (0, 10_000_000, 1_000);
    record.actual.overhead = Fact::Known(Overhead {
        workers: 1,
        files: 500,
        transactions: 500,
        operations: 1_000,
        ns_per_operation: 210.0,
    });
    let text = report::text::render(&record);
    let line = "Overhead: 210 ns per operation on the null engine, 2.1 % of the workers' time \
                in transactions\n";
    text.shows(line);
    record.actual.phases.clear();
    let text = report::text::render(&record);
    text.shows("Overhead: 210 ns per operation on the null engine\n");
}

#[test]
fn report_of_one_worker_does_not_mention_other_workers() {
    let mut record = built::shared(&kept());
    record.spec.workload.workers = Workers::ONE;
    // The record has a stalled worker, which the report would name by its number, so it is removed.
    record.actual.stalled.clear();
    record.spec.ack_log = None;
    for phase in &mut record.actual.phases {
        phase.workers.truncate(1);
        phase.sync = None;
        phase.claim_waits.clear();
        for operation in &mut phase.segments[0].operations {
            operation.role = Role::Worker;
        }
    }
    let text = report::text::render(&record);
    text.shows("the worker ended");
    for words in [
        "Workers",
        "the first worker",
        "the last worker",
        "own rates",
        "writer",
        "reader",
        "Claim wait",
        "waited",
    ] {
        text.does_not_show(words);
    }
}

#[test]
fn plans_match_their_golden_files() {
    let kept = kept();
    let private = built::private(&kept).spec.workload;
    for (name, golden, workload) in [
        (
            "plan.txt",
            include_str!("../golden/plan.txt"),
            kept.spec.workload.clone(),
        ),
        (
            "plan-private.txt",
            include_str!("../golden/plan-private.txt"),
            private,
        ),
        (
            "plan-shared.txt",
            include_str!("../golden/plan-shared.txt"),
            built::shared_workload(),
        ),
    ] {
        compare(
            name,
            golden,
            &report::plan::render(&built::plan(&kept, workload)),
        );
    }
}

#[test]
fn record_survives_a_json_round_trip() {
    compare("run.json", RUN, &verdict::to_json(&kept()));
    assert_eq!(
        Record::from_json(&verdict::to_json(&kept())).unwrap(),
        kept()
    );
}

#[test]
fn record_with_newer_or_invalid_schema_is_refused() {
    let newer = RUN.replace("\"schema\":1", "\"schema\":999");
    assert!(matches!(
        Record::from_json(&newer),
        Err(ReadError::Newer { found: 999 })
    ));
    let older = RUN.replace("\"schema\":1", "\"schema\":0");
    assert!(matches!(
        Record::from_json(&older),
        Err(ReadError::NoVersion)
    ));
    for foreign in ["", "{}", "[1]", "{\"record\":{\"schema\":1}}"] {
        foreign.assert(matches!(
            Record::from_json(foreign),
            Err(ReadError::NoRecord { .. })
        ));
    }
}

#[test]
fn markdown_rows_have_equal_columns_and_text_fits_other_widths() {
    let report = report::text::report(&built::shared(&kept()));
    let markdown = document::markdown(&report);
    let is_row = |line: &&str| line.starts_with("| ");
    let lines: Vec<&str> = markdown.lines().collect();
    let mut tables = 0;
    for table in lines
        .split(|line| !is_row(line))
        .filter(|table| !table.is_empty())
    {
        let columns = |line: &str| line.replace("\\|", "").matches('|').count();
        assert!(
            table.iter().all(|row| columns(row) == columns(table[0])),
            "{table:#?}"
        );
        tables += 1;
    }
    assert_eq!(tables, 9, "{markdown}");
    assert!(markdown.contains("- **Workload** 2,000 files, 1,000 transactions, seed 7\n"));
    let narrow = document::text(&report, 60);
    let verdict = narrow
        .lines()
        .take_while(|line| !line.starts_with("Workload"));
    narrow.assert(verdict.skip(1).all(|line| line.chars().count() <= 60));
}
