//! Partial records that are sent during a run. Merged, they must equal the final record.

use std::path::Path;
use std::time::Duration;

use engines::posix::Posix;
use record::{Completed, CompletedPart, Outcome, Phase, Record};
use runner::{Drive, Event, Events, NoEvents, Place, RunSpec, Stage, SystemClock};
use testkit::{
    records::phases,
    runs::{by, keeping, private},
};
use workload::{Mix, Workload};

/// An event sink that stores partial records and sleeps for a while at each of them.
#[derive(Default)]
struct Told {
    opened: Option<Record>,
    parts: Vec<Completed>,
    under_way: Vec<Stage>,
    stages: usize,
}

impl Events for Told {
    fn event(&mut self, event: Event) {
        match event {
            Event::RecordOpened(head) => {
                assert_eq!(
                    (self.stages, self.opened.is_some()),
                    (0, false),
                    "it comes first, once"
                );
                self.opened = Some(*head);
            }
            Event::PhaseRecorded(completed) => {
                assert!(self.under_way.is_empty(), "{:?} goes on", self.under_way);
                std::thread::sleep(Duration::from_millis(50));
                self.parts.push(*completed);
            }
            Event::PhaseStarted(stage, _) => {
                self.under_way.push(stage);
                self.stages += 1;
            }
            Event::PhaseEnded(stage, ..) | Event::PhaseAborted(stage, _) => {
                self.under_way.retain(|known| *known != stage)
            }
            _ => {}
        }
    }

    fn takes_records(&self) -> bool {
        true
    }
}

fn request(at: &Path, drive: Drive) -> RunSpec {
    let mix = Mix {
        files: 50,
        transactions: if drive == Drive::default() {
            100
        } else {
            Workload::ENDLESS
        },
        weights: "read=1".parse().unwrap(),
        ..Mix::default()
    };
    let workload = by(private(2), mix);
    let location = at.to_owned();
    RunSpec {
        drive,
        series: true,
        sync_phases: true,
        check: true,
        command_line: vec!["a".to_owned(), "test".to_owned()],
        preset: Some("none".to_owned()),
        ..RunSpec::classic(workload, vec![location], Place::OwnDirectory)
    }
}

fn run(request: &RunSpec) -> (Record, Told) {
    let mut told = Told::default();
    let record = testkit::run(request, &Posix, &SystemClock, &mut told);
    assert_eq!(record.actual.outcome, Outcome::Complete);
    (record, told)
}

#[test]
fn partial_records_together_equal_the_final_record() {
    let place = tempfile::tempdir().unwrap();
    let (record, told) = run(&request(place.path(), Drive::default()));
    let head = told.opened.unwrap();
    assert_eq!(head.actual.outcome, Outcome::Unfinished);
    assert!(head.actual.phases.is_empty());
    let mut so_far = head;
    for completed in told.parts {
        assert!(completed.during.clocks.elapsed_ns > so_far.during.clocks.elapsed_ns);
        so_far.add(completed);
    }
    assert_eq!(so_far.actual.phases, record.actual.phases);
    assert_eq!(record.actual.phases.len(), 3);
    assert!(
        record
            .actual
            .phases
            .iter()
            .all(|phase| phase.sync.is_some())
    );
    // All other fields equal those of the initial record.
    let same = Record {
        during: record.during.clone(),
        actual: record.actual.clone(),
        ..so_far
    };
    assert_eq!(same, record);
    assert_eq!(record.spec.preset.as_deref(), Some("none"));
}

#[test]
fn time_for_sending_partial_records_is_outside_of_phases() {
    let place = tempfile::tempdir().unwrap();
    let (record, _) = run(&request(place.path(), Drive::default()));
    let mut spans: Vec<(u64, u64)> = Vec::new();
    for phase in &record.actual.phases {
        let segments = phase.segments.iter();
        spans.extend(segments.map(|segment| (segment.began_ns, segment.ended_ns)));
        spans.extend(phase.sync.iter().map(|sync| (sync.began_ns, sync.ended_ns)));
    }
    spans.sort_unstable();
    let phases: Vec<u64> = record
        .actual
        .phases
        .iter()
        .map(|phase| phase.segments[0].began_ns)
        .collect();
    for (number, began_ns) in phases.iter().enumerate().skip(1) {
        // The record of the previous phase is sent between the sync of that phase and the start of
        // this phase.
        let synced_ns = record.actual.phases[number - 1]
            .sync
            .as_ref()
            .unwrap()
            .ended_ns;
        assert!(began_ns - synced_ns >= 50_000_000, "{spans:?}");
    }
    for pair in spans.windows(2) {
        assert!(pair[0].1 <= pair[1].0, "{spans:?}");
    }
}

#[test]
fn run_that_keeps_its_pool_sends_transactions_as_last_part() {
    let place = tempfile::tempdir().unwrap();
    let request = RunSpec {
        keeping: keeping(true, false),
        ..request(place.path(), Drive::default())
    };
    let (record, told) = run(&request);
    let phases = phases(&record);
    assert_eq!(phases, [Phase::Prepare, Phase::Transactions]);
    let parts: Vec<CompletedPart> = told
        .parts
        .into_iter()
        .map(|completed| completed.part)
        .collect();
    let of_record = record
        .actual
        .phases
        .into_iter()
        .map(|phase| CompletedPart::Phase(Box::new(phase)));
    assert_eq!(parts, of_record.collect::<Vec<_>>());
}

#[test]
fn two_runs_have_different_ids() {
    let place = tempfile::tempdir().unwrap();
    let request = request(place.path(), Drive::default());
    let run = || testkit::run(&request, &Posix, &SystemClock, &mut NoEvents);
    assert_ne!(run().id, run().id);
}
