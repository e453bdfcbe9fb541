//! Presets of work on trees of files: builds, source trees, git, packages, containers and agents.

use super::preset::{Source, Values};
use super::row::Row;
use super::sources::*;

const SOURCE_CODE: &str = "Source code and packages";
const CONTAINERS: &str = "Containers and agents";

/// File sizes in the source tree of Go 1.19. Each bin contains the files between two powers of two.
/// Its bounds are the sizes of its smallest and its largest file.
const GO_SIZES: &str = "histogram:0..127=137,128..255=206,256..511=626,512..1023=670,\
                        1024..2047=744,2048..4082=755,4096..8185=729,8194..16335=549,\
                        16384..32670=304,32953..65535=166,65540..124875=59,132469..212331=9,\
                        269743..484988=20,530736..714520=9,1416934=1,10864368=1";
/// File sizes in a clone of Django, in bins like those of [`GO_SIZES`].
const DJANGO_SIZES: &str = "histogram:0..127=241,132..253=50,256..511=155,514..1023=575,\
                            1026..2045=727,2049..4086=578,4108..8183=638,8210..16328=302,\
                            16394..32766=346,32838..64603=50,68122..116736=13,163184..173566=2,\
                            285314..501907=5,10540630=1";
/// File sizes in the directory `node_modules` of a project, in bins like those of [`GO_SIZES`].
const NODE_SIZES: &str = "histogram:0..127=631,128..255=753,256..511=1365,512..1023=1580,\
                          1024..2047=1914,2049..4094=1158,4101..8186=1101,8213..16265=537,\
                          16384..32625=286,32983..64547=154,65566..129714=68,131615..259410=66,\
                          268996..447654=22,530459..1031269=13,1080227..2077071=5,2215296=1,\
                          6031103=1,8874208..9707520=2";
/// File sizes in Debian's required packages. Each bin covers all sizes between two powers of two.
const DEBIAN_SIZES: &str = "histogram:0..127=88,128..255=172,256..511=177,512..1023=839,\
                            1024..2047=821,2048..4095=678,4096..8191=258,8192..16383=261,\
                            16384..32767=230,32768..65535=259,65536..131071=143,\
                            131072..262143=76,262144..524287=31,524288..1048575=3,\
                            1048576..2097151=1,2097152..4194303=2";

const FOUR_TREES: Source =
    Source::own("four of these trees, so that random changes keep the pool's size");

/// Weights of all operations of a pnpm installation, except those that import a file from its
/// store.
const INSTALL: &[(&str, &str)] = &[
    ("workers", "1"),
    ("mix read", "10110"),
    ("mix stat", "20793"),
    ("mix mkdir", "2521"),
    ("mix rmdir", "2515"),
    ("mix symlink", "2784"),
    ("mix readlink", "34"),
    ("mix rename", "464"),
    ("mix set-attributes", "173"),
    ("mix list", "3780"),
];
/// Weights of failed look-ups and directories that exist already in this installation. The compound
/// operations `install-copy` and `install-clone` contain such calls.
const LOOK_UPS: &[(&str, &str)] = &[("mix stat-missing", "1930"), ("mix mkdir-existing", "1833")];
const NODE_TREE: &[(&str, &str)] = &[
    ("files", "9657"),
    ("size", NODE_SIZES),
    ("dirs", "tree:3x7"),
];

const INSTALL_LINK: Row = Row {
    name: "package-install-link",
    version: 1,
    group: SOURCE_CODE,
    application: "package installs that link files from a store (pnpm)",
    what: "files of a store are read and linked into a tree, with directories, symbolic links, \
           stats and failed look-ups; then the tree is removed",
    not_predicted: "the processor time of the package manager (--compute read=128us adds pnpm's), \
                    downloads, and removal in the order of directories",
    source: "calls and tree of pnpm (our traces)",
    values: &[
        Values {
            source: &PNPM,
            values: INSTALL,
        },
        Values {
            source: &PNPM,
            values: LOOK_UPS,
        },
        Values {
            source: &IMPORT,
            values: &[("mix link", "19128")],
        },
        Values {
            source: &NODE,
            values: NODE_TREE,
        },
    ],
};

const TURNS: Values = Values {
    source: &COMMANDS,
    values: &[(
        "phase turns",
        "mix=replace=11,stat=685762,stat-missing=1694,open-missing=180334,list=189112,read=125442",
    )],
};
const DISCARD: Values = Values {
    source: &FORK,
    values: &[("phase discard", "walk=remove-tree")],
};
/// The work tree of Django.
const WORKSPACE: Values = Values {
    source: &DJANGO,
    values: &[
        ("files", "3683"),
        ("size", DJANGO_SIZES),
        ("dirs", "tree:3x7"),
    ],
};

const AGENT: Row = Row {
    name: "agent",
    version: 1,
    group: CONTAINERS,
    application: "sandboxes of coding agents",
    what: "phases: a workspace is copied as by cp -r, used by tool calls (commands that walk the \
           work tree with stats, failed look-ups, listings and reads, and edits that replace \
           files), and removed",
    not_predicted: "the time of commands, which is mostly computing, and other commands than git \
                    status. A workspace made by overlayfs is not copied: see only the phase turns, \
                    with a mount of overlayfs as the target",
    source: "tool calls of TraceLab, calls of git status (our trace)",
    values: &[
        Values {
            source: &FORK,
            values: &[("workers", "1"), ("phase fork", "walk=copy-tree")],
        },
        TURNS,
        DISCARD,
        WORKSPACE,
    ],
};

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "build",
        version: 1,
        group: SOURCE_CODE,
        application: "compilers at work (configure, make -j2)",
        what: "stats, failed look-ups and opens, reads of sources, small outputs and appends to a \
               log",
        not_predicted: "other compilers than gcc for C: the processors are busy most of the time, \
                        so builds take about as long on every file system",
        source: "calls of a build of zlib (our trace), tree of Go",
        values: &[
            Values {
                source: &BUILD,
                values: &[
                    ("workers", "2"),
                    ("mix stat", "415"),
                    ("mix stat-missing", "214"),
                    ("mix open-missing", "190"),
                    ("mix read", "183"),
                    ("mix append", "112"),
                    ("mix create", "30"),
                    ("mix overwrite", "22"),
                    ("mix set-attributes", "6"),
                    ("mix rename", "4"),
                    ("mix copy", "1"),
                    ("append-size", "histogram:4..40=50,41..496=40,497..4096=10"),
                    ("read-block", "4096"),
                    ("write-block", "4096"),
                ],
            },
            Values {
                source: &BUILD_COMPUTE,
                values: &[("compute", "create=88ms")],
            },
            Values {
                source: &GO,
                values: &[("files", "4985"), ("size", GO_SIZES), ("dirs", "tree:7x3")],
            },
            Values {
                source: &Source::own("as many deletions as files are created and copied"),
                values: &[("mix delete", "31")],
            },
        ],
    },
    Row {
        name: "source-tree",
        version: 1,
        group: SOURCE_CODE,
        application: "work with a source tree (tar x, find, grep -r, cp -r, rm -rf)",
        what: "phases: a tree beside an earlier one is unpacked, its attributes are set, both are \
               scanned, read from the device, read from memory and copied, and the copies are \
               removed",
        not_predicted: "the processor time of the commands (--compute \
                        create=3us,read=7us,copy-tree=200us,remove-tree=100us adds it), and a \
                        scan without a cache, which needs root (use --cache cold with --mix \
                        list-stat=1)",
        source: "calls and tree of Go's sources (our traces)",
        values: &[
            Values {
                source: &TREE,
                values: &[
                    ("workers", "1"),
                    ("phase unpack", "walk=create"),
                    ("phase attributes", "walk=set-attributes"),
                    ("phase scan", "walk=list-stat"),
                    ("phase read-cold", "walk=read; cache=cold-data"),
                    ("phase read", "walk=read"),
                    ("phase copy", "walk=copy-tree"),
                    ("phase remove", "walk=remove-tree"),
                    ("write-block", "10240"),
                    ("read-block", "98304"),
                ],
            },
            Values {
                source: &GO,
                values: &[("files", "4985"), ("size", GO_SIZES), ("dirs", "tree:7x3")],
            },
        ],
    },
    Row {
        name: "git",
        version: 1,
        group: SOURCE_CODE,
        application: "git in a work tree (clone, status, checkout)",
        what: "phases: a clone beside an earlier one, a status and a checkout, with many stats \
               and failed look-ups, listings, files created and deleted, and computing",
        not_predicted: "git gc, and a first status: without a cache, or within a second of the \
                        clone, when git reads files again",
        source: "calls and tree of git on Django (our traces)",
        values: &[
            Values {
                source: &GIT,
                values: &[
                    ("workers", "1"),
                    (
                        "phase clone",
                        "mix=create=3694,stat=2577,stat-missing=6217,open-missing=2471,\
                         mkdir=2471,mkdir-existing=4,read=51,rename=16,set-attributes=11,delete=6,\
                         list=11; transactions=17529",
                    ),
                    (
                        "phase status",
                        "mix=stat=8912,stat-missing=26,open-missing=2342,open-close=52,\
                         read=1577,list=2456,create=1,rename=1; transactions=15367",
                    ),
                    (
                        "phase checkout",
                        "mix=stat=19923,stat-missing=454,open-missing=2530,open-close=9,\
                         read=534,create=3488,delete=3482,mkdir=102,rmdir=102,rename=4,list=4; \
                         transactions=30632",
                    ),
                    ("write-block", "16384"),
                ],
            },
            Values {
                source: &GIT_COMPUTE,
                values: &[("compute", "create=55us,stat=1us")],
            },
            WORKSPACE,
        ],
    },
    INSTALL_LINK,
    Row {
        name: "package-install-clone",
        application: "package installs that clone files of a store (pnpm, uv; btrfs, xfs)",
        what: "as package-install-link, but each file shares blocks with one of the store \
               (FICLONE), after a look-up of its name and a mkdir that fails",
        values: &[
            Values {
                source: &PNPM,
                values: INSTALL,
            },
            Values {
                source: &IMPORT,
                values: &[("mix install-clone", "9564"), ("mix delete", "9564")],
            },
            Values {
                source: &NODE,
                values: NODE_TREE,
            },
        ],
        ..INSTALL_LINK
    },
    Row {
        name: "package-install-copy",
        application: "package installs that copy files of a store (pnpm with \
                      package-import-method=copy)",
        what: "as package-install-link, but the kernel copies each file (copy_file_range), after \
               a look-up of its name and a mkdir that fails",
        values: &[
            Values {
                source: &PNPM,
                values: INSTALL,
            },
            Values {
                source: &IMPORT,
                values: &[("mix install-copy", "9564"), ("mix delete", "9564")],
            },
            Values {
                source: &NODE,
                values: NODE_TREE,
            },
        ],
        ..INSTALL_LINK
    },
    Row {
        name: "package-install-unpack",
        version: 1,
        group: SOURCE_CODE,
        application: "package installs that unpack archives (pip, npm)",
        what: "phases: files are written beside an earlier installation, each after stats, a \
               look-up of its name and a mkdir of its directory; then all files are removed",
        not_predicted: "the processor time of the package manager (--compute create=255us adds \
                        pip's), downloads and decompression",
        source: "calls of pip, tree of Django (our traces)",
        values: &[
            Values {
                source: &PIP,
                values: &[
                    ("workers", "1"),
                    (
                        "phase install",
                        "mix=create=3625,stat=3769,stat-missing=4704,mkdir=2431,\
                         mkdir-existing=2269; transactions=16798",
                    ),
                ],
            },
            Values {
                source: &Source::own(
                    "a removal of what was installed, in the order of directories",
                ),
                values: &[("phase remove", "walk=delete")],
            },
            WORKSPACE,
        ],
    },
    Row {
        name: "containers",
        version: 1,
        group: CONTAINERS,
        application: "container images (unpack layers, start, remove)",
        what: "files are created with their attributes, with directories and symbolic links; a \
               small share is read; all are removed",
        not_predicted: "downloads and decompression, the layers of overlayfs (copy-up), and \
                        images with large files",
        source: "files of Debian's required packages, calls of tar (our traces), share that is \
                 read of Harter et al.",
        values: &[
            Values {
                source: &DEBIAN,
                values: &[
                    ("size", DEBIAN_SIZES),
                    ("dirs", "tree:7x4"),
                    ("mix create", "4039"),
                    ("mix delete", "4039"),
                    ("mix mkdir", "695"),
                    ("mix rmdir", "695"),
                    ("mix symlink", "1074"),
                ],
            },
            Values {
                source: &LAYER,
                values: &[
                    ("workers", "1"),
                    ("mix set-attributes", "6379"),
                    ("mix list", "1042"),
                    ("write-block", "10240"),
                ],
            },
            Values {
                source: &SLACKER,
                values: &[("mix read", "258")],
            },
            Values {
                source: &FOUR_TREES,
                values: &[("files", "16156")],
            },
        ],
    },
    AGENT,
    Row {
        name: "agent-clone",
        application: "sandboxes of coding agents that clone a workspace (btrfs, xfs)",
        what: "as agent, but the files of the workspace share the blocks of the original ones, as \
               by cp -r --reflink",
        values: &[
            Values {
                source: &FORK,
                values: &[("workers", "1"), ("phase fork", "walk=clone-tree")],
            },
            TURNS,
            DISCARD,
            WORKSPACE,
        ],
        ..AGENT
    },
    Row {
        name: "agent-link",
        application: "sandboxes of coding agents that link the files of a workspace",
        what: "as agent, but the workspace contains hard links to the original files, as by \
               cp -rl: edits replace files, so the original ones keep their contents",
        values: &[
            Values {
                source: &FORK,
                values: &[("workers", "1"), ("phase fork", "walk=link-tree")],
            },
            TURNS,
            DISCARD,
            WORKSPACE,
        ],
        ..AGENT
    },
];
