//! Percent-encoding, as Signature Version 4 prescribes it.

const HEX: &[u8; 16] = b"0123456789ABCDEF";

/// Appends `text`, encoding all bytes except unreserved characters; `keeps_slash` also keeps `/`,
/// as in paths.
pub(crate) fn encode(out: &mut Vec<u8>, text: &[u8], keeps_slash: bool) {
    for byte in text {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(*byte),
            b'/' if keeps_slash => out.push(b'/'),
            other => out.extend([
                b'%',
                HEX[usize::from(other >> 4)],
                HEX[usize::from(other & 15)],
            ]),
        }
    }
}

/// Appends the bytes in lower-case hexadecimal digits.
pub(crate) fn hex(out: &mut Vec<u8>, bytes: &[u8]) {
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            out.push(HEX[usize::from(digit)].to_ascii_lowercase());
        }
    }
}

/// Appends a decimal number.
pub(crate) fn decimal(out: &mut Vec<u8>, number: u64) {
    let mut digits = [0; 20];
    let (mut at, mut left) = (digits.len(), number);
    loop {
        at -= 1;
        digits[at] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_encoded() {
        let text = |encodes: &dyn Fn(&mut Vec<u8>)| {
            let mut out = Vec::new();
            encodes(&mut out);
            String::from_utf8(out).unwrap()
        };
        let path = text(&|out| encode(out, "a b/ü~+=".as_bytes(), true));
        assert_eq!(path, "a%20b/%C3%BC~%2B%3D");
        assert_eq!(text(&|out| encode(out, b"a/b", false)), "a%2Fb");
        assert_eq!(text(&|out| hex(out, &[0, 0xaf])), "00af");
        for number in [0, 7, 10, u64::MAX] {
            assert_eq!(text(&|out| decimal(out, number)), number.to_string());
        }
    }
}
