//! Names of operations that are under way.

/// The loop's name for an operation that is under way. No two are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(pub u64);

impl Ticket {
    /// Bits of a ticket that have the flight's number.
    const FLIGHT_BITS: u32 = 16;
    /// No storage has more operations in flight.
    pub const FLIGHTS_MAX: usize = 1 << Self::FLIGHT_BITS;

    /// Of an operation of this running number, on the flight of this number.
    #[inline]
    pub const fn new(serial: u64, flight: usize) -> Self {
        Self(serial << Self::FLIGHT_BITS | flight as u64)
    }

    /// Its place among those in flight: below the storage's depth, and its own until it completes.
    #[inline]
    pub const fn flight(self) -> usize {
        self.0 as usize & (Self::FLIGHTS_MAX - 1)
    }
}
