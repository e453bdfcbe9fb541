//! Checks that all ranks have the same options, and exchanges their host names, before the run
//! changes anything.

use ::ranks::Ranks;
use rundir::Life;
use rundir::manifest::OtherRank;
use serde::{Deserialize, Serialize};
use spec::RunSpec;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::Refused;

pub(super) fn host() -> String {
    rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned()
}

/// The data that each rank sends to the others before the run changes anything.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Introduction {
    rank: u32,
    tool: String,
    /// Hash of the run spec.
    asked: u64,
    seen: OtherRank,
}

/// Checks that all ranks run the same program with the same options. Returns the manifest entries
/// of all ranks except the first, and the host name of the first rank.
pub(super) fn introduce(
    ranks: &Ranks,
    request: &RunSpec,
    life: &Life,
) -> Result<(Vec<OtherRank>, String), Refused> {
    let mut asked = request.clone();
    asked.command_line.clear();
    let asked = serde_json::to_vec(&asked).unwrap_or_default();
    let own = Introduction {
        rank: ranks.rank(),
        tool: env!("CARGO_PKG_VERSION").to_owned(),
        asked: xxh3_64(&asked),
        seen: OtherRank {
            first_worker: request.workers_of(ranks.rank()).start,
            process: std::process::id(),
            host: host(),
            life: life.name().map(str::to_owned),
        },
    };
    let all = ranks.meet(vec![own], |mut all: Vec<Introduction>, others| {
        all.extend(others);
        all
    })?;
    let mut all = all.into_iter();
    let Some(first) = all.next() else {
        return Ok((Vec::new(), host()));
    };
    let mut others = Vec::new();
    for one in all {
        let who = format!("rank {} (host {})", one.rank, one.seen.host);
        if one.tool != first.tool {
            return Err(Refused::Ranks(format!(
                "{who} runs postmark {}, and rank 0 (host {}) runs {} (install the same version \
                 on all hosts)",
                one.tool, first.seen.host, first.tool
            )));
        }
        if one.asked != first.asked {
            return Err(Refused::Ranks(format!(
                "{who} was started with other options than rank 0 (start all ranks with the same \
                 command; presets and files that it names must be the same on all hosts)"
            )));
        }
        others.push(one.seen);
    }
    Ok((others, first.seen.host))
}
