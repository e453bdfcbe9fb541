//! Presets of classic workloads with published results.

use super::preset::{Manner, Preset};
use crate::classic::Classic;
use crate::edition::Edition::{self, V1_0, V1_5};
use crate::whole::{WorkerSeeds, Workers, Workload};

const DEFAULT: &str = "the original's default configuration";
const PAPER: &str =
    "J. Katcher, PostMark: A New File System Benchmark, Network Appliance TR3022, 1997";
const LFS: &str = "Log-structured file system for Linux 2.6, PostMark benchmark under LFS and \
                   ext3 (PostMark 1.51)";
const VERITAS: &str = "VERITAS File Server Edition Performance Brief: A PostMark 1.11 Benchmark \
                       Comparison, section 4.1";
const VERITAS_MANY: &str = "VERITAS File Server Edition Performance Brief: A PostMark 1.11 \
                            Benchmark Comparison, section 4.2";
const MAIL_PAGE: &str = "the mail administrator's page of PostMark results by many contributors";
const ISCSI: &str = "the study of NFS and iSCSI, Table 5: PostMark results, 2004";

/// Name, description, source, edition, files, transactions, subdirectories, and number of
/// processes. The numbers of files, transactions and subdirectories are for each process.
type Row = (
    &'static str,
    &'static str,
    &'static str,
    Edition,
    u64,
    u64,
    u32,
    u32,
);

#[rustfmt::skip] // A table: each row is a description, followed by its figures on the next line.
const ROWS: &[Row] = &[
    ("default", "500 files, 500 transactions: the defaults of the original",
        DEFAULT, V1_5, 500, 500, 1, 1),
    ("paper-1000-50000", "1,000 files, 50,000 transactions: the paper's first configuration \
        (Tables 1 and 4)",
        PAPER, V1_0, 1_000, 50_000, 1, 1),
    ("paper-20000-50000", "20,000 files, 50,000 transactions: the paper's second configuration \
        (Tables 2 and 5)",
        PAPER, V1_0, 20_000, 50_000, 1, 1),
    ("paper-20000-100000", "20,000 files, 100,000 transactions: the paper's third configuration \
        (Tables 3 and 6)",
        PAPER, V1_0, 20_000, 100_000, 1, 1),
    ("lfs-session", "9,999 files, 5,000,000 transactions: the session of the log-structured file \
        system for Linux 2.6",
        LFS, V1_5, 9_999, 5_000_000, 1, 1),
    ("veritas-small", "20,000 files, 50,000 transactions, one process",
        VERITAS, V1_0, 20_000, 50_000, 1, 1),
    ("veritas-medium", "20,000 files, 100,000 transactions, one process",
        VERITAS, V1_0, 20_000, 100_000, 1, 1),
    ("veritas-large", "200,000 files, 50,000 transactions, one process",
        VERITAS, V1_0, 200_000, 50_000, 1, 1),
    ("veritas-massive-1", "12 processes, each with 2,000 files in 100 subdirectories and 50,000 \
        transactions",
        VERITAS_MANY, V1_0, 2_000, 50_000, 100, 12),
    ("veritas-massive-2", "12 processes, each with 20,000 files in 100 subdirectories and 50,000 \
        transactions",
        VERITAS_MANY, V1_0, 20_000, 50_000, 100, 12),
    ("veritas-massive-3", "12 processes, each with 200,000 files in 100 subdirectories and 50,000 \
        transactions",
        VERITAS_MANY, V1_0, 200_000, 50_000, 100, 12),
    ("mail-page-1", "1,000 files, 50,000 transactions: the page's first test, as PBG3, PBG4 and \
        Compaq did it; most others there are of edition 1.0",
        MAIL_PAGE, V1_5, 1_000, 50_000, 1, 1),
    ("mail-page-2", "20,000 files, 50,000 transactions: the page's second test, as PBG3, PBG4 and \
        Compaq did it; most others there are of edition 1.0",
        MAIL_PAGE, V1_5, 20_000, 50_000, 1, 1),
    ("mail-page-3", "20,000 files, 100,000 transactions: the page's third test, as PBG3, PBG4 and \
        Compaq did it; most others there are of edition 1.0",
        MAIL_PAGE, V1_5, 20_000, 100_000, 1, 1),
    ("mail-page-4", "20,000 files in 100 subdirectories, 100,000 transactions: the page's fourth \
        test, as PBG3, PBG4 and Compaq did it; most others there are of edition 1.0",
        MAIL_PAGE, V1_5, 20_000, 100_000, 100, 1),
    ("nfs-iscsi-1000", "1,000 files, 100,000 transactions",
        ISCSI, V1_5, 1_000, 100_000, 1, 1),
    ("nfs-iscsi-5000", "5,000 files, 100,000 transactions",
        ISCSI, V1_5, 5_000, 100_000, 1, 1),
    ("nfs-iscsi-25000", "25,000 files, 100,000 transactions",
        ISCSI, V1_5, 25_000, 100_000, 1, 1),
];

pub(super) fn all() -> Vec<Preset> {
    ROWS.iter().map(preset).collect()
}

fn preset(row: &Row) -> Preset {
    let (name, what, source, edition, files, transactions, subdirectories, workers) = *row;
    let one = Workload::from(Classic {
        edition,
        files,
        transactions,
        subdirectories,
        ..Classic::default()
    });
    let workload = if workers == 1 {
        one
    } else {
        Workload {
            workers: Workers::Private { workers },
            // The published runs used the same configuration, including the seed, in every process.
            worker_seeds: WorkerSeeds::Same,
            ..one
        }
    };
    Preset {
        name,
        version: None,
        group: "Results of papers",
        application: "a comparison with published results",
        what,
        not_predicted: "servers of today: the files are those of 1997 to 2004",
        source,
        values: &[],
        workload,
        how: Manner::default(),
    }
}
