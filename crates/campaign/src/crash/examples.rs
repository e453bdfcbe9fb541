//! Examples of losses, with the entries of the acknowledgement log about them.

use std::collections::BTreeSet;
use std::path::PathBuf;

use rundir::{LossExample, Verified};

use crate::Error;

/// Returns the first loss of each operation and kind that breaks a promise, with its history.
pub(super) fn examples(
    number: u32,
    verified: &Verified,
    logs: &[PathBuf],
) -> Result<Vec<LossExample>, Error> {
    let mut seen = BTreeSet::new();
    let first = verified.lost.iter().filter(|loss| {
        verified.is_promised(loss.what, loss.kind) && seen.insert((loss.what, loss.kind))
    });
    first
        .map(|loss| {
            Ok(LossExample {
                round: number,
                what: loss.what,
                kind: loss.kind,
                path: loss.path.clone(),
                why: loss.why.clone(),
                history: rundir::history(logs, loss).map_err(Error::failed)?,
            })
        })
        .collect()
}
