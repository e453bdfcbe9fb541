//! The pages of a static site about many runs: an overview, lists, and a page for each run, system,
//! workload, study and collection.
//!
//! All functions are pure: the caller reads the records and writes the files. Pages are complete
//! without network and without script, and are the same bytes for the same records. Links are
//! relative, and consist of identities of records or of hashes, so strings in a record never
//! determine a path. Every number links to the record that contains it.

mod collection;
mod compared;
mod feed;
mod filter;
mod hardware;
mod list;
mod markup;
mod model;
mod overview;
mod run;
mod shell;
mod study;
mod system;
mod workload;

pub use collection::{Collection, CollectionCell, CollectionRow, CollectionTable, collection};
pub use feed::feed;
pub use list::{Order, runs};
pub use model::{
    CheckResult, Disclosure, RunOfStudy, Site, SiteRun, SourceProblem, StudyEntry, SystemEntry,
    WorkloadEntry, key, record_path, run_path,
};
pub use overview::{checks, index, rules, studies, systems, workloads};
pub use run::run;
pub use study::{planned_study, study};
pub use system::system;
pub use workload::workload;
