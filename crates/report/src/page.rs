//! One HTML file about runs that people send to each other: complete without network and without
//! script, with the records in it. The same records give the same bytes.
//!
//! What is shown is a document, as everywhere; this adds the file around it. The file's own policy
//! forbids every request and every script but one of ours, by its hash; what is embedded is data.

mod calls;
mod cells;
mod dots;
mod embedded;
pub(crate) mod over_time;
pub(crate) mod percentiles;
mod ratios;
mod run;
mod served;
mod sides;
mod study;
mod sweep;

use document::sanitize::html;
use document::{Document, html as shown};
use record::Record;

pub use self::dots::dots;
pub use self::embedded::{PAGE_BYTES_MAX, PageError, RECORDS_BYTES_MAX, fits, is_page, records};
pub use self::run::{conditions, document};
pub use self::study::{ComparedPage, comparison_conditions, comparison_document, comparison_page};

const STYLE: &str = concat!(
    include_str!("../style/page.css"),
    include_str!("../style/study.css")
);
/// Readouts, legends that switch series, sorted tables, commands to copy; the page is complete
/// without it.
const SCRIPT: &str = include_str!("../style/page.js");
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

/// The whole file.
pub fn page(runs: &[PageRun<'_>]) -> String {
    let names: Vec<String> = runs.iter().map(|run| run::name(run.record)).collect();
    let title = match names.as_slice() {
        [only] => format!("PostMark: {only}"),
        _ => format!("PostMark: {} runs", names.len()),
    };
    let mut page = String::new();
    if runs.len() > 1 {
        page.push_str("<nav aria-label=\"Runs\"><ol>\n");
        for (number, name) in names.iter().enumerate() {
            page.push_str(&format!(
                "<li><a href=\"#run-{}\">{}</a></li>\n",
                number + 1,
                html(name)
            ));
        }
        page.push_str("</ol></nav>\n");
    }
    for (number, run) in runs.iter().enumerate() {
        page.push_str(&format!("<article id=\"run-{}\">\n", number + 1));
        if runs.len() > 1 {
            page.push_str(&format!("<h2>{}</h2>\n", html(&names[number])));
        }
        let summary = record::Summary::of(run.record);
        page.push_str("<section class=\"strip\" aria-label=\"In short\">\n");
        page.push_str(&shown(&run::strip(run.record, &summary)));
        page.push_str("</section>\n");
        let mut rest = run.remarks.clone();
        rest.append(run::rest(run.record, &summary));
        rest.append(run.more.clone());
        page.push_str(&shown(&rest));
        page.push_str("</article>\n");
    }
    let documents: Vec<&str> = runs.iter().map(|run| run.json).collect();
    whole(&title, &page, &documents)
}

/// The file around what is shown, and the documents in it.
fn whole(title: &str, main: &str, documents: &[&str]) -> String {
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
