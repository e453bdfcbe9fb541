//! Names of metrics, and their values in a run.

use proptest::prelude::*;
use study::{Better, Metric, MetricUnit};
use testkit::Shows;

#[test]
fn parsed_metrics_print_their_original_name() {
    for (word, better, unit) in [
        ("transactions", Better::Higher, MetricUnit::PerSecond),
        ("read", Better::Higher, MetricUnit::BytesPerSecond),
        ("written", Better::Higher, MetricUnit::BytesPerSecond),
        ("create", Better::Higher, MetricUnit::PerSecond),
        ("deliver", Better::Higher, MetricUnit::PerSecond),
        ("create.p50", Better::Lower, MetricUnit::Nanoseconds),
        ("read.p99", Better::Lower, MetricUnit::Nanoseconds),
        ("delete.p99.9", Better::Lower, MetricUnit::Nanoseconds),
        ("stat.max", Better::Lower, MetricUnit::Nanoseconds),
        ("cpu", Better::Lower, MetricUnit::Nanoseconds),
        ("messages", Better::Lower, MetricUnit::PerTransaction),
    ] {
        let metric: Metric = word.parse().unwrap();
        assert_eq!(metric.to_string(), word);
        assert_eq!((metric.better(), metric.unit()), (better, unit), "{word}");
        let json = serde_json::to_string(&metric).unwrap();
        assert_eq!(json, format!("\"{word}\""));
        assert_eq!(serde_json::from_str::<Metric>(&json).unwrap(), metric);
    }
}

#[test]
fn unknown_metrics_are_refused_with_a_list() {
    for word in [
        "",
        "speed",
        "create.",
        "create.p98",
        "p99",
        "nothing",
        "nothing.p99",
        "cpu.p99",
        "transactions.p99",
    ] {
        let told = word.parse::<Metric>().unwrap_err().to_string();
        told.begins_with(&format!("unknown metric '{word}' (use transactions,"));
        told.shows("create").shows("p99.9");
    }
}

proptest! {
    #[test]
    fn any_parsed_metric_prints_its_name(word in ".{0,20}") {
        if let Ok(metric) = word.parse::<Metric>() {
            prop_assert_eq!(metric.to_string(), word.trim());
        }
    }
}
