//! The progress of a listing. Limits detect servers that repeat pages in a circle or send names
//! without end.

use rustix::io::Errno;

use crate::arguments::ListingPlace;

/// The maximum number of entries of a listing. A fast server needs one or two minutes to send this
/// number of entries.
const ENTRIES_MAX: u64 = 1 << 26;
/// The maximum number of pages if pages contain few entries on average, for example after many
/// removals.
const SHORT_PAGES_MAX: u64 = 10_000;
/// The minimum average number of entries per page in a listing of more than [`SHORT_PAGES_MAX`]
/// pages.
const ENTRIES_OF_A_PAGE_MIN: u64 = 4;

/// The reason why a listing is ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoEnd {
    /// A page is empty, or its cookie leads back to an earlier position.
    Circle,
    /// The number of entries or pages exceeds the limit.
    TooLong,
}

impl NoEnd {
    /// EOVERFLOW: the error number for a listing with too many entries, pages or bytes of names.
    pub const TOO_LONG: Errno = Errno::OVERFLOW;
}

/// The position of a listing, and the counts that detect a listing without end.
#[derive(Clone, Copy, Debug, Default)]
pub struct ListingProgress {
    place: ListingPlace,
    pages: u64,
    entries: u64,
    /// The cookie at the end of the newest page whose number is a power of two (Brent's algorithm
    /// for finding cycles).
    passed: u64,
}

impl ListingProgress {
    /// The position of the next page.
    pub fn place(&self) -> &ListingPlace {
        &self.place
    }

    /// Continues after a page that is not the last page. `entries` is the number of entries of this
    /// page, `cookie` the cookie of its last entry.
    pub fn go_on(&mut self, entries: u64, cookie: u64, verifier: [u8; 8]) -> Result<(), NoEnd> {
        self.pages += 1;
        self.entries += entries;
        if entries == 0 || cookie == self.place.cookie || cookie == self.passed {
            return Err(NoEnd::Circle);
        }
        if self.pages.is_power_of_two() {
            self.passed = cookie;
        }
        let is_short = self.entries < self.pages * ENTRIES_OF_A_PAGE_MIN;
        if self.entries > ENTRIES_MAX || is_short && self.pages > SHORT_PAGES_MAX {
            return Err(NoEnd::TooLong);
        }
        self.place = ListingPlace { cookie, verifier };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns after how many pages a listing with this sequence of cookies ends, and why.
    fn end(entries: u64, next: impl Fn(u64) -> u64) -> (u64, NoEnd) {
        let mut progress = ListingProgress::default();
        loop {
            let cookie = next(progress.place().cookie);
            if let Err(why) = progress.go_on(entries, cookie, [0; 8]) {
                return (progress.pages, why);
            }
        }
    }

    #[test]
    fn circular_cookies_are_detected() {
        for (before, length) in [
            (0, 1),
            (0, 2),
            (1, 2),
            (5, 3),
            (1_000, 7),
            (3, 5_000),
            (5_000, 4_000),
        ] {
            let next = |cookie| {
                if cookie == before + length {
                    before + 1
                } else {
                    cookie + 1
                }
            };
            let (pages, why) = end(100, next);
            assert_eq!(why, NoEnd::Circle);
            assert!(
                pages <= 4 * (before + length) + 4,
                "{before} and {length}: {pages} pages"
            );
        }
    }

    #[test]
    fn listing_without_end_is_stopped() {
        let (pages, why) = end(1_000, |cookie| cookie + 1);
        assert_eq!((pages, why), (ENTRIES_MAX / 1_000 + 1, NoEnd::TooLong));
        let (pages, why) = end(1, |cookie| cookie + 1);
        assert_eq!((pages, why), (SHORT_PAGES_MAX + 1, NoEnd::TooLong));
        assert_eq!(end(0, |cookie| cookie + 1), (1, NoEnd::Circle));
    }
}
