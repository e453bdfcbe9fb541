//! nginx as a caching proxy. 8 clients request popular objects, first from an empty cache, and then
//! from a cache in which some objects are missing or out of date. The origin is this process.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use rustix::process::Signal;

use super::super::application::Application;
use super::super::cell::{Cell, Step, timed};
use super::super::data::Data;
use super::super::needs::Need;
use super::traffic::{SizeRange, Talk, free_port, in_parallel, popular};
use crate::draws::Draws;
use crate::process::Started;
use crate::result::Result;

const NGINX: Need = Need::Program {
    name: "nginx",
    install: "apt-get install -y --no-install-recommends nginx-light",
};
const CLIENTS: u64 = 8;
const TO_END: Duration = Duration::from_secs(20);

struct Load {
    sizes: SizeRange,
    objects: u64,
    exponent: f64,
}

/// `Tuned` has the object sizes and the popularity of the preset `web-cache`.
fn load(data: Data) -> Load {
    let (median, sigma, objects, exponent) =
        data.choose((11_579.0, 1.318, 6_000, 0.8), (6_000.0, 1.6, 4_000, 0.65));
    Load {
        sizes: SizeRange {
            median,
            sigma,
            min: 100,
            max: 1 << 20,
        },
        objects,
        exponent,
    }
}

pub const APPLICATION: Application = Application {
    name: "nginx",
    group: "nginx",
    needs: |_| vec![NGINX],
    prepare: |cell| Ok(std::fs::create_dir(cell.path("cache"))?),
    run,
    files: "cache",
    has_real_sizes: false,
};

fn run(cell: &mut Cell<'_>) -> Result<Vec<Step>> {
    let load = load(cell.data);
    let origin = TcpListener::bind(("127.0.0.1", 0))?;
    let (origin_port, port) = (origin.local_addr()?.port(), free_port()?);
    let sizes = load.sizes;
    // The thread is not joined: it waits for connections until this process ends.
    std::thread::spawn(move || serve(&origin, sizes));
    let config = cell.outside.join("nginx.conf");
    std::fs::write(&config, configuration(cell, origin_port, port))?;
    let mut command = cell.command("nginx");
    let mut nginx = Started::new(command.arg("-c").arg(&config).arg("-e").arg("stderr"))?;
    // Waits until nginx listens.
    drop(Talk::new(port)?);
    let tenth = if cell.is_small { 10 } else { 1 };
    let mut steps = Vec::new();
    for (name, requests) in [("fill", 1_500 / tenth), ("serve", 2_500 / tenth)] {
        let round = cell.round;
        // All clients send the same number of requests.
        let each = requests / CLIENTS;
        steps.push(timed(name, each * CLIENTS, || {
            in_parallel(CLIENTS, |client| {
                let number = round * 100 + client as u32;
                let mut draws = Draws::new(1, name, number);
                let mut talk = Talk::new(port)?;
                for _ in 0..each {
                    get(&mut talk, popular(&mut draws, load.objects, load.exponent))?;
                }
                Ok(())
            })
        })?);
    }
    nginx.signal(Signal::TERM);
    nginx.end_within(TO_END)?;
    Ok(steps)
}

/// The cache has two levels of directories, with temporary files in the directory of the object.
/// Objects are out of date after 2 s.
fn configuration(cell: &Cell<'_>, origin: u16, port: u16) -> String {
    let outside = cell.outside.display();
    let cache = cell.path("cache");
    let cache = cache.display();
    let temporary: String = ["client_body", "fastcgi", "uwsgi", "scgi", "proxy"]
        .map(|kind| format!("{kind}_temp_path {outside}/nginx-{kind};\n"))
        .concat();
    format!(
        "worker_processes 1; user root; daemon off; pid {outside}/nginx.pid;\n\
         error_log {outside}/nginx.log;\n\
         events {{ worker_connections 512; }}\n\
         http {{ access_log off; sendfile on; keepalive_requests 100000;\n{temporary}\
         proxy_cache_path {cache} levels=1:2 keys_zone=z:10m max_size=48m inactive=10m \
         use_temp_path=off manager_files=200 manager_sleep=20ms manager_threshold=500ms;\n\
         upstream o {{ server 127.0.0.1:{origin}; keepalive 16; }}\n\
         server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://o; \
         proxy_http_version 1.1; proxy_set_header Connection \"\"; proxy_cache z; \
         proxy_cache_valid 200 2s; }} }} }}\n"
    )
}

fn get(talk: &mut Talk, object: u64) -> Result<()> {
    talk.send(&format!("GET /{object} HTTP/1.1\r\nHost: x\r\n\r\n"))?;
    let status = talk.line()?;
    if !status.contains(" 200 ") {
        return Err(format!("nginx answered '{status}'").into());
    }
    let mut length = 0;
    loop {
        let line = talk.line()?.to_ascii_lowercase();
        if line.is_empty() {
            return talk.skip(length);
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
    }
}

/// Answers requests as the origin server. An object's number determines the object's size.
fn serve(origin: &TcpListener, sizes: SizeRange) {
    for stream in origin.incoming().flatten() {
        // An error ends only this connection.
        std::thread::spawn(move || drop(answer(stream, sizes)));
    }
}

fn answer(mut stream: TcpStream, sizes: SizeRange) -> Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    loop {
        let (mut request, mut line) = (String::new(), String::new());
        if reader.read_line(&mut request)? == 0 {
            return Ok(());
        }
        while line != "\r\n" {
            line.clear();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
        }
        let path = request.split(' ').nth(1).unwrap_or_default();
        let object: u32 = path.trim_start_matches('/').parse()?;
        let size = sizes.draw(&mut Draws::new(1, "object", object));
        let mut reply = format!("HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n").into_bytes();
        reply.resize(reply.len() + size as usize, b'x');
        stream.write_all(&reply)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_sets_differ() {
        let [tuned, other] = Data::ALL.map(load);
        assert!(tuned.objects != other.objects && tuned.sizes.median != other.sizes.median);
    }

    #[test]
    fn origin_answers_each_object_with_its_own_size() {
        let origin = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = origin.local_addr().unwrap().port();
        let sizes = load(Data::Tuned).sizes;
        std::thread::spawn(move || serve(&origin, sizes));
        let mut talk = Talk::new(port).unwrap();
        for object in [0, 1, 1, 4_000] {
            get(&mut talk, object).unwrap();
        }
    }
}
