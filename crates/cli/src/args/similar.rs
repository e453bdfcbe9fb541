//! Suggestions for unknown commands and options.

use campaign::similar::similar;

/// Words that a user may type for a command, each with the name of that command or with an option.
const COMMANDS: [(&str, &str); 8] = [
    ("history", "list"),
    ("ls", "list"),
    ("bench", "run"),
    ("start", "run"),
    ("test", "run"),
    ("compare", "published beside"),
    ("rm", "delete"),
    ("version", "--version"),
];

/// Suggests a command for an unknown word: a command with a similar name, the command that
/// `COMMANDS` gives for the word, or `run` for a path.
pub fn command_meant<'a>(
    word: &str,
    commands: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    if word.contains('/') {
        return Some(format!("run --target {word}"));
    }
    let others = COMMANDS.iter().map(|(other, _)| *other);
    let known = similar(word, commands.into_iter().chain(others))?;
    let other = COMMANDS.iter().find(|(other, _)| *other == known);
    Some(other.map_or(known, |(_, command)| *command).to_owned())
}

/// Options of other programs, each with the equivalent option of PostMark or with advice.
const ELSEWHERE: [(&str, &str); 31] = [
    ("--threads", "--workers N"),
    (
        "--ioengine",
        "--engine NAME ('postmark engines' lists them)",
    ),
    ("--storage", "--engine NAME ('postmark engines' lists them)"),
    ("--steps", "--calls"),
    ("--bs", "--read-block SIZE and --write-block SIZE"),
    ("--filesize", "--size SIZE"),
    ("--num-files", "--files N"),
    ("--output-format", "--format NAME"),
    (
        "--latency-target",
        "--slo 'p99<10ms' with --sweep: 'postmark help sweep' has examples",
    ),
    ("--jobs", "--workers N"),
    ("--clients", "--workers N"),
    (
        "--hosts",
        "start the hosts' ranks with mpirun or srun: 'postmark help hosts' has examples",
    ),
    ("--json", "--format json"),
    (
        "--iodepth",
        "--depth N ('postmark engines' lists the engines that can)",
    ),
    ("--numjobs", "--workers N"),
    ("--duration", "--for TIME, like --for 60s"),
    ("--runtime", "--for TIME, like --for 60s"),
    ("--time", "--for TIME, like --for 60s"),
    ("--dir", "--target PATH"),
    ("--directory", "--target PATH"),
    ("--path", "--target PATH"),
    ("--location", "--target PATH"),
    ("--nrfiles", "--files N"),
    ("--fsync", "--durability fsync"),
    (
        "--repeat",
        "'postmark run --repeat N --dry-run' shows the plan of repeated runs",
    ),
    (
        "--until",
        "'postmark run --until 2% --dry-run' shows the plan of repeated runs",
    ),
    ("--runs", "--repeat N"),
    ("--repeats", "--repeat N"),
    ("--iterations", "--repeat N"),
    ("--loops", "--repeat N"),
    (
        "--resume",
        "'postmark study --resume' continues repeated runs",
    ),
];

/// The suggestion for an option of another program, or for a path without an option.
pub fn called_here(word: &str) -> Option<String> {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    if let Some((_, here)) = ELSEWHERE.iter().find(|(elsewhere, _)| *elsewhere == name) {
        return Some((*here).to_owned());
    }
    (word.contains('/') && !word.starts_with('-')).then(|| format!("--target {word}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_words_are_suggested() {
        let commands = ["run", "plan", "presets", "published"];
        assert_eq!(similar("plna", commands), Some("plan"));
        assert_eq!(similar("Presets", commands), Some("presets"));
        assert_eq!(similar("frobnicate", commands), None);
        assert_eq!(command_meant("histroy", commands).as_deref(), Some("list"));
        assert_eq!(command_meant("plna", commands).as_deref(), Some("plan"));
        assert_eq!(command_meant("bench", commands).as_deref(), Some("run"));
        assert_eq!(
            command_meant("version", commands).as_deref(),
            Some("--version")
        );
        assert_eq!(
            command_meant("/mnt/x", commands).as_deref(),
            Some("run --target /mnt/x")
        );
        assert_eq!(command_meant("frobnicate", commands), None);
        assert_eq!(called_here("--threads=8").as_deref(), Some("--workers N"));
        assert_eq!(called_here("/mnt/x").as_deref(), Some("--target /mnt/x"));
        assert_eq!(called_here("--frobnicate"), None);
    }
}
