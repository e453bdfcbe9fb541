//! Metrics of comparisons: numbers of a run, each with a name that options accept.

use std::fmt;
use std::str::FromStr;

use record::DeviceRole;
use serde::{Deserialize, Serialize};
use verdict::Summary;
use verdict::summary::{LatencySummary, MessageKindSent};
use workload::{Action, Phase};

/// A number that is compared between systems. It describes the measured transactions of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Metric {
    /// `transactions`: transactions a second.
    Transactions,
    /// `read`: bytes per second that operations read.
    Read,
    /// `written`: bytes per second that operations wrote.
    Written,
    /// The name of an operation, like `create`: operations of this kind a second.
    Operations(Action),
    /// The name of an operation and a statistic, like `create.p99`: this statistic of the
    /// operation's latencies, in nanoseconds.
    Latency(Action, Statistic),
    /// `cpu`: processor time of this program per transaction, in user and system mode, in
    /// nanoseconds.
    Cpu,
    /// `messages`: requests to servers per transaction. Without a server: commands per transaction
    /// to the device of the file system.
    Messages,
}

/// A statistic of latencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Statistic {
    Mean,
    P50,
    P90,
    P95,
    P99,
    P99_9,
    P99_99,
    Max,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// More is better: a rate, a throughput.
    Higher,
    /// Less is better: a latency, a cost.
    Lower,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MetricUnit {
    /// Transactions or operations a second.
    PerSecond,
    BytesPerSecond,
    Nanoseconds,
    /// Requests or commands for each transaction.
    PerTransaction,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown metric '{}' (use {})", .0, choices())]
pub struct UnknownMetric(String);

impl Statistic {
    const ROWS: [(Self, &'static str); 8] = [
        (Self::Mean, "mean"),
        (Self::P50, "p50"),
        (Self::P90, "p90"),
        (Self::P95, "p95"),
        (Self::P99, "p99"),
        (Self::P99_9, "p99.9"),
        (Self::P99_99, "p99.99"),
        (Self::Max, "max"),
    ];

    pub const fn name(self) -> &'static str {
        Self::ROWS[self as usize].1
    }

    /// Number of samples of which ten are beyond the percentile; `None` for other statistics.
    const fn samples_needed(self) -> Option<f64> {
        match self {
            Self::Mean | Self::Max => None,
            Self::P50 => Some(20.0),
            Self::P90 => Some(100.0),
            Self::P95 => Some(200.0),
            Self::P99 => Some(1e3),
            Self::P99_9 => Some(1e4),
            Self::P99_99 => Some(1e5),
        }
    }

    /// Value of the statistic in nanoseconds; `None` if fewer than ten latencies are beyond a
    /// percentile.
    fn of(self, latencies: &LatencySummary) -> Option<f64> {
        let whole = |ns: Option<u64>| ns.map(|ns| ns as f64);
        match self {
            Self::Mean => latencies.mean,
            Self::P50 => whole(latencies.p50),
            Self::P90 => whole(latencies.p90),
            Self::P95 => whole(latencies.p95),
            Self::P99 => whole(latencies.p99),
            Self::P99_9 => whole(latencies.p99_9),
            Self::P99_99 => whole(latencies.p99_99),
            Self::Max => whole(latencies.max),
        }
    }
}

impl Metric {
    pub const fn better(self) -> Better {
        match self {
            Self::Transactions | Self::Read | Self::Written | Self::Operations(_) => Better::Higher,
            Self::Latency(..) | Self::Cpu | Self::Messages => Better::Lower,
        }
    }

    pub const fn unit(self) -> MetricUnit {
        match self {
            Self::Transactions | Self::Operations(_) => MetricUnit::PerSecond,
            Self::Read | Self::Written => MetricUnit::BytesPerSecond,
            Self::Latency(..) | Self::Cpu => MetricUnit::Nanoseconds,
            Self::Messages => MetricUnit::PerTransaction,
        }
    }

    /// Why a run with transactions may not contain the metric; `None` if no reason is known.
    /// `needed_s` is [`Metric::needed_s`], if it is known.
    pub fn why_missing(self, needed_s: Option<f64>) -> Option<String> {
        if let Some(seconds) = needed_s {
            return Some(format!(
                "a percentile needs ten samples beyond it: at this rate, runs of {seconds} s \
                 (--for {seconds}s)"
            ));
        }
        let operation = |action: Action| format!("the workload may not perform {}", action.name());
        match self {
            Self::Operations(action) => Some(operation(action)),
            Self::Latency(action, Statistic::Mean | Statistic::Max) => Some(operation(action)),
            Self::Latency(action, _) => Some(format!(
                "a percentile needs ten samples beyond it: run longer; or {}",
                operation(action)
            )),
            Self::Transactions | Self::Read | Self::Written | Self::Cpu | Self::Messages => None,
        }
    }

    /// Length of the measurement, in whole seconds, with which a run would contain a percentile at
    /// the rate of its operation, with a reserve of 5 %. `None` for other metrics, for percentiles
    /// that the run contains, and for operations that the run did not perform.
    pub fn needed_s(self, summary: &Summary) -> Option<f64> {
        let Self::Latency(action, statistic) = self else {
            return None;
        };
        let rate = summary.operations.get(action.name())?.rate.per_second?;
        let needed = statistic.samples_needed()? / rate;
        (self.of(summary).is_none() && rate > 0.0).then(|| (1.05 * needed).ceil())
    }

    /// Value of the metric in a run, in the metric's unit. `None` if the run does not contain the
    /// metric. Also `None` if the value is 0, because comparisons divide by it.
    pub fn of(self, summary: &Summary) -> Option<f64> {
        let transactions = summary.transactions.as_ref();
        let operation = |action: Action| summary.operations.get(action.name());
        let value = match self {
            Self::Transactions => transactions?.rate.per_second,
            Self::Read => transactions?.read_bytes.per_second,
            Self::Written => transactions?.written_bytes.per_second,
            Self::Operations(action) => operation(action)?.rate.per_second,
            Self::Latency(action, statistic) => statistic.of(&operation(action)?.latency_ns),
            Self::Cpu => cpu(summary),
            Self::Messages => messages(summary),
        };
        value.filter(|value| value.is_finite() && *value > 0.0)
    }
}

/// Processor time for each transaction, in nanoseconds: processors in use divided by transactions a
/// second.
fn cpu(summary: &Summary) -> Option<f64> {
    let phase = summary.phase(Phase::Transactions)?;
    let machine = phase.machine.as_ref()?;
    Some((machine.user? + machine.system?) * 1e9 / phase.transactions?.per_second?)
}

/// Requests to all servers for each transaction; without a server, commands to the devices that
/// contain the file systems. `None` if one of these numbers is not known.
fn messages(summary: &Summary) -> Option<f64> {
    let evidence = summary.phase(Phase::Transactions)?.evidence.as_ref()?;
    if !evidence.messages.is_empty() {
        return evidence.messages.iter().map(|sent| sent.per_done).sum();
    }
    let mut devices = evidence
        .commands
        .iter()
        .filter(|device| device.role == DeviceRole::Target)
        .peekable();
    devices.peek()?;
    let of_kind = |kind: &MessageKindSent| kind.per_done;
    devices
        .flat_map(|device| device.kinds.iter().map(of_kind))
        .sum()
}

/// All metrics, as text for a message.
fn choices() -> String {
    let actions: Vec<&str> = operations()
        .map(Action::name)
        .filter(|name| *name != "read")
        .collect();
    let statistics = Statistic::ROWS.map(|(_, name)| name);
    format!(
        "transactions, read, written, cpu, messages; an operation: {}; or the latency of one, \
         like create.p99: {}",
        actions.join(", "),
        statistics.join(", ")
    )
}

/// The operations that a workload may perform.
fn operations() -> impl Iterator<Item = Action> {
    Action::ALL
        .iter()
        .copied()
        .filter(|action| action.performs().is_some())
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transactions => f.write_str("transactions"),
            Self::Read => f.write_str("read"),
            Self::Written => f.write_str("written"),
            Self::Operations(action) => f.write_str(action.name()),
            Self::Latency(action, statistic) => write!(f, "{}.{}", action.name(), statistic.name()),
            Self::Cpu => f.write_str("cpu"),
            Self::Messages => f.write_str("messages"),
        }
    }
}

impl FromStr for Metric {
    type Err = UnknownMetric;

    fn from_str(text: &str) -> Result<Self, UnknownMetric> {
        let word = text.trim();
        let unknown = || UnknownMetric(word.to_owned());
        let action = |name: &str| operations().find(|action| action.name() == name);
        // Names of metrics precede names of operations: `read` is the throughput, not the
        // operation.
        Ok(match word {
            "transactions" => Self::Transactions,
            "read" => Self::Read,
            "written" => Self::Written,
            "cpu" => Self::Cpu,
            "messages" => Self::Messages,
            _ => match word.split_once('.') {
                None => Self::Operations(action(word).ok_or_else(unknown)?),
                Some((name, statistic)) => {
                    let mut rows = Statistic::ROWS.into_iter();
                    let statistic = rows.find(|(_, known)| *known == statistic);
                    let (statistic, _) = statistic.ok_or_else(unknown)?;
                    Self::Latency(action(name).ok_or_else(unknown)?, statistic)
                }
            },
        })
    }
}

impl TryFrom<String> for Metric {
    type Error = UnknownMetric;

    fn try_from(text: String) -> Result<Self, UnknownMetric> {
        text.parse()
    }
}

impl From<Metric> for String {
    fn from(metric: Metric) -> Self {
        metric.to_string()
    }
}
