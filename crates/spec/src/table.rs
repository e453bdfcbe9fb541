//! The option table. Each row contains everything about one option except its use.
//!
//! A row begins with the help (the doc comment), attributes for the command line and for
//! configuration files, the name and the type. The first sentence of the help is the option's line
//! in `-h`. Two functions follow: one returns the option's value from a spec, and the other applies
//! a value to the draft of a spec. The text for reports follows after `shows`; the number after
//! `shows` determines its order in reports.
//!
//! `(alone)` marks an option that a study sets for its runs. If the help contains `[default: _`,
//! the default is inserted from a run spec to which no option was applied (`help.rs`). Options are
//! applied in the order of the table. If the second function of an option does nothing, the
//! function of a related option reads its value. An option of type `bool` also has the form
//! `--no-OPTION` on the command line.

/// Passes the option table to a macro.
macro_rules! option_table {
    ($then:ident) => { $then! {
"What to run" {
    /// Replay the operations of this trace.
    ///
    /// The trace is text of strace -f, or packets with calls of NFS version 3. It determines files,
    /// operations and workers. 'postmark replay' is a run with this option.
    #[arg(value_name = "FILE")]
    replay: PathBuf =>
        |s| replay(s, |r| PathBuf::from(&r.trace)), |_, _| (),
        shows 0 => |s| replay(s, |r| format!("replay of a trace ({})", r.timing));
    /// Replay only files of the trace below DIR.
    ///
    /// The default is the deepest directory that contains 95 % of all changes.
    #[arg(value_name = "DIR")]
    below: PathBuf =>
        |s| replay(s, |r| r.below.as_ref().map(PathBuf::from)).flatten(), |_, _| ();
    /// Start times of a replay: asap, pauses or traced [default: asap].
    ///
    /// With asap, an operation starts when its worker and the operations on which it depends are
    /// ready. With pauses, the worker first computes and sleeps as long as its thread did between
    /// its operations, without the cost of strace. With traced, an operation starts at its time in
    /// the trace, and latencies count from then.
    #[arg(value_name = "WHEN")]
    timing: Timing => |s| replay(s, |r| r.timing), |_, _| ();
    /// CPU time of the command without strace.
    ///
    /// With --timing pauses, the time of computing is adapted to it, because strace also slows what
    /// happens between calls. Give the sum of user and sys that time(1) shows without strace.
    #[arg(value_name = "TIME")]
    cpu_time: Time => |s| replay(s, |r| r.cpu_ns.map(Time)).flatten(), |_, _| ();
    /// Most operations of a replay [default: 5M].
    ///
    /// A trace with more is refused. A million operations take up to 400 MB of memory.
    #[arg(value_name = "N")]
    limit_operations: Count => limit, |_, _| ();
}

"Load" {
    /// Measure for this time, like 2m [default: 10s].
    ///
    /// The default applies if nothing else ends the transactions: --transactions, --steady, the
    /// presets of papers, or --compat. With --transactions, the run ends at whichever limit comes
    /// first.
    #[arg(long = "for", value_name = "TIME")]
    #[serde(rename = "for")]
    run_for: Time =>
        |s| load_options::run_for(&s.drive), load_options::set_run_for,
        shows 2 => |s| load::shown_stop(&s.drive);
    /// Transactions of each worker, like 100k.
    ///
    /// A transaction of a mix is one operation; a classic transaction is a pair.
    #[arg(value_name = "N")]
    transactions: Count =>
        load_options::transactions,
        |d, Count(n)| d.spec.workload = d.spec.workload.with_transactions(n);
    /// Run this long before measuring [default: 0s].
    #[arg(value_name = "TIME")]
    warm_up: Time =>
        |s| load_options::warm_up(&s.drive), |d, time| d.spec.drive.warm_up = time.duration(),
        shows 3 => |s| load::shown_warm_up(&s.drive);
    /// Offer this many transactions/s (open loop).
    ///
    /// The rate is that of all workers together. Latencies are then response times, from the due
    /// time to completion. Without this option, each transaction starts when the previous one ends
    /// (closed loop).
    #[arg(value_name = "RATE", allow_negative_numbers = true)]
    rate: PerSecond =>
        |s| s.drive.rate().map(PerSecond), load_options::set_rate,
        shows 4 => |s| load::shown_rate(&s.drive);
    /// Arrivals: constant or poisson [default: poisson].
    ///
    /// They apply to --rate and --sweep.
    #[arg(value_name = "FORM")]
    arrivals: ArrivalProcess => |s| load_options::arrivals(&s.drive), |_, _| ();
    /// Run until the rate is steady by this rule.
    ///
    /// The rule applies to the last five rounds, and these rounds are reported. The run ends after
    /// --for at the latest [default: 25 rounds].
    #[arg(value_enum, value_name = "RULE")]
    steady: SteadyRule => |s| s.drive.steady().map(|steady| steady.rule), load_options::set_steady;
    /// Length of a round for --steady [default: 10s].
    #[arg(value_name = "TIME")]
    round: Time => |s| s.drive.steady().map(|steady| Time(steady.round_ns)), |_, _| ();
    /// Measure load levels, to find the saturation rate.
    ///
    /// LOADS is auto, rates like 1000,2000,4000 or 1000..8000:8 (8 rates), percentages of the
    /// closed loop's rate like 30%,60%,90%, worker counts (of each rank) like workers=1,2,4, or
    /// rank counts like ranks=1,2,4. Loads rise. Each level measures for --for [default: 10s] after
    /// --warm-up [default: 2s].
    ///
    /// With ranks=..., the first ranks that mpirun or srun has started perform a level, each with
    /// its workers; the others wait.
    ///
    /// A sweep of rates adds up to six levels near the saturation rate, and up to six near the SLO.
    #[arg(value_name = "LOADS")]
    sweep: SweepOption =>
        levels, load_options::set_sweep,
        shows 1 => |s| load::shown_sweep(&s.drive), (alone);
    /// Find the highest load of the sweep with this p99.
    ///
    /// With 'p99<10ms', 99 % of all operations must be faster than this time. With the name of an
    /// operation, like 'deliver.p99<10ms', 99 % of the operations of this kind must be.
    #[arg(value_name = "SLO")]
    slo: SloOption => |s| sweep(s, Sweep::slo), |_, _| (), (alone);
    /// Create a new pool for each level of the sweep.
    ///
    /// --sweep workers=... and ranks=... always do.
    fresh: bool => |s| sweep(s, |sweep| on(sweep.fresh)), |_, _| (), (alone);
}

"Workload" {
    /// Files in the initial pool, like 20k [default: _].
    ///
    /// With private pools, each worker has this number.
    #[arg(value_name = "N")]
    files: Count =>
        |s| Some(Count(s.workload.files())),
        |d, Count(n)| d.spec.workload = d.spec.workload.with_files(n);
    /// Multiply the files of the preset by this number.
    ///
    /// Presets are the same on every machine. This makes their pool larger; the directories and
    /// all other values remain.
    #[arg(value_name = "N")]
    scale: Count => |_| None, work::set_scale;
    /// Choose --files by size, like 100GiB or 4x (caches).
    ///
    /// The pool has this total size: bytes, or a multiple of the page cache. A short calibration on
    /// the target estimates how long the run takes.
    #[arg(value_name = "SIZE", allow_hyphen_values = true)]
    working_set: WorkingSet => |_| None, |_, _| (), (alone);
    /// Sizes of new files, like 4KiB [default: _].
    ///
    /// Mixes also take a distribution: lognormal:median=8KiB,sigma=1.2,max=1MiB,
    /// exponential:mean=16KiB,max=1MiB, histogram:0..1KiB=30,1KiB..8KiB=50 or histogram@FILE.
    #[arg(value_name = "SIZES")]
    size: SizesOption => |s| Some(work::sizes(s)), work::set_sizes;
    /// Bytes of a read call [default: 512; for mixes 64KiB].
    #[arg(value_name = "BYTES")]
    read_block: Bytes =>
        |s| Some(Bytes(s.workload.read_block_bytes())),
        |d, Bytes(n)| d.either(|c| c.read_block_bytes = n, |m| m.read_block_bytes = n);
    /// Bytes of a write call [default: 512; for mixes 64KiB].
    #[arg(value_name = "BYTES")]
    write_block: Bytes =>
        |s| Some(Bytes(s.workload.write_block_bytes())),
        |d, Bytes(n)| d.either(|c| c.write_block_bytes = n, |m| m.write_block_bytes = n);
    /// Subdirectories of a target, like 100 [default: _].
    ///
    /// With 1 (or flat), files lie in the target itself. Mixes also take tree:10x3: 10
    /// subdirectories in each directory, 3 levels.
    #[arg(value_name = "N|FORM")]
    dirs: DirsOption => |s| Some(work::dirs(s)), work::set_dirs;
    /// Reads against appends, in tenths [default: _].
    ///
    /// This is the chance of a read in a classic transaction; -1 disables both operations.
    #[arg(value_name = "0..10", allow_negative_numbers = true, value_parser = bias)]
    #[serde(default, deserialize_with = "bias_in_file")]
    bias_read: i64 =>
        |s| classic(s, |c| Some(c.bias_read.into())),
        |d, tenths| d.set_bias(tenths, |c, bias| c.bias_read = bias);
    /// Creates against deletes, in tenths [default: _].
    ///
    /// This is the chance of a create in a classic transaction; -1 disables both operations.
    #[arg(value_name = "0..10", allow_negative_numbers = true, value_parser = bias)]
    #[serde(default, deserialize_with = "bias_in_file")]
    bias_create: i64 =>
        |s| classic(s, |c| Some(c.bias_create.into())),
        |d, tenths| d.set_bias(tenths, |c, bias| c.bias_create = bias);
    /// Seed of the random generator [default: _].
    #[arg(value_name = "N")]
    seed: Count => |s| Some(Count(s.workload.seed())), work::set_seed;
    /// Contents of files [default: text; for mixes incompressible].
    ///
    /// The contents are text, incompressible or compressible:RATIO.
    #[arg(value_name = "KIND")]
    contents: ContentKind =>
        |s| s.workload.contents.map(|contents| contents.kind),
        |d, kind| d.contents().kind = kind;
    /// Deduplication ratio of the contents [default: 1].
    ///
    /// This is the number of 4 KiB blocks divided by the number of different ones. With 1, every
    /// block is unique.
    #[arg(value_name = "RATIO", value_parser = real)]
    #[serde(default, deserialize_with = "real_in_file", serialize_with = "real_to_file")]
    dedup: f64 =>
        |s| s.workload.contents.map(|contents| contents.dedup),
        |d, ratio| d.contents().dedup = ratio;
    /// Keep the pool for a later run.
    ///
    /// A shared pool requires --transactions 0.
    keep: bool =>
        |s| on(s.keeping.keep), |d, keep| d.spec.keeping.keep = keep,
        shows 14 => |s| when(s.keeping.keep, "pool kept for a later run"), (alone);
    /// Use the pool that an earlier run kept.
    ///
    /// That run must have had the same workload, or no transactions and the same files.
    reuse: bool =>
        |s| on(s.keeping.reuse), |d, reuse| d.spec.keeping.reuse = reuse,
        shows 13 => |s| when(s.keeping.reuse, "pool of an earlier run"), (alone);
}

"Mix" {
    /// Weights of operations instead of classic pairs.
    #[arg(long_help = mix_help(), value_name = "WEIGHTS")]
    mix: Weights =>
        weights, |d, weights| d.mix(|m| m.weights = weights);
    /// Sizes of appends, in the form of --size.
    ///
    /// By default, an append has from 1 byte to the size of the largest new file.
    #[arg(value_name = "SIZES")]
    append_size: SizesOption =>
        |s| mix(s, |m| Some(SizesOption::Distribution(m.append_sizes.clone()))),
        |d, sizes| d.set_sizes("--append-size", &sizes, |m, sizes| m.append_sizes = sizes);
    /// Sizes of range reads, in the form of --size [default: _].
    #[arg(value_name = "SIZES")]
    range_size: SizesOption =>
        |s| mix(s, |m| Some(SizesOption::Distribution(m.range_sizes.clone()))),
        |d, sizes| d.set_sizes("--range-size", &sizes, |m, sizes| m.range_sizes = sizes);
    /// Largest size to which appends grow a file.
    ///
    /// By default, this is the size of the largest new file.
    #[arg(value_name = "BYTES")]
    size_max: Bytes => |s| mix(s, |m| Some(Bytes(m.size_max_bytes))), work::set_size_max;
    /// Choice of files, like zipf:0.99 [default: _].
    ///
    /// FORM is uniform, zipf:0.99, hot:10%/90% (10 % of the files get 90 % of the operations) or
    /// shuffled (every file once, then again).
    #[arg(value_name = "FORM")]
    popularity: Popularity =>
        |s| mix(s, |m| Some(m.popularity)), |d, form| d.mix(|m| m.popularity = form);
    /// Maximum number of entries in each directory.
    #[arg(value_name = "N")]
    entries_max: Count =>
        |s| mix(s, |m| m.layout.entries_max.map(Count)),
        |d, Count(n)| d.mix(|m| m.layout.entries_max = Some(n));
    /// Levels of subdirectories in trees [default: 0].
    ///
    /// Without levels, copy-tree, clone-tree, link-tree and remove-tree copy or remove a directory
    /// with its files. With as many levels as --dirs has, they copy or remove the whole pool.
    #[arg(value_name = "N")]
    tree_levels: Count =>
        |s| mix(s, |m| (m.tree_levels > 0).then_some(Count(m.tree_levels.into()))),
        work::set_tree_levels;
    /// Form of file names [default: _].
    ///
    /// FORM is decimal, padded:16, hashed:20 or maildir.
    #[arg(value_name = "FORM")]
    names: Names => |s| mix(s, |m| Some(m.names)), |d, names| d.mix(|m| m.names = names);
    /// Think time before operations [default: _].
    ///
    /// The time is none, 1ms or exponential:1ms.
    #[arg(value_name = "TIME")]
    think: ThinkOption =>
        |s| mix(s, |m| Some(ThinkOption(m.think))), |d, think| d.mix(|m| m.think = think.0);
    /// Busy time before operations, like read=5us.
    ///
    /// The worker keeps its processor busy for this time before each operation of the kind, as an
    /// application that computes between its calls. Latencies do not include it, but the response
    /// times of --rate do. Several: deliver=120us,read=5us.
    #[arg(value_name = "TIMES", allow_hyphen_values = true)]
    compute: Compute =>
        |s| mix(s, |m| Some(m.compute.clone()).filter(|compute| !compute.is_none())),
        |d, compute| d.mix(|m| m.compute = compute),
        shows 16 => |s| mix(s, |m| unless(&Compute::default(), &m.compute, "compute"));
    /// All sizes are multiples of this [default: 1; with --direct 4096].
    #[arg(value_name = "BYTES")]
    align: Bytes => |s| mix(s, |m| Some(Bytes(m.align_bytes))), work::set_align;
}

"Concurrency" {
    /// Workers, each with a pool of its own [default: _].
    #[arg(value_name = "N")]
    workers: Count => workers::private, |_, _| ();
    /// Workers that change files in one shared pool.
    ///
    /// The workload of a shared pool is a mix; classic pairs become single operations [default with
    /// --readers: 0].
    #[arg(value_name = "N")]
    writers: Count => |s| workers::shared(s).map(|(writers, _)| writers), |_, _| ();
    /// Workers that only read in one shared pool.
    ///
    /// They open, read and query files, and change none [default with --writers: 0].
    #[arg(value_name = "N")]
    readers: Count => |s| workers::shared(s).map(|(_, readers)| readers), |_, _| ();
    /// Operations in flight of each worker [default: 1].
    ///
    /// 'postmark engines' lists how many each engine can.
    #[arg(value_name = "N")]
    depth: Count =>
        |s| above(s.depth, 1), workers::set_depth,
        shows 5 => |s| above(s.depth, 1).map(|Count(n)| format!(
            "{} operations in flight for each worker", grouped(n)));
    /// Pin each worker to a processor.
    pin: bool =>
        |s| on(s.pin), |d, pin| d.spec.pin = pin,
        shows 12 => |s| when(s.pin, "workers pinned to processors");
}

"Engine and durability" {
    /// I/O engine [default: _].
    ///
    /// It performs the operations; 'postmark engines' lists all engines. For a target like
    /// nfs://server/export, it is nfs; for one like s3://bucket/prefix, it is s3.
    #[arg(value_enum, value_name = "NAME")]
    engine: EngineName => |s| Some(s.engine), |d, engine| d.spec.engine = engine;
    /// What each operation syncs [default: _].
    ///
    /// This is the durability policy: none, fdatasync, fsync, fsync+dir, o-dsync, o-sync or
    /// batch:N. batch:N syncs every N operations. Single operations may have their own policy, like
    /// deliver=fsync+dir,append=fdatasync; a policy without a name holds for all others.
    #[arg(value_name = "POLICY")]
    durability: Policies =>
        |s| Some(s.durability.clone()), |d, policies| d.spec.durability = policies,
        shows 7 => |s| unless(&Policies::default(), &s.durability, "durability");
    /// Write acknowledged operations to this file.
    ///
    /// 'postmark verify-log' reads it after a crash. The file must lie on another file system than
    /// the target. - is standard output, for a pipe to another host; the report then goes to
    /// standard error. The run waits for this log, so its rates are not a measurement.
    #[arg(value_name = "FILE")]
    ack_log: PathBuf =>
        |s| s.ack_log.clone(), |d, path| d.spec.ack_log = Some(path),
        shows 15 => |s| s.ack_log.as_ref().map(|path| format!(
            "acknowledgement log {}, so the rates are not a measurement", path.display())), (alone);
}

"Cache" {
    /// Page cache before the transactions [default: _].
    #[arg(value_enum, value_name = "STATE")]
    cache: Cache =>
        |s| Some(s.cache), |d, cache| d.spec.cache = cache,
        shows 8 => |s| unless(&Cache::AsIs, &s.cache, "cache");
    /// Bypass the page cache with direct I/O (O_DIRECT).
    direct: bool =>
        |s| on(s.direct), |d, direct| d.spec.direct = direct,
        shows 10 => |s| when(s.direct, "direct I/O");
}

"Checks and instruments" {
    /// Check names and sizes of the files [default: on].
    ///
    /// The check follows the transactions.
    check: bool =>
        |s| unusual(s, s.engine.makes_files(), s.check), |d, check| d.spec.check = check;
    /// Verify the contents of every read.
    verify: bool =>
        |s| on(s.verify), |d, verify| d.spec.verify = verify,
        shows 11 => |s| when(s.verify, "reads verified");
    /// Allowed errors: stop, 100 or 1% [default: _].
    ///
    /// With stop, the run ends at the first error. A number or a percentage is that of failed
    /// operations.
    #[arg(value_name = "LIMIT", allow_hyphen_values = true)]
    on_error: OnError =>
        |s| Some(s.on_error), |d, on_error| d.spec.on_error = on_error,
        shows 9 => |s| unless(&OnError::Stop, &s.on_error, "errors allowed");
    /// Measure each call of operations (open, write).
    ///
    /// The calls of an engine that speaks to a server are its requests. Any --durability but none
    /// implies this.
    calls: bool => |s| on(s.steps), |d, calls| d.spec.steps = calls;
    /// Measure latencies [default: on].
    ///
    /// With --no-latencies the report has counts and rates only.
    latencies: bool => |s| off(s.latencies), |d, latencies| d.spec.latencies = latencies;
    /// Record numbers of each second [default: on].
    ///
    /// These are the counts and latencies of operations.
    series: bool =>
        |s| off(s.series || !s.latencies), |d, series| d.spec.series = series;
    /// Measure the overhead of the program [default: on].
    ///
    /// This takes half a second after the run.
    overhead: bool =>
        |s| unusual(s, true, s.overhead), |d, overhead| d.spec.overhead = overhead;
}

"Many hosts" {
    /// Number of ranks, each with --workers workers.
    ///
    /// By default, this is the number of processes that mpirun or srun has started.
    #[arg(value_name = "N")]
    ranks: Count => |s| above(s.ranks, 1), |_, _| ();
    /// Each rank works on the files of the rank N further.
    ///
    /// The exchange takes place after preparation, so that the cache of a rank's own host cannot
    /// serve its files [default: each on its own files].
    #[arg(value_name = "N")]
    neighbour: Count =>
        |s| above(s.neighbour, 0), workers::set_neighbour,
        shows 6 => |s| above(s.neighbour, 0).map(|Count(n)| format!(
            "each rank on the files of the rank {} further", grouped(n)));
}

"Safety" {
    /// Time after which a worker is stalled [default: _].
    ///
    /// The time is that of one operation. The run ends without the worker after five times this
    /// time, or 5 s after a signal.
    #[arg(value_name = "TIME")]
    stall_timeout: Time =>
        |s| Some(Time::of(s.stall_timeout)),
        |d, time| d.spec.stall_timeout = time.duration();
}

"Expert" {
    /// Do as PostMark 1.0 (of 1997) or 1.5 (of 2001).
    ///
    /// The classic workload has the generator and the units of this version [default: 1.5]. As in
    /// the original, the run does not sync the file systems between phases, does not check file
    /// names, and does not measure the overhead; without another limit, 500 transactions of each
    /// worker end it. --sync-phases, --check and --overhead override this.
    #[arg(value_name = "VERSION")]
    compat: Edition =>
        compat, |d, edition| d.classic(|c| c.edition = edition);
    /// Seeds of the workers [default: _].
    #[arg(value_enum, value_name = "SEEDS")]
    worker_seeds: WorkerSeedsName =>
        |s| Some(s.workload.worker_seeds.into()),
        |d, seeds| d.spec.workload.worker_seeds = seeds.into();
    /// Sync the file systems between phases [default: on].
    sync_phases: bool =>
        |s| unusual(s, s.engine.uses_page_cache(), s.sync_phases),
        |d, sync| d.spec.sync_phases = sync, (alone);
}
    } };
}
pub(crate) use option_table;
