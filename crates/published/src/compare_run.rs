//! Compares a run with the published rows of its configuration. Computes how many times as fast the
//! run is, and explains what is comparable.

use document::units::{bytes, counted, seconds};
use record::{Edition, EngineName, Fact, Record, workload_in_words};
use serde::Serialize;
use verdict::{Level, Reason, Summary};

use crate::cells::distinct;
use crate::editions::{Plans, told_of_converted};
use crate::library::Library;
use crate::plain::why_not_plain;
use crate::shape::{ConfigurationShape, differences};
use crate::source::Figure;
use crate::submission::Rates;
use crate::submissions::{PublishedColumn, published};

/// The version of the JSON that [`Beside::show`] writes.
pub const SCHEMA_VERSION: u32 = 1;

/// A published figure beside the run's figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Against {
    /// The kind of figure. Data rates are in kilobytes (of 1,024 bytes) per second, and the elapsed
    /// time is in seconds.
    pub figure: Figure,
    pub printed: String,
    /// The published figure as a number. A wrong conversion in the source is corrected.
    pub theirs: f64,
    /// The figure of the run, in the same unit as `theirs`.
    pub ours: f64,
    /// How many times as fast the run is as the published system.
    pub factor: f64,
}

/// A published row, with the figures of the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BesideRow {
    pub source: String,
    pub year: Fact<u32>,
    /// The name of the table, and the names of other tables that repeat the row.
    pub tables: Vec<String>,
    /// The system's header in the source, and the build of its operating system if there are
    /// several.
    pub column: String,
    /// The person or organisation that measured the row.
    pub contributor: Fact<String>,
    /// The PostMark edition that produced the row: `1.0`, `1.5`, `1.0 or 1.5`, `neither` or `?`.
    /// The ratio of data read to data written identifies the edition. For a row without this ratio,
    /// this is the edition that the source names.
    pub edition: String,
    /// Whether the source converted the row's rates wrongly, so that the printed rates are too
    /// high.
    pub is_converted: bool,
    /// The figures that both the row and the run contain.
    pub figures: Vec<Against>,
}

/// The comparison of a run with all published rows of its configuration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Beside {
    pub schema: u32,
    /// The run's configuration, as in the headers of published tables; for mixes, a description of
    /// the workload.
    pub configuration: String,
    /// The PostMark edition (1.0 or 1.5) whose workload the run performed; not applicable to mixes.
    pub edition: Fact<Edition>,
    /// The run's rates; per process if the run has a published configuration.
    pub ours: Option<Rates>,
    /// All published rows of the same configuration.
    pub rows: Vec<BesideRow>,
    /// The reason why `rows` is empty; `None` if it is not empty.
    pub none: Option<String>,
    /// Sentences that explain what can be compared and what cannot.
    pub comparable: Vec<String>,
}

/// Compares a run with all published rows of the same configuration, of PostMark 1.0 and 1.5. The
/// run must be classic work with the same files, transactions, subdirectories and processes. All
/// other parameters of the workload must be the original PostMark's defaults.
pub fn beside(library: &Library, record: &Record) -> Beside {
    let summary = Summary::of(record);
    let shape = ConfigurationShape::of(&record.spec.workload);
    let mut beside = Beside {
        schema: SCHEMA_VERSION,
        configuration: shape.map_or_else(
            || workload_in_words(&record.spec.workload),
            |(shape, _)| shape.label(),
        ),
        edition: shape.map_or(Fact::NotApplicable, |(_, edition)| Fact::Known(edition)),
        ours: Rates::of(&summary),
        rows: Vec::new(),
        none: None,
        comparable: Vec::new(),
    };
    let Some((shape, edition)) = shape else {
        beside.none = Some(
            "the run is a mix, and all published results are of the classic workload (use \
             --preset paper-1000-50000 or another)"
                .to_owned(),
        );
        return beside;
    };
    beside.none = why_none(library, record, &summary, &shape);
    let (Some(ours), None) = (beside.ours, &beside.none) else {
        return beside;
    };
    let ours = ours.of_each(shape.processes);
    beside.ours = Some(ours);
    let row = |column: PublishedColumn| BesideRow {
        figures: against(&column, &ours),
        source: column.source,
        year: column.year,
        tables: column.tables,
        column: column.column,
        contributor: column.contributor,
        edition: column.edition,
        is_converted: column.is_converted,
    };
    let columns = published(library, &shape, &mut Plans::default());
    beside.rows = columns.into_iter().map(row).collect();
    beside.comparable = operations(edition, &beside.rows);
    beside
        .comparable
        .extend(comparable(record, &summary, &shape));
    beside
}

/// Returns the reason why the run cannot be compared, or `None` if it can.
fn why_none(
    library: &Library,
    record: &Record,
    summary: &Summary,
    shape: &ConfigurationShape,
) -> Option<String> {
    if let Some(why) = why_not_plain(record) {
        return Some(why.to_string());
    }
    let differences = differences(&record.spec.workload);
    let configurations = library.rows().into_iter().map(|row| row.configuration);
    let shapes = distinct(configurations.map(ConfigurationShape::of_configuration));
    if !shapes.contains(shape) {
        let labels: Vec<String> = shapes.iter().map(ConfigurationShape::label).collect();
        return Some(format!(
            "there are no published results for {} (there are some for {})",
            shape.label(),
            labels.join("; ")
        ));
    }
    if !differences.is_empty() {
        return Some(format!(
            "the run differs from the published configurations: {}",
            differences.join(", ")
        ));
    }
    Rates::of(summary)
        .is_none()
        .then(|| "the run has no rates, because its phases took no time".to_owned())
}

fn against(column: &PublishedColumn, ours: &Rates) -> Vec<Against> {
    let against = |(figure, ours): (Figure, f64)| {
        let printed = column.figure(figure)?;
        let theirs = printed.value;
        let factor = match figure {
            Figure::Elapsed => theirs / ours,
            _ => ours / theirs,
        };
        (theirs > 0.0 && ours > 0.0).then(|| Against {
            figure,
            printed: printed.printed.clone(),
            theirs,
            ours,
            factor,
        })
    };
    ours.all().into_iter().filter_map(against).collect()
}

/// For each PostMark edition that produced rows, returns a sentence on whether its operations equal
/// those of the run. Further sentences explain the rates, and name rows with wrong conversions.
fn operations(edition: Edition, rows: &[BesideRow]) -> Vec<String> {
    let mut editions = distinct(rows.iter().map(|row| row.edition.as_str()));
    // The run's own edition comes first, because its rows are the most comparable.
    editions.sort_by_key(|made| *made != edition.name());
    let sentence = |made: &&str| match *made {
        made if made == edition.name() => format!(
            "Comparable: rows of edition {made} have the same operations as this run, on files of \
             the same sizes, in the same order."
        ),
        unknown @ ("?" | "1.0 or 1.5") => format!(
            "Probably comparable: the edition of the rows with '{unknown}' is not certain, so \
             their file sizes may differ from this run's."
        ),
        "neither" => "Not comparable: rows marked 'neither' match no edition (another workload, \
                      or a misprint)."
            .to_owned(),
        made => format!(
            "Comparable in transactions: rows of edition {made} have the same number of them with \
             other file sizes, so data rates differ even at the same speed."
        ),
    };
    let mut sentences: Vec<String> = editions.iter().map(sentence).collect();
    sentences.push(
        "Transactions/s are over the time of the transactions, data rates over the time of the \
         whole run, in both."
            .to_owned(),
    );
    let wrong = rows.iter().filter(|row| row.is_converted);
    sentences.extend(told_of_converted(wrong.map(|row| &row.column)));
    sentences
}

/// Explains what a factor between an old and a new result compares.
pub(crate) const WHOLE_SYSTEMS: &str = "A factor therefore compares whole systems, with the \
                                        processors and memory of their time; it does not show \
                                        which file system is better.";

/// Returns sentences about the limits of the comparison: clock, cache, durability, engine and
/// verdict.
fn comparable(record: &Record, summary: &Summary, shape: &ConfigurationShape) -> Vec<String> {
    let transactions_ns = summary.paper.map_or(0, |paper| paper.transactions_ns);
    let mean_bytes = record.spec.workload.classic().map_or(0, |classic| {
        (classic.size_low_bytes + classic.size_high_bytes) / 2
    });
    let files = shape.files * u64::from(shape.processes);
    let pool_bytes = (files * mean_bytes) as f64;
    let mut sentences = vec![
        format!(
            "Not comparable, the clock: the original counts whole seconds, at least one, and \
             truncates rates to whole numbers. {} took {} s in this run; in the published \
             results, short runs and low rates have errors of 10 % and more.",
            counted(
                shape.transactions * u64::from(shape.processes),
                "transaction"
            ),
            seconds(transactions_ns)
        ),
        format!(
            "Not comparable, the cache: no published run dropped its cache or reports its state. \
             The machines of the published runs had 128 to 832 MB of memory, as far as known, for \
             a pool of about {} ({}). This run's cache policy was '{}'.",
            bytes(pool_bytes),
            counted(files, "file"),
            record.spec.cache
        ),
        format!(
            "Not comparable, durability: the original never syncs. File systems differed: UFS \
             waited for the disk at every new name, Linux never waited. This run's policy was \
             '{}'.",
            record.spec.durability
        ),
    ];
    sentences.extend(of_this_run(record, summary));
    sentences.push(WHOLE_SYSTEMS.to_owned());
    sentences
}

/// Returns sentences about the engine and the verdict of this run.
fn of_this_run(record: &Record, summary: &Summary) -> Vec<String> {
    let mut sentences = Vec::new();
    if record.spec.engine != EngineName::STDIO {
        sentences.push(format!(
            "The original reads and writes through buffered streams of the C library, with the \
             published blocks of 512 bytes; this run's engine was {}.",
            record.spec.engine
        ));
    }
    if summary.verdict.level != Level::Valid {
        sentences.push(format!(
            "This run is {}: {}",
            summary.verdict.level.name(),
            summary
                .verdict
                .reasons
                .first()
                .map_or_else(String::new, Reason::sentence)
        ));
    }
    sentences
}
