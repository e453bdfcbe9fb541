//! A thread that executes orders in sequence, and the channels to it.

use std::io;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

/// Channels to and from a thread. The thread ends when either one is dropped.
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
            // Dropped before the channel of answers closes: a receiver that sees it closed can rely
            // on the resources of `follow` being released.
            drop(follow);
        };
        thread::Builder::new().name(name.to_owned()).spawn(work)?;
        Ok(Self { orders, answers })
    }
}
