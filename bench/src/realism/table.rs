//! The results as Markdown.

use std::fmt::Write;

use super::preset_run::PresetRun;
use super::score::{Found, Ratios};
use super::setup::write_missed;
use super::volume::{BASELINE, FILE_SYSTEMS};
use crate::statistics::or_dash;

/// The tables of predictions and of ratios, with the requirements that are missed.
pub fn markdown(data: &str, found: &[Found], missed: &[String]) -> String {
    let mut text = format!(
        "# Presets beside applications ({data} data)\n\n\
         Ratios are speeds relative to {BASELINE}: the median of the rounds' ratios, with its \
         95 % interval from six rounds on (before: least and greatest). Pairs: pairs of file \
         systems whose real intervals do not overlap, and how many of them the preset orders the \
         same way. Factor: exp of the root mean square of ln(predicted / real). Mixes: total \
         variation of the calls. Sizes: distance (Kolmogorov-Smirnov) of the preset's files from \
         the application's, and of the application's two data sets from each other.\n\n\
         | application | preset | rounds | pairs | factor (limit) | mixes | sizes (own) |\n\
         |---|---|---|---|---|---|---|\n"
    );
    for row in found {
        let pairs = row.score.pairs;
        let pairs = pairs.map_or("-".to_owned(), |(of, all)| format!("{of}/{all}"));
        let _ = writeln!(
            text,
            "| {} | {} | {} | {pairs} | {} ({}) | {} | {} ({}) |",
            row.pairing.what(),
            row.pairing.by(),
            rounds(&row.real),
            or_dash(row.score.factor, 2),
            row.pairing.factor_max,
            or_dash(row.mixes, 2),
            or_dash(row.sizes, 2),
            or_dash(row.own_sizes, 2),
        );
    }
    text += "\n| preset | own time |\n|---|---|\n";
    let mut runs: Vec<_> = found.iter().map(|row| row.pairing.run).collect();
    runs.retain(|run| !run.compute.is_empty());
    runs.dedup();
    for PresetRun { preset, compute } in runs {
        let _ = writeln!(text, "| `{preset}` | `--compute {compute}` |");
    }
    let others = FILE_SYSTEMS.iter().filter(|system| **system != BASELINE);
    let others: Vec<&str> = others.copied().collect();
    let _ = writeln!(
        text,
        "\n| ratio | {} |\n|---|{}",
        others.join(" | "),
        "---|".repeat(others.len())
    );
    for row in found {
        let what = row.pairing.what();
        ratio_row(&mut text, &what, &row.real, &others);
        let predicted = format!("– predicted by {}", row.pairing.by());
        ratio_row(&mut text, &predicted, &row.predicted, &others);
    }
    write_missed(&mut text, missed);
    text
}

/// The number of rounds of the file system that has the fewest.
fn rounds(ratios: &Ratios) -> usize {
    ratios
        .values()
        .map(|ratio| ratio.rounds)
        .min()
        .unwrap_or_default()
}

fn ratio_row(text: &mut String, name: &str, ratios: &Ratios, systems: &[&str]) {
    let cell = |system: &&str| {
        let ratio = ratios.get(*system);
        ratio.map_or("-".to_owned(), |ratio| ratio.median.show(2))
    };
    let cells: Vec<String> = systems.iter().map(cell).collect();
    let _ = writeln!(text, "| {name} | {} |", cells.join(" | "));
}
