//! The frame of all pages: navigation, feed, style and script.

use super::model::Site;
use crate::page::{Frame, SCRIPT, SCRIPT_HASH, framed};

const STYLE: &str = include_str!("../../style/site.css");
const LIST_SCRIPT: &str = include_str!("../../style/site.js");
/// SHA-256 of [`LIST_SCRIPT`]. The content security policy permits only this script.
const LIST_SCRIPT_HASH: &str = "cSvlgQ6V37xHfidKuxWmXFBLwSF3TIRWy6UTa06T6QI=";

/// The script of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageScript {
    None,
    /// Readouts of charts.
    Charts,
    /// Filters and orders of long lists.
    List,
}

const PAGES: [(&str, &str); 7] = [
    ("index.html", "Overview"),
    ("runs.html", "Runs"),
    ("systems.html", "Systems"),
    ("workloads.html", "Workloads"),
    ("studies.html", "Studies"),
    ("rules.html", "Rules"),
    ("checks.html", "Checks"),
];

/// The complete page. `up` leads from the page to the root of the site: empty, or `../`.
pub(super) fn page(site: &Site, title: &str, up: &str, main: &str, script: PageScript) -> String {
    let mut before = String::from("<nav class=\"site\" aria-label=\"Site\"><ul>\n");
    for (to, name) in PAGES {
        let is_current = match to {
            "index.html" => title == site.title,
            _ => up.is_empty() && title == name,
        };
        let current = if is_current {
            " aria-current=\"page\""
        } else {
            ""
        };
        before.push_str(&format!(
            "<li><a href=\"{up}{to}\"{current}>{name}</a></li>\n"
        ));
    }
    before.push_str(&format!(
        "<li><a href=\"{up}feed.xml\">Feed</a></li>\n</ul></nav>\n"
    ));
    let whole = match title == site.title {
        true => title.to_owned(),
        false => format!("{title} - {}", site.title),
    };
    let head = format!(
        "<style>\n{STYLE}</style>\n<link rel=\"alternate\" type=\"application/atom+xml\" \
         title=\"Feed\" href=\"{up}feed.xml\">\n"
    );
    let frame = Frame {
        title: &whole,
        heading: title,
        head: &head,
        before: &before,
        data: "",
    };
    let script = match script {
        PageScript::None => None,
        PageScript::Charts => Some((SCRIPT, SCRIPT_HASH)),
        PageScript::List => Some((LIST_SCRIPT, LIST_SCRIPT_HASH)),
    };
    framed(&frame, main, script)
}
