//! The texts that the original PostMark prints for a result: banner, verbose report and terse
//! report. Also scales the sizes in these texts.
//!
//! The code of the interactive mode contains the original's other texts (`show`, help, progress),
//! and uses the scaling of this module. The arithmetic is that of Debian's x86-64 binary: whole
//! seconds in 32 bits, truncating integer rates, and 32-bit float rates and byte sums. For version
//! 1.0 of PostMark, byte sums are whole numbers, as the figures published for that version show.

use std::fmt::Write as _;

use document::Format;
use record::{ClassicFigures, Edition, End, Outcome, Record};

/// The first line of an interactive session, including the line break.
pub const fn banner(edition: Edition) -> &'static str {
    match edition {
        Edition::V1_0 => "PostMark v1.00 : 8/11/97\n",
        Edition::V1_5 => "PostMark v1.51 : 8/14/01\n",
    }
}

/// The report of a run in the given format. Empty if the run ran out of files, as in the original.
/// Version 1.0 of PostMark has no terse format, so its report is always verbose.
pub fn report(figures: &ClassicFigures, format: Format) -> String {
    if figures.end != End::Complete {
        return String::new();
    }
    match (figures.edition, format) {
        (Edition::V1_5, Format::Terse) => terse(figures),
        _ => verbose(figures),
    }
}

/// Replaces the report of a run that ran out of files, for which the original prints nothing.
pub const NO_REPORT: &str = "NO REPORT: out of files before the last transaction; increase the \
                             number of files or decrease the number of transactions\n";

/// Replaces the report of a run that ended before its first file and has no figures.
pub const NOTHING: &str = "PARTIAL RESULT, not a report: nothing was done\n";

/// The results of an incomplete run, in one line that no script mistakes for a report.
pub fn partial(figures: &ClassicFigures) -> String {
    format!(
        "PARTIAL RESULT, not a report: {} files created, {} read, {} appended to, {} deleted; \
         {:.0} bytes read, {:.0} bytes written; {} s\n",
        figures.created_alone + figures.created_mixed,
        figures.read,
        figures.appended,
        figures.deleted_alone + figures.deleted_mixed,
        figures.bytes_read,
        figures.bytes_written,
        figures.ended_s.wrapping_sub(figures.began_s),
    )
}

/// Returns the report of a record or, if the run has no report, a line that no script mistakes for
/// a report.
pub fn of_record(record: &Record, format: Format) -> String {
    match (&record.actual.classic, &record.actual.outcome) {
        (None, _) => NOTHING.to_owned(),
        (Some(figures), Outcome::Complete) => match figures.end {
            End::Complete => report(figures, format),
            _ => NO_REPORT.to_owned(),
        },
        (Some(figures), _) => partial(figures),
    }
}

pub fn verbose(figures: &ClassicFigures) -> String {
    let seconds = Seconds::of(figures);
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "Time:\n\t{} seconds total", seconds.total);
    let _ = writeln!(
        text,
        "\t{} seconds of transactions ({} per second)\n\nFiles:",
        seconds.transactions,
        whole_rate(figures.transactions, seconds.transactions),
    );
    for ((count, seconds), (lead, what)) in counts(figures, &seconds).into_iter().zip(COUNTED) {
        let per_second = whole_rate(count, seconds);
        let _ = writeln!(text, "\t{lead}{count} {what} ({per_second} per second)");
    }
    add_data(&mut text, figures, seconds.total);
    if figures.edition == Edition::V1_0 {
        // The session of version 1.00 has an empty line before the next prompt.
        text.push('\n');
    }
    text
}

/// The texts before and after each count in a verbose report, in the order of the report.
const COUNTED: [(&str, &str); 8] = [
    ("", "created"),
    ("\tCreation alone: ", "files"),
    ("\tMixed with transactions: ", "files"),
    ("", "read"),
    ("", "appended"),
    ("", "deleted"),
    ("\tDeletion alone: ", "files"),
    ("\tMixed with transactions: ", "files"),
];

/// The counts in the order of [`COUNTED`]. Each count has the duration in seconds over which its
/// rate is calculated.
fn counts(figures: &ClassicFigures, seconds: &Seconds) -> [(u64, i32); COUNTED.len()] {
    let (all, work) = (seconds.total, seconds.transactions);
    [
        (figures.created_alone + figures.created_mixed, all),
        (figures.created_alone, seconds.creation),
        (figures.created_mixed, work),
        (figures.read, work),
        (figures.appended, work),
        (figures.deleted_alone + figures.deleted_mixed, all),
        (figures.deleted_alone, seconds.deletion),
        (figures.deleted_mixed, work),
    ]
}

fn add_data(text: &mut String, figures: &ClassicFigures, seconds: i32) {
    text.push_str("\nData:\n");
    for (bytes, what) in [
        (figures.bytes_read, "read"),
        (figures.bytes_written, "written"),
    ] {
        let (sum, rate) = sum_and_rate(bytes, seconds, figures.edition);
        let _ = writeln!(text, "\t{sum} {what} ({rate} per second)");
    }
}

/// A sum of bytes and its rate in bytes/s, formatted as in the report of PostMark version
/// `edition`.
fn sum_and_rate(bytes: f64, seconds: i32, edition: Edition) -> (String, String) {
    match edition {
        // Bytes and bytes/s are whole numbers: in the session printed in the paper, 1,337,821 bytes
        // in 41 s are 31.86 kilobytes per second. With a fractional rate, the session would contain
        // 31.87.
        Edition::V1_0 => {
            let rate = bytes as i64 / i64::from(seconds);
            (
                scaled_size(bytes as i64, edition),
                scaled_size(rate, edition),
            )
        }
        Edition::V1_5 => {
            let bytes = bytes as f32;
            (scaled_sum(bytes), scaled_sum(bytes / seconds as f32))
        }
    }
}

/// The terse report: one line of 13 numbers.
pub fn terse(figures: &ClassicFigures) -> String {
    let seconds = Seconds::of(figures);
    let rate = |(count, seconds): (u64, i32)| count as f32 / seconds as f32;
    let data = [figures.bytes_read, figures.bytes_written];
    let rates = std::iter::once((figures.transactions, seconds.transactions))
        .chain(counts(figures, &seconds))
        .map(rate)
        .chain(data.map(|bytes| bytes as f32 / seconds.total as f32));
    let mut text = format!("{} {}", seconds.total, seconds.transactions);
    for rate in rates {
        let _ = write!(text, " {rate:.2}");
    }
    text.push('\n');
    text
}

/// Formats a whole number of bytes as the original's `show` command and the report of version 1.0
/// do. Numbers below a kilobyte are whole bytes; larger numbers have two decimals.
pub fn scaled_size(bytes: i64, edition: Edition) -> String {
    let megabyte = i64::from(edition.rules().megabyte_bytes);
    if bytes / megabyte > 0 {
        format!("{:.2} megabytes", bytes as f64 / megabyte as f64)
    } else if bytes / 1024 > 0 {
        format!("{:.2} kilobytes", bytes as f64 / 1024.0)
    } else {
        format!("{bytes} bytes")
    }
}

/// A sum or rate of bytes as the reports of version 1.5 print it. Unlike [`scaled_size`], it
/// formats exactly one megabyte as `1024.00 kilobytes`. All smaller numbers except 0 are in
/// kilobytes, and 0 has six decimals.
pub fn scaled_sum(bytes: f32) -> String {
    let bytes = f64::from(bytes);
    let megabytes = bytes / f64::from(Edition::V1_5.rules().megabyte_bytes);
    if megabytes > 1.0 {
        format!("{megabytes:.2} megabytes")
    } else if bytes != 0.0 {
        format!("{:.2} kilobytes", bytes / 1024.0)
    } else {
        format!("{bytes:.6} bytes")
    }
}

/// A sum of bytes, formatted as in the report of PostMark version `edition`.
pub fn data(bytes: f64, edition: Edition) -> String {
    match edition {
        Edition::V1_0 => scaled_size(bytes as i64, edition),
        Edition::V1_5 => scaled_sum(bytes as f32),
    }
}

/// Durations of the parts of a run in whole seconds, never 0. If the clock is set back during a
/// run, durations are negative, as in the original.
struct Seconds {
    total: i32,
    creation: i32,
    transactions: i32,
    deletion: i32,
}

impl Seconds {
    fn of(figures: &ClassicFigures) -> Self {
        Self {
            total: whole_seconds(figures.began_s, figures.ended_s),
            creation: whole_seconds(figures.began_s, figures.transactions_began_s),
            transactions: whole_seconds(figures.transactions_began_s, figures.transactions_ended_s),
            deletion: whole_seconds(figures.transactions_ended_s, figures.ended_s),
        }
    }
}

/// The duration as the original's 32-bit `int`. A duration of 0 becomes 1, because the duration is
/// the divisor of rates.
fn whole_seconds(from: i64, to: i64) -> i32 {
    match to.wrapping_sub(from) as i32 {
        0 => 1,
        seconds => seconds,
    }
}

fn whole_rate(count: u64, seconds: i32) -> i128 {
    i128::from(count) / i128::from(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The counts of a run of Debian's binary with its defaults and 25 transactions. `seconds` are
    /// the beginning of the run, the beginning and the end of the transactions, and the end of the
    /// run.
    fn debian(seconds: [i64; 4]) -> ClassicFigures {
        ClassicFigures {
            edition: Edition::V1_5,
            end: End::Complete,
            began_s: seconds[0],
            transactions_began_s: seconds[1],
            transactions_ended_s: seconds[2],
            ended_s: seconds[3],
            transactions: 25,
            created_alone: 500,
            created_mixed: 13,
            read: 12,
            appended: 13,
            deleted_alone: 501,
            deleted_mixed: 12,
            bytes_read: 68_979.0,
            bytes_written: 2_769_374.0,
        }
    }

    #[test]
    fn verbose_report_matches_debians_binary() {
        let expected = "Time:\n\t60 seconds total\n\t20 seconds of transactions (1 per \
                        second)\n\nFiles:\n\t513 created (8 per second)\n\t\tCreation alone: 500 \
                        files (50 per second)\n\t\tMixed with transactions: 13 files (0 per \
                        second)\n\t12 read (0 per second)\n\t13 appended (0 per second)\n\t513 \
                        deleted (8 per second)\n\t\tDeletion alone: 501 files (16 per \
                        second)\n\t\tMixed with transactions: 12 files (0 per \
                        second)\n\nData:\n\t67.36 kilobytes read (1.12 kilobytes per \
                        second)\n\t2.64 megabytes written (45.07 kilobytes per second)\n";
        assert_eq!(verbose(&debian([100, 110, 130, 160])), expected);
    }

    #[test]
    fn terse_report_matches_debians_binary() {
        for (seconds, expected) in [
            (
                [200, 203, 210, 230],
                "30 7 3.57 17.10 166.67 1.86 1.71 1.86 17.10 25.05 1.71 2299.30 92312.47\n",
            ),
            (
                [100, 101, 103, 103],
                "3 2 12.50 171.00 500.00 6.50 6.00 6.50 171.00 501.00 6.00 22993.00 923124.69\n",
            ),
            (
                [9, 9, 9, 9],
                "1 1 25.00 513.00 500.00 13.00 12.00 13.00 513.00 501.00 12.00 68979.00 \
                 2769374.00\n",
            ),
            (
                [0, 0, 5, 3],
                "3 5 5.00 171.00 500.00 2.60 2.40 2.60 171.00 -250.50 2.40 22993.00 923124.69\n",
            ),
        ] {
            assert_eq!(terse(&debian(seconds)), expected);
        }
    }

    #[test]
    fn large_rates_are_rounded_to_32_bit_floats() {
        for (transactions, seconds, expected) in [
            (2_000_000, 3, " 666666.69 "),
            (20_000_001, 1, " 20000000.00 "),
            (20_000_001, 3, " 6666666.50 "),
            (100_000_007, 7, " 14285715.00 "),
        ] {
            let mut figures = debian([5, 5, 5 + seconds, 5 + seconds]);
            figures.transactions = transactions;
            assert!(terse(&figures).contains(expected), "{}", terse(&figures));
        }
    }

    /// The session printed in the paper: 41 s in total, of which 17 s are transactions. Creation
    /// and deletion take 12 s each.
    #[test]
    fn report_of_version_1_0_matches_the_session_in_the_paper() {
        let figures = ClassicFigures {
            edition: Edition::V1_0,
            end: End::Complete,
            began_s: 0,
            transactions_began_s: 12,
            transactions_ended_s: 29,
            ended_s: 41,
            transactions: 500,
            created_alone: 500,
            created_mixed: 240,
            read: 237,
            appended: 262,
            deleted_alone: 480,
            deleted_mixed: 260,
            bytes_read: 1_337_821.0,
            bytes_written: 4_302_954.0,
        };
        let text = report(&figures, Format::Terse);
        for expected in [
            "Time:\n\t41 seconds total\n\t17 seconds of transactions (29 per second)\n",
            "\t740 created (18 per second)\n\t\tCreation alone: 500 files (41 per \
             second)\n\t\tMixed with transactions: 240 files (14 per second)\n\t237 read (13 per \
             second)\n\t262 appended (15 per second)\n\t740 deleted (18 per second)\n\t\tDeletion \
             alone: 480 files (40 per second)\n\t\tMixed with transactions: 260 files (15 per \
             second)\n",
            "\t1.31 megabytes read (31.86 kilobytes per second)\n\t4.20 megabytes written (102.49 \
             kilobytes per second)\n\n",
        ] {
            assert!(text.contains(expected), "{text}");
        }
    }

    /// The two rates of NFS on an F630 in Table 3 of the paper. If byte sums were 32-bit floats,
    /// the report would contain 446.68 and 617.44 instead.
    #[test]
    fn report_of_version_1_0_counts_whole_bytes() {
        let figures = ClassicFigures {
            edition: Edition::V1_0,
            bytes_read: 314_238_321.0,
            bytes_written: 434_365_958.0,
            ..debian([0, 100, 600, 687])
        };
        let text = verbose(&figures);
        for expected in [
            "(446.69 kilobytes per second)",
            "(617.45 kilobytes per second)",
        ] {
            assert!(text.contains(expected), "{text}");
        }
    }

    #[test]
    fn run_that_used_up_its_files_has_no_report() {
        let figures = ClassicFigures {
            end: End::OutOfFiles,
            ..debian([1, 2, 3, 4])
        };
        assert_eq!(
            report(&figures, Format::Classic) + &report(&figures, Format::Terse),
            ""
        );
    }

    #[test]
    fn sizes_match_the_command_show_of_debians_binary() {
        for (bytes, expected) in [
            (1, "1 bytes"),
            (1_023, "1023 bytes"),
            (1_024, "1.00 kilobytes"),
            (10_000, "9.77 kilobytes"),
            (1_048_575, "1024.00 kilobytes"),
            (1_048_576, "1.00 megabytes"),
            (2_147_483_647, "2048.00 megabytes"),
        ] {
            assert_eq!(scaled_size(bytes, Edition::V1_5), expected);
        }
        assert_eq!(scaled_size(1_024_000, Edition::V1_0), "1.00 megabytes");
    }

    #[test]
    fn byte_counts_match_the_reports_of_debians_binary() {
        for (bytes, expected) in [
            (0.0, "0.000000 bytes"),
            (0.001, "0.00 kilobytes"),
            (5.0, "0.00 kilobytes"),
            (1_048_576.0, "1024.00 kilobytes"),
            (1_048_577.0, "1.00 megabytes"),
            (-1_497_965.7, "-1462.86 kilobytes"),
        ] {
            assert_eq!(scaled_sum(bytes), expected);
        }
    }
}
