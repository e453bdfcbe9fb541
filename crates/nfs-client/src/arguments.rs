//! Encodes the arguments of procedures: RFC 1813 (section 3.3 and appendix I) and RFC 1833 (section
//! 3).

use crate::data::{Handle, Stable, Stamp};
use crate::procedure::Program;
use crate::xdr::{Writer, padding_of};

/// The values of `time_how`, which selects how a time is set.
const DONT_CHANGE: u32 = 0;
const TO_SERVERS_TIME: u32 = 1;
const TO_CLIENTS_TIME: u32 = 2;
/// The values of `createmode3`, which selects how a file is created.
const GUARDED: u32 = 1;
const EXCLUSIVE: u32 = 2;
/// The number that denotes TCP in calls to the portmapper.
const IPPROTO_TCP: u32 = 6;

/// How SETATTR sets the access and modification times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Times {
    /// Leaves both times unchanged.
    #[default]
    Leave,
    /// Sets both times to the server's current time.
    Server,
    /// Sets the access time and the modification time to these values.
    These(Stamp, Stamp),
}

/// New attributes of a file (`sattr3`); attributes that are `None` remain unchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NewAttributes {
    /// The new permission bits, such as `0o644`.
    pub mode: Option<u32>,
    /// The new size in bytes; a smaller size truncates the file.
    pub size_bytes: Option<u64>,
    /// How the access and modification times are set; unchanged by default.
    pub times: Times,
}

impl NewAttributes {
    /// Sets only the permissions.
    #[inline]
    pub fn of_mode(mode: u32) -> Self {
        Self {
            mode: Some(mode),
            ..Self::default()
        }
    }

    /// Sets only the size.
    #[inline]
    pub fn of_size(size_bytes: u64) -> Self {
        Self {
            size_bytes: Some(size_bytes),
            ..Self::default()
        }
    }

    #[inline]
    fn write(&self, out: &mut Vec<u8>) {
        out.put_u32(self.mode.is_some().into());
        if let Some(mode) = self.mode {
            out.put_u32(mode);
        }
        // The owner and the group remain unchanged.
        out.put_u64(0);
        out.put_u32(self.size_bytes.is_some().into());
        if let Some(size) = self.size_bytes {
            out.put_u64(size);
        }
        match self.times {
            Times::Leave => [DONT_CHANGE; 2].map(|how| out.put_u32(how)),
            Times::Server => [TO_SERVERS_TIME; 2].map(|how| out.put_u32(how)),
            Times::These(accessed, modified) => {
                [accessed, modified].map(|(seconds, nanoseconds)| {
                    out.put_u32(TO_CLIENTS_TIME);
                    // The seconds of the protocol are unsigned 32-bit numbers, so times before 1970
                    // or after 2106 wrap around.
                    out.put_u32(seconds as u32);
                    out.put_u32(nanoseconds);
                })
            }
        };
    }
}

/// How CREATE handles a file that already exists (`createmode3`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Creation {
    /// Creates the file with this mode. A repeated call fails, even if the first call created the
    /// file.
    Guarded(u32),
    /// Creates the file with a verifier, by which the server recognizes a repeated call. The
    /// attributes must be set afterwards.
    Exclusive([u8; 8]),
}

/// A name in a directory (`diropargs3`): the arguments of LOOKUP, REMOVE and RMDIR.
#[inline]
pub fn name_in(out: &mut Vec<u8>, directory: &Handle, name: &[u8]) {
    directory.write(out);
    out.put_opaque(name);
}

/// Arguments of SETATTR without a guard. With a guard, the server would first compare the file's
/// change time with an expected time.
#[inline]
pub fn set_attributes(out: &mut Vec<u8>, file: &Handle, new: &NewAttributes) {
    file.write(out);
    new.write(out);
    // No guard (`sattrguard3`).
    out.put_u32(0);
}

/// Arguments of READ. The server may return fewer than `count` bytes.
#[inline]
pub fn read(out: &mut Vec<u8>, file: &Handle, offset: u64, count: u32) {
    file.write(out);
    out.put_u64(offset);
    out.put_u32(count);
}

/// Arguments of WRITE, including the data.
#[inline]
pub fn write(out: &mut Vec<u8>, file: &Handle, offset: u64, stable: Stable, data: &[u8]) {
    write_head(out, file, offset, stable, data.len());
    out.extend_from_slice(data);
    out.extend_from_slice(padding_of(data.len()));
}

/// Arguments of WRITE up to the data. The caller appends the data and its padding ([`padding_of`]).
#[inline]
pub fn write_head(out: &mut Vec<u8>, file: &Handle, offset: u64, stable: Stable, length: usize) {
    file.write(out);
    out.put_u64(offset);
    out.put_u32(length as u32);
    out.put_u32(stable as u32);
    out.put_u32(length as u32);
}

/// Arguments of CREATE, with the mode or the verifier in `creation`.
#[inline]
pub fn create(out: &mut Vec<u8>, directory: &Handle, name: &[u8], creation: Creation) {
    name_in(out, directory, name);
    match creation {
        Creation::Guarded(mode) => {
            out.put_u32(GUARDED);
            NewAttributes::of_mode(mode).write(out);
        }
        Creation::Exclusive(verifier) => {
            out.put_u32(EXCLUSIVE);
            out.extend_from_slice(&verifier);
        }
    }
}

/// Arguments of MKDIR, which sets only the mode.
pub fn make_directory(out: &mut Vec<u8>, directory: &Handle, name: &[u8], mode: u32) {
    name_in(out, directory, name);
    NewAttributes::of_mode(mode).write(out);
}

/// Arguments of SYMLINK, which sets no attributes of the link.
pub fn symbolic_link(out: &mut Vec<u8>, directory: &Handle, name: &[u8], target: &[u8]) {
    name_in(out, directory, name);
    NewAttributes::default().write(out);
    out.put_opaque(target);
}

/// Arguments of RENAME: the old and the new name, each with the handle of its directory.
pub fn rename(out: &mut Vec<u8>, from: (&Handle, &[u8]), to: (&Handle, &[u8])) {
    name_in(out, from.0, from.1);
    name_in(out, to.0, to.1);
}

/// Arguments of LINK: `name` is the file's new name in `directory`.
pub fn link(out: &mut Vec<u8>, file: &Handle, directory: &Handle, name: &[u8]) {
    file.write(out);
    name_in(out, directory, name);
}

/// The position from which a listing continues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListingPlace {
    /// The cookie of the last entry that was read; 0 at the start.
    pub cookie: u64,
    /// The verifier that the server returned with the cookie.
    pub verifier: [u8; 8],
}

/// Arguments of READDIR or READDIRPLUS. READDIRPLUS has two limits: one for names and cookies, and
/// one for the whole reply. Both are set to `bytes`.
pub fn list(
    out: &mut Vec<u8>,
    directory: &Handle,
    place: &ListingPlace,
    bytes: u32,
    is_plus: bool,
) {
    directory.write(out);
    out.put_u64(place.cookie);
    out.extend_from_slice(&place.verifier);
    if is_plus {
        out.put_u32(bytes);
    }
    out.put_u32(bytes);
}

/// Arguments of COMMIT for the whole file.
#[inline]
pub fn commit(out: &mut Vec<u8>, file: &Handle) {
    file.write(out);
    out.put_u64(0);
    out.put_u32(0);
}

/// Arguments of GETPORT for TCP.
pub fn get_port(out: &mut Vec<u8>, program: Program) {
    for word in [program.number(), program.version(), IPPROTO_TCP, 0] {
        out.put_u32(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xdr::Reader;

    fn handle() -> Handle {
        Handle::read(&mut Reader::new(b"\0\0\0\x05hello\0\0\0")).unwrap()
    }

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    /// Returns the encoded handle and the name `f1`.
    fn named() -> Vec<u8> {
        b"\0\0\0\x05hello\0\0\0\0\0\0\x02f1\0\0".to_vec()
    }

    #[test]
    fn creation_is_encoded_as_in_the_rfc() {
        let mut out = Vec::new();
        create(&mut out, &handle(), b"f1", Creation::Guarded(0o644));
        assert_eq!(
            out,
            [named(), words(&[1, 1, 0o644, 0, 0, 0, 0, 0])].concat()
        );
        out.clear();
        create(
            &mut out,
            &handle(),
            b"f1",
            Creation::Exclusive(*b"verifier"),
        );
        assert_eq!(out, [named(), words(&[2]), b"verifier".to_vec()].concat());
        out.clear();
        symbolic_link(&mut out, &handle(), b"f1", b"to");
        assert_eq!(
            out,
            [named(), words(&[0; 6]), b"\0\0\0\x02to\0\0".to_vec()].concat()
        );
        out.clear();
        make_directory(&mut out, &handle(), b"f1", 0o700);
        assert_eq!(out, [named(), words(&[1, 0o700, 0, 0, 0, 0, 0])].concat());
    }

    #[test]
    fn attributes_are_encoded_as_in_the_rfc() {
        let mut out = Vec::new();
        let new = NewAttributes {
            mode: Some(0o600),
            size_bytes: Some(5),
            times: Times::These((1, 2), (3, 4)),
        };
        set_attributes(&mut out, &handle(), &new);
        let expected = words(&[1, 0o600, 0, 0, 1, 0, 5, 2, 1, 2, 2, 3, 4, 0]);
        assert_eq!(out, [named()[..12].to_vec(), expected].concat());
        out.clear();
        let new = NewAttributes {
            times: Times::Server,
            ..NewAttributes::default()
        };
        set_attributes(&mut out, &handle(), &new);
        assert_eq!(
            out,
            [named()[..12].to_vec(), words(&[0, 0, 0, 0, 1, 1, 0])].concat()
        );
    }

    #[test]
    fn reads_and_writes_are_encoded_as_in_the_rfc() {
        let mut out = Vec::new();
        write(&mut out, &handle(), 1 << 32, Stable::Data, b"abcde");
        let expected = [words(&[1, 0, 5, 1, 5]), b"abcde\0\0\0".to_vec()].concat();
        assert_eq!(out, [named()[..12].to_vec(), expected].concat());
        out.clear();
        read(&mut out, &handle(), 7, 100);
        assert_eq!(out, [named()[..12].to_vec(), words(&[0, 7, 100])].concat());
        out.clear();
        commit(&mut out, &handle());
        assert_eq!(out, [named()[..12].to_vec(), words(&[0, 0, 0])].concat());
    }

    #[test]
    fn listings_and_names_are_encoded_as_in_the_rfc() {
        let place = ListingPlace {
            cookie: 9,
            verifier: *b"cookieve",
        };
        let begin = [named()[..12].to_vec(), words(&[0, 9]), b"cookieve".to_vec()].concat();
        for (is_plus, counts) in [(false, &[4096][..]), (true, &[4096, 4096])] {
            let mut out = Vec::new();
            list(&mut out, &handle(), &place, 4096, is_plus);
            assert_eq!(out, [begin.clone(), words(counts)].concat());
        }
        let mut out = Vec::new();
        get_port(&mut out, Program::Mount);
        assert_eq!(out, words(&[100_005, 3, 6, 0]));
        out.clear();
        rename(&mut out, (&handle(), b"f1"), (&handle(), b"f1"));
        assert_eq!(out, [named(), named()].concat());
        out.clear();
        link(&mut out, &handle(), &handle(), b"f1");
        assert_eq!(out, [named()[..12].to_vec(), named()].concat());
    }
}
