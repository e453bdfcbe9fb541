//! A proxy in front of an NFS server, in the network namespace of the server. It counts the calls
//! of each procedure, delays replies, and applies planned faults to calls or replies.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Result, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::sched::{CloneFlags, setns};
use rustix::net::sockopt::set_socket_linger;

use super::ganesha::{Ganesha, NFS_PORT};
use super::records::{Message, Procedure};

/// Interval at which the listener checks for new connections and whether the proxy has ended.
const LOOK_EVERY: Duration = Duration::from_millis(1);
/// How long to wait until a planned fault is applied.
const PATIENCE: Duration = Duration::from_secs(20);
/// Pause between the pieces of a reply, so that the client receives each piece separately.
const BETWEEN_PIECES: Duration = Duration::from_micros(200);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The reply is lost.
    Dropped,
    /// Half of the reply is sent, then the connection is closed.
    Cut,
    /// The reply is sent as fragments of this many bytes, each separately.
    Fragmented(usize),
    /// The reply is sent twice.
    Repeated,
    /// The reply is sent after the next reply.
    AfterTheNext,
    /// The reply has a transaction number (xid) that belongs to no call of the client.
    OfNobody,
    /// After the transaction number (xid), the reply consists of random bytes.
    Noise,
    /// The reply's record mark announces 2 GiB.
    TooLong,
    /// The server performs the call. Then the connection is reset, so the client receives no reply.
    ResetAfter,
    /// The connection is reset before the server receives the call.
    ResetBefore,
    /// The connection is reset before the server receives the call, and further connections are
    /// refused until [`Proxy::accept`].
    Gone,
    /// The write verifier in the reply of a COMMIT or a WRITE is changed.
    OtherVerifier,
    /// The proxy sends no replies for this duration.
    Stalled(Duration),
    /// The server does not receive the call. The proxy replies with this status instead.
    Answered(u32),
}

#[derive(Clone, Copy, Debug)]
struct Planned {
    procedure: Option<Procedure>,
    /// Number of unchanged calls before the first call with the fault.
    before: u64,
    /// Number of calls with the fault.
    times: u64,
    fault: Fault,
}

#[derive(Debug, Default)]
struct Plan {
    faults: Vec<Planned>,
    delay: Duration,
    calls: BTreeMap<Procedure, u64>,
    /// Times at which faults were applied.
    done: Vec<Instant>,
    /// The proxy sends no reply before this time, because of [`Fault::Stalled`].
    held_until: Option<Instant>,
}

impl Plan {
    /// Counts a call, and returns the planned fault that applies to it, if any.
    fn call(&mut self, procedure: Procedure) -> Option<Fault> {
        *self.calls.entry(procedure).or_default() += 1;
        for planned in &mut self.faults {
            if planned.procedure.is_some_and(|of| of != procedure) {
                continue;
            }
            if planned.before > 0 {
                planned.before -= 1;
            } else if planned.times > 0 {
                planned.times -= 1;
                self.done.push(Instant::now());
                return Some(planned.fault);
            }
        }
        None
    }
}

#[derive(Debug)]
pub struct Proxy {
    port: u16,
    plan: Arc<Mutex<Plan>>,
    ends: Arc<AtomicBool>,
    refuses: Arc<AtomicBool>,
    listens: Option<JoinHandle<()>>,
}

impl Proxy {
    pub fn before(ganesha: &Ganesha) -> Self {
        let network = File::open(ganesha.network()).unwrap();
        let plan = Arc::<Mutex<Plan>>::default();
        let ends = Arc::<AtomicBool>::default();
        let refuses = Arc::<AtomicBool>::default();
        let (tell_port, port) = channel();
        let listens = {
            let (plan, ends, refuses) =
                (Arc::clone(&plan), Arc::clone(&ends), Arc::clone(&refuses));
            std::thread::spawn(move || {
                // `setns` changes the network namespace of this thread. Threads that it starts
                // inherit the namespace.
                setns(network, CloneFlags::CLONE_NEWNET).unwrap();
                let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
                let port = listener.local_addr().unwrap().port();
                tell_port.send(port).unwrap();
                listen(listener, port, &plan, &ends, &refuses);
            })
        };
        Self {
            port: port.recv().unwrap(),
            plan,
            ends,
            refuses,
            listens: Some(listens),
        }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Delays all replies from now on.
    pub fn delay(&self, delay: Duration) {
        self.plan.lock().unwrap().delay = delay;
    }

    /// Plans a fault for one call of a procedure, or of any procedure if `None`. The first `before`
    /// calls are not changed.
    pub fn fault(&self, procedure: impl Into<Option<Procedure>>, before: u64, fault: Fault) {
        self.faults(procedure, before, 1, fault);
    }

    /// Plans a fault for several consecutive calls.
    pub fn faults(
        &self,
        procedure: impl Into<Option<Procedure>>,
        before: u64,
        times: u64,
        fault: Fault,
    ) {
        let procedure = procedure.into();
        self.plan.lock().unwrap().faults.push(Planned {
            procedure,
            before,
            times,
            fault,
        });
    }

    /// Accepts connections after [`Fault::Gone`].
    pub fn accept(&self) {
        self.refuses.store(false, Ordering::SeqCst);
    }

    pub fn wait_for_fault(&self) {
        let began = Instant::now();
        while self.done().is_empty() {
            assert!(
                began.elapsed() < PATIENCE,
                "no call came that something is to be done to"
            );
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Times at which faults were applied.
    pub fn done(&self) -> Vec<Instant> {
        self.plan.lock().unwrap().done.clone()
    }

    /// Number of NFS calls so far, by procedure.
    pub fn calls(&self) -> BTreeMap<&'static str, u64> {
        let plan = self.plan.lock().unwrap();
        plan.calls
            .iter()
            .map(|(procedure, count)| (procedure.name(), *count))
            .collect()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::SeqCst);
        if let Some(listens) = self.listens.take() {
            let ended = listens.join();
            assert!(
                ended.is_ok() || std::thread::panicking(),
                "the proxy has failed"
            );
        }
    }
}

/// Accepts connections until the proxy ends. To refuse connections, the listener is closed: the
/// kernel then resets new connections.
fn listen(
    listener: TcpListener,
    port: u16,
    plan: &Arc<Mutex<Plan>>,
    ends: &AtomicBool,
    refuses: &Arc<AtomicBool>,
) {
    let mut listener = Some(listener);
    let mut pairs: Vec<Weak<Pair>> = Vec::new();
    while !ends.load(Ordering::SeqCst) {
        if refuses.load(Ordering::SeqCst) {
            listener = None;
            std::thread::sleep(LOOK_EVERY);
            continue;
        }
        let listener =
            listener.get_or_insert_with(|| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap());
        listener.set_nonblocking(true).unwrap();
        match listener.accept() {
            Ok((client, _)) => {
                client.set_nonblocking(false).unwrap();
                pairs.extend(serve(client, plan, refuses));
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(LOOK_EVERY),
            Err(error) => panic!("the proxy cannot accept: {error}"),
        }
    }
    pairs
        .iter()
        .filter_map(Weak::upgrade)
        .for_each(|pair| pair.close());
}

/// A reply that waits to be sent to the client, and what then happens to the connection.
struct Leaving {
    due: Instant,
    /// Parts of the reply, each sent separately.
    pieces: Vec<Vec<u8>>,
    then: Then,
}

enum Then {
    GoOn,
    Close,
    Reset,
}

/// A connection of a client to the proxy, and the connection on which the proxy forwards its calls
/// to the server.
struct Pair {
    client: TcpStream,
    server: TcpStream,
    plan: Arc<Mutex<Plan>>,
    refuses: Arc<AtomicBool>,
    /// Faults that apply to replies, by the transaction number (xid) of the call.
    faults: Mutex<BTreeMap<u32, Fault>>,
}

impl Pair {
    /// Shuts down both connections, which ends the threads that use them. The last thread closes
    /// the client's connection. The kernel then resets this connection, because its linger time is
    /// 0.
    fn reset(&self) {
        let _ = set_socket_linger(&self.client, Some(Duration::ZERO));
        let _ = self.client.shutdown(Shutdown::Read);
        let _ = self.server.shutdown(Shutdown::Both);
    }

    /// Closes both connections without a reset.
    fn close(&self) {
        let _ = self.client.shutdown(Shutdown::Both);
        let _ = self.server.shutdown(Shutdown::Both);
    }

    fn leaving(&self, pieces: Vec<Vec<u8>>, then: Then) -> Leaving {
        let plan = self.plan.lock().unwrap();
        let due = Instant::now() + plan.delay;
        Leaving {
            due: plan.held_until.map_or(due, |until| due.max(until)),
            pieces,
            then,
        }
    }
}

/// Starts the threads that forward one connection. Returns `None` if the server does not run: the
/// connection of the client is then closed.
fn serve(
    client: TcpStream,
    plan: &Arc<Mutex<Plan>>,
    refuses: &Arc<AtomicBool>,
) -> Option<Weak<Pair>> {
    let server = TcpStream::connect(SocketAddr::from((Ipv4Addr::LOCALHOST, NFS_PORT))).ok()?;
    for stream in [&client, &server] {
        stream.set_nodelay(true).unwrap();
    }
    let pair = Arc::new(Pair {
        client,
        server,
        plan: Arc::clone(plan),
        refuses: Arc::clone(refuses),
        faults: Mutex::default(),
    });
    let served = Arc::downgrade(&pair);
    let (due, leaving) = channel();
    let (caller, replier) = (Arc::clone(&pair), Arc::clone(&pair));
    let for_calls = due.clone();
    std::thread::spawn(move || {
        let _ = calls(&caller, &for_calls);
        let _ = caller.server.shutdown(Shutdown::Both);
    });
    std::thread::spawn(move || {
        let _ = replies(&replier, &due);
        let _ = due.send(replier.leaving(Vec::new(), Then::Close));
    });
    std::thread::spawn(move || {
        let _ = leave(&pair, &leaving);
    });
    Some(served)
}

/// Forwards calls from the client to the server.
fn calls(pair: &Pair, leaving: &Sender<Leaving>) -> Result<()> {
    loop {
        let call = Message::read(&mut &pair.client)?;
        let fault = call.procedure().and_then(|procedure| {
            let mut plan = pair.plan.lock().unwrap();
            plan.call(procedure)
        });
        match fault {
            Some(fault @ (Fault::ResetBefore | Fault::Gone)) => {
                if fault == Fault::Gone {
                    pair.refuses.store(true, Ordering::SeqCst);
                    // Waits until the listener is closed, so that the client cannot connect again.
                    std::thread::sleep(5 * LOOK_EVERY);
                }
                let _ = leaving.send(pair.leaving(Vec::new(), Then::Reset));
                return Ok(());
            }
            Some(Fault::Answered(status)) => {
                let reply = call.answered_with(status).marked();
                let _ = leaving.send(pair.leaving(vec![reply], Then::GoOn));
                continue;
            }
            Some(Fault::Stalled(length)) => {
                pair.plan.lock().unwrap().held_until = Some(Instant::now() + length)
            }
            Some(fault) => {
                pair.faults.lock().unwrap().insert(call.id(), fault);
            }
            None => {}
        }
        (&pair.server).write_all(&call.marked())?;
    }
}

/// Reads replies from the server, and queues them for the client.
fn replies(pair: &Pair, leaving: &Sender<Leaving>) -> Result<()> {
    let mut later: Option<Vec<u8>> = None;
    loop {
        let mut reply = Message::read(&mut &pair.server)?;
        let fault = pair.faults.lock().unwrap().remove(&reply.id());
        let mut then = Then::GoOn;
        let pieces = match fault {
            None
            | Some(Fault::Stalled(_) | Fault::Answered(_) | Fault::ResetBefore | Fault::Gone) => {
                vec![reply.marked()]
            }
            Some(Fault::OtherVerifier) => {
                if let Some(last) = reply.0.last_mut() {
                    *last ^= 0x5a;
                }
                vec![reply.marked()]
            }
            Some(Fault::Dropped) => continue,
            Some(Fault::AfterTheNext) => {
                later = Some(reply.marked());
                continue;
            }
            Some(Fault::Cut) => {
                then = Then::Close;
                let mut whole = reply.marked();
                whole.truncate(whole.len() / 2);
                vec![whole]
            }
            Some(Fault::Fragmented(bytes)) => nfs_client::fragments(&reply.0, bytes),
            Some(Fault::Repeated) => vec![reply.marked(), reply.marked()],
            Some(Fault::OfNobody) => {
                reply.0[0] ^= 0x5a;
                vec![reply.marked()]
            }
            Some(Fault::Noise) => {
                reply.0[4..].fill(0xa5);
                vec![reply.marked()]
            }
            Some(Fault::TooLong) => vec![[&[0xff, 0xff, 0xff, 0xf0][..], &reply.0].concat()],
            Some(Fault::ResetAfter) => {
                then = Then::Reset;
                Vec::new()
            }
        };
        let pieces = pieces.into_iter().chain(later.take()).collect();
        if leaving.send(pair.leaving(pieces, then)).is_err() {
            return Ok(());
        }
    }
}

/// Sends replies to the client when they are due.
fn leave(pair: &Pair, leaving: &Receiver<Leaving>) -> Result<()> {
    for Leaving { due, pieces, then } in leaving {
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        for (number, piece) in pieces.iter().enumerate() {
            if number > 0 {
                std::thread::sleep(BETWEEN_PIECES);
            }
            (&pair.client).write_all(piece)?;
        }
        match then {
            Then::GoOn => {}
            Then::Close => {
                pair.close();
                break;
            }
            Then::Reset => {
                pair.reset();
                break;
            }
        }
    }
    Ok(())
}
