//! The safety of a run, with the real binary on real mounts. Whatever happens to a run, it touches
//! only files that it created, removes all of them, and reports what happened.
//!
//! Every test has a directory of its own. An expectation is written once and must hold for every
//! `Interface`: the classic prompt, whose files are directly in the location, and `postmark run`,
//! which creates a directory. A failure shows the command, its output and the directory tree.
//!
//! Tests that mount need root. Without it they print that they are skipped, unless all tests must
//! run (`CI` is set, or `POSTMARK_TEST_ALL=1`).

mod bounds;
mod cleaned;
mod contradictions;
mod died;
mod full;
mod interrupted;
mod killed;
mod made_cleaned;
mod occupied;
mod other_user;
mod outputs;
mod ownership;
mod paths;
mod prompt_files;
mod refused;
mod streams;
mod together;
mod unmounted;
mod wrong_words;
