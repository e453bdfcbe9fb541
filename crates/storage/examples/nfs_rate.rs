//! What a call costs: operations on an NFS server, and this thread's processor time for each call.
//!
//! `cargo run --release -p storage --example nfs_rate -- nfs://host/export [depth] [files] [bytes]`

use std::ffi::CString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use contract::home::Home;
use contract::{Durability, Location, Name, NoSteps, Operation, Session, Settings, Storage, Submitted, Ticket};
use storage::nfs::Nfs;

type Problem = Box<dyn std::error::Error>;

/// User and system time of this thread.
fn cpu() -> (Duration, Duration) {
    let usage = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let all = usage.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(0);
    let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap_or_default();
    let ticks = |nth| {
        stat.rsplit(')')
            .next()
            .and_then(|rest| rest.split_whitespace().nth(nth)?.parse().ok())
    };
    // Fields 14 and 15 of the line, in hundredths; the first gives how the exact sum is shared.
    let (user, system): (u64, u64) = (ticks(11).unwrap_or(0), ticks(12).unwrap_or(0));
    (
        Duration::from_nanos(all),
        Duration::from_millis(10 * user).min(Duration::from_millis(10 * (user + system))),
    )
}

fn calls(home: &dyn Home) -> u64 {
    let traffic = home.traffic().unwrap_or_default();
    traffic.calls.iter().map(|line| line.calls + line.repetitions).sum()
}

fn main() -> Result<(), Problem> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or("expected the URL of a target")?;
    let mut number = |default: usize| arguments.next().map_or(Ok(default), |text| text.parse());
    let (depth, files, bytes) = (number(1)?, number(10_000)?, number(1_000)?);
    let storage = Nfs::new(depth, &[PathBuf::from(&url)]);
    let bare = contract::ServerUrl::try_from(std::path::Path::new(&url))?.bare();
    let home = storage.home().ok_or("no home")?;
    home.reach(&bare)?;
    println!("{:?}", home.servers());
    let settings = Settings {
        locations: vec![Location {
            directory: bare.clone(),
            identity: None,
            below: None,
        }],
        durability: Durability::None,
        keep_contents_bytes: 0,
        ..Settings::default()
    };
    let content = vec![b'x'; bytes];
    std::thread::scope(|scope| {
        let worked = scope
            .spawn(|| work(&storage, &*home, &settings, depth, files, &content).map_err(|error| error.to_string()));
        worked.join().map_err(|_| "the worker panicked".to_owned())?
    })?;
    println!("{:#?}", home.traffic());
    Ok(())
}

fn work(
    storage: &Nfs,
    home: &dyn Home,
    settings: &Settings,
    depth: usize,
    files: usize,
    content: &[u8],
) -> Result<(), Problem> {
    let mut session = storage.open(settings)?;
    let names: Vec<CString> = (0..files)
        .map(|number| CString::new(format!("d/{number}")))
        .collect::<Result<_, _>>()?;
    let directory = c"d";
    let of = |relative| Name {
        path: relative,
        location: 0,
        relative,
    };
    run(&mut session, 1, 1, |_| Operation::MakeDirectory { name: of(directory) })?;
    type Made<'a> = Box<dyn Fn(usize) -> Operation<'a> + 'a>;
    let phases: [(&str, Made<'_>); 6] = [
        (
            "create",
            Box::new(|number| Operation::Create {
                name: of(&names[number]),
                content,
            }),
        ),
        (
            "stat",
            Box::new(|number| Operation::Stat {
                name: of(&names[number]),
                bytes: None,
            }),
        ),
        (
            "read",
            Box::new(|number| Operation::Read {
                name: of(&names[number]),
                bytes: content.len() as u64,
            }),
        ),
        (
            "append",
            Box::new(|number| Operation::Append {
                name: of(&names[number]),
                content,
            }),
        ),
        ("list", Box::new(|_| Operation::ListWithStat { name: of(directory) })),
        (
            "delete",
            Box::new(|number| Operation::Delete {
                name: of(&names[number]),
            }),
        ),
    ];
    for (name, operation) in phases {
        let count = if name == "list" { 4 } else { files };
        let (before, cpu_before, began) = (calls(home), cpu(), Instant::now());
        run(&mut session, depth, count, &*operation)?;
        let (took, cpu_after) = (began.elapsed(), cpu());
        let calls = (calls(home) - before) as f64;
        let each = |time: Duration| time.as_nanos() as f64 / calls / 1000.0;
        println!(
            "{name:8} {:8.0} operations/s, {:8.0} calls/s; a call takes {:6.2} us, {:5.2} us of processor time, {:5.2} us of that as a user",
            count as f64 / took.as_secs_f64(),
            calls / took.as_secs_f64(),
            each(took),
            each(cpu_after.0.saturating_sub(cpu_before.0)),
            each(cpu_after.1.saturating_sub(cpu_before.1)),
        );
    }
    run(&mut session, 1, 1, |_| Operation::RemoveDirectory {
        name: of(directory),
    })
}

fn run<'a>(
    session: &mut impl Session,
    depth: usize,
    count: usize,
    operation: impl Fn(usize) -> Operation<'a>,
) -> Result<(), Problem> {
    let mut in_flight = 0;
    for number in 0..count {
        if in_flight == depth {
            land(session)?;
            in_flight -= 1;
        }
        match session.submit(Ticket(number as u64), &operation(number), &mut NoSteps) {
            Submitted::Done(outcome) => outcome.map_err(|failure| format!("{failure:?}"))?,
            Submitted::InFlight => in_flight += 1,
        }
    }
    (0..in_flight).try_for_each(|_| land(session))
}

fn land(session: &mut impl Session) -> Result<(), Problem> {
    let (_, outcome) = session.complete(None, &mut NoSteps).ok_or("nothing is in flight")?;
    outcome.map_err(|failure| format!("{failure:?}").into())
}
