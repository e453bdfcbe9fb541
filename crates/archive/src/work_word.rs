//! The column for the kind of work, in which a suffix marks load sweeps. Older versions of the
//! program do not know the suffix, and treat the kind of work of such runs as unknown.

use verdict::list_row::{WorkKind, by_word};

/// The suffix of the kind of work that marks a load sweep.
const SWEEP: &str = "+sweep";

pub(crate) fn to_word(work: WorkKind, is_sweep: bool) -> String {
    let mark = if is_sweep { SWEEP } else { "" };
    format!("{}{mark}", work.name())
}

/// Returns the kind of work, and whether the run is a load sweep. The kind is `None` if this
/// program does not know its name.
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
