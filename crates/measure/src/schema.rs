//! The JSON schemas of types that are written in another form than they have in memory.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::slices::{Slice, Slices, WrittenSlices};

impl<K: JsonSchema, M: JsonSchema> JsonSchema for Slices<K, M> {
    fn schema_name() -> Cow<'static, str> {
        format!("Slices_of_{}_by_{}", M::schema_name(), K::schema_name()).into()
    }

    fn schema_id() -> Cow<'static, str> {
        format!("Slices<{}, {}>", K::schema_id(), M::schema_id()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        WrittenSlices::<Slice<K, M>>::json_schema(generator)
    }
}
