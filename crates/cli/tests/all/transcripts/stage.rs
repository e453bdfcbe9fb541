//! Where the commands of a page are performed: directories and servers of the test, in place of
//! those of the book.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::nfs::ganesha::Ganesha;
use crate::original;
use crate::s3::store::Store;

/// Whether the transcripts are written, and not compared.
pub(super) fn is_written() -> bool {
    std::env::var_os("POSTMARK_WRITE_GOLDEN").is_some()
}

/// Replacements that make the run of a comparison short.
const SHORTER: [(&str, &str); 8] = [
    (" --for 60s", " --for 500ms"),
    (" --for 20s", " --for 500ms"),
    (" --for 10s", " --for 500ms"),
    (" --for 2s", " --for 500ms"),
    (" --files 10k", " --files 300"),
    ("set number 20000", "set number 200"),
    ("set transactions 100000", "set transactions 500"),
    (
        "postmark study ",
        "postmark study --for 100ms --quiet-time 0s --durability none ",
    ),
];

/// Pages with studies of many runs. They are performed in memory, because each run syncs its file
/// system, with all that other tests wrote to it.
const STUDIES: [&str; 2] = [
    "tutorial/two-configurations.md",
    "how-to/kernel-or-firmware.md",
];

/// The targets of the book that are directories.
const DIRECTORIES: [&str; 3] = ["/mnt/disk", "/mnt/a", "/mnt/b"];

/// A server of a page, with the URLs of the book and those of the test.
enum Server {
    Nfs(Ganesha),
    S3(Box<Store>),
}

pub(super) struct Stage {
    /// Working directory, with the archive.
    place: TempDir,
    targets: TempDir,
    server: Option<Server>,
}

impl Stage {
    /// `None` if the machine cannot start the server of the page.
    pub(super) fn of(page: &str) -> Option<Self> {
        let server = match page {
            "how-to/nfs.md" | "how-to/which-server.md" => Some(Server::Nfs(Ganesha::start()?)),
            "how-to/object-storage.md" => Some(Server::S3(Box::new(Store::versitygw()?))),
            _ => None,
        };
        let place = tempfile::tempdir_in("/var/tmp").unwrap();
        let targets = if STUDIES.contains(&page) {
            original::directory()
        } else {
            tempfile::tempdir_in("/var/tmp").unwrap()
        };
        for directory in DIRECTORIES {
            let name = Path::new(directory).file_name().unwrap();
            std::fs::create_dir(targets.path().join(name)).unwrap();
        }
        symlink(original::ours(), place.path().join("postmark")).unwrap();
        Some(Self {
            place,
            targets,
            server,
        })
    }

    /// Pairs of a target in the book and one of this test.
    fn replacements(&self) -> Vec<(&'static str, String)> {
        let mut pairs: Vec<(&str, String)> = DIRECTORIES
            .iter()
            .map(|book| {
                let own = self.targets.path().join(&book["/mnt/".len()..]);
                (*book, own.display().to_string())
            })
            .collect();
        match &self.server {
            None => {}
            Some(Server::Nfs(server)) => {
                let [first, second] = ["export", "privileged"]
                    .map(|path| format!("'{}&privport=1'", server.url(path)));
                pairs.push(("nfs://server/export", first.clone()));
                pairs.push(("nfs://server-a/export", first));
                pairs.push(("nfs://server-b/export", second));
            }
            Some(Server::S3(server)) => {
                let url = server.url();
                pairs.push(("s3://bucket/tests?endpoint=http://host:9000", url));
            }
        }
        pairs
    }

    /// A shell in the network of the page's server, with its credentials.
    fn shell(&self) -> Command {
        let shell = Path::new("sh");
        match &self.server {
            None => Command::new(shell),
            Some(Server::Nfs(server)) => server.command(shell),
            Some(Server::S3(server)) => {
                let mut command = Command::new(shell);
                server.set_environment(&mut command);
                command
            }
        }
    }

    /// Performs a command of the book, and returns its output with the paths of the book.
    pub(super) fn perform(&self, command: &str) -> String {
        let command = command.trim_start_matches("$ ").trim_end();
        let pairs = self.replacements();
        let mut placed = pairs.iter().fold(command.to_owned(), |text, (book, own)| {
            text.replace(book, own)
        });
        // A plan of a short run has other verdicts.
        if !is_written() && !command.starts_with("postmark plan") {
            placed = shortened(&placed);
        }
        let path = std::env::var("PATH").unwrap();
        let output = self
            .shell()
            .args(["-c", &format!("({placed}) 2>&1")])
            .current_dir(self.place.path())
            .env("PATH", format!("{}:{path}", self.place.path().display()))
            .env("COLUMNS", "92")
            .env("POSTMARK_ARCHIVE", self.place.path().join("archive.db"))
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{placed}\n{text}");
        let text = pairs
            .iter()
            .fold(text, |text, (book, own)| text.replace(own, book));
        // Messages about the archive name a path of the test.
        let lines = text.lines().filter(|line| !line.starts_with("postmark: "));
        lines.map(|line| format!("{line}\n")).collect()
    }
}

/// A command with short times and small pools. A pool of thousands of files takes most of the time
/// of a short run, where other tests use the disk.
fn shortened(command: &str) -> String {
    let mut short = command.to_owned();
    if command.starts_with("postmark run") && command.contains("://") {
        // A server on a busy machine performs few operations in a short time.
        short = short.replace(" --for 10s", " --transactions 150");
    }
    short = SHORTER
        .iter()
        .fold(short, |text, (from, to)| text.replace(from, to));
    for (preset, files) in [("mail", 300), ("web-cache", 300), ("varmail", 30)] {
        if !command.contains(" --files ") {
            let option = format!(" --preset {preset} ");
            short = short.replace(&option, &format!("{option}--files {files} "));
        }
    }
    short
}
