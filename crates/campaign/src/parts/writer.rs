use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use document::{json_line, sanitize};
use record::Record;
use runner::{Event, Events};

use super::lines::{Begun, MERGED, MERGED_SO_FAR, PartEnded, PartOf, file_name};
use crate::mailbox::Mailbox;
use crate::user::User;

/// Time limit for writing one line.
const PATIENCE: Duration = Duration::from_secs(5);
/// Writes the file of one rank, line by line.
#[derive(Debug)]
pub struct PartsWriter {
    directory: PathBuf,
    path: PathBuf,
    /// Prefix of messages that names the rank; empty for rank 0.
    who: String,
    /// Whether the message for a run that ends early was shown. The message names the directory
    /// that `postmark collect` needs.
    is_told: bool,
    /// Whether to write the merged record of all ranks after each phase, which only rank 0 does.
    merges: bool,
    /// The thread that writes; `None` after the file system did not respond or a write failed.
    writer: Option<Mailbox<String, std::io::Result<()>>>,
    user: User,
}

impl PartsWriter {
    /// Creates the file of a rank, and the directory if necessary. With `force`, an existing file
    /// is replaced, and rank 0 removes the merged records of an earlier run.
    ///
    /// # Errors
    /// Returns the reason as a message.
    pub fn begin(directory: &Path, of: PartOf, force: bool, user: User) -> Result<Self, String> {
        let path = directory.join(file_name(of.rank));
        let (made, at) = (directory.to_owned(), path.clone());
        let replaces = force && of.rank == 0;
        let open = move || {
            fs::create_dir_all(&made)?;
            if replaces {
                remove_merged(&made);
            }
            let mut options = File::options();
            options
                .write(true)
                .create(true)
                .create_new(!force)
                .truncate(force);
            options.open(at)
        };
        let opened = runner::within(PATIENCE, open);
        let shown = sanitize::path(&path);
        let opened = opened.map_err(|why| format!("cannot write {shown}: {why}"))?;
        let mut file = opened.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => {
                format!(
                    "{shown} exists: it is the part of another run (use another directory for \
                     --parts, or --force)"
                )
            }
            _ => format!("cannot write {shown}: {error}"),
        })?;
        let write = move |line: String| {
            let written = file.write_all(line.as_bytes());
            written.and_then(|()| file.sync_data())
        };
        let writer = Mailbox::new("parts", write)
            .map_err(|error| format!("cannot start a thread for {shown}: {error}"))?;
        let mut parts = Self {
            directory: directory.to_owned(),
            path: path.clone(),
            who: match of.rank {
                0 => String::new(),
                rank => format!("rank {rank} ({}): ", sanitize::sanitize(&of.host)),
            },
            is_told: false,
            merges: of.rank == 0,
            writer: Some(writer),
            user,
        };
        parts.write(json_line(&Begun { rank: of }))?;
        Ok(parts)
    }

    /// Returns the directory with the files of this host's ranks.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Writes the last line of the rank's file, after the records of all ranks were merged. Only
    /// rank 0 passes the merged record.
    pub fn finish(&mut self, merged: Option<&Record>) {
        self.add(json_line(&PartEnded { ended: true }));
        match merged.map(|record| self.merge(MERGED, record)) {
            None => {}
            Some(Ok(())) => self.remove_so_far(),
            Some(Err(why)) => self.user.tell(why),
        }
    }

    fn remove_so_far(&self) {
        let so_far = self.directory.join(MERGED_SO_FAR);
        let _ = runner::within(PATIENCE, move || fs::remove_file(so_far));
    }

    /// Writes the merged record of all ranks to the file with this name.
    fn merge(&self, name: &str, record: &Record) -> Result<(), String> {
        let (to, text) = (self.directory.join(name), verdict::to_json(record));
        let shown = sanitize::path(&to).into_owned();
        let written = runner::within(PATIENCE, move || write_whole(&to, &text));
        let written = written.unwrap_or_else(|why| Err(std::io::Error::other(why)));
        written.map_err(|why| format!("cannot write {shown}: {why}"))
    }

    /// Writes the record merged after a phase, unless an earlier write failed.
    fn merge_so_far(&mut self, record: &Record) {
        if !self.merges {
            return;
        }
        if let Err(why) = self.merge(MERGED_SO_FAR, record) {
            self.merges = false;
            // An outdated file would be mistaken for the latest state of the run.
            self.remove_so_far();
            self.user.tell(format_args!(
                "warning: {why}; the run continues without the record of all ranks on disk"
            ));
        }
    }

    /// Removes the rank's file and the merged records, and the directory if it is then empty.
    pub fn remove(self) {
        let (directory, path) = (self.directory, self.path);
        drop(self.writer);
        let remove = move || {
            remove_merged(&directory);
            let _ = fs::remove_file(path);
            // Fails as long as other ranks of this host have files in the directory.
            let _ = fs::remove_dir(directory);
        };
        // If the removal fails, only a few small files of this program remain.
        let _ = runner::within(PATIENCE, remove);
    }

    fn add(&mut self, line: String) {
        if let Err(why) = self.write(line) {
            self.user.tell(format_args!(
                "{}warning: {why}; the run continues without this rank's part on disk",
                self.who
            ));
        }
    }

    fn write(&mut self, line: String) -> Result<(), String> {
        let Some(writer) = &self.writer else {
            return Ok(());
        };
        let why = match writer.orders.send(line) {
            Ok(()) => match writer.answers.recv_timeout(PATIENCE) {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(error)) => error.to_string(),
                Err(_) => format!(
                    "the file system did not answer for {} s",
                    PATIENCE.as_secs()
                ),
            },
            Err(_) => "its thread has ended".to_owned(),
        };
        // Stops writing. The file may end with an incomplete line, after which no further lines
        // could be read.
        self.writer = None;
        Err(format!(
            "cannot write {}: {why}",
            sanitize::path(&self.path)
        ))
    }
}

/// Writes a file atomically: after a crash, it exists completely or not at all.
fn write_whole(to: &Path, text: &str) -> std::io::Result<()> {
    let new = to.with_extension("new");
    let write = || {
        let mut file = File::create(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, to)
    };
    write().inspect_err(|_| drop(fs::remove_file(&new)))
}

fn remove_merged(directory: &Path) {
    for merged in [MERGED, MERGED_SO_FAR] {
        let _ = fs::remove_file(directory.join(merged));
    }
}

impl Events for PartsWriter {
    fn event(&mut self, event: Event) {
        match event {
            Event::RecordOpened(head) => self.add(verdict::to_json(&head)),
            Event::PhaseRecorded(completed) => self.add(json_line(&*completed)),
            Event::RecordMerged(record) => self.merge_so_far(&record),
            // The message is shown at once, because the launcher may kill all ranks one second
            // after it requests their end.
            Event::PhaseAborted(..) if self.who.is_empty() && !self.is_told => {
                self.is_told = true;
                let directory = sanitize::path(&self.directory);
                self.user.tell(format_args!(
                    "the run ends early. If ranks are killed before they have removed the files, \
                     'postmark collect {directory}' makes one record of what they completed (in \
                     that directory on each host)"
                ));
            }
            _ => {}
        }
    }

    fn takes_records(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER: User = User {
        show: |_| (),
        is_interrupted: || false,
    };

    fn part_of(rank: u32) -> PartOf {
        PartOf {
            rank,
            ranks: 4,
            host: "host-1".to_owned(),
            job: "a job".to_owned(),
        }
    }

    #[test]
    fn rank_file_is_created_at_the_beginning_and_removed_after_the_end() {
        let scene = tempfile::tempdir().unwrap();
        let directory = scene.path().join("postmark/parts-1");
        let mut parts = PartsWriter::begin(&directory, part_of(3), false, USER).unwrap();
        let other = PartsWriter::begin(&directory, part_of(1), false, USER).unwrap();
        let text = fs::read_to_string(directory.join("rank-00003.jsonl")).unwrap();
        assert_eq!(
            text,
            "{\"rank\":{\"rank\":3,\"ranks\":4,\"host\":\"host-1\",\"job\":\"a job\"}}\n"
        );
        parts.finish(None);
        let text = fs::read_to_string(directory.join("rank-00003.jsonl")).unwrap();
        assert!(text.ends_with("}\n{\"ended\":true}\n"), "{text}");
        other.remove();
        assert!(directory.join("rank-00003.jsonl").exists());
        parts.remove();
        assert!(!directory.exists());
    }

    #[test]
    fn rank_file_of_another_run_is_overwritten_only_with_force() {
        let scene = tempfile::tempdir().unwrap();
        let began = |force| PartsWriter::begin(scene.path(), part_of(0), force, USER).map(drop);
        assert_eq!(began(false), Ok(()));
        let refused = began(false).unwrap_err();
        assert!(
            refused.contains("rank-00000.jsonl exists") && refused.contains("--force"),
            "{refused}"
        );
        assert_eq!(began(true), Ok(()));
        let refused =
            PartsWriter::begin(Path::new("/dev/null/parts"), part_of(0), false, USER).unwrap_err();
        assert!(
            refused.contains("cannot write /dev/null/parts/rank-00000.jsonl"),
            "{refused}"
        );
    }
}
