//! Sixteen workers on a shared pool with all operations and every read verified: no file is missing
//! and no contents are wrong. `POSTMARK_RACES` is the total number of operations.

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
    // Few files, so that workers conflict. create and deliver each make a file and delete removes
    // one, so delete has twice the weight.
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
