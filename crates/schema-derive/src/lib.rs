//! The derive macro that the crate `schema` exports if it generates no schema.

use proc_macro::TokenStream;

/// Accepts the attributes of schemars and expands to nothing.
#[proc_macro_derive(JsonSchema, attributes(schemars))]
pub fn derive_nothing(_: TokenStream) -> TokenStream {
    TokenStream::new()
}
