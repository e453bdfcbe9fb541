//! Filters of short lists, which work without script: radio buttons, and rules of a style sheet
//! that hide the rows of other values.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use document::sanitize::html;

use super::model::SiteRun;

/// A name of a filter, and the value of a run.
type Facet = (&'static str, fn(&SiteRun) -> &str);

const FACETS: [Facet; 5] = [
    ("Workload", |run| &run.name),
    ("File system", |run| &run.file_system),
    ("Engine", |run| &run.engine),
    ("Verdict", |run| run.outcome()),
    ("Class", |run| run.class.name()),
];

/// The filters of a list of runs.
pub(super) struct Filters<'a> {
    /// The values of each facet that has several values.
    facets: Vec<(Facet, Vec<&'a str>)>,
}

impl<'a> Filters<'a> {
    pub(super) fn of(runs: &[&'a SiteRun]) -> Self {
        let values = |facet: Facet| {
            let all: BTreeSet<&str> = runs.iter().map(|run| facet.1(run)).collect();
            (facet, all.into_iter().collect::<Vec<_>>())
        };
        let facets = FACETS.into_iter().map(values);
        Self {
            facets: facets.filter(|(_, values)| values.len() > 1).collect(),
        }
    }

    /// The classes of a run's row.
    pub(super) fn classes(&self, run: &SiteRun) -> String {
        let facets = self.facets.iter().enumerate();
        let of = facets.map(|(facet, ((_, value), values))| {
            let at = values.iter().position(|one| *one == value(run));
            format!("f{facet}-{}", at.unwrap_or_default())
        });
        of.collect::<Vec<_>>().join(" ")
    }

    /// The radio buttons, and the rules of the style sheet.
    pub(super) fn html(&self) -> String {
        let mut text = String::from("<div class=\"facets\">\n");
        let mut style = String::new();
        for (facet, ((name, _), values)) in self.facets.iter().enumerate() {
            let is_long = values.iter().any(|value| value.len() > 30);
            let long = if is_long { " class=\"long\"" } else { "" };
            let _ = write!(
                text,
                "<fieldset{long}><legend>{name}</legend><label><input type=\"radio\" \
                 name=\"f{facet}\" checked> all</label>"
            );
            for (at, value) in values.iter().enumerate() {
                let _ = write!(
                    text,
                    "<label><input type=\"radio\" name=\"f{facet}\" id=\"f{facet}-{at}\"> \
                     {}</label>",
                    html(value)
                );
                let _ = writeln!(
                    style,
                    "body:has(#f{facet}-{at}:checked) tbody tr:not(.f{facet}-{at}) {{ display: \
                     none; }}"
                );
            }
            text.push_str("</fieldset>\n");
        }
        match style.is_empty() {
            true => String::new(),
            false => format!("<style>\n{style}</style>\n{text}</div>\n"),
        }
    }
}
