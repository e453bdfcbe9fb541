//! Finds TCP segments in captured packets.

use core::net::IpAddr;

use crate::capture::Link;

/// The ends of a connection: from and to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ends {
    pub from: (IpAddr, u16),
    pub to: (IpAddr, u16),
}

/// A segment of a TCP connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<'a> {
    pub ends: Ends,
    /// The number of the first byte.
    pub sequence: u32,
    /// Whether the segment begins a connection.
    pub begins: bool,
    pub bytes: &'a [u8],
}

const TCP: u8 = 6;
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const VLANS: [u16; 2] = [0x8100, 0x88a8];

/// Returns the segment in a packet; `None` if it contains none.
pub fn segment(link: Link, packet: &[u8]) -> Option<Segment<'_>> {
    let network = match link.0 {
        // BSD loopback
        0 | 108 => packet.get(4..)?,
        // Ethernet
        1 => ethernet(packet)?,
        // raw IP
        12 | 14 | 101 | 228 | 229 => packet,
        // Linux cooked, in both versions
        113 => packet.get(16..)?,
        276 => packet.get(20..)?,
        _ => return None,
    };
    match network.first()? >> 4 {
        4 => ipv4(network),
        6 => ipv6(network),
        _ => None,
    }
}

fn ethernet(packet: &[u8]) -> Option<&[u8]> {
    let mut rest = packet.get(12..)?;
    loop {
        let kind = u16::from_be_bytes(*rest.first_chunk()?);
        if !VLANS.contains(&kind) {
            return rest.get(2..).filter(|_| [IPV4, IPV6].contains(&kind));
        }
        rest = rest.get(4..)?;
    }
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn ipv4(packet: &[u8]) -> Option<Segment<'_>> {
    let head = usize::from(packet[0] & 15) * 4;
    // Fragments are not reassembled: NFS over TCP produces none.
    let is_fragment = half(packet, 6)? & 0x3fff != 0;
    if *packet.get(9)? != TCP || is_fragment || head < 20 {
        return None;
    }
    let length = match usize::from(half(packet, 2)?) {
        // The system's offloading leaves the length of large packets empty.
        0 => packet.len(),
        length => length.min(packet.len()),
    };
    let address = |at: usize| Some(IpAddr::from(*packet.get(at..)?.first_chunk::<4>()?));
    tcp(packet.get(head..length)?, address(12)?, address(16)?)
}

fn ipv6(packet: &[u8]) -> Option<Segment<'_>> {
    if *packet.get(6)? != TCP {
        return None;
    }
    let length = match usize::from(half(packet, 4)?) {
        0 => packet.len(),
        length => (40 + length).min(packet.len()),
    };
    let address = |at: usize| Some(IpAddr::from(*packet.get(at..)?.first_chunk::<16>()?));
    tcp(packet.get(40..length)?, address(8)?, address(24)?)
}

fn tcp(packet: &[u8], from: IpAddr, to: IpAddr) -> Option<Segment<'_>> {
    let head = usize::from(packet.get(12)? >> 4) * 4;
    let begins = packet.get(13)? & 2 != 0;
    if head < 20 {
        return None;
    }
    Some(Segment {
        ends: Ends {
            from: (from, half(packet, 0)?),
            to: (to, half(packet, 2)?),
        },
        sequence: u32::from_be_bytes(*packet.get(4..)?.first_chunk()?),
        begins,
        bytes: packet.get(head..)?,
    })
}
