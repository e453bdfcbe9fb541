//! The names of operations, and owned copies of parameters.

use std::ffi::{CStr, CString};

use crate::listing::Listing;

/// The name of an operation's file or directory, in the forms that engines need.
#[derive(Clone, Copy, Debug)]
pub struct Name<'a> {
    /// The full path; it starts with the target as the user specified it.
    pub path: &'a CStr,
    /// The index of the location that contains the file.
    pub location: usize,
    /// The part of `path` relative to the location; empty for the location itself.
    pub relative: &'a CStr,
}

/// Appends bytes to a name and rejects NULs, so the name can be converted to a C string without a
/// search for NULs.
pub struct NameWriter<'a>(&'a mut Vec<u8>);

impl<'a> NameWriter<'a> {
    /// Creates a writer that appends to `to`; bytes already in `to` remain.
    #[inline]
    pub fn new(to: &'a mut Vec<u8>) -> Self {
        Self(to)
    }

    /// Appends a single byte, such as the slash between two components.
    ///
    /// # Panics
    /// Panics if the byte is 0.
    #[inline]
    pub fn push(&mut self, byte: u8) {
        assert!(byte != 0, "a name has no NUL in it");
        self.0.push(byte);
    }

    /// Appends several bytes, such as a component of a path.
    ///
    /// # Panics
    /// Panics if a byte is 0.
    #[inline]
    pub fn extend(&mut self, bytes: &[u8]) {
        assert!(!bytes.contains(&0), "a name has no NUL in it");
        self.0.extend_from_slice(bytes);
    }

    /// Appends a decimal number with leading zeros up to `digits_min` digits.
    #[inline]
    pub fn push_decimal(&mut self, number: u64, digits_min: usize) {
        let mut buffer = itoa::Buffer::new();
        let digits = buffer.format(number).as_bytes();
        if digits.len() < digits_min {
            self.0
                .resize(self.0.len() + digits_min - digits.len(), b'0');
        }
        self.0.extend_from_slice(digits);
    }
}

/// A type of operation parameters, which may be borrowed. `Owned` is the type of an owned copy.
pub(crate) trait Owning<'a>: Copy {
    type Owned;
    fn keep(self) -> Self::Owned;
    fn get(owned: &'a Self::Owned) -> Self;
}

/// Implements [`Owning`]. Each entry contains the type, the type of its owned copy, and the
/// conversions to the copy and back.
macro_rules! owning {
    ($($of:ty: $owned:ty, $value:ident => $keep:expr, $kept:ident => $get:expr;)+) => {
        $(impl<'a> Owning<'a> for $of {
            type Owned = $owned;
            fn keep(self) -> $owned {
                let $value = self;
                $keep
            }
            fn get($kept: &'a $owned) -> Self {
                $get
            }
        })+
    };
}

owning! {
    u32: u32, value => value, kept => *kept;
    u64: u64, value => value, kept => *kept;
    i64: i64, value => value, kept => *kept;
    Option<u64>: Option<u64>, value => value, kept => *kept;
    Listing: Listing, value => value, kept => *kept;
    &'a [u8]: Vec<u8>, bytes => bytes.to_vec(), kept => kept;
    &'a CStr: CString, text => text.to_owned(), kept => kept;
    Name<'a>: OwnedName, name => OwnedName {
        path: name.path.to_owned(),
        location: name.location,
        relative: name.relative.to_owned(),
    }, kept => Name {
        path: &kept.path,
        location: kept.location,
        relative: &kept.relative,
    };
}

#[derive(Clone, Debug)]
pub(crate) struct OwnedName {
    path: CString,
    location: usize,
    relative: CString,
}
