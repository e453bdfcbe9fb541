//! The JSON schemas of types that are written in another form than they have in memory.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::histogram::{Histogram, WrittenHistogram};
use crate::slices::{Slice, Slices, WrittenSlices};
use crate::sparse::{SparseHistogram, WrittenSparse};

impl JsonSchema for Histogram {
    fn schema_name() -> Cow<'static, str> {
        "Histogram".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        WrittenHistogram::json_schema(generator)
    }
}

impl JsonSchema for SparseHistogram {
    fn schema_name() -> Cow<'static, str> {
        "SparseHistogram".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        WrittenSparse::<String>::json_schema(generator)
    }
}

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
