//! The errors of requests, and the error numbers that the statuses of servers are converted to.

use std::io::ErrorKind;
use std::path::PathBuf;

use rustix::io::Errno;

/// The reason why a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The server answered with an error.
    #[error("{0}")]
    Failed(Failed),
    /// The connection was lost, or could not be established.
    #[error("{error}")]
    Lost {
        /// The system's error.
        error: Errno,
        /// Whether the whole request had been sent, so that the server may have executed it.
        was_sent: bool,
    },
    /// The connection could not be encrypted, or the server's certificate was refused.
    #[error("{}", .0.text())]
    Tls(TlsError),
    /// The server's answer violates the protocol or a limit of the client.
    #[error("the server's answer could not be understood")]
    Garbled,
}

/// The reason why a connection could not be encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsError {
    /// No trusted authority signed the certificate.
    UnknownIssuer,
    /// The certificate is that of an authority.
    IsAuthority,
    /// The certificate is for another name.
    WrongName,
    /// The certificate has expired.
    Expired,
    /// The certificate is not valid yet.
    NotValidYet,
    /// The certificate is invalid for another reason.
    Invalid,
    /// The server's answer is not TLS.
    NotTls,
    /// The server ended the handshake.
    Rejected,
    /// The handshake failed for another reason.
    Failed,
}

impl TlsError {
    /// The error number of the operating system that corresponds best.
    pub const fn errno(self) -> Errno {
        match self {
            Self::NotTls | Self::Rejected | Self::Failed => Errno::PROTO,
            Self::Expired => Errno::KEYEXPIRED,
            _ => Errno::KEYREJECTED,
        }
    }

    /// A description for the user, with a remedy.
    pub const fn text(self) -> &'static str {
        match self {
            Self::UnknownIssuer => {
                "no authority that this machine trusts signed the server's certificate (name a \
                 file with the authority's certificate by AWS_CA_BUNDLE)"
            }
            Self::IsAuthority => {
                "the server's certificate is that of an authority (give the server a certificate \
                 with basicConstraints=CA:FALSE)"
            }
            Self::WrongName => {
                "the server's certificate is for another name (use one of its names in the \
                 endpoint)"
            }
            Self::Expired => {
                "the server's certificate has expired (renew it, or set this machine's clock)"
            }
            Self::NotValidYet => {
                "the server's certificate is not valid yet (set this machine's clock)"
            }
            Self::Invalid => "the server's certificate is invalid (replace it)",
            Self::NotTls => "the server does not speak TLS (use an http:// endpoint)",
            Self::Rejected => {
                "the server ended the TLS handshake (it must support TLS 1.2 or 1.3 and ask for no \
                 certificate)"
            }
            Self::Failed => "the TLS handshake failed (the server must support TLS 1.2 or 1.3)",
        }
    }
}

/// An error that the server answered with: its HTTP status, and its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("HTTP status {status}: {}", .reason.text())]
pub struct Failed {
    /// The HTTP status; 200 if only the body of the answer reports the error.
    pub status: u16,
    /// The meaning of the status and the error code.
    pub reason: Reason,
}

macro_rules! reasons {
    ($(
        $(#[$doc:meta])*
        $variant:ident = $errno:ident, $text:literal, $status:pat, [$($code:literal),*];
    )+) => {
        /// The meaning of an error.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Reason {
            $($(#[$doc])* $variant,)+
        }

        impl Reason {
            /// Returns the meaning of an error code of S3, or of the HTTP status if the code is
            /// empty or not known.
            pub fn new(status: u16, code: &[u8]) -> Self {
                $($(if code == $code { return Self::$variant; })*)+
                match status {
                    $($status => Self::$variant,)+
                }
            }

            /// The error number of the operating system that corresponds best.
            pub const fn errno(self) -> Errno {
                match self {
                    $(Self::$variant => Errno::$errno,)+
                }
            }

            /// A description for the user, with a remedy if one is known.
            pub const fn text(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }
        }
    };
}

reasons! {
    /// No such object, bucket or upload.
    Missing = NOENT, "no such object, bucket or upload", 404,
        [b"NoSuchKey", b"NoSuchBucket", b"NoSuchUpload", b"NotFound"];
    /// The condition of the request is not fulfilled, usually because the object exists.
    Exists = EXIST, "the object exists", 412, [b"PreconditionFailed"];
    /// Another request changes the object at the same time.
    Conflict = BUSY, "another request changes the same object", 409,
        [b"ConditionalRequestConflict", b"OperationAborted"];
    /// The server's clock differs too much from that of this machine.
    Skewed = TIME, "the clocks of server and client differ by more than 15 minutes (set them)", 0,
        [b"RequestTimeTooSkewed", b"RequestExpired"];
    /// The credentials do not permit the request.
    Denied = ACCESS, "access denied (check the access key, its secret, the region and the \
        bucket's permissions)", 401 | 403, [b"AccessDenied", b"InvalidAccessKeyId",
        b"SignatureDoesNotMatch", b"ExpiredToken", b"InvalidToken",
        b"AuthorizationHeaderMalformed"];
    /// The server asks for fewer requests.
    SlowDown = AGAIN, "the server asks to slow down", 429 | 503,
        [b"SlowDown", b"ServiceUnavailable", b"ServerBusy", b"TooManyRequests"];
    /// The server does not implement the request.
    NotImplemented = OPNOTSUPP, "the server does not implement the request", 405 | 501,
        [b"NotImplemented", b"MethodNotAllowed"];
    /// The range begins after the end of the object.
    Range = NXIO, "the range begins after the end of the object", 416, [b"InvalidRange"];
    /// The object is too large.
    TooLarge = FBIG, "the object is too large for the server", 413,
        [b"EntityTooLarge", b"MaxMessageLengthExceeded"];
    /// The server's storage or quota is full.
    Full = NOSPC, "the server's storage or quota is full", 507,
        [b"QuotaExceeded", b"InsufficientStorage", b"XMinioStorageFull"];
    /// The server redirects to another address, which the client does not follow.
    Redirected = REMCHG, "the server redirects to another address, which is not followed (use the \
        endpoint and the region of the bucket)", 300..=399,
        [b"PermanentRedirect", b"TemporaryRedirect", b"Redirect"];
    /// The server did not receive the request in time.
    TimedOut = TIMEDOUT, "the server did not receive the request in time", 408,
        [b"RequestTimeout"];
    /// An error inside of the server.
    Internal = REMOTEIO, "an error inside of the server", 500..=599, [b"InternalError"];
    /// The server regards the request as invalid.
    Invalid = INVAL, "the server regards the request as invalid", _, [];
}

impl Failed {
    /// Determines the meaning of an HTTP status and an error code of S3, which may be empty.
    pub fn new(status: u16, code: &[u8]) -> Self {
        let reason = Reason::new(status, code);
        Self { status, reason }
    }
}

impl CallError {
    /// The operating system's error number that corresponds best.
    pub fn errno(&self) -> Errno {
        match self {
            Self::Failed(failed) => failed.reason.errno(),
            Self::Lost { error, .. } => *error,
            Self::Tls(error) => error.errno(),
            Self::Garbled => Errno::BADMSG,
        }
    }

    /// Whether the server answered with an error of this meaning.
    pub fn is(&self, reason: Reason) -> bool {
        matches!(self, Self::Failed(failed) if failed.reason == reason)
    }
}

impl From<CallError> for Errno {
    fn from(error: CallError) -> Self {
        error.errno()
    }
}

/// The reason why an endpoint cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServerError {
    /// The endpoint does not have the form `http://HOST[:PORT]` or `https://HOST[:PORT]`.
    #[error("invalid endpoint '{0}' (expected http://host[:port] or https://host[:port])")]
    Endpoint(String),
    /// The endpoint is an `https://` URL, but this build has no TLS.
    #[error(
        "endpoint '{0}' needs TLS, which this build lacks (build with the feature tls, or use an \
         http:// endpoint)"
    )]
    Encrypted(String),
    /// The file with certificates of authorities cannot be read.
    #[error("cannot read certificates of {file}: {why} (AWS_CA_BUNDLE names a PEM file)")]
    Authorities {
        /// The file.
        file: PathBuf,
        /// The system's error, or the reason why the file is invalid.
        why: String,
    },
    /// The file or the system has no usable certificates of authorities.
    #[error(
        "{0} has no certificates of authorities (name a PEM file by AWS_CA_BUNDLE, or install \
         ca-certificates)"
    )]
    NoAuthorities(String),
    /// The host's name cannot be resolved.
    #[error("cannot resolve {host}: {why}")]
    Resolve {
        /// The name that was resolved.
        host: String,
        /// The system's error.
        why: String,
    },
}

/// The error number of an error of the system or of TLS.
pub(crate) fn errno(error: &std::io::Error) -> Errno {
    match error.kind() {
        ErrorKind::TimedOut => Errno::TIMEDOUT,
        ErrorKind::ConnectionReset => Errno::CONNRESET,
        // An encrypted record is wrong.
        ErrorKind::InvalidData => Errno::PROTO,
        _ => Errno::from_io_error(error).unwrap_or(Errno::IO),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_statuses_are_converted() {
        for (status, code, errno) in [
            (404, "", Errno::NOENT),
            (404, "NoSuchBucket", Errno::NOENT),
            (412, "PreconditionFailed", Errno::EXIST),
            (200, "SlowDown", Errno::AGAIN),
            (503, "", Errno::AGAIN),
            (403, "RequestTimeTooSkewed", Errno::TIME),
            (403, "Unheard", Errno::ACCESS),
            (301, "PermanentRedirect", Errno::REMCHG),
            (307, "", Errno::REMCHG),
            (501, "", Errno::OPNOTSUPP),
            (416, "", Errno::NXIO),
            (599, "", Errno::REMOTEIO),
            (400, "Unheard", Errno::INVAL),
            (200, "Unheard", Errno::INVAL),
        ] {
            let failed = Failed::new(status, code.as_bytes());
            assert_eq!(failed.reason.errno(), errno, "{status} {code}");
            assert_eq!(CallError::Failed(failed).errno(), errno);
        }
    }
}
