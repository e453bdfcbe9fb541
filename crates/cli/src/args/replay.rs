//! The help of `replay`.

use clap::Command;

/// Text after the options.
pub const AFTER_HELP: &str = "\
The trace is text of strace -f, or packets with calls of NFS version 3. Its names are not used: the
run creates files and directories of its own, and first those that the trace reads.

Examples:
  strace -f -ttt -T -y -s 0 -o trace.txt COMMAND
  postmark replay trace.txt --target /mnt/disk
  postmark replay trace.txt --dry-run
  postmark study --replay trace.txt --target /mnt/disk --target /mnt/other

Exit status: that of 'postmark run'; 2 if the trace cannot be replayed.";

/// Hides the options that a replay cannot have.
pub fn for_replays(command: Command) -> Command {
    let refused = [spec::TRACE_DETERMINES, spec::NOT_OF_REPLAYS].concat();
    command.mut_args(|arg| {
        let name = arg.get_long().unwrap_or_default();
        let name = name.strip_prefix("no-").unwrap_or(name);
        let is_refused = refused.contains(&name) || ["preset", "weight", "replay"].contains(&name);
        let is_hidden = is_refused || arg.is_hide_set();
        arg.hide(is_hidden)
    })
}
