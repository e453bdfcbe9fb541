//! **`ran-dry`** (INVALID). The transactions ended early, because no file was left (or none that
//! the edition's generator can reach), or because a worker could perform none of its operations.
//! Until then, the transactions worked on a pool that differed from the prepared one. The original
//! PostMark prints no report in this case. *Threshold*: any such end. *Evidence*: `actual.end`.
//! *What to do*: use more files, fewer transactions, or a balanced mix.

use workload::End;

use super::rule::*;

/// The transactions ended early, because no file was left that the transactions could use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct RanDry {
    /// Why the transactions ended: `out-of-files`, `out-of-reach` or `nothing-possible`.
    pub end: End,
    /// Transactions that were performed and measured before the end.
    pub transactions: u64,
}

impl Rule for RanDry {
    const LEVEL: Level = Level::Invalid;
    const ADVICE: &str =
        "use more files, fewer transactions, or a mix that creates as often as it deletes";

    fn find(record: &Record, _: &Seen) -> Option<Self> {
        let end = *record.actual.end.known()?;
        let transactions = record.actual.transactions();
        (end != End::Complete).then(|| Self {
            end,
            transactions: transactions.map(PhaseRecord::transactions).sum(),
        })
    }

    fn foresee(planned: &Planned<'_>) -> Option<Foreseen<Self>> {
        let plan = &planned.record.plan;
        let why = match plan.end {
            End::Complete => return None,
            End::OutOfReach => "this edition's generator can reach none of the remaining files",
            End::NothingPossible => "a worker can perform none of its operations any more",
            End::OutOfFiles => "the pool runs dry",
        };
        let transactions = plan.transactions;
        Some(Foreseen {
            sentence: format!(
                "the run ends early, after {} transactions, because {why}",
                grouped(transactions)
            ),
            reason: Self {
                end: plan.end,
                transactions,
            },
            occurs: planned.reaches(transactions as f64)?,
        })
    }

    fn sentence(&self) -> String {
        let why = match self.end {
            End::OutOfReach => "this edition's generator can reach none of the remaining files",
            End::NothingPossible => "a worker could perform none of its operations any more",
            End::OutOfFiles | End::Complete => "the pool ran dry",
        };
        let transactions = grouped(self.transactions);
        format!("ended early, after {transactions} transactions, because {why}")
    }
}
