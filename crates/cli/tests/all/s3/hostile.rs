//! S3 servers that answer the first request of a run wrongly. The run is refused with a reason, and
//! the program reads only a limited part of an endless answer.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use crate::support::interface::program;
use crate::support::{Running, TestDir};

/// Starts a server that answers each request with `answer`. If `again` is not empty, the server
/// then repeats `again` until the client closes the connection.
fn serve(answer: &'static str, again: &'static str) -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let work = move |mut stream: TcpStream| -> std::io::Result<()> {
        let _ = stream.read(&mut [0; 65_536])?;
        stream.write_all(answer.as_bytes())?;
        let many = again.repeat(if again.is_empty() {
            0
        } else {
            1 + 65_536 / again.len()
        });
        while !again.is_empty() {
            stream.write_all(many.as_bytes())?;
        }
        Ok(())
    };
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || work(stream));
        }
    });
    port
}

#[test]
fn run_on_a_hostile_server_is_refused() {
    let error = "HTTP/1.1 200 OK\r\ncontent-length: 41\r\n\r\n\
                 <Error><Code>InternalError</Code></Error>";
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let redirect = "HTTP/1.1 301 Moved\r\nlocation: http://127.0.0.1:1/\r\n\
                    content-length: 0\r\n\r\n";
    let long = "HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n";
    for (answer, again, words) in [
        (error, "", "an error inside of the server"),
        (redirect, "", "redirects to another address"),
        ("", "", "Connection reset by peer"),
        ("HTTP/1.1 200 OK\r\n", "x: y\r\n", "could not be understood"),
        (chunked, "5\r\n     \r\n", "could not be understood"),
        (long, "<ListBucketResult>", "could not be understood"),
        (long, " ", "could not be understood"),
        ("SSH-2.0-OpenSSH\r\n\r\n", "", "could not be understood"),
    ] {
        let test_dir = TestDir::new();
        let url = format!(
            "s3://bucket/t?endpoint=http://127.0.0.1:{}",
            serve(answer, again)
        );
        let mut command = Running::command(program());
        command.args(["run", "--mix", "create=1", "--target", &url]);
        command
            .env("AWS_ACCESS_KEY_ID", "key")
            .env("AWS_SECRET_ACCESS_KEY", "secret");
        let ended = Running::run_to_end(command, test_dir.path());
        ended.code(2).shows(words);
    }
}
