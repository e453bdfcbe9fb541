//! The file around what is shown: style, script, policy, and the records in it.

use document::Document;
use document::sanitize::html;
use record::Record;

use super::embedded;

const STYLE: &str = concat!(
    include_str!("../../style/page.css"),
    include_str!("../../style/study.css")
);
/// Readouts, legends that switch series, sorted tables, commands to copy; the page is complete
/// without it.
const SCRIPT: &str = include_str!("../../style/page.js");
/// Nothing is fetched or sent, and nothing but [`SCRIPT`] is executed, by its SHA-256; pictures are
/// in the file.
const POLICY: &str = "default-src 'none'; script-src \
                      'sha256-q7C3fS+wrDJLxGT53vb8D3FPiyGnLAxNnjUd6y2Sl54='; style-src \
                      'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/// A run on a page.
pub struct PageRun<'a> {
    /// What is shown.
    pub record: &'a Record,
    /// The document that is embedded: JSON, as exports have it.
    pub json: &'a str,
    /// What an archive says of the run.
    pub remarks: Document,
    /// What stands behind the run's own tables and pictures, like published results.
    pub more: Document,
}

/// The file around what is shown, and the documents in it.
pub(super) fn whole(title: &str, main: &str, documents: &[&str]) -> String {
    let title = html(title);
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta \
         http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" \
         content=\"light \
         dark\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header><h1>{title}</h1></header>\n<main>\n"
    );
    page.push_str(main);
    page.push_str("</main>\n");
    page.push_str(&embedded::element(documents));
    page + "<script>" + SCRIPT + "</script>\n</body>\n</html>\n"
}
