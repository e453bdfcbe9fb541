//! Determines which ranks observe: those on the hosts of the option `--monitor-host`. A host is
//! identified by its names and addresses.

use std::net::IpAddr;

use document::sanitize::sanitize;
use serde::{Deserialize, Serialize};

/// Environment variables in which launchers store the name of a rank's host.
const LAUNCHERS_NAMES: [&str; 2] = ["PMIX_HOSTNAME", "SLURMD_NODENAME"];

/// The host of a rank, and its matches with the requested hosts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RankHost {
    pub host: String,
    /// For each requested host, in the order of the option: whether the rank is on that host.
    pub named: Vec<bool>,
}

/// Returns the names of this host: its own name, and the names that the launcher uses.
pub fn own_names(host: &str) -> Vec<String> {
    let names = LAUNCHERS_NAMES
        .iter()
        .filter_map(|name| std::env::var(name).ok());
    std::iter::once(host.to_owned()).chain(names).collect()
}

/// Whether a requested host is this host. The requested host is compared by full name, by name up
/// to the first dot, and by address.
pub fn is_named(names: &[String], asked: &str) -> bool {
    if let Ok(address) = asked.parse::<IpAddr>() {
        return names.iter().any(|name| name.parse() == Ok(address)) || is_own(address);
    }
    let short = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    names.iter().any(|name| {
        let is_short = !asked.contains('.') && asked.eq_ignore_ascii_case(&short(name));
        asked.eq_ignore_ascii_case(name) || is_short
    })
}

/// Whether the kernel treats an address as one of this host. Nothing is sent.
fn is_own(address: IpAddr) -> bool {
    // Loopback addresses are on every host, so they identify none.
    !address.is_loopback() && system::network::is_own(address)
}

/// Returns the number of ranks that perform the run: those with the lowest numbers.
///
/// # Errors
/// Returns the reason if the requested hosts cannot be observed.
pub fn performing(asked: &[String], all: &[RankHost]) -> Result<u32, String> {
    /// Maximum number of host names that the message lists.
    const HOSTS_MAX: usize = 8;
    for (place, host) in asked.iter().enumerate() {
        if all.iter().any(|rank| rank.named.get(place) == Some(&true)) {
            continue;
        }
        let mut hosts: Vec<&str> = Vec::new();
        for rank in all {
            if !hosts.contains(&&*rank.host) {
                hosts.push(&rank.host);
            }
        }
        let more = if hosts.len() > HOSTS_MAX { ", ..." } else { "" };
        hosts.truncate(HOSTS_MAX);
        return Err(format!(
            "--monitor-host {}: no rank was started on that host (there are ranks on {}{more})",
            sanitize(host),
            sanitize(&hosts.join(", "))
        ));
    }
    let observes = |rank: &RankHost| rank.named.contains(&true);
    let Some(last) = all.iter().rposition(|rank| !observes(rank)) else {
        return Err(
            "--monitor-host names the hosts of all ranks, and none is left to perform the run"
                .to_owned(),
        );
    };
    if let Some(first) = all[..last].iter().position(observes) {
        let host = sanitize(&all[first].host);
        return Err(format!(
            "--monitor-host: rank {first} is on {host}, and rank {last} on {} is to work: \
             observers must be the last ranks (put {host} last in the host file, with one slot)",
            sanitize(&all[last].host)
        ));
    }
    Ok(last as u32 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(asked: &[&str], hosts: &[&str]) -> Result<u32, String> {
        let asked: Vec<String> = asked.iter().map(|host| (*host).to_owned()).collect();
        let rank = |host: &&str| RankHost {
            host: (*host).to_owned(),
            named: asked
                .iter()
                .map(|asked| is_named(&[(*host).to_owned()], asked))
                .collect(),
        };
        performing(&asked, &hosts.iter().map(rank).collect::<Vec<_>>())
    }

    #[test]
    fn ranks_on_the_requested_hosts_become_observers() {
        assert_eq!(found(&["server"], &["a", "b", "server"]), Ok(2));
        assert_eq!(found(&["server"], &["a", "server", "server"]), Ok(1));
        assert_eq!(found(&["s2", "s1"], &["a", "a", "s1.lab", "S2.lab"]), Ok(2));
    }

    #[test]
    fn impossible_observers_are_refused_with_a_remedy() {
        let why = found(&["server"], &["server", "a", "b"]).unwrap_err();
        assert!(
            why.contains("rank 0 is on server, and rank 2 on b is to work")
                && why.contains("last in the host file"),
            "{why}"
        );
        let why = found(&["server"], &["a", "a", "b"]).unwrap_err();
        assert!(
            why.contains("no rank was started on that host (there are ranks on a, b)"),
            "{why}"
        );
        let why = found(&["a", "b"], &["a", "b"]).unwrap_err();
        assert!(why.contains("none is left"), "{why}");
    }

    #[test]
    fn host_matches_its_short_and_full_names_and_addresses() {
        let names = ["node7.lab.example".to_owned(), "10.0.0.7".to_owned()];
        for name in ["node7", "NODE7.lab.example", "10.0.0.7"] {
            assert!(is_named(&names, name), "{name}");
        }
        for name in [
            "node",
            "node7.other",
            "node7.lab",
            "10.0.0.8",
            "127.0.0.1",
            "",
        ] {
            assert!(!is_named(&names, name), "{name}");
        }
    }
}
