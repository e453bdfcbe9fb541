//! Tests that run the program as a user does: one test binary with a module for each subject.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests, too")]

mod adds_up;
mod architecture;
mod archived;
mod book;
mod check;
mod circles;
mod commands_page;
mod compared;
mod crash;
mod crash_results;
mod differential;
mod documents;
mod evidence;
mod filesystems;
mod forged;
mod help;
mod hostile;
mod hung;
mod killed_trees;
mod lab;
mod laid_out;
mod layout;
mod learned_traces;
mod learning;
mod like;
mod limits;
mod manual;
mod mixes;
mod nfs;
mod observing;
mod pages;
mod phases;
mod plans;
mod prompt;
mod published_results;
mod ranks;
mod replays;
mod s3;
mod safety;
mod schema;
mod scripts;
mod site;
mod studies;
mod sweeps;
mod system_calls;
mod terminal;
mod texts;
mod transcripts;
mod trees;
mod uring;
mod verdict;
mod words;
mod wrappers;

// Code that tests of several modules share.
mod commanded;
mod configured;
mod handed;
mod mounted;
mod original;
mod runs;
mod support;
