//! The first lines of reports and plans, which describe the requested run.

use document::Document;
use document::units::{counted, exact_bytes, grouped, percent, size};
use record::{Action, Classic, Fact, Mix, Record, Role, RunSpec, Work, Workers, Workload};
use verdict::Summary;
use verdict::summary::{PoolSummary, Share};
use workload::sizes::{Bin, Sizes};

use super::{reasons, replay};
use crate::environment;
use crate::sizing::sentence;

pub(crate) fn render(document: &mut Document, record: &Record, summary: &Summary) {
    title(document, record);
    reasons::render(document, record, summary);
    requested(document, record, summary);
}

/// Adds the lines of [`render`] without the verdict, which is already at the top of a page.
pub(crate) fn without_verdict(document: &mut Document, record: &Record, summary: &Summary) {
    title(document, record);
    requested(document, record, summary);
}

fn title(document: &mut Document, record: &Record) {
    document.head(format!(
        "PostMark {}: {}, engine {}, on {}",
        record.tool.version,
        work(&record.spec),
        record.spec.engine,
        environment::places(record)
    ));
}

fn requested(document: &mut Document, record: &Record, summary: &Summary) {
    let workload = &record.spec.workload;
    workload_lines(document, workload, &summary.shares);
    if let Some(pool) = summary.pool.filter(|_| record.spec.engine.makes_files()) {
        document.pair(0, "Pool", size_of_pool(&pool));
    }
    document.list("How", "", &record.spec.settings());
    if let Some(plain) = plain_operations(record) {
        document.sentence("Plain calls", plain);
    }
    if let Some(sizing) = &record.sizing {
        document.sentence("Sizing", sentence(sizing, workload, &record.spec.drive));
    }
    document.pair(0, "Fingerprint", record.fingerprint.as_str());
    match &record.actual.stream_hash {
        Fact::Known(hash) => document.pair(0, "Stream", hash.to_string()),
        Fact::Unavailable(why) => document.pair(0, "Stream", format!("not available: {why}")),
        Fact::NotApplicable => {}
    }
}

/// Names the operations that the engine performed by system calls, because its own interface lacks
/// a request for them. Each name is followed by the number of operations.
fn plain_operations(record: &Record) -> Option<String> {
    let named = record.plain_operations.iter().map(|action| {
        let phases = record.actual.all_phases();
        let all = phases.flat_map(record::PhaseRecord::all_operations);
        let of_action = all.filter(|operation| operation.action == *action);
        let count = of_action.map(|operation| operation.meter.operations).sum();
        format!("{} ({})", action.name(), grouped(count))
    });
    let named: Vec<String> = named.collect();
    (!named.is_empty()).then(|| {
        format!(
            "{}: by system calls, because the interface of engine {} has no request for them here",
            named.join(", "),
            record.spec.engine
        )
    })
}

/// The name of the workload: its preset, or else its kind.
pub(crate) fn work(spec: &RunSpec) -> String {
    spec.preset.clone().unwrap_or_else(|| kind(&spec.workload))
}

/// The size of the pool, and its share of the memory.
pub(super) fn size_of_pool(pool: &PoolSummary) -> String {
    /// The smallest share of memory that is printed as a number.
    const SHARE_MIN: f64 = 0.000_5;
    let bytes = size(pool.bytes as f64);
    match pool.memory_fraction {
        None => bytes,
        Some(fraction) if fraction < SHARE_MIN => {
            format!("{bytes} (less than {} of memory)", percent(2.0 * SHARE_MIN))
        }
        Some(fraction) => format!("{bytes} ({} of memory)", percent(fraction)),
    }
}

pub(crate) fn kind(workload: &Workload) -> String {
    match &workload.work {
        Work::Classic(classic) => format!("edition {}", classic.edition),
        Work::Mix(mix) if mix.replay.is_some() => "replay".to_owned(),
        Work::Mix(_) => "mix".to_owned(),
    }
}

pub(crate) fn workload_lines(document: &mut Document, workload: &Workload, shares: &[Share]) {
    match &workload.work {
        Work::Classic(work) => classic(document, work),
        Work::Mix(work) => mix(document, workload, work, shares),
    }
    if let Some(contents) = &workload.contents {
        let mut words = vec![format!("contents {}", contents.kind)];
        if contents.dedup > 1.0 {
            words.push(format!("dedup {}", contents.dedup));
        }
        document.list("", "", &words);
    }
    match workload.replay() {
        Some(replay) => replay::lines(document, workload, replay),
        None => workers(document, workload),
    }
}

fn transactions(count: u64) -> String {
    if count == Workload::ENDLESS {
        "unlimited transactions".to_owned()
    } else {
        counted(count, "transaction")
    }
}

fn classic(document: &mut Document, workload: &Classic) {
    let directories = match workload.subdirectories {
        1 => "1 directory".to_owned(),
        several => format!("{} subdirectories", grouped(several.into())),
    };
    let sizes = match [workload.size_low_bytes, workload.size_high_bytes].map(exact_bytes) {
        [low, high] if low == high => low,
        [low, high] => format!("{low} to {high}"),
    };
    let pool = format!(
        "{} of {sizes}, {}, {directories}, seed {}",
        counted(workload.files, "file"),
        transactions(workload.transactions),
        workload.seed
    );
    document.pair(0, "Workload", pool);
    let blocks = format!(
        "blocks: read {}, write {}; biases: read/append={}, create/delete={}",
        exact_bytes(workload.read_block_bytes),
        exact_bytes(workload.write_block_bytes),
        i64::from(workload.bias_read),
        i64::from(workload.bias_create)
    );
    document.pair(0, "", blocks);
}

fn mix(document: &mut Document, workload: &Workload, mix: &Mix, shares: &[Share]) {
    let counts = [
        counted(mix.files, "file"),
        transactions(mix.transactions),
        format!("seed {}", mix.seed),
    ];
    document.list("Workload", "", &counts);
    for role in [Role::Worker, Role::Writer, Role::Reader] {
        let of_role = shares.iter().filter(|share| share.role == role);
        let words: Vec<String> = of_role
            .map(|share| format!("{} {}", share.action.name(), percent(share.fraction)))
            .collect();
        let lead = match role {
            Role::Worker => "",
            Role::Writer if mix.replay.is_some() => "",
            Role::Writer => "writers: ",
            Role::Reader => "readers: ",
        };
        document.list("", lead, &words);
    }
    match mix.replay {
        // What a replay does not draw is left out.
        Some(_) => document.list("", "", &places(mix, workload)[1..]),
        None => {
            document.list("", "sizes: ", &sizes(mix));
            document.list("", "", &places(mix, workload));
        }
    }
    let mut words = vec![
        format!("read {}", exact_bytes(mix.read_block_bytes)),
        format!("write {}", exact_bytes(mix.write_block_bytes)),
    ];
    if mix.align_bytes > 1 {
        words.push(format!(
            "sizes in multiples of {}",
            exact_bytes(mix.align_bytes)
        ));
    }
    document.list("", "blocks: ", &words);
}

/// The sizes of files, appends and ranges in a mix. The sizes of operations with weight 0 are left
/// out.
fn sizes(mix: &Mix) -> Vec<String> {
    let mut words = vec![format!("files {}", distribution(&mix.sizes))];
    if mix.weights.get(Action::Append) > 0 {
        words.push(format!("appends {}", distribution(&mix.append_sizes)));
        words.push(format!(
            "growing to at most {}",
            exact_bytes(mix.size_max_bytes)
        ));
    }
    if mix.weights.get(Action::ReadRange) > 0 {
        words.push(format!("ranges {}", distribution(&mix.range_sizes)));
    }
    words
}

/// A size distribution in a few words. Of a histogram with many bins, only the range and the median
/// are shown; `plan --format toml` prints all bins.
fn distribution(sizes: &Sizes) -> String {
    const BINS_SHOWN_MAX: usize = 4;
    match sizes {
        Sizes::Histogram(bins) if bins.len() > BINS_SHOWN_MAX => {
            let [low, median, high] = [sizes.low(), median(bins), sizes.high()].map(size_of_file);
            format!(
                "histogram of {} bins, {low}..{high}, median {median}",
                bins.len()
            )
        }
        sizes => sizes.to_string(),
    }
}

fn size_of_file(bytes: u64) -> String {
    size(bytes as f64)
}

/// The median of a histogram in bytes. Within a bin, which may overlap others, sizes are taken as
/// sorted.
fn median(bins: &[Bin]) -> u64 {
    let mut sorted = bins.to_vec();
    sorted.sort_by_key(|bin| (bin.low, bin.high));
    let half = bins.iter().map(|bin| bin.weight as f64).sum::<f64>() / 2.0;
    let mut below = 0.0;
    for bin in &sorted {
        let weight = bin.weight as f64;
        if below + weight >= half && weight > 0.0 {
            let within = (half - below) / weight;
            return bin.low + ((bin.high - bin.low) as f64 * within) as u64;
        }
        below += weight;
    }
    sorted.last().map_or(0, |bin| bin.high)
}

/// Popularity, directories, file names and think time of a mix.
fn places(mix: &Mix, workload: &Workload) -> Vec<String> {
    let mut words = vec![format!("popularity {}", mix.popularity)];
    words.push(match workload.directories() {
        count if mix.replay.is_some() => match count {
            0 => "no subdirectories".to_owned(),
            1 => "1 directory".to_owned(),
            count => format!("{} directories", grouped(count)),
        },
        0 => format!("directories {}", mix.layout.shape),
        count => format!(
            "directories {} ({} in {})",
            mix.layout.shape,
            grouped(count),
            match workload.location_weights().len() {
                1 => "all",
                _ => "each location",
            }
        ),
    });
    if let Some(entries) = mix.layout.entries_max {
        words.push(format!("each with at most {} entries", grouped(entries)));
    }
    if mix.layout.maildir {
        words.push("each with new and tmp".to_owned());
    }
    words.push(format!("names {}", mix.names));
    if mix.think != Default::default() {
        words.push(format!("think time {}", mix.think));
    }
    words
}

/// Describes the workers, unless there is only one.
fn workers(document: &mut Document, workload: &Workload) {
    let workers = workload.workers;
    let words = match workers {
        Workers::ONE => return,
        Workers::Private { workers } => format!(
            "{} with private pools; files and transactions are per worker",
            grouped(workers.into())
        ),
        Workers::Shared {
            writers,
            readers,
            pools,
        } => format!(
            "{}: {}, {}; transactions are per worker",
            match pools {
                1 => "shared pool".to_owned(),
                pools => format!("each of {} shared pools", grouped(pools.into())),
            },
            counted(writers.into(), "writer"),
            counted(readers.into(), "reader")
        ),
    };
    let (first, last) = (
        workload.worker_seed(0),
        workload.worker_seed(workers.count() - 1),
    );
    let seeds = if first == last {
        format!("all with seed {first}")
    } else {
        format!("seeds {first} to {last}")
    };
    document.pair(0, "Workers", format!("{words}; {seeds}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histogram_with_many_bins_is_shown_by_range_and_median() {
        let few = "histogram:1KiB..2KiB=1,4KiB=1";
        assert_eq!(distribution(&few.parse().unwrap()), few);
        let many = "histogram:4KiB=10,1KiB..2KiB=40,8KiB=10,16KiB=10,1MiB=30";
        let shown = distribution(&many.parse().unwrap());
        assert_eq!(shown, "histogram of 5 bins, 1 KiB..1 MiB, median 4 KiB");
        let even = "histogram:0..100=1,200..300=1,400..500=1,600..700=1,800..900=1";
        let shown = distribution(&even.parse().unwrap());
        assert_eq!(shown, "histogram of 5 bins, 0 B..900 B, median 450 B");
    }
}
