//! JSON schemas of types whose JSON form differs from their Rust type.

use std::borrow::Cow;

use clap::ValueEnum as _;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::EngineName;

impl JsonSchema for EngineName {
    fn schema_name() -> Cow<'static, str> {
        "EngineName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let variants: Vec<Schema> = EngineName::value_variants()
            .iter()
            .map(|engine| {
                json_schema!({
                    "description": format!("{}.", engine.help),
                    "type": "string",
                    "const": engine.name(),
                })
            })
            .collect();
        json_schema!({
            "description": "Interface for file operations.",
            "oneOf": variants,
        })
    }
}
