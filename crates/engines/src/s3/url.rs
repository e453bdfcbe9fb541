//! The URLs of S3 targets: `s3://bucket/prefix[?parameters]`. The bucket takes the place of the
//! host.

use engine::{Url, UrlParameter, UrlSyntax, Values};
use s3_client::Style;

/// The syntax of S3 URLs. A URL without a path denotes the whole bucket.
pub(crate) static SYNTAX: UrlSyntax = UrlSyntax {
    scheme: "s3",
    form: "s3://bucket/prefix?endpoint=http://host:9000",
    example: "s3://bucket/prefix?endpoint=http://host:9000",
    needs_path: false,
    parameters: &[
        UrlParameter {
            name: "endpoint",
            values: Values::Text("the URL of the service, such as http://host:9000"),
            default: None,
        },
        // The region in signatures; by default, the region in the environment.
        UrlParameter {
            name: "region",
            values: Values::Text("a region, such as us-east-1"),
            default: None,
        },
        UrlParameter {
            name: "style",
            values: Values::Words(&["path", "virtual"], "path or virtual"),
            default: Some(0),
        },
        UrlParameter {
            name: "payload",
            values: Values::Words(&["unsigned", "signed"], "unsigned or signed"),
            default: Some(0),
        },
        // Size of a part in MiB, with the limits of AWS. Larger objects are uploaded in parts.
        UrlParameter {
            name: "part",
            values: Values::Numbers(5..=5_120, "a number of MiB from 5 to 5120"),
            default: Some(16),
        },
        // Time limit in seconds for connecting and for an answer.
        UrlParameter {
            name: "timeout",
            values: Values::Numbers(1..=3_600, "a number of seconds from 1 to 3600"),
            default: Some(20),
        },
    ],
};

fn word(url: &Url, name: &str) -> u32 {
    url.parameter(name).unwrap_or(0)
}

/// Returns whether requests contain the bucket in the path or in the host name.
pub(crate) fn style(url: &Url) -> Style {
    match word(url, "style") {
        0 => Style::Path,
        _ => Style::Virtual,
    }
}

/// Whether the signature of a request includes the body.
pub(crate) fn signs_payload(url: &Url) -> bool {
    word(url, "payload") == 1
}

/// The size of a part of an upload in bytes.
pub(crate) fn part_bytes(url: &Url) -> usize {
    (url.parameter("part").unwrap_or(16) as usize) << 20
}

/// The prefix that a URL denotes: empty for a whole bucket, else without slashes at its ends.
pub(crate) fn prefix(url: &Url) -> &[u8] {
    url.path.strip_prefix(b"/").unwrap_or(&url.path)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn url_round_trips_in_normal_form() {
        for text in [
            "s3://bucket/",
            "s3://bucket/a/b?endpoint=http://host:9000&region=us-east-1&style=virtual&\
             payload=signed&part=5&timeout=3",
        ] {
            let url = SYNTAX.parse(Path::new(text)).unwrap();
            assert_eq!(url.to_string(), text);
        }
        let text = "s3://b?timeout=20&style=path&endpoint=http%3A%2F%2Fh%26";
        let url = SYNTAX.parse(Path::new(text)).unwrap();
        assert_eq!(url.to_string(), "s3://b/?endpoint=http://h%26");
        assert_eq!(
            (url.text("endpoint"), prefix(&url)),
            (Some("http://h&"), &b""[..])
        );
        assert_eq!((style(&url), part_bytes(&url)), (Style::Path, 16 << 20));
        assert_eq!(url.bare().to_str(), Some("s3://b/"));
    }

    #[test]
    fn invalid_urls_are_rejected_with_a_hint() {
        for (text, words) in [
            ("s3:///a", "invalid host"),
            ("s3://b/a/../c", "'.' or '..'"),
            ("s3://b/a?style=other", "path or virtual"),
            ("s3://b/a?payload=1", "unsigned or signed"),
            ("s3://b/a?part=4", "from 5 to 5120"),
            ("s3://b/a?endpoint=", "the URL of the service"),
            ("s3://b/a?region=a%20b", "a region"),
            (
                "s3://b/a?key=x",
                "unknown parameter 'key' (expected endpoint, region",
            ),
        ] {
            let said = SYNTAX.parse(Path::new(text)).unwrap_err().to_string();
            assert!(said.contains(words), "{text}: {said}");
        }
    }
}
