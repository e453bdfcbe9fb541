//! `docs/schema/run-1.json` is the JSON Schema (draft 2020-12) of a run as JSON, and `crash-1.json`
//! beside it that of the result of crash rounds. The schemas are generated from the Rust types.
//! Doc comments of these types become descriptions in the schemas.

use std::path::Path;

use record::run::SCHEMA_VERSION;
use rundir::{CRASH_SCHEMA, CrashReport};
use schema::JsonSchema;
use schema::Schema;
use schema::generate::SchemaSettings;
use schema::transform::RecursiveTransform;
use serde_json::Value;
use verdict::WrittenRun;

/// The schema of the documents of a type, as JSON.
fn document<T: JsonSchema>(kind: &str, version: u32) -> String {
    let settings = SchemaSettings::draft2020_12()
        .for_serialize()
        .with_transform(RecursiveTransform(describe_plainly));
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    let id = format!("urn:postmark:{kind}:{version}");
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

/// Compares a published schema with the types, or writes it.
fn check(text: &str, kind: &str, version: u32) {
    let name = format!("{kind}-{version}.json");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
    let path = path.join(&name);
    if std::env::var_os("POSTMARK_WRITE_GOLDEN").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let published = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, published, "docs/schema/{name}");
    let schema: Value = serde_json::from_str(&published).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    let draft = "https://json-schema.org/draft/2020-12/schema";
    assert_eq!(schema["$schema"], draft);
    assert_eq!(schema["$id"], format!("urn:postmark:{kind}:{version}"));
}

#[test]
fn published_schema_matches_the_types() {
    let version = SCHEMA_VERSION;
    let text = document::<WrittenRun<'static>>("run", version);
    check(&text, "run", version);
    let text = document::<CrashReport>("crash", CRASH_SCHEMA);
    check(&text, "crash", CRASH_SCHEMA);
}
