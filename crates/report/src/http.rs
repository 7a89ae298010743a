//! As much of HTTP as a page for one reader needs: one request per connection, read and answered by a deadline, so that
//! a client that sends or reads slowly delays no other for long.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A request's head may take no longer, and its answer neither.
const READ: Duration = Duration::from_secs(5);
const WRITE: Duration = Duration::from_secs(30);

/// Bytes of a request's head.
const MOST: usize = 16 * 1024;

pub struct HttpRequest {
    pub method: String,
    /// Without the query.
    pub path: String,
    /// Whether it was sent to this machine by name. A page elsewhere, whose name was made to lead here, was not.
    pub is_local: bool,
}

pub struct Response<'a> {
    pub status: &'static str,
    pub kind: &'static str,
    /// Further lines of the head, each with its end.
    pub head: &'a str,
    pub body: &'a [u8],
}

impl HttpRequest {
    pub fn read(stream: &mut TcpStream) -> Result<HttpRequest> {
        let deadline = Instant::now() + READ;
        let (mut head, mut part) = (Vec::new(), [0; 2048]);
        while !is_whole(&head) && head.len() < MOST {
            stream.set_read_timeout(Some(left(deadline)?))?;
            match stream.read(&mut part)? {
                0 => break,
                read => head.extend_from_slice(&part[..read]),
            }
        }
        Ok(HttpRequest::parse(&String::from_utf8_lossy(&head)))
    }

    fn parse(head: &str) -> HttpRequest {
        let mut lines = head.lines();
        let mut words = lines.next().unwrap_or_default().split_whitespace();
        let mut next = || words.next().unwrap_or_default();
        let (method, target) = (next().to_owned(), next());
        let path = target.split(['?', '#']).next().unwrap_or_default().to_owned();
        let named = |line: &str| {
            let (name, host) = line.split_once(':')?;
            let host = host.trim();
            let (host, port) = host.rsplit_once(':').unwrap_or((host, "80"));
            let is_local = matches!(host, "127.0.0.1" | "localhost") && port.parse::<u16>().is_ok();
            name.eq_ignore_ascii_case("host").then_some(is_local)
        };
        let hosts: Vec<bool> = lines.take_while(|line| !line.is_empty()).filter_map(named).collect();
        HttpRequest { method, path, is_local: !hosts.is_empty() && hosts.into_iter().all(|local| local) }
    }
}

impl Response<'_> {
    /// Sends it; of a `HEAD` request's answer the head alone.
    pub fn send(&self, stream: &mut TcpStream, head_only: bool) -> Result<()> {
        let Response { status, kind, head, body } = self;
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
             X-Content-Type-Options: nosniff\r\n{head}Connection: close\r\n\r\n",
            body.len()
        );
        let deadline = Instant::now() + WRITE;
        for mut rest in [head.as_bytes(), if head_only { &[][..] } else { body }] {
            while !rest.is_empty() {
                stream.set_write_timeout(Some(left(deadline)?))?;
                match stream.write(rest)? {
                    0 => return Err(ErrorKind::WriteZero.into()),
                    written => rest = &rest[written..],
                }
            }
        }
        Ok(())
    }
}

fn is_whole(head: &[u8]) -> bool {
    head.windows(4).any(|four| four == b"\r\n\r\n") || head.windows(2).any(|two| two == b"\n\n")
}

/// The time that is left, never none: a timeout of zero would be one without end.
fn left(deadline: Instant) -> Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(Error::from(ErrorKind::TimedOut)) } else { Ok(left) }
}
