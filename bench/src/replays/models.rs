//! Learned workloads as examples, with a page about them.

use crate::result::Result;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::learned::{Learned, tree_file};
use super::options::ReplaysOptions;
use crate::statistics::or_dash;

/// The name of an example, its source, the command that was traced, and whether the tree is learned
/// that the command leaves.
struct Example {
    name: &'static str,
    source: &'static str,
    command: &'static str,
    is_tree: bool,
}

const fn example(
    name: &'static str,
    source: &'static str,
    command: &'static str,
    is_tree: bool,
) -> Example {
    Example {
        name,
        source,
        command,
        is_tree,
    }
}

const EXAMPLES: [Example; 6] = [
    example(
        "binutils",
        "tree: sources of GNU binutils 2.40",
        "tar",
        true,
    ),
    example(
        "maildir",
        "tree: 320 messages of Dovecot",
        "maildir-delivery",
        true,
    ),
    example(
        "node-modules",
        "tree: `node_modules` of a Vue project",
        "pnpm-install",
        true,
    ),
    example(
        "git-clone",
        "trace: `git clone` of SymPy",
        "git-clone",
        false,
    ),
    example(
        "pnpm-install",
        "trace: `pnpm install --offline`",
        "pnpm-install",
        false,
    ),
    example(
        "maildir-delivery",
        "trace: Dovecot receives 320 messages",
        "maildir-delivery",
        false,
    ),
];

impl Example {
    fn file(&self, options: &ReplaysOptions) -> PathBuf {
        let trace = options.trace_file(self.command);
        if self.is_tree {
            tree_file(&trace)
        } else {
            trace
        }
    }
}

/// Copies the learned workloads, and writes `README.md`.
pub fn write(directory: &Path, options: &ReplaysOptions) -> Result<()> {
    std::fs::create_dir_all(directory)?;
    let mut text = "# Learned workloads\n\n\
         `postmark learn` wrote these files from three trees and from traces of three commands. \
         They contain\nno names and no contents. `postmark run --config \
         examples/models/git-clone.toml` runs one;\n`examples/make-models` writes this directory \
         again.\n\n\
         Sizes are those of the files of the tree or trace. KS is the Kolmogorov-Smirnov distance \
         of the\nmodel's sizes or depths, from 0 (equal) to 1, and TV the total variation distance \
         of its mix. A tree\nshows no operations; its model has \
         `create=1,read=4,delete=1,stat=4`.\n\n\
         | file | learned from | files | size p50, p99 | KS sizes | depth p50 | KS depths | \
         operations | largest shares | TV | not in the model |\n\
         |---|---|---|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for example in &EXAMPLES {
        let file = example.file(options);
        let learned = Learned::load(&file)
            .map_err(|error| format!("{}: {error} (run without --table)", file.display()))?;
        let copy = directory.join(example.name).with_extension("toml");
        std::fs::copy(file.with_extension("toml"), copy)?;
        row(&mut text, example, &learned);
    }
    Ok(std::fs::write(directory.join("README.md"), text)?)
}

fn row(text: &mut String, example: &Example, learned: &Learned) {
    let (sizes, depths) = ("sizes of files", "depths of files");
    let number = |value: Option<u64>| value.map_or("-".to_owned(), |value| value.to_string());
    let size = |share| learned.quantile(sizes, share).map_or("-".to_owned(), bytes);
    let operations = Some(learned.operations()).filter(|count| *count > 0);
    let mix = learned.mix(3).into_iter();
    let mix = mix.map(|(name, share)| format!("{name} {:.0} %", share * 100.0));
    let mix = operations.map_or("-".to_owned(), |_| mix.collect::<Vec<_>>().join(", "));
    let left_out = learned.left_out();
    let _ = writeln!(
        text,
        "| `{}.toml` | {} | {} | {}, {} | {} | {} | {} | {} | {} | {} | {} |",
        example.name,
        example.source,
        learned.count("files"),
        size(0.5),
        size(0.99),
        or_dash(learned.distance(sizes), 3),
        number(learned.quantile(depths, 0.5)),
        or_dash(learned.distance(depths), 3),
        number(operations),
        mix,
        or_dash(learned.mix_distance(), 3),
        left_out.map_or("-".to_owned(), |share| format!("{:.1} %", share * 100.0)),
    );
}

fn bytes(bytes: u64) -> String {
    match bytes {
        0..1_024 => format!("{bytes} B"),
        bytes => format!("{:.1} KiB", bytes as f64 / 1_024.0),
    }
}
