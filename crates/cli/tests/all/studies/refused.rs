//! Studies that are refused before they create anything: invalid study files, missing programs,
//! missing rights.

use std::fs;
use std::path::Path;

use testkit::table;

use super::{LITTLE, Lab};
use crate::support::interface::{postmark, program_for_all};
use crate::support::running::in_shell;
use crate::support::test_dir::set_mode;
use crate::support::{Ended, Running};

const WORKLOAD: &str = "[[workload]]\nfiles = 50\nfor = \"50ms\"\n";
const PLACES: &str = "targets = [\"/A\", \"/B\"]\n";

/// Lines that follow [`PLACES`] in a study file, and what the error message contains: line, reason
/// and remedy.
const WRONG: &str = r#"
    colour = 1\n[[workload]]\n | line 2 | unknown field `colour` | expected one of `name`
    [[workload]]\ncolour = 1\n | line 3 | colour: runs have no such option
        | 'postmark run --help' lists all
    [[workload]]\nfiles = 1\nfiles = 2\n | line 4 | duplicate key |
    [[workload]\n | line 2 | unclosed array table | expected `]`
    blocks = 0\n[[workload]]\n | line 2 | blocks = 0 | expected a whole number from 1 to 10000
    [[workload]]\n[axes]\nworkers = []\n | line 4 | the axis is empty | give it at least one value
    [[workload]]\n[axes]\nworkers = [1,\n1]\n | line 5 | 1 is there twice | remove one
    [[workload]]\n[axes]\nfiles = [100, -5]\n | line 4 | -5 is negative |
    [[workload]]\n[axes]\nfiles = ["many"]\n | line 4 | 'many' is not a number | like 20k, 4KiB
    [[workload]]\n[axes]\nworkers = [0]\n | line 2 | invalid number of workers 0
        | expected 1 to 4096
    [[workload]]\n[[workload]]\n | line 3 | classic is there twice | a name of its own
    [[workload]]\nsize = "1TiB"\n | line 2 | invalid size of 1099511627776 bytes | expected at most
    [[workload]]\npreset = "post"\n | line 2 | no preset has this name
        | 'postmark presets' lists them
    [[workload]]\ntarget = "/x"\n | line 3 | a study decides this | remove the key
    [[workload]]\nage = 2000\n | line 3 | age = 2000 | expected a whole number from 0 to 1000
    [[workload]]\nfullness = 50\n | line 1 | is a directory
        | fullness needs targets that the study makes
    baseline = "c"\n[[workload]]\n | line 2 | baseline = "c" | expected one of
    until = "2"\n[[workload]]\n | line 2 | until = "2" | like "2%"
    metrics = ["speed"]\n[[workload]]\n | line 2 | unknown metric 'speed' | use transactions
    quiet-time = "5"\n[[workload]]\n | line 2 | '5' has no unit of time | like 10ms, 2s or 1m
    \n | | there is no workload | add a [[workload]]
"#;

/// Invalid targets in study files that are otherwise valid.
const WRONG_TARGETS: &str = r#"
    "make:ext4?size=1MiB" | invalid size of 1048576 bytes for ext4 | expected 16777216 to
    "make:ext4?size=9000000000GiB" | invalid size | expected 16777216 to
    "make:zfs" | unknown kind of file system 'zfs' | use tmpfs, ext2
    "make:tmpfs?colour=red" | unknown key 'colour' | use size, mkfs
    "make:tmpfs?size=8MiB&in=/no/such" | /no/such |
    "/no/such" | cannot use the target /no/such | No such file or directory
    "/etc/passwd" | cannot use the target /etc/passwd | it is not a directory
    "here" | the target here must be an absolute path | from another directory
    "/A", "/A" | /A is there twice | a name of its own
    { name = "x", path = "/A" } | expected a directory | { name =
"#;

impl Lab {
    /// Performs a study whose file has this text, in which "/A" and "/B" stand for directories of
    /// the test.
    fn study(&self, text: &str) -> Ended {
        let text = ["A", "B"].into_iter().fold(text.to_owned(), |text, name| {
            let directory = self.path(&name.to_lowercase());
            text.replace(
                &format!("\"/{name}\""),
                &format!("\"{}\"", directory.display()),
            )
        });
        fs::write(self.path("study.toml"), text).unwrap();
        self.shows("study study.toml")
    }

    /// Asserts that the study is refused with a message of one line, and creates nothing.
    fn is_refused(&self, ended: &Ended) {
        ended.code(2);
        ended.assert(ended.output.is_empty(), "something was shown");
        ended.assert(ended.errors.lines().count() == 1, "it is not one line");
        ended.assert(
            ended.errors.starts_with("postmark: ") && !ended.errors.contains("\\n"),
            "it is not one line",
        );
        ended.assert(!self.archive.exists(), "there is an archive");
        self.is_clean(&[], ended);
    }
}

#[test]
fn message_about_an_invalid_study_file_has_line_reason_and_remedy() {
    let lab = Lab::new();
    for [rest, line, reason, remedy] in table(WRONG) {
        let ended = lab.study(&format!("{PLACES}{}", rest.replace("\\n", "\n")));
        lab.is_refused(&ended);
        ended
            .shows("the study file study.toml is wrong: ")
            .shows(line)
            .shows(reason)
            .shows(remedy);
    }
    let numbers = (1..=1000)
        .map(|number| number.to_string())
        .collect::<Vec<_>>()
        .join(",");
    let million = format!("{PLACES}{WORKLOAD}[axes]\nfiles = [{numbers}]\nworkers = [{numbers}]\n");
    let ended = lab.study(&million);
    lab.is_refused(&ended);
    ended.shows("line 6: it has 2000000 cells, more than 1000 (use fewer values for its axes)");
    let ended = lab.study(WORKLOAD);
    lab.is_refused(&ended);
    ended.shows("there is no target").shows("add targets = ");
}

#[test]
fn message_about_an_invalid_target_has_line_reason_and_remedy() {
    let Some(lab) = Lab::rooted() else { return };
    for [target, reason, remedy] in table(WRONG_TARGETS) {
        let other = lab.path("b").display().to_string();
        let ended = lab.study(&format!(
            "name = \"wrong\"\n\ntargets = [{target}, \"{other}\"]\n{WORKLOAD}"
        ));
        lab.is_refused(&ended);
        let reason = reason.replace("/A", &lab.path("a").display().to_string());
        ended.shows("line 3: ").shows(&reason).shows(remedy);
    }
}

#[test]
fn invalid_study_options_are_refused() {
    let lab = Lab::new();
    for [words, told, remedy] in table(
        "
            study missing.toml | cannot read the study file missing.toml
            study a | cannot read the study file a | for a target, use --target a
            study a b | unexpected argument 'b' | for a target, use --target b
            study --preset mail -t a b | for a target, use --target b
            study a b --preset mail | for a target, use --target b
            study | there is no target
            study --files 20k -t make:ext4?size=16MiB -t a | not enough space on the file system \
                of make:ext4?size=16MiB | make a larger file system, like 'make:ext4?size=8GiB'
            study --target a --colour 1 | unknown option '--colour'
            study --target a --wokers 2 | '--workers'? For several values: --axis workers=A,B
            study --target a --workers 1,4 | for several values: --axis workers=1,4
            study --target a --sweep auto | --sweep is for a single run
            study --target a --axis colour=1 | unknown option 'colour' for --axis
            study --target a --axis wokers=1,4 | did you mean 'workers'? --axis workers=1,4 for
            study --target a --axis workers | expected OPTION=VALUE
            study --target a --axis workers= | workers: ''
            study --target a --blocks 0 | blocks = 0
            study --target a --side x --block 1 | --tag
            study --target a --side x --block 0 --tag t | --block
            study --target a --side x --block 11 --tag t | there is no block 11 | --blocks 11
            study --target a --target a | is there twice
            study --target a | use 'postmark run --repeat 10' to repeat its run
            study --target a --dry-run | --axis workers=1,4
            study --resume | there is no archive
            study --resume --files 3 | --files cannot be used with --resume
            study study.toml --files 3 | --files cannot be used with a study file
            ",
    ) {
        let ended = lab.shows(words);
        ended.shows(told).shows(remedy);
        lab.is_refused(&ended);
    }
    let mut none = postmark("study --target a --archive none");
    none.current_dir(lab.test_dir.path());
    let ended = Running::run_to_end(none, lab.test_dir.path());
    lab.is_refused(&ended);
    ended.shows("a study keeps its runs in an archive");
}

#[test]
fn refused_study_leaves_the_archive_unchanged() {
    let lab = Lab::new();
    // A study may compare a directory with itself, under another name.
    lab.answer(&format!(
        "study {LITTLE} --blocks 1 --target a --target again=a"
    ));
    let before = fs::read(&lab.archive).unwrap();
    lab.study(&format!("{PLACES}colour = 1\n")).code(2);
    lab.shows("study --resume nothing").code(2);
    lab.row(&format!("study {LITTLE} --target a --target no-such | 2"));
    assert!(before == fs::read(&lab.archive).unwrap());
}

#[test]
fn durable_study_in_memory_is_refused_before_it_makes_anything() {
    let lab = Lab::new();
    for [words, told] in table(
        "
            --durability fsync --target a --target again=a | fsync, but
            --axis durability=none,fsync --target a | fsync, but
            --durability batch:8 --target b --target again=b | batch:8, but
            ",
    ) {
        let ended = lab.shows(&format!("study {LITTLE} {words}"));
        lab.is_refused(&ended);
        ended
            .shows("its runs would be INVALID (durability-in-memory): they have durability ")
            .shows(told)
            .shows("lies in memory, where no disk stores what is synced");
    }
}

/// An engine that lacks an operation refuses a study with the message that it refuses a run with,
/// for targets that exist and for scratch file systems.
#[test]
fn study_of_operations_that_its_engine_lacks_is_refused_like_a_run() {
    let lab = Lab::new();
    let told = "--engine stdio cannot perform 'set extended attribute' (use --engine posix or raw)";
    let server = "--engine s3 cannot perform 'set extended attribute': S3 has no call for it";
    for (words, told) in [
        ("--engine stdio --target a --target again=a", told),
        ("--axis engine=posix,stdio --target a", told),
        (
            "--engine stdio --target make:tmpfs?size=64MiB --target a",
            told,
        ),
        (
            "--target s3://127.0.0.1:1/b/1 --target s3://127.0.0.1:1/b/2",
            server,
        ),
    ] {
        for dry_run in ["", "--dry-run"] {
            let words = format!("study --mix set-xattr=1 --files 9 {dry_run} {words}");
            let ended = lab.shows(&words);
            lab.is_refused(&ended);
            ended.shows(told);
        }
    }
    let run = lab.shows("run --mix set-xattr=1 --engine stdio --target a");
    run.code(2).shows(told);
}

/// Like the test above, for a scratch file system whose image would be in memory. Neither root nor
/// mkfs is needed, because the study is refused first.
#[test]
fn durable_study_on_an_image_in_memory_is_refused_before_it_makes_anything() {
    let lab = Lab::new();
    let image = |size: &str| format!("make:ext4?size={size}&in=/dev/shm");
    let words = format!(
        "--durability fsync --target {} --target b={}",
        image("1GiB"),
        image("2GiB")
    );
    let ended = lab.shows(&format!("study {LITTLE} {words}"));
    lab.is_refused(&ended);
    ended
        .shows("its runs would be INVALID (durability-in-memory): they have durability fsync, but ")
        .shows("has its image in memory, so no disk stores what is synced (use a target on a disk");
}

/// The study runs in a mount namespace that hides mkfs, so that other tests still find mkfs.
#[test]
fn missing_mkfs_is_reported_before_anything_is_created() {
    let Some(lab) = Lab::rooted() else { return };
    for kind in ["ext4", "xfs", "btrfs"] {
        let words = format!(
            "study {LITTLE} --target a --target {}",
            lab.made(kind, "512MiB")
        );
        let script =
            format!("mount --bind /dev/null \"$(command -v mkfs.{kind})\" && exec \"$0\" \"$@\"");
        let shell = in_shell(&script, &lab.command(&words));
        let mut command = Running::command(Path::new("unshare"));
        command.args(["--mount", "--propagation", "private"]);
        command
            .arg(shell.get_program())
            .args(shell.get_args())
            .current_dir(lab.test_dir.path());
        let ended = Running::run_to_end(command, lab.test_dir.path());
        lab.is_refused(&ended);
        ended
            .shows(&format!("mkfs.{kind} is not installed"))
            .shows("install the package");
    }
}

#[test]
fn scratch_file_systems_require_root() {
    let Some(lab) = Lab::rooted() else { return };
    let copy = program_for_all(&lab.test_dir);
    set_mode(lab.test_dir.path(), 0o777);
    set_mode(&lab.path("a"), 0o777);
    let as_nobody = |words: &str| {
        let command = lab.command_of(&copy, words);
        let mut nobody = Running::command(Path::new("setpriv"));
        nobody.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
        nobody.arg(command.get_program()).args(command.get_args());
        nobody.current_dir(lab.test_dir.path());
        Running::run_to_end(nobody, lab.test_dir.path())
    };
    for kind in ["tmpfs", "ext4", "overlay"] {
        let ended = as_nobody(&format!(
            "study {LITTLE} --target a --target {}",
            lab.made(kind, "32MiB")
        ));
        lab.is_refused(&ended);
        ended.shows("needs root").shows("run as root");
    }
    let ended = as_nobody(&format!(
        "study {LITTLE} --blocks 1 --no-twin --axis workers=1,2 --target a"
    ));
    ended.code(0);
    lab.is_complete(1, 2);
}
