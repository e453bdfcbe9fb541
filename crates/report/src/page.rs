//! One HTML file about runs, made for sharing: complete without network and without script, with
//! the records embedded. The same records always produce the same bytes.
//!
//! The content of a page is a `Document`; submodule `file` adds the HTML around it. The content
//! security policy of the file forbids every request. It forbids every script except the page's
//! own, which it identifies by a hash. Embedded records are data, not code.

mod calls;
mod cells;
mod dots;
mod embedded;
mod file;
mod history;
pub(crate) mod labels;
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
use rundir::CrashReport;

use crate::crash;

pub use self::dots::dots;
pub use self::embedded::{PAGE_BYTES_MAX, PageError, RECORDS_BYTES_MAX, fits, is_page, records};
pub use self::file::PageRun;
use self::file::whole;
pub(crate) use self::file::{Frame, SCRIPT, SCRIPT_HASH, framed};
pub use self::history::history_page;
pub use self::run::{conditions, document};
pub(crate) use self::run::{name as title, rest, strip};
pub(crate) use self::sides::in_words;
pub(crate) use self::study::comparison_main;
pub use self::study::{ComparedPage, comparison_conditions, comparison_document, comparison_page};

/// The HTML file of a result of crash rounds. `json` is the embedded result.
pub fn crash_page(report: &CrashReport, remarks: &Document, json: &str) -> String {
    let title = format!("PostMark: crash: {}", report.summary());
    let mut all = remarks.clone();
    all.append(crash::page(report));
    let main = format!("<article>\n{}</article>\n", shown(&all));
    whole(&title, &main, &[json])
}

/// The HTML file of a document. `json` is the embedded data.
pub fn document_page(title: &str, document: &Document, json: &str) -> String {
    let main = format!("<article>\n{}</article>\n", shown(document));
    whole(title, &main, &[json])
}

/// The HTML file of one or several runs, with style, script and embedded records.
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
        let summary = verdict::Summary::of(run.record);
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
