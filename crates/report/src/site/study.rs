//! The page of a study: its comparisons, and links to its runs.

use document::sanitize::html;
use study::Design;

use super::list::{SHORT_MAX, list};
use super::markup::anchor;
use super::model::{Site, SiteRun, StudyEntry};
use super::shell::{PageScript, page};
use crate::page::{ComparedPage, comparison_main};

/// Maximum size of the text of a design on a page, in bytes.
const DESIGN_BYTES_MAX: usize = 64 << 10;

/// The page of a study. `compared` is `None` if the records could not be compared, for the reason
/// `why`.
pub fn study(
    site: &Site,
    entry: &StudyEntry,
    compared: Option<&ComparedPage<'_>>,
    why: &str,
) -> String {
    let of_study = |run: &&SiteRun| run.study.as_ref().is_some_and(|part| part.key == entry.key);
    let runs: Vec<&SiteRun> = site.runs.iter().filter(of_study).collect();
    let mut main = String::from("<p><a href=\"#records\">Runs and records of this study</a></p>\n");
    match compared {
        Some(compared) => {
            main += &comparison_main(compared);
            if let Some(design) = compared.design {
                main += &design_text(design);
            }
        }
        None => main += &format!("<p>The runs are not compared: {}.</p>\n", html(why)),
    }
    main += "<h2 id=\"records\">Runs and records</h2>\n";
    main += &list(site, &runs, "../", None);
    let script = match runs.len() > SHORT_MAX {
        true => PageScript::List,
        false => PageScript::Charts,
    };
    page(site, &format!("Study {}", entry.name), "../", &main, script)
}

/// The page of a study file, none of whose runs are in the site.
pub fn planned_study(site: &Site, entry: &StudyEntry, design: &Design, file: &str) -> String {
    let mut main = format!(
        "<p>The file {} describes this study, and no record in the site is of it.</p>\n",
        anchor(file, &format!("../design/{}.toml", entry.key))
    );
    main += &design_text(design);
    page(
        site,
        &format!("Study {}", entry.name),
        "../",
        &main,
        PageScript::None,
    )
}

/// The text of the design. Its lines are escaped one by one, so that line ends remain.
fn design_text(design: &Design) -> String {
    let text = design.text.trim();
    if text.len() > DESIGN_BYTES_MAX {
        return "<p>The design is too long for this page: see the records.</p>\n".to_owned();
    }
    let lines: Vec<_> = text.lines().map(html).collect();
    format!(
        "<h2>Design</h2>\n<pre tabindex=\"0\">{}</pre>\n",
        lines.join("\n")
    )
}
