//! Records, and parts of records, in messages between ranks. A record is sent as JSON text, which
//! only this crate writes and reads. Otherwise each crate that sends records would contain
//! serialization code for all types in a record.

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::ranks::ObserverRecord;
use crate::run::{PhaseRecord, Record};

/// A record, or a part of one, in a message between ranks.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "T: AsText")]
pub struct Sent<T>(#[serde(with = "self")] pub T);

/// A record, or a part of one, that ranks send to each other as JSON text.
pub trait AsText: Sized {
    /// Converts the value to text.
    ///
    /// # Errors
    /// Returns an error if JSON cannot represent the value.
    fn to_text(&self) -> serde_json::Result<String>;

    /// Converts a text to the value.
    ///
    /// # Errors
    /// Returns an error if the text is not JSON, or has another type.
    fn from_text(text: &str) -> serde_json::Result<Self>;
}

macro_rules! as_text {
    ($($of:ty),*) => {
        $(impl AsText for $of {
            fn to_text(&self) -> serde_json::Result<String> {
                serde_json::to_string(self)
            }

            fn from_text(text: &str) -> serde_json::Result<Self> {
                serde_json::from_str(text)
            }
        })*
    };
}

as_text!(
    Box<Record>,
    Record,
    Option<PhaseRecord>,
    Vec<ObserverRecord>
);

/// Writes a value as text; a field of a message uses `#[serde(with = "record::sent")]`.
///
/// # Errors
/// Returns the errors of [`AsText::to_text`] and of the serializer.
pub fn serialize<T: AsText, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&value.to_text().map_err(S::Error::custom)?)
}

/// Reads a value that [`serialize`] has written.
///
/// # Errors
/// Returns the errors of [`AsText::from_text`] and of the deserializer.
pub fn deserialize<'de, T: AsText, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    T::from_text(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}
