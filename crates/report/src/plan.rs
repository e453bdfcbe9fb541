//! Shows a plan: the workload, the expected time, space and memory, and what the run would do.

use document::units::{bound, bytes, counted, grouped, percent, rate};
use document::{Cell, Document, Number, Table, WIDTH};
use record::{
    Action, End, ExpectedReason, Fact, Load, Note, Phase, PlanRecord, Room, RoomVolume, Workers,
    Workload, share,
};
use verdict::summary::{shares, transactions_meant};

use crate::classic;
use crate::environment;
use crate::estimated;
use crate::load_levels;
use crate::sizing::{assumed, sentence};
use crate::text::replay::deviations;
use crate::text::{work, workload_lines};

pub fn render(record: &PlanRecord) -> String {
    document::text(&plan(record), WIDTH)
}

/// The plan with notes about the options. If the transactions end by time, `first` is the number of
/// transactions of each worker that the plan covers.
pub fn with_notes(record: &PlanRecord, first: Option<u64>, notes: &[Note]) -> Document {
    let mut document = plan(record);
    if let Some(first) = first {
        document.gap();
        document.line(format!(
            "The transactions end by time, so this plan covers the first {} transactions of each \
             worker.",
            grouped(first)
        ));
    }
    for note in notes {
        document.gap();
        document.line(note.to_string());
    }
    document
}

pub fn plan(record: &PlanRecord) -> Document {
    let mut whole = Document::default();
    let document = &mut whole;
    document.head(format!(
        "PostMark {}: plan, {}, engine {} (target unchanged)",
        record.tool.version,
        work(&record.spec),
        record.spec.engine
    ));
    workload_lines(
        document,
        &record.spec.workload,
        &shares(&record.spec.workload),
    );
    if record.spec.ranks > 1 {
        document.sentence("Ranks", ranks(record));
    }
    document.list("How", "", &record.spec.settings());
    let levels_max = record.time.as_ref().and_then(|time| time.load_levels);
    load_levels::render(document, record, levels_max);
    if let Some(load) = record.load_level {
        let words = format!(
            "all numbers of operations, files and bytes are those of the level with {}, the \
             largest",
            level(load)
        );
        document.sentence("This plan", words);
    }
    sizing(document, record);
    if let Some(time) = &record.time {
        document.sentence("Time", estimated::words(time));
    }
    for (number, reason) in record.expected.iter().enumerate() {
        let key = if number == 0 { "Verdict" } else { "" };
        document.sentence(key, bound(&expected(reason)));
    }
    identity(document, record);
    document.gap();
    operations(document, record);
    transactions(document, record);
    end(document, record);
    data(document, record);
    if let Some(replay) = record.spec.workload.replay() {
        deviations(document, replay);
        document.gap();
    }
    room(document, record);
    whole
}

/// Adds the fingerprint of the workload and the hash of its stream. A plan that is an estimate has
/// no hash.
fn identity(document: &mut Document, record: &PlanRecord) {
    let plan = &record.plan;
    document.pair(0, "Fingerprint", plan.fingerprint.as_str());
    if let Some(followed) = record.followed {
        let words = format!(
            "simulated only {} of each pool and {} of each worker, because the whole takes too \
             much time or memory. Further files count with the mean size; further transactions \
             are left out.",
            counted(followed.files, "file"),
            counted(followed.transactions, "transaction")
        );
        document.sentence("ESTIMATE", words);
    } else if plan.is_estimate {
        document.warning(
            "ESTIMATE: the plan assumes equally fast workers in the shared pool; a run differs \
             slightly.",
        );
    } else {
        document.pair(0, "Stream", plan.stream_hash.to_string());
    }
}

/// The workers or ranks of a load level, as words.
pub fn level(load: Load) -> String {
    match load {
        Load::Workers(count) => counted(count.into(), "worker"),
        Load::Ranks(count) => counted(count.into(), "rank"),
        Load::Closed | Load::Rate(_) | Load::Phase(_) => "a load of its own".to_owned(),
    }
}

/// The number of processes, the number of workers in each process, and the command that starts the
/// processes.
fn ranks(record: &PlanRecord) -> String {
    let ranks = record.spec.ranks;
    let each = record.spec.workload.workers.count() / ranks;
    format!(
        "{ranks} processes with {} each; a launcher starts them: mpirun -n {ranks} postmark run \
         ...",
        counted(each.into(), "worker")
    )
}

/// A reason why the verdict on the run will be DOUBTFUL or INVALID, and what the user can do.
fn expected(reason: &ExpectedReason) -> String {
    let ExpectedReason {
        rule,
        level,
        sentence,
        advice,
        above_per_second,
        rate_per_second,
    } = reason;
    let above = above_per_second.map_or_else(String::new, |above| {
        let expected = rate_per_second.map_or_else(String::new, |expected| {
            format!(" (expected: {})", rate(Some(expected)))
        });
        format!(
            " at more than {} transactions/s{expected}",
            rate(Some(above))
        )
    });
    let level = level.to_uppercase();
    format!("this run will be {level} ({rule}){above}: {sentence}; {advice}")
}

/// Adds the number of files that was chosen for a working set. If neither a calibration nor an
/// earlier run gives a duration, adds a range of durations that assumed rates give.
fn sizing(document: &mut Document, record: &PlanRecord) {
    let Some(sizing) = &record.sizing else {
        return;
    };
    let chosen = sentence(sizing, &record.spec.workload, &record.spec.drive);
    let mut times = record.time.iter();
    let is_known = times.any(|time| time.prepare_s.is_some());
    let assumed = match sizing.calibration.is_some() || is_known {
        true => String::new(),
        false => format!(" {}", assumed(sizing)),
    };
    let words = format!(
        "{chosen}{assumed} A run estimates its duration, after a short calibration on the target."
    );
    document.sentence("Sizing", words);
}

/// Adds a table of the operations that occur, by phase.
fn operations(document: &mut Document, record: &PlanRecord) {
    let plan = &record.plan;
    let mut table = Table::new(
        1,
        &[
            "Operations",
            "prepare",
            "transactions",
            "delete",
            "total",
            "bytes",
        ],
    );
    for action in Action::operations() {
        let total = plan.total(action);
        if total.operations == 0 {
            continue;
        }
        let count = |operations| Cell::from(Number::Count(operations));
        let mut cells = vec![action.name().into()];
        cells.extend(Phase::ALL.map(|phase| count(plan.tally(phase, action).operations)));
        cells.push(count(total.operations));
        if action.moves_bytes_in() || action.moves_bytes_out() {
            cells.push(count(total.bytes));
        }
        table.row(cells);
    }
    document.table(table);
}

fn transactions(document: &mut Document, record: &PlanRecord) {
    let plan = &record.plan;
    document.gap();
    let transactions = if record.spec.workload.transactions() < Workload::ENDLESS {
        format!(
            "{} of {}",
            grouped(plan.transactions),
            counted(transactions_meant(&record.spec.workload), "transaction")
        )
    } else {
        counted(plan.transactions, "transaction")
    };
    let tallies = Action::operations().map(|action| plan.tally(Phase::Transactions, action));
    let performed: u64 = tallies.map(|tally| tally.operations).sum();
    let part = match plan.nothing {
        0 => String::new(),
        nothing => {
            let fraction = share(nothing, nothing.saturating_add(performed));
            format!(", {} of all", percent(fraction))
        }
    };
    document.below(format!(
        "{transactions}; {} left out{part} (file at maximum size or pool full)",
        counted(plan.nothing, "operation")
    ));
}

/// Adds the bytes that are read and written, and the largest size of the pool (peak).
fn data(document: &mut Document, record: &PlanRecord) {
    let plan = &record.plan;
    document.below(format!(
        "Data read {} bytes, written {} bytes; ratio read/written {}",
        grouped(plan.bytes_read()),
        grouped(plan.bytes_written()),
        plan.read_to_written()
            .map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.4}"))
    ));
    if let (Some(work), Workers::ONE) =
        (record.spec.workload.classic(), record.spec.workload.workers)
    {
        document.below(format!(
            "The report of the original would show {} read and {} written",
            classic::data(plan.classic_bytes_read, work.edition),
            classic::data(plan.classic_bytes_written, work.edition)
        ));
    }
    document.below(format!(
        "Peak{}: {}, {} bytes ({})",
        if record.spec.workload.streams() > 1 {
            " (sum of the workers' peaks)"
        } else {
            ""
        },
        counted(plan.files_peak, "file"),
        grouped(plan.bytes_peak),
        bytes(plan.bytes_peak as f64)
    ));
    document.gap();
}

fn end(document: &mut Document, record: &PlanRecord) {
    let transactions = counted(record.plan.transactions, "transaction");
    match record.plan.end {
        End::Complete => document.below("The pool does not run dry"),
        End::OutOfFiles => document.below(format!(
            "The pool RUNS DRY after {transactions} (use more files or fewer transactions)"
        )),
        End::NothingPossible => document.below(format!(
            "After {transactions}, NO OPERATION IS POSSIBLE any more (use more files)"
        )),
        End::OutOfReach => document.below(format!(
            "After {transactions}, this edition's generator CAN REACH NO FILE, and \
             the original would search for ever (use fewer files, or --compat 1.5)"
        )),
    }
}

fn room(document: &mut Document, record: &PlanRecord) {
    if let Fact::Unavailable(why) = &record.room {
        let words = format!(
            "not known, like the other facts about the server, because it does not answer: {why}"
        );
        document.sentence("Room", words);
    }
    if let Fact::Known(room) = &record.room {
        for volume in &room.volumes {
            document.line(format!(
                "Room on the file system of {}",
                volume.locations.join(" and ")
            ));
            let verdict = |fits: Fact<bool>| match fits {
                Fact::Known(true) => "fits".to_owned(),
                Fact::Known(false) => "DOES NOT FIT".to_owned(),
                Fact::NotApplicable => "not counted by this file system".to_owned(),
                Fact::Unavailable(why) => format!("not available ({why})"),
            };
            let available = |fact: &Fact<u64>, shown: fn(u64) -> String| {
                fact.known()
                    .map_or_else(|| "not available".to_owned(), |value| shown(*value))
            };
            document.below(format!(
                "{} needed with directories and inodes, {} available: {}",
                bytes(volume.needed_bytes as f64),
                available(&volume.available_bytes, |value| bytes(value as f64)),
                verdict(volume.bytes_fit())
            ));
            if volume.available_inodes == Fact::NotApplicable {
                let needed = grouped(volume.needed_inodes);
                document.below(format!(
                    "{needed} inodes needed: not counted by this file system"
                ));
                continue;
            }
            document.below(format!(
                "{} inodes needed, {} available: {}",
                grouped(volume.needed_inodes),
                available(&volume.available_inodes, grouped),
                verdict(volume.inodes_fit())
            ));
        }
    }
    for target in &record.targets {
        document.line(format!("Target {}", target.one_line()));
        environment::target(document, target);
    }
    refusal(document, record);
}

/// Adds the reasons for which a run would be refused. If the space is too small but the run would
/// not be refused, adds the reason for that.
fn refusal(document: &mut Document, record: &PlanRecord) {
    for why in &record.refused {
        document.warning(format!("A run would be refused: {why}"));
    }
    let is_full = |room: &Room| room.volumes.iter().any(RoomVolume::is_full);
    if record.refused.is_empty() && record.room.known().is_some_and(is_full) {
        let why = match (record.spec.keeping.reuse, record.spec.room_check) {
            (true, _) => "it reuses a pool that is there",
            (false, false) => "--no-space-check lets it begin",
            (false, true) => "its first files fit",
        };
        document.warning(format!(
            "A run would not be refused, because {why}; it fails when the space is used up"
        ));
    }
}
