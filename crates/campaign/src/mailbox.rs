//! A thread that follows orders one after another, and the way to it.

use std::io;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

/// Both ends of a thread: orders go to it, answers come from it. The thread ends when either end is
/// dropped.
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
            // Who waits for the end of the answers finds closed what orders were for.
            drop(follow);
        };
        thread::Builder::new().name(name.to_owned()).spawn(work)?;
        Ok(Self { orders, answers })
    }
}
