//! A socket that does not block, with or without encryption.

use std::io::{ErrorKind, IoSlice, Read, Result, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};

use crate::error::{CallError, errno};
use crate::server::Server;
use crate::tls::Encrypted;

#[derive(Debug)]
pub(crate) struct Transport {
    stream: TcpStream,
    encrypted: Option<Box<Encrypted>>,
}

impl Transport {
    /// Connects to a server. Blocks, at most for the server's time limit, and with encryption for
    /// the same time again.
    pub(crate) fn connect(server: &Server) -> core::result::Result<Self, CallError> {
        let lost = |error| CallError::Lost {
            error,
            was_sent: false,
        };
        let stream = server.connect().map_err(lost)?;
        let set = stream.set_nonblocking(true);
        let set = set.and_then(|()| stream.set_nodelay(true));
        set.map_err(|error| lost(errno(&error)))?;
        let encrypted = match &server.tls {
            Some(tls) => Some(Box::new(Encrypted::connect(&stream, tls, server.timeout)?)),
            None => None,
        };
        Ok(Self { stream, encrypted })
    }

    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    #[inline]
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        match &mut self.encrypted {
            None => self.stream.read(buffer),
            Some(encrypted) => encrypted.read(&self.stream, buffer),
        }
    }

    #[inline]
    pub(crate) fn write(&mut self, parts: &[IoSlice<'_>]) -> Result<usize> {
        match &mut self.encrypted {
            None => self.stream.write_vectored(parts),
            Some(encrypted) => encrypted.write(&self.stream, parts),
        }
    }

    /// Sends the bytes that were accepted but not sent; only encrypted connections have any.
    pub(crate) fn flush(&mut self) -> Result<()> {
        match &mut self.encrypted {
            None => Ok(()),
            Some(encrypted) => encrypted.flush(&self.stream),
        }
    }

    /// Whether the kernel accepted all bytes that [`write`](Self::write) accepted.
    #[inline]
    pub(crate) fn is_flushed(&self) -> bool {
        let encrypted = self.encrypted.as_ref();
        encrypted.is_none_or(|encrypted| !encrypted.wants_write())
    }

    /// Whether the connection is open, and no bytes have arrived.
    pub(crate) fn is_silent(&mut self) -> bool {
        match &mut self.encrypted {
            None => {
                let peeked = self.stream.peek(&mut [0]);
                peeked.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
            }
            Some(encrypted) => encrypted.is_silent(&self.stream),
        }
    }
}
