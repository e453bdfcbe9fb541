//! Sixteen workers on one pool, with every operation there is and every read verified: nothing is
//! missing, nothing is wrong. `POSTMARK_RACES` operations in all.

use record::{Action, Phase, Role};
use testkit::number_of;

use crate::mounted::{Mounted, on};
use crate::runs::Run;

const WRITERS: u64 = 8;
const READERS: u64 = 8;

fn everything(mounted: Mounted) {
    let asked: Vec<Action> = Action::operations()
        .filter(|action| action.is_asked_for())
        .collect();
    let mix: Vec<String> = asked
        .iter()
        .map(|action| format!("{}=1", action.name()))
        .collect();
    let each = number_of("POSTMARK_RACES", 40_000).div_ceil(WRITERS + READERS);
    // Few files, so that workers meet. As many come as go: create and deliver make one each, delete
    // takes one.
    let mix = mix.join(",").replace("delete=1", "delete=2");
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
on!(everything);
