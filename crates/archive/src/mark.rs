//! The mark that identifies a process: boot ID, process ID and start time. Other processes use the
//! mark to check whether the process is alive.

use std::path::Path;

/// Returns the text that identifies this process (boot ID, process ID and start time). Returns
/// `None` if the system does not provide these data.
pub fn own_mark() -> Option<String> {
    of(Path::new("/proc"), std::process::id())
}

/// Whether the process that `mark` identifies is alive. A process of another machine, or from
/// before a restart, counts as not alive.
pub(crate) fn is_alive(mark: &str) -> bool {
    is_alive_in(Path::new("/proc"), mark)
}

fn is_alive_in(proc: &Path, mark: &str) -> bool {
    let number = mark
        .split(' ')
        .nth(1)
        .and_then(|number| number.parse().ok());
    number
        .and_then(|number| of(proc, number))
        .is_some_and(|now| now == mark)
}

fn of(proc: &Path, number: u32) -> Option<String> {
    let read = |path: String| std::fs::read_to_string(proc.join(path)).ok();
    let boot = read("sys/kernel/random/boot_id".to_owned())?;
    let facts = read(format!("{number}/stat"))?;
    // The process name, in parentheses, may contain any character (proc_pid_stat(5)). After the
    // name come the state and, 19 fields later, the start time.
    let mut fields = facts.rsplit_once(") ")?.1.split(' ');
    let is_dead = matches!(fields.next()?, "Z" | "X");
    let started = fields.nth(18)?;
    (!is_dead).then(|| format!("{} {number} {started}", boot.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_is_identified_by_boot_id_and_start_time() {
        let proc = tempfile::tempdir().unwrap();
        let tell = |boot: &str, state: &str, started: u64| {
            std::fs::create_dir_all(proc.path().join("sys/kernel/random")).unwrap();
            std::fs::create_dir_all(proc.path().join("42")).unwrap();
            std::fs::write(
                proc.path().join("sys/kernel/random/boot_id"),
                format!("{boot}\n"),
            )
            .unwrap();
            let zeros = "0 ".repeat(18);
            let facts = format!("42 (a) b) {state} {zeros}{started} 0 0\n");
            std::fs::write(proc.path().join("42/stat"), facts).unwrap();
        };
        tell("one", "S", 777);
        let mark = of(proc.path(), 42).unwrap();
        assert_eq!(mark, "one 42 777");
        assert!(is_alive_in(proc.path(), &mark));
        assert!(!is_alive_in(proc.path(), "one 43 777") && !is_alive_in(proc.path(), ""));
        for (boot, state, started) in [("two", "S", 777), ("one", "Z", 777), ("one", "S", 778)] {
            tell(boot, state, started);
            assert!(!is_alive_in(proc.path(), &mark), "{boot} {state} {started}");
        }
    }

    #[test]
    fn own_process_counts_as_alive() {
        assert!(is_alive(&own_mark().unwrap()));
    }
}
