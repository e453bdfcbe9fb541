//! Tests of ranks that share one thread, including the load of rank 0 among thousands of ranks.

use std::env;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver};

use measure::Histogram;

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Together;
use crate::collective::Merge;
use crate::communicator::{CommunicationError, Communicator, Message, Outcome};
use crate::in_process::{self, InProcess};
use crate::message::{Collective, Head, Sort};

/// Longer than any simulation, so no rank is lost.
const LIMIT: Duration = Duration::from_secs(3_600);

#[derive(Default)]
struct Sent {
    to_0: AtomicU64,
    to_0_bytes: AtomicU64,
    from_0: AtomicU64,
    largest_bytes: AtomicU64,
}

struct Counted(InProcess, Arc<Sent>);

impl Communicator for Counted {
    fn rank(&self) -> u32 {
        self.0.rank()
    }

    fn ranks(&self) -> u32 {
        self.0.ranks()
    }

    fn send(&mut self, to: u32, bytes: Vec<u8>) -> Outcome<()> {
        let count = bytes.len() as u64;
        if to == 0 {
            self.1.to_0.fetch_add(1, Ordering::Relaxed);
            self.1.to_0_bytes.fetch_add(count, Ordering::Relaxed);
        }
        if self.rank() == 0 {
            self.1.from_0.fetch_add(1, Ordering::Relaxed);
        }
        self.1.largest_bytes.fetch_max(count, Ordering::Relaxed);
        self.0.send(to, bytes)
    }

    fn receive(&mut self, limit: Duration) -> Outcome<Option<Message>> {
        self.0.receive(limit)
    }

    fn flush(&mut self, limit: Duration) -> Outcome<()> {
        self.0.flush(limit)
    }
}

/// What a simulated rank contributes to the merge: latencies, and a list with one entry. Merging
/// adds the latencies and concatenates the lists.
type Part = (Histogram, Vec<(u32, String, u64)>);

fn done_by(rank: u32) -> Part {
    let mut histogram = Histogram::default();
    let mut state = u64::from(rank) + 1;
    for _ in 0..1_000 {
        // The latencies are a microsecond times a power of two, chosen by SplitMix64.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        histogram.record(1_000 << (mixed >> 60));
    }
    (
        histogram,
        vec![(rank, format!("host-{:04}", rank / 16), state)],
    )
}

fn merge(mut a: Part, b: Part) -> Part {
    a.0.merge(&b.0);
    a.1.extend(b.1);
    a
}

/// Starts the merge on one rank; the messages of its children must have arrived.
fn begin(rank: &mut Together) -> Receiver<Outcome<Part>> {
    let (answer, outcome) = mpsc::channel();
    let own = done_by(rank.links.communicator.rank());
    rank.attend();
    let count = rank.links.communicator.ranks();
    rank.begin(
        Collective::Merge,
        Box::new((Merge::new(own, merge), answer)),
        count,
    );
    outcome
}

/// Runs with a thousand ranks by default; `.ci/long` uses ten thousand.
#[test]
fn thousands_of_ranks_merge_values_along_a_tree() {
    let count: u32 = env::var("POSTMARK_TEST_RANKS").map_or(1_000, |count| count.parse().unwrap());
    let sent = Arc::new(Sent::default());
    let mut ranks: Vec<_> = in_process::ranks(count)
        .into_iter()
        .map(|rank| Together::new(Counted(rank, Arc::clone(&sent)), LIMIT, Arc::default()))
        .collect();
    let began = Instant::now();
    let (root, others) = ranks.split_first_mut().unwrap();
    // The ranks start in reverse order, so that children precede their parents.
    let mut outcomes: Vec<_> = others.iter_mut().rev().map(begin).collect();
    let at_root = Instant::now();
    let whole = begin(root).try_recv().unwrap().unwrap();
    let at_root = at_root.elapsed();
    for (rank, outcome) in others.iter_mut().zip(outcomes.drain(..).rev()) {
        rank.attend();
        assert!(!rank.is_waiting());
        assert_eq!(outcome.try_recv().unwrap().unwrap().1.len(), count as usize);
    }
    let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    println!(
        "{count} ranks: rank 0 merged {} messages of {} bytes in {at_root:?}; the largest has {} \
         bytes; all ranks took {:?}",
        of(&sent.to_0),
        of(&sent.to_0_bytes),
        of(&sent.largest_bytes),
        began.elapsed()
    );
    let levels = u64::from(count.ilog2() + 1);
    assert!(of(&sent.to_0) <= levels && of(&sent.from_0) <= levels);
    // Rank 0 keeps all received messages in memory at the same time. So both the total size and the
    // size of each message are limited.
    assert!(of(&sent.to_0_bytes) < 200 << 20 && of(&sent.largest_bytes) < 100 << 20);
    assert!(at_root < Duration::from_secs(5), "{at_root:?}");

    let expected = (0..count).map(done_by).reduce(merge).unwrap();
    assert_eq!(
        serde_json::to_string(&whole).unwrap(),
        serde_json::to_string(&expected).unwrap()
    );
}

#[test]
fn invalid_message_ends_communication() {
    for bytes in [vec![1, 2, 3], Vec::new(), vec![9; 64]] {
        let mut both = in_process::ranks(2).into_iter();
        let (zero, mut one) = (both.next().unwrap(), both.next().unwrap());
        let mut zero = Together::new(zero, LIMIT, Arc::default());
        one.send(0, bytes).unwrap();
        zero.attend();
        assert!(matches!(
            zero.lost,
            Some(CommunicationError::Unreadable { rank: 1, .. })
        ));
        assert_eq!(zero.heard.lock().unwrap().lost, zero.lost);
        // Rank 0 informs rank 1 of the failure.
        let mut one = Together::new(one, LIMIT, Arc::default());
        one.attend();
        assert_eq!(one.lost, zero.lost);
    }
}

#[test]
fn rank_without_processor_does_not_report_others_as_silent() {
    let limit = Duration::from_millis(40);
    let mut both = in_process::ranks(2).into_iter();
    let mut zero = Together::new(both.next().unwrap(), limit, Arc::default());
    std::thread::sleep(limit * 3);
    zero.attend();
    assert_eq!(zero.lost, None);
    let until = Instant::now() + limit * 3;
    while Instant::now() < until {
        std::thread::sleep(limit / 40);
        zero.attend();
    }
    assert_eq!(
        zero.lost,
        Some(CommunicationError::Silent { rank: 1, limit })
    );
}

#[test]
fn messages_of_older_epochs_are_dropped_and_of_newer_epochs_kept() {
    let mut both = in_process::ranks(2).into_iter();
    let mut zero = Together::new(both.next().unwrap(), LIMIT, Arc::default());
    let mut one = both.next().unwrap();
    let mut say = |epoch, sort, body: &[u8]| {
        let head = Head {
            sort,
            collective: Collective::Merge,
            count: 2,
            epoch,
            step: 1,
        };
        one.send(0, head.with(body)).unwrap();
    };
    let begin = |rank: &mut Together| {
        let (answer, outcome) = mpsc::channel();
        rank.begin(
            Collective::Merge,
            Box::new((Merge::new(1, |a: u32, b| a + b), answer)),
            2,
        );
        outcome
    };
    // The other rank is ahead: it sends messages of a run that this rank has not opened yet, and of
    // the epoch after that run.
    say(1, Sort::Part, b"10");
    say(1, Sort::Stop, b"[1,1,0]");
    say(2, Sort::Part, b"100");
    zero.attend();
    assert_eq!((zero.stopped, zero.links.inbox.len()), (None, 3));
    zero.open();
    assert_eq!(zero.stopped, Some(1));
    assert_eq!(
        begin(&mut zero).try_recv(),
        Ok(Err(CommunicationError::Stopped { rank: 1 }))
    );
    zero.close();
    assert_eq!(zero.links.inbox.len(), 1);
    assert_eq!(begin(&mut zero).try_recv(), Ok(Ok(101)));
    // Messages of a run that this rank has already closed are dropped.
    say(1, Sort::Stop, b"[1,1,0]");
    say(1, Sort::Part, b"10");
    zero.attend();
    assert!(zero.links.inbox.is_empty() && zero.lost.is_none());
    zero.open();
    assert_eq!(zero.stopped, None);
}

#[test]
fn operation_completed_before_a_stop_succeeds() {
    let mut both = in_process::ranks(2).into_iter();
    let mut zero = both.next().unwrap();
    let mut one = Together::new(both.next().unwrap(), LIMIT, Arc::default());
    one.open();
    let ask = |rank: &mut Together| {
        let (answer, outcome) = mpsc::channel();
        rank.begin(
            Collective::Merge,
            Box::new((Merge::new(1, |a: u32, b| a + b), answer)),
            2,
        );
        outcome
    };
    let (first, second) = (ask(&mut one), ask(&mut one));
    let head = |sort| Head {
        sort,
        collective: Collective::Merge,
        count: 2,
        epoch: 1,
        step: 1,
    };
    zero.send(1, head(Sort::Part).with(b"7")).unwrap();
    zero.send(1, head(Sort::Stop).with(b"[1,0,0]")).unwrap();
    // The value for the first operation and the stop have both arrived before rank 1 processes
    // messages.
    one.attend();
    assert_eq!(first.try_recv(), Ok(Ok(7)));
    assert_eq!(
        second.try_recv(),
        Ok(Err(CommunicationError::Stopped { rank: 0 }))
    );
}
