//! What rank 0 tells those ranks that did not perform a run.

use ::ranks::{CommunicationError, Ranks};
use record::{Record, Sent};
use serde::{Deserialize, Serialize};

use super::introduction::host;
use crate::error::Refused;

/// What came of a run that not all ranks performed, as rank 0 tells all of them: its record; or
/// which rank refused it, on which host, and why.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Told(Result<Sent<Box<Record>>, (u32, String, String)>);

impl Told {
    /// Tells the ranks that did not perform a run what came of it, once it is closed; ranks that
    /// did pass it. Does nothing where all performed it.
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
        // No broadcast: rank 0 would leave before the others have closed the run.
        ranks.all().meet(told, Option::or)
    }

    /// Its record.
    pub(super) fn into_record(self) -> Result<Record, Refused> {
        let refused = |(rank, host, why)| Refused::OnRank { rank, host, why };
        self.0.map(|record| *record.0).map_err(refused)
    }
}
