//! `postmark report`: writes an HTML page about runs, a study or a comparison.

use std::path::{Path, PathBuf};
use std::time::Duration;

use campaign::archive::place_of_one;
use campaign::input::Input;
use campaign::page::{PageFiles, PageRequest};
use document::sanitize::path as shown;
use report::figures::PaperFigure;

use super::opened::open;
use crate::args::ReportArguments;
use crate::ui::output::{Outputs, is_standard_output, unwritable};
use crate::ui::problem::{Problem, print, refuse};

/// Time limit for writing a file, because its file system may hang.
const WRITE_MAX: Duration = Duration::from_secs(60);

/// Refuses `--report -` of `run` and `study`, because their text report goes to standard output.
///
/// # Errors
/// Returns an error if the path is standard output.
pub fn needs_file(path: Option<&Path>) -> Result<(), Problem> {
    match path.is_some_and(is_standard_output) {
        true => {
            refuse("--report needs a file ('postmark report --output -' writes to standard output)")
        }
        false => Ok(()),
    }
}

/// Writes the HTML page, and with `--figures` also the figures for papers.
///
/// # Errors
/// Returns an error if a run or study does not exist or cannot be read, or a file cannot be
/// written.
pub fn report(arguments: &ReportArguments) -> Result<u8, Problem> {
    let request = PageRequest {
        words: &arguments.runs,
        compare: arguments.compare,
        metrics: &arguments.metric,
        unlike: arguments.conditions.unlike.as_ref(),
        figures: arguments.figures.is_some(),
    };
    let is_archived = request.is_archived();
    let archive_place = is_archived.then(|| place_of_one(arguments.archive.archive.as_deref()));
    let archive_place = archive_place.transpose()?;
    let files = request.files();
    let inputs: Vec<Input> = files.map(|run| Input::new("RUN", run)).collect();
    let mut outputs = Outputs::new(arguments.force, archive_place.as_ref(), &inputs)?;
    outputs.judge("--output", &arguments.output)?;
    let archive = is_archived.then(|| open(&arguments.archive)).transpose()?;
    let crash = match &arguments.runs[..] {
        [word] if !arguments.compare => super::crashes::find(word, &arguments.archive)?,
        _ => None,
    };
    let made = match crash {
        Some(crash) => PageFiles {
            page: crash.page(),
            figures: Vec::new(),
        },
        None => request.make(archive.as_ref())?,
    };
    let directory = arguments.figures.as_deref();
    let figures =
        directory.map_or_else(Vec::new, |directory| figure_files(directory, &made.figures));
    for (path, _) in &figures {
        outputs.judge("--figures", path)?;
    }
    let output = outputs.open("--output", &arguments.output)?;
    // The figures are written first: if their directory cannot be used, the old page remains.
    if let Some(directory) = directory {
        write_figures(&outputs, directory, &figures)?;
    }
    output.write(&made.page, WRITE_MAX)?;
    if !is_standard_output(&arguments.output) {
        print(&format!("Report: {}\n", shown(&arguments.output)))?;
    }
    Ok(0)
}

fn write_figures(
    outputs: &Outputs<'_>,
    directory: &Path,
    files: &[(PathBuf, &str)],
) -> Result<(), Problem> {
    std::fs::create_dir_all(directory)
        .map_err(|cause| unwritable("--figures", directory, &cause))?;
    for (path, text) in files {
        outputs.open("--figures", path)?.write(text, WRITE_MAX)?;
    }
    Ok(())
}

/// Paths and contents of the files of all figures: for each figure two SVG widths, the data and the
/// caption.
fn figure_files<'a>(directory: &Path, figures: &'a [PaperFigure]) -> Vec<(PathBuf, &'a str)> {
    let of_one = |figure: &'a PaperFigure| {
        [
            ("-1col.svg", &figure.one_column),
            ("-2col.svg", &figure.two_columns),
            (".csv", &figure.data),
            (".txt", &figure.caption),
        ]
        .map(|(end, text)| {
            let file = directory.join(format!("{}{end}", figure.name));
            (file, text.as_str())
        })
    };
    figures.iter().flat_map(of_one).collect()
}
