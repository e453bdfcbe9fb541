//! The face of the crate: what ranks do together, in process and over MPI.

mod clocks;
mod ranks;
mod together;
