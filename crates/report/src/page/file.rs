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
pub(crate) const SCRIPT: &str = include_str!("../../style/page.js");
/// SHA-256 of [`SCRIPT`]. The content security policy permits only this script. Nothing is fetched
/// or sent, and images are in the file.
pub(crate) const SCRIPT_HASH: &str = "FH5X4Hw/CUmSEV0w3kI1kqrTwgZ0z52WghwncE8iyP0=";

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
    let frame = Frame {
        title,
        heading: title,
        head: "",
        before: "",
        data: &embedded::element(documents),
    };
    framed(&frame, main, Some((SCRIPT, SCRIPT_HASH)))
}

/// The parts of a file around its content.
pub(crate) struct Frame<'a> {
    pub title: &'a str,
    /// Text of the heading.
    pub heading: &'a str,
    /// HTML elements at the end of `<head>`.
    pub head: &'a str,
    /// HTML elements before the heading, such as a navigation.
    pub before: &'a str,
    /// HTML elements after the content.
    pub data: &'a str,
}

/// A file around the content `main`, with a script and the script's SHA-256 in Base64.
pub(crate) fn framed(frame: &Frame<'_>, main: &str, script: Option<(&str, &str)>) -> String {
    let (title, heading) = (html(frame.title), html(frame.heading));
    let (head, before, data) = (frame.head, frame.before, frame.data);
    let allowed = script.map_or_else(
        || "'none'".to_owned(),
        |(_, hash)| format!("'sha256-{hash}'"),
    );
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta \
         http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src \
         {allowed}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action \
         'none'\">\n<meta name=\"viewport\" content=\"width=device-width, \
         initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light \
         dark\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n{head}</head>\n<body>\n\
         {before}<header><h1>{heading}</h1></header>\n<main>\n"
    );
    page.push_str(main);
    page.push_str("</main>\n");
    page.push_str(data);
    if let Some((script, _)) = script {
        page.push_str("<script>");
        page.push_str(script);
        page.push_str("</script>\n");
    }
    page + "</body>\n</html>\n"
}
