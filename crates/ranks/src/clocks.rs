//! How far the clocks of ranks are apart.
//!
//! A rank asks another for its time, some times over, and keeps the answer that took the shortest
//! round trip: the other's clock was read between the question and the answer, so it is off by half
//! of that at most (F. Cristian, Probabilistic clock synchronization, Distributed Computing 3,
//! 1989). Every rank asks the one above it in the tree, and what that one's clock is off by is
//! added, with its error. Done at the beginning and at the end of a run, and taken to change evenly
//! between the two, it puts all moments of all ranks on one axis, the clock of rank 0.

use serde::{Deserialize, Serialize};

/// What is added to a moment of this rank's clock to have the moment of rank 0's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockOffset {
    /// When it was found, by this rank's clock, in nanoseconds.
    pub at_ns: i64,
    /// What is to be added, in nanoseconds.
    pub offset_ns: i64,
    /// It is off by this at most, in nanoseconds.
    pub error_ns: u64,
}

/// What a question and its answer say.
pub(crate) fn between(asked_ns: i64, answer_ns: i64, answered_ns: i64) -> ClockOffset {
    let round_trip_ns = answered_ns.saturating_sub(asked_ns).max(0);
    let middle_ns = asked_ns + round_trip_ns / 2;
    ClockOffset {
        at_ns: answered_ns,
        offset_ns: answer_ns - middle_ns,
        // Half of an odd number is rounded up.
        error_ns: (round_trip_ns as u64).div_ceil(2),
    }
}

/// The clock of a rank against that of rank 0, over a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockAxis {
    /// At the beginning.
    pub begin: ClockOffset,
    /// At the end; as at the beginning where it was not measured.
    pub end: ClockOffset,
}

impl ClockAxis {
    /// A moment of this rank's clock by the clock of rank 0, in nanoseconds. Before the beginning
    /// and after the end the offset is what it was there.
    pub fn by_rank_0(&self, moment_ns: i64) -> i64 {
        let (begin, end) = (self.begin, self.end);
        let span = i128::from(end.at_ns) - i128::from(begin.at_ns);
        if span <= 0 {
            return moment_ns + begin.offset_ns;
        }
        let since = (i128::from(moment_ns) - i128::from(begin.at_ns)).clamp(0, span);
        let change = i128::from(end.offset_ns) - i128::from(begin.offset_ns);
        moment_ns + begin.offset_ns + (change * since / span) as i64
    }

    /// A moment is off by this at most, in nanoseconds, if the clocks drift evenly.
    pub fn error_ns(&self) -> u64 {
        self.begin.error_ns.max(self.end.error_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_clock_was_read_in_the_middle_or_as_far_from_it_as_the_error_says() {
        // The other clock is 1,000 ahead, and is read after 10 of 50.
        let found = between(100, 1_110, 150);
        assert_eq!(
            (found.offset_ns, found.error_ns, found.at_ns),
            (985, 25, 150)
        );
        assert!(found.offset_ns.abs_diff(1_000) <= found.error_ns);
        // A clock that was set back in between gives no error below 0.
        assert_eq!(between(100, 100, 90).error_ns, 0);
    }

    #[test]
    fn a_drift_is_spread_evenly() {
        let at = |at_ns, offset_ns, error_ns| ClockOffset {
            at_ns,
            offset_ns,
            error_ns,
        };
        let axis = ClockAxis {
            begin: at(1_000, 500, 7),
            end: at(3_000, 700, 9),
        };
        for (moment_ns, expected_ns) in [
            (1_000, 1_500),
            (2_000, 2_600),
            (3_000, 3_700),
            (0, 500),
            (9_000, 9_700),
        ] {
            assert_eq!(axis.by_rank_0(moment_ns), expected_ns);
        }
        assert_eq!(axis.error_ns(), 9);
        let once = ClockAxis {
            begin: at(1_000, -500, 7),
            end: at(1_000, -500, 7),
        };
        assert_eq!(once.by_rank_0(2_000), 1_500);
    }
}
