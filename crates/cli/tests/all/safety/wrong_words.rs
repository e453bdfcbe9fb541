//! The program refuses invalid arguments before it changes anything, with exit status 2. The
//! message contains the position, the problem and the correct form.

use testkit::rows;

use crate::support::interface::postmark;
use crate::support::test_dir::{create_user_files, write};
use crate::support::{Ended, Running, Snapshot, TestDir};

/// A location, which is the working directory of the program, and a configuration file in the
/// directory above.
pub struct Place {
    pub test_dir: TestDir,
    before: Snapshot,
}

impl Place {
    pub fn new() -> Self {
        let test_dir = TestDir::new();
        let location = test_dir.directory("location");
        create_user_files(&location);
        let before = Snapshot::of(&location);
        Self { test_dir, before }
    }

    /// Runs the program with the arguments in `words`, separated by blanks.
    pub fn say(&self, words: &str) -> Ended {
        let location = self.test_dir.path().join("location");
        let mut command = postmark(words);
        command.current_dir(&location);
        let ended = Running::run_to_end(command, &location);
        self.before.assert_kept(&location, &ended);
        ended
    }

    /// Asserts that the program refuses the arguments of each row, with all texts of the row in its
    /// message. Lines of a usage message may be wrapped.
    pub fn refuses_all(&self, table: &str) {
        for row in rows(table) {
            let ended = self.say(row[0]);
            ended.code(2);
            ended.assert(
                ended.output.is_empty(),
                "it says something on standard output",
            );
            let errors = ended
                .errors
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ");
            for told in &row[1..] {
                ended.assert(errors.contains(told), &format!("'{told}' is not told"));
            }
        }
    }

    pub fn configure(&self, text: &str) {
        write(&self.test_dir.path().join("config.toml"), text, 0o644);
    }

    /// Asserts that the program refuses the configuration file of each row, with a message that
    /// contains all texts of the row and the text `of_all`. The characters `\n` in a row stand for
    /// a line break.
    pub fn refuses_all_files(&self, table: &str, of_all: &str) {
        for row in rows(table) {
            self.configure(&row[0].replace("\\n", "\n"));
            let ended = self.say("run --config ../config.toml");
            ended.code(2).shows(of_all);
            for told in &row[1..] {
                ended.assert(
                    ended.errors.contains(told),
                    &format!("'{told}' is not told"),
                );
            }
        }
    }
}

/// Rows of arguments and the texts that the error message must contain.
const WRONG_OPTIONS: &str = "
    run --files | --files
    run --files none | --files | none
    run --files -5 | -5
    run --files 0 | number of files 0
    run --files 1e3 | --files | 1e3
    run --files 99999999999999999999 | --files
    run --files 99999999999999 | at most
    run --transactions 1.5 | --transactions | 1.5
    run --transactions 10MB | --transactions | 10MB
    run --size 0 | at least 1
    run --size 10..5 | sizes 10..5 | options
    run --size 5.. | --size
    run --size big | --size | big
    run --size 3GiB | at most 2147483647
    run --read-block 0 | read block
    run --write-block 4GiB | write block
    run --write-block 1k2 | --write-block | 1k2
    run --dirs 0 | subdirectories 0
    run --dirs 5000000000 | 5000000000
    run --bias-read 11 | 11 | 0 to 10
    run --bias-create -2 | -2 | 0 to 10
    run --bias-read much | --bias-read | much
    run --seed -1 | -1
    run --seed 4294967296 | --seed | 4294967296
    run --engine tape | --engine | tape | posix
    run --compat 2.0 | --compat | 2.0
    run --format yaml | --format | yaml | json
    run --preset nothing | nothing | postmark presets
    run --config nowhere.toml | nowhere.toml
    run --weight 3 | --weight 3 | --target
    run --target . --weight 3 --weight 4 | --weight 4
    run --target . --weight 0 | weight 0
    run --target . --weight some | --weight | some
    run --compat 1.0 --target . --target .. | 1.0 | exactly one
    run --target | --target
    run --file 5 | --file
    run somewhere | somewhere
    run --output | --output
    plan --files 0 | number of files 0
    clean | PATH
    clean --all | --all
    presets 5 | 5
    --compat 1.7 | 1.7
    --bogus | --bogus
    --no-space-check run | 'run' | must follow it
    --compat 1.0 plan | 'plan' | ./plan
    one two | 'one' is neither a command
";

/// Words that parsing libraries use in errors. They do not explain what is wrong with an option, so
/// messages must not contain them.
const OF_LIBRARIES: &str =
    "float literal,invalid digit,cannot parse,target type,f64,i64,u64,u32,untagged,variant of";

/// Options whose values contain numbers.
const OPTIONS: &str = "
    files transactions for warm-up rate round sweep slo size read-block write-block
    bias-read bias-create seed contents dedup mix append-size range-size size-max popularity
    dirs entries-max tree-levels names think align workers writers readers durability on-error
    stall-timeout weight
";

/// For an invalid value of one of the [`OPTIONS`], the message contains the option, the value and
/// the expected form.
#[test]
fn invalid_numbers_are_refused_with_the_expected_form() {
    let place = Place::new();
    for option in OPTIONS.split_whitespace() {
        for value in "junk,,1x,--,1..2..3,0x10,184467440737095516160x".split(',') {
            let ended = place.say(&format!("run --target . --{option}={value}"));
            ended
                .code(2)
                .shows(&format!("--{option}"))
                .shows(&format!("'{value}'"));
            for word in OF_LIBRARIES.split(',') {
                ended.does_not_show(word);
            }
            let mut expected = "write,use,expected,whole number,possible values".split(',');
            ended.assert(
                expected.any(|word| ended.errors.contains(word)),
                "what is expected is not told",
            );
        }
        // No option accepts any of these values: a list, the string `x`, and a date.
        for value in ["[\"x\"]", "\"x\"", "1979-05-27"] {
            place.configure(&format!("{option} = {value}\n"));
            let ended = place.say("run --config ../config.toml");
            ended.code(2).shows("line 1").shows(option);
            for word in OF_LIBRARIES.split(',') {
                ended.does_not_show(word);
            }
        }
    }
    for words in ["list --limit some", "list --limit="] {
        place.say(words).code(2).shows("expected a whole number");
    }
}

#[test]
fn invalid_options_are_refused() {
    Place::new().refuses_all(WRONG_OPTIONS);
}

/// Options of other programs and mistyped commands, with the suggestion in the error message.
const MISTAKES: &str = "
    plna | did you mean 'postmark plan'?
    plna --files 3 | did you mean 'postmark plan'?
    shwo last | did you mean 'postmark show'?
    run --threads 4 | postmark: unknown option '--threads' (use --workers N)
    run --ioengine sync
        | postmark: unknown option '--ioengine' (use --engine NAME ('postmark engines' lists
    run --duration=60 | (use --for TIME
    run /mnt/x | (use --target /mnt/x)
    run --preset Mail | did you mean 'mail'?
    --preset mail | (use 'postmark run --preset mail')
    run --file 3 | postmark: unknown option '--file' (did you mean '--files'?)
    run --files | postmark: a value is required for --files
    run --files 10q | postmark: invalid value '10q' for --files: unknown unit 'q' (use k
    run --engine tape | postmark: invalid value 'tape' for --engine: expected stdio,
    show | (see 'postmark show --help')
";

#[test]
fn message_about_a_mistyped_word_has_a_suggestion() {
    Place::new().refuses_all(MISTAKES);
}

const WRONG_FILES: &str = r#"
    files =  | line 1
    files = 10\nfilse = 20\n | line 2 | filse
    files = -10\n | line 1 | negative
    files = "many"\n | many
    engine = "tape"\n | tape
    compat = "3"\n | line 1 | 3
    [[target]]\nweight = 3\n | path
    [[target]]\npath = "."\nweight = -3\n | line 3
    [[target]]\npath = "."\nwieght = 3\n | wieght
    not a configuration at all\n | line 1
    files = 1\nfiles = 2\n | line 2
"#;

#[test]
fn invalid_configuration_files_are_refused() {
    let place = Place::new();
    place.refuses_all_files(WRONG_FILES, "config.toml");
    // A file that is not UTF-8 is refused, too. A valid file in its place is accepted.
    std::fs::write(
        place.test_dir.path().join("config.toml"),
        b"files = 1\xff\n",
    )
    .unwrap();
    let words = "run --config ../config.toml";
    place.say(words).code(2).shows("config.toml");
    place.configure("files = 20\nseed = 7\n");
    place.say(words).code(0);
}

/// The prompt ignores an invalid value and continues, as the original does. The exit status does
/// not report the invalid value.
#[test]
fn invalid_values_at_the_prompt_have_no_effect() {
    let place = Place::new();
    let commands = place.test_dir.path().join("commands");
    for line in [
        "set size 0 5000",
        "set number 0",
        "set number -3",
        "set transactions -1",
        "set read 0",
        "set write -1",
        "set bias read 11",
        "set bias create 12",
        "set subdirectories -1",
        "set location",
        "set location -/nowhere",
    ] {
        write(
            &commands,
            &format!("{line}\nset transactions 20\nset number 10\nrun\nquit\n"),
            0o644,
        );
        let ended = place.say("../commands");
        ended.code(0).shows("Error:").shows("seconds total");
    }
}
