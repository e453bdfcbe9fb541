//! Runs of several ranks. Each rank is a thread of the test. The results must equal those of one
//! process with the same total number of workers.

mod observers;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use engine::Engine;
use engines::posix::Posix;
use ranks::{CommunicationError, Communicator, Message, Ranks, in_process};
use record::{Fact, Outcome, Phase, Record};
use record::{SteadyAsked, SteadyRule};
use runner::{Clock, Control, Event, Events, Refused, RunSpec, Stage, SystemClock, TakeControl};
use spec::{EngineName, Place, Stop};
use testkit::{
    Assert, Shows,
    records::phases,
    runs::{keeping, private},
};
use workload::contents::{ContentKind, ContentSpec};
use workload::mix::Mix;
use workload::{Classic, Role, Work, Workers, Workload};

use crate::{directory, heartbeats};

/// Time after which a rank that sends nothing counts as lost.
const LIMIT: Duration = Duration::from_secs(2);

/// Supplies the ranks and one rank's stop handle to the runner.
struct Rank(Ranks, Control);

impl TakeControl for Rank {
    fn taken(&self) -> Option<Control> {
        None
    }

    fn take(&mut self) -> Control {
        self.1.clone()
    }

    fn ranks(&self) -> Option<Ranks> {
        Some(self.0.clone())
    }
}

pub fn request(at: &Path, workers: u32, ranks: u32, transactions: u64) -> RunSpec {
    let mix = Mix {
        files: 200,
        transactions,
        ..Mix::default()
    };
    let workload = Workload {
        workers: private(workers),
        contents: Some(ContentSpec {
            kind: ContentKind::Incompressible,
            ..ContentSpec::default()
        }),
        ..Workload::from(mix)
    };
    RunSpec {
        engine: EngineName::POSIX,
        ranks,
        check: true,
        sync_phases: true,
        series: true,
        ..RunSpec::classic(workload, vec![at.to_owned()], Place::OwnDirectory)
    }
}

/// An event sink that records whether the transactions are in progress, and passes every event to
/// the test.
struct Begun<'a> {
    rank: u32,
    begun: &'a AtomicBool,
    handles: &'a Handles,
    told: &'a Told<'a>,
}

/// A function that the test calls for each event of a rank.
pub type Told<'a> = dyn Fn(u32, &Event, &Handles) + Sync + 'a;

impl Events for Begun<'_> {
    fn event(&mut self, event: Event) {
        if matches!(
            event,
            Event::PhaseProgress(Stage::Phase(Phase::Transactions), _)
        ) {
            self.begun.store(true, Ordering::Relaxed);
        }
        (self.told)(self.rank, &event, self.handles);
    }
}

/// The communicator of a rank that stops sending and receiving on request, as if its process were
/// stopped.
struct Freezes(in_process::InProcess, Arc<AtomicBool>);

impl Communicator for Freezes {
    fn rank(&self) -> u32 {
        self.0.rank()
    }

    fn ranks(&self) -> u32 {
        self.0.ranks()
    }

    fn send(&mut self, to: u32, bytes: Vec<u8>) -> Result<(), CommunicationError> {
        match self.1.load(Ordering::Relaxed) {
            true => Ok(()),
            false => self.0.send(to, bytes),
        }
    }

    fn receive(&mut self, limit: Duration) -> Result<Option<Message>, CommunicationError> {
        if self.1.load(Ordering::Relaxed) {
            std::thread::sleep(limit);
            return Ok(None);
        }
        self.0.receive(limit)
    }

    fn flush(&mut self, limit: Duration) -> Result<(), CommunicationError> {
        self.0.flush(limit)
    }
}

/// Handles with which a test can interrupt or freeze a rank during its transactions.
#[derive(Default)]
pub struct Handles {
    pub signal: Arc<AtomicUsize>,
    frozen: Arc<AtomicBool>,
}

/// Performs a run and returns the result of each rank. Once the transactions of a rank are in
/// progress, `meanwhile` is called.
fn perform(
    ranks: u32,
    request: impl Fn(u32) -> RunSpec + Sync,
    meanwhile: impl Fn(u32, &Handles) + Sync,
) -> Vec<Result<Record, Refused>> {
    perform_on(&Posix, &SystemClock, ranks, request, meanwhile)
}

/// Performs a run as [`perform`] does, on the given engine and with the given clock.
pub fn perform_on<S: Engine + Clone + 'static, C: Clock + Clone + 'static>(
    engine: &S,
    clock: &C,
    ranks: u32,
    request: impl Fn(u32) -> RunSpec + Sync,
    meanwhile: impl Fn(u32, &Handles) + Sync,
) -> Vec<Result<Record, Refused>> {
    perform_told(engine, clock, ranks, request, &meanwhile, &|_, _, _| ())
}

/// Performs a run as [`perform_on`] does, and calls `told` for each event.
pub fn perform_told<S: Engine + Clone + 'static, C: Clock + Clone + 'static>(
    engine: &S,
    clock: &C,
    ranks: u32,
    request: impl Fn(u32) -> RunSpec + Sync,
    meanwhile: &(dyn Fn(u32, &Handles) + Sync),
    told: &Told<'_>,
) -> Vec<Result<Record, Refused>> {
    std::thread::scope(|scope| {
        let all: Vec<_> = in_process::ranks(ranks)
            .into_iter()
            .zip(0..)
            .map(|(communicator, rank)| {
                let request = &request;
                scope.spawn(move || {
                    let handles = Handles::default();
                    let frozen = Arc::clone(&handles.frozen);
                    let ranks =
                        Ranks::join(LIMIT, move || Ok(Freezes(communicator, frozen))).unwrap();
                    let mut taking = Rank(
                        ranks.clone(),
                        Control::stopped_by(Arc::clone(&handles.signal)),
                    );
                    let (begun, ended) = (AtomicBool::new(false), AtomicBool::new(false));
                    let record = std::thread::scope(|inner| {
                        inner.spawn(|| {
                            while !begun.load(Ordering::Relaxed) && !ended.load(Ordering::Relaxed) {
                                std::thread::sleep(Duration::from_millis(10));
                            }
                            meanwhile(rank, &handles);
                        });
                        let mut events = Begun {
                            rank,
                            begun: &begun,
                            handles: &handles,
                            told,
                        };
                        let record =
                            runner::run(&request(rank), engine, clock, &mut taking, &mut events);
                        ended.store(true, Ordering::Relaxed);
                        record
                    });
                    ranks.leave();
                    record
                })
            })
            .collect();
        all.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

/// Returns the workers' files with their contents, by path relative to the run's directory.
fn tree(at: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(top: &Path, at: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in std::fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(top, &path, found);
            } else {
                let name = path.strip_prefix(top).unwrap().to_str().unwrap().to_owned();
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    let own = std::fs::read_dir(at)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    walk(&own, &own, &mut found);
    found.retain(|name, _| name.starts_with('w'));
    found
}

pub fn is_empty(at: &Path) -> bool {
    std::fs::read_dir(at).unwrap().next().is_none()
}

#[test]
fn results_are_the_same_for_any_number_of_ranks() {
    let mut seen = Vec::new();
    for ranks in [1, 2, 4, 8] {
        let at = directory();
        let kept = |_| RunSpec {
            keeping: keeping(true, false),
            ..request(at.path(), 8, ranks, 500)
        };
        let records = perform(ranks, kept, |_, _| ());
        let records: Vec<Record> = records.into_iter().map(Result::unwrap).collect();
        for record in &records {
            assert_eq!(record.actual.outcome, Outcome::Complete, "{ranks} ranks");
            assert_eq!(record.actual.errors, [], "{ranks} ranks");
            let transactions = record.actual.transactions().next().unwrap();
            assert_eq!(transactions.issued(), 8 * 500, "{ranks} ranks");
            let performed = transactions.transactions() + transactions.skipped().total();
            assert_eq!(performed, 8 * 500, "{ranks} ranks");
            let workers: Vec<u32> = transactions
                .workers
                .iter()
                .map(|worker| worker.worker)
                .collect();
            assert_eq!(workers, [0, 1, 2, 3, 4, 5, 6, 7], "{ranks} ranks");
            assert_eq!(
                record.actual, records[0].actual,
                "all ranks have the record of all"
            );
        }
        // The hash of the stream exists only if the pool is deleted, because only then the run
        // performs its whole stream.
        let emptied = directory();
        let whole = perform(ranks, |_| request(emptied.path(), 8, ranks, 500), |_, _| ());
        let Record {
            actual,
            fingerprint,
            ..
        } = whole.into_iter().next().unwrap().unwrap();
        actual
            .stream_hash
            .assert(matches!(actual.stream_hash, Fact::Known(_)));
        seen.push((fingerprint, actual.stream_hash, tree(at.path())));
        assert_eq!(seen[0].2.len(), seen.last().unwrap().2.len());
        assert!(seen[0] == *seen.last().unwrap(), "{ranks} ranks");
        // Two ranks reuse the pool that another number of ranks prepared, and remove it.
        let reused = |_| RunSpec {
            keeping: keeping(false, true),
            ..request(at.path(), 8, 2, 300)
        };
        for record in perform(2, reused, |_, _| ()) {
            assert_eq!(record.unwrap().actual.outcome, Outcome::Complete);
        }
        assert!(is_empty(at.path()));
    }
    assert!(seen[0].2.len() > 1000);
}

#[test]
fn refusal_by_one_rank_refuses_the_run_on_all_ranks() {
    let at = directory();
    let other = directory();
    let missing = at.path().join("missing");
    // In the first case, the target does not exist on one rank. In the second case, the options of
    // one rank differ.
    let cases: [(&Path, u64, &str); 2] = [
        (&missing, 100, "missing"),
        (at.path(), 101, "other options than rank 0"),
    ];
    for (path, transactions, words) in cases {
        let odd = |rank| match rank {
            2 => request(path, 3, 3, transactions),
            _ => request(at.path(), 3, 3, 100),
        };
        for (rank, record) in (0..).zip(perform(3, odd, |_, _| ())) {
            let refused = record.unwrap_err().to_string();
            assert!(
                refused.contains(words) || refused.contains("rank 2"),
                "rank {rank}: {refused}"
            );
        }
        assert!(is_empty(at.path()) && is_empty(other.path()));
    }
    let alone = perform(1, |_| request(at.path(), 2, 2, 10), |_, _| ());
    let refused = alone[0].as_ref().unwrap_err().to_string();
    refused.shows("--ranks 2 requires");
}

#[test]
fn stop_of_any_rank_ends_all_ranks_and_removes_files() {
    // In the last case all ranks receive the signal, as if a terminal or a launcher had sent it.
    for (stopped, workers) in [(Some(0), 6), (Some(2), 6), (None, 3)] {
        let at = directory();
        let began = Instant::now();
        let endless = |_| {
            let mut asked = request(at.path(), workers, 3, Workload::ENDLESS);
            if stopped.is_none() {
                let classic = Classic {
                    files: 500,
                    transactions: Workload::ENDLESS,
                    ..Classic::default()
                };
                asked.workload.work = Work::Classic(classic);
                asked.workload.contents = None;
            }
            asked
        };
        let records = perform(3, endless, |rank, handles| {
            if stopped.is_none_or(|stopped| stopped == rank) {
                handles.signal.store(15, Ordering::Relaxed);
            }
        });
        for record in records {
            let record = record.unwrap();
            let interrupted = Outcome::Interrupted { signal: 15 };
            assert_eq!(record.actual.outcome, interrupted);
            let of_ranks = record.cluster.iter().flat_map(|cluster| &cluster.ranks);
            assert_eq!(
                of_ranks.filter(|rank| rank.outcome == interrupted).count(),
                3
            );
            let transactions = record.actual.transactions().next().unwrap();
            assert!(!transactions.complete);
            assert_eq!(
                transactions.workers.len() as u32,
                workers,
                "all ranks have the record of all"
            );
        }
        assert!(began.elapsed() < Duration::from_secs(10));
        assert!(is_empty(at.path()));
    }
}

#[test]
fn no_rank_starts_a_phase_before_the_previous_one_is_synced_on_all_ranks() {
    let at = directory();
    let records = perform(4, |_| request(at.path(), 4, 4, 300), |_, _| ());
    let record = records.into_iter().next().unwrap().unwrap();
    let phases = phases(&record);
    assert_eq!(phases, [Phase::Prepare, Phase::Transactions, Phase::Delete]);
    for pair in record.actual.phases.windows(2) {
        let [before, after] = pair else {
            unreachable!()
        };
        let ended = before
            .workers
            .iter()
            .map(|worker| worker.ended_ns)
            .max()
            .unwrap();
        let synced = before.sync.as_ref().unwrap().ended_ns;
        let began = after
            .workers
            .iter()
            .map(|worker| worker.began_ns)
            .min()
            .unwrap();
        assert!(
            ended <= synced && synced <= began,
            "{ended} {synced} {began}"
        );
    }
    let cluster = record.cluster.as_ref().unwrap();
    assert_eq!(cluster.launched, 4);
    let first: Vec<u32> = cluster.ranks.iter().map(|rank| rank.first_worker).collect();
    assert_eq!(first, [0, 1, 2, 3]);
    for rank in &cluster.ranks {
        let offset = rank.clock.end.known().unwrap();
        // All ranks are threads with the same clock, so the offset must be 0 within its error.
        offset.assert(offset.offset_ns.unsigned_abs() <= offset.error_ns);
    }
}

#[test]
fn neighbour_pools_are_used_and_removed() {
    let whole = |neighbour, verify, weights: &str| {
        let at = directory();
        let asked = |_| {
            let mut asked = request(at.path(), 6, 3, 400);
            (asked.neighbour, asked.verify) = (neighbour, verify);
            if let workload::Work::Mix(mix) = &mut asked.workload.work {
                mix.weights = weights.parse().unwrap();
            }
            asked
        };
        let records = perform(3, asked, |_, _| ());
        let record = records.into_iter().next().unwrap().unwrap();
        assert_eq!(record.actual.outcome, Outcome::Complete);
        assert_eq!(record.actual.errors, []);
        assert!(is_empty(at.path()));
        record.actual
    };
    for weights in [
        "read=5,create=2,delete=2,append=1",
        "list=1,stat=3,rename=2,create=1,delete=1",
    ] {
        let own = whole(0, true, weights);
        assert_eq!(own.taken, None);
        for neighbour in [1, 2] {
            let theirs = whole(neighbour, true, weights);
            assert_eq!(
                theirs.stream_hash, own.stream_hash,
                "the streams are the same, whoever performs them"
            );
            let seen = theirs.taken.unwrap();
            assert_eq!(
                (seen.names, seen.wrong),
                (6 * 200, 0),
                "every file was looked at"
            );
        }
    }
}

#[test]
fn lost_rank_ends_the_run_and_its_files_remain() {
    let at = directory();
    let frozen_at = std::sync::Mutex::new(None);
    let endless = |_| request(at.path(), 4, 4, Workload::ENDLESS);
    let records = perform(4, endless, |rank, handles| {
        if rank == 2 {
            *frozen_at.lock().unwrap() = Some(Instant::now());
            handles.frozen.store(true, Ordering::Relaxed);
        }
    });
    let took = frozen_at.lock().unwrap().unwrap().elapsed();
    assert!(took < LIMIT + Duration::from_secs(8), "{took:?}");
    for (rank, record) in records.into_iter().enumerate() {
        let record = record.unwrap();
        let Outcome::Failed { why } = &record.actual.outcome else {
            panic!("rank {rank}: {:?}", record.actual.outcome);
        };
        assert!(rank == 2 || why.contains("rank 2"), "rank {rank}: {why}");
        // If a rank is lost, the record of each rank contains only that rank's own results.
        assert_eq!(record.actual.phases[0].workers.len(), 1);
        assert_eq!(record.cluster.unwrap().ranks[0].rank as usize, rank);
        if rank == 0 {
            let clean_up = record.actual.clean_up.unwrap();
            assert!(clean_up.incomplete && clean_up.left[0].why.contains("a rank is lost"));
        }
    }
    assert!(!is_empty(at.path()));
    let run = std::fs::read_dir(at.path())
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    heartbeats::remove_manifests_after_test(&run.path().join(".postmark-manifest.json"));
}

#[test]
fn steady_state_rule_uses_the_rates_of_all_ranks() {
    let at = directory();
    let asked = |_| {
        let mut asked = request(at.path(), 2, 2, Workload::ENDLESS);
        asked.drive.stop = Stop::Steady(SteadyAsked {
            rule: SteadyRule::Snia,
            round_ns: 200_000_000,
            rounds_max: 6,
        });
        asked
    };
    let records = perform(2, asked, |_, _| ());
    let records: Vec<Record> = records.into_iter().map(Result::unwrap).collect();
    let transactions = |record: &Record| record.actual.transactions().next().unwrap().clone();
    let all = transactions(&records[0]);
    assert_eq!(all.steady, transactions(&records[1]).steady);
    let found = all.steady.as_ref().unwrap();
    assert!((5..=6).contains(&found.rounds.len()), "{found:?}");
    // The rates of rounds must include both ranks, so they agree with the rate of all transactions.
    let measured: f64 = found.rounds[found.rounds.len() - 5..].iter().sum::<f64>() / 5.0;
    let whole = all.transactions() as f64 * 1e9 / all.measured_ns() as f64;
    assert!(
        (0.7..1.4).contains(&(measured / whole)),
        "{measured} {whole}"
    );
    assert!(is_empty(at.path()));
}

#[test]
fn workers_of_each_rank_share_a_pool() {
    let at = directory();
    let asked = |_| {
        let mut asked = request(at.path(), 1, 3, 400);
        asked.workload.workers = Workers::Shared {
            writers: 2,
            readers: 1,
            pools: 3,
        };
        asked.keeping.keep = false;
        asked.verify = true;
        asked
    };
    let records = perform(3, asked, |_, _| ());
    let record = records.into_iter().next().unwrap().unwrap();
    assert_eq!(
        (&record.actual.outcome, &record.actual.errors[..]),
        (&Outcome::Complete, &[][..])
    );
    let phase = |wanted| record.actual.phase(wanted).unwrap();
    let transactions = phase(Phase::Transactions);
    assert_eq!(transactions.issued(), 9 * 400);
    assert_eq!(
        transactions.transactions() + transactions.skipped().total(),
        9 * 400
    );
    let roles: Vec<Role> = transactions
        .workers
        .iter()
        .map(|worker| worker.role)
        .collect();
    let of_one = [Role::Writer, Role::Writer, Role::Reader];
    assert_eq!(roles, [of_one, of_one, of_one].concat());
    let created: u64 = phase(Phase::Prepare)
        .workers
        .iter()
        .map(|worker| worker.operations)
        .sum();
    assert_eq!(created, 3 * 200, "each pool has its files");
    assert!(is_empty(at.path()));
}
