//! Generated traffic for servers, and connections to servers with text protocols.

use crate::result::Result;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use nix::unistd::User;

use crate::draws::Draws;

/// Time limit for a server to start, and for each of its replies.
const PATIENCE: Duration = Duration::from_secs(60);

/// The distribution of sizes of messages and objects: lognormal, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct SizeRange {
    pub median: f64,
    pub sigma: f64,
    pub min: u64,
    pub max: u64,
}

impl SizeRange {
    pub fn draw(&self, draws: &mut Draws) -> u64 {
        let size = self.median * (self.sigma * draws.normal()).exp();
        (size as u64).clamp(self.min, self.max)
    }
}

/// Draws a number from 0 to `count` - 1 by Zipf's distribution. A greater exponent makes low
/// numbers more probable. With the exponent 0, all numbers are equally probable.
pub fn popular(draws: &mut Draws, count: u64, exponent: f64) -> u64 {
    // The inverse of the continuous distribution with density x^-exponent, for exponents below 1.
    let power = 1.0 / (1.0 - exponent);
    ((count as f64 * draws.unit().powf(power)) as u64).min(count - 1)
}

/// About `bytes` bytes of text in lines that end with CR and LF, and never begin with a dot.
pub fn text(bytes: u64, draws: &mut Draws) -> String {
    let mut text = String::new();
    while (text.len() as u64) < bytes {
        let length = (bytes - text.len() as u64).clamp(3, 76) - 2;
        let letter = |draws: &mut Draws| char::from(b'a' + draws.below(26) as u8);
        text.extend((0..length).map(|_| letter(draws)));
        text.push_str("\r\n");
    }
    text
}

/// A free port of the loopback interface.
pub fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// The ID of a user, and the ID of the user's primary group.
pub fn user(name: &str) -> Result<(u32, u32)> {
    let user = User::from_name(name)?.ok_or_else(|| format!("there is no user '{name}'"))?;
    Ok((user.uid.as_raw(), user.gid.as_raw()))
}

/// A connection to a server.
pub struct Talk {
    reader: BufReader<TcpStream>,
    writer: TcpStream,
}

impl Talk {
    /// Connects, as soon as the server listens.
    pub fn new(port: u16) -> Result<Self> {
        let began = Instant::now();
        let writer = loop {
            match TcpStream::connect(("127.0.0.1", port)) {
                Ok(stream) => break stream,
                Err(error) if began.elapsed() > PATIENCE => {
                    return Err(format!("no server on port {port}: {error}").into());
                }
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        writer.set_nodelay(true)?;
        writer.set_read_timeout(Some(PATIENCE))?;
        let reader = BufReader::new(writer.try_clone()?);
        Ok(Self { reader, writer })
    }

    pub fn send(&mut self, text: &str) -> Result<()> {
        Ok(self.writer.write_all(text.as_bytes())?)
    }

    /// The next line of the server, without CR and LF. A closed connection is an error.
    pub fn line(&mut self) -> Result<String> {
        let mut line = Vec::new();
        // Without TCP_QUICKACK, a server that sends a reply in two parts waits up to 40 ms for the
        // acknowledgement of the first part. The kernel resets the option after a short time.
        rustix::net::sockopt::set_tcp_quickack(&self.writer, true)?;
        if self.reader.read_until(b'\n', &mut line)? == 0 {
            return Err("the server closed the connection".into());
        }
        Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
    }

    /// Reads a reply of one or more lines, as in SMTP: after `250-`, another line follows. Each
    /// line must begin with `code`. Returns the last line.
    pub fn expect(&mut self, code: &str) -> Result<String> {
        loop {
            let line = self.line()?;
            if !line.starts_with(code) {
                return Err(format!("the server answered '{line}', expected {code}").into());
            }
            if line.as_bytes().get(3) != Some(&b'-') {
                return Ok(line);
            }
        }
    }

    /// Sends a line and returns the reply, which must begin with `code`.
    pub fn ask(&mut self, line: &str, code: &str) -> Result<String> {
        self.send(&format!("{line}\r\n"))?;
        self.expect(code)
    }

    /// Reads and discards this number of bytes.
    pub fn skip(&mut self, bytes: u64) -> Result<()> {
        let read = std::io::copy(&mut (&mut self.reader).take(bytes), &mut std::io::sink())?;
        if read < bytes {
            return Err("the server closed the connection".into());
        }
        Ok(())
    }

    /// Reads lines up to one that consists of a single dot.
    pub fn skip_to_dot(&mut self) -> Result<()> {
        while self.line()? != "." {}
        Ok(())
    }
}

/// Performs `work` for the clients 0 to `clients` - 1, each in a separate thread.
pub fn in_parallel(clients: u64, work: impl Fn(u64) -> Result<()> + Sync) -> Result<()> {
    // Errors become strings, because a boxed error cannot be sent between threads.
    let work = |client| work(client).map_err(|error| error.to_string());
    let work = &work;
    std::thread::scope(|scope| {
        let threads = (0..clients).map(|client| scope.spawn(move || work(client)));
        // `collect` starts all threads before the first one is joined.
        let threads: Vec<_> = threads.collect();
        for thread in threads {
            thread.join().map_err(|_| "a client panicked")??;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_its_size_and_no_line_that_ends_a_message() {
        let mut draws = Draws::new(1, "test", 0);
        for bytes in [1, 76, 77, 500, 10_000] {
            let text = text(bytes, &mut draws);
            assert!((bytes..bytes + 3).contains(&(text.len() as u64)), "{bytes}");
            assert!(text.ends_with("\r\n") && !text.contains('.'));
        }
    }

    #[test]
    fn low_numbers_are_drawn_more_often_with_a_greater_exponent() {
        let mut draws = Draws::new(1, "test", 0);
        let mut first_tenth = |exponent: f64| {
            let drawn = (0..10_000).map(|_| popular(&mut draws, 100, exponent));
            drawn.filter(|place| *place < 10).count()
        };
        assert!((800..1_200).contains(&first_tenth(0.0)));
        // The first tenth of the numbers gets 0.1^(1 - 0.8) = 63 % of the draws.
        assert!((6_000..6_600).contains(&first_tenth(0.8)));
    }
}
