//! Serialisation of types in their text form.

/// Implements the conversions that serde needs to serialise a type in its text form:
/// `#[serde(try_from = "String", into = "String")]`.
macro_rules! text_form {
    ($type:ty) => {
        impl From<$type> for String {
            fn from(value: $type) -> Self {
                value.to_string()
            }
        }

        impl TryFrom<String> for $type {
            type Error = crate::WorkloadError;

            fn try_from(text: String) -> Result<Self, crate::WorkloadError> {
                text.parse()
            }
        }
    };
}
