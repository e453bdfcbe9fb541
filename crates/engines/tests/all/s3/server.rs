//! A server of S3 in this process, with a thread for each connection. It stores objects of one
//! bucket in memory. A rule changes how the server handles the requests that the rule selects by
//! name and number.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// Maximum number of uploads that one reply lists.
const UPLOADS_OF_A_PAGE: usize = 2;

/// How the server handles a request.
#[derive(Clone)]
pub enum Act {
    /// Does not perform the request, and answers with this status and error code.
    Status(u16, &'static str),
    /// Closes the connection after the request was performed, without an answer.
    LoseReply,
    /// Performs the request, sends these bytes, and closes the connection.
    Bytes(Vec<u8>),
    /// Sends the first value once and the second one repeatedly, until the client closes the
    /// connection.
    Endless(&'static [u8], &'static [u8]),
    /// Sends the answer in pieces of one byte with this delay between them.
    Slow(Duration),
    /// Performs the request as if it had no condition.
    IgnoresCondition,
}

struct Rule {
    name: &'static str,
    /// The number of the request among those of this name, counted from 0; `None` selects all of
    /// them.
    nth: Option<usize>,
    act: Act,
}

#[derive(Clone, Default)]
pub struct Object {
    pub bytes: Vec<u8>,
    version: u64,
}

type Parts = BTreeMap<u64, Vec<u8>>;

#[derive(Default)]
pub struct State {
    pub objects: BTreeMap<Vec<u8>, Object>,
    /// Key and parts of each incomplete upload, by its number.
    pub uploads: BTreeMap<u64, (Vec<u8>, Parts)>,
    version: u64,
    rules: Vec<Rule>,
    requests: Vec<&'static str>,
    counts: BTreeMap<&'static str, usize>,
    /// Number of bytes of all requests; `sent` is the number of bytes of all answers.
    pub received: u64,
    pub sent: u64,
    pub connections: u64,
}

pub struct Server {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    stops: Arc<AtomicBool>,
}

struct Request {
    name: &'static str,
    key: Vec<u8>,
    query: BTreeMap<String, Vec<u8>>,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
    is_head: bool,
}

struct Reply {
    status: u16,
    headers: String,
    body: Vec<u8>,
}

impl Server {
    pub fn new() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let (state, stops) = (Arc::<Mutex<State>>::default(), Arc::<AtomicBool>::default());
        let (own, stopped) = (Arc::clone(&state), Arc::clone(&stops));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                let (Ok(stream), own) = (stream, Arc::clone(&own)) else {
                    continue;
                };
                own.lock().unwrap().connections += 1;
                std::thread::spawn(move || serve(&stream, &own));
            }
        });
        Self {
            address,
            state,
            stops,
        }
    }

    pub fn on(&self, name: &'static str, nth: usize, act: Act) -> &Self {
        let nth = Some(nth);
        self.state().rules.push(Rule { name, nth, act });
        self
    }

    pub fn always(&self, name: &'static str, act: Act) -> &Self {
        self.state().rules.push(Rule {
            name,
            nth: None,
            act,
        });
        self
    }

    /// Returns the names of the requests received since the previous call of this function.
    /// Restarts the numbers of requests at 0.
    pub fn take_requests(&self) -> Vec<&'static str> {
        let mut state = self.state();
        state.counts.clear();
        std::mem::take(&mut state.requests)
    }

    /// Removes all rules, so that the server handles all requests normally.
    pub fn behave(&self) -> &Self {
        self.state().rules.clear();
        self
    }

    pub fn url(&self, parameters: &str) -> PathBuf {
        format!("s3://bucket/p?endpoint=http://{}{parameters}", self.address).into()
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Returns the keys of all objects.
    pub fn keys(&self) -> Vec<String> {
        let state = self.state();
        let keys = state.objects.keys();
        keys.map(|key| String::from_utf8_lossy(key).into_owned())
            .collect()
    }

    pub fn put(&self, key: &str, bytes: &[u8]) {
        self.state().put(key.as_bytes(), bytes.to_vec());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stops.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
    }
}

fn decoded(text: &str) -> Vec<u8> {
    let mut bytes = text.bytes();
    let mut out = Vec::new();
    while let Some(byte) = bytes.next() {
        match byte {
            b'%' => {
                let mut digit = || char::from(bytes.next().unwrap()).to_digit(16).unwrap() as u8;
                out.push(digit() << 4 | digit());
            }
            other => out.push(other),
        }
    }
    out
}

/// Reads a request; returns the request and its length in bytes, or `None` at the end of the
/// connection.
fn read(reader: &mut BufReader<&TcpStream>) -> Option<(Request, u64)> {
    let mut line = String::new();
    let mut length = reader.read_line(&mut line).ok().filter(|read| *read > 0)? as u64;
    let mut words = line.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        length += reader.read_line(&mut line).ok()? as u64;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.insert(name.to_owned(), value.to_owned());
    }
    let bytes: usize = headers
        .get("content-length")
        .map_or(0, |text| text.parse().unwrap());
    let mut body = vec![0; bytes];
    reader.read_exact(&mut body).ok()?;
    assert!(headers["authorization"].starts_with("AWS4-HMAC-SHA256 Credential=KEY/"));
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let parameters = query.split('&').filter(|text| !text.is_empty());
    let query: BTreeMap<String, Vec<u8>> = parameters
        .map(|text| {
            let (name, value) = text.split_once('=').unwrap();
            (name.to_owned(), decoded(value))
        })
        .collect();
    let path = path.strip_prefix("/bucket").unwrap();
    let key = decoded(path.strip_prefix('/').unwrap_or(path));
    let has = |name: &str| query.contains_key(name);
    let name = match method.as_str() {
        "PUT" if has("partNumber") => "UploadPart",
        "PUT" if headers.contains_key("x-amz-copy-source") => "CopyObject",
        "PUT" => "PutObject",
        "GET" if has("uploads") => "ListMultipartUploads",
        "GET" if key.is_empty() => "ListObjectsV2",
        "GET" => "GetObject",
        "HEAD" => "HeadObject",
        "DELETE" if has("uploadId") => "AbortMultipartUpload",
        "DELETE" => "DeleteObject",
        "POST" if has("uploads") => "CreateMultipartUpload",
        "POST" => "CompleteMultipartUpload",
        other => panic!("{other}"),
    };
    let request = Request {
        name,
        key,
        query,
        headers,
        body,
        is_head: method == "HEAD",
    };
    Some((request, length + bytes as u64))
}

fn serve(stream: &TcpStream, shared: &Mutex<State>) {
    let mut reader = BufReader::new(stream);
    while let Some((request, length)) = read(&mut reader) {
        let mut state = shared.lock().unwrap();
        state.received += length;
        let act = state.act(request.name);
        state.requests.push(request.name);
        let heeds = !matches!(act, Some(Act::IgnoresCondition));
        let reply = match act {
            Some(Act::Status(status, code)) => error(status, code),
            _ => state.perform(&request, heeds),
        };
        drop(state);
        let bytes = reply.bytes(request.is_head);
        // Counted first, because the client may ask for the counts as soon as it has the answer.
        shared.lock().unwrap().sent += bytes.len() as u64;
        if !answer(stream, act, &bytes) {
            shared.lock().unwrap().sent -= bytes.len() as u64;
            let _ = stream.shutdown(std::net::Shutdown::Both);
            return;
        }
    }
}

/// Sends an answer; returns whether the connection stays open.
fn answer(mut stream: &TcpStream, act: Option<Act>, bytes: &[u8]) -> bool {
    match act {
        Some(Act::LoseReply) => false,
        Some(Act::Bytes(bytes)) => {
            let _ = stream.write_all(&bytes);
            false
        }
        Some(Act::Endless(first, again)) => {
            let mut sent = stream.write_all(first);
            let many = again.repeat(1 + 4096 / again.len());
            while sent.is_ok() {
                sent = stream.write_all(&many);
            }
            false
        }
        Some(Act::Slow(delay)) => bytes.chunks(1).all(|byte| {
            std::thread::sleep(delay);
            stream.write_all(byte).is_ok()
        }),
        _ => stream.write_all(bytes).is_ok(),
    }
}

fn error(status: u16, code: &str) -> Reply {
    Reply {
        status,
        headers: String::new(),
        body: format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code></Error>").into_bytes(),
    }
}

fn done(body: impl Into<Vec<u8>>) -> Reply {
    Reply {
        status: 200,
        headers: String::new(),
        body: body.into(),
    }
}

impl Reply {
    fn bytes(&self, is_head: bool) -> Vec<u8> {
        let Self {
            status,
            headers,
            body,
        } = self;
        let length = match headers.contains("content-length") || *status == 204 {
            true => String::new(),
            false => format!("content-length: {}\r\n", body.len()),
        };
        let mut bytes = format!("HTTP/1.1 {status} Word\r\n{length}{headers}\r\n").into_bytes();
        if !is_head && *status != 204 {
            bytes.extend_from_slice(body);
        }
        bytes
    }
}

impl Object {
    fn headers(&self) -> String {
        format!(
            "etag: \"{}\"\r\nlast-modified: Thu, 26 Nov 2026 20:43:00 GMT\r\n",
            self.version
        )
    }
}

impl State {
    /// Records a request and returns the action of the first rule that selects it.
    fn act(&mut self, name: &'static str) -> Option<Act> {
        let count = self.counts.entry(name).or_default();
        let nth = *count;
        *count += 1;
        let fits = |rule: &&Rule| rule.name == name && rule.nth.is_none_or(|wanted| wanted == nth);
        self.rules.iter().find(fits).map(|rule| rule.act.clone())
    }

    fn put(&mut self, key: &[u8], bytes: Vec<u8>) {
        self.version += 1;
        let version = self.version;
        self.objects.insert(key.to_vec(), Object { bytes, version });
    }

    fn perform(&mut self, request: &Request, heeds_condition: bool) -> Reply {
        let key = &request.key;
        let is_exclusive = heeds_condition && request.headers.contains_key("if-none-match");
        let found = self.objects.get(key).cloned();
        match request.name {
            "PutObject" | "CompleteMultipartUpload" if is_exclusive && found.is_some() => {
                error(412, "PreconditionFailed")
            }
            "PutObject" => {
                self.put(key, request.body.clone());
                done("")
            }
            "GetObject" => match found {
                None => error(404, "NoSuchKey"),
                Some(object) => get(&object, request.headers.get("range")),
            },
            "HeadObject" => match found {
                None => error(404, ""),
                Some(object) => Reply {
                    headers: object.headers(),
                    ..done(object.bytes)
                },
            },
            "DeleteObject" => {
                self.objects.remove(key);
                Reply {
                    status: 204,
                    ..done("")
                }
            }
            "CopyObject" => {
                let source = decoded(&request.headers["x-amz-copy-source"]);
                let source = source.strip_prefix(b"/bucket/").unwrap();
                match self.objects.get(source).cloned() {
                    None => error(404, "NoSuchKey"),
                    Some(object) => {
                        self.put(key, object.bytes);
                        done("<CopyObjectResult/>")
                    }
                }
            }
            "ListObjectsV2" => self.list(request),
            _ => self.upload(request),
        }
    }

    fn upload(&mut self, request: &Request) -> Reply {
        let number = |name: &str| {
            let text = request.query.get(name).cloned().unwrap_or_default();
            String::from_utf8(text).unwrap().parse::<u64>().unwrap_or(0)
        };
        let id = number("uploadId");
        match request.name {
            "CreateMultipartUpload" => {
                self.version += 1;
                let key = request.key.clone();
                self.uploads.insert(self.version, (key, BTreeMap::new()));
                done(format!(
                    "<InitiateMultipartUploadResult><UploadId>{}</UploadId>\
                     </InitiateMultipartUploadResult>",
                    self.version
                ))
            }
            "UploadPart" => match self.uploads.get_mut(&id) {
                None => error(404, "NoSuchUpload"),
                Some((_, parts)) => {
                    let part = number("partNumber");
                    parts.insert(part, request.body.clone());
                    Reply {
                        headers: format!("etag: \"part{part}\"\r\n"),
                        ..done("")
                    }
                }
            },
            "CompleteMultipartUpload" => match self.uploads.remove(&id) {
                None => error(404, "NoSuchUpload"),
                Some((key, parts)) => {
                    let text = String::from_utf8_lossy(&request.body).into_owned();
                    assert_eq!(text.matches("<PartNumber>").count(), parts.len());
                    self.put(&key, parts.into_values().flatten().collect());
                    done("<CompleteMultipartUploadResult/>")
                }
            },
            "AbortMultipartUpload" => {
                self.uploads.remove(&id);
                Reply {
                    status: 204,
                    ..done("")
                }
            }
            _ => {
                let text = |name: &str| request.query.get(name).cloned().unwrap_or_default();
                let id = |text: Vec<u8>| String::from_utf8_lossy(&text).parse().unwrap_or(0);
                let prefix = text("prefix");
                let after = (text("key-marker"), id(text("upload-id-marker")));
                let uploads = self.uploads.iter();
                let all: BTreeSet<(Vec<u8>, u64)> = uploads
                    .map(|(id, (key, _))| (key.clone(), *id))
                    .filter(|upload| upload.0.starts_with(&prefix) && *upload > after)
                    .collect();
                let page = || all.iter().take(UPLOADS_OF_A_PAGE);
                let mut uploads: String = page()
                    .map(|(key, id)| {
                        let key = String::from_utf8_lossy(key);
                        format!("<Upload><Key>{key}</Key><UploadId>{id}</UploadId></Upload>")
                    })
                    .collect();
                if let (Some((key, id)), true) = (page().next_back(), all.len() > UPLOADS_OF_A_PAGE)
                {
                    let key = String::from_utf8_lossy(key);
                    uploads += &format!(
                        "<NextKeyMarker>{key}</NextKeyMarker><NextUploadIdMarker>{id}\
                         </NextUploadIdMarker><IsTruncated>true</IsTruncated>"
                    );
                }
                done(format!(
                    "<ListMultipartUploadsResult>{uploads}</ListMultipartUploadsResult>"
                ))
            }
        }
    }

    fn list(&self, request: &Request) -> Reply {
        let text = |name: &str| request.query.get(name).cloned().unwrap_or_default();
        let (prefix, token) = (text("prefix"), text("continuation-token"));
        let most: usize = String::from_utf8(text("max-keys"))
            .unwrap()
            .parse()
            .unwrap();
        let by_directory = request.query.contains_key("delimiter");
        // Pages have at most 3 entries, so that tests need several pages.
        let most = most.min(3);
        let mut entries: BTreeMap<Vec<u8>, Option<&Object>> = BTreeMap::new();
        for (key, object) in &self.objects {
            let Some(rest) = key.strip_prefix(prefix.as_slice()) else {
                continue;
            };
            match rest
                .iter()
                .position(|byte| *byte == b'/')
                .filter(|_| by_directory)
            {
                Some(at) => entries.insert(key[..=prefix.len() + at].to_vec(), None),
                None => entries.insert(key.clone(), Some(object)),
            };
        }
        let after: Vec<_> = entries.iter().filter(|(key, _)| **key > token).collect();
        let mut body = String::from("<ListBucketResult>");
        for (key, object) in after.iter().take(most) {
            let key = String::from_utf8_lossy(key).replace('&', "&amp;");
            body += &match object {
                None => format!("<CommonPrefixes><Prefix>{key}</Prefix></CommonPrefixes>"),
                Some(object) => format!(
                    "<Contents><Key>{key}</Key><Size>{}</Size><ETag>&quot;{}&quot;</ETag>\
                     <LastModified>2026-11-26T20:43:00.000Z</LastModified></Contents>",
                    object.bytes.len(),
                    object.version
                ),
            };
        }
        if after.len() > most {
            let next = String::from_utf8_lossy(after[most - 1].0).into_owned();
            body += &format!(
                "<IsTruncated>true</IsTruncated><NextContinuationToken>{next}\
                 </NextContinuationToken>"
            );
        }
        done(body + "</ListBucketResult>")
    }
}

fn get(object: &Object, range: Option<&String>) -> Reply {
    let Some(range) = range else {
        return Reply {
            headers: object.headers(),
            ..done(object.bytes.clone())
        };
    };
    let (first, last) = range
        .strip_prefix("bytes=")
        .unwrap()
        .split_once('-')
        .unwrap();
    let (first, last): (usize, usize) = (first.parse().unwrap(), last.parse().unwrap());
    if first >= object.bytes.len() {
        return error(416, "InvalidRange");
    }
    let end = object.bytes.len().min(last + 1);
    Reply {
        status: 206,
        headers: object.headers(),
        body: object.bytes[first..end].to_vec(),
    }
}
