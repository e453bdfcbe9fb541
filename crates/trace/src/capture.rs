//! Reads captured packets: the formats pcap and pcapng.

use std::io::{self, Read};

/// A longer packet is skipped.
const PACKET_BYTES_MAX: usize = 256 << 10;
const INTERFACES_MAX: usize = 1 << 16;

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const PACKET: u32 = 6;
const SIMPLE_PACKET: u32 = 3;
const MAGIC_OF_SECTION: u32 = 0x1a2b_3c4d;
/// The option of an interface that contains the unit of its times.
const RESOLUTION: u16 = 9;

/// The type of the link, by which the network packet is found in a captured one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link(pub u32);

/// A captured packet.
#[derive(Debug)]
pub struct Packet<'a> {
    pub link: Link,
    /// The time in nanoseconds since the epoch.
    pub ns: u64,
    pub bytes: &'a [u8],
}

/// Whether a file that starts with these bytes is a capture.
pub fn is_capture(start: &[u8]) -> bool {
    let Some(magic) = start.first_chunk::<4>() else {
        return false;
    };
    let magic = u32::from_le_bytes(*magic);
    magic == SECTION || Classic::new(magic).is_some()
}

/// The properties of a file in the classic format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Classic {
    is_swapped: bool,
    has_nanoseconds: bool,
    link: Link,
}

impl Classic {
    fn new(magic: u32) -> Option<Self> {
        let (is_swapped, has_nanoseconds) = match magic {
            0xa1b2_c3d4 => (false, false),
            0xa1b2_3c4d => (false, true),
            0xd4c3_b2a1 => (true, false),
            0x4d3c_b2a1 => (true, true),
            _ => return None,
        };
        Some(Self {
            is_swapped,
            has_nanoseconds,
            link: Link(0),
        })
    }
}

#[derive(Clone, Copy, Debug)]
struct Interface {
    link: Link,
    /// Units of time in a second.
    units: u64,
}

#[derive(Debug)]
enum Format {
    Classic(Classic),
    Blocks {
        is_swapped: bool,
        interfaces: Vec<Interface>,
    },
}

/// Reads the packets of a capture.
pub struct Capture<R> {
    input: R,
    format: Format,
    packet: Vec<u8>,
    /// Packets and blocks that have no known form.
    pub skipped: u64,
}

impl<R: Read> Capture<R> {
    /// Reads the head of a capture.
    ///
    /// # Errors
    /// Returns an error if the input fails, or is not a capture.
    pub fn new(mut input: R) -> io::Result<Self> {
        let magic = u32::from_le_bytes(fixed(&mut input)?);
        let format = if let Some(mut classic) = Classic::new(magic) {
            let head: [u8; 20] = fixed(&mut input)?;
            classic.link = Link(number(&head[16..20], classic.is_swapped) & 0x0fff_ffff);
            Format::Classic(classic)
        } else if magic == SECTION {
            let is_swapped = section(&mut input)?;
            Format::Blocks {
                is_swapped,
                interfaces: Vec::new(),
            }
        } else {
            return Err(io::Error::other("the file is no capture"));
        };
        Ok(Self {
            input,
            format,
            packet: Vec::new(),
            skipped: 0,
        })
    }

    /// Returns the next packet; `None` at the end, also if the file ends in a packet.
    ///
    /// # Errors
    /// Returns the error of the input.
    pub fn next_packet(&mut self) -> io::Result<Option<Packet<'_>>> {
        let found = match &self.format {
            Format::Classic(classic) => {
                let classic = *classic;
                self.classic(classic)
            }
            Format::Blocks { .. } => self.block(),
        };
        let (link, ns, start, end) = match found {
            Err(cause) if cause.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            found => found?,
        };
        let bytes = self.packet.get(start..end).unwrap_or_default();
        Ok(Some(Packet { link, ns, bytes }))
    }

    fn classic(&mut self, classic: Classic) -> io::Result<(Link, u64, usize, usize)> {
        loop {
            let head: [u8; 16] = fixed(&mut self.input)?;
            let word = |at: usize| number(&head[at..at + 4], classic.is_swapped);
            let length = word(8) as usize;
            if !self.take(length)? {
                continue;
            }
            let part = match classic.has_nanoseconds {
                true => u64::from(word(4)),
                false => u64::from(word(4)) * 1000,
            };
            let ns = u64::from(word(0)) * 1_000_000_000 + part;
            return Ok((classic.link, ns, 0, length));
        }
    }

    /// Reads a packet's bytes; returns whether it is short enough.
    fn take(&mut self, length: usize) -> io::Result<bool> {
        if length <= PACKET_BYTES_MAX {
            self.packet.resize(length, 0);
            return self.input.read_exact(&mut self.packet).map(|()| true);
        }
        self.skipped += 1;
        let skipped = io::copy(&mut (&mut self.input).take(length as u64), &mut io::sink())?;
        match skipped == length as u64 {
            true => Ok(false),
            false => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    fn block(&mut self) -> io::Result<(Link, u64, usize, usize)> {
        loop {
            let kind: [u8; 4] = fixed(&mut self.input)?;
            if u32::from_le_bytes(kind) == SECTION {
                let is_swapped = section(&mut self.input)?;
                self.format = Format::Blocks {
                    is_swapped,
                    interfaces: Vec::new(),
                };
                continue;
            }
            let Format::Blocks { is_swapped, .. } = &self.format else {
                return Err(io::ErrorKind::UnexpectedEof.into());
            };
            let is_swapped = *is_swapped;
            let kind = number(&kind, is_swapped);
            let length = number(&fixed::<4>(&mut self.input)?, is_swapped) as usize;
            // A length below that of an empty block is forged: the next block is not found.
            let Some(length) = length.checked_sub(12) else {
                self.skipped += 1;
                return Err(io::ErrorKind::UnexpectedEof.into());
            };
            let is_whole = self.take(length)?;
            fixed::<4>(&mut self.input)?;
            if !is_whole {
                continue;
            }
            if let Some(packet) = self.read_block(kind, is_swapped) {
                return Ok(packet);
            }
        }
    }

    /// Reads a block, and returns its packet if it contains one.
    fn read_block(&mut self, kind: u32, is_swapped: bool) -> Option<(Link, u64, usize, usize)> {
        let Format::Blocks { interfaces, .. } = &mut self.format else {
            return None;
        };
        let body = &self.packet;
        let word = |at: usize| Some(number(body.get(at..at + 4)?, is_swapped));
        match kind {
            INTERFACE if interfaces.len() < INTERFACES_MAX => {
                let link = match is_swapped {
                    false => word(0)? & 0xffff,
                    true => word(0)? >> 16,
                };
                interfaces.push(Interface {
                    link: Link(link),
                    units: units(body.get(8..).unwrap_or_default(), is_swapped),
                });
                None
            }
            PACKET => {
                let interface = interfaces.get(word(0)? as usize)?;
                let time = u64::from(word(4)?) << 32 | u64::from(word(8)?);
                let length = word(12)? as usize;
                let ns = u128::from(time) * 1_000_000_000 / u128::from(interface.units);
                let end = 20 + length.min(body.len().saturating_sub(20));
                Some((interface.link, u64::try_from(ns).ok()?, 20, end))
            }
            SIMPLE_PACKET => {
                let interface = interfaces.first()?;
                let length = word(0)? as usize;
                let end = 4 + length.min(body.len().saturating_sub(4));
                Some((interface.link, 0, 4, end))
            }
            _ => None,
        }
    }
}

/// Reads the rest of a section's head. Returns whether its bytes are swapped.
fn section(input: &mut impl Read) -> io::Result<bool> {
    let head: [u8; 8] = fixed(input)?;
    let is_swapped = number(&head[4..8], false) != MAGIC_OF_SECTION;
    let length = number(&head[..4], is_swapped);
    let rest = u64::from(length.saturating_sub(12));
    io::copy(&mut input.take(rest), &mut io::sink())?;
    Ok(is_swapped)
}

/// The units of time in a second, from the options of an interface: microseconds by default.
fn units(options: &[u8], is_swapped: bool) -> u64 {
    let half = |bytes: &[u8]| {
        let bytes = [bytes[0], bytes[1]];
        match is_swapped {
            true => u16::from_be_bytes(bytes),
            false => u16::from_le_bytes(bytes),
        }
    };
    let mut rest = options;
    while let Some((head, after)) = rest.split_first_chunk::<4>() {
        let (code, length) = (half(&head[..2]), usize::from(half(&head[2..])));
        if let Some(value) = after.first().filter(|_| code == RESOLUTION) {
            let exponent = u32::from(value & 0x7f);
            let base: u64 = if value & 0x80 == 0 { 10 } else { 2 };
            return base.checked_pow(exponent).unwrap_or(1_000_000);
        }
        rest = after.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    1_000_000
}

fn fixed<const N: usize>(input: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    input.read_exact(&mut bytes).map(|()| bytes)
}

fn number(bytes: &[u8], is_swapped: bool) -> u32 {
    let bytes = bytes.first_chunk::<4>().copied().unwrap_or_default();
    match is_swapped {
        true => u32::from_be_bytes(bytes),
        false => u32::from_le_bytes(bytes),
    }
}
