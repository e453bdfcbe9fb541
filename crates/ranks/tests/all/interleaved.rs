//! Tests that all ranks get the same results in any order of messages and ranks.

use std::collections::VecDeque;
use std::thread;
use std::time::Duration;

use proptest::prelude::*;
use ranks::{CommunicationError, Communicator, Message, in_process};

use crate::threads;

const LIMIT: Duration = Duration::from_secs(20);

/// Random numbers of a rank: SplitMix64.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed ^ (mixed >> 27)) % sides
    }
}

/// A communicator that sends messages at random times; messages to one rank remain in order.
struct Late {
    carrier: in_process::InProcess,
    held: VecDeque<(u32, Vec<u8>)>,
    dice: Dice,
}

impl Late {
    fn release_some(&mut self) -> Result<(), CommunicationError> {
        for _ in 0..self.dice.roll(3) {
            let Some((to, _)) = self.held.get(self.dice.roll(4) as usize) else {
                continue;
            };
            let to = *to;
            let first = self.held.iter().position(|(other, _)| *other == to);
            if let Some((to, bytes)) = first.and_then(|first| self.held.remove(first)) {
                self.carrier.send(to, bytes)?;
            }
        }
        Ok(())
    }
}

impl Communicator for Late {
    fn rank(&self) -> u32 {
        self.carrier.rank()
    }

    fn ranks(&self) -> u32 {
        self.carrier.ranks()
    }

    fn send(&mut self, to: u32, bytes: Vec<u8>) -> Result<(), CommunicationError> {
        self.held.push_back((to, bytes));
        self.release_some()
    }

    fn receive(&mut self, limit: Duration) -> Result<Option<Message>, CommunicationError> {
        self.release_some()?;
        let limit = if self.held.is_empty() {
            limit
        } else {
            Duration::ZERO
        };
        self.carrier.receive(limit)
    }

    fn flush(&mut self, _: Duration) -> Result<(), CommunicationError> {
        while !self.held.is_empty() {
            self.release_some()?;
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug)]
enum Act {
    Sum(u32),
    Tell(u32),
    /// Two operations that are in progress at once; the result of the second operation is requested
    /// first.
    Both(u32),
    Run,
    Clocks,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        4 => any::<u16>().prop_map(|value| Act::Sum(value.into())),
        2 => any::<u32>().prop_map(Act::Tell),
        2 => any::<u16>().prop_map(|value| Act::Both(value.into())),
        1 => Just(Act::Run),
        1 => Just(Act::Clocks),
    ];
    prop::collection::vec(act, 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn all_ranks_get_the_same_results(count in 1..12_u32, seed: u64, acts in acts()) {
        let carriers = in_process::ranks(count).into_iter();
        let carriers = carriers
            .map(|carrier| Late {
                dice: Dice(seed ^ u64::from(carrier.rank())),
                held: VecDeque::new(),
                carrier,
            })
            .collect();
        let of_each = threads::each_over(carriers, LIMIT, |ranks| {
            let mut dice = Dice(!seed ^ u64::from(ranks.rank()));
            let own = |value: u32| u64::from(value) * u64::from(ranks.rank() + 1);
            let mut is_open = false;
            let mut came = Vec::new();
            for act in &acts {
                thread::sleep(Duration::from_micros(dice.roll(300)));
                match *act {
                    Act::Sum(value) => came.push(ranks.meet(own(value), |a, b| a + b).unwrap()),
                    Act::Tell(value) => came.push(ranks.broadcast((ranks.rank() == 0).then(||
                        own(value))).unwrap()),
                    Act::Both(value) => {
                        let mut first = ranks.begin(own(value), |a, b| a + b);
                        let mut second = ranks.begin(own(value), |a: u64, b| a.max(b));
                        came.push(second.wait(LIMIT).unwrap().unwrap());
                        came.push(first.wait(LIMIT).unwrap().unwrap());
                    }
                    Act::Run => {
                        if is_open { ranks.close() } else { ranks.open() }
                        is_open = !is_open;
                    }
                    Act::Clocks => drop(ranks.clock_offset(|| 0).unwrap()),
                }
            }
            came
        });
        let triangle = u64::from(count) * u64::from(count + 1) / 2;
        let mut expected = Vec::new();
        for act in acts {
            match act {
                Act::Sum(value) => expected.push(u64::from(value) * triangle),
                Act::Tell(value) => expected.push(value.into()),
                Act::Both(value) => {
                    expected.push(u64::from(value) * u64::from(count));
                    expected.push(u64::from(value) * triangle);
                }
                Act::Run | Act::Clocks => (),
            }
        }
        prop_assert_eq!(of_each, vec![expected; count as usize]);
    }
}
