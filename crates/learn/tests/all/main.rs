//! Tests of learned workloads: a module for each subject.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests, too")]

mod models;
