//! Presets of the training of models: reading samples and writing checkpoints.

use super::preset::{Source, Values};
use super::row::Row;
use super::sources::*;

const TRAINING: &str = "Training of models";

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "ai-samples",
        version: 1,
        group: TRAINING,
        application: "loading samples to train a model, one file each",
        what: "eight readers read whole files of a shared set, in a new order for each epoch",
        not_predicted: "decoding and training, samples packed into large files, and a set beyond \
                        memory (use --working-set 4x)",
        source: "records of MLPerf Storage's ResNet-50, classes of ImageNet",
        values: &[
            Values {
                source: &RESNET,
                values: &[
                    ("writers", "0"),
                    ("readers", "8"),
                    ("size", "114660"),
                    ("popularity", "shuffled"),
                    ("mix read", "1"),
                ],
            },
            Values {
                source: &IMAGENET,
                values: &[("dirs", "subdirs:1000")],
            },
            Values {
                source: &Source::own("10 samples of each class, 1.1 GB"),
                values: &[("files", "10000")],
            },
        ],
    },
    Row {
        name: "ai-checkpoint",
        version: 1,
        group: TRAINING,
        application: "checkpoints of a model, one file for each layer and process",
        what: "eight workers write a file of 55 MB, sync it and rename it over the previous one, \
               and read such files",
        not_predicted: "the time of computing between checkpoints, optimizer states in files of \
                        many GB, and object stores",
        source: "MLPerf Storage's Llama 3 8B",
        values: &[
            Values {
                source: &LLAMA,
                values: &[
                    ("workers", "8"),
                    ("size", "54528000"),
                    ("mix replace", "10"),
                    ("mix read", "10"),
                    ("durability", "fsync"),
                ],
            },
            Values {
                source: &Source::own("2 of the 32 layers, 0.9 GB of all workers"),
                values: &[("files", "2")],
            },
        ],
    },
];
