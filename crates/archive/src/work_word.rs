//! The column for the kind of work, which also marks load sweeps. Versions of the program that do
//! not know the mark read a kind that is not known.

use verdict::list_row::{WorkKind, by_word};

/// Follows the kind of work of a load sweep.
const SWEEP: &str = "+sweep";

pub(crate) fn to_word(work: WorkKind, is_sweep: bool) -> String {
    let mark = if is_sweep { SWEEP } else { "" };
    format!("{}{mark}", work.name())
}

/// Returns the kind of work, if it is known, and whether the run is a load sweep.
pub(crate) fn parse(word: &str) -> (Option<WorkKind>, bool) {
    match word.strip_suffix(SWEEP) {
        Some(kind) => (by_word(kind), true),
        None => (by_word(word), false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_is_parsed_to_its_kind_and_mark() {
        for kind in [WorkKind::Classic, WorkKind::Mix] {
            for is_sweep in [false, true] {
                assert_eq!(parse(&to_word(kind, is_sweep)), (Some(kind), is_sweep));
            }
        }
        assert_eq!(parse("classic"), (Some(WorkKind::Classic), false));
        assert_eq!(parse("other+sweep"), (None, true));
    }
}
