//! Configurations with a name, each with where it comes from.

use crate::classic::Classic;
use crate::edition::Edition;

/// A workload that has a name.
#[derive(Clone, Debug)]
pub struct Preset {
    /// The name that options take.
    pub name: &'static str,
    /// What it is, in one line.
    pub what: &'static str,
    /// Where its figures come from.
    pub source: &'static str,
    /// The workload.
    pub workload: Classic,
}

const PAPER: &str = "J. Katcher, PostMark: A New File System Benchmark, Network Appliance TR3022, 1997";
const VERITAS: &str =
    "VERITAS File Server Edition Performance Brief: A PostMark 1.11 Benchmark Comparison, section 4.1";
const MAIL_PAGE: &str = "the mail administrator's page of PostMark results by many contributors, 1999 to 2000";
const ISCSI: &str = "the study of NFS and iSCSI, Table 5: PostMark results, 2004";

/// All presets, in the order in which they are listed.
pub fn all() -> Vec<Preset> {
    use Edition::{V1_0, V1_5};
    let mut presets = Vec::new();
    let mut add = |name, what, source, edition, files, transactions, subdirectories| {
        presets.push(Preset {
            name,
            what,
            source,
            workload: Classic {
                edition,
                files,
                transactions,
                subdirectories,
                ..Classic::default()
            },
        });
    };
    add(
        "default",
        "500 files, 500 transactions: what the original does when told nothing",
        "the original's default configuration",
        V1_5,
        500,
        500,
        1,
    );
    add(
        "paper-1000-50000",
        "1,000 files, 50,000 transactions: the paper's first configuration (Tables 1 and 4)",
        PAPER,
        V1_0,
        1_000,
        50_000,
        1,
    );
    add(
        "paper-20000-50000",
        "20,000 files, 50,000 transactions: the paper's second configuration (Tables 2 and 5)",
        PAPER,
        V1_0,
        20_000,
        50_000,
        1,
    );
    add(
        "paper-20000-100000",
        "20,000 files, 100,000 transactions: the paper's third configuration (Tables 3 and 6)",
        PAPER,
        V1_0,
        20_000,
        100_000,
        1,
    );
    add(
        "lfs-session",
        "9,999 files, 5,000,000 transactions: the session of the log-structured file system for Linux 2.6",
        "Log-structured file system for Linux 2.6, PostMark benchmark under LFS and ext3 (PostMark 1.51)",
        V1_5,
        9_999,
        5_000_000,
        1,
    );
    add(
        "veritas-small",
        "20,000 files, 50,000 transactions, one process",
        VERITAS,
        V1_0,
        20_000,
        50_000,
        1,
    );
    add(
        "veritas-medium",
        "20,000 files, 100,000 transactions, one process",
        VERITAS,
        V1_0,
        20_000,
        100_000,
        1,
    );
    add(
        "veritas-large",
        "200,000 files, 50,000 transactions, one process",
        VERITAS,
        V1_0,
        200_000,
        50_000,
        1,
    );
    add(
        "mail-page-1",
        "1,000 files, 50,000 transactions: the page's first test",
        MAIL_PAGE,
        V1_5,
        1_000,
        50_000,
        1,
    );
    add(
        "mail-page-2",
        "20,000 files, 50,000 transactions: the page's second test",
        MAIL_PAGE,
        V1_5,
        20_000,
        50_000,
        1,
    );
    add(
        "mail-page-3",
        "20,000 files, 100,000 transactions: the page's third test",
        MAIL_PAGE,
        V1_5,
        20_000,
        100_000,
        1,
    );
    add(
        "mail-page-4",
        "20,000 files in 100 subdirectories, 100,000 transactions: the page's fourth test",
        MAIL_PAGE,
        V1_5,
        20_000,
        100_000,
        100,
    );
    add(
        "nfs-iscsi-1000",
        "1,000 files, 100,000 transactions",
        ISCSI,
        V1_5,
        1_000,
        100_000,
        1,
    );
    add(
        "nfs-iscsi-5000",
        "5,000 files, 100,000 transactions",
        ISCSI,
        V1_5,
        5_000,
        100_000,
        1,
    );
    add(
        "nfs-iscsi-25000",
        "25,000 files, 100,000 transactions",
        ISCSI,
        V1_5,
        25_000,
        100_000,
        1,
    );
    presets
}

/// The preset of this name.
pub fn find(name: &str) -> Option<Preset> {
    all().into_iter().find(|preset| preset.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_valid_and_their_names_are_their_own() {
        let presets = all();
        for preset in &presets {
            assert_eq!(preset.workload.validate(), Ok(()), "{}", preset.name);
            let namesakes = presets.iter().filter(|other| other.name == preset.name).count();
            assert_eq!(namesakes, 1, "{}", preset.name);
        }
    }
}
