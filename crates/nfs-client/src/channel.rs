//! A TCP connection. Requests are collected and sent together; [`records`](crate::records) splits
//! the received bytes into replies.

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

/// The time limit of one receive call, so that a waiting thread regularly checks the timeouts of
/// its calls.
pub const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Initial capacity of the buffer of requests, enough for several short requests.
const OUT_BYTES: usize = 128 << 10;
/// Local ports that only privileged processes may bind, tried from the highest to the lowest. Ports
/// below 512 are reserved for services.
const PRIVILEGED_PORTS: std::ops::RangeInclusive<u16> = 512..=1023;

/// The reason why a connection cannot be used any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// The system's error; `CONNRESET` if the server closed the connection.
    Lost(Errno),
    /// The received bytes are not valid RPC records.
    Garbled,
}

/// A TCP connection with its buffers.
#[derive(Debug)]
pub struct Channel {
    socket: OwnedFd,
    /// The buffer of requests; bytes from `sent` on are not sent yet.
    out: Vec<u8>,
    sent: usize,
    /// Number of bytes that were sent and removed from `out`.
    sent_before: u64,
    records: Records,
}

impl Channel {
    /// Starts to connect; [`finish`](Self::finish) reports whether the connection was established.
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
                // An earlier connection from this port is not closed completely.
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

    /// Completes an attempt to connect without waiting: the caller must have waited until the
    /// socket is writable. Returns an error if the attempt failed.
    pub fn finish(&self) -> Result<(), Errno> {
        sockopt::socket_error(&self.socket)??;
        sockopt::set_tcp_nodelay(&self.socket, true)?;
        // From here on the socket blocks, so one receive call can both wait and receive. All other
        // calls on the socket use `DONTWAIT`.
        rustix::io::ioctl_fionbio(&self.socket, false)?;
        sockopt::set_socket_timeout(&self.socket, Timeout::Recv, Some(LOOK_EVERY))
    }

    /// Waits up to `limit` until bytes are received or, with `to_send`, can be sent. Returns
    /// `false` if neither occurred in time.
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

    /// The socket's descriptor, for poll(2).
    pub fn descriptor(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    /// The buffer of requests, to which a request can be appended.
    #[inline]
    pub fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// Number of bytes written to `out` since the connection was created. After a request is
    /// written, this number is the offset of the request's end.
    #[inline]
    pub fn written(&self) -> u64 {
        self.sent_before + self.out.len() as u64
    }

    /// Number of bytes of [`written`](Self::written) that the socket has accepted.
    pub fn sent(&self) -> u64 {
        self.sent_before + self.sent as u64
    }

    /// Whether `out` contains bytes that are not sent yet.
    #[inline]
    pub fn has_unsent(&self) -> bool {
        self.sent < self.out.len()
    }

    /// Sends as many buffered bytes as the socket accepts without blocking.
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

    /// Sends the buffer followed by `tail` and `padding`, without copying `tail` and `padding` to
    /// the buffer. Bytes that the socket does not accept are buffered. After an error, all bytes
    /// are buffered, and the next [`send`](Self::send) reports the error.
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

    /// Receives the available bytes; returns whether there were any. With `waits`, waits up to
    /// [`LOOK_EVERY`] for the first byte.
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

    /// The receive buffer, which splits the received bytes into replies.
    #[inline]
    pub fn records(&mut self) -> &mut Records {
        &mut self.records
    }

    /// The bytes of the record that [`Records::next_record`] returned last.
    #[inline]
    pub fn bytes(&self, record: Record) -> &[u8] {
        self.records.bytes(record)
    }
}
