//! Presets with the file sizes and operations of mdtest, the metadata benchmark of IO500.

use super::preset::{Source, Values};
use super::row::Row;
use super::sources::*;

const IO500: &str = "Other benchmarks";

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "mdtest-easy",
        version: 1,
        group: IO500,
        application: "a comparison with IO500's mdtest-easy",
        what: "empty files are created, looked up and deleted; ten workers, each in a directory \
               of its own",
        not_predicted: "scores of IO500: mdtest performs one phase after the other, for 300 s",
        source: "IO500's mdtest-easy",
        values: &[
            Values {
                source: &MDTEST_EASY,
                values: &[
                    ("workers", "10"),
                    ("size", "0"),
                    ("dirs", "flat"),
                    ("mix create", "1"),
                    ("mix stat", "1"),
                    ("mix delete", "1"),
                ],
            },
            Values {
                source: &Source::own("a pool that random changes keep"),
                values: &[("files", "10000")],
            },
        ],
    },
    Row {
        name: "mdtest-hard",
        version: 1,
        group: IO500,
        application: "a comparison with IO500's mdtest-hard",
        what: "files of 3,901 bytes in one shared directory are created and deleted by ten \
               workers, and looked up and read by ten others",
        not_predicted: "scores of IO500: mdtest performs one phase after the other, for 300 s",
        source: "IO500's mdtest-hard",
        values: &[
            Values {
                source: &MDTEST_HARD,
                values: &[
                    ("writers", "10"),
                    ("readers", "10"),
                    ("size", "3901"),
                    ("dirs", "flat"),
                    ("mix create", "1"),
                    ("mix stat", "1"),
                    ("mix read", "1"),
                    ("mix delete", "1"),
                ],
            },
            Values {
                source: &Source::own("a pool that random changes keep"),
                values: &[("files", "100000")],
            },
        ],
    },
];
