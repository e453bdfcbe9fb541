//! Derives two run specs for a configuration with an age: the run that churns the pool (creates and
//! deletes files), and the measured run on the churned pool.

use spec::{Drive, Keeping, RunSpec, Stop};
use workload::{Work, Workload};

pub struct AgedSpecs {
    /// The run that creates, churns and keeps a pool; `None` for a configuration without an age.
    pub churn: Option<RunSpec>,
    pub measured: RunSpec,
}

impl AgedSpecs {
    /// Derives the run specs for a pool with an age. The churning run creates `age` times as many
    /// files as the pool contains.
    ///
    /// # Errors
    /// Returns an error if no run can churn the pool of this workload.
    pub fn new(spec: RunSpec, age: u64) -> Result<Self, String> {
        if age == 0 {
            return Ok(Self {
                churn: None,
                measured: spec,
            });
        }
        let keeping = |keep, reuse| Keeping { keep, reuse };
        let churn = RunSpec {
            workload: spec
                .workload
                .with_transactions(transactions(&spec.workload, age)?),
            drive: Drive {
                stop: Stop::Transactions,
                ..Drive::default()
            },
            keeping: keeping(true, false),
            overhead: false,
            ..spec.clone()
        };
        let measured = RunSpec {
            keeping: keeping(spec.keeping.keep, true),
            ..spec
        };
        for spec in [&churn, &measured] {
            spec.check().map_err(|why| format!("age: {why}"))?;
        }
        Ok(Self {
            churn: Some(churn),
            measured,
        })
    }
}

/// Returns the number of transactions of each worker. These transactions create `age` times as many
/// files as the worker's pool contains.
fn transactions(workload: &Workload, age: u64) -> Result<u64, String> {
    if workload.workers.is_shared() {
        let why = "age: its workers share one pool, which cannot be kept between runs (use \
                   --workers in place of --writers and --readers)";
        return Err(why.to_owned());
    }
    let (files, makes, of) = match &workload.work {
        // Every classic transaction creates or deletes a file. The bias is the probability of a
        // creation, in tenths.
        Work::Classic(classic) => (
            classic.files,
            classic.bias_create.tenths().map_or(0, u64::from),
            10,
        ),
        Work::Mix(mix) => (
            mix.files,
            mix.weights
                .actions()
                .filter(|action| action.changes_count() == Some(true))
                .map(|action| u64::from(mix.weights.get(action)))
                .sum(),
            mix.weights.sum(),
        ),
    };
    if makes == 0 {
        let why = "age: its transactions create no files, so they cannot age the file system \
                   (add create and delete to its mix, or remove age)";
        return Err(why.to_owned());
    }
    let made = u128::from(files) * u128::from(age);
    let transactions = (made * u128::from(of)).div_ceil(u128::from(makes));
    Ok(u64::try_from(transactions).unwrap_or(u64::MAX))
}
