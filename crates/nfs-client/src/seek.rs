//! Finds a server and opens its directory: the host's addresses, the portmapper, MOUNT, and the
//! server's preferred sizes. Also describes for messages why a call failed, and what to do.

use core::time::Duration;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use rustix::io::Errno;

use crate::arguments::get_port;
use crate::client::{CallError, Client};
use crate::counters::Counters;
use crate::data::Handle;
use crate::endpoint::Endpoint;
use crate::mount::{
    Export, LISTING_BYTES, MountError, Mounted, TRANSFER_BYTES_MAX, TRANSFER_BYTES_MIN,
    TransferSizes, caller,
};
use crate::procedure::{Procedure, Program};
use crate::results;
use crate::rpc::{CallHead, Caller, RpcRefusal};
use crate::xdr::Writer;

/// The port of every portmapper.
const PORTMAPPER_PORT: u16 = 111;

/// Finds the server of an export and opens its directory.
///
/// # Errors
/// Returns an error that describes why the server or its directory cannot be used, and what to do
/// about it.
pub fn mount(
    wanted: &Export,
    timeout: Duration,
    counters: &Arc<Counters>,
) -> Result<Mounted, MountError> {
    let seek = Seek {
        wanted,
        timeout,
        counters,
        caller: caller(wanted),
    };
    let mut last = None;
    for address in seek.addresses()? {
        match seek.mount_at(address) {
            // Another address of the host may work, so the loop continues.
            Err(error) if error.is_silent => last = Some(error),
            Err(error) => return Err(error),
            Ok(mounted) => return Ok(mounted),
        }
    }
    Err(last.unwrap_or_else(|| MountError {
        doing: "resolve",
        of: wanted.host.clone(),
        why: "the host has no address".to_owned(),
        is_silent: true,
    }))
}

/// Returns the error of an action that the server or the system refused.
fn answered(doing: &'static str, of: String, why: impl ToString) -> MountError {
    MountError {
        doing,
        of,
        why: why.to_string(),
        is_silent: false,
    }
}

struct Seek<'a> {
    wanted: &'a Export,
    timeout: Duration,
    counters: &'a Arc<Counters>,
    caller: Caller,
}

impl Seek<'_> {
    /// Resolves the host name. The returned addresses have the portmapper's port.
    fn addresses(&self) -> Result<Vec<SocketAddr>, MountError> {
        let host = &self.wanted.host;
        let found = (host.as_str(), PORTMAPPER_PORT).to_socket_addrs();
        found.map(Iterator::collect).map_err(|error| MountError {
            doing: "resolve the host",
            of: host.clone(),
            why: error.to_string(),
            is_silent: true,
        })
    }

    /// Returns the address of a program and the parameters of its calls.
    fn endpoint(&self, address: SocketAddr, program: Program, sizes: &TransferSizes) -> Endpoint {
        // A portmapper requires neither credentials nor a privileged port.
        let is_known = program != Program::Portmapper;
        Endpoint {
            address,
            privileged: self.wanted.privileged && is_known,
            head: CallHead::new(program, is_known.then_some(&self.caller)),
            timeout: self.timeout,
            record_bytes_max: sizes.record_bytes_max(),
        }
    }

    /// Creates a client of an RPC program; the client connects when it makes its first call.
    fn client(&self, address: SocketAddr, program: Program) -> Result<Client, MountError> {
        let endpoint = self.endpoint(address, program, &TransferSizes::UNKNOWN);
        Client::new(endpoint, Arc::clone(self.counters))
            .map_err(|errno| answered("set a timer for", self.wanted.host.clone(), errno))
    }

    /// Explains the failure of a call, with a hint about what to do.
    fn failed(
        &self,
        doing: &'static str,
        of: String,
        (program, address): (Program, SocketAddr),
        error: CallError,
    ) -> MountError {
        let name = program.name();
        let why = match error {
            CallError::Connection(errno) => {
                let refused = format!(" (is the server running? {name} is not served there)");
                let hint = match errno {
                    Errno::CONNREFUSED => &refused,
                    Errno::CONNRESET | Errno::PIPE => {
                        " (it takes connections and closes them without an answer: is the server \
                         behind this address up?)"
                    }
                    Errno::ACCESS | Errno::PERM if self.wanted.privileged => {
                        " (privport=1 takes root, or the capability CAP_NET_BIND_SERVICE)"
                    }
                    _ => "",
                };
                let why = format!("{errno}{hint}");
                return MountError {
                    is_silent: true,
                    ..answered("connect to", format!("{name} at {address}"), why)
                };
            }
            CallError::Refused(refusal) => {
                let hint = match refusal {
                    RpcRefusal::Credentials(_) => self.privileged_hint(),
                    RpcRefusal::Program | RpcRefusal::Version { .. } => {
                        " (is the port right, and NFS version 3 switched on?)"
                    }
                    _ => "",
                };
                format!("{refusal}{hint}")
            }
            CallError::Failed(errno) => {
                let hint = match errno {
                    Errno::ACCESS | Errno::PERM if program == Program::Nfs => {
                        self.privileged_hint()
                    }
                    Errno::ACCESS | Errno::PERM => " (does the server export it to this machine?)",
                    Errno::NOENT => " (is it exported?)",
                    _ => "",
                };
                format!("{errno}{hint}")
            }
            CallError::Garbled | CallError::NotKnown => {
                format!("the reply of {address} could not be understood (is {name} there?)")
            }
        };
        answered(doing, of, why)
    }

    /// Returns a hint for a rejected call. Some servers accept only calls from ports below 1024;
    /// they reject the first NFS call from another port.
    fn privileged_hint(&self) -> &'static str {
        match self.wanted.privileged {
            false => {
                " (a server that takes calls from ports below 1024 only needs privport=1 in the \
                 URL; else see uid= and gid=)"
            }
            true => " (see uid= and gid= in the URL)",
        }
    }

    /// Finds the ports at this address, mounts the export and opens its directory.
    fn mount_at(&self, host: SocketAddr) -> Result<Mounted, MountError> {
        let (nfs_port, mount_port) = self.ports(host)?;
        let (export, root, rest) = self.export(SocketAddr::new(host.ip(), mount_port))?;
        let address = SocketAddr::new(host.ip(), nfs_port);
        let mut client = self.client(address, Program::Nfs)?;
        let failed = |doing, path: &[u8], error| {
            let of = String::from_utf8_lossy(path).into_owned();
            self.failed(doing, of, (Program::Nfs, address), error)
        };
        client
            .attributes(&root)
            .map_err(|error| failed("use the export", &export, error))?;
        let preferred = client.call(
            Procedure::FileSystemInformation,
            |out| root.write(out),
            results::preferred_sizes,
        );
        let preferred = preferred.map_err(|error| failed("use the export", &export, error))?;
        let size = |preferred: u32, max: u32| {
            let asked = match preferred {
                0 => max,
                preferred => preferred.min(max.max(1)),
            };
            asked.clamp(TRANSFER_BYTES_MIN, TRANSFER_BYTES_MAX)
        };
        let sizes = TransferSizes {
            read: size(preferred.read, preferred.read_max),
            write: size(preferred.write, preferred.write_max),
            listing: LISTING_BYTES,
        };
        let directory = client
            .open_directory(&root, &rest)
            .map_err(|error| failed("open the directory", &self.wanted.path, error))?;
        Ok(Mounted {
            endpoint: self.endpoint(address, Program::Nfs, &sizes),
            mount_port,
            export,
            directory,
            caller: self.caller.clone(),
            sizes,
        })
    }

    /// Returns the ports of NFS and MOUNT, from the export or the portmapper.
    fn ports(&self, host: SocketAddr) -> Result<(u16, u16), MountError> {
        if let (Some(nfs), Some(mount)) = (self.wanted.port, self.wanted.mount_port) {
            return Ok((nfs, mount));
        }
        let mut client = self.client(host, Program::Portmapper)?;
        let mut ask = |program: Program, given: Option<u16>, parameter: &str| {
            if let Some(port) = given {
                return Ok(port);
            }
            let arguments = |out: &mut Vec<u8>| get_port(out, program);
            let of = format!("{} of {}", program.name(), self.wanted.host);
            match client.call(Procedure::GetPort, arguments, results::port) {
                Ok(0) => {
                    let why = format!(
                        "the server's portmapper does not know it (start it, or give its port: \
                         {parameter})"
                    );
                    Err(answered("find", of, why))
                }
                Ok(port) => Ok(port),
                Err(error) => {
                    let mut failed = self.failed("find", of, (Program::Portmapper, host), error);
                    if failed.is_silent {
                        failed.why += " (or give both ports: nfs://host:PORT/…?mountport=PORT)";
                    }
                    Err(failed)
                }
            }
        };
        let nfs = ask(Program::Nfs, self.wanted.port, "nfs://host:PORT/…")?;
        let mount = ask(Program::Mount, self.wanted.mount_port, "mountport=PORT")?;
        Ok((nfs, mount))
    }

    /// Mounts the export's path, or the nearest directory above it that the server exports. Returns
    /// the mounted path, its handle, and the rest of the export's path.
    fn export(&self, address: SocketAddr) -> Result<(Vec<u8>, Handle, Vec<u8>), MountError> {
        let mut client = self.client(address, Program::Mount)?;
        let path = &self.wanted.path;
        let mut length = path.len();
        let mut first = None;
        loop {
            let tried = if length == 0 { b"/" } else { &path[..length] };
            let arguments = |out: &mut Vec<u8>| out.put_opaque(tried);
            let error = match client.call(Procedure::Mount, arguments, results::mount) {
                Ok((_, false)) => {
                    let of = String::from_utf8_lossy(tried).into_owned();
                    let why = "the server exports it for other ways of authentication than \
                               AUTH_SYS only (as with Kerberos)";
                    return Err(answered("mount", of, why));
                }
                Ok((handle, true)) => {
                    return Ok((tried.to_vec(), handle, path[length..].to_vec()));
                }
                Err(error) => error,
            };
            let is_no_export = matches!(
                error,
                CallError::Failed(Errno::NOENT | Errno::ACCESS | Errno::NOTDIR)
            );
            let first = *first.get_or_insert(error);
            if !is_no_export || length == 0 || path == b"/" {
                let of = String::from_utf8_lossy(path).into_owned();
                return Err(self.failed("mount", of, (Program::Mount, address), first));
            }
            let slash = path[..length].iter().rposition(|byte| *byte == b'/');
            length = slash.unwrap_or(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;

    use super::*;
    use crate::counters::AllCounters;
    use crate::records::{fragments, read_record};
    use crate::xdr::Reader;

    /// Starts a portmapper that reports these ports and accepts one connection; returns its
    /// address.
    fn portmapper(nfs: u32, mount: u32) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            while let Ok(call) = read_record(&mut stream) {
                let mut reader = Reader::new(&call);
                let words: Vec<_> = std::iter::from_fn(|| reader.u32().ok()).collect();
                // GETPORT of portmapper version 2, without credentials, for a program of version 3
                // over TCP.
                assert_eq!(words[1..10], [0, 2, 100_000, 2, 3, 0, 0, 0, 0]);
                assert_eq!(words[11..], [3, 6, 0]);
                let port = if words[10] == 100_003 { nfs } else { mount };
                let mut reply = Vec::new();
                for word in [words[0], 1, 0, 0, 0, 0, port] {
                    reply.put_u32(word);
                }
                let marked = fragments(&reply, usize::MAX).concat();
                stream.write_all(&marked).unwrap();
            }
        });
        address
    }

    fn export(port: Option<u16>, mount_port: Option<u16>) -> Export {
        Export {
            port,
            mount_port,
            ..Export::new("server", b"/a")
        }
    }

    fn ports(wanted: &Export, portmapper: SocketAddr) -> Result<(u16, u16), String> {
        let counters = AllCounters::default().add();
        let seek = Seek {
            wanted,
            timeout: Duration::from_secs(5),
            counters: &counters,
            caller: caller(wanted),
        };
        seek.ports(portmapper)
            .map_err(|not_mounted| not_mounted.to_string())
    }

    #[test]
    fn ports_come_from_export_or_portmapper() {
        // The portmapper is not called if both ports are given.
        let nowhere = SocketAddr::from(([127, 0, 0, 1], 1));
        for (given, portmapper, found) in [
            ((None, None), portmapper(2049, 20_048), (2049, 20_048)),
            ((Some(7), None), portmapper(2049, 20_048), (7, 20_048)),
            ((None, Some(8)), portmapper(2049, 20_048), (2049, 8)),
            ((Some(7), Some(8)), nowhere, (7, 8)),
        ] {
            assert_eq!(ports(&export(given.0, given.1), portmapper), Ok(found));
        }
        for (portmapper, words) in [
            (
                portmapper(0, 20_048),
                ["cannot find NFS version 3 of server", "nfs://host:PORT"],
            ),
            (
                portmapper(2049, 0),
                ["cannot find MOUNT version 3 of server", "mountport=PORT"],
            ),
            (
                portmapper(70_000, 1),
                [
                    "cannot find NFS version 3 of server",
                    "could not be understood",
                ],
            ),
            (
                nowhere,
                ["cannot connect to the portmapper", "give both ports"],
            ),
        ] {
            let said = ports(&export(None, None), portmapper).unwrap_err();
            assert!(words.iter().all(|word| said.contains(word)), "{said}");
        }
    }
}
