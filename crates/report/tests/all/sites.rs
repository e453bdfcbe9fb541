//! Pages of a static site: filters without script, long lists with the script, and comparisons
//! within classes.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use record::{Record, RunId};
use report::site::{
    CheckResult, Order, Site, SiteRun, SystemEntry, WorkloadEntry, feed, index, runs, workload,
};
use sha2::{Digest, Sha256};
use study::ResultClass;
use testkit::Shows;
use verdict::Summary;

use crate::pages::{HOSTILE, kept};

/// A site with this number of runs, each with another identity and rate.
pub fn site(count: u32, change: impl Fn(u32, &mut Record)) -> Site {
    let mut site = Site {
        title: "Results".to_owned(),
        ..Site::default()
    };
    for number in (1..=count).rev() {
        let mut record = kept();
        record.id = RunId::new(number.into());
        change(number, &mut record);
        let check = CheckResult {
            is_right: true,
            lines: vec!["Check: agrees".to_owned()],
        };
        let mut run = SiteRun::of(&record, &Summary::of(&record), check);
        run.begun_unix_ns += u64::from(number);
        run.transactions_per_second = Some(f64::from(number * 10));
        site.systems
            .entry(run.system.clone())
            .or_insert_with(|| SystemEntry::of(&record));
        site.workloads
            .entry(run.workload.clone())
            .or_insert_with(|| WorkloadEntry::of(&record));
        site.runs.push(run);
    }
    site
}

/// The identities of the runs on a page, in their order.
fn order(page: &str) -> Vec<u32> {
    let links = page
        .split("<tr")
        .skip(2)
        .filter_map(|row| row.split("run/").nth(1));
    links
        .filter_map(|link| u32::from_str_radix(link.get(..32)?, 16).ok())
        .collect()
}

#[test]
fn short_list_is_filtered_and_sorted_without_script() {
    let mut site = site(3, |number, record| {
        record.host.hostname = format!("host-{}", number % 2);
    });
    site.runs[0].class = ResultClass::Open;
    let newest = runs(&site, Order::Begun).unwrap();
    assert!(!newest.contains("<script"), "a short list needs no script");
    newest.shows("script-src 'none'");
    newest.shows("<legend>Class</legend>");
    newest.shows("body:has(#f0-0:checked) tbody tr:not(.f0-0) { display: none; }");
    newest.shows("<tr class=\"f0-0\">");
    newest.shows("href=\"runs-by-rate.html\"");
    assert_eq!(order(&newest), [3, 2, 1]);
    assert_eq!(order(&runs(&site, Order::Rate).unwrap()), [3, 2, 1]);
    site.runs[0].transactions_per_second = None;
    assert_eq!(order(&runs(&site, Order::Rate).unwrap()), [2, 1, 3]);
    assert_eq!(order(&runs(&site, Order::System).unwrap()), [2, 3, 1]);
}

#[test]
fn long_list_has_its_script_and_its_policy_permits_no_other() {
    let site = site(51, |_, _| ());
    let page = runs(&site, Order::Begun).unwrap();
    assert_eq!(runs(&site, Order::Rate), None);
    let script = page.split("<script>").nth(1).unwrap();
    let script = script.split("</script>").next().unwrap();
    let hash = BASE64_STANDARD.encode(Sha256::digest(script));
    page.shows(&format!("script-src 'sha256-{hash}';"));
    page.shows("<table class=\"list\">");
    assert_eq!(order(&page).len(), 51);
}

#[test]
fn workloads_are_compared_only_within_a_class_and_its_conditions() {
    let mut site = site(4, |_, _| ());
    site.runs[0].class = ResultClass::Open;
    site.runs[1].cache = "cold".to_owned();
    let key = site.workloads.keys().next().unwrap().clone();
    let page = workload(&site, &key).unwrap();
    let tables: Vec<&str> = page.split("<h3>").skip(1).collect();
    assert_eq!(tables.len(), 3, "{page}");
    assert!(tables[0].starts_with("Class open, "), "{}", tables[0]);
    // Runs 1 and 2 are alike: the lower one of the middle is the median, and has its record.
    let both = tables
        .iter()
        .find(|table| table.contains(">10.00</a>"))
        .unwrap_or_else(|| panic!("{page}"));
    both.shows("href=\"../record/00000000000000000000000000000001.json\">10.00</a>");
    both.shows("href=\"../record/00000000000000000000000000000002.json\">20.00</a>");
    assert_eq!(workload(&site, "none"), None);
}

#[test]
fn feed_and_overview_escape_hostile_names() {
    let mut site = site(2, |_, record| {
        record.host.hostname = HOSTILE.repeat(1_000);
        record.spec.preset = Some(HOSTILE.to_owned());
    });
    site.url = Some("https://example.org/".to_owned());
    let feed = feed(&site);
    assert!(
        !feed.contains("<script>") && !feed.contains('\u{202e}'),
        "{feed}"
    );
    feed.shows("<link href=\"https://example.org/run/00000000000000000000000000000002.html\"/>");
    feed.shows("<id>urn:postmark:run:00000000000000000000000000000001</id>");
    assert_eq!(feed.matches("<entry>").count(), 2);
    let page = index(&site);
    assert!(
        !page.contains("<script") && !page.contains("<img"),
        "{page}"
    );
    assert!(page.len() < 40_000, "{}", page.len());
}
