//! Sixteen workers perform all kinds of operations on a shared pool, and every read is verified. No
//! file may be missing, and no contents may be wrong. `POSTMARK_RACES` sets the total number of
//! operations.

use record::{Action, Phase, Role};
use testkit::number_of;

use crate::mounted::{Mounted, on};
use crate::runs::Run;

const WRITERS: u64 = 8;
const READERS: u64 = 8;

fn sixteen_workers_find_no_missing_or_wrong_file(mounted: Mounted) {
    let can_clone = engines::probe_clone(&mounted.at).is_ok();
    let asked: Vec<Action> = Action::operations()
        .filter(|action| action.is_asked_for() && !action.is_on_tree())
        .filter(|action| can_clone || !action.clones())
        .collect();
    let mix: Vec<String> = asked
        .iter()
        .map(|action| format!("{}=1", action.name()))
        .collect();
    let each = number_of("POSTMARK_RACES", 40_000).div_ceil(WRITERS + READERS);
    // The pool has few files, so that workers often use the same file. `delete` has the weight of
    // all operations that create a file.
    let creations = asked
        .iter()
        .filter(|action| action.changes_count() == Some(true));
    let deletions = format!("delete={}", creations.count());
    let mix = mix.join(",").replace("delete=1", &deletions);
    let ran = Run::new(
        &mounted.at,
        "--files 200 --dirs subdirs:4 --verify --size 1..12000",
    )
    .with("--mix", mix)
    .and(&format!(
        "--writers {WRITERS} --readers {READERS} --transactions {each}"
    ))
    .perform_long();
    ran.is_complete().has_all_phases();
    let performed = ran.record.actual.phase(Phase::Transactions).unwrap();
    ran.assert(
        performed.issued() == each * (WRITERS + READERS),
        "not everybody has done everything",
    );
    for action in asked {
        let role = if action.reads() {
            Role::Reader
        } else {
            Role::Writer
        };
        ran.assert(
            ran.count(role, action) > 0,
            format_args!("there was no '{}'", action.name()),
        );
    }
    ran.assert(
        !ran.phase(Phase::Transactions).claim_waits.is_empty(),
        "nobody has met anybody",
    );
}
on!(sixteen_workers_find_no_missing_or_wrong_file);
