//! Where a listing goes on, and whether it comes to an end: a server may send pages in a circle, or
//! names without end.

use rustix::io::Errno;

use crate::arguments::ListingPlace;

/// No listing has more entries: a server that sends them as fast as it can takes a minute or two
/// for them.
const ENTRIES_MAX: u64 = 1 << 26;
/// Pages may have few entries each, as where many were removed; but not so many pages.
const SHORT_PAGES_MAX: u64 = 10_000;
/// Pages beyond those have as many entries on average.
const ENTRIES_OF_A_PAGE_MIN: u64 = 4;

/// Why a listing does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoEnd {
    /// A page has no entries, or leads to a place where the listing has been.
    Circle,
    /// It has more entries or pages than any directory.
    TooLong,
}

impl NoEnd {
    /// What is told of listings that are too long.
    pub const TOO_LONG: Errno = Errno::OVERFLOW;
}

/// A listing on its way.
#[derive(Clone, Copy, Debug, Default)]
pub struct ListingProgress {
    place: ListingPlace,
    pages: u64,
    entries: u64,
    /// A place where it has been: that of the last page whose number is a power of two (Brent's
    /// way to find a circle).
    passed: u64,
}

impl ListingProgress {
    /// Of the next page.
    pub fn place(&self) -> &ListingPlace {
        &self.place
    }

    /// A page has come that is not the last one: how many entries it has, and the cookie of its
    /// last one.
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

    /// After how many pages a listing ends whose cookies follow from one another, and why.
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
    fn circles_are_found_wherever_they_begin() {
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
    fn names_without_end_are_not_read_for_ever() {
        let (pages, why) = end(1_000, |cookie| cookie + 1);
        assert_eq!((pages, why), (ENTRIES_MAX / 1_000 + 1, NoEnd::TooLong));
        let (pages, why) = end(1, |cookie| cookie + 1);
        assert_eq!((pages, why), (SHORT_PAGES_MAX + 1, NoEnd::TooLong));
        assert_eq!(end(0, |cookie| cookie + 1), (1, NoEnd::Circle));
    }
}
