//! Finds the interface that leads to an address, by the main routing table: `/proc/net/route`
//! (route(8), net/ipv4/fib_trie.c of Linux) and `/proc/net/ipv6_route` (net/ipv6/route.c).
//!
//! Rules that select another routing table (ip-rule(8)) are ignored.

use std::cmp::Reverse;
use std::net::{IpAddr, Ipv6Addr};

use crate::fact::Fact;
use crate::sources::Sources;

/// Flag of a route in use (`RTF_UP`).
const UP: u32 = 0x1;
/// Flag of a route that rejects packets (`RTF_REJECT`).
const REJECT: u32 = 0x200;

struct Route<'line> {
    interface: &'line str,
    destination: u128,
    mask: u128,
    flags: u32,
    /// Cost of the route. Of several routes to one destination, the kernel uses the route with the
    /// lowest metric.
    metric: u32,
}

/// Returns the interface of the route to an address. Of several routes, the one with the longest
/// prefix is used, then the one with the lowest metric.
pub(super) fn interface_to(sources: &Sources, address: IpAddr) -> Fact<String> {
    let (path, parse, bits): (_, fn(&str) -> Option<Route<'_>>, u128) = match address {
        IpAddr::V4(address) => ("/proc/net/route", parse_v4, address.to_bits().into()),
        IpAddr::V6(address) => ("/proc/net/ipv6_route", parse_v6, address.to_bits()),
    };
    sources.text(path).and_then(|text| {
        let fits = |route: &Route<'_>| {
            route.flags & (UP | REJECT) == UP && bits & route.mask == route.destination
        };
        let routes = text.lines().filter_map(parse).filter(fits);
        // Of routes with equal mask and metric, the first one is used, as in the kernel.
        let best = routes.min_by_key(|route| (Reverse(route.mask.count_ones()), route.metric));
        let interface = best.map(|route| route.interface.to_owned());
        sources.found(path, interface, || format!("no route to {address}"))
    })
}

/// Parses a line `eth0 00000000 010200C0 0003 0 0 0 00000000 …`: interface, destination, gateway,
/// flags, references, use, metric, mask.
fn parse_v4(line: &str) -> Option<Route<'_>> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let [interface, destination, _, flags, _, _, metric, mask, ..] = words[..] else {
        return None;
    };
    // The kernel prints the bytes of an address as a number in this machine's byte order.
    let bits = |word: &str| -> Option<u128> {
        let number = u32::from_str_radix(word, 16).ok()?;
        Some(u32::from_be_bytes(number.to_ne_bytes()).into())
    };
    Some(Route {
        interface,
        destination: bits(destination)?,
        mask: bits(mask)?,
        flags: u32::from_str_radix(flags, 16).ok()?,
        metric: metric.parse().ok()?,
    })
}

/// Parses a line `fe80… 40 0000… 00 0000… 00000100 00000001 00000000 00000001 eth0`: destination
/// and its length, source and its length, next hop, metric, references, use, flags, interface; all
/// numbers in hexadecimal digits.
fn parse_v6(line: &str) -> Option<Route<'_>> {
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
    // Skips routes that apply to specific source addresses.
    number(source_length).filter(|length| *length == 0)?;
    let other_bits = Ipv6Addr::BITS.checked_sub(number(length)?)?;
    let mask = u128::MAX.checked_shl(other_bits).unwrap_or(0);
    Some(Route {
        interface,
        destination: u128::from_str_radix(destination, 16).ok()? & mask,
        mask,
        flags: number(flags)?,
        metric: number(metric)?,
    })
}
