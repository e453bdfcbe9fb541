//! The safety of a run, on real mounts and with the real binary: whatever happens to it, nothing
//! that it did not make is touched, nothing that it made stays, and it says what happened.
//!
//! Every test has a directory of its own. An expectation is stated once and holds for every
//! `Face`: the classic prompt, whose files lie directly in the location, and `postmark run`, which
//! makes a directory of its own. What goes wrong shows the command, both streams and the tree.
//!
//! Tests that mount need root. Without it they say so on standard error and pass, unless everything
//! is to be tested (`CI` is set, or `POSTMARK_TEST_ALL=1`).

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
