//! The JSON schemas of types whose JSON form differs from their fields.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::slices::{Slice, Slices, WrittenSlices};

impl<K: JsonSchema> JsonSchema for Slices<K> {
    fn schema_name() -> Cow<'static, str> {
        format!("Slices_of_SliceMeter_by_{}", K::schema_name()).into()
    }

    fn schema_id() -> Cow<'static, str> {
        format!("Slices<{}>", K::schema_id()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        WrittenSlices::<Slice<K>>::json_schema(generator)
    }
}
