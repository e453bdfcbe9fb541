//! The topics of `postmark help`: screens about tasks, with examples.

use std::borrow::Cow;

use scratch::{FileSystemKind, KEYS};

/// A help screen about a task.
pub struct Topic {
    pub name: &'static str,
    /// The task in a few words, for the list of topics.
    about: &'static str,
    /// Other words under which `postmark help` finds the topic. No alias is the name of a command.
    pub aliases: &'static [&'static str],
    template: &'static str,
}

macro_rules! topics {
    ($($name:literal: $about:literal, $aliases:expr;)+) => {
        &[$(Topic {
            name: $name,
            about: $about,
            aliases: &$aliases,
            template: include_str!(concat!("../../help/", $name, ".txt")),
        }),+]
    };
}

pub const TOPICS: &[Topic] = topics![
    "sweep": "Find the saturation rate, or the highest rate that meets an SLO",
        ["slo", "saturation"];
    "nfs": "Measure an NFS server or mount, and with how many clients", ["client", "clients"];
    "s3": "Measure object storage", ["objects", "minio"];
    "durability": "Measure durable writes, and prove that they survive", ["fsync", "sync"];
    "cache": "Measure the disk, or the page cache on purpose", ["memory", "cold"];
    "ci": "Let a pipeline fail if a change makes the system slower", ["baseline", "pipeline"];
    "hosts": "Run on many client hosts as one run, with mpirun or srun", ["ranks", "mpi"];
    "study": "Compare file systems, options or kernels", ["side", "kernel", "interval"];
    "scratch": "Let a study make file systems: the keys of make:KIND", ["make", "mkfs"];
    "verdict": "Is a number trustworthy? VALID, DOUBTFUL and INVALID",
        ["trust", "valid", "doubtful", "invalid"];
    "classic": "Use it like the original PostMark", ["prompt", "original"];
];

impl Topic {
    /// Returns the topic with this name or alias, ignoring case.
    pub fn find(word: &str) -> Option<&'static Self> {
        let word = word.to_lowercase();
        TOPICS
            .iter()
            .find(|topic| topic.name == word || topic.aliases.contains(&&*word))
    }

    /// Returns the names of all topics, separated by commas.
    pub fn names() -> String {
        let names: Vec<&str> = TOPICS.iter().map(|topic| topic.name).collect();
        names.join(", ")
    }

    /// Returns a line for each topic, with its task.
    pub fn list() -> String {
        let lines = TOPICS
            .iter()
            .map(|topic| format!("  {:11}  {}\n", topic.name, topic.about));
        lines.collect()
    }

    /// Returns the text of the screen, with tables of scratch file systems in place of `{keys}` and
    /// `{kinds}`, and whether this program has ranks in place of `{mpi}`.
    pub fn text(&self) -> Cow<'static, str> {
        if !self.template.contains('{') {
            return self.template.into();
        }
        let mpi = match ranks_mpi::CONNECT.is_some() {
            true => "This postmark is built with MPI.",
            false => {
                "This postmark is built without MPI: it has no ranks and refuses the launcher."
            }
        };
        let filled = self.template.replace("{keys}\n", &keys());
        let filled = filled.replace("{mpi}", mpi);
        filled.replace("{kinds}", &FileSystemKind::names()).into()
    }
}

/// Returns a table of the keys that a scratch file system's description (`make:`) may contain.
fn keys() -> String {
    let heads = [["key", "value", "default", "example", "meaning"]];
    let rows = KEYS.map(|key| {
        let value = key.value.unwrap_or("-");
        [key.name, value, key.default, key.example, key.meaning]
    });
    let rows = heads.into_iter().chain(rows).map(|row| {
        let [name, value, default, example, meaning] = row;
        format!("  {name:10}  {value:7}  {default:10}  {example:15}  {meaning}\n")
    });
    rows.collect()
}
