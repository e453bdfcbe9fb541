//! The published JSON Schema accepts what runs wrote, and rejects documents that no run writes. A
//! test of the crate `schema` compares the schema with the types.

use jsonschema::Validator;
use record::Record;
use serde_json::{Value, json};
use testkit::Shows;

const PUBLISHED: &str = include_str!("../../../../docs/schema/run-1.json");
const GOLDEN: &str = include_str!("../../../report/tests/golden/run.json");
const KEPT: [&str; 4] = [
    include_str!("../versions/1-mix.json"),
    include_str!("../versions/1-sweep.json"),
    include_str!("../versions/1-failed.json"),
    include_str!("../versions/1-classic.json"),
];

/// Ends of the JSON pointers of summary fields that older documents of this schema version lack.
const ADDED: [&str; 8] = [
    "/summary/pool",
    "/summary/time",
    "/summary/transactions/rate_dispersion",
    "/time_fraction",
    "/machine/workers/waiting",
    "/summary/limit",
    "/is_counted",
    "/is_balanced",
];

fn validator() -> Validator {
    jsonschema::draft202012::new(&serde_json::from_str(PUBLISHED).unwrap()).unwrap()
}

/// Returns the document of a run with a classic workload, and one with a mix.
fn documents() -> [Value; 2] {
    [GOLDEN, KEPT[0]].map(|text| serde_json::from_str(text).unwrap())
}

#[test]
fn every_field_is_described_without_code() {
    fn described(name: &str, schema: &Value) {
        let text = schema["description"].as_str();
        let text = text.unwrap_or_else(|| panic!("{name} is not described"));
        for code in ["[`", "module's text", "crate::"] {
            assert!(!text.contains(code), "{name}: {text}");
        }
    }
    let schema: Value = serde_json::from_str(PUBLISHED).unwrap();
    described("the document", &schema);
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        described(name, definition);
        for (field, schema) in definition["properties"].as_object().into_iter().flatten() {
            described(&format!("{name}.{field}"), schema);
        }
    }
}

fn is_nullable(schema: &Value) -> bool {
    let is_null = |kind: &Value| kind == "null";
    let of_types = schema["type"].as_array().into_iter().flatten().any(is_null);
    of_types
        || schema["anyOf"]
            .as_array()
            .into_iter()
            .flatten()
            .any(|any| is_null(&any["type"]))
}

/// Collects the fields of a schema and of its variants. An entry contains the field's path, the
/// descriptions of the field and of its containing value, and whether the field may be null.
fn fields(place: &str, schema: &Value, found: &mut Vec<(String, String, bool)>) {
    let within = schema["description"].as_str().unwrap_or_default();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let place = format!("{place}.{name}");
        let words = format!(
            "{} {within}",
            field["description"].as_str().unwrap_or_default()
        );
        found.push((place.clone(), words, is_nullable(field)));
        fields(&place, field, found);
    }
    for (number, variant) in schema["oneOf"].as_array().into_iter().flatten().enumerate() {
        fields(&format!("{place}/{number}"), variant, found);
    }
}

#[test]
fn nullable_fields_say_when_they_are_null() {
    let schema: Value = serde_json::from_str(PUBLISHED).unwrap();
    let mut found = Vec::new();
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        fields(name, definition, &mut found);
    }
    let nullable: Vec<_> = found
        .iter()
        .filter(|(_, _, is_nullable)| *is_nullable)
        .collect();
    assert!(nullable.len() > 100, "{}", nullable.len());
    let silent: Vec<&String> = nullable
        .iter()
        .filter(|(_, words, _)| {
            let words = words.to_lowercase();
            !["nothing", "null", "absent"]
                .iter()
                .any(|word| words.contains(word))
        })
        .map(|(place, _, _)| place)
        .collect();
    assert_eq!(silent, Vec::<&String>::new());
}

/// `docs/reference/json.md` contains a row for each field of `Record` and of `Actual`.
#[test]
fn the_record_document_lists_every_field() {
    let document = include_str!("../../../../docs/reference/json.md");
    let schema: Value = serde_json::from_str(PUBLISHED).unwrap();
    let (record, actual) = document.split_once("In `actual`:").unwrap();
    for (name, table) in [("Record", record), ("Actual", actual)] {
        let rows = table
            .lines()
            .filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
        let named: Vec<&str> = rows
            .flat_map(|cell| cell.split('`').skip(1).step_by(2))
            .collect();
        for field in schema["$defs"][name]["properties"]
            .as_object()
            .unwrap()
            .keys()
        {
            assert!(named.contains(&field.as_str()), "{name}: {field}");
        }
    }
    // `docs/reference/json.md` must also name each outcome of a run.
    for variant in schema["$defs"]["Outcome"]["oneOf"].as_array().unwrap() {
        let name = match &variant["const"] {
            Value::String(name) => name,
            _ => variant["required"][0].as_str().unwrap(),
        };
        actual.shows(&format!("`{name}`"));
    }
}

#[test]
fn runs_written_by_the_program_match_the_schema() {
    let validator = validator();
    for text in [GOLDEN].into_iter().chain(KEPT) {
        let document: Value = serde_json::from_str(text).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&document)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert_eq!(errors, Vec::<String>::new());
    }
}

/// Collects the JSON pointers of all values below a value.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    let names: Vec<String> = match value {
        Value::Object(fields) => fields.keys().cloned().collect(),
        Value::Array(items) => (0..items.len()).map(|index| index.to_string()).collect(),
        _ => Vec::new(),
    };
    for name in names {
        let place = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
        places(value.pointer(&format!("/{name}")).unwrap(), &place, found);
        found.push(place);
    }
}

fn all_places(document: &Value) -> Vec<String> {
    let mut found = Vec::new();
    places(document, "", &mut found);
    found
}

fn with(document: &Value, place: &str, value: Value) -> Value {
    let mut changed = document.clone();
    *changed
        .pointer_mut(place)
        .unwrap_or_else(|| panic!("{place}")) = value;
    changed
}

#[test]
fn a_document_without_one_of_its_fields_is_refused() {
    let validator = validator();
    for document in documents() {
        let mut removed = 0;
        for place in all_places(&document) {
            let (object, field) = place.rsplit_once('/').unwrap();
            if object == "/summary/operations" || object.ends_with("/evidence/operations") {
                // The keys of these maps are the operations of the run, so none of them is
                // required.
                continue;
            }
            if ADDED.iter().any(|added| place.ends_with(added)) {
                let mut without = document.clone();
                let parent = without.pointer_mut(object).unwrap().as_object_mut();
                parent.unwrap().remove(field);
                assert!(validator.is_valid(&without), "{place} is missing");
                continue;
            }
            let mut without = document.clone();
            let Some(Value::Object(fields)) = without.pointer_mut(object) else {
                continue;
            };
            fields.remove(field);
            assert!(!validator.is_valid(&without), "{place} is missing");
            removed += 1;
        }
        assert!(removed > 300, "{removed}");
    }
}

#[test]
fn a_negative_count_is_refused() {
    const SIGNED: [&str; 10] = [
        "/monotonic_ns",
        "/unix_ns",
        "/bias-read",
        "/bias-create",
        "/began_s",
        "/transactions_began_s",
        "/transactions_ended_s",
        "/ended_s",
        "/wall_clock_stepped_ns",
        "/errno/known",
    ];
    let validator = validator();
    for document in documents() {
        let mut changed = 0;
        for place in all_places(&document) {
            let is_count = document.pointer(&place).is_some_and(Value::is_u64);
            if !is_count || SIGNED.iter().any(|name| place.ends_with(name)) {
                continue;
            }
            let negative = with(&document, &place, json!(-1));
            assert!(!validator.is_valid(&negative), "{place} is negative");
            changed += 1;
        }
        assert!(changed > 300, "{changed}");
    }
}

#[test]
fn a_value_of_another_type_is_refused() {
    let validator = validator();
    for document in documents() {
        for place in all_places(&document) {
            // No field accepts this object, whose only key is unknown.
            let other = with(&document, &place, json!({"no": ["such"]}));
            assert!(
                !validator.is_valid(&other),
                "{place} is an object that there is not"
            );
        }
    }
}

#[test]
fn schema_refuses_unknown_names_of_variants() {
    let validator = validator();
    let [document, _] = documents();
    for place in [
        "/summary/phases/0/phase",
        "/summary/verdict/level",
        "/summary/verdict/reasons/0/reason",
        "/record/fingerprint",
        "/record/spec/workload/work/kind",
        "/record/spec/workload/work/edition",
        "/record/spec/workload/workers/pools",
        "/record/spec/workload/worker_seeds",
        "/record/spec/durability",
        "/record/spec/cache",
        "/record/spec/on_error",
        "/record/locations/0/target/known/class/known",
        "/record/actual/outcome",
        "/record/actual/end/known",
        "/record/actual/check",
        "/record/actual/phases/0/phase",
        "/record/actual/phases/0/segments/0/kind",
        "/record/actual/phases/0/segments/0/operations/0/role",
        "/record/actual/phases/0/segments/0/operations/0/action",
        "/record/actual/phases/0/workers/0/role",
    ] {
        let wrong = with(&document, place, json!("no-such-word"));
        assert!(!validator.is_valid(&wrong), "{place}");
    }
    for (place, value) in [
        ("/record/schema", json!(2)),
        ("/record/schema", json!("1")),
        ("/record/spec/workload/work/bias-read", json!(11)),
        ("/record/actual/outcome", json!({"interrupted": {}})),
        ("/record/actual/outcome", json!({"complete": {}})),
        (
            "/record/actual/phases/0/segments/0/operations/0/meter/latency/precision_bits",
            json!(8),
        ),
        (
            "/record/actual/phases/0/segments/0/operations/0/meter/latency/buckets/0",
            json!([1]),
        ),
        ("/record/host/memory_total_bytes", json!(0)),
        ("/record/host/memory_total_bytes", json!(null)),
        ("/record/host/memory_total_bytes", json!({"unavailable": 5})),
    ] {
        assert!(
            !validator.is_valid(&with(&document, place, value.clone())),
            "{place}: {value}"
        );
    }
}

/// The schema and the reader reject unknown fields in the same places.
#[test]
fn schema_refuses_unknown_fields_where_the_reader_refuses_them() {
    let validator = validator();
    let [document, _] = documents();
    let mut refused = 0;
    for place in all_places(&document) {
        if !place.starts_with("/record") {
            continue;
        }
        let mut more = document.clone();
        let Some(Value::Object(fields)) = more.pointer_mut(&place) else {
            continue;
        };
        fields.insert("no-such-field".to_owned(), json!(1));
        let is_read = Record::from_json(&more.to_string()).is_ok();
        assert_eq!(validator.is_valid(&more), is_read, "{place}");
        refused += u32::from(!is_read);
    }
    assert!(refused > 10, "{refused}");
}
