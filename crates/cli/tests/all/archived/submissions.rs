//! Submissions that are exported from one archive and imported into another. Another test compares
//! a run with published results.

use std::fs;
use testkit::Shows;

use super::{Home, text};

/// The configuration of Table 1 in the PostMark paper, but with 2,000 instead of 50,000
/// transactions. So the run is not comparable with the published rows.
const SMALL: &str = "run --quiet --no-overhead --engine posix --files 1000 --transactions 2000 \
                     --read-block 512 --write-block 512";

#[test]
fn submission_of_one_archive_appears_in_the_table_of_another() {
    let ours = Home::new();
    ours.shows(SMALL).code(0);
    let submission = ours.answer("export 1 --submission --by Somebody --system my-machine");
    let file = ours.test_dir.path().join("submission.json");
    fs::write(&file, &submission).unwrap();

    let theirs = Home::new();
    assert_eq!(
        theirs.answer("published submissions"),
        "No submissions (add some with postmark import FILE)\n"
    );
    let import = format!("import {}", text(&file));
    assert_eq!(theirs.answer(&import), "Submission of Somebody: new\n");
    assert_eq!(
        theirs.answer(&import),
        "Submission of Somebody: there already\n"
    );
    assert_eq!(theirs.answer("list"), "No runs\n", "it is no run");
    let table = theirs.answer("published submissions");
    table.shows_all("my-machine | [Somebody] | Transactions per second | Data read | Data written");
    assert_eq!(
        theirs.answer(&format!("published submissions {}", text(&file))),
        table
    );

    // A corrected submission of the same run replaces the earlier one. Then the submission is
    // deleted.
    fs::write(&file, submission.replace("my-machine", "my-old-machine")).unwrap();
    theirs
        .shows(&import)
        .code(0)
        .shows("replaces an earlier one");
    let table = theirs.answer("published submissions");
    table
        .shows("S1 [Somebody]: my-old-machine")
        .does_not_show("S2");
    theirs
        .shows("published submissions --delete 2")
        .code(2)
        .shows("no submission 2");
    assert_eq!(
        theirs.answer("published submissions --delete 1"),
        "Removed submission 1 of Somebody\n"
    );
    assert_eq!(
        theirs.answer("published submissions"),
        "No submissions (add some with postmark import FILE)\n"
    );

    fs::write(&file, submission.replace("Somebody", "\\u001b[2J")).unwrap();
    theirs.shows(&import).code(1).shows("contributor");
    ours.shows("export 1 --submission").code(2).shows("--by");
    ours.shows("export 1 --submission --by A --system B --format csv")
        .code(2);
}

#[test]
fn run_is_compared_with_published_rows_of_its_configuration() {
    let home = Home::new();
    home.row("run --quiet --no-overhead --no-series --preset paper-1000-50000 | 0");
    let report = home.answer("show 1");
    let beside = home.answer("show 1 --with-published");
    beside.begins_with(&report);
    let told = &beside[report.len()..];
    told.shows("NFS/F630").shows("253");
    assert_eq!(told.trim(), home.answer("published beside 1").trim());
    let archive = home.archive();
    let elsewhere = Home::new();
    let beside = elsewhere.answer(&format!("published beside 1 --archive {}", text(&archive)));
    assert_eq!(told.trim(), beside.trim());
    home.row("show 1 --with-published --format json | 2 | --format text");
}
