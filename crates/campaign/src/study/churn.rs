//! How many transactions churn a pool so many times.

use workload::{Action, Work, Workload};

/// A workload that makes no files cannot churn its pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unchurnable {
    /// No operation of it makes a file.
    #[error(
        "age: its transactions create no files, so they cannot age the file system (add create \
         and delete to its mix, or remove age)"
    )]
    MakesNoFiles,
    /// A pool that all workers share is not kept between runs.
    #[error(
        "age: its workers share one pool, which cannot be kept between runs (use --workers in \
         place of --writers and --readers)"
    )]
    IsShared,
}

/// The transactions of each worker in which as many files are made as `age` times its pool has.
///
/// # Errors
/// Where no number of them does that.
pub fn churn(workload: &Workload, age: u64) -> Result<u64, Unchurnable> {
    if age == 0 {
        return Ok(0);
    }
    if workload.workers.is_shared() {
        return Err(Unchurnable::IsShared);
    }
    let (files, makes, of) = match &workload.work {
        // Every transaction makes a file or deletes one.
        Work::Classic(classic) => (
            classic.files,
            classic.bias_create.tenths().map_or(0, u64::from),
            10,
        ),
        Work::Mix(mix) => (
            mix.files,
            u64::from(mix.weights.get(Action::Create))
                + u64::from(mix.weights.get(Action::Deliver)),
            mix.weights.sum(),
        ),
    };
    if makes == 0 {
        return Err(Unchurnable::MakesNoFiles);
    }
    let made = u128::from(files) * u128::from(age);
    let transactions = (made * u128::from(of)).div_ceil(u128::from(makes));
    Ok(u64::try_from(transactions).unwrap_or(u64::MAX))
}
