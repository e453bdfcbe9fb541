//! Types that serialise as the text they display and parse.

/// Lets serde write a type as its text and read it back: for `#[serde(try_from = "String", into =
/// "String")]`.
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
