//! The communication thread and its orders.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::thread;
use std::time::Duration;

use crate::together::Together;

/// The interval at which the thread checks for messages while no operation is pending.
const IDLE: Duration = Duration::from_millis(50);
/// For this time after the last progress of an operation, the thread waits for messages without
/// sleeping, as far as the communicator supports that.
const LIVELY: Duration = Duration::from_millis(20);
/// The time without sleep is divided into waits of this length. After each wait, the thread checks
/// for orders of this rank.
const LIVELY_PART: Duration = Duration::from_millis(1);
/// After [`LIVELY`], the thread sleeps between checks. Each pause is the time since the last
/// progress divided by this number, but at most [`LONGEST_PAUSE`].
const PART_OF_WAIT: u32 = 32;
const LONGEST_PAUSE: Duration = Duration::from_millis(5);
/// After a rank is lost, this rank waits for this time before it leaves. A launcher ends all
/// processes when the first one exits, and the data of the other processes must be on disk before
/// that.
const FAREWELL: Duration = Duration::from_millis(500);

/// A function for the thread, and a channel that reports its completion.
pub(super) struct Order {
    pub(super) act: Box<dyn FnOnce(&mut Together) + Send>,
    pub(super) done: Option<Sender<()>>,
}

/// The main function of the communication thread.
pub(super) fn serve(mut together: Together, orders: &Receiver<Order>, limit: Duration) {
    let idle = IDLE.min(limit / 32);
    while !together.is_leaving() || together.is_waiting() {
        let done = match next_order(&mut together, orders, idle) {
            Ok(Order { act, done }) => {
                act(&mut together);
                done
            }
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                // All handles were dropped without `leave`. Dropping the communicator could wait
                // for the other ranks, so it is leaked. The other ranks then detect that this rank
                // is lost.
                if !together.is_alone() {
                    std::mem::forget(together.into_communicator());
                }
                return;
            }
        };
        together.attend();
        if let Some(done) = done {
            let _ = done.send(());
        }
    }
    farewell(together, idle, limit);
}

/// Informs the other ranks of a loss, or else transmits outstanding messages. Then ends the
/// communication.
fn farewell(mut together: Together, idle: Duration, limit: Duration) {
    while together.lost_for().is_some_and(|since| since < FAREWELL) {
        thread::sleep(idle);
        together.attend();
    }
    if together.lost_for().is_some() || together.flush(limit).is_err() {
        // Dropping the communicator would wait for the lost rank.
        std::mem::forget(together.into_communicator());
    }
}

/// Waits for an order, and for messages if operations are pending.
fn next_order(
    together: &mut Together,
    orders: &Receiver<Order>,
    idle: Duration,
) -> Result<Order, RecvTimeoutError> {
    let waited = together.moved.elapsed();
    if together.is_alone() {
        orders.recv().map_err(|_| RecvTimeoutError::Disconnected)
    } else if !together.is_waiting() {
        orders.recv_timeout(idle)
    } else if waited < LIVELY {
        together.receive(LIVELY_PART);
        orders.try_recv().map_err(|error| match error {
            TryRecvError::Empty => RecvTimeoutError::Timeout,
            TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
        })
    } else {
        orders.recv_timeout((waited / PART_OF_WAIT).min(LONGEST_PAUSE).min(idle))
    }
}
