//! Replaces `tls.rs` in a build without the feature `tls`, in which no connection is encrypted.

use std::io::{IoSlice, Result};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use crate::error::{CallError, ServerError};

/// Cannot be created.
#[derive(Clone, Debug)]
pub(crate) enum Settings {}

impl Settings {
    pub(crate) fn new(host: &str, _: Option<&Path>) -> core::result::Result<Self, ServerError> {
        Err(ServerError::Encrypted(format!("https://{host}")))
    }
}

/// Cannot be created.
#[derive(Debug)]
pub(crate) enum Encrypted {}

impl Encrypted {
    pub(crate) fn connect(
        _: &TcpStream,
        settings: &Settings,
        _: Duration,
    ) -> core::result::Result<Self, CallError> {
        match *settings {}
    }

    pub(crate) fn read(&mut self, _: &TcpStream, _: &mut [u8]) -> Result<usize> {
        match *self {}
    }

    pub(crate) fn write(&mut self, _: &TcpStream, _: &[IoSlice<'_>]) -> Result<usize> {
        match *self {}
    }

    pub(crate) fn flush(&mut self, _: &TcpStream) -> Result<()> {
        match *self {}
    }

    pub(crate) fn wants_write(&self) -> bool {
        match *self {}
    }

    pub(crate) fn is_silent(&mut self, _: &TcpStream) -> bool {
        match *self {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encrypted_endpoints_are_refused() {
        let refusal = Settings::new("host:9000", None).unwrap_err();
        assert!(
            refusal.to_string().contains("https://host:9000"),
            "{refusal}"
        );
    }
}
