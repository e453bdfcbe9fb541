//! An NFS server in this process, with a thread for each connection. A rule changes how the server
//! handles the calls that the rule selects by procedure and number.

use std::io::Write;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use nfs_client::{fragments, mark, read_record};

use super::files::{Files, NFS, Whims};
use super::wire::{In, Out};

/// How the server handles a call.
#[derive(Clone)]
pub enum Act {
    /// Performs the call with these deviations.
    As(Whims),
    /// Does not perform the call and replies with this status.
    Status(u32),
    /// Performs the call and sends no reply.
    Silence,
    /// Closes the connection before the call is performed.
    LoseRequest,
    /// Closes the connection after the call was performed, without a reply.
    LoseReply,
    /// Sends half of the reply and closes the connection.
    CutStream,
    /// Sends a reply that lacks this number of bytes at its end, as a complete record.
    CutRecord(usize),
    /// Sends the reply in fragments of this number of bytes.
    Fragments(usize),
    Twice,
    /// Sends the reply after the reply to the next call.
    AfterNext,
    /// Sends the reply with another XID.
    OtherNumber,
    /// Sends these bytes instead of the reply.
    Bytes(Vec<u8>),
    /// Performs the call, then restarts and closes the connection without a reply.
    Restart,
    /// Restarts before the call is performed, but keeps the connection.
    RestartBefore,
    /// Rejects the call in the RPC layer; these words follow the XID in the reply.
    Refused(Vec<u32>),
    /// Sends the reply after this delay.
    Late(Duration),
}

struct Rule {
    procedure: u32,
    /// The number of the call among the calls of this procedure, counted from 0; `None` selects all
    /// calls.
    nth: Option<usize>,
    act: Act,
}

#[derive(Default)]
struct State {
    files: Files,
    rules: Vec<Rule>,
    /// The NFS procedures in the order of the calls, including repetitions.
    calls: Vec<u32>,
    connections: Vec<TcpStream>,
    held: Vec<Vec<u8>>,
}

/// An NFS server in this process. A separate thread opens its sockets, because worker threads may
/// have their own tables of open files.
pub struct Server {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    orders: Sender<(Order, Sender<SocketAddr>)>,
}

#[derive(Clone, Copy)]
enum Order {
    Start,
    Stop,
    Leave,
}

impl Server {
    pub fn new() -> Self {
        let state = Arc::<Mutex<State>>::default();
        let (orders, ordered) = channel();
        let own = Arc::clone(&state);
        std::thread::spawn(move || obey(&ordered, &own));
        let mut server = Self {
            address: ([127, 0, 0, 1], 0).into(),
            state,
            orders,
        };
        server.start();
        server
    }

    fn order(&self, order: Order) -> SocketAddr {
        let (done, is_done) = channel();
        self.orders.send((order, done)).unwrap();
        is_done.recv().unwrap()
    }

    /// Starts to listen; after a stop, at the same address as before.
    pub fn start(&mut self) {
        self.address = self.order(Order::Start);
    }

    /// Stops listening and closes all connections.
    pub fn stop(&self) {
        self.order(Order::Stop);
    }

    pub fn on(&self, procedure: u32, nth: usize, act: Act) -> &Self {
        let nth = Some(nth);
        self.state().rules.push(Rule {
            procedure,
            nth,
            act,
        });
        self
    }

    pub fn always(&self, procedure: u32, act: Act) -> &Self {
        self.state().rules.push(Rule {
            procedure,
            nth: None,
            act,
        });
        self
    }

    pub fn files<T>(&self, look: impl FnOnce(&mut Files) -> T) -> T {
        look(&mut self.state().files)
    }

    /// Returns the procedures called since the previous call of this function.
    pub fn take_calls(&self) -> Vec<u32> {
        std::mem::take(&mut self.state().calls)
    }

    /// Removes all rules, so that the server answers all calls normally.
    pub fn behave(&self) -> &Self {
        self.state().rules.clear();
        self
    }

    /// Returns the URL of the export with additional parameters.
    pub fn url(&self, parameters: &str) -> PathBuf {
        let port = self.address.port();
        format!("nfs://127.0.0.1:{port}/export?mountport={port}{parameters}").into()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.order(Order::Leave);
    }
}

/// Starts and stops listening at one address, as requested.
fn obey(ordered: &Receiver<(Order, Sender<SocketAddr>)>, state: &Arc<Mutex<State>>) {
    let mut address = SocketAddr::from(([127, 0, 0, 1], 0));
    let mut listening = None;
    for (order, done) in ordered {
        if let Order::Start = order {
            let listener = TcpListener::bind(address).unwrap();
            address = listener.local_addr().unwrap();
            let (state, is_over) = (Arc::clone(state), Arc::new(AtomicBool::new(false)));
            let sees = Arc::clone(&is_over);
            let thread = std::thread::spawn(move || listen(&listener, &state, &sees));
            listening = Some((thread, is_over));
        } else if let Some((thread, is_over)) = listening.take() {
            is_over.store(true, Ordering::SeqCst);
            let _ = TcpStream::connect(address);
            thread.join().unwrap();
            for stream in state.lock().unwrap().connections.drain(..) {
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
        let _ = done.send(address);
        if let Order::Leave = order {
            return;
        }
    }
}

fn listen(listener: &TcpListener, state: &Arc<Mutex<State>>, is_over: &AtomicBool) {
    for stream in listener.incoming() {
        if is_over.load(Ordering::SeqCst) {
            return;
        }
        let (stream, state) = (stream.unwrap(), Arc::clone(state));
        state
            .lock()
            .unwrap()
            .connections
            .push(stream.try_clone().unwrap());
        std::thread::spawn(move || serve(stream, &state));
    }
}

pub fn marked(reply: &[u8]) -> Vec<u8> {
    fragments(reply, usize::MAX).concat()
}

/// Answers the calls on a connection until either side closes the connection.
fn serve(mut stream: TcpStream, state: &Mutex<State>) {
    while let Ok(call) = read_record(&mut stream) {
        let (bytes, is_last) = answer(&call, state);
        if stream.write_all(&bytes).is_err() || is_last {
            let _ = stream.shutdown(Shutdown::Both);
            return;
        }
    }
}

/// Returns the bytes to be sent, and whether the connection is closed afterwards.
fn answer(call: &[u8], state: &Mutex<State>) -> (Vec<u8>, bool) {
    let mut input = In(call);
    let (xid, kind, version) = (input.u32(), input.u32(), input.u32());
    assert_eq!((kind, version), (0, 2), "calls are calls");
    let (program, version, procedure) = (input.u32(), input.u32(), input.u32());
    assert_eq!(version, 3);
    let (flavor, credentials) = (input.u32(), input.bytes());
    assert!(
        flavor == 1 && credentials.len() >= 20,
        "callers show who they are"
    );
    assert_eq!((input.u32(), input.bytes()), (0, Vec::new()));
    let mut guard = state.lock().unwrap();
    let act = guard.act(program, procedure);
    if let Some(Act::Late(wait)) = act {
        drop(guard);
        std::thread::sleep(wait);
        guard = state.lock().unwrap();
    }
    let state = &mut *guard;
    let head = |xid: u32| Out::default().u32(xid).u32(1).u32(0).u32(0).u32(0).u32(0);
    let whims = if let Some(Act::As(whims)) = &act {
        *whims
    } else {
        Whims::default()
    };
    match &act {
        Some(Act::Status(status)) => {
            return (marked(&head(xid).u32(*status).u64(0).u64(0).0), false);
        }
        Some(Act::LoseRequest) => return (Vec::new(), true),
        Some(Act::Refused(words)) => {
            let out = words
                .iter()
                .fold(Out::default().u32(xid).u32(1), |out, word| out.u32(*word));
            return (marked(&out.0), false);
        }
        Some(Act::RestartBefore) => state.files.restart(),
        _ => {}
    }
    let results = state.files.perform(program, procedure, &mut input, whims);
    let mut reply = head(xid).then(results.clone()).0;
    let mut bytes = match act {
        Some(Act::Silence) => Vec::new(),
        Some(Act::LoseReply) => return (Vec::new(), true),
        Some(Act::Restart) => {
            state.files.restart();
            return (Vec::new(), true);
        }
        Some(Act::CutStream) => {
            reply.truncate(reply.len() / 2);
            let mark = mark(reply.len() * 2, true);
            return ([&mark, &reply[..]].concat(), true);
        }
        Some(Act::CutRecord(bytes)) => {
            reply.truncate(reply.len() - bytes);
            marked(&reply)
        }
        Some(Act::Fragments(bytes)) => fragments(&reply, bytes).concat(),
        Some(Act::Twice) => [marked(&reply), marked(&reply)].concat(),
        Some(Act::AfterNext) => {
            state.held.push(marked(&reply));
            Vec::new()
        }
        Some(Act::OtherNumber) => marked(&head(xid ^ 0x4000_0000).then(results).0),
        Some(Act::Bytes(bytes)) => bytes,
        _ => marked(&reply),
    };
    if !bytes.is_empty() {
        bytes.extend(state.held.drain(..).flatten());
    }
    (bytes, false)
}

impl State {
    /// Records a call and returns the action of the first rule that selects the call.
    fn act(&mut self, program: u32, procedure: u32) -> Option<Act> {
        if program != NFS {
            return None;
        }
        let nth = self.calls.iter().filter(|call| **call == procedure).count();
        self.calls.push(procedure);
        let fits = |rule: &&Rule| {
            rule.procedure == procedure && rule.nth.is_none_or(|wanted| wanted == nth)
        };
        self.rules.iter().find(fits).map(|rule| rule.act.clone())
    }
}
