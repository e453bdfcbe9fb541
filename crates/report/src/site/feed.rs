//! The Atom feed (RFC 4287): the newest studies and runs.

use std::fmt::Write as _;

use document::sanitize::html;
use document::units::utc;

use super::model::{Site, run_path};

/// Maximum number of runs in the feed.
const ENTRIES_MAX: usize = 50;

/// The feed. Its times are those of the records, so the same records produce the same feed.
pub fn feed(site: &Site) -> String {
    let base = site.url.as_deref().unwrap_or("");
    let id = site.url.as_deref().unwrap_or("urn:postmark:site");
    let newest = site.runs.first().map_or(0, |run| run.begun_unix_ns);
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed \
         xmlns=\"http://www.w3.org/2005/Atom\">\n<title>{}</title>\n<id>{}</id>\n<updated>{}\
         </updated>\n<author><name>{}</name></author>\n<link rel=\"self\" \
         href=\"{}feed.xml\"/>\n<link href=\"{}index.html\"/>\n",
        html(&site.title),
        html(id),
        instant(newest),
        html(&site.title),
        html(base),
        html(base)
    );
    let mut studies: Vec<_> = site.studies.iter().filter(|study| study.runs > 0).collect();
    studies.sort_by(|one, other| {
        (other.begun_unix_ns, &other.key).cmp(&(one.begun_unix_ns, &one.key))
    });
    for study in studies.into_iter().take(ENTRIES_MAX) {
        let what = format!(
            "Study {}: {} runs, {} blocks",
            study.name, study.runs, study.blocks
        );
        let to = format!("study/{}.html", study.key);
        let id = format!("study:{}", study.key);
        entry(&mut text, base, &id, &what, &to, study.begun_unix_ns);
    }
    for run in site.runs.iter().take(ENTRIES_MAX) {
        let rate = document::units::rate(run.transactions_per_second);
        let what = format!(
            "{} on {}: {rate} transactions/s, {}",
            run.name,
            run.file_system,
            run.outcome()
        );
        let id = format!("run:{}", run.id);
        entry(
            &mut text,
            base,
            &id,
            &what,
            &run_path(&run.id),
            run.begun_unix_ns,
        );
    }
    text + "</feed>\n"
}

fn entry(text: &mut String, base: &str, id: &str, what: &str, to: &str, begun_unix_ns: u64) {
    let _ = writeln!(
        text,
        "<entry><title>{}</title><id>urn:postmark:{id}</id><updated>{}</updated><link \
         href=\"{}{to}\"/><summary>{}</summary></entry>",
        html(what),
        instant(begun_unix_ns),
        html(base),
        html(what)
    );
}

/// A time as RFC 3339.
fn instant(unix_ns: u64) -> String {
    let moment = utc(unix_ns);
    format!("{}Z", moment.replacen(' ', "T", 1))
}
