//! Compares the summary in a file with the derived summary, field by field.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::values;
use crate::summary::Summary;
use record::read;

/// Maximum number of differences that are listed. Further differences are only counted.
pub const DIFFERENCES_MAX: usize = 20;

/// A field in which the summary in the file differs from the derived summary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Difference {
    /// JSON path of the field, such as `summary.verdict.level`.
    pub path: String,
    /// Value in the file as JSON, which may be shortened; null if the file lacks the field.
    pub file: Option<String>,
    /// Derived value as JSON, which may be shortened; null if the derived summary lacks the field.
    pub derived: Option<String>,
}

/// The fields in which the summary in the file differs from the derived summary.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Differences {
    /// The first [`DIFFERENCES_MAX`] differences.
    pub first: Vec<Difference>,
    /// Number of differences that `first` omits.
    pub more: u64,
}

impl Differences {
    pub fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    fn add(&mut self, path: &str, file: Option<&Value>, derived: Option<&Value>) {
        if self.first.len() == DIFFERENCES_MAX {
            self.more += 1;
            return;
        }
        let told = |value: Option<&Value>| value.map(|value| read::told(&value.to_string()));
        self.first.push(Difference {
            path: read::told(path),
            file: told(file),
            derived: told(derived),
        });
    }
}

#[derive(Deserialize)]
struct Document {
    summary: Option<Value>,
}

/// Compares the summary in a run's JSON with the derived summary. A missing summary is a
/// difference.
pub(super) fn of(text: &str, summary: &Summary) -> Result<Differences, serde_json::Error> {
    let Document { summary: file } = serde_json::from_str(text)?;
    Ok(compared(file.as_ref(), &serde_json::to_value(summary)?))
}

fn compared(file: Option<&Value>, derived: &Value) -> Differences {
    let mut found = Differences::default();
    values::compare(
        "summary",
        file,
        Some(derived),
        &mut |path, file, derived| {
            found.add(path, file, derived);
        },
    );
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    type Told = (String, Option<String>, Option<String>);

    fn differences(file: &str, derived: &Value) -> Vec<Told> {
        let file = serde_json::from_str(file).unwrap();
        let first = compared(Some(&file), derived).first.into_iter();
        first.map(|one| (one.path, one.file, one.derived)).collect()
    }

    #[test]
    fn equal_values_do_not_differ_however_they_are_printed() {
        let derived = json!({"a": [1, -2, 0.1, null], "b": {"c": "x", "d": true}, "e": 5.0, "f": 5,
            "g": u64::MAX});
        for file in [
            derived.to_string(),
            r#"{"g":18446744073709551615, "f":5.0,"e":5,
                "b":{"d":true,"c":"\u0078"},"a":[1e0,-2,1.0e-1,null]}"#
                .to_owned(),
        ] {
            assert_eq!(differences(&file, &derived), [], "{file}");
        }
    }

    #[test]
    fn every_difference_is_reported_with_its_path() {
        let derived = json!({"a": [1, 2, 3], "b": {"c": "x"}, "d": 9007199254740993_u64, "e": null,
            "f": {"g": 1}});
        let file = r#"{"a":[1,5],"b":[7],"d":9007199254740992.0,"e":0,"f":{"g":2,"h":{"i":1}}}"#;
        let told = |path: &str, file: Option<&str>, derived: Option<&str>| {
            (
                path.to_owned(),
                file.map(str::to_owned),
                derived.map(str::to_owned),
            )
        };
        assert_eq!(
            differences(file, &derived),
            [
                told("summary.a[1]", Some("5"), Some("2")),
                told("summary.a[2]", None, Some("3")),
                told("summary.b", Some("[7]"), Some(r#"{"c":"x"}"#)),
                told(
                    "summary.d",
                    Some("9007199254740992.0"),
                    Some("9007199254740993")
                ),
                told("summary.e", Some("0"), Some("null")),
                told("summary.f.g", Some("2"), Some("1")),
                told("summary.f.h", Some(r#"{"i":1}"#), None),
            ]
        );
    }

    #[test]
    fn differences_beyond_the_maximum_are_only_counted() {
        let mut differences = Differences::default();
        (0..DIFFERENCES_MAX + 5).for_each(|_| differences.add("", None, None));
        assert_eq!(differences.first.len(), DIFFERENCES_MAX);
        assert_eq!(differences.more, 5);
    }
}
