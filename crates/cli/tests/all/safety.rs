//! The safety of runs, with the real program on real mounts. Whatever interferes with a run, the
//! run changes only files that it has created, removes all of them, and reports what happened.
//!
//! Every test has its own directory, and states what must hold for every `Interface`. At the
//! classic prompt, files are directly in the location; `postmark run` creates a directory. A
//! failure message contains the command, its output and the directory tree.
//!
//! Tests that mount need root. Without root, these tests print that they are skipped, unless all
//! tests must run (`CI` is set, or `POSTMARK_TEST_ALL=1`).

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
