//! Reading records, which are data of others and not trusted: how much is read, what makes a
//! record, and what is wrong with one that is none.
//!
//! It goes over the text twice. The first time nothing is kept: the text is counted, against limits
//! that no run comes near and that bound the memory that reading takes. The second time it becomes
//! a [`Record`], whose numbers are then held against one another (`valid.rs`), so that whoever goes
//! on with it may add, subtract and divide them.

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

/// The longest text that is read, in bytes: five times what a run of a day with 64 workers writes.
pub const BYTES_MAX: usize = 256 << 20;
/// The longest string in it, in bytes. The longest that a run writes is a histogram of sizes with
/// [`workload::sizes::BINS_MAX`] bins, below 3 MB.
pub const STRING_BYTES_MAX: usize = 4 << 20;
/// The most memory that what is read may come to, in bytes, beside the text and its strings. What
/// is in a text is weighed: each value and each bucket at the most that any takes, with what
/// growing lists leave behind, and what takes more than its values do apart. A run of a day with 64
/// workers weighs a quarter of it.
pub const MEMORY_BYTES_MAX: u64 = 1 << 30;

/// The most that a value takes: a short string in a list that grows.
const VALUE_BYTES: u64 = 80;
/// Of the values in a list of buckets: a pair is three.
const BUCKET_VALUE_BYTES: u64 = 12;
/// What a location takes beside its values, most of which may be left out: three times its size,
/// while the list grows.
const LOCATION_BYTES: u64 = 3 * size_of::<LocationRecord>() as u64;
/// The same of a phase, whose slices have a place each from the first to the last.
const PHASE_BYTES: u64 = 3 * size_of::<PhaseRecord>() as u64 + SLICES_MAX as u64 * SLICE_BYTES;
const SLICE_BYTES: u64 = size_of::<BTreeMap<(Role, Action), SliceMeter>>() as u64;

/// Of a problem no more characters are told: a part of it is what was read.
const TOLD_MAX: usize = 300;

/// A record cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// It is no JSON, or not of this schema.
    #[error("this is not a record of a PostMark run: {}{why}", at(.field))]
    NoRecord {
        /// The place in the record, as far as it was understood; `.` where that is nowhere.
        field: String,
        /// What is wrong, with line and column.
        why: String,
    },
    /// It comes from a newer program.
    #[error(
        "the record has schema version {found}, and this program reads versions up to \
         {SCHEMA_VERSION} (use a newer postmark)"
    )]
    Newer {
        /// The schema's version in the record.
        found: u64,
    },
    /// Versions begin at 1.
    #[error("the record has schema version 0, which does not exist")]
    NoVersion,
    /// It is longer than any record.
    #[error("this is not a record of a PostMark run: it has {found} bytes (at most {BYTES_MAX})")]
    TooLong {
        /// Bytes of the text.
        found: usize,
    },
    /// Its numbers contradict one another, or are none that a run can have.
    #[error("the record is inconsistent: {field}: {why}")]
    Impossible {
        /// The place in the record.
        field: String,
        /// What is wrong.
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

/// A record from its JSON. The summary beside it is not read: it follows from the record.
pub(crate) fn from_json(text: &str) -> Result<Record, ReadError> {
    let ReadRun { record } = read(text)?;
    valid::check(&record).map_err(|valid::Wrong { field, why }| ReadError::Impossible {
        field: format!("record.{field}"),
        why: told(&why),
    })?;
    Ok(record)
}

/// A part of a record from its JSON. Its numbers are held against one another when the record is
/// put together and read again.
pub(crate) fn part_from_json(text: &str) -> Result<Completed, ReadError> {
    read(text)
}

/// What a text within the limits says, or the place that is wrong.
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

/// Whether a text keeps the limits.
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

/// What is wrong with the text as a whole.
pub fn no_record(error: &serde_json::Error) -> ReadError {
    ReadError::NoRecord {
        field: ".".to_owned(),
        why: told(&error.to_string()),
    }
}

/// Harmless, and the beginning and the end of what is long.
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

/// How much there is in a text.
#[derive(Default)]
struct Census {
    /// What it comes to, in bytes of memory.
    memory_bytes: u64,
    /// The name of the field that comes next, or of the list that its elements are in.
    name: Name,
    /// How many lists and objects are open.
    depth: u32,
    /// Whether what is open is the record itself.
    is_record: bool,
    /// Whether what is open is the summary beside the record, or in it.
    is_summary: bool,
    /// The version that the record says it has.
    schema: Option<u64>,
}

impl Census {
    /// Nothing, or what there is too much of.
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

/// Any value; a whole number is told.
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
            // A summary is at most a value as JSON: its names mean nothing.
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

/// The names of fields that are looked at.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum Name {
    Record,
    Summary,
    Schema,
    /// What a histogram has that is not packed.
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
    fn the_schema_is_that_of_the_record() {
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
    fn what_there_is_is_counted() {
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
    fn what_there_is_too_much_of_is_told() {
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

    /// The longest sweep, of writers and readers that do everything, with service times and the
    /// steps of each operation.
    #[test]
    fn the_largest_record_that_a_run_writes_is_read() {
        /// Of one histogram: every bucket of an octave.
        const BUCKETS: u64 = 128;
        /// Of one operation; the most that a storage has.
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
        // A closed loop before the steps, and halvings for the limit and for the SLO. Each has a
        // warm-up and what is measured.
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
        // Too little would tell nothing.
        assert!(
            memory_bytes > MEMORY_BYTES_MAX / 2,
            "{memory_bytes} bytes of memory"
        );
    }

    #[test]
    fn problems_are_short_and_harmless() {
        assert_eq!(told("a\u{1b}b"), "a\\x1bb");
        let long = told(&("begin ".to_owned() + &"é".repeat(1_000) + " end"));
        assert!(
            long.starts_with("begin é") && long.ends_with("é end") && long.contains(" … "),
            "{long}"
        );
        assert_eq!(long.chars().count(), TOLD_MAX + 3);
    }
}
