//! Dates of the protocol: of signatures, of HTTP and of listings. All are in UTC.

/// A date and time of day in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Date {
    /// The year, such as 2026.
    pub year: i64,
    /// The month, from 1 to 12.
    pub month: u32,
    /// The day of the month, from 1 to 31.
    pub day: u32,
    /// Seconds since midnight.
    pub second_of_day: u32,
}

const DAY_S: i64 = 86_400;

impl Date {
    /// Converts seconds since the Unix epoch to a date. The algorithm counts days in eras of 400
    /// years that begin on 1 March, so that the leap day is the last day of a year.
    pub fn of_unix(seconds: i64) -> Self {
        let days = seconds.div_euclid(DAY_S) + 719_468;
        let era = days.div_euclid(146_097);
        let day_of_era = days.rem_euclid(146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        Self {
            year: era * 400 + year_of_era + i64::from(month <= 2),
            month: month as u32,
            day: day as u32,
            second_of_day: seconds.rem_euclid(DAY_S) as u32,
        }
    }

    /// Converts the date to seconds since the epoch; the inverse of [`of_unix`](Self::of_unix).
    pub fn to_unix(self) -> i64 {
        let year = self.year - i64::from(self.month <= 2);
        let era = year.div_euclid(400);
        let year_of_era = year.rem_euclid(400);
        let month = i64::from(self.month);
        let month = if month > 2 { month - 3 } else { month + 9 };
        let day_of_year = (153 * month + 2) / 5 + i64::from(self.day) - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        (era * 146_097 + day_of_era - 719_468) * DAY_S + i64::from(self.second_of_day)
    }

    /// Returns the date in the form of signatures, `20261126T204300Z`; its first 8 bytes are the
    /// day.
    pub fn of_signature(self) -> [u8; 16] {
        let (hour, minute, second) = (
            self.second_of_day / 3_600,
            self.second_of_day / 60 % 60,
            self.second_of_day % 60,
        );
        let mut text = *b"00000000T000000Z";
        let mut put = |at: usize, digits: usize, mut number: u32| {
            for byte in text[at..at + digits].iter_mut().rev() {
                *byte = b'0' + (number % 10) as u8;
                number /= 10;
            }
        };
        put(0, 4, self.year.clamp(0, 9_999) as u32);
        put(4, 2, self.month);
        put(6, 2, self.day);
        put(9, 2, hour);
        put(11, 2, minute);
        put(13, 2, second);
        text
    }
}

fn number(text: &[u8]) -> Option<u32> {
    let is_number = !text.is_empty() && text.len() <= 9 && text.iter().all(u8::is_ascii_digit);
    is_number.then(|| {
        text.iter()
            .fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0'))
    })
}

/// Parses hours, minutes and seconds like `20:43:00`.
fn second_of_day(text: &[u8]) -> Option<u32> {
    let [hour, minute, second] = [text.get(..2)?, text.get(3..5)?, text.get(6..8)?].map(number);
    let (hour, minute, second) = (hour?, minute?, second?);
    let is_valid = text[2] == b':' && text[5] == b':' && hour < 24 && minute < 60 && second <= 60;
    is_valid.then_some(hour * 3_600 + minute * 60 + second)
}

fn unix(year: u32, month: u32, day: u32, second_of_day: u32) -> Option<i64> {
    let is_valid = (1..=12).contains(&month) && (1..=31).contains(&day);
    is_valid.then(|| {
        let year = i64::from(year);
        let date = Date {
            year,
            month,
            day,
            second_of_day,
        };
        date.to_unix()
    })
}

/// Parses a date of an HTTP header like `Thu, 26 Nov 2026 20:43:00 GMT`; returns seconds since the
/// epoch.
pub fn of_http(text: &[u8]) -> Option<i64> {
    const MONTHS: &[u8] = b"JanFebMarAprMayJunJulAugSepOctNovDec";
    let day = number(text.get(5..7)?)?;
    let name = text.get(8..11)?;
    let month = MONTHS.chunks(3).position(|month| month == name)? as u32 + 1;
    let year = number(text.get(12..16)?)?;
    unix(year, month, day, second_of_day(text.get(17..25)?)?)
}

/// Parses a date of a listing like `2026-11-26T20:43:00.000Z`; returns seconds since the epoch. The
/// fraction of a second is dropped, because dates in HTTP headers have none.
pub fn of_listing(text: &[u8]) -> Option<i64> {
    let year = number(text.get(..4)?)?;
    let (month, day) = (number(text.get(5..7)?)?, number(text.get(8..10)?)?);
    unix(year, month, day, second_of_day(text.get(11..19)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_converted_both_ways() {
        for (seconds, text) in [
            (0, b"19700101T000000Z"),
            (951_782_400, b"20000229T000000Z"),
            (1_369_353_600, b"20130524T000000Z"),
            (1_795_725_780, b"20261126T204300Z"),
            (4_107_542_399, b"21000228T235959Z"),
            (4_107_542_400, b"21000301T000000Z"),
        ] {
            let date = Date::of_unix(seconds);
            assert_eq!(date.of_signature(), *text, "{seconds}");
            assert_eq!(date.to_unix(), seconds);
        }
    }

    #[test]
    fn dates_of_headers_and_listings_are_parsed() {
        assert_eq!(
            of_http(b"Thu, 26 Nov 2026 20:43:00 GMT"),
            Some(1_795_725_780)
        );
        for text in ["2026-11-26T20:43:00.000Z", "2026-11-26T20:43:00Z"] {
            assert_eq!(of_listing(text.as_bytes()), Some(1_795_725_780), "{text}");
        }
        for wrong in [
            "",
            "Thu, 26 Nov 2026 20:43",
            "Thu, 26 Nov 2026 25:43:00 GMT",
            "Thu, 26 Foo 2026 20:43:00 GMT",
            "Thu, 00 Nov 2026 20:43:00 GMT",
            "Thu, +6 Nov 2026 20:43:00 GMT",
        ] {
            assert_eq!(of_http(wrong.as_bytes()), None, "{wrong}");
        }
        assert_eq!(of_listing(b"2026-13-26T20:43:00Z"), None);
        assert_eq!(of_listing(b"2026-11-26T20:43"), None);
    }
}
