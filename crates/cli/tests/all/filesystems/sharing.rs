//! Shared pools with readers and writers. The PostMark paper of 1997 listed shared pools as future
//! work.

use record::{Phase, Role};

use crate::mounted::{Mounted, on};
use crate::runs::Run;

const MIX: &str =
    "read=6,read-range=2,stat=2,list=1,create=2,append=2,overwrite=1,rename=1,replace=1,delete=2";

/// Number of writers and number of readers in each run.
const MODES: [(u32, u32); 3] = [(1, 4), (4, 1), (4, 4)];

const EACH: u64 = 1_000;

fn shared_pool_is_correct_with_any_number_of_readers_and_writers(mounted: Mounted) {
    for (writers, readers) in MODES {
        let ran = Run::new(&mounted.at, "--files 300 --dirs subdirs:10 --verify")
            .with("--mix", MIX)
            .and(&format!(
                "--writers {writers} --readers {readers} --transactions {EACH}"
            ))
            .perform();
        ran.is_complete().has_all_phases();
        let transactions = ran.record.actual.phase(Phase::Transactions);
        let transactions = transactions.unwrap();
        ran.assert(
            transactions.issued() == EACH * u64::from(writers + readers),
            "not everybody has done everything",
        )
        .assert(transactions.first_done.is_some(), "nobody was done first");
        let summary = ran.phase(Phase::Transactions);
        for (role, number) in [(Role::Writer, writers), (Role::Reader, readers)] {
            let workers = transactions
                .workers
                .iter()
                .filter(|worker| worker.role == role);
            ran.assert(
                workers.count() == number as usize,
                format_args!("there are not {number} with the role {role:?}"),
            );
            let spread = summary.spread.iter().find(|spread| spread.role == role);
            ran.assert(
                spread.is_some_and(|spread| spread.workers == u64::from(number)),
                format_args!("the spread of {role:?} is not over {number}"),
            );
            let mut of_role = summary
                .operations
                .iter()
                .filter(|operation| operation.role == role);
            ran.assert(
                of_role.all(|operation| operation.action.reads() == (role == Role::Reader)),
                format_args!("{role:?} did what is not theirs"),
            );
        }
    }
}
on!(shared_pool_is_correct_with_any_number_of_readers_and_writers);
