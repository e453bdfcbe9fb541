//! Learns a workload from observations: from a tree of files, or from a trace of operations.
//!
//! A source fills a [`Profile`]. [`workload_options`] converts it into options of a run, and
//! [`Fidelity`] compares the profile with the workload to which these options resolve. This crate
//! reads trees itself ([`learn_tree`]); other crates read traces.
//!
//! Memory is bounded, however large the source is: distributions have a fixed number of buckets,
//! and samples a fixed number of bytes.

mod bins;
mod cdf;
mod contents;
mod distribution;
mod durability;
mod fidelity;
mod layout;
mod left_out;
mod model;
mod own_times;
mod popularity;
mod profile;
mod show;
mod tree;

pub use contents::ContentSample;
pub use distribution::{Bucket, Distribution};
pub use fidelity::{Comparison, Fidelity, MixShare, Unit};
pub use left_out::left_out;
pub use model::{resolve, workload_options};
pub use own_times::OwnTimes;
pub use profile::{LeftOut, Popularity, Profile, Sequence, Source, Syncs};
pub use show::document;
pub use tree::{TreeError, TreeRequest, learn_tree};
