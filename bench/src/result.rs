//! What benchmarks return.

/// Whatever fails ends a benchmark with its text.
pub type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;
