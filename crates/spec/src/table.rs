//! The option table. Each row contains everything about one option except its use.
//!
//! A row begins with the help (the doc comment), attributes for the command line and for
//! configuration files, the name and the type. Two functions follow: one returns the option's value
//! from a spec, and the other applies a value to the draft of a spec. The text for reports follows
//! after `shows`; the number after `shows` determines its order in reports.
//!
//! `(alone)` marks an option that a study sets for its runs. If the help contains `[default: _`,
//! the default is inserted from a run spec to which no option was applied (`help.rs`). Options are
//! applied in the order of the table. If the second function of an option does nothing, the
//! function of a related option reads its value.

/// Passes the option table to a macro.
macro_rules! option_table {
    ($then:ident) => { $then! {
"Workload" {
    /// Edition of the classic workload: 1.0 (generator and units of 1997) or 1.5 (of 2001)
    /// [default: _].
    edition: Edition =>
        |s| classic(s, |c| Some(c.edition)), |d, edition| d.classic(|c| c.edition = edition);
    /// Files in the initial pool, like 20k [default: _].
    ///
    /// With private pools, each worker has this number.
    #[arg(value_name = "N")]
    files: Count =>
        |s| Some(Count(s.workload.files())),
        |d, Count(n)| d.spec.workload = d.spec.workload.with_files(n);
    /// Choose --files so that the pool has this total size: a multiple of the page cache, like 4x,
    /// or bytes, like 100GiB. A short calibration on the target estimates how long the run takes.
    #[arg(value_name = "FACTORx|BYTES", allow_hyphen_values = true)]
    working_set: WorkingSet => |_| None, |_, _| (), (alone);
    /// Transactions of each worker, like 100k.
    ///
    /// A transaction of a mix is one operation; a classic transaction is a pair.
    #[arg(value_name = "N")]
    transactions: Count =>
        load_options::transactions,
        |d, Count(n)| d.spec.workload = d.spec.workload.with_transactions(n);
}

"Duration and load" {
    /// Measure the transactions for this time, like 2m [default: 10s, if nothing else ends them].
    ///
    /// With --transactions, the run ends at whichever limit comes first. --transactions, --steady,
    /// the presets of papers, and --format classic or terse also end a run.
    #[arg(long = "for", value_name = "TIME")]
    #[serde(rename = "for")]
    run_for: Time =>
        |s| load_options::run_for(&s.drive), load_options::set_run_for,
        shows 2 => |s| load::shown_stop(&s.drive);
    /// Run transactions for this time before the measurement starts [default: 0s].
    #[arg(value_name = "TIME")]
    warm_up: Time =>
        |s| load_options::warm_up(&s.drive), |d, time| d.spec.drive.warm_up = time.duration(),
        shows 3 => |s| load::shown_warm_up(&s.drive);
    /// Issue transactions at this rate (open loop): transactions/s of all workers together.
    /// Latencies are then response times, from the due time to completion [default: closed loop,
    /// each transaction starts when the previous one ends].
    #[arg(value_name = "PER_SECOND", allow_negative_numbers = true)]
    rate: PerSecond =>
        |s| s.drive.rate().map(PerSecond), load_options::set_rate,
        shows 4 => |s| load::shown_rate(&s.drive);
    /// Arrival process for --rate and --sweep: constant or poisson [default: poisson].
    #[arg(value_name = "FORM")]
    arrivals: ArrivalProcess => |s| load_options::arrivals(&s.drive), |_, _| ();
    /// Run until the rate is steady by this rule over the last five rounds, and report these
    /// rounds. The run ends after --for at the latest [default: 25 rounds].
    #[arg(value_enum)]
    steady: SteadyRule => |s| s.drive.steady().map(|steady| steady.rule), load_options::set_steady;
    /// Length of a round for --steady [default: 10s].
    #[arg(value_name = "TIME")]
    round: Time => |s| s.drive.steady().map(|steady| Time(steady.round_ns)), |_, _| ();
    /// Measure a load sweep: one step for each load, from low to high, to find the saturation rate.
    /// LOADS is auto, rates like 1000,2000,4000 or 1000..8000:8 (8 rates), percentages of the
    /// closed loop's rate like 30%,60%,90%, worker counts (of each rank) like workers=1,2,4, or
    /// rank counts like ranks=1,2,4. Each step measures for --for [default: 10s] after --warm-up
    /// [default: 2s].
    ///
    /// With ranks=..., the first ranks that mpirun or srun has started perform a step, each with
    /// its workers; the others wait.
    ///
    /// A sweep of rates adds up to six steps near the saturation rate, and up to six near the SLO.
    #[arg(value_name = "LOADS")]
    sweep: SweepOption =>
        |s| sweep(s, |sweep| Some(SweepOption(sweep.climb.clone()))), load_options::set_sweep,
        shows 1 => |s| load::shown_sweep(&s.drive), (alone);
    /// Create a new pool for each step of the sweep. --sweep workers=... and ranks=... always do.
    fresh: bool => |s| sweep(s, |sweep| flag(sweep.fresh)), |_, _| (), (alone);
    /// SLO of the sweep: find the highest rate at which 99 % of all operations are faster than this
    /// time, like p99<10ms.
    #[arg(value_name = "p99<TIME")]
    slo: SloOption => |s| sweep(s, |sweep| sweep.slo_p99_ns.map(SloOption)), |_, _| (), (alone);
}

"Workload" {
    /// Sizes of new files in bytes, like 500..10000 or 4KiB [default: _].
    ///
    /// Mixes also take a distribution:
    /// lognormal:median=8KiB,sigma=1.2,max=1MiB, exponential:mean=16KiB,max=1MiB,
    /// histogram:0..1KiB=30,1KiB..8KiB=50 or histogram@FILE.
    #[arg(value_name = "SIZES")]
    size: SizesOption => |s| Some(work::sizes(s)), work::set_sizes;
    /// Bytes for each read call, like 4KiB [default: 512; for mixes 64KiB].
    #[arg(value_name = "BYTES")]
    read_block: Bytes =>
        |s| Some(Bytes(s.workload.read_block_bytes())),
        |d, Bytes(n)| d.either(|c| c.read_block_bytes = n, |m| m.read_block_bytes = n);
    /// Bytes for each write call, like 4KiB [default: 512; for mixes 64KiB].
    #[arg(value_name = "BYTES")]
    write_block: Bytes =>
        |s| Some(Bytes(s.workload.write_block_bytes())),
        |d, Bytes(n)| d.either(|c| c.write_block_bytes = n, |m| m.write_block_bytes = n);
    /// Subdirectories in each target; with 1, files lie in the target itself [default: _].
    #[arg(visible_alias = "subdirectories", value_name = "N")]
    #[serde(alias = "subdirectories")]
    subdirs: Count =>
        |s| classic(s, |c| Some(Count(c.subdirectories.into()))), work::set_subdirs;
    /// Chance of a read instead of an append in a classic transaction, in tenths; -1 disables both
    /// [default: _].
    #[arg(value_name = "0..10", allow_negative_numbers = true, value_parser = bias)]
    #[serde(default, deserialize_with = "bias_in_file")]
    bias_read: i64 =>
        |s| classic(s, |c| Some(c.bias_read.into())),
        |d, tenths| d.set_bias(tenths, |c, bias| c.bias_read = bias);
    /// Chance of a create instead of a delete in a classic transaction, in tenths; -1 disables both
    /// [default: _].
    #[arg(value_name = "0..10", allow_negative_numbers = true, value_parser = bias)]
    #[serde(default, deserialize_with = "bias_in_file")]
    bias_create: i64 =>
        |s| classic(s, |c| Some(c.bias_create.into())),
        |d, tenths| d.set_bias(tenths, |c, bias| c.bias_create = bias);
    /// Seed of the random generator [default: _].
    seed: Count => |s| Some(Count(s.workload.seed())), work::set_seed;
    /// Contents of files: text, incompressible or compressible:RATIO [default: text; for mixes
    /// incompressible].
    #[arg(value_name = "KIND")]
    contents: ContentKind =>
        |s| s.workload.contents.map(|contents| contents.kind),
        |d, kind| d.contents().kind = kind;
    /// Deduplication ratio of the contents: number of 4 KiB blocks divided by the number of
    /// different ones [default: 1, every block is unique].
    #[arg(value_name = "RATIO", value_parser = real)]
    #[serde(default, deserialize_with = "real_in_file", serialize_with = "real_to_file")]
    dedup: f64 =>
        |s| s.workload.contents.map(|contents| contents.dedup),
        |d, ratio| d.contents().dedup = ratio;
}

"Mixes" {
    /// Operations with weights instead of the classic pairs.
    #[arg(help = mix_help(), value_name = "OPERATION=N,…")]
    mix: Weights =>
        |s| mix(s, |m| Some(m.weights.clone())), |d, weights| d.mix(|m| m.weights = weights);
    /// Sizes of appends, in the form of --size [default: from 1 byte to the largest new file].
    #[arg(value_name = "SIZES")]
    append_size: SizesOption =>
        |s| mix(s, |m| Some(SizesOption::Distribution(m.append_sizes.clone()))),
        |d, sizes| d.set_sizes("--append-size", &sizes, |m, sizes| m.append_sizes = sizes);
    /// Sizes of range reads, in the form of --size [default: _].
    #[arg(value_name = "SIZES")]
    range_size: SizesOption =>
        |s| mix(s, |m| Some(SizesOption::Distribution(m.range_sizes.clone()))),
        |d, sizes| d.set_sizes("--range-size", &sizes, |m, sizes| m.range_sizes = sizes);
    /// Largest size to which appends grow a file [default: the largest new file].
    #[arg(value_name = "BYTES")]
    size_max: Bytes => |s| mix(s, |m| Some(Bytes(m.size_max_bytes))), work::set_size_max;
    /// How operations choose files: uniform, zipf:0.99, hot:10%/90% (10 % of the files get 90 % of
    /// the operations) or shuffled (every file once, then again) [default: _].
    #[arg(value_name = "FORM")]
    popularity: Popularity =>
        |s| mix(s, |m| Some(m.popularity)), |d, form| d.mix(|m| m.popularity = form);
    /// Layout of directories: flat, subdirs:100 or tree:10x3 (10 subdirectories each, 3 levels)
    /// [default: _].
    #[arg(value_name = "FORM")]
    dirs: Shape =>
        |s| mix(s, |m| Some(m.layout.shape)), |d, shape| d.mix(|m| m.layout.shape = shape);
    /// Maximum number of entries in each directory [default: no maximum].
    #[arg(value_name = "N")]
    entries_max: Count =>
        |s| mix(s, |m| m.layout.entries_max.map(Count)),
        |d, Count(n)| d.mix(|m| m.layout.entries_max = Some(n));
    /// Form of file names: decimal, padded:16, hashed:20 or maildir [default: _].
    #[arg(value_name = "FORM")]
    names: Names => |s| mix(s, |m| Some(m.names)), |d, names| d.mix(|m| m.names = names);
    /// Think time before each operation: none, 1ms or exponential:1ms [default: _].
    #[arg(value_name = "TIME")]
    think: ThinkOption =>
        |s| mix(s, |m| Some(ThinkOption(m.think))), |d, think| d.mix(|m| m.think = think.0);
    /// All sizes are multiples of this [default: 1; with --direct 4096].
    #[arg(value_name = "BYTES")]
    align: Bytes => |s| mix(s, |m| Some(Bytes(m.align_bytes))), work::set_align;
}

"Workers" {
    /// Number of workers with private pools [default: _].
    #[arg(value_name = "N")]
    workers: Count => workers::private, |_, _| ();
    /// Number of ranks, each with --workers workers [default: as many as mpirun or srun has
    /// started].
    #[arg(value_name = "N")]
    ranks: Count => |s| above(s.ranks, 1), |_, _| ();
    /// After preparation, each rank works on the files of the rank N places further, so that the
    /// cache of its own host cannot serve them [default: each on its own files].
    #[arg(value_name = "N")]
    neighbour: Count =>
        |s| above(s.neighbour, 0), workers::set_neighbour,
        shows 6 => |s| above(s.neighbour, 0).map(|Count(n)| format!(
            "each rank on the files of the rank {} further", grouped(n)));
    /// Seeds of the workers [default: _].
    #[arg(value_enum)]
    worker_seeds: WorkerSeedsName =>
        |s| Some(s.workload.worker_seeds.into()),
        |d, seeds| d.spec.workload.worker_seeds = seeds.into();
    /// Number of workers that change files in a shared pool. The workload of a shared pool is a
    /// mix; classic pairs become single operations [default with --readers: 0].
    #[arg(value_name = "N")]
    writers: Count => |s| workers::shared(s).map(|(writers, _)| writers), |_, _| ();
    /// Number of workers that only read in a shared pool [default with --writers: 0].
    #[arg(value_name = "N")]
    readers: Count => |s| workers::shared(s).map(|(_, readers)| readers), |_, _| ();
    /// Pin each worker to a processor.
    pin: bool =>
        |s| flag(s.pin), |d, pin| d.spec.pin = pin,
        shows 12 => |s| when(s.pin, "workers pinned to processors");
}

"Storage" {
    /// Interface for file operations [default: _; for targets like
    /// nfs://server/export nfs].
    #[arg(long = "storage", value_enum)]
    #[serde(rename = "storage")]
    engine: EngineName => |s| Some(s.engine), |d, engine| d.spec.engine = engine;
    /// Operations that each worker keeps in flight at once; 'postmark engines' lists how many each
    /// storage can [default: 1].
    #[arg(value_name = "N")]
    depth: Count =>
        |s| above(s.depth, 1), workers::set_depth,
        shows 5 => |s| above(s.depth, 1).map(|Count(n)| format!(
            "{} operations in flight for each worker", grouped(n)));
    /// What each operation syncs: none, fdatasync, fsync, fsync+dir, o-dsync, o-sync or batch:N
    /// [default: _].
    ///
    /// This is the durability policy. batch:N syncs every N operations.
    #[arg(value_name = "POLICY")]
    durability: Durability =>
        |s| Some(s.durability), |d, policy| d.spec.durability = policy,
        shows 7 => |s| unless(&Durability::None, &s.durability, "durability");
    /// Use direct I/O (O_DIRECT), which bypasses the page cache.
    direct: bool =>
        |s| flag(s.direct), |d, direct| d.spec.direct = direct,
        shows 10 => |s| when(s.direct, "direct I/O");
    /// State of the page cache before the transactions [default: _].
    #[arg(value_enum)]
    cache: Cache =>
        |s| Some(s.cache), |d, cache| d.spec.cache = cache,
        shows 8 => |s| unless(&Cache::AsIs, &s.cache, "cache");
}

"Run" {
    /// Do not sync the file systems between phases.
    no_sync_phases: bool =>
        |s| flag(s.engine.uses_page_cache() && !s.sync_phases), |d, no| d.spec.sync_phases = !no,
        (alone);
    /// Do not check file names and sizes after the transactions.
    no_check: bool => |s| flag(s.engine.makes_files() && !s.check), |d, no| d.spec.check = !no;
    /// Verify the contents of every read.
    verify: bool =>
        |s| flag(s.verify), |d, verify| d.spec.verify = verify,
        shows 11 => |s| when(s.verify, "reads verified");
    /// End the run at the first error (stop), or allow this number or percentage of failed
    /// operations, like 100 or 1% [default: _].
    #[arg(value_name = "stop|N|P%", allow_hyphen_values = true)]
    on_error: OnError =>
        |s| Some(s.on_error), |d, on_error| d.spec.on_error = on_error,
        shows 9 => |s| unless(&OnError::Stop, &s.on_error, "errors allowed");
    /// Report a worker as stalled if one operation takes longer than this time [default: _].
    ///
    /// The run ends without the worker after five times this time, or 5 s after a signal.
    #[arg(value_name = "TIME")]
    stall_timeout: Time =>
        |s| Some(Time::of(s.stall_timeout)),
        |d, time| d.spec.stall_timeout = time.duration();
    /// Also measure the steps of operations, like open and write. Any --durability but none implies
    /// this.
    steps: bool => |s| flag(s.steps), |d, steps| d.spec.steps = steps;
    /// Do not measure latencies: the report has counts and rates only.
    no_latencies: bool => |s| flag(!s.latencies), |d, no| d.spec.latencies = !no;
    /// Do not record the time series: counts and latencies of each second.
    no_series: bool => |s| flag(s.latencies && !s.series), |d, no| d.spec.series = !no;
    /// Do not measure the overhead of the program (half a second after the run).
    no_overhead: bool => |s| flag(!s.overhead), |d, no| d.spec.overhead = !no;
    /// Keep the pool for a later run. A shared pool requires --transactions 0.
    keep: bool =>
        |s| flag(s.keeping.keep), |d, keep| d.spec.keeping.keep = keep,
        shows 14 => |s| when(s.keeping.keep, "pool kept for a later run"), (alone);
    /// Use the pool that an earlier run kept. That run must have had the same workload, or no
    /// transactions and the same files.
    reuse: bool =>
        |s| flag(s.keeping.reuse), |d, reuse| d.spec.keeping.reuse = reuse,
        shows 13 => |s| when(s.keeping.reuse, "pool of an earlier run"), (alone);
    /// Write acknowledged operations to this file, for 'verify-log'. The file must lie on another
    /// file system than the target. The run waits for this log, so its rates are not a measurement.
    #[arg(value_name = "FILE")]
    ack_log: PathBuf =>
        |s| s.ack_log.clone(), |d, path| d.spec.ack_log = Some(path),
        shows 15 => |s| s.ack_log.as_ref().map(|path| format!(
            "acknowledgement log {}, so the rates are not a measurement", path.display())), (alone);
}
    } };
}
pub(crate) use option_table;
