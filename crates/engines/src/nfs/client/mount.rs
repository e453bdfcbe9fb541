//! How a target's server is found and its directory opened: the host's addresses, the portmapper,
//! MOUNT, and what the server prefers.

use core::time::Duration;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use engine::Errno;
use engine::namespace::EntryKind;
use engine::server::Unreachable;

use super::arguments::{get_port, name_in};
use super::counters::Counters;
use super::data::{FileAttributes, Handle};
use super::procedure::{Procedure, Program};
use super::results;
use super::rpc::{CallHead, Caller, RpcRefusal};
use super::talk::{CallError, Talk, Way};
use super::xdr::Writer;

/// Where every portmapper is.
const PORTMAPPER_PORT: u16 = 111;
/// No READ or WRITE is larger, whatever the server likes: more gains nothing, and takes memory for
/// each call in flight.
const TRANSFER_BYTES_MAX: u32 = 1 << 20;
/// Nor smaller: what the protocol's readers can count on.
const TRANSFER_BYTES_MIN: u32 = 512;
/// What a page of a listing may have. Larger ones gain little (a directory of 20,000 entries takes
/// 57 pages), and servers cut them.
const LISTING_BYTES: u32 = 64 << 10;

/// A reply may have so many bytes on top of the contents or entries in it.
const REPLY_HEAD_BYTES_MAX: usize = 4096;

/// How many bytes calls move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TransferSizes {
    pub(crate) read: u32,
    pub(crate) write: u32,
    pub(crate) listing: u32,
}

impl TransferSizes {
    /// No reply is longer.
    pub(crate) fn record_bytes_max(&self) -> usize {
        // Some servers count the entries of a page otherwise.
        (self.read.max(4 * self.listing)) as usize + REPLY_HEAD_BYTES_MAX
    }

    /// Before a server was asked.
    const UNKNOWN: Self = Self {
        read: TRANSFER_BYTES_MIN,
        write: TRANSFER_BYTES_MIN,
        listing: LISTING_BYTES,
    };
}

/// A directory of a server, and how the server is called.
#[derive(Clone, Debug)]
pub(crate) struct Export {
    /// A name or an address.
    pub(crate) host: String,
    /// The port of the NFS service; `None` asks the server's port mapper.
    pub(crate) port: Option<u16>,
    /// The port of the MOUNT service; `None` asks the server's port mapper.
    pub(crate) mount_port: Option<u16>,
    /// The directory's path.
    pub(crate) path: Vec<u8>,
    /// The user as whom calls are made; `None` is the user of this process.
    pub(crate) uid: Option<u32>,
    /// The group as which calls are made; `None` is the group of this process.
    pub(crate) gid: Option<u32>,
    /// Whether connections leave from a port below 1024.
    pub(crate) privileged: bool,
}

/// A target's directory, found.
#[derive(Debug)]
pub(crate) struct Mounted {
    pub(crate) address: SocketAddr,
    pub(crate) mount_port: u16,
    /// The path that was mounted: the target's own, or one above it.
    pub(crate) export: Vec<u8>,
    pub(crate) directory: Handle,
    pub(crate) caller: Caller,
    pub(crate) sizes: TransferSizes,
}

/// The user and group of an export, or this process's.
pub(crate) fn caller(export: &Export) -> Caller {
    let user = rustix::process::geteuid().as_raw();
    let group = rustix::process::getegid().as_raw();
    let is_own = export.uid.is_none_or(|uid| uid == user);
    let groups = is_own.then(|| rustix::process::getgroups().ok()).flatten();
    Caller {
        machine: rustix::system::uname().nodename().to_bytes().to_vec(),
        uid: export.uid.unwrap_or(user),
        gid: export.gid.unwrap_or(group),
        groups: groups
            .unwrap_or_default()
            .into_iter()
            .map(|group| group.as_raw())
            .collect(),
    }
}

/// Finds a target's directory.
pub(crate) fn mount(
    wanted: &Export,
    timeout: Duration,
    counters: &Arc<Counters>,
) -> Result<Mounted, Unreachable> {
    let seek = Seek {
        wanted,
        timeout,
        counters,
        caller: caller(wanted),
    };
    let mut last = None;
    for address in seek.addresses()? {
        match seek.mount_at(address) {
            // Another address of the host may be better.
            Err(NotMounted::Connection(unreachable)) => last = Some(unreachable),
            Err(NotMounted::Answered(unreachable)) => return Err(unreachable),
            Ok(mounted) => return Ok(mounted),
        }
    }
    Err(last.unwrap_or_else(|| {
        seek.unreachable("resolve", wanted.host.clone(), "the host has no address")
    }))
}

/// Why an address did not do.
enum NotMounted {
    Connection(Unreachable),
    Answered(Unreachable),
}

struct Seek<'a> {
    wanted: &'a Export,
    timeout: Duration,
    counters: &'a Arc<Counters>,
    caller: Caller,
}

impl Seek<'_> {
    fn unreachable(&self, doing: &'static str, of: String, why: impl ToString) -> Unreachable {
        let why = why.to_string();
        Unreachable { doing, of, why }
    }

    fn addresses(&self) -> Result<Vec<SocketAddr>, Unreachable> {
        let found = (self.wanted.host.as_str(), PORTMAPPER_PORT).to_socket_addrs();
        found
            .map(Iterator::collect)
            .map_err(|error| self.unreachable("resolve the host", self.wanted.host.clone(), error))
    }

    /// A connection to a program, made when it is first called.
    fn talk(
        &self,
        address: SocketAddr,
        program: Program,
        sizes: &TransferSizes,
    ) -> Result<Talk, NotMounted> {
        let caller = (program != Program::Portmapper).then_some(&self.caller);
        let way = Way {
            address,
            // A portmapper asks nobody for that.
            privileged: self.wanted.privileged && program != Program::Portmapper,
            head: CallHead::new(program, caller),
            timeout: self.timeout,
            record_bytes_max: sizes.record_bytes_max(),
        };
        Talk::new(way, Arc::clone(self.counters)).map_err(|errno| {
            NotMounted::Answered(self.unreachable(
                "set a timer for",
                self.wanted.host.clone(),
                errno,
            ))
        })
    }

    /// A call to a program that did not come to an answer.
    fn failed(
        &self,
        doing: &'static str,
        of: String,
        talk: &Talk,
        program: Program,
        error: CallError,
    ) -> NotMounted {
        let address = talk.address();
        match error {
            CallError::Connection(errno) => {
                let hint = match errno.0 {
                    libc::ECONNREFUSED => format!(
                        " (is the server running? {} is not served there)",
                        program.name()
                    ),
                    libc::ECONNRESET | libc::EPIPE => " (it takes connections and closes them \
                                                       without an answer: is the server behind \
                                                       this address up?)"
                        .to_owned(),
                    libc::EACCES | libc::EPERM if self.wanted.privileged => {
                        " (privport=1 takes root, or the capability CAP_NET_BIND_SERVICE)"
                            .to_owned()
                    }
                    _ => String::new(),
                };
                let of = format!("{} at {address}", program.name());
                NotMounted::Connection(self.unreachable("connect to", of, format!("{errno}{hint}")))
            }
            CallError::Refused(refusal) => {
                let hint = match refusal {
                    RpcRefusal::Credentials(_) => self.privileged_hint(),
                    RpcRefusal::Program | RpcRefusal::Version { .. } => {
                        " (is the port right, and NFS version 3 switched on?)"
                    }
                    _ => "",
                };
                NotMounted::Answered(self.unreachable(doing, of, format!("{refusal}{hint}")))
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
                NotMounted::Answered(self.unreachable(doing, of, format!("{errno}{hint}")))
            }
            CallError::Garbled | CallError::NotKnown => {
                let why = format!(
                    "the reply of {address} could not be understood (is {} there?)",
                    program.name()
                );
                NotMounted::Answered(self.unreachable(doing, of, why))
            }
        }
    }

    /// Servers may take calls from ports below 1024 alone, and tell so at the first call of NFS.
    fn privileged_hint(&self) -> &'static str {
        match self.wanted.privileged {
            false => {
                " (a server that takes calls from ports below 1024 only needs privport=1 in the \
                 URL; else see uid= and gid=)"
            }
            true => " (see uid= and gid= in the URL)",
        }
    }

    fn mount_at(&self, host: SocketAddr) -> Result<Mounted, NotMounted> {
        let (nfs_port, mount_port) = self.ports(host)?;
        let (export, root, rest) = self.export(SocketAddr::new(host.ip(), mount_port))?;
        let address = SocketAddr::new(host.ip(), nfs_port);
        let mut talk = self.talk(address, Program::Nfs, &TransferSizes::UNKNOWN)?;
        let of = || String::from_utf8_lossy(&export).into_owned();
        let failed =
            |talk: &Talk, error| self.failed("use the export", of(), talk, Program::Nfs, error);
        let found = talk.call(
            Procedure::GetAttributes,
            |out| root.write(out),
            |mut reader| FileAttributes::read(&mut reader),
        );
        found.map_err(|error| failed(&talk, error))?;
        let preferred = talk.call(
            Procedure::FileSystemInformation,
            |out| root.write(out),
            results::preferred_sizes,
        );
        let preferred = preferred.map_err(|error| failed(&talk, error))?;
        let size = |preferred: u32, max: u32| {
            let asked = if preferred == 0 {
                max
            } else {
                preferred.min(max.max(1))
            };
            asked.clamp(TRANSFER_BYTES_MIN, TRANSFER_BYTES_MAX)
        };
        let mut directory = root;
        let names = rest
            .split(|byte| *byte == b'/')
            .filter(|name| !name.is_empty());
        for name in names {
            let found = look_up_directory(&mut talk, &directory, name);
            directory = found.map_err(|error| {
                let path = String::from_utf8_lossy(&self.wanted.path).into_owned();
                self.failed("open the directory", path, &talk, Program::Nfs, error)
            })?;
        }
        Ok(Mounted {
            address,
            mount_port,
            export,
            directory,
            caller: self.caller.clone(),
            sizes: TransferSizes {
                read: size(preferred.read, preferred.read_max),
                write: size(preferred.write, preferred.write_max),
                listing: LISTING_BYTES,
            },
        })
    }

    /// The ports of NFS and of MOUNT.
    fn ports(&self, host: SocketAddr) -> Result<(u16, u16), NotMounted> {
        if let (Some(nfs), Some(mount)) = (self.wanted.port, self.wanted.mount_port) {
            return Ok((nfs, mount));
        }
        let mut talk = self.talk(host, Program::Portmapper, &TransferSizes::UNKNOWN)?;
        let mut ask = |program: Program, given: Option<u16>, parameter: &str| {
            if let Some(port) = given {
                return Ok(port);
            }
            let port = talk.call(
                Procedure::GetPort,
                |out| get_port(out, program),
                results::port,
            );
            let of = format!("{} of {}", program.name(), self.wanted.host);
            match port {
                Ok(0) => {
                    let why = format!(
                        "the server's portmapper does not know it (start it, or give its port: \
                         {parameter})"
                    );
                    Err(NotMounted::Answered(self.unreachable("find", of, why)))
                }
                Ok(port) => Ok(port),
                Err(error) => Err(
                    match self.failed("find", of, &talk, Program::Portmapper, error) {
                        NotMounted::Connection(mut unreachable) => {
                            unreachable.why = format!(
                                "{} (or give both ports: nfs://host:PORT/…?mountport=PORT)",
                                unreachable.why
                            );
                            NotMounted::Connection(unreachable)
                        }
                        answered => answered,
                    },
                ),
            }
        };
        let nfs = ask(Program::Nfs, self.wanted.port, "nfs://host:PORT/…")?;
        Ok((
            nfs,
            ask(Program::Mount, self.wanted.mount_port, "mountport=PORT")?,
        ))
    }

    /// Mounts the target's path, or the nearest one above it that the server exports; gives that
    /// path, its handle and the rest of the target's path.
    fn export(&self, address: SocketAddr) -> Result<(Vec<u8>, Handle, Vec<u8>), NotMounted> {
        let mut talk = self.talk(address, Program::Mount, &TransferSizes::UNKNOWN)?;
        let path = &self.wanted.path;
        let mut length = path.len();
        let mut first = None;
        loop {
            let tried = if length == 0 { b"/" } else { &path[..length] };
            match talk.call(
                Procedure::Mount,
                |out| out.put_opaque(tried),
                results::mount,
            ) {
                Ok((_, false)) => {
                    let of = String::from_utf8_lossy(tried).into_owned();
                    let why = "the server exports it for other ways of authentication than \
                               AUTH_SYS only (as with Kerberos)";
                    return Err(NotMounted::Answered(self.unreachable("mount", of, why)));
                }
                Ok((handle, true)) => {
                    return Ok((
                        tried.to_vec(),
                        handle,
                        path[length.min(path.len())..].to_vec(),
                    ));
                }
                Err(error) => {
                    let is_no_export = matches!(
                        error,
                        CallError::Failed(Errno::NOENT | Errno::ACCESS | Errno::NOTDIR)
                    );
                    let of = String::from_utf8_lossy(path).into_owned();
                    let first = first.get_or_insert(error);
                    if !is_no_export || length == 0 || path == b"/" {
                        return Err(self.failed("mount", of, &talk, Program::Mount, *first));
                    }
                    length = path[..length]
                        .iter()
                        .rposition(|byte| *byte == b'/')
                        .unwrap_or(0);
                }
            }
        }
    }
}

/// The handle of a directory in another one. Links are not followed.
pub(crate) fn look_up_directory(
    talk: &mut Talk,
    directory: &Handle,
    name: &[u8],
) -> Result<Handle, CallError> {
    let (handle, attributes) = talk.call(
        Procedure::Lookup,
        |out| name_in(out, directory, name),
        results::lookup,
    )?;
    let kind = match attributes {
        Some(attributes) => attributes.kind,
        None => attributes_of(talk, &handle)?.kind,
    };
    match kind {
        EntryKind::Directory => Ok(handle),
        EntryKind::SymbolicLink => Err(CallError::Failed(Errno::LOOP)),
        EntryKind::File | EntryKind::Other => Err(CallError::Failed(Errno::NOTDIR)),
    }
}

pub(crate) fn attributes_of(talk: &mut Talk, file: &Handle) -> Result<FileAttributes, CallError> {
    talk.call(
        Procedure::GetAttributes,
        |out| file.write(out),
        |mut reader| FileAttributes::read(&mut reader),
    )
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use super::super::counters::AllCounters;
    use super::super::xdr::Reader;
    use super::*;

    /// A portmapper that has these ports, and answers for as long as it is asked on one connection.
    fn portmapper(nfs: u32, mount: u32) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut mark = [0; 4];
            while stream.read_exact(&mut mark).is_ok() {
                let mut call = vec![0; (u32::from_be_bytes(mark) & 0x7fff_ffff) as usize];
                stream.read_exact(&mut call).unwrap();
                let mut reader = Reader::new(&call);
                let words: Vec<_> = std::iter::from_fn(|| reader.u32().ok()).collect();
                // GETPORT of version 2, without credentials, of a program in version 3 over TCP.
                assert_eq!(words[1..10], [0, 2, 100_000, 2, 3, 0, 0, 0, 0]);
                assert_eq!(words[11..], [3, 6, 0]);
                let port = if words[10] == 100_003 { nfs } else { mount };
                let mut reply = Vec::new();
                for word in [0x8000_001c, words[0], 1, 0, 0, 0, 0, port] {
                    reply.put_u32(word);
                }
                stream.write_all(&reply).unwrap();
            }
        });
        address
    }

    fn export(port: Option<u16>, mount_port: Option<u16>) -> Export {
        Export {
            host: "server".to_owned(),
            port,
            mount_port,
            path: b"/a".to_vec(),
            uid: None,
            gid: None,
            privileged: false,
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
            .map_err(|not_mounted| match not_mounted {
                NotMounted::Connection(unreachable) | NotMounted::Answered(unreachable) => {
                    unreachable.to_string()
                }
            })
    }

    #[test]
    fn ports_are_given_or_asked_for() {
        // Nobody is asked where both are given.
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

    #[test]
    fn callers_are_who_the_export_says() {
        let own = caller(&export(None, None));
        assert_eq!(own.uid, rustix::process::geteuid().as_raw());
        let other = caller(&Export {
            uid: Some(own.uid + 1),
            gid: Some(7),
            ..export(None, None)
        });
        assert_eq!(
            (other.uid, other.gid, other.groups),
            (own.uid + 1, 7, Vec::new())
        );
    }
}
