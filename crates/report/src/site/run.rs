//! The page of a run: class, check and links, and then the content of its own page.

use document::html as rendered;
use document::sanitize::html;
use record::Record;
use study::ResultClass;
use verdict::Summary;

use super::markup::{anchor, pairs};
use super::model::{Site, SiteRun, record_path};
use super::shell::{PageScript, page};
use crate::page::{rest, strip, title};

/// The page of a run.
pub fn run(site: &Site, run: &SiteRun, record: &Record) -> String {
    let summary = Summary::of(record);
    let mut main = String::new();
    let file = format!("../{}", record_path(&run.id));
    main += &format!(
        "<p>All numbers of this page are from the record {}, or derived from it.</p>\n",
        anchor(&format!("{}.json", run.id), &file)
    );
    main += "<section class=\"strip\" aria-label=\"In short\">\n";
    main += &rendered(&strip(record, &summary));
    main += "</section>\n";
    main += &places(site, run);
    main += &class(run);
    main += "<h2>Check of the record</h2>\n<ul>\n";
    for line in &run.check.lines {
        main += &format!("<li>{}</li>\n", html(line));
    }
    main += "</ul>\n";
    main += &rendered(&rest(record, &summary));
    page(site, &title(record), "../", &main, PageScript::Charts)
}

fn places(site: &Site, run: &SiteRun) -> String {
    let system = site.systems.get(&run.system);
    let system = system.map_or(run.host.as_str(), |system| &system.name);
    let mut rows = vec![
        (
            "System",
            anchor(system, &format!("../system/{}.html", run.system)),
        ),
        (
            "Workload",
            anchor(&run.name, &format!("../workload/{}.html", run.workload)),
        ),
        ("Class", run.class.name().to_owned()),
    ];
    if let Some(part) = &run.study {
        let study = site.studies.iter().find(|study| study.key == part.key);
        let name = study.map_or("study", |study| &study.name);
        let place = format!(
            "{}, block {}, attempt {}{}",
            html(&part.cell),
            part.block,
            part.attempt,
            if part.is_twin { ", A/A control" } else { "" }
        );
        let to = format!("../study/{}.html", part.key);
        rows.push(("Study", format!("{}: {place}", anchor(name, &to))));
    }
    if let Some(disclosure) = run.submission.and_then(|at| site.submissions.get(at)) {
        for (name, value) in [
            ("Contributor", &disclosure.contributor),
            ("As described", &disclosure.system),
            ("Tuned", &disclosure.tuned),
            ("Licence", &disclosure.licence),
        ] {
            rows.push((name, html(value).into_owned()));
        }
    }
    format!("<h2>Where it belongs</h2>\n{}", pairs(&rows))
}

/// Why the run has its class.
fn class(run: &SiteRun) -> String {
    if run.class == ResultClass::Strict {
        return String::new();
    }
    let mut text = format!(
        "<details><summary>Why the class is {} and not strict</summary>\n<ul>\n",
        run.class.name()
    );
    if run.breaches.is_empty() {
        text += "<li>no submission asks for the class strict</li>\n";
    }
    for breach in &run.breaches {
        text += &format!("<li>{}</li>\n", html(&breach.to_string()));
    }
    text + "</ul>\n</details>\n"
}
