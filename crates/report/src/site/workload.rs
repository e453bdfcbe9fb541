//! The page of a workload: the runs with one fingerprint, compared within their classes.

use document::sanitize::html;

use super::compared::tables;
use super::list::{SHORT_MAX, list};
use super::markup::{anchor, pairs};
use super::model::{Site, SiteRun, record_path};
use super::shell::{PageScript, page};

/// The page of the workload with this key; `None` if the site has no such workload.
pub fn workload(site: &Site, key: &str) -> Option<String> {
    let entry = site.workloads.get(key)?;
    let runs: Vec<&SiteRun> = site.runs.iter().filter(|run| run.workload == key).collect();
    let record = anchor("the record", &format!("../{}", record_path(&entry.id)));
    let mut main = pairs(&[
        ("Work", format!("{} (from {record})", html(&entry.words))),
        ("Fingerprint", html(&entry.fingerprint).into_owned()),
    ]);
    main += "<h2>Comparison</h2>\n<p>Runs with one fingerprint performed the same operations. They \
             are compared only within a class, and only with the same durability and cache. \
             INVALID and incomplete runs are not counted. Each number is that of one run, and \
             links to its record; of an even number of runs the median is the lower one of the \
             middle. The difference of two medians alone does not show that a system is faster: \
             a study has confidence intervals.</p>\n";
    main += &tables(site, &runs, "../");
    main += "<h2>Runs</h2>\n";
    main += &list(site, &runs, "../", None);
    let is_long = runs.len() > SHORT_MAX;
    let script = if is_long {
        PageScript::List
    } else {
        PageScript::None
    };
    let title = format!("Workload {} ({})", entry.name, key.get(..8).unwrap_or(key));
    Some(page(site, &title, "../", &main, script))
}
