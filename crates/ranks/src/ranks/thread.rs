//! The thread that talks to other ranks, and its orders.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::thread;
use std::time::Duration;

use crate::together::Together;

/// So often does a rank look at what came while it waits for nothing.
const IDLE: Duration = Duration::from_millis(50);
/// So long after something has moved it is waited for without sleep, as far as the communicator
/// can.
const LIVELY: Duration = Duration::from_millis(20);
/// So long at once, so that this rank can ask for more.
const LIVELY_PART: Duration = Duration::from_millis(1);
/// Afterwards it sleeps for such a part of the time that it has waited, and so long at most.
const PART_OF_WAIT: u32 = 32;
const LONGEST_PAUSE: Duration = Duration::from_millis(5);
/// So long after a rank was lost this one does not leave: a launcher ends all others with the first
/// that exits, and what they have is to be on disk.
const FAREWELL: Duration = Duration::from_millis(500);

/// What the thread is to do, and who is told when it is done.
pub(super) struct Order {
    pub(super) act: Box<dyn FnOnce(&mut Together) + Send>,
    pub(super) done: Option<Sender<()>>,
}

/// The thread that talks.
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
                // Nobody left the others in order: they are to miss this rank, not to wait for it.
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

/// Lets the other ranks hear of a loss, or sends what has not left, and ends.
fn farewell(mut together: Together, idle: Duration, limit: Duration) {
    while together.lost_for().is_some_and(|since| since < FAREWELL) {
        thread::sleep(idle);
        together.attend();
    }
    if together.lost_for().is_some() || together.flush(limit).is_err() {
        // Its end would wait for the rank that is lost.
        std::mem::forget(together.into_communicator());
    }
}

/// Waits for an order, and meanwhile for messages, where some are due.
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
