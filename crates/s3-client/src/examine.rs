//! Parses any bytes as answers of a server, for fuzzing.

use crate::body::Framing;
use crate::head::{Head, head_length};
use crate::xml;

/// Parses bytes as an answer that arrives in pieces of `piece` bytes. Returns the number of bytes
/// of the body if the answer is valid and complete.
pub fn examine_answer(bytes: &[u8], piece: usize) -> Option<u64> {
    let length = head_length(bytes).ok()??;
    let head = Head::parse(&bytes[..length]).ok()?;
    let mut framing = Framing::new(&head, false).ok()?;
    let (mut begin, mut data) = (length, 0);
    for end in (length..=bytes.len())
        .step_by(piece.max(1))
        .chain([bytes.len()])
    {
        loop {
            let before = framing;
            let taken = framing.take(&bytes[begin..end]).ok()?;
            assert!(taken.skipped + taken.data <= end - begin);
            begin += taken.skipped + taken.data;
            data += taken.data as u64;
            if framing == before && taken.skipped + taken.data == 0 {
                break;
            }
        }
    }
    (framing == Framing::Done).then_some(data)
}

/// Parses bytes as each of the documents that answers contain. Returns the number of listed
/// entries.
pub fn examine_xml(document: &[u8]) -> usize {
    let mut entries = 0;
    let _ = xml::list(document, &mut |listed| {
        assert!(!listed.key.is_empty());
        entries += 1;
    });
    let _ = xml::error_code(document);
    let _ = xml::upload_id(document, &mut Vec::new());
    let _ = xml::uploads(document);
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_examined_in_pieces_of_any_size() {
        let answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
        for piece in 0..answer.len() {
            assert_eq!(examine_answer(answer, piece), Some(3), "{piece}");
            assert_eq!(examine_answer(&answer[..piece], 1), None, "{piece}");
        }
        assert_eq!(examine_xml(b"<ListBucketResult/>"), 0);
    }
}
