//! Compares all texts for users with the files in `texts`: the help of all commands, the messages
//! of all crates, and the reasons of verdicts. So a changed text is visible in a diff.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use cli::args::command;
use cli::args::groups::of_width;
use cli::args::short::short;
use serde_json::{Value, json};
use syn::visit::Visit;
use syn::{
    Attribute, Expr, ExprMethodCall, Field, Item, ItemEnum, ItemStruct, LitStr, Macro, Token,
    Variant,
};
use verdict::Reason;

use crate::circles::{files_of, is_for_tests, sources};

pub fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/texts")
}

/// Compares a text with the stored one. If POSTMARK_WRITE_GOLDEN is set, stores the new text first.
pub fn assert_kept(path: &Path, text: &str) {
    if std::env::var_os("POSTMARK_WRITE_GOLDEN").is_some() {
        std::fs::write(path, text).unwrap();
    }
    let before = std::fs::read_to_string(path).unwrap_or_default();
    let differs = before
        .lines()
        .zip(text.lines())
        .find(|(before, now)| before != now);
    assert!(
        before == text,
        "{} differs from the text now; the first line that differs: {differs:#?}; \
         POSTMARK_WRITE_GOLDEN=1 rewrites it",
        path.display()
    );
}

/// Appends the short and long help of a command and its subcommands to `text`.
fn help(short: &mut clap::Command, long: &mut clap::Command, name: &str, text: &mut String) {
    for (option, help) in [
        ("-h", short.render_help()),
        ("--help", long.render_long_help()),
    ] {
        let lines: Vec<String> = help
            .to_string()
            .lines()
            .map(|line| line.trim_end().to_owned())
            .collect();
        writeln!(
            text,
            "==== {name} {option}\n\n{}\n",
            lines.join("\n").trim_end()
        )
        .unwrap();
    }
    let below: Vec<String> = long
        .get_subcommands()
        .map(|below| below.get_name().to_owned())
        .collect();
    for below in below {
        let name = format!("{name} {below}");
        let short = short.find_subcommand_mut(&below).unwrap();
        let long = long.find_subcommand_mut(&below).unwrap();
        help(short, long, &name, text);
    }
}

#[test]
fn help_equals_the_stored_text() {
    let mut long = of_width(command(), 80);
    let mut short = of_width(short(command()), 80);
    long.build();
    short.build();
    let mut text = String::new();
    help(&mut short, &mut long, "postmark", &mut text);
    assert_kept(&kept().join("help.txt"), &text);
}

/// The messages in a source file: the texts of error types, and all other strings of at least two
/// words.
#[derive(Default)]
struct Messages {
    within: Vec<String>,
    of_errors: Vec<(String, String)>,
    others: Vec<String>,
}

impl Messages {
    fn error(&mut self, attributes: &[Attribute], name: &str) {
        for attribute in attributes
            .iter()
            .filter(|attribute| attribute.path().is_ident("error"))
        {
            let tokens = attribute.meta.require_list().unwrap().tokens.to_string();
            let text = leading_literal(&tokens).filter(|text| is_text(text));
            self.of_errors
                .extend(text.map(|text| (name.to_owned(), text)));
        }
    }

    fn other(&mut self, text: &str) {
        let is_sql = [
            "SELECT ",
            "INSERT ",
            "UPDATE ",
            "DELETE ",
            "CREATE ",
            " = ?",
            "ORDER BY",
            "IN (SELECT",
        ]
        .iter()
        .any(|word| text.contains(word));
        if is_text(text) && !is_sql {
            self.others.push(text.trim().to_owned());
        }
    }
}

/// The string literal at the start of a token sequence.
fn leading_literal(tokens: &str) -> Option<String> {
    let rest = tokens.strip_prefix('"')?;
    let mut is_escaped = false;
    let end = rest.find(|c| {
        let ends = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends
    })?;
    syn::parse_str(&tokens[..end + 2])
        .ok()
        .map(|text: LitStr| text.value())
}

/// Whether a string has at least two words. Names and placeholders are no words.
fn is_text(text: &str) -> bool {
    let is_word = |word: &&str| {
        let letters = word.trim_matches(|c: char| !c.is_alphabetic());
        letters.len() > 1
            && letters
                .chars()
                .all(|c| c.is_alphabetic() || "-'".contains(c))
            && !word.contains('{')
    };
    text.split_whitespace().filter(is_word).count() > 1
}

impl<'a> Visit<'a> for Messages {
    fn visit_item(&mut self, item: &'a Item) {
        let attributes = match item {
            Item::Fn(item) => &item.attrs,
            Item::Mod(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            _ => return syn::visit::visit_item(self, item),
        };
        if !is_for_tests(attributes) {
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_item_enum(&mut self, item: &'a ItemEnum) {
        self.within.push(item.ident.to_string());
        syn::visit::visit_item_enum(self, item);
        self.within.pop();
    }

    fn visit_item_struct(&mut self, item: &'a ItemStruct) {
        self.error(&item.attrs, &item.ident.to_string());
        syn::visit::visit_item_struct(self, item);
    }

    fn visit_variant(&mut self, variant: &'a Variant) {
        let name = format!("{}::{}", self.within.join("::"), variant.ident);
        self.error(&variant.attrs, &name);
    }

    // Attributes and documentation of fields are parts of the help, which `help.txt` contains. They
    // are skipped here, because they are not messages.
    fn visit_attribute(&mut self, _: &'a Attribute) {}

    fn visit_field(&mut self, _: &'a Field) {}

    fn visit_expr_method_call(&mut self, call: &'a ExprMethodCall) {
        // Messages of `expect` are for developers.
        if call.method == "expect" {
            return self.visit_expr(&call.receiver);
        }
        syn::visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, made: &'a Macro) {
        let name = made.path.segments.last().unwrap().ident.to_string();
        if ["assert", "debug_assert", "unreachable", "panic", "matches"]
            .iter()
            .any(|for_readers| name.starts_with(for_readers))
        {
            return;
        }
        let arguments =
            made.parse_body_with(syn::punctuated::Punctuated::<Expr, Token![,]>::parse_terminated);
        for argument in arguments.into_iter().flatten() {
            Messages::visit_expr(self, &argument);
        }
    }

    fn visit_lit_str(&mut self, text: &'a LitStr) {
        self.other(&text.value());
    }
}

#[test]
fn messages_equal_the_stored_text() {
    let mut text = String::new();
    let mut count = 0;
    let mut crates: Vec<PathBuf> = sources();
    crates.retain(|source| !source.ends_with("bench/src"));
    crates.sort();
    for source in crates {
        let name = source
            .parent()
            .and_then(Path::file_name)
            .unwrap()
            .to_str()
            .unwrap();
        if name == "faultfs" {
            // Only tests use the crate `faultfs`, so it contains no messages for users.
            continue;
        }
        for (module, file) in files_of(&source) {
            let mut messages = Messages::default();
            messages.visit_file(&syn::parse_file(&std::fs::read_to_string(file).unwrap()).unwrap());
            let Messages {
                of_errors, others, ..
            } = messages;
            count += of_errors.len();
            if of_errors.is_empty() && others.is_empty() {
                continue;
            }
            writeln!(text, "==== {name} {}\n", module.join("/")).unwrap();
            for (name, message) in of_errors {
                writeln!(text, "{name}: {message}").unwrap();
            }
            for message in others {
                writeln!(text, "- {}", message.replace('\n', "\n  ")).unwrap();
            }
            text.push('\n');
        }
    }
    assert!(count > 60, "{count} messages of errors were found");
    assert_kept(&kept().join("messages.txt"), &text);
}

/// Reasons of verdicts: at least one of each kind. If the sentence of a kind has several forms,
/// there is a reason for each form.
fn reasons() -> Vec<Value> {
    const S: u64 = 1_000_000_000;
    let slope = |interval: Value| {
        json!({"slope": {"is_steady": false, "begins": 0, "window": 30, "average": 1000.0,
            "drift": 0.124,
               "interval": interval, "autocorrelation": 0.1, "batches_effective": 8.0,
                   "limit": 0.1}})
    };
    let change = |drift: f64, drift_by_chance: f64, excursion: f64, excursion_by_chance: f64| {
        json!({"change": {"is_steady": false, "window": 30, "average": 1000.0, "drift": drift,
               "drift_by_chance": drift_by_chance, "slowest": 900.0,
                   "fastest": 900.0 + 1000.0 * excursion,
               "excursion": excursion, "excursion_by_chance": excursion_by_chance}})
    };
    let rounds = json!({"rounds": {"is_steady": false, "begins": 0, "window": 5, "average": 1000.0,
        "excursion": 0.249,
                        "slope_excursion": 0.12}});
    let drifting = |first_ns: f64, last_ns: f64| {
        json!({"action": "create", "first_ns": first_ns, "last_ns": last_ns,
            "spent": "kernel-cpu", "call": null})
    };
    let skipped = |at_maximum_size, after_failure| {
        json!(workload::Skipped {
            at_maximum_size,
            after_failure,
            ..Default::default()
        })
    };
    vec![
        json!({"reason": "partial", "outcome": {"interrupted": {"signal": 2}}}),
        json!({"reason": "partial", "outcome": {"failed": {"why": "cannot create a file"}}}),
        json!({"reason": "partial", "outcome": {"place_gone": {"why": "/mnt is not the \
            directory"}}}),
        json!({"reason": "partial", "outcome": "unfinished"}),
        json!({"reason": "errors", "errors": 1, "operations": 1000, "allowed": "1%",
            "is_exceeded": false}),
        json!({"reason": "errors", "errors": 12, "operations": 1000, "allowed": "1%",
            "is_exceeded": true}),
        json!({"reason": "skipped", "skipped": skipped(93, 7), "operations": 900, "fraction": 0.1}),
        json!({"reason": "skipped", "skipped": skipped(0, 1), "operations": 9, "fraction": 0.1}),
        json!({"reason": "wrong-names", "wrong": 1, "names": 500}),
        json!({"reason": "ran-dry", "end": "out-of-files", "transactions": 12_345}),
        json!({"reason": "ran-dry", "end": "out-of-reach", "transactions": 12_345}),
        json!({"reason": "ran-dry", "end": "nothing-possible", "transactions": 12_345}),
        json!({"reason": "pool-changed-size", "files_before": 12_000, "files_after": 6_280,
            "is_balanced": true}),
        json!({"reason": "pool-changed-size", "files_before": 100, "files_after": 18_504}),
        json!({"reason": "too-short", "phase": "transactions", "measured_ns": S / 20,
            "operations": 4000}),
        json!({"reason": "too-short", "phase": "transactions", "measured_ns": 4 * S,
            "operations": 4000, "is_counted": true}),
        json!({"reason": "too-short", "phase": "transactions", "measured_ns": 4 * S,
            "operations": 4000, "is_counted": true, "is_replay": true}),
        json!({"reason": "too-short", "phase": "prepare", "measured_ns": 4 * S, "operations": 12}),
        json!({"reason": "too-short", "phase": "transactions", "measured_ns": 0, "operations": 0}),
        json!({"reason": "too-short", "phase": "transactions", "measured_ns": 4 * S,
            "operations": 0}),
        json!({"reason": "not-steady", "found": change(-0.21, 0.084, 0.18, 0.2)}),
        json!({"reason": "not-steady", "found": change(0.09, 0.15, 0.42, 0.11)}),
        json!({"reason": "not-steady", "found": change(-0.82, 0.084, 0.9, 0.2),
            "drifting": drifting(27_000.0, 350_000.0)}),
        json!({"reason": "not-steady", "found": change(0.3, 0.084, 0.3, 0.2),
            "drifting": drifting(350_000.0, 27_000.0)}),
        json!({"reason": "steady-state-not-reached", "rule": "slope", "rounds": 25,
            "last": slope(json!([0.11, 0.14]))}),
        json!({"reason": "steady-state-not-reached", "rule": "slope", "rounds": 25,
            "last": slope(Value::Null)}),
        json!({"reason": "steady-state-not-reached", "rule": "snia", "rounds": 25, "last": rounds}),
        json!({"reason": "rate-not-reached", "requested": 2000.0, "achieved": 1500.0}),
        json!({"reason": "overhead", "fraction": 0.18, "ns_per_operation": 812.0}),
        json!({"reason": "other-load", "fraction": 0.12, "busiest": [
            {"name": "cc1plus", "pid": 4711, "fraction": 0.08},
            {"name": "rsync", "pid": 815, "fraction": 0.03},
        ]}),
        json!({"reason": "other-load", "fraction": 0.07, "busiest": [
            {"name": "systemd", "pid": 1, "fraction": 0.06},
        ]}),
        json!({"reason": "steal", "fraction": 0.03}),
        json!({"reason": "emulated"}),
        json!({"reason": "paused", "times": 2, "longest_ns": 3 * S, "fraction": 0.1}),
        json!({"reason": "suspended", "ns": 60 * S}),
        json!({"reason": "wall-clock-stepped", "ns": -2_000_000_000_i64}),
        json!({"reason": "clock-source-changed", "before": "tsc", "after": "hpet"}),
        json!({"reason": "fits-in-memory", "cache": "cold", "pool_bytes": 1_u64 << 30,
            "cache_bytes": 4_u64 << 30}),
        json!({"reason": "reads-from-memory", "asked": "cold", "device_bytes": 1 << 20,
            "read_bytes": 1 << 30}),
        json!({"reason": "reads-from-memory", "asked": "direct", "device_bytes": 1 << 20,
            "read_bytes": 1 << 30}),
        json!({"reason": "memory-beneath", "asked": "direct", "path": "/mnt",
            "loop_device": "loop0",
               "place": "ext4 on /dev/loop0 (loop over /x/y.img on ext4 /dev/vda), 20 % full",
               "device_bytes": 1 << 18, "read_bytes": 1 << 29}),
        json!({"reason": "memory-beneath", "asked": "cold", "path": "/mnt", "loop_device": "loop0",
               "place": "ext4 on /dev/loop0 (loop over /x/y.img on ext4 /dev/vda), 20 % full",
               "device_bytes": null, "read_bytes": 1 << 29}),
        json!({"reason": "memory-beneath", "asked": "direct", "path": "/mnt", "loop_device": null,
               "place": "ext4 on /dev/ram0, 20 % full", "device_bytes": null,
                   "read_bytes": 1 << 29}),
        json!({"reason": "reads-from-device", "device_bytes": 1 << 28, "read_bytes": 1 << 30}),
        json!({"reason": "cache-not-dropped", "cache": "cold", "cached": 30, "pages": 100}),
        json!({"reason": "cache-not-dropped", "cache": "cold-data", "cached": 90, "pages": 100}),
        json!({"reason": "device-wrote-nothing", "phase": "prepare", "written_bytes": 1 << 30,
            "is_durable": false}),
        json!({"reason": "device-wrote-nothing", "phase": "transactions", "written_bytes": 1 << 30,
            "is_durable": true}),
        json!({"reason": "retransmissions", "of": "/mnt/nfs", "retransmissions": 12,
            "requests": 4776}),
        json!({"reason": "connections-lost", "times": 1}),
        json!({"reason": "server-restarted", "times": 2, "rewritten_bytes": 1 << 20}),
        json!({"reason": "outcomes-not-known", "operations": 1}),
        json!({"reason": "client-saturated", "workers": 0.97, "interface": null}),
        json!({"reason": "client-saturated", "workers": 0.97, "interface": ["eth0", 0.85]}),
        json!({"reason": "client-saturated", "workers": 0.97, "interface": null,
            "host": "client3"}),
        json!({"reason": "client-saturated", "workers": null, "interface": ["eth0", 0.85],
            "host": "client3", "others": 12}),
        json!({"reason": "ranks-not-done", "failed": [3], "missing": [], "launched": 4}),
        json!({"reason": "ranks-not-done", "failed": [3], "missing": (4..20).collect::<Vec<u32>>(),
            "launched": 64}),
        json!({"reason": "hosts-apart", "slowest": "client3", "fastest": "client1",
            "fraction": 0.42}),
        json!({"reason": "too-few-clients", "workers": 8, "fewer": 4, "gain": 0.37}),
        json!({"reason": "clocks-not-aligned", "error_ns": S / 10, "measured_ns": 4 * S}),
        json!({"reason": "nearly-full", "path": "/mnt/disk", "fraction": 0.94}),
        json!({"reason": "allocated-during-run", "allocated_bytes": 1 << 30,
            "written_bytes": 1_u64 << 31}),
        json!({"reason": "durability-in-memory", "durability": "fsync", "path": "/tmp",
            "place": "tmpfs", "is_beneath": false}),
        json!({"reason": "durability-in-memory", "durability": "fsync", "path": "/mnt",
            "place": "ext4 on /dev/ram0", "is_beneath": true}),
        json!({"reason": "stalled", "times": 1, "longest_ns": 61 * S, "lost": 0}),
        json!({"reason": "stalled", "times": 3, "longest_ns": 61 * S, "lost": 1}),
        json!({"reason": "latency-overflow", "operations": 3, "range_ns": 68 * S}),
        json!({"reason": "ack-log", "path": "/var/tmp/acks"}),
    ]
}

#[test]
fn reasons_equal_the_stored_text() {
    let schema: Value =
        serde_json::from_str(include_str!("../../../../docs/schema/run-1.json")).unwrap();
    let kinds = schema["$defs"]["Reason"]["oneOf"].as_array().unwrap();
    let all: BTreeSet<&str> = kinds
        .iter()
        .map(|kind| kind["properties"]["reason"]["const"].as_str().unwrap())
        .collect();
    let reasons = reasons();
    let given: BTreeSet<&str> = reasons
        .iter()
        .map(|reason| reason["reason"].as_str().unwrap())
        .collect();
    assert_eq!(given, all, "one of each kind");
    let mut text = String::new();
    for reason in &reasons {
        let reason: Reason = serde_json::from_value(reason.clone()).unwrap();
        writeln!(text, "{} {}", reason.level().name(), reason.line()).unwrap();
    }
    assert_kept(&kept().join("reasons.txt"), &text);
}
