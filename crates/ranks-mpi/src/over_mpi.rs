//! Ranks that a launcher such as mpirun or srun started.
//!
//! Sending does not wait for the receiver (`MPI_Isend`). Receiving polls for messages
//! (`MPI_Improbe`), because MPI has no wait with a time limit. At first the receiver polls without
//! pauses, so that a barrier takes microseconds. Then the pauses grow, so that a rank that waits
//! for a long time takes no processor time from its workers.
//!
//! Messages are sent in parts that MPI transmits without the receiver's participation. For a large
//! message, MPI would send only the head and transfer the rest when the receiver accepts the
//! message. If the sender was stopped in between, the receiver would block forever.
//!
//! Sent bytes remain in memory until the process ends. MPI reads the bytes until they are
//! transmitted, and its safe interface borrows buffers without returning them. Ranks send a few
//! kilobytes at each barrier, and their records at the end. A part that is sent repeatedly, to
//! another rank or as a sign of life, is stored once.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::thread;
use std::time::{Duration, Instant};

use mpi::Threading;
use mpi::environment::Universe;
use mpi::point_to_point::MatchedReceiveVec;
use mpi::request::{Request, StaticScope};
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator as _, Destination as _, Source as _};
use ranks::{CommunicationError, Communicator, Message};

/// The maximum length of a part, without the preceding byte ([`MORE`] or [`LAST`]). Open MPI
/// transmits up to 4 KiB including its own header at once through shared memory, and 64 KiB by TCP
/// (`btl_vader_eager_limit`, `btl_tcp_eager_limit`). MPICH's limits are higher.
const PART_BYTES: usize = 3 << 10;
/// The byte before a part is [`LAST`] if the message ends with this part, otherwise [`MORE`].
const MORE: u8 = 0;
const LAST: u8 = 1;
/// Number of recently sent parts with which a new part is compared. A part that equals one of them
/// is not stored.
const KEPT_ONCE: usize = 32;
/// A wait for a message polls without pauses for this time, and with [`PAUSES`] afterwards.
const WITHOUT_PAUSE: Duration = Duration::from_micros(200);
/// The first and the longest pause between polls; each pause is twice as long as the previous one.
const PAUSES: (Duration, Duration) = (Duration::from_micros(20), Duration::from_millis(1));

/// This process as a rank among the processes of its launcher. Dropping the value finalises MPI,
/// which waits for all other processes.
pub struct OverMpi {
    world: SimpleCommunicator,
    sent: Vec<Request<'static, [u8], StaticScope>>,
    /// The parts that were sent most recently.
    kept: VecDeque<&'static [u8]>,
    /// The received parts of incomplete messages, by their sender.
    begun: HashMap<u32, Vec<u8>>,
    _universe: Universe,
}

impl fmt::Debug for OverMpi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OverMpi")
            .field("rank", &self.world.rank())
            .field("ranks", &self.world.size())
            .field("sent", &self.sent.len())
            .finish_non_exhaustive()
    }
}

/// Environment variables that launchers set for each process: mpirun of Open MPI; PMIx, used by
/// srun and PRRTE; and PMI, used by MPICH and srun.
const TOLD_BY_LAUNCHERS: [&str; 3] = ["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"];

impl OverMpi {
    /// Whether a launcher started this process. If not, [`join`](Self::join) returns a single rank,
    /// and still needs time to initialise MPI.
    pub fn is_launched() -> bool {
        TOLD_BY_LAUNCHERS
            .iter()
            .any(|name| std::env::var_os(name).is_some())
    }

    /// Joins the processes of the launcher. Only one thread of this process may use the result.
    ///
    /// # Errors
    /// Returns an error if this process joined before, or if MPI does not allow a process with
    /// several threads.
    pub fn join() -> Result<Self, CommunicationError> {
        let refused = |why: &str| CommunicationError::Refused {
            doing: Cow::Borrowed("join the ranks of the launcher"),
            why: why.to_owned(),
        };
        let (universe, threading) = mpi::initialize_with_threading(Threading::Funneled)
            .ok_or_else(|| refused("MPI is initialised already"))?;
        if threading < Threading::Funneled {
            return Err(refused("this MPI does not allow processes with threads"));
        }
        Ok(Self {
            world: universe.world(),
            sent: Vec::new(),
            kept: VecDeque::new(),
            begun: HashMap::new(),
            _universe: universe,
        })
    }

    /// Stores a part with its preceding byte `end`, in memory that is never released.
    fn keep(&mut self, end: u8, part: &[u8]) -> &'static [u8] {
        let is_it = |kept: &&&'static [u8]| kept.first() == Some(&end) && kept[1..] == *part;
        if let Some(kept) = self.kept.iter().find(is_it) {
            return kept;
        }
        let mut bytes = Vec::with_capacity(1 + part.len());
        bytes.push(end);
        bytes.extend(part);
        let bytes: &'static [u8] = Vec::leak(bytes);
        if self.kept.len() == KEPT_ONCE {
            self.kept.pop_front();
        }
        self.kept.push_back(bytes);
        bytes
    }

    /// Appends a part to its sender's message; returns the message if it is complete.
    fn join_part(&mut self, from: u32, part: &[u8]) -> Option<Message> {
        let (end, part) = part.split_first()?;
        let bytes = self.begun.entry(from).or_default();
        bytes.extend(part);
        (*end == LAST).then(|| Message {
            from,
            bytes: std::mem::take(bytes),
        })
    }

    /// Removes requests that are complete.
    fn reap(&mut self) {
        let under_way = std::mem::take(&mut self.sent);
        self.sent = under_way
            .into_iter()
            .filter_map(|request| request.test().err())
            .collect();
    }
}

impl Communicator for OverMpi {
    fn rank(&self) -> u32 {
        self.world.rank() as u32
    }

    fn ranks(&self) -> u32 {
        self.world.size() as u32
    }

    fn send(&mut self, to: u32, bytes: Vec<u8>) -> Result<(), CommunicationError> {
        self.reap();
        let count = bytes.len().div_ceil(PART_BYTES).max(1);
        for index in 0..count {
            let at = index * PART_BYTES;
            let end = bytes.len().min(at + PART_BYTES);
            let part = self.keep(
                if index + 1 == count { LAST } else { MORE },
                &bytes[at..end],
            );
            let request = self
                .world
                .process_at_rank(to as i32)
                .immediate_send(StaticScope, part);
            self.sent.push(request);
        }
        Ok(())
    }

    fn receive(&mut self, limit: Duration) -> Result<Option<Message>, CommunicationError> {
        let began = Instant::now();
        let (mut pause, longest) = PAUSES;
        loop {
            self.reap();
            if let Some(found) = self.world.any_process().immediate_matched_probe() {
                let (part, status) = found.matched_receive_vec::<u8>();
                if let Some(message) = self.join_part(status.source_rank() as u32, &part) {
                    return Ok(Some(message));
                }
                continue;
            }
            let waited = began.elapsed();
            if waited >= limit {
                return Ok(None);
            }
            if waited > WITHOUT_PAUSE {
                thread::sleep(pause.min(limit - waited));
                pause = (2 * pause).min(longest);
            } else {
                // If ranks share a processor, this rank leaves it to the rank for which it waits.
                thread::yield_now();
            }
        }
    }

    fn flush(&mut self, limit: Duration) -> Result<(), CommunicationError> {
        let until = Instant::now() + limit;
        let (mut pause, longest) = PAUSES;
        loop {
            self.reap();
            if self.sent.is_empty() {
                return Ok(());
            }
            if Instant::now() >= until {
                return Err(CommunicationError::Refused {
                    doing: Cow::Borrowed("send to another rank"),
                    why: format!(
                        "{} of the messages were not taken within {} s",
                        self.sent.len(),
                        limit.as_secs_f64()
                    ),
                });
            }
            thread::sleep(pause);
            pause = (2 * pause).min(longest);
        }
    }
}

impl Drop for OverMpi {
    fn drop(&mut self) {
        // Dropping an incomplete request panics. After a failure, the process ends without
        // completing its requests, so they are leaked.
        for request in std::mem::take(&mut self.sent) {
            std::mem::forget(request);
        }
    }
}
