//! `docs/schema/run-1.json` is the JSON Schema (draft 2020-12) of a run as JSON. The schema is
//! generated from the Rust types of a record and its summary. Doc comments of these types become
//! descriptions in the schema.

use record::run::SCHEMA_VERSION;
use schema::Schema;
use schema::generate::SchemaSettings;
use schema::transform::RecursiveTransform;
use serde_json::Value;
use verdict::WrittenRun;

const PUBLISHED: &str = include_str!("../../../../docs/schema/run-1.json");

/// The schema of the output of `postmark run --format json`, as JSON.
fn document() -> String {
    let settings = SchemaSettings::draft2020_12()
        .for_serialize()
        .with_transform(RecursiveTransform(describe_plainly));
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<WrittenRun<'static>>();
    let id = format!("urn:postmark:run:{SCHEMA_VERSION}");
    schema.insert("$id".to_owned(), id.into());
    serde_json::to_string_pretty(&schema).unwrap() + "\n"
}

/// Removes from a description what makes sense only in documentation of code: links, and line
/// breaks within a paragraph.
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

#[test]
fn published_schema_matches_the_types() {
    let text = document();
    if std::env::var_os("POSTMARK_WRITE_GOLDEN").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/run-1.json");
        std::fs::write(path, &text).unwrap();
    }
    assert_eq!(text, PUBLISHED, "docs/schema/run-1.json");
    let schema: Value = serde_json::from_str(PUBLISHED).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    let draft = "https://json-schema.org/draft/2020-12/schema";
    assert_eq!(schema["$schema"], draft);
    assert_eq!(schema["$id"], "urn:postmark:run:1");
}
