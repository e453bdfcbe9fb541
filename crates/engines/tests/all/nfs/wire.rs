//! A second implementation of XDR, so that the tests do not depend on the client's implementation.

pub struct In<'a>(pub &'a [u8]);

impl In<'_> {
    pub fn u32(&mut self) -> u32 {
        let (found, rest) = self.0.split_at(4);
        self.0 = rest;
        u32::from_be_bytes(found.try_into().unwrap())
    }

    pub fn u64(&mut self) -> u64 {
        u64::from(self.u32()) << 32 | u64::from(self.u32())
    }

    pub fn bytes(&mut self) -> Vec<u8> {
        let length = self.u32() as usize;
        let found = self.0[..length].to_vec();
        self.0 = &self.0[length.next_multiple_of(4)..];
        found
    }

    pub fn fixed(&mut self, length: usize) -> Vec<u8> {
        let (found, rest) = self.0.split_at(length);
        self.0 = rest;
        found.to_vec()
    }
}

#[derive(Clone, Default)]
pub struct Out(pub Vec<u8>);

impl Out {
    pub fn u32(mut self, value: u32) -> Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub fn u64(self, value: u64) -> Self {
        self.u32((value >> 32) as u32).u32(value as u32)
    }

    pub fn bytes(self, bytes: &[u8]) -> Self {
        let mut out = self.u32(bytes.len() as u32);
        out.0.extend(bytes);
        out.0.resize(out.0.len().next_multiple_of(4), 0);
        out
    }

    pub fn fixed(mut self, bytes: &[u8]) -> Self {
        self.0.extend(bytes);
        self
    }

    pub fn then(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }
}
