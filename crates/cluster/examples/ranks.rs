//! What meeting costs between ranks that a launcher has started, and how far their clocks are apart:
//!
//!     cargo build -p cluster --features mpi --example ranks
//!     mpirun -n 4 target/debug/examples/ranks [--silent RANK]
//!
//! With `--silent` that rank does not come to the last border, and all others name it and end the job.

use std::env;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use cluster::over_mpi::OverMpi;
use cluster::{CommunicationError, Together, clocks};

/// How often all meet.
const BORDERS: u32 = 1_000;

fn main() -> ExitCode {
    let silent = env::args().skip_while(|word| word != "--silent").nth(1);
    let silent = silent.map(|rank| rank.parse::<u32>().expect("--silent takes the number of a rank"));
    match OverMpi::join().and_then(|ranks| measure(ranks, silent)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(ranks: OverMpi, silent: Option<u32>) -> Result<(), CommunicationError> {
    let mut together = Together::new(ranks, Duration::from_secs(5));
    let now_ns = || {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        since.as_nanos() as i64
    };
    let clock = clocks::measure(&mut together, &now_ns, 16)?;
    let mut borders_ns = Vec::with_capacity(BORDERS as usize);
    for _ in 0..BORDERS {
        let began = Instant::now();
        together.barrier()?;
        borders_ns.push(began.elapsed().as_nanos() as u64);
    }
    borders_ns.sort_unstable();
    let own = vec![(
        together.rank(),
        OverMpi::host()?,
        clock,
        borders_ns[borders_ns.len() / 2],
    )];
    let all = together.reduce(own, |mut a, b| {
        a.extend(b);
        a
    })?;
    for (rank, host, clock, border_ns) in all.into_iter().flatten() {
        println!(
            "rank {rank} on {host}: clock {} ns off within {} ns; a border takes {} us",
            clock.offset_ns,
            clock.error_ns,
            border_ns as f64 / 1e3
        );
    }
    if silent == Some(together.rank()) {
        thread::sleep(Duration::from_secs(3_600));
    }
    if let Err(error) = together.barrier() {
        eprintln!("error: rank {}: {error}", together.rank());
        together.into_communicator().abort(1);
    }
    Ok(())
}
