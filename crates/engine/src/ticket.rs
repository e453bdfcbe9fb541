//! Tickets, which identify operations in flight. A flight is a slot for one operation in flight.

/// Identifies an operation in flight. The worker loop gives each operation a different ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(pub u64);

impl Ticket {
    /// The low bits of a ticket store the index of a flight, the slot that the operation occupies.
    const FLIGHT_BITS: u32 = 16;
    /// The upper limit of any engine's queue depth.
    pub const FLIGHTS_MAX: usize = 1 << Self::FLIGHT_BITS;

    /// Creates the ticket of the operation with this serial number. `flight` is the index of the
    /// slot that the operation occupies while it is in flight.
    #[inline]
    pub const fn new(serial: u64, flight: usize) -> Self {
        Self(serial << Self::FLIGHT_BITS | flight as u64)
    }

    /// The index of the operation's slot: less than the queue depth, and unique among operations in
    /// flight.
    #[inline]
    pub const fn flight(self) -> usize {
        self.0 as usize & (Self::FLIGHTS_MAX - 1)
    }
}
