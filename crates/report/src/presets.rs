//! The presets and their sources.

use document::Document;
use document::units::counted;
use workload::presets::Preset;
use workload::{Work, Workers};

/// The list of presets, as resolved on this machine.
pub fn document(presets: &[Preset]) -> Document {
    let mut document = Document::default();
    document.line("Presets, for postmark run --preset NAME:");
    document.below(
        "Presets with 'on this machine' have as many files and workers as its memory and \
         processors call for. On another machine the same name is another workload, and results \
         do not compare. To run the same work elsewhere: postmark plan --preset NAME --format \
         toml > FILE, then postmark run --config FILE.",
    );
    for preset in presets {
        let workload = &preset.workload;
        document.gap();
        document.head(preset.name);
        document.below(preset.what);
        if let Work::Classic(classic) = &workload.work {
            let edition = classic.edition;
            document.below(format!("edition {edition}; from {}", preset.source));
            continue;
        }
        let files = workload.files();
        let workers = match workload.workers {
            Workers::Private { workers } => {
                let workers = several(workers, "worker");
                format!("{workers}, each with {files} files")
            }
            Workers::Shared {
                writers, readers, ..
            } => {
                let (writers, readers) = (several(writers, "writer"), several(readers, "reader"));
                format!("{files} files, {writers} and {readers}")
            }
        };
        let how = &preset.how;
        let durability = how.durability.map_or(String::new(), |of| format!(", {of}"));
        let time = how
            .run_for_s
            .map_or(String::new(), |of| format!(", {of} s"));
        document.below(format!("on this machine: {workers}{durability}{time}"));
        document.below(format!("from {}", preset.source));
    }
    document
}

fn several(count: u32, what: &str) -> String {
    match count {
        0 => format!("no {what}s"),
        _ => counted(count.into(), what),
    }
}
