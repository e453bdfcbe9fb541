//! The head of a line of strace: process and time, and what follows.

/// What a line of strace contains after its head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body<'a> {
    /// A whole call with its result.
    Call(&'a [u8]),
    /// The start of a call that a later line completes.
    Unfinished(&'a [u8]),
    /// The end of an unfinished call.
    Resumed(&'a [u8]),
    /// The thread ended.
    Exited,
    /// A signal, or a message of strace.
    Other,
}

/// The time at the start of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// Nanoseconds since the epoch, or since midnight (options `-ttt`, `-tt` and `-t`).
    At(u64),
    /// Nanoseconds since the previous line (option `-r`).
    SinceLast(u64),
}

/// A line of strace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// The thread's number; 0 if the line has none, as without `-f`.
    pub thread: u32,
    pub time: Option<Time>,
    pub body: Body<'a>,
}

/// Numbers of seconds from this one on (the year 1973) are times since the epoch. Smaller numbers
/// are times since the previous line.
const EPOCH_MIN_NS: u64 = 100_000_000 * 1_000_000_000;

/// Parses a line, which may be incomplete.
pub fn parse(line: &[u8]) -> Line<'_> {
    let (thread, rest) = thread(line.trim_ascii());
    let (time, rest) = time(rest);
    Line {
        thread,
        time,
        body: body(rest),
    }
}

fn body(rest: &[u8]) -> Body<'_> {
    if let Some(rest) = rest.strip_prefix(b"<... ") {
        let end = find(rest, b" resumed>");
        return end.map_or(Body::Other, |end| Body::Resumed(&rest[end + 9..]));
    }
    if rest.starts_with(b"+++ ") {
        return Body::Exited;
    }
    if let Some(start) = rest.strip_suffix(b"<unfinished ...>") {
        return Body::Unfinished(start.trim_ascii_end());
    }
    match rest.first() {
        Some(b'a'..=b'z' | b'_') => Body::Call(rest),
        _ => Body::Other,
    }
}

/// Splits off the number of the thread: `123 `, or `[pid 123] `.
fn thread(line: &[u8]) -> (u32, &[u8]) {
    let in_brackets = line.strip_prefix(b"[pid ").map(<[u8]>::trim_ascii_start);
    let text = in_brackets.unwrap_or(line);
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let end: &[u8] = match in_brackets {
        Some(_) => b"]",
        None => b" ",
    };
    let number = std::str::from_utf8(&text[..digits]).ok();
    match (
        number.and_then(|number| number.parse().ok()),
        text[digits..].strip_prefix(end),
    ) {
        (Some(thread), Some(rest)) => (thread, rest.trim_ascii_start()),
        _ => (0, line),
    }
}

/// Splits off the time: `12:34:56`, `12:34:56.123456`, `1700000000.123456` or `0.000123`.
fn time(line: &[u8]) -> (Option<Time>, &[u8]) {
    let length = line.iter().position(|byte| *byte == b' ').unwrap_or(0);
    let (word, rest) = line.split_at(length);
    let parts: Vec<&[u8]> = word.split(|byte| *byte == b':').collect();
    let found = match parts[..] {
        [seconds] if word.contains(&b'.') => nanoseconds(seconds).map(|ns| match ns {
            EPOCH_MIN_NS.. => Time::At(ns),
            _ => Time::SinceLast(ns),
        }),
        [hours, minutes, seconds] => clock(hours, minutes, seconds).map(Time::At),
        _ => None,
    };
    match found {
        Some(time) => (Some(time), rest.trim_ascii_start()),
        None => (None, line),
    }
}

fn clock(hours: &[u8], minutes: &[u8], seconds: &[u8]) -> Option<u64> {
    let minutes = nanoseconds(hours)?
        .checked_mul(60)?
        .checked_add(nanoseconds(minutes)?)?;
    minutes.checked_mul(60)?.checked_add(nanoseconds(seconds)?)
}

/// Parses a number of seconds with up to nine decimals, in nanoseconds.
pub fn nanoseconds(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    let (seconds, decimals) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if seconds.is_empty() || !is_number(seconds) || !is_number(decimals) || decimals.len() > 9 {
        return None;
    }
    let seconds: u64 = seconds.parse().ok()?;
    let fraction: u64 = format!("{decimals:0<9}").parse().ok()?;
    seconds.checked_mul(1_000_000_000)?.checked_add(fraction)
}

pub fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len())
        .position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_of_all_options_are_parsed() {
        let at = |ns| Some(Time::At(ns));
        let rows = [
            ("close(3) = 0", 0, None),
            ("71 close(3) = 0", 71, None),
            ("[pid   71] close(3) = 0", 71, None),
            (
                "71 1700000000.000002 close(3) = 0",
                71,
                at(1_700_000_000_000_002_000),
            ),
            (
                "[pid 71] 01:00:02.5 close(3) = 0",
                71,
                at(3_602_500_000_000),
            ),
            ("01:00:02 close(3) = 0", 0, at(3_602_000_000_000)),
            (
                "     0.000101 close(3) = 0",
                0,
                Some(Time::SinceLast(101_000)),
            ),
        ];
        for (text, thread, time) in rows {
            let line = parse(text.as_bytes());
            assert_eq!((line.thread, line.time), (thread, time), "{text}");
            assert_eq!(line.body, Body::Call(b"close(3) = 0"), "{text}");
        }
    }

    #[test]
    fn bodies_other_than_calls_are_recognized() {
        let rows: [(&str, Body<'_>); 5] = [
            ("7 read(3,  <unfinished ...>", Body::Unfinished(b"read(3,")),
            (
                "7 <... read resumed>\"x\", 1) = 1",
                Body::Resumed(b"\"x\", 1) = 1"),
            ),
            ("7 +++ exited with 0 +++", Body::Exited),
            ("7 --- SIGCHLD {si_signo=SIGCHLD} ---", Body::Other),
            (
                "strace: Process 8 attached",
                Body::Call(b"strace: Process 8 attached"),
            ),
        ];
        for (text, body) in rows {
            assert_eq!(parse(text.as_bytes()).body, body, "{text}");
        }
        assert_eq!(nanoseconds(b"99999999999999999999"), None);
    }
}
