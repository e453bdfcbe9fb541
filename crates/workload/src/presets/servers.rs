//! Presets of mail, news and web servers.

use super::preset::{Source, Values};
use super::row::Row;
use super::sources::*;

const MAIL: &str = "Mail and news";
const WEB: &str = "Web and media";

/// File sizes in a gamma distribution with mean 16,384 bytes and shape 1.5. Each weight is the
/// number of files in ten thousand.
const GAMMA: &str = "histogram:0..1023=204,1024..2047=342,2048..4095=840,4096..6143=903,\
                     6144..8191=888,8192..12287=1601,12288..16383=1305,16384..24575=1793,\
                     24576..32767=1007,32768..49151=823,49152..65535=219,65536..98303=69,\
                     98304..131071=4";

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "mail",
        version: 1,
        group: MAIL,
        application: "a mail server with one file for each message (Maildir: Dovecot, Postfix)",
        what: "deliver (write, fsync, rename, fsync of the directory), small synced appends, \
               renames that flag messages, reads, unsynced deletions, many stats, locks and \
               lock files",
        not_predicted: "the processor time of the server (--compute deliver=2100us adds \
                        Dovecot's), and appends to index files that messages share: here they go \
                        to messages",
        source: "calls of Dovecot (our trace), sizes of filebench's varmail",
        values: &[
            Values {
                source: &DOVECOT,
                values: &[
                    ("workers", "2"),
                    ("dirs", "subdirs:4"),
                    ("names", "maildir"),
                    ("mix deliver", "160"),
                    ("mix append", "1192"),
                    ("mix rename", "528"),
                    ("mix delete", "160"),
                    ("mix read", "408"),
                    ("mix list", "272"),
                    ("mix stat", "6996"),
                    ("mix stat-missing", "536"),
                    ("mix open-missing", "528"),
                    ("mix lock", "1180"),
                    ("mix lock-file", "400"),
                    ("mix read-mmap", "120"),
                    ("append-size", "histogram:8..72=1,73..204=1"),
                    ("write-block", "16384"),
                    ("read-block", "8192"),
                    ("durability", "append=fdatasync,deliver=fsync+dir"),
                ],
            },
            Values {
                source: &VARMAIL,
                values: &[("size", GAMMA)],
            },
            Values {
                source: &Source::own("1,250 messages in each of 4 mailboxes of a worker"),
                values: &[("files", "5000")],
            },
        ],
    },
    Row {
        name: "mail-expunge",
        version: 1,
        group: MAIL,
        application: "deletion of many messages from a Maildir",
        what: "renames that flag messages as deleted, deletions without sync, small synced \
               appends to index files, listings",
        not_predicted: "the processor time of the server (--compute delete=280us adds Dovecot's), \
                        and a mailbox that becomes empty: here new files replace the deleted ones",
        source: "calls of Dovecot (our trace), sizes of filebench's varmail",
        values: &[
            Values {
                source: &EXPUNGE,
                values: &[
                    ("workers", "2"),
                    ("dirs", "subdirs:4"),
                    ("names", "maildir"),
                    ("mix rename", "160"),
                    ("mix delete", "160"),
                    ("mix append", "246"),
                    ("mix list", "104"),
                    ("mix stat", "1296"),
                    ("mix stat-missing", "96"),
                    ("mix open-missing", "16"),
                    ("mix lock", "224"),
                    ("mix read-mmap", "96"),
                    (
                        "append-size",
                        "histogram:8=25,9..32=25,33..104=25,105..192=15,193..618=10",
                    ),
                    ("durability", "append=fdatasync"),
                ],
            },
            Values {
                source: &VARMAIL,
                values: &[("size", GAMMA)],
            },
            Values {
                source: &Source::own(
                    "the pool of mail, as many new files as deletions, and as many lock files for \
                     each missing name as in the session of mail",
                ),
                values: &[
                    ("files", "5000"),
                    ("mix create", "160"),
                    ("mix lock-file", "72"),
                ],
            },
        ],
    },
    Row {
        name: "varmail",
        version: 1,
        group: MAIL,
        application: "a comparison with filebench's varmail",
        what: "create and fsync, append and fsync, read, delete; 16 workers, each with 1,000 \
               files in a directory of its own",
        not_predicted: "a Maildir server (use mail): varmail syncs no directory and writes no \
                        index, and its processor-bound reads weigh too much",
        source: "filebench's personality varmail",
        values: &[
            Values {
                source: &VARMAIL,
                values: &[
                    ("workers", "16"),
                    ("files", "1000"),
                    ("size", GAMMA),
                    ("mix delete", "1"),
                    ("mix create", "1"),
                    ("mix append", "1"),
                    ("mix read", "2"),
                    ("append-size", "1..16KiB"),
                    ("read-block", "1MiB"),
                    ("write-block", "1MiB"),
                    ("durability", "fsync"),
                ],
            },
            Values {
                source: &Source::own("a bound for files that are never deleted"),
                values: &[("size-max", "1MiB")],
            },
        ],
    },
    Row {
        name: "news",
        version: 1,
        group: MAIL,
        application: "a news server with one file for each article (INN with tradspool)",
        what: "articles are created without sync, linked, read through mmap and deleted; each \
               comes with small appends, locks and stats",
        not_predicted: "the processor time of the server (--compute create=130us adds INN's), and \
                        expiry in the order of a group: here articles are deleted at random",
        source: "calls of INN (our trace), sizes of Usenet in 1995",
        values: &[
            Values {
                source: &INN,
                values: &[
                    ("workers", "1"),
                    ("dirs", "tree:8x2"),
                    ("names", "decimal"),
                    ("mix create", "3059"),
                    ("mix delete", "3059"),
                    ("mix link", "584"),
                    ("mix append", "9873"),
                    ("mix lock", "3357"),
                    ("mix read-mmap", "2498"),
                    ("mix stat", "12709"),
                    ("append-size", "histogram:56=1,98=1,145=1"),
                ],
            },
            Values {
                source: &KATCHER,
                values: &[("files", "20000")],
            },
            Values {
                source: &Source::own(
                    "exponential with the mean of Usenet flow analysis (inpaths), June 1995: \
                     527.8 MB in 175,927 articles",
                ),
                values: &[("size", "exponential:mean=3000,max=128KiB")],
            },
        ],
    },
    Row {
        name: "web-cache",
        version: 1,
        group: WEB,
        application: "a caching web proxy with one file for each object (nginx, Squid)",
        what: "popular objects are read; missing ones are looked up, created under a temporary \
               name and renamed, with directories made on demand; old ones are deleted",
        not_predicted: "the time that the proxy spends in sockets and in its processor (--compute \
                        read=34us,create=34us adds nginx's)",
        source: "calls of nginx (our trace), sizes of Barford and Crovella, popularity of Breslau \
                 et al.",
        values: &[
            Values {
                source: &NGINX,
                values: &[
                    ("workers", "1"),
                    ("files", "6000"),
                    ("dirs", "tree:64x2"),
                    ("names", "hashed:32"),
                    ("mix read", "2092"),
                    ("mix open-missing", "1902"),
                    ("mix create", "1917"),
                    ("mix rename", "1917"),
                    ("mix set-attributes", "1917"),
                    ("mix delete", "1917"),
                    ("mix mkdir-existing", "1536"),
                    ("mix mkdir", "1569"),
                    ("mix rmdir", "1569"),
                    ("write-block", "36864"),
                ],
            },
            Values {
                source: &BARFORD,
                values: &[("size", "lognormal:median=11579,sigma=1.318,max=133000")],
            },
            Values {
                source: &BRESLAU,
                values: &[("popularity", "zipf:0.8")],
            },
        ],
    },
    Row {
        name: "photo-store",
        version: 1,
        group: WEB,
        application: "photos in several sizes, one file each",
        what: "whole pictures are read in random order, others are added and deleted",
        not_predicted: "a store that only grows, and one that packs many pictures into a file",
        source: "numbers of Facebook's photo store (Haystack)",
        values: &[
            Values {
                source: &HAYSTACK,
                values: &[
                    ("size", "histogram:8KiB=70,64KiB=30"),
                    ("dirs", "subdirs:100"),
                    ("mix read", "1000"),
                    ("mix create", "144"),
                ],
            },
            Values {
                source: &Source::own(
                    "200 pictures in a directory, one worker, and as many deletions as creations, \
                     so that the pool keeps its size",
                ),
                values: &[("files", "20000"), ("workers", "1"), ("mix delete", "144")],
            },
        ],
    },
];
