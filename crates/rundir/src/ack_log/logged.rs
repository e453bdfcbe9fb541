//! Reads acknowledgement logs.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use super::entry::{self, Header, Line};
use super::loss::VerifyError;
use super::replay::Replay;

/// The contents of acknowledgement logs, after their replay.
pub(crate) struct Logged {
    pub header: Header,
    pub replay: Replay,
    /// Whether the last log records that all workers have ended.
    pub ended: bool,
    /// Number of files that the run removed after its workers had ended; `None` if not recorded.
    pub removed: Option<u64>,
    pub is_whole: bool,
}

/// Reads the logs of runs, each of which continued on the files of the earlier one.
pub(crate) fn read(logs: &[PathBuf]) -> Result<Logged, VerifyError> {
    let mut logged: Option<Logged> = None;
    for log in logs {
        logged = Some(read_on(log, logged)?);
    }
    logged.ok_or_else(|| VerifyError::new("there is no acknowledgement log".to_owned()))
}

fn read_on(path: &Path, earlier: Option<Logged>) -> Result<Logged, VerifyError> {
    let file = File::open(path).map_err(|answer| entry::unreadable(path, &answer))?;
    let (mut header, mut replay) = earlier.map(|of| (of.header, of.replay)).unzip();
    if let Some(replay) = &mut replay {
        replay
            .begin_next_log()
            .map_err(|why| entry::foreign(path, &why))?;
    }
    let (mut ended, mut removed) = (false, None);
    let is_whole = entry::read(path, BufReader::new(file), &mut |line| {
        match line {
            Line::Header(head) => {
                let is_continued = header.take().is_none_or(|earlier| head.continues(&earlier));
                if !is_continued {
                    return Err("its run did not continue that of the log before it".to_owned());
                }
                let has_own_pools = head.workload.workers.pool_of(0).is_some();
                replay.get_or_insert_with(|| Replay::new(has_own_pools));
                header = Some(*head);
            }
            Line::Begun(entry) => replay.get_or_insert_default().begins(entry)?,
            Line::Acknowledged { worker, sequence } => {
                replay
                    .get_or_insert_default()
                    .acknowledges(worker, sequence)?;
            }
            Line::Ended => ended = true,
            Line::Over { removed: files } => removed = Some(files),
        }
        Ok(())
    })?;
    let (header, replay) = header
        .zip(replay)
        .ok_or_else(|| entry::foreign(path, "it has no first line"))?;
    Ok(Logged {
        header,
        replay,
        ended,
        removed,
        is_whole,
    })
}
