//! A thread that executes orders one after the other, and the channels to and from the thread.

use std::io;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

/// Channels to and from a thread. The thread ends when either of the channels is dropped.
#[derive(Debug)]
pub(crate) struct Mailbox<Order, Answer> {
    pub orders: Sender<Order>,
    pub answers: Receiver<Answer>,
}

impl<Order: Send + 'static, Answer: Send + 'static> Mailbox<Order, Answer> {
    pub(crate) fn new(
        name: &str,
        mut follow: impl FnMut(Order) -> Answer + Send + 'static,
    ) -> io::Result<Self> {
        let (orders, taken) = mpsc::channel();
        let (answer, answers) = mpsc::channel();
        let work = move || {
            for order in taken {
                if answer.send(follow(order)).is_err() {
                    return;
                }
            }
            // Drops `follow` before the channel of answers closes. When a receiver sees that the
            // channel is closed, the resources of `follow` are already released.
            drop(follow);
        };
        thread::Builder::new().name(name.to_owned()).spawn(work)?;
        Ok(Self { orders, answers })
    }
}
