//! Every reason of a verdict on both sides of its threshold, on records that are well but for one
//! thing; and that the documentation has exactly these reasons.

pub mod made;

mod course;
mod evidence;
mod list;
mod load;
mod memory;
mod pace;
mod pool;
mod ranks;
