//! Dovecot on Maildir with `mail_fsync = always`. Two clients deliver messages by LMTP, and then
//! read, flag and expunge them by IMAP.

use std::fmt::Write;
use std::time::Duration;

use rustix::process::Signal;

use super::super::application::Application;
use super::super::cell::{Cell, Step, timed};
use super::super::data::Data;
use super::super::needs::Need;
use super::traffic::{SizeRange, Talk, free_port, in_parallel, popular, text, user};
use crate::draws::Draws;
use crate::process::Started;
use crate::result::Result;

const NEEDS: [Need; 2] = [
    Need::Program {
        name: "dovecot",
        install: "apt-get install -y --no-install-recommends dovecot-imapd dovecot-lmtpd",
    },
    Need::Program {
        name: "doveadm",
        install: "apt-get install -y --no-install-recommends dovecot-imapd dovecot-lmtpd",
    },
];
/// The owner of the mailboxes: a user that exists on every Debian system.
const OWNER: &str = "mail";
const CLIENTS: u64 = 2;
const TO_END: Duration = Duration::from_secs(20);

struct Load {
    messages: u64,
    mailboxes: u64,
    /// Zipf exponent of the mailboxes' popularity; 0 if all are equally popular.
    exponent: f64,
    sizes: SizeRange,
    /// Sizes of every fifth message: those with attachments.
    large: SizeRange,
}

/// `Tuned` has the message sizes of the preset `mail`, in equally popular mailboxes. With `Other`,
/// most messages are short, some have attachments, and some mailboxes are busier than others.
fn load(data: Data) -> Load {
    let sizes = |median, sigma| SizeRange {
        median,
        sigma,
        min: 512,
        max: 1 << 20,
    };
    match data {
        Data::Tuned => Load {
            messages: 320,
            mailboxes: 8,
            exponent: 0.0,
            sizes: sizes(8_192.0, 1.3),
            large: sizes(8_192.0, 1.3),
        },
        Data::Other => Load {
            messages: 320,
            mailboxes: 20,
            exponent: 0.6,
            sizes: sizes(4_000.0, 0.9),
            large: sizes(60_000.0, 1.1),
        },
    }
}

pub const APPLICATION: Application = Application {
    name: "dovecot",
    group: "dovecot",
    needs: |_| NEEDS.to_vec(),
    prepare: |cell| {
        let (user, group) = user(OWNER)?;
        let mail = cell.path("mail");
        std::fs::create_dir(&mail)?;
        Ok(std::os::unix::fs::chown(mail, Some(user), Some(group))?)
    },
    run: |cell| {
        session(
            cell,
            &[("read", read), ("flag", flag), ("expunge", expunge)],
        )
    },
    files: "mail",
    has_real_sizes: false,
};

/// The delivery alone.
pub const DELIVERY: Application = Application {
    name: "maildir-delivery",
    run: |cell| session(cell, &[]),
    ..APPLICATION
};

/// Delivers all messages, and then performs each of `acts` in all mailboxes.
fn session(cell: &mut Cell<'_>, acts: &[(&str, Act)]) -> Result<Vec<Step>> {
    let load = load(cell.data);
    let messages = if cell.is_small { 40 } else { load.messages };
    let (lmtp, imap) = (free_port()?, free_port()?);
    let config = cell.outside.join("dovecot.conf");
    std::fs::write(&config, configuration(cell, lmtp, imap)?)?;
    let mut command = cell.command("dovecot");
    let mut dovecot = Started::new(command.arg("-F").arg("-c").arg(&config))?;
    drop(Talk::new(lmtp)?);
    let round = cell.round;
    let deliver = timed("deliver", messages, || {
        in_parallel(CLIENTS, |client| {
            deliver(lmtp, &load, messages / CLIENTS, round, client)
        })
    })?;
    let mut steps = vec![deliver];
    for (name, act) in acts {
        steps.push(timed(name, messages, || {
            in_parallel(CLIENTS, |client| {
                let mut mailboxes = (client..load.mailboxes).step_by(CLIENTS as usize);
                mailboxes.try_for_each(|mailbox| in_mailbox(imap, mailbox, *act))
            })
        })?);
    }
    dovecot.signal(Signal::TERM);
    dovecot.end_within(TO_END)?;
    Ok(steps)
}

fn configuration(cell: &Cell<'_>, lmtp: u16, imap: u16) -> Result<String> {
    let (user, group) = user(OWNER)?;
    let outside = cell.outside.display();
    let mail = cell.path("mail");
    let home = format!("{}/%n", mail.display());
    let mut text = format!(
        "base_dir = {outside}/dovecot\nstate_dir = {outside}/dovecot\n\
         log_path = {outside}/dovecot.log\nprotocols = imap lmtp\nlisten = 127.0.0.1\nssl = no\n\
         disable_plaintext_auth = no\nmail_fsync = always\nmail_location = maildir:~/Maildir\n\
         mail_home = {home}\nmail_uid = {user}\nmail_gid = {group}\nfirst_valid_uid = {user}\n\
         first_valid_gid = {group}\nmail_max_userip_connections = 100\nauth_mechanisms = plain\n\
         passdb {{\n driver = static\n args = password=x\n}}\n\
         userdb {{\n driver = static\n args = uid={user} gid={group} home={home}\n}}\n\
         service stats {{\n unix_listener stats-writer {{\n  mode = 0666\n }}\n}}\n"
    );
    for (service, listener, port) in [
        ("imap-login", "imap", imap),
        ("imap-login", "imaps", 0),
        ("lmtp", "lmtp", lmtp),
    ] {
        let _ = write!(
            text,
            "service {service} {{\n inet_listener {listener} {{\n  port = {port}\n }}\n}}\n"
        );
    }
    Ok(text)
}

fn deliver(port: u16, load: &Load, messages: u64, round: u32, client: u64) -> Result<()> {
    let mut draws = Draws::new(1, "mail", round * 100 + client as u32);
    let mut talk = Talk::new(port)?;
    talk.expect("220")?;
    talk.ask("LHLO x", "250")?;
    for number in 0..messages {
        let mailbox = popular(&mut draws, load.mailboxes, load.exponent);
        let sizes = if number % 5 == 0 {
            load.large
        } else {
            load.sizes
        };
        let body = text(sizes.draw(&mut draws), &mut draws);
        talk.ask("MAIL FROM:<a@example.org>", "250")?;
        talk.ask(&format!("RCPT TO:<u{mailbox}@example.org>"), "250")?;
        talk.ask("DATA", "354")?;
        talk.send(&format!(
            "From: a@example.org\r\nSubject: {number}\r\n\r\n{body}"
        ))?;
        talk.ask(".", "250")?;
    }
    talk.ask("QUIT", "221").map(drop)
}

/// What a client does in the selected mailbox. The second argument is the number of messages.
type Act = fn(&mut Talk, u64) -> Result<()>;

fn in_mailbox(port: u16, mailbox: u64, act: Act) -> Result<()> {
    let mut talk = Talk::new(port)?;
    talk.line()?;
    command(&mut talk, &format!("LOGIN u{mailbox} x"))?;
    let messages = command(&mut talk, "SELECT INBOX")?;
    act(&mut talk, messages)?;
    command(&mut talk, "LOGOUT").map(drop)
}

/// Performs an IMAP command. Returns the number of messages in the mailbox if the reply contains
/// it (`EXISTS`), otherwise 0.
fn command(talk: &mut Talk, words: &str) -> Result<u64> {
    talk.send(&format!("a {words}\r\n"))?;
    let mut messages = 0;
    loop {
        let line = talk.line()?;
        // After a line that ends with `{N}`, a literal of N bytes follows.
        let literal = line
            .strip_suffix('}')
            .and_then(|line| line.rsplit_once('{'));
        if let Some(bytes) = literal.and_then(|(_, bytes)| bytes.parse().ok()) {
            talk.skip(bytes)?;
        }
        if let Some(reply) = line.strip_prefix("a ") {
            return match reply.starts_with("OK") {
                true => Ok(messages),
                false => Err(format!("'{words}': Dovecot answered '{reply}'").into()),
            };
        }
        if let Some(exists) = line
            .strip_prefix("* ")
            .and_then(|of| of.strip_suffix(" EXISTS"))
        {
            messages = exists.parse()?;
        }
    }
}

fn read(talk: &mut Talk, messages: u64) -> Result<()> {
    if messages > 0 {
        command(talk, "FETCH 1:* (UID FLAGS BODY.PEEK[])")?;
    }
    Ok(())
}

fn flag(talk: &mut Talk, messages: u64) -> Result<()> {
    for message in 1..=messages {
        command(talk, &format!("STORE {message} +FLAGS (\\Seen)"))?;
    }
    Ok(())
}

/// Deletes and expunges four messages at a time.
fn expunge(talk: &mut Talk, messages: u64) -> Result<()> {
    for rest in (1..=messages).rev().step_by(4) {
        command(talk, &format!("STORE 1:{} +FLAGS (\\Deleted)", rest.min(4)))?;
        command(talk, "EXPUNGE")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_sets_differ() {
        let [tuned, other] = Data::ALL.map(load);
        assert!(tuned.mailboxes != other.mailboxes && tuned.exponent != other.exponent);
    }
}
