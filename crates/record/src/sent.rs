//! Records, and parts of them, as messages between ranks: as text, which this crate writes and
//! reads. Otherwise each crate that sends one would have the code for all of their types again.

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::ranks::ObserverRecord;
use crate::run::{PhaseRecord, Record};

/// A record or a part of one on its way between ranks.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "T: AsText")]
pub struct Sent<T>(#[serde(with = "self")] pub T);

/// What is sent as text.
pub trait AsText: Sized {
    /// The text.
    ///
    /// # Errors
    /// Where a value is none that JSON has.
    fn to_text(&self) -> serde_json::Result<String>;

    /// The value of a text.
    ///
    /// # Errors
    /// Where the text is no JSON, or of something else.
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

/// Writes a value as text: a field of a message says `#[serde(with = "record::sent")]`.
///
/// # Errors
/// As those of [`AsText::to_text`], and of the serializer.
pub fn serialize<T: AsText, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&value.to_text().map_err(S::Error::custom)?)
}

/// Reads what [`serialize`] has written.
///
/// # Errors
/// As those of [`AsText::from_text`], and of the deserializer.
pub fn deserialize<'de, T: AsText, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    T::from_text(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}
