//! Which interface leads to an address, by the main table of routes:
//! `/proc/net/route` (route(8), net/ipv4/fib_trie.c of Linux) and
//! `/proc/net/ipv6_route` (net/ipv6/route.c).
//!
//! Rules that choose another table (ip-rule(8)) are not looked at.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::fact::Fact;
use crate::sources::Sources;

/// The route is in use.
const UP: u32 = 0x1;
/// What goes there is refused.
const REJECT: u32 = 0x200;

/// A route that an address can take.
struct Route<'line> {
    interface: &'line str,
    fit: RouteFit,
}

/// What makes one route better than another.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct RouteFit {
    prefix_bits: u32,
    /// The least is taken.
    metric: std::cmp::Reverse<u32>,
}

/// The interface of the best route to an address.
pub(super) fn interface_to(sources: &Sources, address: IpAddr) -> Fact<String> {
    let (path, fitting): (_, fn(&str, IpAddr) -> Option<Route<'_>>) = match address {
        IpAddr::V4(_) => ("/proc/net/route", fitting_v4),
        IpAddr::V6(_) => ("/proc/net/ipv6_route", fitting_v6),
    };
    sources.text(path).and_then(|text| {
        let routes = text.lines().filter_map(|line| fitting(line, address));
        // Of equals the first, as the kernel does.
        let best = routes.reduce(|best, route| if route.fit > best.fit { route } else { best });
        match best {
            Some(route) => Fact::Known(route.interface.to_owned()),
            None => sources.unavailable(path, format!("no route to {address}")),
        }
    })
}

/// `eth0 00000000 010200C0 0003 0 0 0 00000000 …`: interface, destination,
/// gateway, flags, references, use, metric, mask.
fn fitting_v4(line: &str, address: IpAddr) -> Option<Route<'_>> {
    let IpAddr::V4(address) = address else {
        return None;
    };
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let [interface, destination, _, flags, _, _, metric, mask, ..] = words[..] else {
        return None;
    };
    // The bytes of an address, shown as a number of this machine.
    let bits = |word: &str| -> Option<u32> {
        let number = u32::from_str_radix(word, 16).ok()?;
        Some(Ipv4Addr::from(number.to_ne_bytes()).to_bits())
    };
    let (destination, mask) = (bits(destination)?, bits(mask)?);
    let flags = u32::from_str_radix(flags, 16).ok()?;
    let fits = flags & UP != 0 && flags & REJECT == 0 && address.to_bits() & mask == destination;
    let fit = RouteFit {
        prefix_bits: mask.count_ones(),
        metric: std::cmp::Reverse(metric.parse().ok()?),
    };
    fits.then_some(Route { interface, fit })
}

/// `fe80… 40 0000… 00 0000… 00000100 00000001 00000000 00000001 eth0`:
/// destination and its length, source and its length, next hop, metric,
/// references, use, flags, interface; all numbers in hexadecimal digits.
fn fitting_v6(line: &str, address: IpAddr) -> Option<Route<'_>> {
    let IpAddr::V6(address) = address else {
        return None;
    };
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let [
        destination,
        length,
        _,
        source_length,
        _,
        metric,
        _,
        _,
        flags,
        interface,
    ] = words[..]
    else {
        return None;
    };
    let number = |word: &str| u32::from_str_radix(word, 16).ok();
    let prefix_bits = number(length).filter(|bits| *bits <= Ipv6Addr::BITS)?;
    let destination = u128::from_str_radix(destination, 16).ok()?;
    let mask = u128::MAX
        .checked_shl(Ipv6Addr::BITS - prefix_bits)
        .unwrap_or(0);
    let flags = number(flags)?;
    // Routes for some sources only are another's.
    let fits = flags & UP != 0
        && flags & REJECT == 0
        && number(source_length)? == 0
        && address.to_bits() & mask == destination & mask;
    let fit = RouteFit {
        prefix_bits,
        metric: std::cmp::Reverse(number(metric)?),
    };
    fits.then_some(Route { interface, fit })
}
