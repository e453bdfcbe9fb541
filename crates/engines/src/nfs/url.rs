//! The URLs of NFS targets: `nfs://host[:port]/export/path[?parameters]`.

use engine::{Url, UrlParameter, UrlSyntax, Values};
use nfs_client::Export;

const fn numbers(
    name: &'static str,
    range: core::ops::RangeInclusive<u32>,
    expected: &'static str,
) -> UrlParameter {
    UrlParameter {
        name,
        values: Values::Numbers(range, expected),
        default: None,
    }
}

const ID: &str = "a number from 0 to 4294967295";

/// The syntax of NFS URLs. Without a port, the client asks the port mapper. Without `uid` or `gid`,
/// calls use the IDs of this process.
pub(crate) static SYNTAX: UrlSyntax = UrlSyntax {
    scheme: "nfs",
    form: "nfs://host[:port]/export/path",
    example: "nfs://server/export/path",
    needs_path: true,
    parameters: &[
        numbers("uid", 0..=u32::MAX, ID),
        numbers("gid", 0..=u32::MAX, ID),
        // The port of the MOUNT service.
        numbers("mountport", 1..=65_535, "a number from 1 to 65535"),
        // Number of connections of a session to this server.
        UrlParameter {
            default: Some(1),
            ..numbers("nconnect", 1..=16, "a number from 1 to 16")
        },
        // Whether connections use a local port below 1024, which requires a capability.
        UrlParameter {
            name: "privport",
            values: Values::Flag,
            default: Some(0),
        },
        // Time limit in seconds for a reply, and for connecting to a lost server again.
        numbers("timeout", 1..=3_600, "a number of seconds from 1 to 3600"),
    ],
};

/// Returns the directory that a URL denotes, and how to reach its server.
pub(crate) fn export(url: &Url) -> Export {
    let port = |name| {
        url.parameter(name)
            .and_then(|port| u16::try_from(port).ok())
    };
    Export {
        host: url.host.clone(),
        port: url.port,
        mount_port: port("mountport"),
        path: url.path.clone(),
        uid: url.parameter("uid"),
        gid: url.parameter("gid"),
        privileged: is_privileged(url),
    }
}

/// Returns the number of connections of a session to the server; 1 by default.
pub(crate) fn connections(url: &Url) -> u32 {
    url.parameter("nconnect").unwrap_or(1)
}

/// Whether connections use a local port below 1024.
pub(crate) fn is_privileged(url: &Url) -> bool {
    url.parameter("privport") == Some(1)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use engine::UrlError;

    use super::*;

    fn parse(text: &str) -> Result<Url, UrlError> {
        SYNTAX.parse(Path::new(text))
    }

    #[test]
    fn url_round_trips_in_normal_form() {
        for text in [
            "nfs://server/",
            "nfs://server/export",
            "nfs://10.0.0.1:12049/export/a",
            "nfs://[::1]:2049/export",
            "nfs://server/with%20blank%25/%C3%A9?uid=0&gid=7&mountport=12050&nconnect=4&\
             privport=1&timeout=5",
        ] {
            assert_eq!(parse(text).unwrap().to_string(), text);
        }
        let url = parse("nfs://server//export//a/?privport=0&nconnect=1").unwrap();
        assert_eq!(url.to_string(), "nfs://server/export/a");
        let url = parse("nfs://server/b%2e%63?mountport=7&uid=3").unwrap();
        assert_eq!(
            (
                url.path.as_slice(),
                url.parameter("mountport"),
                url.parameter("uid")
            ),
            (&b"/b.c"[..], Some(7), Some(3))
        );
    }

    #[test]
    fn invalid_urls_are_rejected_with_a_hint() {
        for (text, words) in [
            ("/mnt/disk", "expected nfs://"),
            ("nfs://server", "no directory"),
            ("nfs:///export", "invalid host"),
            ("nfs://user@server/export", "invalid host"),
            ("nfs://[::1/export", "invalid host"),
            ("nfs://[server]/export", "invalid host"),
            ("nfs://server:0/export", "from 1 to 65535"),
            ("nfs://server:+1/export", "from 1 to 65535"),
            ("nfs://server:/export", "from 1 to 65535"),
            ("nfs://server/a/../b", "'.' or '..'"),
            ("nfs://server/a/%2e%2E/b", "'.' or '..'"),
            ("nfs://server/a%2fb", "an encoded '/'"),
            ("nfs://server/a%00", "NUL"),
            ("nfs://server/a%2", "two hexadecimal digits"),
            ("nfs://server/a#b", "%23"),
            (
                "nfs://server/a?rsize=7",
                "unknown parameter 'rsize' (expected uid, gid",
            ),
            ("nfs://server/a?uid=1&uid=1", "parameter uid is given twice"),
            ("nfs://server/a?uid=-1", "a number from 0 to 4294967295"),
            ("nfs://server/a?uid", "a number from 0"),
            ("nfs://server/a?nconnect=17", "a number from 1 to 16"),
            ("nfs://server/a?privport=yes", "0 or 1"),
            ("nfs://server/a?timeout=0", "from 1 to 3600"),
            ("nfs://server/a?mountport=65536", "from 1 to 65535"),
        ] {
            let said = parse(text).unwrap_err().to_string();
            assert!(said.contains(words), "{text}: {said}");
        }
    }

    #[test]
    fn names_are_appended_to_url_before_parameters() {
        let url = parse("nfs://server:7/a%20b?uid=3").unwrap();
        assert_eq!(
            url.bare().join("c").to_str(),
            Some("nfs://server:7/a%20b/c")
        );
        assert_eq!(
            url.below(b"c/d").to_string(),
            "nfs://server:7/a%20b/c/d?uid=3"
        );
        let root = parse("nfs://server:7/").unwrap();
        assert_eq!(root.below(b"c").to_string(), "nfs://server:7/c");
        let joined = SYNTAX.parse(&url.bare().join("c")).unwrap();
        assert_eq!(joined.path, url.below(b"c").path);
        assert!(SYNTAX.matches(&url.bare()) && !SYNTAX.matches(Path::new("/nfs://x")));
    }

    #[test]
    fn leads_to_is_true_for_subdirectories_of_url() {
        let url = |text: &str| parse(text).unwrap();
        let above = url("nfs://server/a?uid=3");
        for (other, leads) in [
            ("nfs://server/a", true),
            ("nfs://server/a/b?uid=4", true),
            ("nfs://server/ab", false),
            ("nfs://server:2049/a", false),
            ("nfs://another/a", false),
            ("nfs://server/", false),
        ] {
            assert_eq!(above.leads_to(&url(other)), leads, "{other}");
        }
        assert!(url("nfs://server/").leads_to(&url("nfs://server/a")));
    }
}
