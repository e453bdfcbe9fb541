//! External data representation (RFC 4506), in which calls are encoded and replies are decoded.
//! Decoding copies no data, allocates no memory, and never reads beyond the end.

/// The error for bytes that are truncated or contain an invalid value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the reply could not be understood")]
pub struct Garbled;

/// Returns the zeros that follow `length` bytes, up to the next multiple of four.
#[inline]
pub fn padding_of(length: usize) -> &'static [u8] {
    &[0; 3][..padding(length)]
}

/// Decodes a message; contains the bytes that are not decoded yet.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a>(&'a [u8]);

/// Returns the number of zeros after `length` bytes, up to the next multiple of four.
#[inline]
const fn padding(length: usize) -> usize {
    length.wrapping_neg() & 3
}

impl<'a> Reader<'a> {
    /// Creates a reader that decodes `bytes` from the first byte on.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes that are not decoded yet.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.0
    }

    /// Decodes a value of `N` bytes, which has neither a length in front nor padding.
    #[inline]
    pub fn fixed<const N: usize>(&mut self) -> Result<&'a [u8; N], Garbled> {
        let (found, rest) = self.0.split_first_chunk().ok_or(Garbled)?;
        self.0 = rest;
        Ok(found)
    }

    /// Decodes an unsigned 32-bit number in big-endian order.
    #[inline]
    pub fn u32(&mut self) -> Result<u32, Garbled> {
        self.fixed().map(|bytes| u32::from_be_bytes(*bytes))
    }

    /// Decodes an unsigned 64-bit number in big-endian order.
    #[inline]
    pub fn u64(&mut self) -> Result<u64, Garbled> {
        self.fixed().map(|bytes| u64::from_be_bytes(*bytes))
    }

    /// Decodes a boolean; values other than 0 and 1 are invalid.
    #[inline]
    pub fn bool(&mut self) -> Result<bool, Garbled> {
        match self.u32()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Garbled),
        }
    }

    /// Decodes bytes preceded by their length, which must not exceed `length_max`. The padding is
    /// required, even at the end of a message.
    #[inline]
    pub fn opaque(&mut self, length_max: usize) -> Result<&'a [u8], Garbled> {
        let length = self.u32()? as usize;
        if length > length_max {
            return Err(Garbled);
        }
        let (found, rest) = self.0.split_at_checked(length).ok_or(Garbled)?;
        self.0 = rest.get(padding(length)..).ok_or(Garbled)?;
        Ok(found)
    }

    /// Decodes a boolean and, if it is true, the value after it.
    #[inline]
    pub fn optional<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Garbled>,
    ) -> Result<Option<T>, Garbled> {
        match self.bool()? {
            true => read(self).map(Some),
            false => Ok(None),
        }
    }
}

/// Encodes values and appends the encoded bytes to a buffer.
pub trait Writer {
    /// Appends an unsigned 32-bit number in big-endian order.
    fn put_u32(&mut self, value: u32);
    /// Appends an unsigned 64-bit number in big-endian order.
    fn put_u64(&mut self, value: u64);
    /// Appends bytes, preceded by their length and followed by padding.
    fn put_opaque(&mut self, bytes: &[u8]);
}

impl Writer for Vec<u8> {
    #[inline]
    fn put_u32(&mut self, value: u32) {
        self.extend_from_slice(&value.to_be_bytes());
    }

    #[inline]
    fn put_u64(&mut self, value: u64) {
        self.extend_from_slice(&value.to_be_bytes());
    }

    #[inline]
    fn put_opaque(&mut self, bytes: &[u8]) {
        self.put_u32(bytes.len() as u32);
        self.extend_from_slice(bytes);
        self.extend_from_slice(padding_of(bytes.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xdr_encoding_round_trips() {
        let mut out = Vec::new();
        out.put_u32(1);
        out.put_u64(0x0102_0304_0506_0708);
        out.put_opaque(b"sillyprog");
        out.put_opaque(b"");
        out.extend_from_slice(&[9; 4]);
        // The example of RFC 4506, section 7: a name of nine bytes and three bytes of padding.
        assert_eq!(out[12..28], *b"\0\0\0\x09sillyprog\0\0\0");
        let mut reader = Reader::new(&out);
        assert_eq!(reader.bool(), Ok(true));
        assert_eq!(reader.u64(), Ok(0x0102_0304_0506_0708));
        assert_eq!(reader.opaque(9), Ok(&b"sillyprog"[..]));
        assert_eq!(reader.opaque(0), Ok(&b""[..]));
        assert_eq!(reader.fixed(), Ok(&[9; 4]));
        assert!(reader.0.is_empty());
        assert_eq!(reader.u32(), Err(Garbled));
    }

    #[test]
    fn too_long_or_truncated_values_are_rejected() {
        assert_eq!(
            Reader::new(b"\0\0\0\x05hello\0\0\0").opaque(4),
            Err(Garbled)
        );
        assert_eq!(Reader::new(b"\0\0\0\x05hello\0\0").opaque(9), Err(Garbled));
        assert_eq!(Reader::new(b"\0\0\0\x05hell").opaque(9), Err(Garbled));
        assert_eq!(
            Reader::new(b"\xff\xff\xff\xff").opaque(usize::MAX),
            Err(Garbled)
        );
        assert_eq!(Reader::new(b"\0\0\0\x02").bool(), Err(Garbled));
        assert_eq!(Reader::new(b"\0\0\0").u32(), Err(Garbled));
    }
}
