//! Offsets between the clocks of ranks.
//!
//! A rank asks another rank several times for the time of its clock, and keeps the answer with the
//! shortest round trip. The other clock was read between question and answer, so the error is at
//! most half of the round trip (F. Cristian, Probabilistic clock synchronization, Distributed
//! Computing 3, 1989). Every rank asks its parent in the tree, and adds the parent's own offset and
//! error. The offsets at the start and the end of a run, with a linear change between them, convert
//! times of all ranks to one axis: the clock of rank 0.

use serde::{Deserialize, Serialize};

/// The offset of rank 0's clock from this rank's clock: a time of this rank plus the offset is the
/// time of rank 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockOffset {
    /// The time of the measurement, read from this rank's clock, in nanoseconds.
    pub at_ns: i64,
    /// Time of rank 0's clock minus time of this rank's clock, in nanoseconds.
    pub offset_ns: i64,
    /// The maximum error of the offset, in nanoseconds.
    pub error_ns: u64,
}

/// Computes an offset. The question was sent at `asked_ns` and answered at `answered_ns` by this
/// rank's clock; `answer_ns` is the time that the other rank read in between.
pub(crate) fn between(asked_ns: i64, answer_ns: i64, answered_ns: i64) -> ClockOffset {
    let round_trip_ns = answered_ns.saturating_sub(asked_ns).max(0);
    let middle_ns = asked_ns + round_trip_ns / 2;
    ClockOffset {
        at_ns: answered_ns,
        offset_ns: answer_ns - middle_ns,
        // Half of an odd round trip is rounded up.
        error_ns: (round_trip_ns as u64).div_ceil(2),
    }
}

/// The offsets between a rank's clock and the clock of rank 0 during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockAxis {
    /// The offset at the start of the run.
    pub begin: ClockOffset,
    /// The offset at the end of the run; equal to `begin` if it was not measured.
    pub end: ClockOffset,
}

impl ClockAxis {
    /// Converts a time of this rank's clock to rank 0's clock, in nanoseconds. The offset is
    /// interpolated within the run, and constant before and after the run.
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

    /// The maximum error of a converted time in nanoseconds, if the clocks drift linearly.
    pub fn error_ns(&self) -> u64 {
        self.begin.error_ns.max(self.end.error_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_offset_is_exact_within_its_error() {
        // The other clock is 1,000 ns ahead and is read 10 ns after the question, in a round trip
        // of 50 ns.
        let found = between(100, 1_110, 150);
        assert_eq!(
            (found.offset_ns, found.error_ns, found.at_ns),
            (985, 25, 150)
        );
        assert!(found.offset_ns.abs_diff(1_000) <= found.error_ns);
        // If this rank's clock is set back between question and answer, the error is 0 instead of
        // negative.
        assert_eq!(between(100, 100, 90).error_ns, 0);
    }

    #[test]
    fn times_converted_to_clock_of_rank_0_use_an_interpolated_offset() {
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
