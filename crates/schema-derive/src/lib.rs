//! See the crate `schema`, which exports this macro where no schema is made.

use proc_macro::TokenStream;

/// Accepts the attributes of schemars and expands to nothing.
#[proc_macro_derive(JsonSchema, attributes(schemars))]
pub fn derive_nothing(_: TokenStream) -> TokenStream {
    TokenStream::new()
}
