//! Sends the result of a run from rank 0 to the ranks that did not perform the run.

use ::ranks::{CommunicationError, Ranks};
use record::{Record, Sent};
use serde::{Deserialize, Serialize};

use super::introduction::host;
use crate::error::Refused;

/// The result of a run that only some ranks performed: the record, or the refusal. A refusal
/// consists of the refusing rank, its host and the reason.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Told(Result<Sent<Box<Record>>, (u32, String, String)>);

impl Told {
    /// Sends the result from rank 0 to all launched ranks after the run is closed. Returns `None`
    /// without sending if all launched ranks performed the run.
    pub(super) fn to_all(
        ranks: &Ranks,
        own: Option<Result<&Record, &Refused>>,
    ) -> Result<Option<Self>, CommunicationError> {
        if ranks.count() == ranks.launched() {
            return Ok(None);
        }
        let own = own.filter(|_| ranks.rank() == 0);
        let told = own.map(|own| {
            Self(match own {
                Ok(record) => Ok(Sent(Box::new(record.clone()))),
                Err(Refused::OnRank { rank, host, why }) => Err((*rank, host.clone(), why.clone())),
                Err(refused) => Err((0, host(), refused.to_string())),
            })
        });
        // This is a barrier and not a broadcast, because after a broadcast rank 0 could leave
        // before the other ranks have closed the run.
        ranks.all().meet(told, Option::or)
    }

    pub(super) fn into_record(self) -> Result<Record, Refused> {
        let refused = |(rank, host, why)| Refused::OnRank { rank, host, why };
        self.0.map(|record| *record.0).map_err(refused)
    }
}
