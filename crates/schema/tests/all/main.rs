//! Tests of the published schema, a file for a subject.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests, too")]

mod published;
