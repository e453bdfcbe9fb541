//! Lists of runs. A short list is filtered without script, and has a page for each order. A long
//! list is filtered and sorted by the script of its page.

use std::cmp::Ordering;

use document::units::counted;

use super::filter::Filters;
use super::markup::{SiteCell, SiteColumn, SiteRow, moment, table};
use super::model::{Site, SiteRun, run_path};
use super::shell::{PageScript, page};

/// Maximum number of entries of a list that works completely without script.
pub(super) const SHORT_MAX: usize = 50;

/// An order of the list of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Begun,
    Workload,
    System,
    Rate,
    P99,
}

impl Order {
    pub const ALL: [Self; 5] = [
        Self::Begun,
        Self::Workload,
        Self::System,
        Self::Rate,
        Self::P99,
    ];

    /// The name of the page with this order.
    pub const fn file(self) -> &'static str {
        match self {
            Self::Begun => "runs.html",
            Self::Workload => "runs-by-workload.html",
            Self::System => "runs-by-system.html",
            Self::Rate => "runs-by-rate.html",
            Self::P99 => "runs-by-p99.html",
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Begun => "the newest first",
            Self::Workload => "by workload",
            Self::System => "by system",
            Self::Rate => "by rate, the highest first",
            Self::P99 => "by p99, the lowest first",
        }
    }

    fn compare(self, site: &Site, one: &SiteRun, other: &SiteRun) -> Ordering {
        let system = |run: &SiteRun| site.systems.get(&run.system).map(|of| of.name.clone());
        let rate = |run: &SiteRun| run.transactions_per_second.unwrap_or(f64::NEG_INFINITY);
        match self {
            // The runs of a site are sorted by time.
            Self::Begun => Ordering::Equal,
            Self::Workload => (&one.name, &one.workload).cmp(&(&other.name, &other.workload)),
            Self::System => system(one).cmp(&system(other)),
            Self::Rate => rate(other).total_cmp(&rate(one)),
            Self::P99 => {
                let p99 = |run: &SiteRun| run.p99_ns.unwrap_or(u64::MAX);
                p99(one).cmp(&p99(other))
            }
        }
    }
}

/// The page with all runs in an order. `None` for an order other than by time if the list is long,
/// because the script of the page then sorts it.
pub fn runs(site: &Site, order: Order) -> Option<String> {
    let is_short = site.runs.len() <= SHORT_MAX;
    if !is_short && order != Order::Begun {
        return None;
    }
    let mut all: Vec<&SiteRun> = site.runs.iter().collect();
    all.sort_by(|one, other| order.compare(site, one, other));
    let how = if is_short {
        order.words()
    } else {
        "the newest first"
    };
    let mut main = format!(
        "<p>{}, {how}. A time leads to the run's page, a number to the record that contains it. \
         Rates of different workloads or classes are not comparable: the page of a workload \
         compares its runs.</p>\n",
        counted(all.len() as u64, "run")
    );
    main += &list(site, &all, "", is_short.then_some(Order::ALL));
    let script = if is_short {
        PageScript::None
    } else {
        PageScript::List
    };
    Some(page(site, "Runs", "", &main, script))
}

/// A list of runs, with filters if it is short. `orders` are the pages with the same runs in
/// another order.
pub(super) fn list(site: &Site, runs: &[&SiteRun], up: &str, orders: Option<[Order; 5]>) -> String {
    let is_short = runs.len() <= SHORT_MAX;
    let sorted = |order: Order| orders.map(|_| format!("{up}{}", order.file()));
    let linked = |column: SiteColumn, order| SiteColumn {
        sorted: sorted(order),
        ..column
    };
    let columns = [
        linked(SiteColumn::words("Begun (UTC)"), Order::Begun),
        linked(SiteColumn::facet("Workload"), Order::Workload),
        linked(SiteColumn::words("System"), Order::System),
        SiteColumn::facet("File system"),
        SiteColumn::facet("Engine"),
        SiteColumn::number("Workers"),
        linked(SiteColumn::number("Transactions/s"), Order::Rate),
        linked(SiteColumn::number("p99"), Order::P99),
        SiteColumn::facet("Durability"),
        SiteColumn::facet("Cache"),
        SiteColumn::facet("Verdict"),
        SiteColumn::facet("Class"),
    ];
    let filters = is_short.then(|| Filters::of(runs));
    let rows: Vec<SiteRow> = runs
        .iter()
        .map(|run| SiteRow {
            classes: filters
                .as_ref()
                .map_or_else(String::new, |of| of.classes(run)),
            cells: cells(site, run, up),
        })
        .collect();
    let mut text = filters.map_or_else(String::new, |filters| filters.html());
    text += &table("Runs", &columns, &rows, !is_short);
    text
}

fn cells(site: &Site, run: &SiteRun, up: &str) -> Vec<SiteCell> {
    let system = site.systems.get(&run.system);
    let system = system.map_or(run.host.as_str(), |system| &system.name);
    vec![
        SiteCell::link(
            moment(run.begun_unix_ns),
            format!("{up}{}", run_path(&run.id)),
        ),
        SiteCell::link(&run.name, format!("{up}workload/{}.html", run.workload)),
        SiteCell::link(system, format!("{up}system/{}.html", run.system)),
        SiteCell::Text(run.file_system.clone()),
        SiteCell::Text(run.engine.clone()),
        SiteCell::count(run.workers as usize),
        SiteCell::rate(run, up),
        SiteCell::p99(run, up),
        SiteCell::Text(run.durability.clone()),
        SiteCell::Text(run.cache.clone()),
        SiteCell::outcome(run),
        SiteCell::Text(run.class.name().to_owned()),
    ]
}
