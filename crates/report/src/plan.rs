//! What a run would do, as text.

use record::summary::{shares, transactions_meant};
use record::{Action, Crew, End, Fact, Phase, PlanRecord, Work};

use crate::classic;
use crate::environment;
use crate::table::Table;
use crate::text::{how, kind, line, sentence, workload_lines, wrapped};
use crate::units::{bytes, counted, grouped};

/// The whole plan.
pub fn render(record: &PlanRecord) -> String {
    let plan = &record.plan;
    let mut text = String::new();
    line(
        &mut text,
        format_args!(
            "PostMark {}: plan, {}, storage {}; nothing was touched",
            record.tool.version,
            kind(&record.spec.workload),
            record.spec.storage
        ),
    );
    text.push_str(&workload_lines(&record.spec.workload, &shares(&record.spec.workload)));
    wrapped(&mut text, "How", "", &how(&record.spec));
    if let Some(sizing) = &record.sizing {
        let words = format!(
            "{} How long that takes is told by a run, after a short calibration on the target.",
            sizing.sentence
        );
        sentence(&mut text, "Sizing", &words);
    }
    line(&mut text, format_args!("Fingerprint {}", plan.fingerprint));
    if let Some(followed) = record.followed {
        let words = format!(
            "{} of each pool and {} of each worker were followed, for the whole would take too much time or memory. Files beyond those are \
             reckoned with their mean; transactions beyond those are left out.",
            counted(followed.files, "file"),
            counted(followed.transactions, "transaction")
        );
        sentence(&mut text, "ESTIMATE", &words);
    } else if plan.is_estimate {
        line(
            &mut text,
            format_args!(
                "ESTIMATE: workers of a shared pool are taken to be equally fast; a run will differ a little."
            ),
        );
    } else {
        line(&mut text, format_args!("Stream      {}", plan.stream_hash));
    }
    text.push('\n');
    operations(&mut text, record);
    transactions(&mut text, record);
    end(&mut text, record);
    data(&mut text, record);
    room(&mut text, record);
    text
}

/// The operations that occur, by phase.
fn operations(text: &mut String, record: &PlanRecord) {
    let plan = &record.plan;
    let mut table = Table::new(
        1,
        &["Operations", "prepare", "transactions", "delete", "total", "bytes"],
    );
    for action in Action::operations() {
        let total = plan.total(action);
        if total.operations == 0 {
            continue;
        }
        let mut cells = vec![action.name().to_owned()];
        cells.extend(Phase::ALL.map(|phase| grouped(plan.tally(phase, action).operations)));
        cells.push(grouped(total.operations));
        cells.push(if action.moves_bytes_in() || action.moves_bytes_out() {
            grouped(total.bytes)
        } else {
            String::new()
        });
        table.row(cells);
    }
    text.push_str(&table.render());
}

fn transactions(text: &mut String, record: &PlanRecord) {
    let plan = &record.plan;
    text.push('\n');
    line(
        text,
        format_args!(
            "  {} of {} transactions; {} without an operation",
            grouped(plan.transactions),
            grouped(transactions_meant(&record.spec.workload)),
            match record.spec.workload.work {
                Work::Classic(_) => format!("{} halves", grouped(plan.nothing)),
                Work::Mix(_) => grouped(plan.nothing),
            }
        ),
    );
}

/// What moves, and what there is at the most.
fn data(text: &mut String, record: &PlanRecord) {
    let plan = &record.plan;
    line(
        text,
        format_args!(
            "  Data read {} bytes, written {} bytes; ratio read/written {}",
            grouped(plan.bytes_read()),
            grouped(plan.bytes_written()),
            plan.read_to_written()
                .map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.4}"))
        ),
    );
    if let (Some(work), Crew::ONE) = (record.spec.workload.classic(), record.spec.workload.crew) {
        line(
            text,
            format_args!(
                "  The original's report would say {} read and {} written",
                classic::data(plan.classic_bytes_read, work.edition),
                classic::data(plan.classic_bytes_written, work.edition)
            ),
        );
    }
    line(
        text,
        format_args!(
            "  At the peak{}: {}, {} bytes ({})",
            if record.spec.workload.streams() > 1 {
                ", should all workers reach theirs at once"
            } else {
                ""
            },
            counted(plan.files_peak, "file"),
            grouped(plan.bytes_peak),
            bytes(plan.bytes_peak as f64)
        ),
    );
    text.push('\n');
}

fn end(text: &mut String, record: &PlanRecord) {
    let transactions = grouped(record.plan.transactions);
    match record.plan.end {
        End::Complete => line(text, format_args!("  The pool does not run dry")),
        End::OutOfFiles => line(
            text,
            format_args!(
                "  The pool RUNS DRY after {transactions} transactions: give more files or fewer transactions"
            ),
        ),
        End::OutOfReach => line(
            text,
            format_args!(
                "  After {transactions} transactions NO FILE IS IN REACH of this edition's generator, and the original would search for ever: give fewer files, or edition 1.5"
            ),
        ),
    }
}

fn room(text: &mut String, record: &PlanRecord) {
    if let Fact::Known(room) = &record.room {
        for volume in &room.volumes {
            line(
                text,
                format_args!("Room on the file system of {}", volume.locations.join(" and ")),
            );
            let verdict = |fits: Fact<bool>| match fits {
                Fact::Known(true) => "fits".to_owned(),
                Fact::Known(false) => "DOES NOT FIT".to_owned(),
                Fact::NotApplicable => "not counted by this file system".to_owned(),
                Fact::Unavailable(why) => format!("unknown: {why}"),
            };
            let available = |fact: &Fact<u64>| {
                fact.known()
                    .map_or_else(|| "unknown".to_owned(), |value| grouped(*value))
            };
            line(
                text,
                format_args!(
                    "  {} bytes needed with directories and inodes, {} available: {}",
                    grouped(volume.needed_bytes),
                    available(&volume.available_bytes),
                    verdict(volume.bytes_fit())
                ),
            );
            line(
                text,
                format_args!(
                    "  {} inodes needed, {} available: {}",
                    grouped(volume.needed_inodes),
                    available(&volume.available_inodes),
                    verdict(volume.inodes_fit())
                ),
            );
        }
    }
    for target in &record.targets {
        line(text, format_args!("Target {}", target.one_line()));
        environment::target(text, target);
    }
    if let Some(shortage) = &record.shortage {
        line(text, format_args!("A run would be refused: {shortage}"));
    }
}
