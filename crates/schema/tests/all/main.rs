//! Tests of the published schema.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests, too")]

mod published;
