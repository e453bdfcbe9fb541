//! The list of presets, and the page of one preset with the sources of its values.

use document::Document;
use document::units::counted;
use workload::Workers;
use workload::presets::Preset;

/// An engine that calls servers and lacks operations of a preset.
pub struct Missing {
    pub preset: String,
    pub engine: &'static str,
    pub operations: Vec<String>,
}

/// The list of presets, grouped by application. `missing` names the presets that servers cannot
/// perform.
pub fn list(presets: &[Preset], missing: &[Missing]) -> Document {
    let mut document = Document::default();
    document.line("Presets, for postmark run --preset NAME:");
    document.below(
        "A preset is the same workload on every machine: files, sizes, workers and operations \
         never change. mail is the newest version of mail; mail-1 is version 1. --scale 4 makes \
         the pool four times as large. postmark presets NAME shows each value of a preset with \
         its source.",
    );
    let mut group = "";
    for preset in presets {
        if preset.group != group {
            group = preset.group;
            document.heading(group);
        }
        document.gap();
        document.head(preset.full_name());
        if preset.version.is_none() {
            document.below(preset.what);
            document.below(format!("from {}", preset.source));
        } else {
            document.below(format!("for {}", preset.application));
            document.below(preset.what);
            document.below(format!("does not predict {}", preset.not_predicted));
            document.below(format!("{}; from {}", amount(preset), preset.source));
        }
        for of in missing.iter().filter(|of| of.preset == preset.full_name()) {
            let operations = of.operations.join(", ");
            document.below(format!(
                "not with {}://, which lacks: {operations}",
                of.engine
            ));
        }
    }
    document
}

/// One preset, with all values and their sources.
pub fn one(preset: &Preset) -> Document {
    let mut document = Document::default();
    document.head(preset.full_name());
    document.sentence("For", preset.application);
    document.sentence("Work", preset.what);
    document.sentence(
        "Limits",
        format!("does not predict {}", preset.not_predicted),
    );
    document.pair(0, "Amount", amount(preset));
    if preset.values.is_empty() {
        document.sentence("Source", preset.source);
    }
    for values in preset.values {
        document.gap();
        let own = if values.source.is_own {
            "our own choice: "
        } else {
            ""
        };
        document.line(format!("From {own}{}", values.source.text));
        for (option, value) in values.values {
            let parts: Vec<&str> = value.split(',').collect();
            document.list("", &format!("{option} "), &parts);
        }
    }
    document
}

/// Workers, files and time of a preset.
fn amount(preset: &Preset) -> String {
    let files = counted(preset.workload.files(), "file");
    let workers = match preset.workload.workers {
        Workers::ONE => format!("1 worker, {files}"),
        Workers::Private { workers } => {
            format!("{}, each with {files}", counted(workers.into(), "worker"))
        }
        Workers::Shared {
            writers, readers, ..
        } => {
            let (writers, readers) = (several(writers, "writer"), several(readers, "reader"));
            format!("{files}, {writers} and {readers}")
        }
    };
    let time = preset.how.run_for_s;
    let time = time.map_or(String::new(), |time| format!(", {time} s"));
    workers + &time
}

fn several(count: u32, what: &str) -> String {
    match count {
        0 => format!("no {what}s"),
        _ => counted(count.into(), what),
    }
}
