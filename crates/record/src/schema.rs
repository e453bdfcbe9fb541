//! The JSON Schema (draft 2020-12) of a run as JSON, made of the types that are written: what they
//! say of themselves is its descriptions.
//!
//! `docs/schema/run-1.json` is what this gives; a test compares the two.

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use serde_json::Value;

use crate::json::WrittenRun;
use crate::run::SCHEMA_VERSION;

/// The schema of what `postmark run --format json` writes, as JSON.
pub fn document() -> String {
    let settings = SchemaSettings::draft2020_12()
        .for_serialize()
        .with_transform(RecursiveTransform(describe_plainly));
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<WrittenRun<'static>>();
    schema.insert(
        "$id".to_owned(),
        format!("urn:postmark:run:{SCHEMA_VERSION}").into(),
    );
    // Maps have string keys and numbers are finite: writing to memory cannot fail.
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}

/// Takes out of a description what only documentation of code has: links, and ends of lines within
/// a paragraph.
fn describe_plainly(schema: &mut Schema) {
    if let Some(Value::String(description)) = schema.get_mut("description") {
        let paragraphs: Vec<String> = description
            .split("\n\n")
            .map(|text| text.replace('\n', " "))
            .collect();
        *description = paragraphs
            .join("\n\n")
            .replace("[`crate::", "`")
            .replace("[`", "`")
            .replace("`]", "`");
    }
}
