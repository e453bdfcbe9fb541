//! What operations are given: names, and copies of all that is given.

use std::ffi::{CStr, CString};

/// Where an operation's file or directory is, in the forms that engines want.
#[derive(Clone, Copy, Debug)]
pub struct Name<'a> {
    /// The whole path, as the user's words begin it.
    pub path: &'a CStr,
    /// The number of the location that it lies in.
    pub location: usize,
    /// The part of `path` behind the location; of the location itself it is empty.
    pub relative: &'a CStr,
}

/// Appends the bytes of a name. None of them is a NUL: whoever makes a C string of them need not
/// look for one.
pub struct NameWriter<'a>(&'a mut Vec<u8>);

impl<'a> NameWriter<'a> {
    /// Appends to these.
    #[inline]
    pub fn new(to: &'a mut Vec<u8>) -> Self {
        Self(to)
    }

    /// Appends a byte.
    ///
    /// # Panics
    /// Where it is 0.
    #[inline]
    pub fn push(&mut self, byte: u8) {
        assert!(byte != 0, "a name has no NUL in it");
        self.0.push(byte);
    }

    /// Appends bytes.
    ///
    /// # Panics
    /// Where one of them is 0.
    #[inline]
    pub fn extend(&mut self, bytes: &[u8]) {
        assert!(!bytes.contains(&0), "a name has no NUL in it");
        self.0.extend_from_slice(bytes);
    }

    /// Appends a number in decimal, with zeros before it up to `digits_min` digits.
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

/// What is given to an operation, and its copy.
pub(crate) trait Owning<'a>: Copy {
    type Owned;
    fn keep(self) -> Self::Owned;
    fn get(owned: &'a Self::Owned) -> Self;
}

/// Things that are their own copies, and things that are copied to others.
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

/// A [`Name`] of its own.
#[derive(Clone, Debug)]
pub(crate) struct OwnedName {
    path: CString,
    location: usize,
    relative: CString,
}
