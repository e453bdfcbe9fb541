//! The design of a study and the analysis of its runs, as data. [`Metric`] is a compared number,
//! [`Comparisons`] contains ratios of configurations, and [`Gate`] decides whether the ratios meet
//! requirements.
//!
//! The crate is pure: it uses no file system and no clock. How it works: an archived run is reduced
//! to the compared numbers ([`Observed`]). The runs of one configuration form a [`ComparedSide`].
//! The runs of two configurations in one block are a pair, whose log ratio is one sample.
//! [`statistics`] computes intervals and tests from samples. `docs/reference/comparisons.md`
//! defines every estimator with its source.

pub mod alpha_spending;
pub mod cells;
pub mod change_points;
pub mod comparison;
pub mod crash_gate;
pub mod design;
pub mod drift;
pub mod flaw;
pub mod gate;
mod gate_doubts;
mod gate_error;
pub mod history;
pub mod history_gate;
mod history_point;
mod host_change;
pub mod incomplete;
pub mod may_differ;
pub mod metric;
pub mod observed;
mod order;
mod order_apart;
pub mod pairs;
pub mod paper_layout;
pub mod plan;
pub mod publication;
pub mod repeats;
mod requirement;
mod run_time;
mod samples;
mod seeded_scan;
mod series_noise;
mod side_blocks;
pub mod side_summary;
pub mod statistics;
mod study_file;
pub mod subject;
pub mod tables;
mod target_entry;
pub mod verdicts;

pub use alpha_spending::Looks;
pub use cells::{BlockRun, StudyCell};
pub use change_points::{LevelChange, Levels, Shape};
pub use comparison::{
    AaControl, Comparison, ComparisonOutcome, Comparisons, Estimate, RatioInterval,
};
pub use crash_gate::{CrashFigures, CrashGate, CrashRequirement, JudgedCrash};
pub use design::{Axis, Design, TargetDesign, WorkloadDesign};
pub use drift::Drift;
pub use flaw::{DesignError, Flaw};
pub use gate::{
    Bound, Decision, Gate, GateError, GateRules, Judged, Requirement, RequirementError,
};
pub use gate_doubts::GateDoubt;
pub use history::{History, HistoryChange, HistoryLevel};
pub use history_gate::{HistoryDoubt, HistoryGate, Prediction};
pub use history_point::{HistoryPoint, SeriesKey};
pub use host_change::{Cause, RatioWithInterval};
pub use incomplete::IncompleteDifference;
pub use may_differ::MayDiffer;
pub use metric::{Better, Metric, MetricUnit, Statistic, UnknownMetric};
pub use observed::{
    Baseline, BlockAttempt, ComparedSide, Incomplete, InvalidRun, Observed, SideGroup, Unlike,
    UnlikeWhat, needed_s, unlike,
};
pub use order_apart::OrderApart;
pub use paper_layout::{PaperLayout, UnknownLayout};
pub use plan::{PlannedCell, StudyPlan};
pub use publication::{ResultClass, StrictBreach, StrictRule, StudyBlocks};
pub use repeats::{RateGroups, RepeatedMetric, RepeatedRun, Repeats};
pub use run_time::run_s;
pub use samples::Method;
pub use side_blocks::SideBlocks;
pub use side_summary::SideSummary;
pub use subject::Subject;
pub use tables::{StudyComparisons, StudyRun, groups, tables};
pub use verdicts::VerdictCounts;
