//! A stream that was drawn completely before the run, so that drawing takes no time during the
//! measurement.

use std::collections::VecDeque;

use crate::intent::{End, Intent, Kept, Phase, PoolState, Stream};

/// Number of intents that are read from memory at once. An intent read alone, between two system
/// calls, costs a cache miss of about 80 ns.
const READ_AHEAD: usize = 32;

/// The intents of a phase that have not been drawn yet.
#[derive(Clone, Debug, Default)]
struct Remaining {
    read: VecDeque<Intent>,
    unread: std::vec::IntoIter<Intent>,
}

impl Remaining {
    fn new(intents: Vec<Intent>) -> Self {
        Self {
            read: VecDeque::with_capacity(READ_AHEAD),
            unread: intents.into_iter(),
        }
    }

    #[inline]
    fn pop(&mut self) -> Option<Intent> {
        if self.read.is_empty() {
            self.read.extend(self.unread.by_ref().take(READ_AHEAD));
        }
        self.read.pop_front()
    }

    fn len(&self) -> usize {
        self.read.len() + self.unread.len()
    }
}

#[derive(Clone, Debug)]
pub struct Prepared {
    intents: [Remaining; 3],
    /// The objects in the pool after the transactions.
    pool: Vec<Kept>,
    end: End,
    transactions: u64,
    begun: u64,
}

impl Prepared {
    /// Draws all intents of a stream.
    pub fn new(mut stream: impl Stream) -> Self {
        let mut intents: [Vec<Intent>; 3] = Default::default();
        let mut pool = Vec::new();
        for phase in Phase::ALL {
            while let Some(intent) = stream.next(phase) {
                intents[phase as usize].push(intent);
            }
            if phase == Phase::Transactions {
                stream.pool(&mut |kept| pool.push(kept));
            }
        }
        Self {
            intents: intents.map(Remaining::new),
            pool,
            end: stream.end(),
            transactions: stream.transactions_begun(),
            begun: 0,
        }
    }
}

impl Stream for Prepared {
    #[inline]
    fn draw(&mut self, phase: Phase, intent: &mut Intent) -> bool {
        let Some(next) = self.intents[phase as usize].pop() else {
            return false;
        };
        *intent = next;
        self.begun += u64::from(intent.ends_transaction);
        true
    }

    fn remaining(&self, phase: Phase) -> u64 {
        match phase {
            Phase::Prepare | Phase::Delete => self.intents[phase as usize].len() as u64,
            Phase::Transactions => self.transactions - self.begun,
        }
    }

    fn end(&self) -> End {
        self.end
    }

    fn transactions_begun(&self) -> u64 {
        self.begun
    }

    /// Always returns true. All intents are already drawn, so the stream ends even if the pool
    /// allows none of them.
    fn can_perform_any(&self, _: &PoolState) -> bool {
        true
    }

    fn pool(&self, each: &mut dyn FnMut(Kept)) {
        self.pool.iter().copied().for_each(each);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mix::Mix;
    use crate::{ClassicStream, MixStream, whole::Workload};

    fn equal(mut prepared: Prepared, mut stream: impl Stream) {
        for phase in Phase::ALL {
            assert_eq!(prepared.remaining(phase), stream.remaining(phase));
            loop {
                let intent = stream.next(phase);
                assert_eq!(prepared.next(phase), intent);
                if intent.is_none() {
                    break;
                }
            }
            if phase == Phase::Transactions {
                let mut pools = (Vec::new(), Vec::new());
                prepared.pool(&mut |kept| pools.0.push(kept));
                stream.pool(&mut |kept| pools.1.push(kept));
                assert_eq!(pools.0, pools.1);
            }
        }
        assert_eq!(prepared.end(), stream.end());
        assert_eq!(prepared.transactions_begun(), stream.transactions_begun());
    }

    #[test]
    fn prepared_intents_equal_those_of_the_stream() {
        let classic = ClassicStream::new(&crate::Classic::default()).unwrap();
        equal(Prepared::new(classic.clone()), classic);
        let mix = Mix::default();
        let mixer = Workload::from(mix.clone()).mixer(&mix, 0);
        let mix = MixStream::new(&mix, vec![mixer]);
        equal(Prepared::new(mix.clone()), mix);
    }
}
