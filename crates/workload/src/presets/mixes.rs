//! Presets of current applications, sized for the machine. Each preset names the published source
//! of its values. Values without a source are marked as our own choice.

use std::fmt::Display;
use std::str::FromStr;

use super::preset::{Machine, Manner, Preset, RUN_FOR_S};
use crate::contents::ContentSpec;
use crate::mix::{Mix, Think};
use crate::popularity::Popularity;
use crate::sizes::Sizes;
use crate::whole::{Work, WorkerSeeds, Workers, Workload};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// A preset, with values in the text form of command-line options.
struct Row {
    name: &'static str,
    what: &'static str,
    source: &'static str,
    /// Determines the total size of all pools: the memory size divided by the first number, but at
    /// least the second and at most the third number in MiB.
    memory: (u64, u64, u64),
    workers: fn(&Machine) -> Workers,
    weights: &'static str,
    sizes: &'static str,
    dirs: &'static str,
    names: &'static str,
    contents: &'static str,
    durability: Option<&'static str>,
    /// Changes further parameters of the default mix.
    more: fn(&mut Mix),
}

const ROWS: [Row; 6] = [
    // The pool is small, because it takes long to create: with `fsync+dir`, each file and its
    // directory are synced.
    Row {
        name: "mail",
        what: "a mail server on Maildir: deliver, read, flag (rename), list, expunge; a worker \
               has 16 mailboxes of its own",
        source: "delivery as in D. J. Bernstein, Using maildir format (write in tmp, sync, rename \
                 into new); weights and sizes are our own choice",
        memory: (512, 16, 64),
        workers: |machine| private(machine.processors.clamp(2, 64)),
        weights: "deliver=4,read=6,rename=4,delete=4,list=2",
        sizes: "lognormal:median=8KiB,sigma=1.3,max=1MiB,min=512",
        dirs: "subdirs:16",
        names: "maildir",
        contents: "compressible:2",
        durability: Some("fsync+dir"),
        more: |mix| mix.layout.maildir = true,
    },
    // Filebench's personality varmail has 16 threads, each of which performs the complete loop of
    // operations. The 16 workers have private pools, because in a shared pool each worker either
    // writes or only reads. The smallest pools together contain about 1,000 files, as in the
    // personality.
    Row {
        name: "varmail",
        what: "like filebench's varmail: create and sync, append and sync, read, delete; 16 \
               workers, each in a directory of its own",
        source: "filebench's personality varmail (1,000 files around 16 KiB, 16 threads, two \
                 reads for each creation, append and deletion, appends up to 16 KiB, calls of 1 \
                 MiB, fsync); a directory each and exponential for its gamma sizes are our own \
                 choice",
        memory: (512, 16, 64),
        workers: |_| private(16),
        weights: "delete=1,create=1,append=1,read=2",
        sizes: "exponential:mean=16KiB,max=256KiB",
        dirs: "flat",
        names: "decimal",
        contents: "incompressible",
        durability: Some("fsync"),
        more: |mix| {
            let (low, high) = (1, 16 * KIB);
            mix.append_sizes = Sizes::Uniform { low, high };
            mix.size_max_bytes = MIB;
            (mix.read_block_bytes, mix.write_block_bytes) = (MIB, MIB);
        },
    },
    // The think time limits the rate of operations, so that the readers do not finish long before
    // the feed (the writer).
    Row {
        name: "news",
        what: "a netnews spool: one feed files, crossposts (links) and expires articles in 256 \
               groups, others read them",
        source: "bounds of sizes from Katcher's PostMark paper, section II (one to over one \
                 hundred kilobytes), single writer/multiple readers from its section VI; weights, \
                 think time and the sizes' shape are our own choice",
        memory: (256, 32, 128),
        workers: |machine| shared(1, machine.processors.clamp(2, 64)),
        weights: "create=10,link=1,delete=10,read=20,stat=2,list=1",
        sizes: "lognormal:median=3KiB,sigma=1.0,max=128KiB,min=1KiB",
        dirs: "tree:16x2",
        names: "decimal",
        contents: "compressible:2",
        durability: None,
        more: |mix| mix.think = Think::Exponential(500_000),
    },
    // The median of a lognormal distribution is exp(mu). With mu 9.357 it is 11,579 bytes.
    Row {
        name: "web-cache",
        what: "a caching web proxy: popular objects are read, others fetched, refreshed, evicted; \
               a worker has a cache of its own",
        source: "sizes: the lognormal body of Barford and Crovella 1998 (mu 9.357, sigma 1.318) \
                 without its tail; popularity: Zipf, exponents of 0.64 to 0.83 in Breslau et al. \
                 1999; weights and directories are our own choice",
        memory: (128, 64, 256),
        workers: |machine| private(machine.processors.clamp(1, 64)),
        weights: "read=10,create=4,delete=4,replace=2",
        sizes: "lognormal:median=11579,sigma=1.318,max=1MiB",
        dirs: "tree:16x2",
        names: "hashed:32",
        contents: "incompressible",
        durability: None,
        more: |mix| mix.popularity = Popularity::Zipf { exponent: 0.8 },
    },
    Row {
        name: "build-tree",
        what: "compilers at work, each in a tree of its own: many stats, reads of sources, \
               short-lived outputs",
        source: "half of all files below 4 KiB: Agrawal et al. 2007, A Five-Year Study of \
                 File-System Metadata, and Meyer and Bolosky 2011, A Study of Practical \
                 Deduplication; all else is our own choice",
        memory: (256, 32, 128),
        workers: |machine| private(machine.processors.clamp(1, 64)),
        weights: "stat=60,read=15,create=8,delete=8,replace=3,rename=2,list-stat=1,\
                  set-attributes=1,mkdir=1,rmdir=1",
        sizes: "lognormal:median=4KiB,sigma=1.5,max=1MiB",
        dirs: "tree:6x3",
        names: "padded:12",
        contents: "compressible:3",
        durability: None,
        more: |mix| mix.popularity = of("hot:10%/50%"),
    },
    // The mean size is 114.9 kB: the median (99 KiB) times exp(sigma squared / 2), with sigma 0.5.
    Row {
        name: "ai-samples",
        what: "loading samples to train a model: two readers for each processor read whole files \
               of a large set, in a new order for each epoch",
        source: "mean size 114,660 bytes: the ResNet-50 records of MLPerf Storage (ImageNet's \
                 pictures); their spread and directories are our own choice",
        memory: (32, 128, 1024),
        workers: |machine| shared(0, machine.processors.saturating_mul(2).clamp(4, 64)),
        weights: "read=1",
        sizes: "lognormal:median=99KiB,sigma=0.5,max=1MiB,min=4KiB",
        dirs: "subdirs:100",
        names: "padded:12",
        contents: "incompressible",
        durability: None,
        more: |mix| {
            mix.popularity = Popularity::Shuffled;
            (mix.read_block_bytes, mix.write_block_bytes) = (MIB, MIB);
        },
    },
];

fn private(workers: u32) -> Workers {
    Workers::Private { workers }
}

fn shared(writers: u32, readers: u32) -> Workers {
    Workers::Shared {
        writers,
        readers,
        pools: 1,
    }
}

fn of<T: FromStr<Err: Display>>(text: &str) -> T {
    text.parse()
        .unwrap_or_else(|wrong| unreachable!("{text}: {wrong}"))
}

pub(super) fn all(machine: &Machine) -> Vec<Preset> {
    ROWS.iter().map(|row| row.preset(machine)).collect()
}

impl Row {
    fn preset(&self, machine: &Machine) -> Preset {
        let sizes: Sizes = of(self.sizes);
        let workers = (self.workers)(machine);
        let mut mix = Mix {
            files: self.files(machine, &sizes, workers.pools()),
            transactions: Workload::ENDLESS,
            weights: of(self.weights),
            size_max_bytes: sizes.high(),
            sizes,
            names: of(self.names),
            ..Mix::default()
        };
        mix.layout.shape = of(self.dirs);
        (self.more)(&mut mix);
        let (kind, dedup) = (of(self.contents), 1.0);
        Preset {
            name: self.name,
            what: self.what,
            source: self.source,
            workload: Workload {
                work: Work::Mix(mix),
                workers,
                worker_seeds: WorkerSeeds::Offset,
                contents: Some(ContentSpec { kind, dedup }),
            },
            how: Manner {
                durability: self.durability,
                run_for_s: Some(RUN_FOR_S),
            },
        }
    }

    fn files(&self, machine: &Machine, sizes: &Sizes, pools: u32) -> u64 {
        let (part, low, high) = self.memory;
        let bytes = (machine.memory_bytes / part).clamp(low * MIB, high * MIB);
        let files = bytes as f64 / sizes.mean() / f64::from(pools);
        // Rounded down to a multiple of ten, because round numbers are easier to read.
        (files as u64 / 10 * 10).max(10)
    }
}
