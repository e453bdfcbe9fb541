//! Sweeps that several ranks perform together, with one thread for each rank. All ranks make the
//! same decisions and return the same record.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use engines::posix::Posix;
use ranks::{Ranks, in_process};
use record::{Climb, CompletedPart, Load, Outcome, Phase, Record, Sweep};
use runner::{
    Control, Drive, Event, Events, Place, Refused, RunSpec, Stage, Stop, SystemClock, TakeControl,
};
use spec::EngineName;
use tempfile::TempDir;
use testkit::Shows;
use testkit::runs::{by, private};
use verdict::Summary;
use workload::arrivals::ArrivalProcess;
use workload::{Mix, Workload};

/// Time without a heartbeat after which a rank counts as lost.
const LIMIT: Duration = Duration::from_secs(5);

/// The signal handling of one rank, which creates a [`Control`] for each run. A signal number
/// stored in the second field ends the run.
struct Rank(Ranks, Arc<AtomicUsize>);

impl TakeControl for Rank {
    fn taken(&self) -> Option<Control> {
        Some(Control::stopped_by(Arc::clone(&self.1)))
    }

    fn take(&mut self) -> Control {
        Control::stopped_by(Arc::clone(&self.1))
    }

    fn ranks(&self) -> Option<Ranks> {
        Some(self.0.clone())
    }
}

/// Records the events of a rank, and sends the signals that the test requires.
struct Watcher<'a> {
    rank: u32,
    step: u32,
    loads: Vec<Load>,
    parts: Option<Record>,
    /// Records that rank 0 merged from all ranks, in the order of the events.
    merged: Vec<Record>,
    signals: &'a [Arc<AtomicUsize>],
    when: &'a (dyn Fn(u32, u32, &Event) -> Option<usize> + Sync),
}

impl Events for Watcher<'_> {
    fn event(&mut self, event: Event) {
        if let Event::Load(number, load, _) = &event {
            assert_eq!(*number as usize, self.loads.len());
            self.loads.push(*load);
            self.step = *number;
        }
        if let Some(rank) = (self.when)(self.rank, self.step, &event) {
            self.signals[rank].store(15, Ordering::Relaxed);
        }
        match event {
            Event::RecordOpened(head) => {
                assert!(self.parts.replace(*head).is_none(), "it is opened once")
            }
            Event::PhaseRecorded(completed) => {
                self.parts.as_mut().unwrap().add(*completed);
            }
            Event::RecordMerged(record) => self.merged.push(*record),
            _ => {}
        }
    }

    fn takes_records(&self) -> bool {
        true
    }
}

/// The result of a rank, and the events that it received.
struct Came {
    outcome: Result<Record, Refused>,
    loads: Vec<Load>,
    parts: Option<Record>,
    merged: Vec<Record>,
}

/// Performs a run on several ranks and returns each rank's results. `when` is called with a rank, a
/// load level and an event, and returns the rank that then gets a signal.
fn perform(
    ranks: u32,
    request: impl Fn(u32) -> RunSpec + Sync,
    when: impl Fn(u32, u32, &Event) -> Option<usize> + Sync,
) -> Vec<Came> {
    let signals: Vec<Arc<AtomicUsize>> = (0..ranks).map(|_| Arc::default()).collect();
    std::thread::scope(|scope| {
        let all: Vec<_> = in_process::ranks(ranks)
            .into_iter()
            .zip(0..)
            .map(|(communicator, rank)| {
                let (request, when, signals) = (&request, &when, &signals[..]);
                scope.spawn(move || {
                    let ranks = Ranks::join(LIMIT, move || Ok(communicator)).unwrap();
                    let mut taking = Rank(ranks.clone(), Arc::clone(&signals[rank as usize]));
                    let mut events = Watcher {
                        rank,
                        step: 0,
                        loads: Vec::new(),
                        parts: None,
                        merged: Vec::new(),
                        signals,
                        when,
                    };
                    let outcome = campaign::run(
                        &request(rank),
                        &mut |spec, events| {
                            runner::prepare(spec, &Posix, &SystemClock, &mut taking, events)
                        },
                        &mut events,
                    );
                    assert_eq!(ranks.lost(), None, "rank {rank}");
                    ranks.leave();
                    Came {
                        outcome,
                        loads: events.loads,
                        parts: events.parts,
                        merged: events.merged,
                    }
                })
            })
            .collect();
        all.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

/// Returns the run spec of a sweep with two workers on each rank.
fn request(at: &Path, ranks: u32, climb: Climb, fresh: bool) -> RunSpec {
    let mix = Mix {
        files: 30,
        // Enough transactions for load levels to end by time, and few enough for a quick check of
        // free space.
        transactions: 200_000,
        ..Mix::default()
    };
    let workload = by(private(2 * ranks), mix);
    RunSpec {
        engine: EngineName::POSIX,
        ranks,
        check: true,
        sync_phases: true,
        room_check: false,
        drive: Drive {
            stop: Stop::After(Duration::from_millis(300)),
            sweep: Some(Sweep {
                climb,
                arrivals: ArrivalProcess::Poisson,
                fresh,
                slo_operation: None,
                slo_p99_ns: None,
            }),
            ..Drive::default()
        },
        ..RunSpec::classic(workload, vec![at.to_owned()], Place::OwnDirectory)
    }
}

/// Creates a directory, in memory if the machine has a file system for that.
fn directory() -> TempDir {
    let memory = Path::new("/dev/shm");
    match memory.is_dir() {
        true => tempfile::tempdir_in(memory).unwrap(),
        false => tempfile::tempdir().unwrap(),
    }
}

fn is_empty(at: &Path) -> bool {
    std::fs::read_dir(at).unwrap().next().is_none()
}

fn steps(record: &Record) -> Vec<(Load, u32, usize)> {
    let steps = record.actual.sweep_steps.iter();
    steps
        .map(|step| {
            let workers = step.transactions().map_or(0, |phase| phase.workers.len());
            (step.load, step.workers, workers)
        })
        .collect()
}

/// Checks that all ranks returned the same record. Returns this record, and the parts of each rank.
fn same(all: Vec<Came>) -> (Record, Vec<Option<Record>>) {
    let mut records = Vec::new();
    let mut parts = Vec::new();
    for (rank, came) in all.into_iter().enumerate() {
        let record = came.outcome.unwrap();
        let loads: Vec<Load> = steps(&record).into_iter().map(|(load, ..)| load).collect();
        // If the sweep ended early, its last load was announced but may not be in the record.
        assert!(
            came.loads.starts_with(&loads) && came.loads.len() <= loads.len() + 1,
            "rank {rank}: {:?} {loads:?}",
            came.loads
        );
        records.push(record);
        parts.push(came.parts);
    }
    for (rank, record) in records.iter().enumerate() {
        assert_eq!(record.actual, records[0].actual, "rank {rank}");
        assert_eq!(record.cluster, records[0].cluster, "rank {rank}");
        assert_eq!(record.spec, records[0].spec, "rank {rank}");
    }
    (records.remove(0), parts)
}

#[test]
fn sweep_over_ranks_returns_the_same_record_on_all_ranks() {
    let at = directory();
    let asked = |_| request(at.path(), 4, Climb::Ranks(vec![1, 2, 4]), true);
    let (record, parts) = same(perform(4, asked, |_, _, _| None));
    assert_eq!(record.actual.outcome, Outcome::Complete);
    assert_eq!(record.spec, asked(0), "the record has what was asked for");
    let expected = [1, 2, 4].map(|ranks| (Load::Ranks(ranks), 2 * ranks, 2 * ranks as usize));
    assert_eq!(steps(&record), expected);
    for step in &record.actual.sweep_steps {
        let phases: Vec<Phase> = step.phases.iter().map(|phase| phase.phase).collect();
        assert_eq!(phases, Phase::ALL);
        assert!(step.transactions().unwrap().transactions() > 0);
    }
    let cluster = record.cluster.as_ref().unwrap();
    let ranks: Vec<(u32, u32)> = cluster
        .ranks
        .iter()
        .map(|rank| (rank.rank, rank.first_worker))
        .collect();
    assert_eq!(
        ranks,
        [(0, 0), (1, 2), (2, 4), (3, 6)],
        "those of the largest level"
    );
    let summary = Summary::of(&record).ranks.unwrap();
    assert_eq!((summary.launched, summary.ranks.len()), (4, 4));
    assert!(summary.ranks.iter().all(|rank| rank.done.count > 0));
    assert!(Record::from_json(&verdict::to_json(&record)).is_ok());
    assert!(is_empty(at.path()));

    // Each rank reported only its own parts. Joined, these parts must result in the same record.
    let parts: Vec<Record> = parts.into_iter().map(Option::unwrap).collect();
    for (rank, part) in parts.iter().enumerate() {
        assert_eq!(part.fingerprint, record.fingerprint, "rank {rank}");
        let own: Vec<usize> = steps(part)
            .into_iter()
            .map(|(_, _, workers)| workers)
            .collect();
        let first = [0, 1, 2, 2][rank];
        let expected: Vec<usize> = (0..3)
            .map(|step| if step < first { 0 } else { 2 })
            .collect();
        assert_eq!(own, expected, "rank {rank}");
    }
    let collected = Record::join_all(parts).unwrap();
    assert_eq!(steps(&collected), expected);
    let done = |record: &Record| -> Vec<u64> {
        let phases = record
            .actual
            .sweep_steps
            .iter()
            .filter_map(|step| step.transactions());
        phases.map(|phase| phase.transactions()).collect()
    };
    assert_eq!(done(&collected), done(&record));
}

#[test]
fn signal_to_one_rank_ends_the_sweep_on_all_ranks() {
    // Ranks 0 and 1 perform the second load level, while ranks 2 and 3 wait for the third.
    for stopped in 0..4 {
        let at = directory();
        let asked = |_| request(at.path(), 4, Climb::Ranks(vec![1, 2, 4]), true);
        let in_second = |rank: u32, step: u32, event: &Event| {
            let goes_on = matches!(
                event,
                Event::PhaseStarted(Stage::Phase(Phase::Transactions), _)
            );
            ((rank, step) == (1, 1) && goes_on).then_some(stopped)
        };
        let (record, _) = same(perform(4, asked, in_second));
        assert_eq!(
            record.actual.outcome,
            Outcome::Interrupted { signal: 15 },
            "rank {stopped}"
        );
        assert_eq!(record.actual.sweep_steps.len(), 2, "rank {stopped}");
        assert!(is_empty(at.path()));
    }
}

#[test]
fn signal_between_load_levels_ends_the_sweep_on_all_ranks() {
    for stopped in [0, 1, 3] {
        let at = directory();
        let asked = |_| request(at.path(), 4, Climb::Ranks(vec![2, 4]), true);
        let between = |rank: u32, _: u32, event: &Event| {
            let is_step = |completed: &record::Completed| {
                matches!(completed.part, CompletedPart::SweepStep(_))
            };
            // Rank 0 or 1 gets a signal when rank 1 has recorded the first load level. Rank 3 gets
            // a signal when the second load level is announced to it.
            let is_then = match event {
                Event::PhaseRecorded(completed) => rank == 1 && is_step(completed),
                Event::Load(1, ..) => rank == 3,
                _ => false,
            };
            (is_then && (stopped == 3) == (rank == 3)).then_some(stopped)
        };
        let (record, _) = same(perform(4, asked, between));
        assert_eq!(
            record.actual.outcome,
            Outcome::Interrupted { signal: 15 },
            "rank {stopped}"
        );
        assert!(is_empty(at.path()));
    }
}

#[test]
fn refusal_on_one_rank_is_reported_on_all_ranks() {
    let at = directory();
    let missing = at.path().join("missing");
    // Rank 2 has no target directory, and takes part only in the last load level.
    let asked = |rank| {
        let path = if rank == 2 { &missing } else { at.path() };
        request(path, 3, Climb::Ranks(vec![1, 2, 3]), true)
    };
    for (rank, came) in perform(3, asked, |_, _, _| None).into_iter().enumerate() {
        let record = came.outcome.unwrap();
        assert_eq!(record.actual.sweep_steps.len(), 2, "rank {rank}");
        let Outcome::Failed { why } = &record.actual.outcome else {
            panic!("rank {rank}: {:?}", record.actual.outcome)
        };
        assert!(why.contains("level 3 was refused"), "rank {rank}: {why}");
        assert!(why.contains("missing") || why.contains("rank 2"), "{why}");
    }
    assert!(is_empty(at.path()));
    // If the first load level is refused, all ranks fail, even those that take part only in a later
    // one.
    let nowhere = |_| request(&missing, 3, Climb::Ranks(vec![1, 3]), true);
    for came in perform(3, nowhere, |_, _, _| None) {
        let refused = came.outcome.unwrap_err().to_string();
        refused.shows("missing");
    }
    // All ranks also fail if the sweep requests more ranks than exist.
    let more = |_| request(at.path(), 3, Climb::Ranks(vec![3]), true);
    for came in perform(2, more, |_, _, _| None) {
        let refused = came.outcome.unwrap_err().to_string();
        refused.shows("--ranks 3 requires");
    }
}

#[test]
fn sweep_over_workers_changes_the_worker_count_of_each_rank() {
    let at = directory();
    let asked = |_| request(at.path(), 3, Climb::Workers(vec![1, 2]), true);
    let (record, _) = same(perform(3, asked, |_, _, _| None));
    assert_eq!(record.actual.outcome, Outcome::Complete);
    assert_eq!(
        steps(&record),
        [(Load::Workers(1), 3, 3), (Load::Workers(2), 6, 6)],
        "the workers of all ranks"
    );
    assert!(is_empty(at.path()));
}

#[test]
fn rate_of_a_load_level_is_divided_among_all_ranks() {
    for (climb, fresh) in [
        (Climb::Rates(vec![100.0, 200.0, 1e9]), false),
        (Climb::OfClosedLoop(vec![0.01, 0.02]), false),
        (Climb::Rates(vec![100.0, 200.0]), true),
    ] {
        let at = directory();
        let asked = |_| {
            let mut asked = request(at.path(), 2, climb.clone(), fresh);
            asked.workload = asked.workload.with_transactions(Workload::ENDLESS);
            asked.drive.stop = Stop::After(Duration::from_millis(600));
            asked
        };
        let (record, parts) = same(perform(2, asked, |_, _, _| None));
        assert_eq!(record.actual.outcome, Outcome::Complete);
        let sweep = Summary::of(&record).sweep.unwrap();
        assert!(sweep.sweep_steps.len() >= 2, "{climb:?}");
        for step in &sweep.sweep_steps {
            assert_eq!(step.workers, 4);
            if let Some(rate) = step.load.rate().filter(|rate| *rate < 1_000.0) {
                let share = step.achieved_per_second.unwrap() / rate;
                assert!(
                    (0.5..1.6).contains(&share),
                    "{climb:?}: {rate} a second, done {share} of it"
                );
            }
        }
        // Each rank performs about half of the transactions.
        for part in parts {
            let part = part.unwrap();
            let of_rank = part
                .actual
                .sweep_steps
                .iter()
                .zip(&record.actual.sweep_steps);
            for (own, all) in of_rank.filter(|(own, _)| {
                own.load
                    .rate()
                    .is_some_and(|rate| (100.0..1_000.0).contains(&rate))
            }) {
                let count =
                    |step: &record::SweepStep| step.transactions().unwrap().transactions() as f64;
                let share = count(own) / count(all);
                assert!((0.3..0.7).contains(&share), "{share}");
            }
        }
        assert!(is_empty(at.path()));
    }
}

#[test]
fn rank_0_receives_the_merged_record_after_every_phase() {
    let climbs = [
        (None, 4),
        (Some(Climb::Rates(vec![2_000.0, 3_000.0])), 5),
        (Some(Climb::Ranks(vec![1, 3])), 2),
    ];
    for (climb, borders) in climbs {
        let at = directory();
        let asked = |_| {
            let mut asked = request(at.path(), 3, Climb::Workers(vec![1]), climb.is_some());
            match &climb {
                Some(climb) => {
                    let sweep = asked.drive.sweep.as_mut().unwrap();
                    sweep.fresh = matches!(climb, Climb::Ranks(_));
                    sweep.climb = climb.clone();
                }
                None => asked.drive.sweep = None,
            }
            asked
        };
        let came = perform(3, asked, |_, _, _| None);
        for (rank, came) in came.iter().enumerate() {
            if rank > 0 {
                assert_eq!(came.merged, [], "rank {rank} of {climb:?}");
                continue;
            }
            assert_eq!(came.merged.len(), borders, "rank {rank} of {climb:?}");
            let record = came.outcome.as_ref().unwrap();
            assert_eq!(record.actual.outcome, Outcome::Complete);
            let last = came.merged.last().unwrap();
            assert_eq!(last.id, record.id);
            assert_eq!(last.actual.outcome, Outcome::Unfinished);
            assert_eq!(last.cluster.as_ref().unwrap().ranks.len(), 3, "{climb:?}");
            let done = |record: &Record| {
                let of_steps = record
                    .actual
                    .sweep_steps
                    .iter()
                    .flat_map(|step| &step.phases);
                let phases = record.actual.phases.iter().chain(of_steps);
                phases
                    .map(|phase| {
                        (
                            phase.phase,
                            phase.workers.len(),
                            phase.first_done,
                            phase.segments.clone(),
                        )
                    })
                    .collect::<Vec<_>>()
            };
            assert_eq!(done(last), done(record), "{climb:?}");
            // Each merged record contains more parts than the one before.
            assert!(
                came.merged
                    .windows(2)
                    .all(|two| done(&two[0]).len() < done(&two[1]).len())
            );
            Record::from_json(&verdict::to_json(last)).unwrap();
        }
    }
}
