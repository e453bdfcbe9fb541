//! The summary in a file against the derived one, field by field, while the file is parsed.

use std::collections::BTreeSet;
use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};

use crate::summary::Summary;
use record::read;

/// No more differences are kept; the others are counted.
pub const DIFFERENCES_MAX: usize = 20;

/// A field that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Difference {
    /// Its JSON path.
    pub path: String,
    /// What the file has there, as JSON that may be shortened; nothing where it has no such field.
    pub file: Option<String>,
    /// What was derived, likewise; nothing where there is no such field.
    pub derived: Option<String>,
}

/// The fields that differ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Differences {
    /// The first [`DIFFERENCES_MAX`], in the order of the file.
    pub first: Vec<Difference>,
    /// How many more there are.
    pub more: u64,
}

impl Differences {
    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.first.is_empty()
    }
}

/// Of a run as JSON. A summary that the file lacks is a difference.
pub(super) fn of(text: &str, summary: &Summary) -> Result<Differences, serde_json::Error> {
    // Maps have string keys: it has a value.
    let derived = serde_json::to_value(summary)?;
    let mut found = Comparison {
        path: String::new(),
        differences: Differences::default(),
    };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let document = Fields {
        derived: &[(SUMMARY, &derived)],
        is_document: true,
        found: &mut found,
    };
    deserializer.deserialize_map(document)?;
    Ok(found.differences)
}

/// The one field of the document that is compared.
const SUMMARY: &str = "summary";

struct Comparison {
    /// Of what is being compared.
    path: String,
    differences: Differences,
}

impl Comparison {
    fn differs(&mut self, file: Option<&str>, derived: Option<&Value>) {
        if self.differences.first.len() == DIFFERENCES_MAX {
            self.differences.more += 1;
            return;
        }
        self.differences.first.push(Difference {
            path: read::told(&self.path),
            file: file.map(read::told),
            derived: derived.map(|derived| read::told(&derived.to_string())),
        });
    }

    fn scalar(&mut self, file: &Value, derived: Option<&Value>) {
        let is_same = match (file, derived) {
            (Value::Number(file), Some(Value::Number(derived))) => is_same(file, derived),
            (file, Some(derived)) => file == derived,
            (_, None) => false,
        };
        if !is_same {
            self.differs(Some(&file.to_string()), derived);
        }
    }

    /// Does something with a field or an element.
    fn within<T>(&mut self, part: &str, act: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        self.path.push_str(part);
        let done = act(self);
        self.path.truncate(length);
        done
    }
}

/// The name of a field in a path.
fn field(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!(".{name}")
    }
}

/// Whether two numbers are one: whole ones exactly, and others however they were printed.
fn is_same(file: &Number, derived: &Number) -> bool {
    if file == derived {
        return true;
    }
    let is_whole = |number: &Number| number.is_u64() || number.is_i64();
    match (file.as_f64(), derived.as_f64()) {
        // 5.0 for 5, but no whole number that is rounded on the way.
        (Some(file_number), Some(derived_number)) if !(is_whole(file) && is_whole(derived)) => {
            let is_exact =
                |number: &Number, float: f64| !is_whole(number) || float.abs() < EXACT_BELOW;
            file_number == derived_number
                && is_exact(file, file_number)
                && is_exact(derived, derived_number)
        }
        _ => false,
    }
}

/// Whole numbers below it are exact as 64-bit floats.
const EXACT_BELOW: f64 = (1_u64 << 53) as f64;

/// A value of the file, against what was derived in its place.
struct Compared<'a> {
    derived: Option<&'a Value>,
    found: &'a mut Comparison,
}

impl<'de> DeserializeSeed<'de> for Compared<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Compared<'_> {
    fn scalar(self, file: impl Into<Value>) {
        self.found.scalar(&file.into(), self.derived);
    }
}

impl<'de> Visitor<'de> for Compared<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.scalar(Value::Null);
        Ok(())
    }

    fn visit_bool<E: Error>(self, truth: bool) -> Result<(), E> {
        self.scalar(truth);
        Ok(())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        self.scalar(number);
        Ok(())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        self.scalar(number);
        Ok(())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        self.scalar(number);
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.scalar(text);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self { derived, found } = self;
        let Some(Value::Array(elements)) = derived else {
            found.differs(Some("[…]"), derived);
            while list.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(());
        };
        let mut length = 0;
        loop {
            let part = format!("[{length}]");
            let derived = elements.get(length);
            let next = found.within(&part, |found| {
                list.next_element_seed(Compared { derived, found })
            })?;
            if next.is_none() {
                break;
            }
            length += 1;
        }
        for (index, element) in elements.iter().enumerate().skip(length) {
            found.within(&format!("[{index}]"), |found| {
                found.differs(None, Some(element))
            });
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        let Self { derived, found } = self;
        let Some(Value::Object(fields)) = derived else {
            found.differs(Some("{…}"), derived);
            while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return Ok(());
        };
        let derived: Vec<(&str, &Value)> = fields
            .iter()
            .map(|(name, value)| (name.as_str(), value))
            .collect();
        Fields {
            derived: &derived,
            is_document: false,
            found,
        }
        .visit_map(object)
    }
}

/// The fields of an object, against those that were derived.
struct Fields<'a> {
    derived: &'a [(&'a str, &'a Value)],
    /// Other fields belong to others.
    is_document: bool,
    found: &'a mut Comparison,
}

impl<'de> Visitor<'de> for Fields<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        let Self {
            derived,
            is_document,
            found,
        } = self;
        let mut seen = BTreeSet::new();
        while let Some(name) = object.next_key::<String>()? {
            let known = derived.iter().find(|(known, _)| *known == name);
            if known.is_none() && is_document {
                object.next_value::<IgnoredAny>()?;
                continue;
            }
            seen.extend(known.map(|(known, _)| *known));
            let derived = known.map(|(_, value)| *value);
            let part = field(&found.path, &name);
            found.within(&part, |found| {
                object.next_value_seed(Compared { derived, found })
            })?;
        }
        for (name, value) in derived.iter().filter(|(name, _)| !seen.contains(name)) {
            let part = field(&found.path, name);
            found.within(&part, |found| found.differs(None, Some(value)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn compared(file: &str, derived: &Value) -> Vec<(String, Option<String>, Option<String>)> {
        let mut found = Comparison {
            path: String::new(),
            differences: Differences::default(),
        };
        let derived = Some(derived);
        let found_by = Compared {
            derived,
            found: &mut found,
        };
        found_by
            .deserialize(&mut serde_json::Deserializer::from_str(file))
            .unwrap();
        let first = found.differences.first.into_iter();
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
            assert_eq!(compared(&file, &derived), [], "{file}");
        }
    }

    #[test]
    fn every_difference_is_told_with_its_path() {
        let derived = json!({"a": [1, 2, 3], "b": {"c": "x"}, "d": 9007199254740993_u64, "e": null,
            "f": {"g": 1}});
        let file =
            r#"{"a":[1,5],"b":[7],"d":9007199254740992.0,"e":0,"f":{"g":1,"g":2,"h":{"i":1}}}"#;
        let told = |path: &str, file: Option<&str>, derived: Option<&str>| {
            (
                path.to_owned(),
                file.map(str::to_owned),
                derived.map(str::to_owned),
            )
        };
        assert_eq!(
            compared(file, &derived),
            [
                told("a[1]", Some("5"), Some("2")),
                told("a[2]", None, Some("3")),
                told("b", Some("[…]"), Some(r#"{"c":"x"}"#)),
                told("d", Some("9007199254740992.0"), Some("9007199254740993")),
                told("e", Some("0"), Some("null")),
                told("f.g", Some("2"), Some("1")),
                told("f.h", Some("{…}"), None),
            ]
        );
    }

    #[test]
    fn many_differences_are_counted() {
        let mut found = Comparison {
            path: String::new(),
            differences: Differences::default(),
        };
        (0..DIFFERENCES_MAX + 5).for_each(|_| found.differs(None, None));
        assert_eq!(found.differences.first.len(), DIFFERENCES_MAX);
        assert_eq!(found.differences.more, 5);
    }
}
