//! Sites: the same bytes from the same files, links that lead somewhere, hostile input, and output
//! directories that contain other files.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use campaign::site::{BuiltSite, SiteRequest, build, check};
use record::study::StudyPart;
use record::{Record, RunId};
use testkit::records::kept;
use testkit::{Assert, Shows};

const HOSTILE: &str =
    "</script><script>alert(1)</script>\"'><img src=x onerror=alert(1)>\u{202e}\u{0}../../x";

fn record(number: u128, change: impl FnOnce(&mut Record)) -> String {
    let mut record = kept();
    record.id = RunId::new(number);
    change(&mut record);
    verdict::to_json(&record)
}

fn built(directory: &Path, output: &Path) -> Result<BuiltSite, String> {
    let request = SiteRequest {
        directory,
        output,
        title: "Results",
        url: None,
    };
    build(request, &|_| None).map_err(|error| error.to_string())
}

/// The files below a directory, with their contents.
fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut open = vec![directory.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(directory).unwrap();
                all.insert(name.to_str().unwrap().to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    all
}

fn text<'a>(files: &'a BTreeMap<String, Vec<u8>>, name: &str) -> &'a str {
    let bytes = files.get(name);
    let bytes = bytes.unwrap_or_else(|| panic!("no {name} in {:?}", files.keys()));
    std::str::from_utf8(bytes).unwrap()
}

/// A study of two cells in five blocks, with the A/A control of the first.
fn study(directory: &Path) {
    let design = "name = \"two\"\ntargets = [\"/a\", \"/b\"]\n[[workload]]\npreset = \"mail\"\n";
    let mut lines = String::new();
    let mut number = 100;
    for block in 1..=5 {
        for (cell, is_twin) in [
            ("target=/a", false),
            ("target=/a", true),
            ("target=/b", false),
        ] {
            number += 1;
            lines += &record(number, |record| {
                record.study = Some(StudyPart {
                    study: "00112233445566778899aabbccddeeff".to_owned(),
                    name: "two".to_owned(),
                    design: design.to_owned(),
                    cell: cell.to_owned(),
                    is_twin,
                    block,
                    attempt: 1,
                    position: 1,
                    ..StudyPart::default()
                });
            });
        }
    }
    fs::write(directory.join("study.jsonl"), lines).unwrap();
}

#[test]
fn same_files_make_the_same_bytes_in_another_place() {
    let place = tempfile::tempdir().unwrap();
    let (one, other) = (place.path().join("one"), place.path().join("deeper/other"));
    for directory in [&one, &other] {
        fs::create_dir_all(directory).unwrap();
        fs::write(directory.join("a.json"), record(1, |_| ())).unwrap();
        study(directory);
    }
    let (first, second) = (place.path().join("first"), place.path().join("second"));
    let found = built(&one, &first).unwrap();
    // The records are older than some rules of `check`, so each has findings.
    assert_eq!((found.runs, found.studies, found.problems), (16, 1, 16));
    built(&other, &second).unwrap();
    assert_eq!(files(&first), files(&second));
    let before = files(&first);
    built(&one, &first).unwrap();
    assert_eq!(files(&first), before);
    for (name, bytes) in &before {
        let text = String::from_utf8_lossy(bytes);
        let is_here = text.contains(place.path().to_str().unwrap());
        assert!(!is_here, "{name} contains the path of the directory");
    }
}

#[test]
fn every_link_leads_to_a_file_of_the_site() {
    let place = tempfile::tempdir().unwrap();
    study(place.path());
    fs::write(place.path().join("a.json"), record(1, |_| ())).unwrap();
    fs::write(
        place.path().join("planned.toml"),
        "targets = [\"/a\", \"/c\"]\n[[workload]]\npreset = \"mail\"\n",
    )
    .unwrap();
    let site = place.path().join("site");
    built(place.path(), &site).unwrap();
    let all = files(&site);
    let mut links = 0;
    for (name, bytes) in all.iter().filter(|(name, _)| name.ends_with(".html")) {
        let page = String::from_utf8_lossy(bytes);
        for part in page.split("href=\"").skip(1) {
            let link = part.split('"').next().unwrap();
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let to = Path::new(name).parent().unwrap().join(path);
            let to = to.to_str().unwrap();
            let to = to.rsplit_once("../").map_or(to, |(_, rest)| rest);
            assert!(path.is_empty() || all.contains_key(to), "{name}: {link}");
            if path.is_empty() {
                page.shows(&format!("id=\"{anchor}\""));
            }
            links += 1;
        }
    }
    assert!(links > 300, "{links}");
    // The rate in the list leads to the record that contains it.
    let rate = "href=\"record/00000000000000000000000000000001.json\"";
    text(&all, "runs.html").shows(rate);
    text(&all, "studies.html").shows("no runs");
}

#[test]
fn hostile_records_change_no_page_and_no_path() {
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("data");
    fs::create_dir(&data).unwrap();
    let hostile = record(7, |record| {
        record.host.hostname = HOSTILE.repeat(10_000);
        record.spec.preset = Some(HOSTILE.to_owned());
        record.locations[0].directory = HOSTILE.to_owned();
        record.study = Some(StudyPart {
            study: "../../../etc/x".to_owned(),
            name: HOSTILE.to_owned(),
            design: HOSTILE.to_owned(),
            cell: HOSTILE.to_owned(),
            block: 1,
            ..StudyPart::default()
        });
    });
    fs::write(data.join(format!("{}.json", "n".repeat(200))), hostile).unwrap();
    let fields: Vec<String> = (0..5_000)
        .map(|field| format!("\"f{field}\":{{}}"))
        .collect();
    fs::write(
        data.join("fields.json"),
        format!("{{{}}}", fields.join(",")),
    )
    .unwrap();
    fs::write(data.join("<img src=x>.json"), "{\"a\": \u{1b}").unwrap();
    fs::write(data.join("no.db"), "SQLite format 3\0").unwrap();
    symlink("/etc/passwd", data.join("link.json")).unwrap();
    symlink("/", data.join("root")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        data.join("pipe.json"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    let site = place.path().join("site");
    let found = built(&data, &site).unwrap();
    assert_eq!(found.runs, 1);
    let all = files(&site);
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2);
    for (name, bytes) in &all {
        let page = String::from_utf8_lossy(bytes);
        // A record is data: no browser interprets it as markup.
        if !name.ends_with(".json") {
            assert!(!page.contains("<script>alert"), "{name}");
            assert!(!page.contains("<img"), "{name}");
        }
        assert!(!page.contains(['\u{202e}', '\0']), "{name}");
        page.len().assert(page.len() < 2 << 20);
    }
    let checks = text(&all, "checks.html");
    for told in [
        "link.json</th><td>it is a symbolic link",
        "root</th><td>it is a symbolic link",
        "pipe.json</th><td>it is not a regular file",
        "no.db</th><td>it is not an archive",
        "fields.json</th><td>document 1: ",
        "&lt;img src=x&gt;.json",
    ] {
        checks.shows(told);
    }
    let index = text(&all, "index.html");
    index.len().assert(index.len() < 100_000);
}

#[test]
fn records_with_the_same_identity_are_used_once() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("a.json"), record(1, |_| ())).unwrap();
    fs::write(place.path().join("b.json"), record(1, |_| ())).unwrap();
    let other = record(1, |record| record.host.hostname = "other".to_owned());
    fs::write(place.path().join("c.json"), other).unwrap();
    let site = place.path().join("site");
    let found = built(place.path(), &site).unwrap();
    assert_eq!((found.runs, found.problems), (1, 2));
    let all = files(&site);
    text(&all, "checks.html").shows("c.json</th><td>document 1: another record");
}

#[test]
fn output_with_other_files_is_refused_and_unchanged() {
    let place = tempfile::tempdir().unwrap();
    let (data, site) = (place.path().join("data"), place.path().join("site"));
    fs::create_dir(&data).unwrap();
    fs::write(data.join("a.json"), record(1, |_| ())).unwrap();
    fs::create_dir(&site).unwrap();
    fs::write(site.join("thesis.txt"), "years of work").unwrap();
    let why = built(&data, &site).unwrap_err();
    why.shows("it has thesis.txt, which no build wrote");
    assert_eq!(files(&site).len(), 1);
    fs::remove_file(site.join("thesis.txt")).unwrap();
    built(&data, &site).unwrap();
    // A file that was added to a site is foreign, too.
    fs::write(site.join("run/notes.txt"), "mine").unwrap();
    let before = files(&site);
    built(&data, &site).unwrap_err().shows("run/notes.txt");
    assert_eq!(files(&site), before);
    fs::remove_file(site.join("run/notes.txt")).unwrap();
    symlink("/etc/passwd", site.join("link")).unwrap();
    built(&data, &site).unwrap_err().shows("it has link");
    fs::remove_file(site.join("link")).unwrap();
    // A site cannot be written where a file exists.
    built(&data, &data.join("a.json"))
        .unwrap_err()
        .shows("it is not a directory");
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2);
}

#[test]
fn interrupted_build_leaves_the_earlier_site_and_is_removed_by_the_next() {
    let place = tempfile::tempdir().unwrap();
    let (data, site) = (place.path().join("data"), place.path().join("site"));
    fs::create_dir(&data).unwrap();
    fs::write(data.join("a.json"), record(1, |_| ())).unwrap();
    built(&data, &site).unwrap();
    let before = files(&site);
    let part = place.path().join(".site.postmark-part");
    fs::create_dir_all(part.join("run")).unwrap();
    fs::write(part.join("run/half.html"), "<p>").unwrap();
    // Without the lock of a build, the directory belongs to someone else.
    built(&data, &site).unwrap_err().shows("no build wrote it");
    fs::write(part.join(".postmark-site-lock"), "").unwrap();
    assert_eq!(files(&site), before);
    built(&data, &site).unwrap();
    assert_eq!(files(&site), before);
    assert!(!part.exists());
    // A directory that cannot be read fails the build, and the site remains.
    built(&place.path().join("missing"), &site).unwrap_err();
    assert_eq!(files(&site), before);
    assert!(!part.exists());
}

#[test]
fn mail_administrators_table_marks_what_is_comparable() {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("data")).unwrap();
    let site = place.path().join("site");
    built(&place.path().join("data"), &site).unwrap();
    let all = files(&site);
    let page = text(&all, "collection/mail-page.html");
    let row = |system: &str| {
        let begin = page
            .find(&format!("<tr><th scope=\"row\">{system}</th>"))
            .unwrap();
        &page[begin..begin + page[begin..].find("</tr>").unwrap()]
    };
    row("UFS")
        .shows("<td>NetApp</td><td><b class=\"mark\">A</b></td><td>1.0</td><td>historic</td>");
    row("PBG3/HFS+").shows("<b class=\"mark\">B</b></td><td>1.5</td>");
    row("TMPFS").shows("<b class=\"mark\">-</b></td><td>neither</td>");
    row("2xP3+MFS").shows("*</a>");
    row("UFS").shows("href=\"../record/published/mail-page.toml\"");
    assert_eq!(page.matches("<h2>").count(), 4);
    text(&all, "record/published/mail-page.toml").shows("name = \"mail-page\"");
    let first = text(&all, "index.html");
    let links: Vec<usize> = ["mail-page", "veritas", "paper"]
        .iter()
        .map(|name| first.find(&format!("collection/{name}.html")).unwrap())
        .collect();
    assert!(links[0] < links[1] && links[0] < links[2]);
}

/// Writes a submission, and returns what its check finds. The findings about the records of these
/// tests are left out: the records are older than some rules of `check`.
fn submission(directory: &Path, text: &str) -> Vec<String> {
    fs::write(directory.join("submission.toml"), text).unwrap();
    let all = check(directory, &|_| None).unwrap();
    assert_eq!(all.len(), 1);
    let problems = all[0].problems.iter();
    let lines = problems.map(|of| format!("{}:{}: {}", of.file, of.line, of.why));
    let lines = lines.filter(|line| !line.ends_with("(submit the file as postmark wrote it)"));
    lines.collect()
}

const DISCLOSED: &str = "contributor = \"A. C.\"\nsystem = \"one\"\ntuned = \"nothing\"\nlicence = \
                         \"CC0-1.0\"\n";

#[test]
fn problems_of_a_submission_have_file_line_and_way_out() {
    let place = tempfile::tempdir().unwrap();
    study(place.path());
    assert_eq!(submission(place.path(), DISCLOSED), [""; 0]);
    let empty = DISCLOSED.replace("\"nothing\"", "\" \"");
    submission(place.path(), &empty)[0]
        .shows("submission.toml:3: tuned: it is empty (write a few words");
    let unknown = format!("{DISCLOSED}licenses = \"x\"\n");
    submission(place.path(), &unknown)[0].shows("submission.toml:5: unknown field `licenses`");
    let class = format!("{DISCLOSED}class = \"best\"\n");
    submission(place.path(), &class)[0].shows("submission.toml:5: class: 'best' is no class");
    let strict = submission(place.path(), &format!("{DISCLOSED}class = \"strict\"\n"));
    // The third run is on the third line.
    assert!(
        strict
            .iter()
            .any(|line| line.starts_with("study.jsonl:3: preset-unchanged: ")
                && line.ends_with("change its operations)")),
        "{strict:?}"
    );
    assert!(
        !strict
            .iter()
            .any(|line| line.contains("blocks-with-control")),
        "{strict:?}"
    );
    fs::write(place.path().join("study.jsonl"), "\n\n{\"record\":\n 1}").unwrap();
    submission(place.path(), DISCLOSED)
        .iter()
        .find(|line| line.starts_with("study.jsonl:4: this is not a record"))
        .unwrap()
        .shows("(submit the file as");
    fs::remove_file(place.path().join("study.jsonl")).unwrap();
    submission(place.path(), DISCLOSED)[0]
        .shows("submission.toml:1: the submission has no records");
    fs::remove_file(place.path().join("submission.toml")).unwrap();
    let none = check(place.path(), &|_| None).unwrap_err();
    none.to_string()
        .shows("has no submission (write a file submission.toml");
}

#[test]
fn classes_follow_the_submission_of_the_nearest_directory() {
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("data");
    fs::create_dir_all(data.join("mine/deeper")).unwrap();
    fs::write(data.join("mine/submission.toml"), DISCLOSED).unwrap();
    fs::write(data.join("mine/deeper/a.json"), record(1, |_| ())).unwrap();
    fs::write(data.join("b.json"), record(2, |_| ())).unwrap();
    let site = place.path().join("site");
    built(&data, &site).unwrap();
    let all = files(&site);
    let page = text(&all, "run/00000000000000000000000000000001.html");
    page.shows("<dt>Class</dt><dd>open</dd>");
    page.shows("<dt>Contributor</dt><dd>A. C.</dd>");
    page.shows("preset-unchanged: ");
    let page = text(&all, "run/00000000000000000000000000000002.html");
    page.shows("<dt>Class</dt><dd>unclassified</dd>");
    // Both have one fingerprint, and are compared in separate tables.
    let workload = all
        .keys()
        .find(|name| name.starts_with("workload/"))
        .unwrap();
    let page = text(&all, workload);
    page.shows("<h3>Class open, ");
    page.shows("<h3>Class unclassified, ");
}
