//! The client: XDR, RPC, the programs and their procedures, connections. Nothing here knows
//! operations of runs.

pub(crate) mod arguments;
pub(crate) mod channel;
pub(crate) mod counters;
pub(crate) mod data;
pub(crate) mod listing;
pub(crate) mod mount;
pub(crate) mod procedure;
pub(crate) mod records;
pub(crate) mod results;
pub(crate) mod rpc;
pub(crate) mod talk;
pub(crate) mod timer;
pub(crate) mod xdr;
