//! The fidelity report as a document.

use document::units::{fixed, grouped, percent, trimmed};
use document::{Cell, Document, Number, Table, sanitize};
use workload::quantity::duration_text;

use crate::distribution::Distribution;
use crate::durability;
use crate::fidelity::{Comparison, Fidelity, Unit};
use crate::profile::{LeftOut, Profile, Source};

/// How many sequences of operations the report lists.
const SEQUENCES_MAX: usize = 10;

/// Returns the report: what was observed, the distances of the workload from it, and what the
/// workload does not represent.
pub fn document(fidelity: &Fidelity) -> Document {
    let mut document = Document::default();
    observed(&mut document, &fidelity.profile);
    if !fidelity.comparisons.is_empty() {
        document.heading("Distributions");
        document.table(distributions(&fidelity.comparisons));
        document.note("KS: Kolmogorov-Smirnov distance, 0 (equal) to 1");
    }
    operations(&mut document, fidelity);
    own_times(&mut document, fidelity);
    syncs(&mut document, &fidelity.profile);
    popularity(&mut document, fidelity);
    sequences(&mut document, &fidelity.profile);
    if !fidelity.left_out.is_empty() {
        document.heading("Not in the workload");
        document.table(left_out(&fidelity.left_out));
    }
    document
}

fn observed(document: &mut Document, profile: &Profile) {
    let mut line = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            document.pair(0, key, value);
        }
    };
    line("Files", profile.files.map(grouped));
    line(
        "Bytes",
        profile
            .bytes
            .map(|bytes| Number::Bytes(bytes as f64).to_string()),
    );
    line(
        "Directories",
        profile
            .directories
            .map(|count| format!("{} with files", grouped(count))),
    );
    line("Workers", profile.workers.map(grouped));
    let Some(contents) = profile.contents.filter(|contents| contents.bytes > 0) else {
        return;
    };
    let sample = format!(
        "{} of {} files",
        Number::Bytes(contents.bytes as f64),
        grouped(contents.files)
    );
    let compression = contents.compression().map_or_else(String::new, |ratio| {
        format!(", compression ratio {}", fixed(ratio, 2))
    });
    let dedup = contents.dedup().map_or_else(String::new, |ratio| {
        format!(", deduplication ratio {}", fixed(ratio, 2))
    });
    document.sentence(
        "Contents",
        format!("sample of {sample}{compression}{dedup}"),
    );
}

fn distributions(comparisons: &[Comparison]) -> Table {
    let shares = comparisons
        .first()
        .map_or(&[][..], |first| &first.quantiles);
    let mut table = Table::new(2, &["", ""]);
    for (share, _, _) in shares {
        table.column(format!("p{}", trimmed(share * 100.0, 1)), false);
    }
    table.column("KS", false);
    for of in comparisons {
        let value = |value: u64| match of.unit {
            Unit::Bytes => Cell::bytes(Some(value)),
            Unit::Count => Cell::count(value),
            Unit::Ns => Cell::latency(Some(value)),
        };
        let observed = of.quantiles.iter().map(|(_, observed, _)| value(*observed));
        let mut row = vec![Cell::ours(of.what), Cell::ours("observed")];
        row.extend(observed);
        table.row(row);
        let model = of.quantiles.iter().map(|(_, _, model)| value(*model));
        let mut row = vec![Cell::Empty, Cell::ours("model")];
        row.extend(model);
        row.push(Cell::decimal(Some(of.distance), 3));
        table.row(row);
    }
    table
}

fn operations(document: &mut Document, fidelity: &Fidelity) {
    let Some(distance) = fidelity.mix_distance else {
        if fidelity.profile.source == Source::Tree {
            document.heading("Operations");
            let mix = fidelity.workload.mix();
            document.words(format!(
                "A tree shows no operations. The model has {}; change mix in the file, or learn a \
                 trace.",
                mix.map(|mix| mix.weights.to_string()).unwrap_or_default()
            ));
        }
        return;
    };
    document.heading("Operations");
    let mut table = Table::new(1, &["", "observed", "model"]);
    for of in &fidelity.mix {
        let (observed, model) = (Cell::share(Some(of.observed)), Cell::share(Some(of.model)));
        table.row(vec![Cell::ours(of.operation.name()), observed, model]);
    }
    document.table(table);
    document.note(format!(
        "total variation distance {}, 0 (equal) to 1",
        fixed(distance, 3)
    ));
}

/// How the workers spend their time besides operations: in all, and for each operation.
fn own_times(document: &mut Document, fidelity: &Fidelity) {
    let profile = &fidelity.profile;
    let Some(own) = &profile.own else { return };
    let counts = profile.mix.iter().flatten().map(|(_, count)| count);
    let operations = counts.sum::<u64>().max(1);
    let idle = profile.pauses.as_ref().map_or(0, Distribution::sum);
    let rows = [
        (
            "computing, or with other files",
            own.compute_ns.values().sum(),
            "compute",
        ),
        ("idle", u64::try_from(idle).unwrap_or(u64::MAX), "think"),
        ("waiting for others", own.wait_ns, "none"),
        ("strace's own, estimated", own.tracer_ns, "none"),
    ];
    document.heading("Time between operations");
    let mut table = Table::new(1, &["", "all", "each", "in the model"]).with_words(3);
    for (what, ns, option) in rows {
        table.row(vec![
            Cell::ours(what),
            Cell::latency(Some(ns)),
            Cell::latency(Some(ns / operations)),
            Cell::ours(option),
        ]);
    }
    document.table(table);
    let adapted = own.cpu_ns.map_or_else(String::new, |ns| {
        format!("; computing is adapted to --cpu-time {}", duration_text(ns))
    });
    document.note(format!(
        "of all workers together, and for each operation; strace's own: for {} calls{adapted}",
        grouped(own.calls)
    ));
}

fn syncs(document: &mut Document, profile: &Profile) {
    let all = profile.syncs.iter().flatten();
    let synced = all.filter(|(_, of)| of.data + of.file + of.directory > 0);
    let mut synced = synced.peekable();
    if synced.peek().is_none() {
        return;
    }
    document.heading("Durability");
    let mut table = Table::new(1, &["", "fdatasync", "fsync", "directory", "model"]).with_words(4);
    for (action, of) in synced {
        let share = |count: u64| Cell::share(Some(count as f64 / of.operations.max(1) as f64));
        let (data, file, directory) = (share(of.data), share(of.file), share(of.directory));
        let model = Cell::ours(durability::policy(of).to_string());
        table.row(vec![
            Cell::ours(action.name()),
            data,
            file,
            directory,
            model,
        ]);
    }
    document.table(table);
    document.note("shares of the operations that were synced before the thread continued");
}

fn popularity(document: &mut Document, fidelity: &Fidelity) {
    let observed = fidelity.profile.popularity.as_ref();
    let mix = fidelity.workload.mix();
    let (Some(observed), Some(distance), Some(mix)) = (observed, fidelity.popularity_distance, mix)
    else {
        return;
    };
    document.heading("Popularity of files");
    let mut table = Table::new(1, &["most popular files", "share of operations"]);
    for (files, operations) in &observed.curve {
        let operations = Cell::share(Some(*operations));
        table.row(vec![Cell::ours(percent(*files)), operations]);
    }
    document.table(table);
    document.note(format!(
        "the model is {}; largest difference of shares {}",
        mix.popularity,
        fixed(distance, 3)
    ));
}

fn sequences(document: &mut Document, profile: &Profile) {
    if profile.sequences.is_empty() {
        return;
    }
    document.heading("Sequences on a file");
    let mut table = Table::new(1, &["", "count"]);
    for of in profile.sequences.iter().take(SEQUENCES_MAX) {
        let names: Vec<&str> = of.operations.iter().map(|one| one.name()).collect();
        table.row(vec![Cell::ours(names.join(", ")), Cell::count(of.count)]);
    }
    document.table(table);
}

fn left_out(all: &[LeftOut]) -> Table {
    let mut table = Table::new(1, &["", "count", "share", "example"]).with_words(3);
    for of in all {
        let example = of.example.as_deref().map(sanitize::sanitize);
        table.row(vec![
            of.what.as_str().into(),
            Cell::count(of.count),
            of.share
                .map_or(Cell::Missing, |share| Cell::ours(percent(share))),
            example.map_or(Cell::Empty, |example| Cell::Text(example.into_owned())),
        ]);
    }
    table
}
