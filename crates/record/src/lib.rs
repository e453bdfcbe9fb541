//! Everything about one run: the run spec, the machines, the results, and the outcome.
//!
//! A [`Record`] contains measured values only; the crate `verdict` computes derived values.

// The doc comments of fields become descriptions in the JSON schema.
#![warn(missing_docs)]

pub mod classic;
pub mod documents;
mod during;
pub mod evidence;
pub mod host_phase;
pub mod id;
mod join;
mod json;
pub mod machine;
pub mod merge;
pub mod observation;
pub mod observer;
mod outcome;
pub mod overhead;
pub mod partial_record;
mod pauses;
mod phase;
pub mod plan;
pub mod ranks;
pub mod read;
mod rerun;
mod room;
pub mod run;
pub mod sent;
pub mod server;
mod share;
pub mod sizing;
mod stale;
pub mod study;
mod tool;

pub use classic::ClassicFigures;
pub use evidence::{PhaseEvidence, Residency, ResidencySample};
pub use host_phase::{HostId, HostPhase, HostWorkers};
pub use id::RunId;
pub use machine::{MachineOverTime, MachineSlice};
pub use measure::{
    Histogram, Meter, Middle, SliceMeter, Slices, dispersion, mean, standard_deviation,
};
pub use observation::{CommandEnd, Observation, TargetSync};
pub use observer::ObservedStretch;
pub use overhead::Overhead;
pub use partial_record::{Completed, CompletedPart};
pub use pauses::Pauses;
pub use plan::{ExpectedReason, PlanRecord, TimeEstimate, TimeSource};
pub use ranks::{
    ClusterRecord, HostRecord, MissingRank, ObserverPhase, ObserverRecord, RankClock,
    RankClockOffset, RankRecord,
};
pub use read::ReadError;
pub use rerun::{options_again, words_again, workload_in_words};
pub use run::{
    Actual, Check, ClaimWaits, CleanUp, ComputeRecord, ErrorRecord, FirstDone, Left, Load,
    LocationRecord, OperationRecord, Origin, Outcome, PhaseRecord, PhaseSync, Record, Room,
    RoomVolume, Segment, SegmentKind, SlowOperation, SlowStep, SlowestRecord, Stalled, StepRecord,
    SweepStep, SweepStepRun, SystemDuring, Tool, WorkerPhase,
};
pub use sent::Sent;
pub use server::{ServerCounts, ServerRecord, ServerTotals};
pub use share::share;
pub use sizing::{Calibration, Sizing, SteadyFound};
pub use spec::{
    Cache, Climb, Drive, Durability, EngineName, Keeping, LOCATIONS_MAX, Note, OnError, Pace,
    PhaseLoad, Place, Policies, RunSpec, SteadyAsked, SteadyRule, Stop, Sweep, WorkingSet,
};
pub use stale::Stale;
pub use study::{Coordinate, MadeFileSystem, QuietTime, StudyPart};
pub use system::counters::{DeviceCounters, DeviceReading, DeviceRole};
pub use system::durability;
pub use system::{
    Accounted, BusyProgram, Class, ClocksDifference, CountersDifference, DurabilityFacts, Fact,
    Host, MachineCounted, MessageCounter, MessageKind, MessagesReading, OwnIo, Target,
};
pub use workload::arrivals::ArrivalProcess;
pub use workload::{
    Action, Classic, Edition, End, Fingerprint, Mix, Phase, Plan, Role, StreamHash, Work, Workers,
    Workload,
};
