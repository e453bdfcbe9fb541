//! The XML documents in answers. The sizes and the depth of documents are limited. Entities that a
//! document declares are not expanded.

use quick_xml::events::{BytesRef, Event};
use quick_xml::reader::Reader;

use crate::date;
use crate::head::{Garbled, Tag};

/// Maximum size in bytes of a document: enough for a page of 1,000 entries with keys of 1,024
/// bytes.
pub const DOCUMENT_BYTES_MAX: usize = 8 << 20;
/// Maximum length in bytes of a value.
const VALUE_BYTES_MAX: usize = 16 << 10;
/// Maximum depth of nested elements.
const DEPTH_MAX: usize = 8;

/// An object or a common prefix in a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed<'a> {
    /// The key of the object, or the common prefix of several keys.
    pub key: &'a [u8],
    /// Whether this is a common prefix.
    pub is_prefix: bool,
    /// The size in bytes.
    pub size_bytes: u64,
    /// The date of the last change, in seconds since the epoch.
    pub modified_s: Option<i64>,
    /// The tag, with its quotes.
    pub tag: Option<Tag>,
}

/// What a page of a listing reports besides its entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The token with which the next page is requested; `None` on the last page.
    pub next: Option<Vec<u8>>,
    /// Number of objects and common prefixes.
    pub entries: usize,
}

/// An upload that was not completed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Upload {
    /// The key of the object that the upload would have made.
    pub key: Vec<u8>,
    /// The upload's ID.
    pub id: Vec<u8>,
}

/// Receives an element's path, such as `Error/Code`, and its text.
type Each<'a> = dyn FnMut(&[u8], &[u8]) -> Result<(), Garbled> + 'a;

/// Calls `each` at the end of every element.
fn elements(document: &[u8], each: &mut Each<'_>) -> Result<(), Garbled> {
    if document.len() > DOCUMENT_BYTES_MAX {
        return Err(Garbled);
    }
    let mut reader = Reader::from_reader(document);
    // Names of open elements, each preceded by a slash.
    let (mut path, mut depth) = (Vec::with_capacity(128), 0);
    let mut text: Vec<u8> = Vec::with_capacity(256);
    let mut is_empty = true;
    loop {
        let event = reader.read_event().map_err(|_| Garbled)?;
        match &event {
            Event::Start(element) | Event::Empty(element) => {
                depth += 1;
                if depth > DEPTH_MAX || (depth == 1 && !is_empty) {
                    return Err(Garbled);
                }
                is_empty = false;
                path.push(b'/');
                path.extend_from_slice(element.local_name().as_ref());
                if path.len() > VALUE_BYTES_MAX {
                    return Err(Garbled);
                }
                text.clear();
            }
            Event::Text(part) => extend(&mut text, part)?,
            Event::CData(part) => extend(&mut text, part)?,
            Event::GeneralRef(entity) => push(&mut text, resolve(entity)?)?,
            Event::Eof if depth == 0 && !is_empty => return Ok(()),
            Event::Eof | Event::DocType(_) => return Err(Garbled),
            Event::End(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
        }
        if matches!(event, Event::End(_) | Event::Empty(_)) {
            each(&path[1..], &text)?;
            path.truncate(path.iter().rposition(|byte| *byte == b'/').unwrap_or(0));
            depth -= 1;
            text.clear();
        }
    }
}

fn extend(text: &mut Vec<u8>, part: &[u8]) -> Result<(), Garbled> {
    if text.len() + part.len() > VALUE_BYTES_MAX {
        return Err(Garbled);
    }
    text.extend_from_slice(part);
    Ok(())
}

fn push(text: &mut Vec<u8>, character: char) -> Result<(), Garbled> {
    extend(text, character.encode_utf8(&mut [0; 4]).as_bytes())
}

/// Returns the character of a reference like `&amp;` or `&#38;`.
fn resolve(entity: &BytesRef<'_>) -> Result<char, Garbled> {
    if let Some(character) = entity.resolve_char_ref().map_err(|_| Garbled)? {
        return Ok(character);
    }
    match &**entity {
        b"amp" => Ok('&'),
        b"lt" => Ok('<'),
        b"gt" => Ok('>'),
        b"quot" => Ok('"'),
        b"apos" => Ok('\''),
        _ => Err(Garbled),
    }
}

/// Whether the outermost element is `Error`.
fn is_error(document: &[u8]) -> bool {
    let mut reader = Reader::from_reader(document);
    loop {
        match reader.read_event() {
            Ok(Event::Start(root) | Event::Empty(root)) => {
                return root.local_name().as_ref() == b"Error";
            }
            Ok(Event::Text(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_)) => {}
            Ok(_) | Err(_) => return false,
        }
    }
}

/// Returns the code in the document of an error, which may be empty; `None` for other documents.
pub fn error_code(document: &[u8]) -> Option<Vec<u8>> {
    if document.is_empty() || !is_error(document) {
        return None;
    }
    let mut code = Vec::new();
    // An incomplete document still reports an error, so the result is not checked.
    let _ = elements(document, &mut |path, text| {
        if path == b"Error/Code" {
            code = text.trim_ascii().to_vec();
        }
        Ok(())
    });
    Some(code)
}

fn number(text: &[u8]) -> Option<u64> {
    let is_number = text.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(text)
        .ok()?
        .parse()
        .ok()
        .filter(|_| is_number)
}

/// Parses a page of `ListObjectsV2`, and calls `each` for every object and common prefix.
///
/// # Errors
/// Returns an error if the document is not such a page, is invalid, or exceeds a limit. `each` may
/// then have been called for the first entries.
pub fn list(document: &[u8], each: &mut dyn FnMut(&Listed<'_>)) -> Result<Page, Garbled> {
    let mut key: Vec<u8> = Vec::with_capacity(128);
    let nothing = || Listed {
        key: b"",
        is_prefix: false,
        size_bytes: 0,
        modified_s: None,
        tag: None,
    };
    let (mut listed, mut page) = (nothing(), Page::default());
    let (mut token, mut is_truncated, mut is_list) = (None, false, false);
    elements(document, &mut |path, text| {
        let Some(inner) = path.strip_prefix(b"ListBucketResult") else {
            return Err(Garbled);
        };
        match inner {
            b"" => is_list = true,
            b"/IsTruncated" => is_truncated = text == b"true",
            b"/NextContinuationToken" => token = Some(text.to_vec()),
            b"/Contents/Key" | b"/CommonPrefixes/Prefix" => {
                key.clear();
                key.extend_from_slice(text);
            }
            b"/Contents/Size" => listed.size_bytes = number(text).ok_or(Garbled)?,
            b"/Contents/LastModified" => listed.modified_s = date::of_listing(text),
            b"/Contents/ETag" => listed.tag = Tag::new(text),
            b"/Contents" | b"/CommonPrefixes" if key.is_empty() => return Err(Garbled),
            b"/Contents" | b"/CommonPrefixes" => {
                each(&Listed {
                    key: &key,
                    is_prefix: inner == b"/CommonPrefixes",
                    ..listed
                });
                (listed, page.entries) = (nothing(), page.entries + 1);
                key.clear();
            }
            _ => {}
        }
        Ok(())
    })?;
    match (is_list, is_truncated, token) {
        (false, ..) | (true, true, None) => Err(Garbled),
        (true, true, token) => {
            page.next = token.filter(|token| !token.is_empty());
            page.next.is_some().then_some(page).ok_or(Garbled)
        }
        (true, false, _) => Ok(page),
    }
}

/// Parses the answer to `CreateMultipartUpload`, and writes the upload's ID to `id`.
///
/// # Errors
/// Returns an error if the document is not such an answer, or contains no ID.
pub fn upload_id(document: &[u8], id: &mut Vec<u8>) -> Result<(), Garbled> {
    id.clear();
    elements(document, &mut |path, text| {
        if path == b"InitiateMultipartUploadResult/UploadId" {
            id.extend_from_slice(text);
        }
        Ok(())
    })?;
    match id.is_empty() || id.len() > VALUE_BYTES_MAX {
        true => Err(Garbled),
        false => Ok(()),
    }
}

/// Parses a page of `ListMultipartUploads`. Also returns the markers of the next page, if the
/// server has further uploads.
///
/// # Errors
/// Returns an error if the document is not such a page, or is invalid.
pub fn uploads(document: &[u8]) -> Result<(Vec<Upload>, Option<Upload>), Garbled> {
    let (mut all, mut upload, mut next) = (Vec::new(), Upload::default(), Upload::default());
    let (mut is_truncated, mut is_list) = (false, false);
    elements(document, &mut |path, text| {
        match path {
            b"ListMultipartUploadsResult" => is_list = true,
            b"ListMultipartUploadsResult/IsTruncated" => is_truncated = text == b"true",
            b"ListMultipartUploadsResult/NextKeyMarker" => next.key = text.to_vec(),
            b"ListMultipartUploadsResult/NextUploadIdMarker" => next.id = text.to_vec(),
            b"ListMultipartUploadsResult/Upload/Key" => upload.key = text.to_vec(),
            b"ListMultipartUploadsResult/Upload/UploadId" => upload.id = text.to_vec(),
            b"ListMultipartUploadsResult/Upload" => all.push(std::mem::take(&mut upload)),
            _ => {}
        }
        Ok(())
    })?;
    match is_list {
        true => Ok((all, is_truncated.then_some(next))),
        false => Err(Garbled),
    }
}

/// Appends the body of `CompleteMultipartUpload` for parts with these tags.
pub fn complete(tags: &[Tag], out: &mut Vec<u8>) {
    out.extend_from_slice(b"<CompleteMultipartUpload>");
    for (index, tag) in tags.iter().enumerate() {
        out.extend_from_slice(b"<Part><PartNumber>");
        crate::encode::decimal(out, index as u64 + 1);
        out.extend_from_slice(b"</PartNumber><ETag>");
        for byte in tag.bytes() {
            match byte {
                b'"' => out.extend_from_slice(b"&quot;"),
                b'&' => out.extend_from_slice(b"&amp;"),
                b'<' => out.extend_from_slice(b"&lt;"),
                other => out.push(*other),
            }
        }
        out.extend_from_slice(b"</ETag></Part>");
    }
    out.extend_from_slice(b"</CompleteMultipartUpload>");
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "<?xml version=\"1.0\"?>\n<ListBucketResult xmlns=\"http://s3\">\
        <Name>b</Name>\
        <IsTruncated>true</IsTruncated><Contents><Key>a&amp;b&#x21;</Key><Size>12</Size>\
        <ETag>&quot;t&quot;</ETag><LastModified>2026-11-26T20:43:00.000Z</LastModified>\
        <Owner><ID>x</ID></Owner></Contents><CommonPrefixes><Prefix>d/</Prefix></CommonPrefixes>\
        <NextContinuationToken>next</NextContinuationToken></ListBucketResult>";

    #[test]
    fn listings_are_parsed() {
        let mut seen = Vec::new();
        let page = list(LIST.as_bytes(), &mut |listed| {
            seen.push((listed.key.to_vec(), listed.is_prefix, listed.size_bytes));
            assert_eq!(listed.tag.is_some(), !listed.is_prefix);
            assert_eq!(listed.modified_s.is_some(), !listed.is_prefix);
        });
        let page = page.unwrap();
        assert_eq!(
            (page.next.as_deref(), page.entries),
            (Some(&b"next"[..]), 2)
        );
        assert_eq!(
            seen,
            [(b"a&b!".to_vec(), false, 12), (b"d/".to_vec(), true, 0)]
        );
        let last = list(b"<ListBucketResult/>", &mut |_| ());
        assert_eq!(last, Ok(Page::default()));
    }

    #[test]
    fn invalid_documents_are_rejected() {
        let open = "<a>".repeat(DEPTH_MAX + 1);
        let close = "</a>".repeat(DEPTH_MAX + 1);
        let deep = format!("<ListBucketResult>{open}{close}</ListBucketResult>");
        let long = "x".repeat(VALUE_BYTES_MAX + 1);
        let long = format!("<ListBucketResult><Name>{long}</Name></ListBucketResult>");
        let bomb = "<!DOCTYPE x [<!ENTITY a \"b\">]><ListBucketResult><Name>&a;</Name>\
            </ListBucketResult>";
        for document in [
            "",
            "text",
            "<ListBucketResult>",
            "<ListBucketResult></Other>",
            "<Other/>",
            "<ListBucketResult/><ListBucketResult/>",
            "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
            "<ListBucketResult><Contents/></ListBucketResult>",
            "<ListBucketResult><Contents><Key>k</Key><Size>-1</Size></Contents></ListBucketResult>",
            "<ListBucketResult><Name>&unknown;</Name></ListBucketResult>",
            &deep,
            &long,
            bomb,
        ] {
            assert_eq!(
                list(document.as_bytes(), &mut |_| ()),
                Err(Garbled),
                "{document:.90}"
            );
        }
        let endless = vec![b' '; DOCUMENT_BYTES_MAX + 1];
        assert_eq!(list(&endless, &mut |_| ()), Err(Garbled));
    }

    #[test]
    fn errors_and_uploads_are_parsed() {
        let error = b"<Error><Code> SlowDown </Code><Message>x</Message></Error>";
        assert_eq!(error_code(error), Some(b"SlowDown".to_vec()));
        assert_eq!(error_code(b"<CopyObjectResult/>"), None);
        assert_eq!(error_code(b"<Error><Code>x"), Some(Vec::new()));
        assert_eq!(error_code(b""), None);
        let mut id = b"old".to_vec();
        let created = b"<InitiateMultipartUploadResult><UploadId>7</UploadId>\
            </InitiateMultipartUploadResult>";
        assert_eq!(upload_id(created, &mut id), Ok(()));
        assert_eq!(id, b"7");
        assert_eq!(upload_id(b"<Error/>", &mut id), Err(Garbled));
        let listed = b"<ListMultipartUploadsResult><Upload><Key>k</Key><UploadId>1</UploadId>\
            </Upload><IsTruncated>false</IsTruncated></ListMultipartUploadsResult>";
        let upload = Upload {
            key: b"k".to_vec(),
            id: b"1".to_vec(),
        };
        assert_eq!(uploads(listed), Ok((vec![upload.clone()], None)));
        let first_page = b"<ListMultipartUploadsResult><NextKeyMarker>k</NextKeyMarker>\
            <NextUploadIdMarker>1</NextUploadIdMarker><IsTruncated>true</IsTruncated>\
            </ListMultipartUploadsResult>";
        assert_eq!(uploads(first_page), Ok((vec![], Some(upload))));
        let mut body = Vec::new();
        complete(&[Tag::new(b"\"t\"").unwrap()], &mut body);
        let expected = "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>&quot;t\
            &quot;</ETag></Part></CompleteMultipartUpload>";
        assert_eq!(String::from_utf8(body).unwrap(), expected);
    }
}
