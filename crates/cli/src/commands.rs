//! A module for each command, and code that several commands share.

pub mod archive;
pub mod check;
pub mod classic;
pub mod clean;
pub mod collect;
pub mod compare;
pub mod crash;
pub mod engines;
pub mod help;
pub mod history;
pub mod learn;
pub mod manual;
pub mod namespace;
pub mod observe;
pub mod plan;
pub mod presets;
pub mod published;
pub mod ranks;
pub mod run;
pub mod site;
pub mod study;
pub mod verify_log;
