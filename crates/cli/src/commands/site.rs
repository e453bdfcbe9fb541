//! `postmark site`: builds a static site out of records, and checks submissions.

use std::path::Path;

use campaign::site::{CheckedSubmission, SiteRequest, build, check};
use document::Format;
use document::sanitize::{path as shown, sanitize};
use document::units::counted;

use crate::args::{SiteArguments, SiteCommand};
use crate::commands::run;
use crate::ui::problem::{Problem, print, refuse};

/// Exit status if a submission breaks a rule.
const BREAKS: u8 = 1;
/// Exit status if a file of a submission cannot be read.
const UNREADABLE: u8 = 2;
/// Largest length of a title in characters.
const TITLE_MAX: usize = 200;

/// Builds a site, or checks submissions. Returns the exit status.
///
/// # Errors
/// Returns an error if a directory cannot be read, or the site cannot be written.
pub fn site(arguments: &SiteArguments) -> Result<u8, Problem> {
    if let Some(SiteCommand::Check { directory, format }) = &arguments.command {
        return checked(directory, *format);
    }
    let Some(directory) = &arguments.directory else {
        return refuse("give the directory with the records");
    };
    let title = arguments.title.trim();
    if title.is_empty() || title.chars().count() > TITLE_MAX {
        return refuse(format!(
            "--title needs a text of at most {TITLE_MAX} characters"
        ));
    }
    let url = arguments.url.as_deref();
    if url.is_some_and(|url| !url.starts_with("https://") && !url.starts_with("http://")) {
        return refuse("--url needs an address like https://example.org/results");
    }
    let request = SiteRequest {
        directory,
        output: &arguments.output,
        title,
        url,
    };
    let built = build(request, &run::resolve)?;
    let mut text = format!(
        "Site: {} ({}, {}, {})\n",
        shown(&arguments.output),
        counted(built.runs as u64, "run"),
        counted(built.systems as u64, "system"),
        match built.studies {
            1 => "1 study".to_owned(),
            studies => format!("{studies} studies"),
        }
    );
    if built.problems > 0 {
        let problems = counted(built.problems as u64, "problem");
        text += &format!("{problems} of files and records: checks.html lists them\n");
    }
    print(&text)?;
    Ok(0)
}

fn checked(directory: &Path, format: Format) -> Result<u8, Problem> {
    let all = check(directory, &run::resolve)?;
    let mut code = 0;
    for submission in &all {
        code = code.max(match submission {
            of if of.is_unreadable => UNREADABLE,
            of if of.problems.is_empty() => 0,
            _ => BREAKS,
        });
        print(&match format {
            Format::Json => document::json_line(submission),
            _ => lines(submission),
        })?;
    }
    Ok(code)
}

/// A line for the submission, and a line for each problem, like those of a compiler.
fn lines(submission: &CheckedSubmission) -> String {
    let name = match submission.directory.as_str() {
        "" => ".",
        name => name,
    };
    let result = match submission.problems.len() {
        0 => "keeps the rules".to_owned(),
        problems => counted(problems as u64, "problem"),
    };
    let mut text = format!(
        "{}: {result}; class {}, {}\n",
        sanitize(name),
        submission.class.name(),
        counted(submission.records as u64, "record")
    );
    for problem in &submission.problems {
        text += &format!(
            "  {}:{}: {}\n",
            sanitize(&problem.file),
            problem.line,
            sanitize(&problem.why)
        );
    }
    text
}
