//! Tests each reason of a verdict on both sides of its threshold, on records that are valid except
//! for one change; and compares the documentation with the list of reasons.

pub mod made;

mod course;
mod evidence;
mod list;
mod load;
mod memory;
mod pace;
mod pool;
mod ranks;
