//! INN: articles arrive by TAKETHIS, are read through nnrpd, and then all expire. Each article is
//! a file (tradspool), and each group has files for its overview (tradindexed).

use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use super::super::application::Application;
use super::super::cell::{Cell, Step, timed};
use super::super::data::Data;
use super::super::needs::Need;
use super::traffic::{SizeRange, Talk, free_port, in_parallel, popular, text, user};
use crate::draws::Draws;
use crate::process::{Started, output};
use crate::result::Result;

/// INN is not configured on a host whose name has no domain, unless its configuration names one.
const NEEDS: [Need; 1] = [Need::Program {
    name: "innd",
    install: "apt-get install -y --no-install-recommends inn2 || {
        echo 'domain: localdomain.example' >>/etc/news/inn.conf && dpkg --configure inn2; }",
}];
const PROGRAMS: &str = "/usr/lib/news/bin";
const OWNER: &str = "news";
const READERS: u64 = 2;
const TO_END: Duration = Duration::from_secs(20);
/// One article in ten is posted to two groups.
const CROSSPOST: u64 = 10;

struct Load {
    articles: u64,
    groups: u64,
    exponent: f64,
    sizes: SizeRange,
}

/// `Tuned` has the article sizes of the preset `news`, in equally popular groups.
fn load(data: Data) -> Load {
    let (groups, exponent, median, sigma) =
        data.choose((64, 0.0, 3_072.0, 1.0), (150, 0.5, 1_700.0, 0.7));
    Load {
        articles: 3_000,
        groups,
        exponent,
        sizes: SizeRange {
            median,
            sigma,
            min: 400,
            max: 128 << 10,
        },
    }
}

pub const APPLICATION: Application = Application {
    name: "inn",
    group: "inn",
    needs: |_| NEEDS.to_vec(),
    prepare,
    run,
    files: "spool/articles",
    has_real_sizes: false,
};

/// The directory of INN's configuration, which is not on the measured file system.
fn etc(cell: &Cell<'_>) -> PathBuf {
    cell.outside.join("news")
}

fn prepare(cell: &mut Cell<'_>) -> Result<()> {
    let spool = cell.path("spool");
    let etc = etc(cell);
    drop(std::fs::remove_dir_all(&etc));
    output(Command::new("cp").args(["-a", "/etc/news"]).arg(&etc))?;
    let parts = [
        "articles", "overview", "db", "run", "log", "tmp", "outgoing", "incoming", "archive",
        "innfeed", "http",
    ];
    for part in parts {
        std::fs::create_dir_all(spool.join(part))?;
    }
    write_configuration(cell)?;
    let mut active = String::new();
    let special = [
        "control",
        "control.cancel",
        "control.checkgroups",
        "control.newgroup",
        "control.rmgroup",
        "junk",
    ];
    for name in special {
        active.push_str(&format!("{name} 0000000000 0000000001 n\n"));
    }
    for group in 0..load(cell.data).groups {
        active.push_str(&format!("bench.g{group} 0000000000 0000000001 y\n"));
    }
    let db = spool.join("db");
    std::fs::write(db.join("active"), active)?;
    std::fs::write(db.join("newsgroups"), "")?;
    std::fs::write(db.join("history"), "")?;
    std::fs::write(db.join("active.times"), "0:news\n")?;
    output(
        Command::new("chown")
            .args(["-R", "news:news"])
            .arg(&spool)
            .arg(&etc),
    )?;
    let mut makedbz = Command::new(format!("{PROGRAMS}/makedbz"));
    makedbz.args(["-i", "-o", "-f"]).arg(db.join("history"));
    output(as_news(cell, &mut makedbz)?).map(drop)
}

/// Changes the copy of Debian's configuration: articles, overviews, databases and logs are on the
/// measured file system.
fn write_configuration(cell: &Cell<'_>) -> Result<()> {
    let (spool, etc) = (cell.path("spool"), etc(cell));
    let file = etc.join("inn.conf");
    let spool_text = spool.display();
    let paths = [
        ("pathdb", "db"),
        ("patharticles", "articles"),
        ("pathoverview", "overview"),
        ("pathrun", "run"),
        ("pathlog", "log"),
        ("pathtmp", "tmp"),
        ("pathincoming", "incoming"),
        ("pathoutgoing", "outgoing"),
        ("patharchive", "archive"),
        ("pathhttp", "http"),
    ];
    let mut settings: Vec<(&str, String)> = paths
        .map(|(name, part)| (name, format!("{spool_text}/{part}")))
        .to_vec();
    settings.extend([
        ("pathspool", spool_text.to_string()),
        ("pathetc", etc.display().to_string()),
        ("pathhost", "news.example.org".to_owned()),
        ("domain", "example.org".to_owned()),
        ("nnrpdloadlimit", "0".to_owned()),
    ]);
    let is_kept = |line: &&str| {
        let name = line.split(':').next().unwrap_or_default().trim();
        settings.iter().all(|(other, _)| name != *other)
    };
    let debian = std::fs::read_to_string(&file)?;
    let mut text: String = debian
        .lines()
        .filter(is_kept)
        .map(|of| format!("{of}\n"))
        .collect();
    for (name, value) in &settings {
        text.push_str(&format!("{name}: {value}\n"));
    }
    std::fs::write(file, text)?;
    std::fs::write(etc.join("expire.ctl"), "/remember/:0\n*:A:0:0:0\n")?;
    Ok(std::fs::write(etc.join("newsfeeds"), "ME:*::\n")?)
}

/// Lets a program run as the user `news` with this configuration.
fn as_news<'a>(cell: &Cell<'_>, command: &'a mut Command) -> Result<&'a mut Command> {
    let (user, group) = user(OWNER)?;
    Ok(command
        .env("INNCONF", etc(cell).join("inn.conf"))
        .uid(user)
        .gid(group))
}

fn start(cell: &mut Cell<'_>, program: &str, words: &str) -> Result<Started> {
    let mut command = cell.command(&format!("{PROGRAMS}/{program}"));
    command.args(words.split(' '));
    Started::new(as_news(cell, &mut command)?)
}

fn run(cell: &mut Cell<'_>) -> Result<Vec<Step>> {
    let load = load(cell.data);
    let articles = load.articles / if cell.is_small { 20 } else { 1 };
    let (port, reader_port) = (free_port()?, free_port()?);
    let mut innd = start(cell, "innd", &format!("-f -N -P {port}"))?;
    let mut nnrpd = start(
        cell,
        "nnrpd",
        &format!("-D -f -p {reader_port} -4 127.0.0.1"),
    )?;
    drop(Talk::new(port)?);
    let round = cell.round;
    let feed = timed("feed", articles, || feed(port, &load, articles, round))?;
    let read = timed("read", articles * 2 / 3, || {
        in_parallel(READERS, |client| {
            read(
                reader_port,
                &load,
                articles * 2 / 3 / READERS,
                round,
                client,
            )
        })
    })?;
    let spool = cell.path("spool");
    let list = spool.join("tmp/expired").display().to_string();
    let spool_text = spool.display();
    let script = format!(
        "{PROGRAMS}/expireover -N -Z /dev/null -z {list} >/dev/null 2>&1; \
         {PROGRAMS}/fastrm {spool_text}/articles <{list}"
    );
    let mut command = cell.script(&script);
    as_news(cell, &mut command)?;
    let expire = timed("expire", articles, || output(&mut command).map(drop))?;
    for server in [&mut nnrpd, &mut innd] {
        server.signal(Signal::TERM);
        // innd handles the signal only when a connection arrives. An error is ignored, because
        // innd may already have ended.
        drop(TcpStream::connect(("127.0.0.1", port)));
        server.end_within(TO_END)?;
    }
    Ok(vec![feed, read, expire])
}

fn feed(port: u16, load: &Load, articles: u64, round: u32) -> Result<()> {
    let mut draws = Draws::new(1, "news", round);
    let mut talk = Talk::new(port)?;
    talk.expect("20")?;
    talk.ask("MODE STREAM", "203")?;
    let date = output(Command::new("date").arg("-R"))?;
    for number in 0..articles {
        let mut groups = format!("bench.g{}", popular(&mut draws, load.groups, load.exponent));
        if number % CROSSPOST == 0 {
            groups.push_str(&format!(",bench.g{}", draws.below(load.groups)));
        }
        let id = format!("<{round}.{number}@example.org>");
        let body = text(load.sizes.draw(&mut draws), &mut draws);
        talk.send(&format!(
            "TAKETHIS {id}\r\nPath: feeder.example.org!not-for-mail\r\nFrom: a@example.org\r\n\
             Newsgroups: {groups}\r\nSubject: {number}\r\nDate: {}\r\nMessage-ID: {id}\r\n\r\n\
             {body}.\r\n",
            date.trim_end()
        ))?;
        talk.expect("239")?;
    }
    talk.ask("QUIT", "205").map(drop)
}

/// Reads the overviews of popular groups, and ten articles of each.
fn read(port: u16, load: &Load, articles: u64, round: u32, client: u64) -> Result<()> {
    /// Number of articles that a client reads before it selects another group.
    const OF_A_GROUP: u64 = 10;
    let mut draws = Draws::new(1, "readers", round * 100 + client as u32);
    let mut talk = Talk::new(port)?;
    talk.expect("20")?;
    let mut done = 0;
    while done < articles {
        let group = popular(&mut draws, load.groups, load.exponent);
        let reply = talk.ask(&format!("GROUP bench.g{group}"), "211")?;
        let numbers: Vec<u64> = reply
            .split(' ')
            .filter_map(|word| word.parse().ok())
            .collect();
        let [_, count, low, high] = numbers[..] else {
            return Err(format!("nnrpd answered '{reply}'").into());
        };
        // A group without articles counts as one article, so that the loop ends.
        done += 1;
        if count == 0 {
            continue;
        }
        talk.ask(&format!("OVER {low}-{high}"), "224")?;
        talk.skip_to_dot()?;
        for _ in 0..OF_A_GROUP {
            talk.ask(&format!("ARTICLE {}", draws.between(low, high)), "220")?;
            talk.skip_to_dot()?;
        }
        done += OF_A_GROUP - 1;
    }
    talk.ask("QUIT", "205").map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_sets_differ() {
        let [tuned, other] = Data::ALL.map(load);
        assert!(tuned.groups != other.groups && tuned.sizes.median != other.sizes.median);
    }
}
