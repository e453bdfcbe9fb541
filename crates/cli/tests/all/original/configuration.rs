//! Random sessions of the classic prompt. A seed determines them, so they are the same on every
//! machine.
//!
//! Two kinds of input are left out: those on which the original crashes (fewer than ten
//! transactions), and commands that this program handles differently on purpose (`!` and `help`).

use std::fmt::Write as _;
use testkit::Random;

/// Random numbers for the choices in a session.
#[derive(Clone, Debug)]
pub struct Chance(pub Random);

impl Chance {
    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.below(high - low + 1)
    }

    /// A number from `low` to `high` whose logarithm is about uniformly distributed.
    pub fn scale(&mut self, low: u64, high: u64) -> u64 {
        let bits = self.between(u64::from(low.max(1).ilog2()), u64::from(high.ilog2()));
        self.between(1 << bits, (2 << bits) - 1).clamp(low, high)
    }

    /// Returns true with probability 1/`of`.
    pub fn once_in(&mut self, of: u64) -> bool {
        self.0.below(of) == 0
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        self.0.pick(from)
    }
}

/// Directories that sessions may use as locations. The caller must create them.
pub const DIRECTORIES: [&str; 4] = ["a", "b", "c/with spaces in it", "d"];
/// A file to which sessions may write reports, and from which they may load commands.
pub const REPORT_FILE: &str = "a report";

/// Limits for the random choices in a session: its sizes, and the kinds of lines in it.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum number of files in a pool.
    pub files: u64,
    /// Maximum number of transactions in each run.
    pub transactions: u64,
    /// Minimum size of a block in bytes.
    pub block: u64,
    /// Maximum number of runs in a session.
    pub runs: u64,
    /// Whether sessions contain invalid values, `show` and reports to files.
    pub talk: bool,
    /// Whether sessions may have no location and use the working directory.
    pub working_directory: bool,
}

/// Lines that print an error message or `Eh?` and change nothing, and lines with a surprising
/// effect. After such a line, both programs must have the same settings.
const ODDITIES: &str = "\
    | |xrun|Eh?|show |set|set bias|HELP|? x|exit x|set Size 5| set seed 5|set size|\
    set size 0 5000|set size -5 5|set size abc def|set size 2147483648|set number|set number 0|\
    set number -1|set number x|set number 2147483648|set seed|set seed 0|set seed -1|\
    set seed 3000000000|set seed 7x|set seed 4294967303|set transactions|set transactions 0|\
    set transactions -4|set transactions x|set subdirectories|set subdirectories 0|\
    set subdirectories -1|set subdirectories 1000000000000|set read|set read 0|set read x|\
    set read 3000000000|set write|set write -1|set buffering|set buffering maybe|\
    set buffering TRUE|set buffering false |set bias read -2|set bias read|set bias create 11|\
    set report|set report foo|load no such file";

/// Lines that set a surprising value, which must be the same in both programs.
const SURPRISES: &str = "\
    set size 1k|set size 700,800|set size 900 50|set size  300  600|set size 300 600 900|\
    set size 300\t600|set sizes=300 600|set size 4294967396|set read 50%|set write 4k|\
    set number 1k|set numbers 77|set number77|set number  8|set bias read x|set bias create 5.5|\
    set bias read 4294967299|set bufferingxfalse|set transactions 12.7|set subdirectories 3.5|\
    set seed 1.5|set reportxterse";

/// Chooses one of several lines, which `|` separates.
fn one_of(chance: &mut Chance, lines: &str) -> String {
    let lines: Vec<&str> = lines.split('|').collect();
    (*chance.pick(&lines)).to_owned()
}

#[derive(Clone, Debug)]
pub struct Session {
    /// The lines, including `quit`.
    pub lines: String,
    pub runs: usize,
}

pub fn session(chance: &mut Chance, limits: Limits) -> Session {
    let mut lines = String::new();
    let runs = chance.between(1, limits.runs);
    for run in 0..runs {
        let mut settings = settings(chance, limits, run == 0);
        if limits.talk {
            talk(chance, &mut settings);
        }
        // The lines are shuffled, except `set location`, whose order has a meaning.
        let (places, mut others): (Vec<_>, Vec<_>) = settings
            .into_iter()
            .partition(|line| line.starts_with("set location"));
        for index in (1..others.len()).rev() {
            others.swap(index, chance.between(0, index as u64) as usize);
        }
        for line in others.iter().chain(&places) {
            let _ = writeln!(lines, "{line}");
        }
        // A surprising line may have set another number of transactions. The original needs at
        // least ten transactions, and the test needs a limit.
        let _ = writeln!(lines, "set transactions {}", transactions(chance, limits));
        let _ = writeln!(lines, "{}", run_line(chance, limits));
    }
    lines.push_str("quit\n");
    Session {
        lines,
        runs: runs as usize,
    }
}

fn transactions(chance: &mut Chance, limits: Limits) -> u64 {
    let count = chance.scale(10, limits.transactions);
    if chance.once_in(2) {
        count / 10 * 10
    } else {
        count
    }
}

fn run_line(chance: &mut Chance, limits: Limits) -> String {
    match chance.between(0, 9) {
        0 if limits.talk => format!("run {REPORT_FILE}"),
        1 if limits.talk => "run no such directory/report".to_owned(),
        _ => "run".to_owned(),
    }
}

/// The `set` commands before a run. Settings of earlier runs stay in effect.
fn settings(chance: &mut Chance, limits: Limits, first: bool) -> Vec<String> {
    // Half of the runs have large pools, because small pools soon run out of files.
    let files = if chance.once_in(2) {
        limits.files / 2
    } else {
        1
    };
    let mut lines = vec![format!("set number {}", chance.scale(files, limits.files))];
    let mut maybe = |line: String, chance: &mut Chance| {
        if !chance.once_in(4) {
            lines.push(line);
        }
    };
    let low = chance.scale(1, 20_000);
    let high = chance.scale(1, 20_000);
    let size = if chance.once_in(3) {
        format!("set size {low}")
    } else {
        format!("set size {low} {high}")
    };
    maybe(size, chance);
    for (command, low, high) in [
        ("set seed", 1, i32::MAX as u64),
        ("set read", limits.block, 20_000),
        ("set write", limits.block, 20_000),
    ] {
        let line = format!("{command} {}", chance.scale(low, high));
        maybe(line, chance);
    }
    let line = format!("set subdirectories {}", chance.between(1, 20));
    maybe(line, chance);
    for command in ["set bias read", "set bias create"] {
        // The biases are mostly balanced, because pools that only shrink or grow end a run early.
        let tenths = if chance.once_in(3) {
            chance.between(0, 11) as i64 - 1
        } else {
            chance.between(5, 6) as i64
        };
        maybe(format!("{command} {tenths}"), chance);
    }
    maybe(
        format!("set buffering {}", chance.pick(&["true", "false"])),
        chance,
    );
    maybe(
        format!("set report {}", chance.pick(&["verbose", "terse"])),
        chance,
    );
    if first || chance.once_in(3) {
        lines.extend(locations(chance, limits));
    }
    lines
}

fn locations(chance: &mut Chance, limits: Limits) -> Vec<String> {
    let count = chance.between(u64::from(!limits.working_directory), 4) as usize;
    let start = chance.between(0, 3) as usize;
    let mut lines = Vec::new();
    for index in 0..count {
        let path = DIRECTORIES[(start + index) % DIRECTORIES.len()];
        let sign = if index == 0 && !chance.once_in(5) {
            ""
        } else {
            "+"
        };
        // The original needs a weight after a path that contains spaces.
        let weight = chance.scale(1, 60);
        let line = if path.contains(' ') || !chance.once_in(3) {
            format!("set location {sign}{path} {weight}")
        } else {
            format!("set location {sign}{path}")
        };
        lines.push(line);
    }
    if count > 2 && chance.once_in(3) {
        lines.push(format!(
            "set location -{}",
            DIRECTORIES[(start + 1) % DIRECTORIES.len()]
        ));
        lines.push("set location -no such place".to_owned());
    }
    lines
}

/// Adds invalid lines, lines with surprising values, and `show`.
fn talk(chance: &mut Chance, lines: &mut Vec<String>) {
    for _ in 0..chance.between(0, 4) {
        lines.push(one_of(chance, ODDITIES));
    }
    for _ in 0..chance.between(0, 2) {
        lines.push(one_of(chance, SURPRISES));
    }
    for _ in 0..chance.between(0, 2) {
        lines.push("show".to_owned());
    }
    if chance.once_in(6) {
        lines.push("show no such directory/configuration".to_owned());
    }
}
