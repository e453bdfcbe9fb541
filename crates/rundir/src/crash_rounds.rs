//! The results of crash rounds: what each round verified, and what all rounds show together.

use std::collections::BTreeMap;

use record::RunId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::Action;

use crate::ack_log::loss::LossKind;
use crate::ack_log::outcome::Outcome;
use crate::loss_share::{LossShare, loss_share, loss_share_max};
use crate::verify_log::Verified;

/// The version of the JSON document that [`CrashReport`] describes.
pub const CRASH_SCHEMA: u32 = 1;

/// Maximum size of a document in bytes.
pub const REPORT_BYTES_MAX: usize = 256 << 20;

/// How the run of a round ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoundEnd {
    /// The crash interrupted the run.
    Crashed,
    /// The run ended by itself before the crash, so this round tells nothing about crashes.
    EndedBefore,
}

/// The first loss of its operation and kind in a round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LossExample {
    pub round: u32,
    pub what: Action,
    pub kind: LossKind,
    pub path: String,
    /// The state in which verification found the path, as a sentence.
    pub why: String,
    /// The latest entries of the log about the path.
    pub history: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CrashRound {
    /// Number of the round, from 1.
    pub round: u32,
    /// Time from the end of the preparation to the crash.
    pub delay_ns: u64,
    /// The request or event at which the round crashed after that time; `None` if it crashed at
    /// once.
    #[serde(default)]
    pub moment: Option<String>,
    pub end: RoundEnd,
    pub in_flight: u64,
    pub checked: u64,
    pub operations: Vec<Outcome>,
    pub examples: Vec<LossExample>,
    /// The reason why no path could be checked: the run directory does not exist after the crash.
    pub directory_lost: Option<String>,
    pub foreign: u64,
    pub foreign_first: Option<String>,
    /// The acknowledgement log; `None` if it was removed, because the round shows no loss.
    pub ack_log: Option<String>,
    /// What could not be removed from the target after the round, with the reasons.
    pub left: Vec<String>,
}

impl CrashRound {
    /// A round in which no path was checked.
    pub const fn unchecked(round: u32, delay_ns: u64, end: RoundEnd) -> Self {
        Self {
            round,
            delay_ns,
            moment: None,
            end,
            in_flight: 0,
            checked: 0,
            operations: Vec::new(),
            examples: Vec::new(),
            directory_lost: None,
            foreign: 0,
            foreign_first: None,
            ack_log: None,
            left: Vec::new(),
        }
    }

    pub fn crashed(round: u32, delay_ns: u64, verified: &Verified) -> Self {
        Self {
            in_flight: verified.in_flight,
            checked: verified.checked,
            operations: verified.operations.clone(),
            foreign: verified.foreign,
            foreign_first: verified.foreign_first.clone(),
            ..Self::unchecked(round, delay_ns, RoundEnd::Crashed)
        }
    }

    pub fn has_loss(&self) -> bool {
        let has_loss = |outcome: &Outcome| outcome.losses() > 0;
        self.directory_lost.is_some() || self.operations.iter().any(has_loss)
    }
}

/// The runs of the rounds, and the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CrashSubject {
    /// The identity of the rounds in archives; `--resume` keeps it.
    pub id: RunId,
    /// Wall clock when the rounds were planned, in nanoseconds since the epoch.
    pub begun_unix_ns: u64,
    pub host: String,
    /// Type of the target's file system, or protocol of its server; empty if it is not known.
    pub file_systems: Vec<String>,
    pub preset: Option<String>,
    /// Kind of the workload: `classic` or `mix`; absent in results of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
    pub engine: String,
    pub workers: u32,
    /// Fingerprint of the workload of round 1. The other rounds differ from it in their seeds.
    pub fingerprint: String,
    /// The arguments of the command, without options that do not affect a round: `--rounds`,
    /// `--seed`, `--ack-log` and those of the output.
    pub arguments: Vec<String>,
}

/// The results of all rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CrashReport {
    /// Version of this document, by which readers also recognize it.
    pub crash_schema: u32,
    pub subject: CrashSubject,
    pub tool: String,
    pub target: String,
    /// How a round crashed the system.
    pub crash: String,
    /// Whether the crash ended more than the run itself. Otherwise the rounds show nothing about
    /// durability.
    pub crashes_system: bool,
    /// Whether the crash killed a server and left the kernel and the devices as they were. A loss
    /// is then the server's: it acknowledged an operation that was only in its memory.
    pub kills_server: bool,
    pub durability: String,
    pub seed: u64,
    pub rounds_planned: u32,
    pub rounds_performed: u32,
    /// Number of rounds in which the crash interrupted the run.
    pub crashes: u32,
    pub crashes_with_loss: u32,
    pub directories_lost: u32,
    pub operations: Vec<Outcome>,
    pub foreign: u64,
    pub foreign_first: Option<String>,
    /// The first loss of each operation and kind.
    pub examples: Vec<LossExample>,
    /// Upper limit of the share of crashes that lose an acknowledged operation, with a confidence
    /// of 95 %; `None` if a loss was found, or the system was not crashed.
    pub loss_share_max: Option<f64>,
    /// The 95 % confidence interval of the same share if a loss was found.
    pub loss_share: Option<LossShare>,
    /// Whether a signal ended the rounds early.
    pub interrupted: bool,
    /// File from which `--resume` continues.
    pub state: String,
    pub rounds: Vec<CrashRound>,
}

impl CrashReport {
    /// Computes the sums over `rounds`, and fills them in.
    #[must_use]
    pub fn with_rounds(self, rounds: Vec<CrashRound>) -> Self {
        let has_crashed = |round: &&CrashRound| round.end == RoundEnd::Crashed;
        let crashed = || rounds.iter().filter(has_crashed);
        let mut operations: BTreeMap<Action, Outcome> = BTreeMap::new();
        for outcome in crashed().flat_map(|round| &round.operations) {
            let sum = operations.entry(outcome.what);
            sum.or_insert_with(|| Outcome::new(outcome.what))
                .add(outcome);
        }
        let mut examples: Vec<LossExample> = Vec::new();
        for example in crashed().flat_map(|round| &round.examples) {
            let is_same =
                |known: &LossExample| (known.what, known.kind) == (example.what, example.kind);
            if !examples.iter().any(is_same) {
                examples.push(example.clone());
            }
        }
        let count = |condition: &dyn Fn(&CrashRound) -> bool| {
            crashed().filter(|round| condition(round)).count() as u32
        };
        let (crashes, lossy) = (count(&|_| true), count(&CrashRound::has_loss));
        Self {
            rounds_performed: rounds.len() as u32,
            crashes,
            crashes_with_loss: lossy,
            directories_lost: count(&|round| round.directory_lost.is_some()),
            operations: operations.into_values().collect(),
            foreign: crashed().map(|round| round.foreign).sum(),
            foreign_first: crashed().find_map(|round| round.foreign_first.clone()),
            examples,
            loss_share_max: loss_share_max(crashes).filter(|_| lossy == 0 && self.crashes_system),
            loss_share: loss_share(lossy, crashes).filter(|_| self.crashes_system),
            rounds,
            ..self
        }
    }

    /// Reads a report. The sums of the document are ignored and computed from its rounds.
    ///
    /// # Errors
    /// Returns the reason if the text is not a report, or one of a newer version.
    pub fn from_json(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Version {
            crash_schema: u32,
        }
        if text.len() > REPORT_BYTES_MAX {
            return Err(format!("it has more than {} MiB", REPORT_BYTES_MAX >> 20));
        }
        let parsed = serde_json::from_str::<Version>(text).map_err(|error| error.to_string())?;
        if parsed.crash_schema != CRASH_SCHEMA {
            return Err(format!(
                "it has version {} of crash results, and this program reads version {CRASH_SCHEMA} \
                 (use a newer postmark)",
                parsed.crash_schema
            ));
        }
        let mut report: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let rounds = std::mem::take(&mut report.rounds);
        Ok(report.with_rounds(rounds))
    }

    /// Whether a text begins like a report, and not like a record.
    pub fn is_begun_by(beginning: &[u8]) -> bool {
        let is_visible = |byte: &&u8| !byte.is_ascii_whitespace();
        let begin = b"{\"crash_schema\":";
        let visible = beginning.iter().filter(is_visible).take(begin.len());
        visible.eq(begin)
    }

    /// The result in a few words, for lists: `200 rounds, 0 lost`.
    pub fn summary(&self) -> String {
        let losses: u64 = self.operations.iter().map(Outcome::losses).sum();
        let lost = losses + u64::from(self.directories_lost);
        let rounds = if self.crashes == 1 { "round" } else { "rounds" };
        format!("{} {rounds}, {lost} lost", self.crashes)
    }

    /// The first round with a loss.
    pub fn first_lossy(&self) -> Option<&CrashRound> {
        self.rounds.iter().find(|round| round.has_loss())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(number: u32, lost: u64) -> CrashRound {
        let outcome = Outcome {
            acknowledged: 10,
            verified: 8,
            lost,
            ..Outcome::new(Action::Create)
        };
        CrashRound {
            operations: vec![outcome],
            ..CrashRound::unchecked(number, 5, RoundEnd::Crashed)
        }
    }

    fn report(rounds: Vec<CrashRound>) -> CrashReport {
        let empty = serde_json::json!({
            "crash_schema": CRASH_SCHEMA,
            "subject": {
                "id": RunId::new(7), "begun_unix_ns": 1, "host": "h", "file_systems": [],
                "preset": null, "engine": "posix", "workers": 1, "fingerprint": "f",
                "arguments": []
            },
            "tool": "t", "target": "/t", "crash": "c", "crashes_system": true,
            "kills_server": true, "durability": "fsync", "seed": 1, "rounds_planned": 2,
            "rounds_performed": 0, "crashes": 0, "crashes_with_loss": 0, "directories_lost": 0,
            "operations": [], "foreign": 0, "foreign_first": null, "examples": [],
            "loss_share_max": null, "loss_share": null, "interrupted": false, "state": "s",
            "rounds": rounds
        });
        CrashReport::from_json(&empty.to_string()).unwrap()
    }

    #[test]
    fn sums_are_computed_from_the_rounds_and_not_read() {
        let report = report(vec![round(1, 0), round(2, 3)]);
        assert_eq!(report.summary(), "2 rounds, 3 lost");
        assert_eq!((report.crashes, report.crashes_with_loss), (2, 1));
        assert_eq!(report.first_lossy().unwrap().round, 2);
        assert!(report.loss_share_max.is_none() && report.loss_share.is_some());
        let forged = serde_json::to_string(&report).unwrap();
        let forged = forged.replace("\"crashes_with_loss\":1", "\"crashes_with_loss\":0");
        assert!(CrashReport::is_begun_by(forged.as_bytes()));
        assert_eq!(CrashReport::from_json(&forged).unwrap(), report);
    }

    #[test]
    fn other_versions_and_other_documents_are_refused() {
        let text = serde_json::to_string(&report(Vec::new())).unwrap();
        let newer = text.replace("\"crash_schema\":1", "\"crash_schema\":2");
        let told = CrashReport::from_json(&newer).unwrap_err();
        assert!(told.contains("has version 2"), "{told}");
        assert!(CrashReport::from_json("{\"record\":{}}").is_err());
        assert!(!CrashReport::is_begun_by(b"{\"record\":{}}"));
        assert!(CrashReport::is_begun_by(b"{\n  \"crash_schema\": 1,"));
    }
}
