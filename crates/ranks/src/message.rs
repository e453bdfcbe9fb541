//! The format of messages: a head with the kind of the message and the state of its sender, and a
//! body.

use std::borrow::Cow;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::communicator::{CommunicationError, Message};

/// The length of the head: kind, operation, number of ranks, epoch and step.
const HEAD_BYTES: usize = 22;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    /// A sign of life, without a body.
    Pulse,
    /// A rank is lost, or another failure ends all operations; the body is the failure.
    Lost,
    /// A rank stops the run; the body contains the epoch, the rank and the reason.
    Stop,
    /// A part of a collective operation; the body is a value, a time, or empty.
    Part,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Collective {
    None,
    /// The values of all ranks are merged, and all ranks receive the result.
    Merge,
    /// All ranks receive a value of rank 0.
    Broadcast,
    /// The clocks of the ranks are compared.
    Clocks,
    /// Other ranks perform a run, and this rank waits for the end of the run.
    Rest,
    /// All ranks end the communication.
    Leave,
}

const SORTS: [Sort; 4] = [Sort::Pulse, Sort::Lost, Sort::Stop, Sort::Part];
const COLLECTIVES: [Collective; 6] = [
    Collective::None,
    Collective::Merge,
    Collective::Broadcast,
    Collective::Clocks,
    Collective::Rest,
    Collective::Leave,
];

impl Collective {
    /// The operation as a verb for error messages, in which it follows "a rank is to".
    pub(crate) fn as_words(self) -> &'static str {
        match self {
            Self::None => "work",
            Self::Merge => "merge what all have",
            Self::Broadcast => "hear what rank 0 has",
            Self::Clocks => "compare clocks",
            Self::Rest => "wait for a run of others",
            Self::Leave => "leave",
        }
    }
}

/// The head of a message: its kind, and the sender's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) sort: Sort,
    pub(crate) collective: Collective,
    /// Number of ranks that perform the operation: rank 0 to the rank below this number.
    pub(crate) count: u32,
    /// The epoch of the sender, which is incremented when a run starts and when the run ends.
    pub(crate) epoch: u64,
    /// The number of operations with `count` ranks that the sender has started in the epoch.
    pub(crate) step: u64,
}

#[derive(Debug)]
pub(crate) struct Envelope {
    pub(crate) from: u32,
    pub(crate) head: Head,
    pub(crate) body: Vec<u8>,
}

impl Head {
    pub(crate) fn with(self, body: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEAD_BYTES + body.len());
        bytes.push(self.sort as u8);
        bytes.push(self.collective as u8);
        bytes.extend(self.count.to_le_bytes());
        bytes.extend(self.epoch.to_le_bytes());
        bytes.extend(self.step.to_le_bytes());
        bytes.extend(body);
        bytes
    }
}

impl Envelope {
    pub(crate) fn open(message: Message) -> Result<Self, CommunicationError> {
        let Message {
            from,
            bytes: mut body,
        } = message;
        let number = |at: usize| Some(u64::from_le_bytes(*body.get(at..)?.first_chunk()?));
        let read = || {
            Some(Head {
                sort: *SORTS.get(usize::from(*body.first()?))?,
                collective: *COLLECTIVES.get(usize::from(*body.get(1)?))?,
                count: u32::from_le_bytes(*body.get(2..)?.first_chunk()?),
                epoch: number(6)?,
                step: number(14)?,
            })
        };
        let Some(head) = read() else {
            return Err(unreadable(
                from,
                format!("it has {} bytes and no head", body.len()),
            ));
        };
        body.drain(..HEAD_BYTES);
        Ok(Self { from, head, body })
    }
}

pub(crate) fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, CommunicationError> {
    serde_json::to_vec(value).map_err(|error| CommunicationError::Refused {
        doing: Cow::Borrowed("write a message"),
        why: error.to_string(),
    })
}

pub(crate) fn decode<T: DeserializeOwned>(body: &[u8], from: u32) -> Result<T, CommunicationError> {
    serde_json::from_slice(body).map_err(|error| unreadable(from, error.to_string()))
}

fn unreadable(rank: u32, why: String) -> CommunicationError {
    CommunicationError::Unreadable { rank, why }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_round_trip() {
        for (place, sort) in SORTS.into_iter().enumerate() {
            assert_eq!(sort as usize, place);
            for (place, collective) in COLLECTIVES.into_iter().enumerate() {
                assert_eq!(collective as usize, place);
                let head = Head {
                    sort,
                    collective,
                    count: u32::MAX - 1,
                    epoch: u64::MAX - 1,
                    step: 7,
                };
                let bytes = head.with(b"body");
                let read = Envelope::open(Message {
                    from: 3,
                    bytes: bytes.clone(),
                })
                .unwrap();
                assert_eq!(
                    (read.from, read.head, read.body.as_slice()),
                    (3, head, b"body".as_slice())
                );
                for cut in 0..HEAD_BYTES {
                    let bytes = bytes[..cut].to_vec();
                    assert!(Envelope::open(Message { from: 3, bytes }).is_err());
                }
            }
        }
        for bytes in [
            vec![4; 40],
            [vec![0, Collective::Leave as u8 + 1], vec![0; 30]].concat(),
        ] {
            let error = Envelope::open(Message { from: 3, bytes }).unwrap_err();
            assert!(
                matches!(error, CommunicationError::Unreadable { rank: 3, .. }),
                "{error}"
            );
        }
    }
}
