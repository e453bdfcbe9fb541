//! Ranks that are threads of one process, for tests and simulations.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::communicator::{CommunicationError, Communicator, Message};

/// The messages that a rank has not received yet.
#[derive(Debug, Default)]
struct Mailbox {
    messages: Mutex<VecDeque<Message>>,
    came: Condvar,
}

/// A rank in this process; usually a thread.
#[derive(Debug)]
pub struct InProcess {
    rank: u32,
    boxes: Arc<[Mailbox]>,
}

/// Creates `count` ranks; the index in the list is the number of the rank.
pub fn ranks(count: u32) -> Vec<InProcess> {
    let boxes: Arc<[Mailbox]> = (0..count).map(|_| Mailbox::default()).collect();
    (0..count)
        .map(|rank| InProcess {
            rank,
            boxes: Arc::clone(&boxes),
        })
        .collect()
}

impl Communicator for InProcess {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn ranks(&self) -> u32 {
        self.boxes.len() as u32
    }

    fn send(&mut self, to: u32, bytes: Vec<u8>) -> Result<(), CommunicationError> {
        let of = &self.boxes[to as usize];
        let message = Message {
            from: self.rank,
            bytes,
        };
        of.messages
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push_back(message);
        of.came.notify_one();
        Ok(())
    }

    fn receive(&mut self, limit: Duration) -> Result<Option<Message>, CommunicationError> {
        let own = &self.boxes[self.rank as usize];
        let messages = own.messages.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = own
            .came
            .wait_timeout_while(messages, limit, |messages| messages.is_empty());
        let (mut messages, _) = waited.unwrap_or_else(PoisonError::into_inner);
        Ok(messages.pop_front())
    }

    fn flush(&mut self, _: Duration) -> Result<(), CommunicationError> {
        Ok(())
    }
}
