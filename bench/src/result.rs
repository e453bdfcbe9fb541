//! The result type of benchmarks.

/// An error ends a benchmark, and its text is printed.
pub type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;
