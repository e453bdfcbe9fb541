//! Processes replies to CREATE, WRITE and COMMIT.

use engine::{Cause, Errno, OperationKind};
use nfs_client::{Stable, WriteVerifier, results, xdr::Reader};

use super::advance::{Advanced, Context, Next, garbled};
use super::flight::{NfsFlight, Stage};

/// If a server's verifier changes more often than this during one operation, the server is
/// considered defective and the operation fails.
const REWRITES_MAX: u32 = 16;

impl NfsFlight {
    /// Continues after a file was created.
    #[inline]
    pub(super) fn made(&mut self, context: &Context<'_>) -> Advanced {
        match self.call.creation_verifier {
            // An exclusive creation may store the verifier in the times and other attributes, so
            // the attributes are set afterwards.
            Some(_) => Ok(Next::Call(Stage::SetNew)),
            None => self.write_first(context),
        }
    }

    #[inline]
    pub(super) fn write_first(&mut self, context: &Context<'_>) -> Advanced {
        self.done = 0;
        (self.verifier, self.least) = (None, Stable::File);
        if self.content.is_empty() {
            return self.all_written(context);
        }
        Ok(Next::Call(Stage::Write))
    }

    #[inline]
    pub(super) fn written(&mut self, reader: Reader<'_>, context: &mut Context<'_>) -> Advanced {
        let asked = self.write_part(context.sizes).len();
        let result = results::write(reader, asked).map_err(garbled)?;
        if result.count == 0 {
            return Err(Cause::NothingWritten);
        }
        if result.stable < context.durable.stable {
            // The server did not provide the requested durability, and no other call can provide
            // it.
            return Err(Cause::System(Errno::IO));
        }
        context.counters.written_bytes.add(result.count as u64);
        context
            .counters
            .stronger_answers
            .add(u64::from(result.stable > context.durable.stable));
        context.verifiers.saw(&result.verifier, context.counters);
        self.done += result.count as u64;
        self.least = self.least.min(result.stable);
        let commits = context.durable.commits_below.is_some();
        if commits
            && self
                .verifier
                .is_some_and(|before| before != result.verifier)
        {
            return self.write_again(context);
        }
        self.verifier = Some(result.verifier);
        if self.done < self.content.len() as u64 {
            return Ok(Next::Call(Stage::Write));
        }
        self.all_written(context)
    }

    /// Repeats all writes: the verifier changed, so the server restarted and may have lost written
    /// data.
    fn write_again(&mut self, context: &mut Context<'_>) -> Advanced {
        self.rewrites += 1;
        if self.rewrites > REWRITES_MAX {
            return Err(Cause::System(Errno::IO));
        }
        context.counters.rewritten_bytes.add(self.done);
        self.write_first(context)
    }

    #[inline]
    fn all_written(&mut self, context: &Context<'_>) -> Advanced {
        match context.durable.commits_below {
            Some(enough) if self.least < enough => Ok(Next::Call(Stage::Commit)),
            _ => self.all_durable(context),
        }
    }

    #[inline]
    pub(super) fn committed(&mut self, reader: Reader<'_>, context: &mut Context<'_>) -> Advanced {
        let verifier: WriteVerifier = results::commit(reader).map_err(garbled)?;
        context.verifiers.saw(&verifier, context.counters);
        if self.verifier != Some(verifier) {
            return self.write_again(context);
        }
        self.all_durable(context)
    }

    #[inline]
    fn all_durable(&mut self, context: &Context<'_>) -> Advanced {
        Ok(match self.kind {
            OperationKind::CopyTree => return self.copied(context),
            OperationKind::Replace => Next::Call(Stage::Rename),
            OperationKind::Deliver => Next::Call(Stage::LookupNew),
            OperationKind::Install => Next::Call(Stage::SetAttributes),
            OperationKind::LockFile => Next::Call(Stage::Remove),
            _ => Next::Done,
        })
    }
}
