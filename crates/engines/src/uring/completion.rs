//! Checks the results of requests, and decides how an operation continues after a chain.

use engine::{Cause, DIRECT_ALIGNMENT, Errno, Failure, Steps};

use super::flight::{Context, Flight, OpenFile, Sent, Trouble, TroubleKind};
use super::stage::Stage;
use crate::calls::INTERRUPTIONS_MAX;

/// How an operation continues after a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The operation needs another chain.
    Chain,
    /// The operation has ended; its outcome is stored in the flight.
    Ended,
}

impl Flight {
    /// Processes the result of the request with this index in the chain. Returns whether all
    /// requests of the chain are complete.
    #[inline]
    pub(super) fn answered(
        &mut self,
        index: usize,
        result: i32,
        context: &Context,
        steps: &mut dyn Steps,
    ) -> bool {
        self.pending -= 1;
        let sent = self.sent[index];
        let stage = self.stages[sent.stage];
        let answer = u32::try_from(result).map_err(|_| Errno::from_raw_os_error(-result));
        if let Ok(answer) = answer {
            self.follow_file(stage, answer, context);
        }
        // After a failure, the kernel cancels the later requests of the chain, so their results are
        // ignored.
        if self.trouble.is_none() {
            match self.judge(stage, sent, answer) {
                Ok(true) => self.finish(sent.stage, steps),
                Ok(false) => {}
                Err(kind) => {
                    let stage = sent.stage;
                    self.trouble = Some(Trouble { stage, kind });
                }
            }
        }
        self.pending == 0
    }

    /// After a successful request, records whether the operation's file is open.
    #[inline]
    fn follow_file(&mut self, stage: Stage, answer: u32, context: &Context) {
        if stage.opens() {
            self.file = match context.chains {
                true => OpenFile::Fixed,
                false => OpenFile::Descriptor(answer as i32),
            };
        } else if stage.closes() {
            self.file = OpenFile::None;
        }
    }

    /// Checks the result of a request. Returns `false` if further requests must complete the same
    /// stage.
    #[inline]
    fn judge(
        &mut self,
        stage: Stage,
        sent: Sent,
        answer: Result<u32, Errno>,
    ) -> Result<bool, TroubleKind> {
        let wrong = |errno| TroubleKind::Wrong(Cause::System(errno));
        let (expected, otherwise) = match stage {
            Stage::MakeExisting => (Errno::EXIST, Errno::NOENT),
            Stage::StatMissing | Stage::OpenMissing(_) | Stage::Absent => {
                (Errno::NOENT, Errno::EXIST)
            }
            _ => {
                let answer = answer.map_err(wrong)?;
                return self.judge_success(stage, sent, answer);
            }
        };
        match answer {
            Ok(_) => Err(wrong(otherwise)),
            Err(errno) if errno == expected => Ok(true),
            Err(errno) => Err(wrong(errno)),
        }
    }

    #[inline]
    fn judge_success(
        &mut self,
        stage: Stage,
        sent: Sent,
        answer: u32,
    ) -> Result<bool, TroubleKind> {
        match stage {
            Stage::Read | Stage::Write => {
                self.done += u64::from(answer);
                match answer < sent.bytes {
                    true => Err(TroubleKind::Short(answer)),
                    false => Ok(Some(self.done) == self.bytes),
                }
            }
            Stage::Stat => {
                let found = self.answered_stat.stx_size;
                match self.bytes.filter(|expected| *expected != found) {
                    Some(expected) => Err(TroubleKind::Wrong(Cause::WrongSize { found, expected })),
                    None => Ok(true),
                }
            }
            Stage::GetExtended => match self.answered_value[..answer as usize] == self.value {
                true => Ok(true),
                false => Err(TroubleKind::Wrong(Cause::WrongValue)),
            },
            _ => Ok(true),
        }
    }

    /// Reports the end of a stage, and of following stages that have no bytes to move.
    #[inline]
    fn finish(&mut self, stage: usize, steps: &mut dyn Steps) {
        self.next = stage;
        loop {
            let stage = self.stages[self.next];
            self.next += 1;
            if stage.ends_step() {
                steps.of(self.ticket);
                steps.ended(stage.step());
            }
            let following = self.stages.get(self.next);
            if self.bytes != Some(0) || !following.is_some_and(|stage| stage.moves()) {
                return;
            }
        }
    }

    /// Decides how the operation continues after a chain. `stops` returns whether the run is
    /// stopping.
    pub(super) fn after_chain(&mut self, context: &Context, stops: impl Fn() -> bool) -> Next {
        let Some(trouble) = self.trouble.take() else {
            if self.next == self.stages.len() {
                return Next::Ended;
            }
            if self.stages[self.next].moves() && self.done > 0 && stops() {
                return self.fail(self.next, Cause::Stopped);
            }
            return Next::Chain;
        };
        let stage = self.stages[trouble.stage];
        match trouble.kind {
            TroubleKind::Wrong(Cause::System(Errno::INTR))
                if self.interruptions < INTERRUPTIONS_MAX =>
            {
                self.interruptions += 1;
                Next::Chain
            }
            TroubleKind::Wrong(Cause::System(Errno::INVAL | Errno::NOSYS))
                if stage == (Stage::Rename { replaces: false }) =>
            {
                // The file system does not support `RENAME_NOREPLACE`.
                self.rename_by_looking(trouble.stage);
                Next::Chain
            }
            TroubleKind::Wrong(cause) => self.fail(trouble.stage, cause),
            TroubleKind::Short(0) if stage == Stage::Write => {
                self.fail(trouble.stage, Cause::NothingWritten)
            }
            TroubleKind::Short(_) if stage == Stage::Write => Next::Chain,
            TroubleKind::Short(moved) => {
                // With direct I/O, a read that ends at an unaligned offset has reached the end of
                // the file. No other read may start at this offset.
                let is_aligned = self.done.is_multiple_of(DIRECT_ALIGNMENT as u64);
                if moved > 0 && (is_aligned || !context.is_direct()) {
                    return Next::Chain;
                }
                let (read, expected) = (self.done, self.bytes.unwrap_or(0));
                self.fail(trouble.stage, Cause::EndedEarly { read, expected })
            }
        }
    }

    /// Replaces a rename that must not overwrite a file by two stages: a check that the new name is
    /// absent, and a plain rename.
    pub(super) fn rename_by_looking(&mut self, stage: usize) {
        self.stages[stage] = Stage::Rename { replaces: true };
        self.stages.insert(stage, Stage::Absent);
    }

    /// Ends the operation with a failure, after its file is closed.
    #[cold]
    fn fail(&mut self, stage: usize, cause: Cause) -> Next {
        let step = self.stages[stage].step();
        self.outcome = Err(Failure::wrong(step, cause).having_moved(self.done));
        if self.file == OpenFile::None {
            return Next::Ended;
        }
        self.stages.clear();
        self.stages.push(Stage::Abandon);
        self.next = 0;
        Next::Chain
    }
}
