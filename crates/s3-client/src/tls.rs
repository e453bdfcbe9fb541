//! Encryption of connections by TLS 1.2 and 1.3, with rustls. Only the feature `tls` builds this
//! file; `no_tls.rs` replaces it otherwise.

use std::io::{Error, ErrorKind, IoSlice, Read, Result, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{CertificateError, ClientConfig, ClientConnection, RootCertStore};

use crate::error::{CallError, ServerError, TlsError, errno};

/// The certificates that a server's certificate is checked against, and the server's name.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl Settings {
    /// Reads the certificates of authorities: those of the file `authorities`, else those of the
    /// system.
    pub(crate) fn new(
        host: &str,
        authorities: Option<&Path>,
    ) -> core::result::Result<Self, ServerError> {
        let name = ServerName::try_from(host.to_owned());
        let name = name.map_err(|_| ServerError::Endpoint(format!("https://{host}")))?;
        let mut roots = RootCertStore::empty();
        let (certificates, of) = match authorities {
            Some(file) => (of_file(file)?, file.display().to_string()),
            None => {
                let found = rustls_native_certs::load_native_certs();
                (found.certs, "this system".to_owned())
            }
        };
        if roots.add_parsable_certificates(certificates).0 == 0 {
            return Err(ServerError::NoAuthorities(of));
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider);
        let builder = builder
            .with_safe_default_protocol_versions()
            .expect("ring supports TLS 1.2 and 1.3");
        let mut config = builder.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let config = Arc::new(config);
        Ok(Self { config, name })
    }
}

fn of_file(file: &Path) -> core::result::Result<Vec<CertificateDer<'static>>, ServerError> {
    let error = |why: String| ServerError::Authorities {
        file: file.to_owned(),
        why,
    };
    let all = CertificateDer::pem_file_iter(file).map_err(|why| error(why.to_string()))?;
    let all = all.map(|one| one.map_err(|why| error(why.to_string())));
    all.collect()
}

/// The state of an encrypted connection. The caller owns the socket, which does not block.
#[derive(Debug)]
pub(crate) struct Encrypted(ClientConnection);

impl Encrypted {
    /// Performs the handshake, and checks the server's certificate. Blocks, at most for `limit`.
    pub(crate) fn connect(
        stream: &TcpStream,
        settings: &Settings,
        limit: Duration,
    ) -> core::result::Result<Self, CallError> {
        let config = Arc::clone(&settings.config);
        let connection = ClientConnection::new(config, settings.name.clone());
        let mut encrypted = Self(connection.map_err(|error| refused(&error))?);
        let began = Instant::now();
        while encrypted.0.is_handshaking() || encrypted.0.wants_write() {
            match encrypted.shake(stream) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let left = limit.saturating_sub(began.elapsed());
                    if left.is_zero() {
                        return Err(lost(&ErrorKind::TimedOut.into()));
                    }
                    encrypted.wait(stream, left);
                }
                Err(error) => return Err(lost(&error)),
            }
        }
        Ok(encrypted)
    }

    /// Makes one step of the handshake.
    fn shake(&mut self, mut stream: &TcpStream) -> Result<()> {
        if self.0.wants_write() {
            return self.0.write_tls(&mut stream).map(drop);
        }
        self.take(stream).map(drop)
    }

    fn wait(&self, stream: &TcpStream, limit: Duration) {
        let events = match self.0.wants_write() {
            true => PollFlags::OUT,
            false => PollFlags::IN,
        };
        let limit = Timespec {
            tv_sec: limit.as_secs() as i64,
            tv_nsec: limit.subsec_nanos().into(),
        };
        // After an interrupted wait, the caller finds that nothing has changed, and waits again.
        let _ = poll(&mut [PollFd::new(stream, events)], Some(&limit));
    }

    /// Receives and decrypts bytes with one call. Returns the number of encrypted bytes; 0 after
    /// the server closed the connection.
    fn take(&mut self, mut stream: &TcpStream) -> Result<usize> {
        let bytes = self.0.read_tls(&mut stream)?;
        if let Err(error) = self.0.process_new_packets() {
            // The server learns the reason from an alert, if the kernel accepts it at once.
            let _ = self.0.write_tls(&mut stream);
            return Err(Error::new(ErrorKind::InvalidData, error));
        }
        match bytes {
            0 if self.0.is_handshaking() => Err(ErrorKind::ConnectionReset.into()),
            bytes => Ok(bytes),
        }
    }

    /// As `read` of a socket that does not block, with decrypted bytes. Returns fewer bytes than
    /// `buffer` takes only if no more decrypted bytes are available.
    pub(crate) fn read(&mut self, stream: &TcpStream, buffer: &mut [u8]) -> Result<usize> {
        loop {
            match self.0.reader().read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                // The connection was closed without an announcement of TLS. The end of an answer
                // does not depend on the end of the connection, or its length is not known.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(0),
                decrypted => return decrypted,
            }
            self.take(stream)?;
        }
    }

    /// As `write_vectored` of a socket that does not block: accepts bytes to encrypt. The kernel
    /// may not have accepted all of them yet ([`wants_write`](Self::wants_write)).
    pub(crate) fn write(&mut self, stream: &TcpStream, parts: &[IoSlice<'_>]) -> Result<usize> {
        self.flush(stream)?;
        let bytes = self.0.writer().write_vectored(parts)?;
        match self.flush(stream) {
            Err(error) if error.kind() != ErrorKind::WouldBlock => Err(error),
            _ => Ok(bytes),
        }
    }

    /// Sends all encrypted bytes.
    pub(crate) fn flush(&mut self, mut stream: &TcpStream) -> Result<()> {
        while self.0.wants_write() {
            self.0.write_tls(&mut stream)?;
        }
        Ok(())
    }

    /// Whether encrypted bytes wait for room in the send buffer of the socket.
    pub(crate) fn wants_write(&self) -> bool {
        self.0.wants_write()
    }

    /// Whether the connection is open, and no decrypted bytes have arrived. Between two requests, a
    /// server may send messages of TLS, such as tickets.
    pub(crate) fn is_silent(&mut self, stream: &TcpStream) -> bool {
        let read = self.read(stream, &mut [0]);
        read.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    }
}

/// Converts an error of the handshake.
fn lost(error: &Error) -> CallError {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref());
    match cause {
        Some(cause) => refused(cause),
        None => CallError::Lost {
            error: errno(error),
            was_sent: false,
        },
    }
}

fn refused(error: &rustls::Error) -> CallError {
    use CertificateError as C;
    use rustls::Error as E;
    CallError::Tls(match error {
        E::InvalidCertificate(C::UnknownIssuer | C::BadSignature) => TlsError::UnknownIssuer,
        E::InvalidCertificate(C::NotValidForName | C::NotValidForNameContext { .. }) => {
            TlsError::WrongName
        }
        E::InvalidCertificate(C::Expired | C::ExpiredContext { .. }) => TlsError::Expired,
        E::InvalidCertificate(C::NotValidYet | C::NotValidYetContext { .. }) => {
            TlsError::NotValidYet
        }
        // Only the text contains this error, whose type is that of another crate.
        E::InvalidCertificate(C::Other(other))
            if format!("{other:?}").contains("CaUsedAsEndEntity") =>
        {
            TlsError::IsAuthority
        }
        E::InvalidCertificate(_) => TlsError::Invalid,
        E::InvalidMessage(_) => TlsError::NotTls,
        E::AlertReceived(_) => TlsError::Rejected,
        _ => TlsError::Failed,
    })
}
