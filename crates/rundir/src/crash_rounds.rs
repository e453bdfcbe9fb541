//! The results of crash rounds: what each round verified, and what all rounds show together.

use std::collections::BTreeMap;

use record::RunId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::Action;

use crate::ack_log::outcome::Outcome;
use crate::crash_moments::{MomentOutcome, moments};
use crate::crash_round::{CrashRound, LossExample, RoundEnd};
use crate::loss_share::{LossShare, loss_share, loss_share_max};

/// The version of the JSON document that [`CrashReport`] describes.
pub const CRASH_SCHEMA: u32 = 1;

/// Maximum size of a document in bytes.
pub const REPORT_BYTES_MAX: usize = 256 << 20;

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
    /// Number of crashes that undid something that was promised.
    pub crashes_with_loss: u32,
    /// Number of crashes that undid acknowledged changes which nothing promised to keep.
    #[serde(default)]
    pub crashes_with_allowed_loss: u32,
    pub directories_lost: u32,
    pub operations: Vec<Outcome>,
    /// The crashes by moment.
    #[serde(default)]
    pub moments: Vec<MomentOutcome>,
    pub foreign: u64,
    pub foreign_first: Option<String>,
    /// The first loss of each operation and kind that breaks a promise.
    pub examples: Vec<LossExample>,
    /// Upper limit of the share of crashes that lose a promised change, with a confidence of 95 %;
    /// `None` if a loss was found, the system was not crashed, or nothing is promised and changes
    /// were lost.
    pub loss_share_max: Option<f64>,
    /// The 95 % confidence interval of the same share if a loss was found.
    pub loss_share: Option<LossShare>,
    /// The 95 % confidence interval of the share of crashes that lose changes which nothing
    /// promised to keep, if there were any.
    #[serde(default)]
    pub allowed_share: Option<LossShare>,
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
            sum.or_insert_with(|| outcome.without_counts()).add(outcome);
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
        let allowed = count(&CrashRound::has_allowed_loss);
        let shares = self.crashes_system;
        let mut report = Self {
            rounds_performed: rounds.len() as u32,
            crashes,
            crashes_with_loss: lossy,
            crashes_with_allowed_loss: allowed,
            moments: moments(crashed()),
            directories_lost: count(&|round| round.directory_lost.is_some()),
            operations: operations.into_values().collect(),
            foreign: crashed().map(|round| round.foreign).sum(),
            foreign_first: crashed().find_map(|round| round.foreign_first.clone()),
            examples,
            loss_share_max: loss_share_max(crashes).filter(|_| lossy == 0 && shares),
            loss_share: loss_share(lossy, crashes).filter(|_| shares),
            allowed_share: loss_share(allowed, crashes).filter(|_| shares),
            rounds,
            ..self
        };
        report.loss_share_max = report.loss_share_max.filter(|_| report.is_bounded());
        report
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
        let losses: u64 = self.broken().map(|outcome| outcome.losses()).sum();
        let lost = losses + u64::from(self.directories_lost);
        let rounds = if self.crashes == 1 { "round" } else { "rounds" };
        format!("{} {rounds}, {lost} lost", self.crashes)
    }

    /// The outcomes of the operations with only those losses that break a promise.
    pub fn broken(&self) -> impl Iterator<Item = Outcome> {
        self.operations.iter().map(Outcome::broken)
    }

    /// Whether rounds without a broken promise bound the share of crashes that break one. They do
    /// not if nothing is promised and changes were lost.
    pub fn is_bounded(&self) -> bool {
        self.crashes_with_allowed_loss == 0 || self.operations.iter().any(Outcome::is_promised)
    }

    /// The first round with a loss.
    pub fn first_lossy(&self) -> Option<&CrashRound> {
        self.rounds.iter().find(|round| round.has_loss())
    }
}

#[cfg(test)]
mod tests {
    use engine::Promise;

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
    fn losses_that_nothing_promised_to_prevent_are_allowed() {
        let allowed = |promise| {
            let mut rounds = vec![round(1, 3), round(2, 0)];
            rounds[0].moment = Some("rename".to_owned());
            for round in &mut rounds {
                round.operations[0].promise = promise;
            }
            report(rounds)
        };
        for promise in [Promise::Nothing, Promise::Contents] {
            let report = allowed(promise);
            let counts = (report.crashes_with_loss, report.crashes_with_allowed_loss);
            assert_eq!(
                counts,
                (0, 1),
                "a missing file, and a promise of {promise:?}"
            );
            assert_eq!(report.operations[0].lost, 3);
            assert!(report.loss_share.is_none() && report.allowed_share.is_some());
            // The rounds bound only what was promised.
            assert_eq!(
                report.loss_share_max.is_some(),
                promise == Promise::Contents
            );
        }
        let broken = allowed(Promise::Names);
        assert_eq!(
            (broken.crashes_with_loss, broken.crashes_with_allowed_loss),
            (1, 0)
        );
        let of = |moment: Option<&str>| {
            let mut found = broken.moments.iter();
            let found = found.find(|of| of.moment.as_deref() == moment).unwrap();
            (found.crashes, found.crashes_with_loss, found.lost)
        };
        assert_eq!((of(None), of(Some("rename"))), ((1, 0, 0), (1, 1, 3)));
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
