//! One connection over TCP: requests are gathered and sent together, and what is received goes to
//! where replies are found in it ([`records`](crate::records)).

use core::time::Duration;
use std::io::IoSlice;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::sockopt::{self, Timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendFlags, SocketFlags, SocketType,
};

use crate::endpoint::Endpoint;
use crate::records::{Record, Records};

/// How long a receiver sleeps that has nothing else to look at, before it looks whether a call is
/// overdue.
pub const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Room for several short requests.
const OUT_BYTES: usize = 128 << 10;
/// Ports that take a right to use, from the highest down. The lowest ones belong to services.
const PRIVILEGED_PORTS: std::ops::RangeInclusive<u16> = 512..=1023;

/// What is wrong with a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// The system's answer, or the server's end of it.
    Lost(Errno),
    /// What was received are no records of RPC.
    Garbled,
}

/// A connection that is there.
#[derive(Debug)]
pub struct Channel {
    socket: OwnedFd,
    /// Requests that are not sent yet: from `sent` on.
    out: Vec<u8>,
    sent: usize,
    /// All bytes that were ever put into `out` and sent before its beginning.
    sent_before: u64,
    records: Records,
}

impl Channel {
    /// Begins a connection; whether it is there tells [`finish`](Self::finish).
    pub fn begin(endpoint: &Endpoint) -> Result<Self, Errno> {
        let Endpoint {
            address,
            privileged,
            record_bytes_max,
            ..
        } = *endpoint;
        let (family, any): (_, IpAddr) = match address {
            SocketAddr::V4(_) => (AddressFamily::INET, Ipv4Addr::UNSPECIFIED.into()),
            SocketAddr::V6(_) => (AddressFamily::INET6, Ipv6Addr::UNSPECIFIED.into()),
        };
        let mut ports = PRIVILEGED_PORTS.rev();
        loop {
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
            if privileged {
                let port = ports.next().ok_or(Errno::ADDRINUSE)?;
                match rustix::net::bind(&socket, &SocketAddr::new(any, port)) {
                    Err(Errno::ADDRINUSE) => continue,
                    bound => bound?,
                }
            }
            match rustix::net::connect(&socket, &address) {
                Ok(()) | Err(Errno::INPROGRESS) => return Ok(Self::of(socket, record_bytes_max)),
                // An earlier connection from this port is not over yet.
                Err(Errno::ADDRNOTAVAIL | Errno::ADDRINUSE) if privileged => {}
                Err(errno) => return Err(errno),
            }
        }
    }

    fn of(socket: OwnedFd, record_bytes_max: usize) -> Self {
        Self {
            socket,
            out: Vec::with_capacity(OUT_BYTES),
            sent: 0,
            sent_before: 0,
            records: Records::new(record_bytes_max),
        }
    }

    /// The connection has become writable: whether it is there.
    pub fn finish(&self) -> Result<(), Errno> {
        sockopt::socket_error(&self.socket)??;
        sockopt::set_tcp_nodelay(&self.socket, true)?;
        // From here on who wants to wait may wait in a call that receives; all others say that they
        // do not.
        rustix::io::ioctl_fionbio(&self.socket, false)?;
        sockopt::set_socket_timeout(&self.socket, Timeout::Recv, Some(LOOK_EVERY))
    }

    /// Waits until something was received, or something can be sent if that is wanted, so long at
    /// most; whether it is so.
    pub fn wait(&self, to_send: bool, limit: Duration) -> Result<bool, Errno> {
        let mut wanted = PollFlags::IN;
        if to_send {
            wanted |= PollFlags::OUT;
        }
        let limit = Timespec {
            tv_sec: limit.as_secs() as i64,
            tv_nsec: limit.subsec_nanos().into(),
        };
        match rustix::event::poll(&mut [PollFd::new(&self.socket, wanted)], Some(&limit)) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::INTR) => Ok(false),
            Err(errno) => Err(errno),
        }
    }

    /// For poll(2).
    pub fn descriptor(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    /// The requests that are not sent yet, for one more to be written behind them.
    #[inline]
    pub fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// How many bytes were ever written to `out`: a request's end, behind it.
    #[inline]
    pub fn written(&self) -> u64 {
        self.sent_before + self.out.len() as u64
    }

    /// How many of these were sent.
    pub fn sent(&self) -> u64 {
        self.sent_before + self.sent as u64
    }

    /// Whether something was written that is not sent.
    #[inline]
    pub fn has_unsent(&self) -> bool {
        self.sent < self.out.len()
    }

    /// Sends as much as the connection takes now.
    #[inline]
    pub fn send(&mut self) -> Result<(), Broken> {
        while self.has_unsent() {
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            match rustix::net::send(&self.socket, &self.out[self.sent..], flags) {
                Ok(sent) => self.sent += sent,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(()),
                Err(errno) => return Err(Broken::Lost(errno)),
            }
        }
        self.sent_before += self.out.len() as u64;
        self.out.clear();
        self.sent = 0;
        Ok(())
    }

    /// Sends what was written, and behind it these bytes from where they are. What the connection
    /// does not take now is kept, as is all where there is an error: the next
    /// [`send`](Self::send) finds that.
    pub fn send_with(&mut self, tail: &[u8], padding: &[u8]) {
        let parts = [&self.out[self.sent..], tail, padding].map(IoSlice::new);
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        let sent = rustix::net::sendmsg(
            &self.socket,
            &parts,
            &mut SendAncillaryBuffer::default(),
            flags,
        );
        let sent = self.sent + sent.unwrap_or(0);
        match sent.checked_sub(self.out.len()) {
            None => {
                self.sent = sent;
                self.out.extend_from_slice(tail);
                self.out.extend_from_slice(padding);
            }
            Some(of_tail) => {
                self.sent_before += sent as u64;
                self.sent = 0;
                self.out.clear();
                self.out
                    .extend_from_slice(tail.get(of_tail..).unwrap_or_default());
                let of_padding = of_tail.saturating_sub(tail.len());
                self.out.extend_from_slice(&padding[of_padding..]);
            }
        }
    }

    /// Receives what is there; whether that was anything. Who waits does so for [`LOOK_EVERY`] at
    /// most.
    #[inline]
    pub fn receive(&mut self, waits: bool) -> Result<bool, Broken> {
        let flags = if waits {
            RecvFlags::empty()
        } else {
            RecvFlags::DONTWAIT
        };
        match rustix::net::recv(&self.socket, self.records.room(), flags) {
            Ok((0, _)) => Err(Broken::Lost(Errno::CONNRESET)),
            Ok((length, _)) => {
                self.records.filled(length);
                Ok(true)
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(false),
            Err(errno) => Err(Broken::Lost(errno)),
        }
    }

    /// What was received.
    #[inline]
    pub fn records(&mut self) -> &mut Records {
        &mut self.records
    }

    /// The bytes of the record that was found last.
    #[inline]
    pub fn bytes(&self, record: Record) -> &[u8] {
        self.records.bytes(record)
    }
}
