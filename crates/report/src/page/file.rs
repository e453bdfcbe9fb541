//! The file around the content: style, script, security policy, and embedded records.

use document::Document;
use document::sanitize::html;
use record::Record;

use super::embedded;

const STYLE: &str = concat!(
    include_str!("../../style/page.css"),
    include_str!("../../style/study.css")
);
/// The script adds readouts, legends that toggle series, sortable tables, and buttons that copy
/// commands. The page is complete without the script.
const SCRIPT: &str = include_str!("../../style/page.js");
/// The content security policy. Nothing is fetched or sent, and only [`SCRIPT`] is executed,
/// identified by its SHA-256. Images are in the file.
const POLICY: &str = "default-src 'none'; script-src \
                      'sha256-FH5X4Hw/CUmSEV0w3kI1kqrTwgZ0z52WghwncE8iyP0='; style-src \
                      'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

pub struct PageRun<'a> {
    pub record: &'a Record,
    /// The embedded JSON document, as in exports.
    pub json: &'a str,
    /// Tags and notes that users have added to the run in an archive.
    pub remarks: Document,
    /// Blocks after the run's own tables and charts, for example published results.
    pub more: Document,
}

/// The whole file, with the content and the embedded documents.
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
