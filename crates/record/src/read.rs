//! Reads records from texts that are not trusted, because they may come from other machines. The
//! module contains the limits, the checks, and the error messages.
//!
//! The text is read twice. The first pass stores nothing, and checks limits on the memory that the
//! second pass needs. The limits are far above the needs of any run. The second pass creates a
//! [`Record`] and checks its numbers (`valid.rs`). Later code may therefore add, subtract and
//! divide these numbers without overflow.

mod valid;

use std::collections::BTreeMap;
use std::fmt;

use measure::{SLICES_MAX, SliceMeter};
use serde::Deserialize;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor,
};
use workload::{Action, Role};

use crate::partial_record::Completed;
use crate::run::{LocationRecord, PhaseRecord, Record, SCHEMA_VERSION};
use document::sanitize;

/// Maximum length of a text, in bytes: six times the length of the record of a day-long run with
/// 64 workers.
pub const BYTES_MAX: usize = 320 << 20;
/// Maximum length of a string in the text, in bytes. The longest string that a run writes is a
/// histogram of sizes with [`workload::sizes::BINS_MAX`] bins, below 3 MB.
pub const STRING_BYTES_MAX: usize = 4 << 20;
/// Maximum estimated memory of a record, in bytes, without the text and its strings. The estimate
/// counts each value with the largest size of its kind, and adds fixed sizes for locations and
/// phases. The record of a day-long run with 64 workers needs a quarter of this limit.
pub const MEMORY_BYTES_MAX: u64 = 1 << 30;

/// Estimated memory of a value, in bytes. The largest kind of value is a short string in a growing
/// list.
const VALUE_BYTES: u64 = 80;
/// Estimated memory of a value in a list of buckets, in bytes. A pair of numbers counts as three
/// values: the list and the two numbers.
const BUCKET_VALUE_BYTES: u64 = 12;
/// Estimated memory of a location besides its values, in bytes. A location has its full size even
/// if most of its values are absent. A growing list needs up to three times this size.
const LOCATION_BYTES: u64 = 3 * size_of::<LocationRecord>() as u64;
/// Estimated memory of a phase besides its values, in bytes. A phase can have up to `SLICES_MAX`
/// slices. Each slice needs `SLICE_BYTES`, even if it is empty.
const PHASE_BYTES: u64 = 3 * size_of::<PhaseRecord>() as u64 + SLICES_MAX as u64 * SLICE_BYTES;
const SLICE_BYTES: u64 = size_of::<BTreeMap<(Role, Action), SliceMeter>>() as u64;

/// Maximum number of characters in an error message. Messages quote the text that was read, which
/// can be long.
const TOLD_MAX: usize = 300;

/// Reason why a text is rejected as a record: its form, its version, its length or its numbers.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The text is not JSON, or does not match the schema.
    #[error("this is not a record of a PostMark run: {}{why}", at(.field))]
    NoRecord {
        /// Path of the field, up to the last name that was parsed; `.` if no name was parsed.
        field: String,
        /// Description of the error, with line and column.
        why: String,
    },
    /// The record was written by a newer program.
    #[error(
        "the record has schema version {found}, and this program reads versions up to \
         {SCHEMA_VERSION} (use a newer postmark)"
    )]
    Newer {
        /// Version of the schema in the record, above [`SCHEMA_VERSION`].
        found: u64,
    },
    /// The schema has version 0; versions begin at 1.
    #[error("the record has schema version 0, which does not exist")]
    NoVersion,
    /// The text is longer than [`BYTES_MAX`].
    #[error("this is not a record of a PostMark run: it has {found} bytes (at most {BYTES_MAX})")]
    TooLong {
        /// Length of the text that was given, in bytes.
        found: usize,
    },
    /// The numbers contradict each other, or cannot occur in a run.
    #[error("the record is inconsistent: {field}: {why}")]
    Impossible {
        /// Path of the field, such as `record.spec.workload`.
        field: String,
        /// The contradiction, such as `5.0 is not from 0.0 to 1.0`.
        why: String,
    },
}

fn at(field: &str) -> String {
    if field == "." {
        String::new()
    } else {
        format!("{field}: ")
    }
}

#[derive(Deserialize)]
struct ReadRun {
    record: Record,
}

/// Reads a record from its JSON. A summary in the same JSON document is ignored, because it can be
/// computed from the record.
pub(crate) fn from_json(text: &str) -> Result<Record, ReadError> {
    let ReadRun { record } = read(text)?;
    valid::check(&record).map_err(|valid::Wrong { field, why }| ReadError::Impossible {
        field: format!("record.{field}"),
        why: told(&why),
    })?;
    Ok(record)
}

/// Reads a part of a record from JSON. The numbers of the part are checked when the joined record
/// is read.
pub(crate) fn part_from_json(text: &str) -> Result<Completed, ReadError> {
    read(text)
}

/// Checks the limits of a text, and parses it. An error contains the path of the invalid field.
fn read<T: DeserializeOwned>(text: &str) -> Result<T, ReadError> {
    count(text)?;
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let read = serde_path_to_error::deserialize(&mut deserializer).map_err(|placed| {
        ReadError::NoRecord {
            field: told(&placed.path().to_string()),
            why: told(&placed.inner().to_string()),
        }
    })?;
    deserializer.end().map_err(|error| no_record(&error))?;
    Ok(read)
}

/// Checks the limits of a text, and the version of its schema.
fn count(text: &str) -> Result<(), ReadError> {
    if text.len() > BYTES_MAX {
        return Err(ReadError::TooLong { found: text.len() });
    }
    let mut census = Census::default();
    let counted = census.count(text);
    if let Some(found) = census
        .schema
        .filter(|schema| *schema > u64::from(SCHEMA_VERSION))
    {
        return Err(ReadError::Newer { found });
    }
    if census.schema == Some(0) {
        return Err(ReadError::NoVersion);
    }
    counted.map_err(|error| no_record(&error))
}

/// Converts a JSON error that belongs to no field.
pub fn no_record(error: &serde_json::Error) -> ReadError {
    ReadError::NoRecord {
        field: ".".to_owned(),
        why: told(&error.to_string()),
    }
}

/// Sanitizes an error message. If it is too long, only its beginning and its end are kept.
pub fn told(problem: &str) -> String {
    let shown = sanitize::sanitize(problem);
    let length = shown.chars().count();
    if length <= TOLD_MAX {
        return shown.into_owned();
    }
    let half = TOLD_MAX / 2;
    let (begin, end) = (shown.chars().take(half), shown.chars().skip(length - half));
    begin.chain(" … ".chars()).chain(end).collect()
}

/// Checks the limits of a text while it is parsed, without storing its contents.
#[derive(Default)]
struct Census {
    /// Estimated memory of the values that are already parsed, in bytes.
    memory_bytes: u64,
    /// Name of the field whose value is parsed next, or of the list that contains the next element.
    name: Name,
    /// Number of open lists and objects.
    depth: u32,
    /// Whether the next object is the record itself, as opposed to an object inside the record.
    is_record: bool,
    /// Whether the next value is the summary, or a part of the summary.
    is_summary: bool,
    /// Version of the schema that the record states.
    schema: Option<u64>,
}

impl Census {
    /// Parses the whole text. Returns an error if the text exceeds a limit of this module, such as
    /// [`MEMORY_BYTES_MAX`].
    fn count(&mut self, text: &str) -> Result<(), serde_json::Error> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        Value(self).deserialize(&mut deserializer)?;
        deserializer.end()
    }

    fn weigh<E: Error>(&mut self, bytes: u64) -> Result<(), E> {
        self.memory_bytes += bytes;
        if self.memory_bytes > MEMORY_BYTES_MAX {
            return Err(E::custom(format!(
                "its contents need more than {} MiB of memory",
                MEMORY_BYTES_MAX >> 20
            )));
        }
        Ok(())
    }
}

/// Parses a JSON value of any type and adds it to the census. The result is the value if it is a
/// whole number, otherwise `None`.
struct Value<'a>(&'a mut Census);

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = Option<u64>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        let bytes = match self.0.name {
            Name::Buckets => BUCKET_VALUE_BYTES,
            Name::Locations => VALUE_BYTES + LOCATION_BYTES,
            Name::Phases => VALUE_BYTES + PHASE_BYTES,
            Name::Record | Name::Schema | Name::Summary | Name::Other => VALUE_BYTES,
        };
        self.0.weigh(bytes)?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = Option<u64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Some(number))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        if text.len() > STRING_BYTES_MAX {
            return Err(E::custom(format!(
                "a string has {} bytes (at most {STRING_BYTES_MAX})",
                text.len()
            )));
        }
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        self.0.depth += 1;
        self.0.is_record = false;
        let name = self.0.name;
        while list.next_element_seed(Value(self.0))?.is_some() {
            self.0.name = name;
        }
        self.0.depth -= 1;
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        self.0.depth += 1;
        let is_document = self.0.depth == 1;
        let is_record = std::mem::take(&mut self.0.is_record);
        while let Some(name) = object.next_key::<Name>()? {
            if is_document {
                self.0.is_summary = name == Name::Summary;
            }
            // Names inside a summary are not counted specially, because a summary is not converted
            // to the types of this crate.
            self.0.name = if self.0.is_summary { Name::Other } else { name };
            self.0.is_record = is_document && name == Name::Record;
            let number = object.next_value_seed(Value(self.0))?;
            if is_record && name == Name::Schema {
                self.0.schema = number;
            }
        }
        self.0.is_record = false;
        self.0.depth -= 1;
        Ok(None)
    }
}

/// Names of fields whose values need special counting.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum Name {
    Record,
    Summary,
    Schema,
    /// The buckets of a histogram in its unpacked form.
    Buckets,
    Locations,
    Phases,
    #[default]
    #[serde(other)]
    Other,
}

#[cfg(test)]
mod tests {
    use measure::{Histogram, Meter};

    use super::*;
    use crate::run::{OperationRecord, StepRecord};
    use spec::{BISECTIONS_MAX, SWEEP_SLICES_MAX, SWEEP_STEPS_MAX};

    fn counted(text: &str) -> Result<Census, String> {
        let mut census = Census::default();
        census.count(text).map_err(|error| error.to_string())?;
        Ok(census)
    }

    #[test]
    fn schema_version_is_read_from_the_record() {
        for (text, schema) in [
            (r#"{"record":{"schema":7}}"#, Some(7)),
            (
                r#"{"summary":{"schema":1},"record":{"x":{"schema":2},"y":[1],"schema":3}}"#,
                Some(3),
            ),
            (r#"{"schema":4}"#, None),
            (r#"{"record":[{"schema":4}]}"#, None),
            (r#"[{"record":{"schema":4}}]"#, None),
            (r#"{"record":{"schema":"4"}}"#, None),
        ] {
            assert_eq!(counted(text).unwrap().schema, schema, "{text}");
        }
    }

    #[test]
    fn memory_of_values_buckets_locations_and_phases_is_estimated() {
        let weighed = |text: &str| {
            let census = counted(text).unwrap();
            assert_eq!(census.depth, 0);
            census.memory_bytes
        };
        let values = |count: u64| count * VALUE_BYTES;
        assert_eq!(
            weighed(r#"{"a":[1,-1,2.5,null,true,"x",{}],"b":{"c":1}}"#),
            values(11)
        );
        let buckets = values(2) + 7 * BUCKET_VALUE_BYTES;
        assert_eq!(weighed(r#"{"a":1,"\u0062uckets":[[1,2],[3,4]]}"#), buckets);
        assert_eq!(
            weighed(r#"{"locations":[{"a":1},{"a":1}]}"#),
            values(6) + 3 * LOCATION_BYTES
        );
        assert_eq!(
            weighed(r#"[{"phases":[{},{}],"b":[{},{}]}]"#),
            values(8) + 3 * PHASE_BYTES
        );
        assert_eq!(
            weighed(r#"{"summary":{"phases":[[1],2]},"record":{}}"#),
            values(7)
        );
        assert_eq!(weighed(r#"{"record":{"summary":[1]}}"#), values(4));
    }

    #[test]
    fn text_that_exceeds_a_limit_is_rejected() {
        let deep = "[".repeat(200) + &"]".repeat(200);
        assert!(counted(&deep).is_err_and(|error| error.contains("recursion limit")));
        let long = format!("\"{}\"", "x".repeat(STRING_BYTES_MAX + 1));
        assert!(counted(&long).is_err_and(|error| error.contains("a string has 4194305 bytes")));
        let values = format!(
            "[{}0]",
            "0,".repeat((MEMORY_BYTES_MAX / VALUE_BYTES) as usize)
        );
        assert!(
            counted(&values).is_err_and(|error| error.contains("more than 1024 MiB of memory"))
        );
        let phases = format!(
            "{{\"phases\":[{}0]}}",
            "0,".repeat((MEMORY_BYTES_MAX / PHASE_BYTES) as usize)
        );
        assert!(
            counted(&phases).is_err_and(|error| error.contains("more than 1024 MiB of memory"))
        );
    }

    /// Builds the record of the longest sweep: writers and readers perform all operations, with
    /// service times and with the calls of each operation.
    #[test]
    fn largest_record_of_a_run_is_within_the_limits() {
        /// Number of buckets of one histogram: all buckets of one power of two.
        const BUCKETS: u64 = 128;
        /// Number of calls of one operation: the maximum of all I/O engines.
        const STEPS: usize = 10;
        let mut latency = Histogram::default();
        for number in 0..BUCKETS {
            (0..1_000).for_each(|_| latency.record((1 << 20) + (number << 13)));
        }
        let step = StepRecord {
            step: "a-step-of-some-name".to_owned(),
            latency: latency.clone(),
        };
        let operation = OperationRecord {
            role: Role::Writer,
            action: Action::ListWithStat,
            meter: Meter {
                service: Some(latency.clone()),
                latency: latency.clone(),
                ..Meter::default()
            },
            steps: vec![step; STEPS],
        };
        let slice = SliceMeter {
            latency: latency.take_sparse(),
            ..SliceMeter::default()
        };
        // A sweep consists of at most one closed loop, the requested load levels, and two
        // bisections (one for the saturation rate, one for the SLO). Each of these levels has a
        // warm-up and a measured segment.
        let sweep_steps = (1 + SWEEP_STEPS_MAX + 2 * BISECTIONS_MAX) as u64;
        let operations = 2 * sweep_steps * 2 * Action::COUNT as u64;
        let (mut bytes, mut memory_bytes) = (0, sweep_steps * 3 * PHASE_BYTES);
        for (count, text) in [
            (operations, serde_json::to_string(&operation).unwrap()),
            (
                SWEEP_SLICES_MAX,
                serde_json::to_string(&[((Role::Writer, Action::ListWithStat), slice)]).unwrap(),
            ),
        ] {
            bytes += count * text.len() as u64;
            memory_bytes += count * counted(&text).unwrap().memory_bytes;
        }
        assert!(
            memory_bytes < MEMORY_BYTES_MAX,
            "{memory_bytes} bytes of memory"
        );
        assert!(bytes < BYTES_MAX as u64, "{bytes} bytes");
        // The largest record must also need more than half of the memory limit. Otherwise, the test
        // would not show that the limit is tight.
        assert!(
            memory_bytes > MEMORY_BYTES_MAX / 2,
            "{memory_bytes} bytes of memory"
        );
    }

    #[test]
    fn error_messages_are_short_and_sanitized() {
        assert_eq!(told("a\u{1b}b"), "a\\x1bb");
        let long = told(&("begin ".to_owned() + &"é".repeat(1_000) + " end"));
        assert!(
            long.starts_with("begin é") && long.ends_with("é end") && long.contains(" … "),
            "{long}"
        );
        assert_eq!(long.chars().count(), TOLD_MAX + 3);
    }
}
