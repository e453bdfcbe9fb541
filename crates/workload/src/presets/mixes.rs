//! Mixes of today, each sized by the machine. What is published is named as its source; all else is
//! our own choice, and says so.

use super::preset::{Machine, Manner, Preset, RUN_FOR_S};
use crate::contents::{ContentKind, ContentSpec};
use crate::intent::Action;
use crate::layout::{Layout, Shape};
use crate::mix::{Mix, Think, Weights};
use crate::names::{NameForm, Names};
use crate::popularity::Popularity;
use crate::sizes::Sizes;
use crate::whole::{Work, WorkerSeeds, Workers, Workload};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

pub(super) fn all(machine: &Machine) -> Vec<Preset> {
    vec![
        mail(machine),
        varmail(machine),
        news(machine),
        web_cache(machine),
        build_tree(machine),
        ai_samples(machine),
    ]
}

/// They measure for the same time. What is synced differs.
fn manner(durability: Option<&'static str>) -> Manner {
    Manner {
        durability,
        run_for_s: Some(RUN_FOR_S),
    }
}

/// One worker for each processor, within bounds.
fn workers(machine: &Machine, low: u32, high: u32) -> u32 {
    machine.processors.clamp(low, high)
}

/// Files of each of some pools that together take a part of the memory, within bounds.
fn files(machine: &Machine, part: u64, low: u64, high: u64, sizes: &Sizes, pools: u32) -> u64 {
    let bytes = (machine.memory_bytes / part).clamp(low, high);
    let files = bytes as f64 / sizes.mean() / f64::from(pools);
    // Round figures are easier to talk about.
    (files as u64 / 10 * 10).max(10)
}

fn weights(each: &[(Action, u32)]) -> Weights {
    each.iter()
        .fold(Weights::default(), |weights, (action, weight)| {
            weights.with(*action, *weight)
        })
}

fn lognormal(median: u64, sigma: f64, low: u64, high: u64) -> Sizes {
    Sizes::Lognormal {
        median,
        sigma,
        low,
        high,
    }
}

fn layout(shape: Shape) -> Layout {
    Layout {
        shape,
        entries_max: None,
        maildir: false,
    }
}

fn whole(mix: Mix, workers: Workers, kind: ContentKind) -> Workload {
    Workload {
        work: Work::Mix(mix),
        workers,
        worker_seeds: WorkerSeeds::Offset,
        contents: Some(ContentSpec { kind, dedup: 1.0 }),
    }
}

/// Preparing and delivering are synced, so the pool is small: a 512th of the memory, 16 MiB to 64
/// MiB.
fn mail(machine: &Machine) -> Preset {
    let workers = workers(machine, 2, 64);
    let sizes = lognormal(8 * KIB, 1.3, 512, MIB);
    let mix = Mix {
        files: files(machine, 512, 16 * MIB, 64 * MIB, &sizes, workers),
        transactions: Workload::ENDLESS,
        weights: weights(&[
            (Action::Deliver, 4),
            (Action::Read, 6),
            (Action::Rename, 4),
            (Action::Delete, 4),
            (Action::List, 2),
        ]),
        size_max_bytes: sizes.high(),
        sizes,
        layout: Layout {
            maildir: true,
            ..layout(Shape::Subdirectories(16))
        },
        names: Names {
            form: NameForm::Maildir,
            length: 0,
        },
        ..Mix::default()
    };
    Preset {
        name: "mail",
        what: "a mail server on Maildir: deliver, read, flag (rename), list, expunge; a worker \
               has 16 mailboxes of its own",
        source: "delivery as in D. J. Bernstein, Using maildir format (write in tmp, sync, rename \
                 into new); weights and sizes are our own choice",
        workload: whole(
            mix,
            Workers::Private { workers },
            ContentKind::Compressible { ratio: 2.0 },
        ),
        how: manner(Some("fsync+dir")),
    }
}

/// Sixteen workers, as the personality has threads. Each does the whole of its loop, so each has a
/// pool of its own: in a shared one, writers and readers would be told apart. All pools together
/// take a 512th of the memory, 16 MiB (about the personality's 1,000 files) to 64 MiB.
fn varmail(machine: &Machine) -> Preset {
    let sizes = Sizes::Exponential {
        mean: 16 * KIB,
        low: 1,
        high: 256 * KIB,
    };
    let workers = 16;
    let mix = Mix {
        files: files(machine, 512, 16 * MIB, 64 * MIB, &sizes, workers),
        transactions: Workload::ENDLESS,
        weights: weights(&[
            (Action::Delete, 1),
            (Action::Create, 1),
            (Action::Append, 1),
            (Action::Read, 2),
        ]),
        append_sizes: Sizes::Uniform {
            low: 1,
            high: 16 * KIB,
        },
        size_max_bytes: MIB,
        sizes,
        read_block_bytes: MIB,
        write_block_bytes: MIB,
        ..Mix::default()
    };
    Preset {
        name: "varmail",
        what: "like filebench's varmail: create and sync, append and sync, read, delete; 16 \
               workers, each in a directory of its own",
        source: "filebench's personality varmail (1,000 files around 16 KiB, 16 threads, two \
                 reads for each creation, append and deletion, appends up to 16 KiB, calls of 1 \
                 MiB, fsync); a directory each and exponential for its gamma sizes are our own \
                 choice",
        workload: whole(
            mix,
            Workers::Private { workers },
            ContentKind::Incompressible,
        ),
        how: manner(Some("fsync")),
    }
}

/// Articles come and are read at a pace, so that the readers are not done long before the feed. A
/// pool of a 256th of the memory, 32 MiB to 128 MiB.
fn news(machine: &Machine) -> Preset {
    let readers = workers(machine, 2, 64);
    let sizes = lognormal(3 * KIB, 1.0, KIB, 128 * KIB);
    let mix = Mix {
        files: files(machine, 256, 32 * MIB, 128 * MIB, &sizes, 1),
        transactions: Workload::ENDLESS,
        weights: weights(&[
            (Action::Create, 10),
            (Action::Link, 1),
            (Action::Delete, 10),
            (Action::Read, 20),
            (Action::Stat, 2),
            (Action::List, 1),
        ]),
        size_max_bytes: sizes.high(),
        sizes,
        think: Think::Exponential(500_000),
        layout: layout(Shape::Tree {
            width: 16,
            depth: 2,
        }),
        ..Mix::default()
    };
    Preset {
        name: "news",
        what: "a netnews spool: one feed files, crossposts (links) and expires articles in 256 \
               groups, others read them",
        source: "bounds of sizes from Katcher's PostMark paper, section II (one to over one \
                 hundred kilobytes), single writer/multiple readers from its section VI; weights, \
                 think time and the sizes' shape are our own choice",
        workload: whole(
            mix,
            Workers::Shared {
                writers: 1,
                readers,
                pools: 1,
            },
            ContentKind::Compressible { ratio: 2.0 },
        ),
        how: manner(None),
    }
}

/// Pools that together take a 128th of the memory, 64 MiB to 256 MiB.
fn web_cache(machine: &Machine) -> Preset {
    let workers = workers(machine, 1, 64);
    // The logarithm's mean is 9.357: half of the files are below exp(9.357) bytes.
    let sizes = lognormal(11_579, 1.318, 1, MIB);
    let mix = Mix {
        files: files(machine, 128, 64 * MIB, 256 * MIB, &sizes, workers),
        transactions: Workload::ENDLESS,
        weights: weights(&[
            (Action::Read, 10),
            (Action::Create, 4),
            (Action::Delete, 4),
            (Action::Replace, 2),
        ]),
        size_max_bytes: sizes.high(),
        sizes,
        popularity: Popularity::Zipf { exponent: 0.8 },
        layout: layout(Shape::Tree {
            width: 16,
            depth: 2,
        }),
        names: Names {
            form: NameForm::Hashed,
            length: 32,
        },
        ..Mix::default()
    };
    Preset {
        name: "web-cache",
        what: "a caching web proxy: popular objects are read, others fetched, refreshed, evicted; \
               a worker has a cache of its own",
        source: "sizes: the lognormal body of Barford and Crovella 1998 (mu 9.357, sigma 1.318) \
                 without its tail; popularity: Zipf, exponents of 0.64 to 0.83 in Breslau et al. \
                 1999; weights and directories are our own choice",
        workload: whole(
            mix,
            Workers::Private { workers },
            ContentKind::Incompressible,
        ),
        how: manner(None),
    }
}

/// Pools that together take a 256th of the memory, 32 MiB to 128 MiB.
fn build_tree(machine: &Machine) -> Preset {
    let workers = workers(machine, 1, 64);
    let sizes = lognormal(4 * KIB, 1.5, 1, MIB);
    let mix = Mix {
        files: files(machine, 256, 32 * MIB, 128 * MIB, &sizes, workers),
        transactions: Workload::ENDLESS,
        weights: weights(&[
            (Action::Stat, 60),
            (Action::Read, 15),
            (Action::Create, 8),
            (Action::Delete, 8),
            (Action::Replace, 3),
            (Action::Rename, 2),
            (Action::ListWithStat, 1),
            (Action::SetAttributes, 1),
            (Action::MakeDirectory, 1),
            (Action::RemoveDirectory, 1),
        ]),
        size_max_bytes: sizes.high(),
        sizes,
        popularity: Popularity::Hot {
            files_percent: 10.0,
            accesses_percent: 50.0,
        },
        layout: layout(Shape::Tree { width: 6, depth: 3 }),
        names: Names {
            form: NameForm::Padded,
            length: 12,
        },
        ..Mix::default()
    };
    Preset {
        name: "build-tree",
        what: "compilers at work, each in a tree of its own: many stats, reads of sources, \
               short-lived outputs",
        source: "half of all files below 4 KiB: Agrawal et al. 2007, A Five-Year Study of \
                 File-System Metadata, and Meyer and Bolosky 2011, A Study of Practical \
                 Deduplication; all else is our own choice",
        workload: whole(
            mix,
            Workers::Private { workers },
            ContentKind::Compressible { ratio: 3.0 },
        ),
        how: manner(None),
    }
}

/// A pool of a 32nd of the memory, 128 MiB to 1 GiB.
fn ai_samples(machine: &Machine) -> Preset {
    let readers = machine.processors.saturating_mul(2).clamp(4, 64);
    // The mean is the median times exp(sigma squared / 2): 114.9 kB.
    let sizes = lognormal(99 * KIB, 0.5, 4 * KIB, MIB);
    let files = files(machine, 32, 128 * MIB, 1024 * MIB, &sizes, 1);
    let mix = Mix {
        files,
        transactions: Workload::ENDLESS,
        weights: weights(&[(Action::Read, 1)]),
        popularity: Popularity::Shuffled,
        size_max_bytes: sizes.high(),
        sizes,
        layout: layout(Shape::Subdirectories(100)),
        names: Names {
            form: NameForm::Padded,
            length: 12,
        },
        read_block_bytes: MIB,
        write_block_bytes: MIB,
        ..Mix::default()
    };
    Preset {
        name: "ai-samples",
        what: "loading samples to train a model: two readers for each processor read whole files \
               of a large set, in a new order for each epoch",
        source: "mean size 114,660 bytes: the ResNet-50 records of MLPerf Storage (ImageNet's \
                 pictures); their spread and directories are our own choice",
        workload: whole(
            mix,
            Workers::Shared {
                writers: 0,
                readers,
                pools: 1,
            },
            ContentKind::Incompressible,
        ),
        how: manner(None),
    }
}
