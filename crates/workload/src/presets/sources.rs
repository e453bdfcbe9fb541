//! The sources of the presets' numbers. Counts from traces are numbers of system calls that
//! `strace` recorded on ext4.

use super::preset::Source;

pub(super) const DOVECOT: Source = Source::of(
    "our trace of Dovecot 2.3.19 on ext4, 2026-11-24: calls for 160 messages in 8 mailboxes, \
     delivered by LMTP with mail_fsync=always, read, flagged and expunged by IMAP, 2 connections",
);
pub(super) const EXPUNGE: Source = Source::of(
    "our trace of Dovecot 2.3.19 on ext4, 2026-11-26: calls to flag 160 messages in 8 mailboxes as \
     deleted and expunge them by fours, mail_fsync=always, 2 connections",
);
pub(super) const VARMAIL: Source = Source::of(
    "filebench 1.5-alpha3, workloads/varmail.f: 1,000 files, sizes by a gamma distribution with \
     mean 16,384 and shape 1.5, 16 threads, appends of up to 16 KiB, calls of 1 MiB, fsync",
);
pub(super) const INN: Source = Source::of(
    "our trace of INN 2.7.1 (tradspool, tradindexed) on ext4, 2026-11-24: calls to feed 3,000 \
     articles to 64 groups, read 2,000 and expire all, one process at a time",
);
pub(super) const KATCHER: Source = Source::of(
    "J. Katcher, PostMark: A New File System Benchmark, Network Appliance TR3022, 1997, Table 2: \
     20,000 files",
);
pub(super) const NGINX: Source = Source::of(
    "our trace of nginx 1.22 (proxy_cache, levels=1:2) on ext4, 2026-11-24: calls for 4,000 \
     requests of 6,000 objects by one worker process, and for the removal of the cache",
);
pub(super) const BARFORD: Source = Source::of(
    "P. Barford and M. Crovella, Generating Representative Web Workloads for Network and Server \
     Performance Evaluation, SIGMETRICS 1998: body of the file sizes (mu 9.357, sigma 1.318) up to \
     the beginning of the tail (133 kB)",
);
pub(super) const BRESLAU: Source = Source::of(
    "L. Breslau et al., Web Caching and Zipf-like Distributions: Evidence and Implications, \
     INFOCOM 1999: exponents from 0.64 to 0.83",
);
pub(super) const HAYSTACK: Source = Source::of(
    "D. Beaver et al., Finding a Needle in Haystack: Facebook's Photo Storage, OSDI 2010: 10 \
     billion photos read and 1.44 billion written a day (Table 3), 70 % of 8 KB and 30 % of 64 KB \
     (section 4.4.2, workload B), hundreds of images in a directory (section 2)",
);
pub(super) const BUILD: Source = Source::of(
    "our trace of a C build on ext4, 2026-11-24: calls of zlib 1.2.13's configure and make -j2 in \
     its tree",
);
pub(super) const BUILD_COMPUTE: Source = Source::of(
    "our measurement of zlib 1.2.13's configure and make -j2, 2026-11-27: 2.65 s of user time, \
     divided by the 30 files that the trace creates",
);
pub(super) const GO: Source = Source::of(
    "our measurement of Go 1.19's source tree, 2026-11-24: 4,985 files, 396 directories, median \
     depth 4",
);
pub(super) const TREE: Source = Source::of(
    "our traces of tar x, find, grep -r, du, cp -r and rm -rf of Go 1.19's source tree (4,985 \
     files) on ext4, 2026-11-24: a phase for each command, and sizes of calls",
);
pub(super) const GIT: Source = Source::of(
    "our traces of git clone, status, and checkout to another release and back (Django, 3,683 \
     files) on ext4, 2026-11-24: calls of each command",
);
pub(super) const GIT_COMPUTE: Source = Source::of(
    "our measurement of git 2.39.5, 2026-11-27: median user time of 5 commands in a work tree of \
     3,683 files: status 10 ms, clone 202 ms, checkout of 1,831 changed files there and back \
     220 ms",
);
pub(super) const DJANGO: Source = Source::of(
    "our measurement of a clone of Django, 2026-11-24: 3,683 files and 2,472 directories, median \
     depth 7, 2 files in a directory",
);
pub(super) const PNPM: Source = Source::of(
    "our traces of pnpm 9.15.9 install --offline (react, vite, eslint, jest, webpack, typescript: \
     9,657 files) and of rm -rf of the project, on ext4, 2026-11-24: sum of their calls",
);
pub(super) const NODE: Source = Source::of(
    "our measurement of node_modules after pnpm install, 2026-11-24: 9,657 files, 2,516 \
     directories, median depth 7",
);
pub(super) const IMPORT: Source = Source::of(
    "our trace of pnpm 9.15.9, 2026-11-24: each of the 9,564 links is a file of this kind instead, \
     as package-import-method sets it, and is removed",
);
pub(super) const PIP: Source = Source::of(
    "our trace of pip 23.2.1 install --prefix of Django 4.2.11 from a wheel (3,625 files, not \
     compiled) on ext4, 2026-11-28: its calls on the file system",
);
pub(super) const DEBIAN: Source = Source::of(
    "our measurement of the packages with priority required of Debian 12, 2026-11-26: 4,039 files, \
     695 directories, 537 symbolic links (each made and removed)",
);
pub(super) const LAYER: Source = Source::of(
    "our traces of tar x and rm -rf on ext4, 2026-11-24: 3.16 calls that set attributes for each \
     file (two in each operation), 1.5 listings for each directory, writes of 10,240 bytes, one \
     process",
);
pub(super) const SLACKER: Source = Source::of(
    "T. Harter et al., Slacker: Fast Distribution with Lazy Docker Containers, FAST 2016: a \
     container reads 6.4 % of its image to start",
);
pub(super) const COMMANDS: Source = Source::own(
    "11 edits and 77 commands a session: TraceLab, University of Washington, 2026 (CC BY 4.0), \
     432,510 tool calls in 4,265 sessions; each command is one git status with the calls of our \
     trace of 2026-11-24: that commands are git status is our own choice",
);
pub(super) const FORK: Source = Source::of(
    "our measurement of a clone of Django, 2026-11-24: a session copies this workspace (3,683 \
     files, 2,472 directories) and removes it",
);
pub(super) const RESNET: Source = Source::of(
    "MLPerf Storage, configs/dlio/workload/resnet50_h100.yaml: records of 114,660 bytes, 8 read \
     threads; each sample is read once an epoch, in random order",
);
pub(super) const IMAGENET: Source = Source::of(
    "O. Russakovsky et al., ImageNet Large Scale Visual Recognition Challenge, IJCV 115, 2015: \
     1,000 classes, a directory each",
);
pub(super) const LLAMA: Source = Source::of(
    "MLPerf Storage v2.0, its rules (8 processes) and configs/dlio/workload/llama3_8b.yaml: 10 \
     checkpoints written and 10 read, fsync; a file is a process's part of one layer in fp16 \
     (hidden size 4,096, feed-forward 14,336, 8 of 32 heads for keys and values: 218,112,000 \
     parameters / 8 * 2 bytes)",
);
pub(super) const MDTEST_EASY: Source = Source::of(
    "IO500's mdtest-easy: empty files, a directory for each process, phases create, stat, delete; \
     10 processes, one for each node of the 10 Node list",
);
pub(super) const MDTEST_HARD: Source = Source::of(
    "IO500's mdtest-hard (-w 3901 -e 3901): files of 3,901 bytes in one shared directory, phases \
     create, stat, read, delete; 10 processes, one for each node of the 10 Node list",
);
