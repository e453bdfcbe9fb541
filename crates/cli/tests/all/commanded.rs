//! Performs commands of the classic prompt from an untrusted source, as if they came from a pipe,
//! in the versions 1.0 and 1.5 of PostMark. No file is opened and no run is performed. The test
//! `hostile.rs` uses stored inputs, and the fuzz target `config_classic` generates new inputs.

use std::io::Write;
use std::path::Path;

use campaign::classic::{ClassicRunner, Interpreter, Plain, PromptSettings, RunEnd, Streams};
use document::sanitize;
use record::{Classic, ClassicFigures, Edition, End};

/// Commands that open a file. The name of the file follows the command.
const OF_FILES: [&[u8]; 3] = [b"run", b"show", b"load"];

/// # Panics
/// Panics if the session fails, its exit status is above 1, or a message has harmful characters.
pub fn command(bytes: &[u8]) {
    let lines = bytes.split(|byte| *byte == b'\n').map(without_file);
    let lines = lines.collect::<Vec<&[u8]>>().join(&b'\n');
    for edition in [Edition::V1_0, Edition::V1_5] {
        let (mut output, mut errors) = (Vec::new(), Vec::new());
        let mut engine = NoRuns;
        let streams = Streams {
            output: &mut output,
            errors: &mut errors,
        };
        let settings = PromptSettings::new(edition);
        let mut interpreter = Interpreter::new(settings, &mut engine, streams, false);
        let file = Some(Path::new("/dev/null"));
        let ended = interpreter.session(file, &mut Plain::new(&lines[..]));
        // A line may have at most 1 MiB, so a session may fail only if its input is longer than
        // that.
        assert!(ended.is_ok_and(|code| code <= 1) || lines.len() > 1 << 20);
        let errors = String::from_utf8(errors).expect("what is complained of is a text");
        assert!(
            !errors
                .contains(|character: char| character != '\n' && sanitize::is_harmful(character)),
            "{errors:?}"
        );
        let is_ours = |line: &str| line.starts_with("Error: ") || line.starts_with("Warning: ");
        assert!(errors.lines().all(is_ours), "{errors}");
    }
}

/// Removes the file name after one of the commands [`OF_FILES`], so that the session opens no file.
fn without_file(line: &[u8]) -> &[u8] {
    let command = OF_FILES.iter().find(|command| line.starts_with(command));
    command.map_or(line, |command| &line[..command.len()])
}

/// A runner for the prompt that performs no run, but returns extreme figures.
struct NoRuns;

impl ClassicRunner for NoRuns {
    fn run(
        &mut self,
        settings: &PromptSettings,
        workload: Classic,
        _: &mut dyn Write,
        _: &mut dyn Write,
    ) -> RunEnd {
        assert!(workload.validate().is_ok(), "{workload:?}");
        RunEnd::Complete(ClassicFigures {
            edition: settings.edition,
            end: End::Complete,
            began_s: i64::MAX,
            transactions_began_s: 0,
            transactions_ended_s: -1,
            ended_s: i64::MIN,
            transactions: workload.transactions,
            created_alone: workload.files,
            created_mixed: workload.transactions,
            read: workload.transactions,
            appended: workload.transactions,
            deleted_alone: workload.files,
            deleted_mixed: workload.transactions,
            bytes_read: f32::MAX.into(),
            bytes_written: 0.0,
        })
    }
}
