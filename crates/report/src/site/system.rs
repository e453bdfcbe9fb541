//! The page of a system: hardware and software, and its runs.

use super::list::{SHORT_MAX, list};
use super::markup::anchor;
use super::model::{Site, SiteRun, record_path};
use super::shell::{PageScript, page};

/// The page of the system with this key; `None` if the site has no such system.
pub fn system(site: &Site, key: &str) -> Option<String> {
    let entry = site.systems.get(key)?;
    let runs: Vec<&SiteRun> = site.runs.iter().filter(|run| run.system == key).collect();
    let to = format!("../{}", record_path(&entry.id));
    let mut main = format!(
        "<p class=\"from\">As the record {} describes it.</p>\n",
        anchor(&entry.id, &to)
    );
    main += &entry.facts;
    main += "<h2>Runs</h2>\n";
    main += &list(site, &runs, "../", None);
    let is_long = runs.len() > SHORT_MAX;
    let script = if is_long {
        PageScript::List
    } else {
        PageScript::None
    };
    Some(page(
        site,
        &format!("System {}", entry.name),
        "../",
        &main,
        script,
    ))
}
