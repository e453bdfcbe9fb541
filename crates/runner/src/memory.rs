//! Checks that the machine has enough memory for a run, before the run creates files.
//!
//! Only memory that a run certainly uses is counted, so that no feasible run is refused. The files
//! of the run's pools, the contents and histograms of its workers, and its directories use this
//! memory. Growth of pools is not counted.

use document::units::{bytes, counted, grouped};
use rustix::process::{Resource, getrlimit};
use spec::{RunSpec, Stop};
use system::Host;
use system::memory::address_space_bytes;
use workload::{Phase, Work, Workers, Workload};

use crate::error::Refused;

/// Memory for each file of a mix in a private pool, in bytes (`workload/src/pool.rs`).
const FILE_BYTES: u64 = 24;
/// Memory for each file of a mix in a shared pool, in bytes: [`FILE_BYTES`], the file's claim and
/// its position (`shared/pool.rs`).
const SHARED_FILE_BYTES: u64 = 36;
/// Memory for each used slot of the classic file table, in bytes; an unused slot takes one bit
/// (`workload/src/table.rs`).
const ENTRY_BYTES: u64 = 15;
const SLOTS_A_BYTE: u64 = 8;
/// Bytes of a latency histogram (`measure`): 34 powers of two with 128 buckets of 8 bytes each.
const HISTOGRAM_BYTES: u64 = 34 * 128 * 8;
/// Size of the random data from which a worker generates contents (`workload/src/contents.rs`).
const CONTENTS_BASE_BYTES: u64 = 260 << 10;
/// Minimum memory for a thread's stack, buffers and tables, in bytes.
const WORKER_BYTES: u64 = 64 << 10;
/// Address space of a thread in bytes: 2 MiB for its stack and 64 KiB for guard pages.
const STACK_BYTES: u64 = (2 << 20) + (64 << 10);
/// Number of threads in addition to workers: supervision, writing, merging, and calls with a time
/// limit.
const OTHER_THREADS: u64 = 12;
/// Maximum heap memory for records, reports and the archive in a run with few workers, in bytes.
const HEAP_BYTES: u64 = 48 << 20;
/// Memory for a pool directory in bytes: its name, and its positions in the lists of directories to
/// create and to remove.
const DIRECTORY_BYTES: u64 = 80;
/// Memory that each worker needs for a location, in bytes. The length of the location's path is
/// added twice, because the path is stored twice.
const LOCATION_BYTES: u64 = 160;
/// Number of files whose sizes are generated to estimate the size of the largest contents.
const DRAWN: u64 = 4096;

/// Memory for one purpose, with advice for reducing it.
struct Part {
    bytes: u64,
    what: String,
    advice: &'static str,
}

/// The minimum memory of one rank, split by purpose.
fn parts(request: &RunSpec) -> Vec<Part> {
    // A worker that checks operations of another rank keeps that worker's pool in addition to its
    // own.
    let checked = if request.checks_across() { 2 } else { 1 };
    let request = &request.of_one_rank();
    let workload = &request.workload;
    let (workers, pools) = (
        u64::from(workload.workers.count()),
        u64::from(workload.streams()),
    );
    let files = workload.files().saturating_mul(pools);
    let locations = request.targets.len() as u64;
    let directories = workload.directories().saturating_mul(locations);
    let paths: u64 = request
        .targets
        .iter()
        .map(|target| 2 * target.as_os_str().len() as u64 + LOCATION_BYTES)
        .sum();
    let contents = contents_bytes(workload);
    vec![
        Part {
            bytes: pools_bytes(workload, files, checked),
            what: format!("{} in its pools", counted(files, "file")),
            advice: "use fewer --files",
        },
        Part {
            bytes: directories.saturating_mul(DIRECTORY_BYTES),
            what: format!("{} directories", grouped(directories)),
            advice: "use fewer directories",
        },
        Part {
            bytes: workers.saturating_mul(buffers_bytes(request, contents)),
            what: format!(
                "contents of up to {} for each of {}",
                bytes(contents as f64),
                counted(workers, "worker")
            ),
            advice: "use smaller files or fewer workers",
        },
        Part {
            bytes: workers.saturating_mul(histograms(request) * HISTOGRAM_BYTES + WORKER_BYTES),
            what: format!("latencies of {}", counted(workers, "worker")),
            advice: "use fewer workers, or --no-latencies",
        },
        Part {
            bytes: workers.saturating_mul(paths),
            what: format!(
                "{} for each of {}",
                counted(locations, "location"),
                counted(workers, "worker")
            ),
            advice: "use fewer workers or targets",
        },
    ]
}

/// Bytes of a rank's pools, including those that it checks for other ranks.
fn pools_bytes(workload: &Workload, files: u64, checked: u64) -> u64 {
    let pool = match (&workload.work, workload.workers) {
        (Work::Classic(classic), _) => files.saturating_mul(ENTRY_BYTES).saturating_add(
            classic
                .slots()
                .saturating_mul(u64::from(workload.streams()))
                / SLOTS_A_BYTE,
        ),
        (Work::Mix(_), Workers::Shared { .. }) => files.saturating_mul(SHARED_FILE_BYTES),
        (Work::Mix(_), Workers::Private { .. }) => files.saturating_mul(FILE_BYTES),
    };
    match workload.workers {
        Workers::Private { .. } => pool.saturating_mul(checked),
        Workers::Shared { .. } => pool,
    }
}

fn buffers_bytes(request: &RunSpec, contents: u64) -> u64 {
    let read = contents.min(request.workload.read_block_bytes());
    contents
        .saturating_mul(if request.verify { 2 } else { 1 })
        .saturating_add(read)
        .saturating_add(if request.workload.mix().is_some() {
            CONTENTS_BASE_BYTES
        } else {
            0
        })
}

/// Number of histograms of one worker: one for each kind of operation in each phase.
fn histograms(request: &RunSpec) -> u64 {
    if !request.latencies {
        return 0;
    }
    let kinds = |phase| request.workload.actions(phase).len() as u64;
    let rounds = match request.drive.stop {
        // Histograms of rounds older than the steady-state window are merged into one.
        Stop::Steady(_) => measure::steady::WINDOW_ROUNDS as u64,
        Stop::Transactions | Stop::After(_) => 1,
    };
    kinds(Phase::Prepare) + kinds(Phase::Transactions) * rounds + kinds(Phase::Delete)
}

/// Size of the largest contents that a worker certainly generates, in bytes.
fn contents_bytes(workload: &Workload) -> u64 {
    match &workload.work {
        // The classic text is as long as the largest file.
        Work::Classic(classic) => classic.size_high_bytes,
        Work::Mix(mix) if mix.replay.is_some() => mix.content_bytes_max(),
        Work::Mix(mix) => {
            let mixer = workload.mixer(mix, 0);
            let drawn =
                (1..=mix.files.min(DRAWN)).map(|number| mixer.births().file(number).size_bytes);
            drawn.max().unwrap_or(0)
        }
    }
}

/// Returns the smallest memory limit of this process, with a description of the limit. Limits are
/// the machine's available memory, the control group's limit and the address-space limit (`ulimit
/// -v`).
fn available(host: &Host) -> Option<(u64, &'static str)> {
    let of_group = host
        .cgroup
        .known()
        .and_then(|cgroup| cgroup.memory_limit_bytes.known());
    let of_process = getrlimit(Resource::As).current;
    let machine = host
        .memory_available_bytes
        .known()
        .map(|bytes| (*bytes, "of the machine's memory are available"));
    let group = of_group.map(|bytes| (*bytes, "are the control group's limit"));
    let process = of_process.map(|bytes| (bytes, "are the limit of this process (ulimit -v)"));
    [machine, group, process]
        .into_iter()
        .flatten()
        .min_by_key(|(bytes, _)| *bytes)
}

/// Describes why memory does not suffice; `None` if it suffices or is unknown.
pub fn shortage(request: &RunSpec, host: &Host) -> Option<String> {
    let lacking = available(host).and_then(|available| lack(request, available));
    lacking.or_else(|| {
        lack_of_address_space(
            request,
            getrlimit(Resource::As).current?,
            address_space_bytes()?,
        )
    })
}

/// Describes why the address space does not suffice. The limit of the address space also counts
/// reserved memory that is never touched. An allocation beyond the limit aborts the program.
fn lack_of_address_space(request: &RunSpec, limit: u64, taken: u64) -> Option<String> {
    let workers = u64::from(request.of_one_rank().workload.workers.count());
    let threads = workers
        .saturating_add(OTHER_THREADS)
        .saturating_mul(STACK_BYTES);
    let parts = parts(request);
    let parts = parts
        .iter()
        .fold(0_u64, |sum, part| sum.saturating_add(part.bytes));
    let needed = [threads, parts, HEAP_BYTES]
        .into_iter()
        .fold(taken, u64::saturating_add);
    (limit < needed).then(|| {
        format!(
            "not enough address space: the run needs {} KiB, and the limit of this process is {} \
             KiB (raise it with ulimit -v, or use fewer workers or --files)",
            needed.div_ceil(1 << 10),
            limit >> 10
        )
    })
}

fn lack(request: &RunSpec, (available, whose): (u64, &str)) -> Option<String> {
    let parts = parts(request);
    let needed = parts
        .iter()
        .fold(0_u64, |sum, part| sum.saturating_add(part.bytes));
    if needed <= available {
        return None;
    }
    let largest = parts.iter().max_by_key(|part| part.bytes)?;
    Some(format!(
        "not enough memory: the run needs at least {} ({} for {}), and {} {whose} ({})",
        bytes(needed as f64),
        bytes(largest.bytes as f64),
        largest.what,
        bytes(available as f64),
        largest.advice
    ))
}

/// Refuses a run that needs more memory than the machine offers.
pub(crate) fn refuse_without(request: &RunSpec, host: &Host) -> Result<(), Refused> {
    // An invalid workload is reported as such, even if memory would not suffice.
    request.workload.validate()?;
    shortage(request, host).map_or(Ok(()), |lack| Err(Refused::NoMemory(lack)))
}

#[cfg(test)]
mod tests {
    use system::Fact;
    use workload::layout::Shape;
    use workload::sizes::Sizes;
    use workload::{Classic, Mix};

    use super::*;
    use spec::Place;

    fn told(workload: impl Into<Workload>, locations: usize) -> Option<String> {
        let locations = vec!["/mnt/somewhere".into(); locations];
        let request = RunSpec::classic(workload.into(), locations, Place::OwnDirectory);
        lack(&request, (4 << 30, "are available"))
    }

    fn of(workload: impl Into<Workload>, workers: Workers) -> Workload {
        Workload {
            workers,
            ..workload.into()
        }
    }

    #[test]
    fn message_about_memory_shortage_names_the_largest_part() {
        let many = Workers::Private { workers: 4096 };
        let shared = Workers::Shared {
            writers: 4000,
            readers: 96,
            pools: 1,
        };
        let files = |files| Mix {
            files,
            ..Mix::default()
        };
        let mut wide = Mix::default();
        wide.layout.shape = Shape::Tree {
            width: 1 << 24,
            depth: 1,
        };
        wide.layout.maildir = true;
        let large = Mix {
            sizes: Sizes::Fixed(1 << 30),
            size_max_bytes: 1 << 30,
            ..Mix::default()
        };
        let large_classic = Classic {
            size_high_bytes: (1 << 31) - 1,
            ..Classic::default()
        };
        let many_files = Classic {
            files: 1 << 30,
            ..Classic::default()
        };
        for (workload, locations, words) in [
            (of(files(1 << 35), Workers::ONE), 1, "use fewer --files"),
            (of(files(1 << 27), shared), 1, "use fewer --files"),
            (of(files(100_000), many), 1, "use fewer --files"),
            (of(many_files, Workers::ONE), 1, "use fewer --files"),
            (of(wide, Workers::ONE), 2, "use fewer directories"),
            (
                of(large, Workers::Private { workers: 8 }),
                1,
                "contents of up to 1.00 GiB for each of 8 workers",
            ),
            (
                of(large_classic, Workers::Private { workers: 8 }),
                1,
                "use smaller files or fewer workers",
            ),
            (
                of(Mix::default(), many),
                5_000,
                "use fewer workers or targets",
            ),
        ] {
            let told = told(workload, locations).unwrap();
            assert!(
                told.contains(words) && told.contains("4.00 GiB are available"),
                "{words}: {told}"
            );
        }
    }

    #[test]
    fn run_that_fits_into_memory_is_not_refused() {
        let rare = Mix {
            sizes: "lognormal:median=8KiB,sigma=1.2,max=1GiB".parse().unwrap(),
            size_max_bytes: 1 << 30,
            ..Mix::default()
        };
        let files = Mix {
            files: 50_000_000,
            ..Mix::default()
        };
        for workload in [
            Classic::default().into(),
            of(rare, Workers::Private { workers: 64 }),
            files.into(),
            of(Mix::default(), Workers::Private { workers: 4096 }),
        ] {
            assert_eq!(told(workload, 1), None);
        }
    }

    #[test]
    fn run_is_not_refused_if_available_memory_is_unknown() {
        let mut host = Host::read(&system::Sources::default());
        assert!(available(&host).is_some());
        host.memory_available_bytes = Fact::NotApplicable;
        host.cgroup = Fact::NotApplicable;
        // Only the address-space limit of this process remains, if it is set.
        assert_eq!(
            available(&host).is_some(),
            getrlimit(Resource::As).current.is_some()
        );
    }

    #[test]
    fn address_space_check_counts_stacks_of_all_workers() {
        let taken = 100 << 20;
        let lacks = |workers, limit| {
            let workload = of(Mix::default(), Workers::Private { workers });
            let request =
                RunSpec::classic(workload, vec!["/mnt/somewhere".into()], Place::OwnDirectory);
            lack_of_address_space(&request, limit, taken)
        };
        assert_eq!(lacks(4, 1 << 30), None);
        let told = lacks(4, 120 << 20).unwrap();
        assert!(
            told.contains("and the limit of this process is 122880 KiB"),
            "{told}"
        );
        assert_eq!(lacks(64, 1 << 30), None);
        assert!(lacks(1_000, 1 << 30).is_some());
    }
}
