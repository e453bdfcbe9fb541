//! A transparent proxy between one simulated host and the others, in the network namespace of the
//! bridge. It delays messages between ranks, differently in each direction. `hosts.sh` redirects
//! the packets of the hosts to the proxy, which accepts connections to all their addresses. For
//! each connection, the proxy opens another one to the original destination, with the address of
//! the client as the source.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Result, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::sched::{CloneFlags, setns};
use nix::sys::socket::{setsockopt, sockopt::IpTransparent};
use rustix::net::{
    AddressFamily, SocketType, bind, connect, listen, socket, sockopt::set_socket_reuseaddr,
};

/// Port at which the rank on each host listens, if a host has one rank.
pub(super) const PORT: u16 = 17_177;
/// Interval at which the proxy checks for new connections and whether it must end.
const LOOK_EVERY: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub(super) struct Delay {
    ends: Arc<AtomicBool>,
    listens: Option<JoinHandle<()>>,
}

impl Delay {
    /// Starts the proxy in a network namespace. Messages to the address `host` are delayed by `to`,
    /// messages from this address by `from`.
    pub(super) fn before(network: File, host: Ipv4Addr, (to, from): (Duration, Duration)) -> Self {
        let ends = Arc::<AtomicBool>::default();
        let (is_over, (tell, ready)) = (Arc::clone(&ends), channel());
        let listens = std::thread::spawn(move || {
            // `setns` changes the network namespace of this thread. Threads that it starts inherit
            // the namespace.
            setns(network, CloneFlags::CLONE_NEWNET).unwrap();
            let listener =
                TcpListener::from(at(SocketAddr::from((Ipv4Addr::UNSPECIFIED, PORT))).unwrap());
            listen(&listener, 16).unwrap();
            listener.set_nonblocking(true).unwrap();
            tell.send(()).unwrap();
            while !is_over.load(Ordering::SeqCst) {
                match listener.accept() {
                    Ok((one, from_whom)) => {
                        let delays = if from_whom.ip() == host {
                            (from, to)
                        } else {
                            (to, from)
                        };
                        serve(one, from_whom, delays).unwrap();
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {
                        std::thread::sleep(LOOK_EVERY)
                    }
                    Err(error) => panic!("the proxy cannot accept: {error}"),
                }
            }
        });
        ready.recv().unwrap();
        Self {
            ends,
            listens: Some(listens),
        }
    }
}

impl Drop for Delay {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::SeqCst);
        let ended = self.listens.take().map(JoinHandle::join);
        assert!(
            ended.is_none_or(|ended| ended.is_ok()) || std::thread::panicking(),
            "the proxy has failed"
        );
    }
}

/// A socket bound to an address that may belong to another host: ip(7), IP_TRANSPARENT.
fn at(address: SocketAddr) -> Result<OwnedFd> {
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None)?;
    setsockopt(&socket, IpTransparent, &true)?;
    set_socket_reuseaddr(&socket, true)?;
    bind(&socket, &address)?;
    Ok(socket)
}

/// Forwards an accepted connection to its original destination. The first of `delays` applies to
/// messages of the client, the second to replies.
fn serve(one: TcpStream, from: SocketAddr, delays: (Duration, Duration)) -> Result<()> {
    one.set_nonblocking(false)?;
    let other = at(SocketAddr::from((from.ip(), 0)))?;
    connect(&other, &one.local_addr()?)?;
    let other = TcpStream::from(other);
    for stream in [&one, &other] {
        stream.set_nodelay(true)?;
    }
    pass(one.try_clone()?, other.try_clone()?, delays.0);
    pass(other, one, delays.1);
    Ok(())
}

/// Forwards the bytes of one direction with a delay, until one of the connections closes.
fn pass(mut from: TcpStream, mut to: TcpStream, delay: Duration) {
    let (due, leaving) = channel::<(Instant, Vec<u8>)>();
    std::thread::spawn(move || {
        for (due, part) in leaving {
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            if to.write_all(&part).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    });
    std::thread::spawn(move || {
        let mut part = [0; 1 << 16];
        while let Ok(length @ 1..) = from.read(&mut part) {
            if due
                .send((Instant::now() + delay, part[..length].to_vec()))
                .is_err()
            {
                break;
            }
        }
    });
}
