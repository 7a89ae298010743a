//! The live page: a small HTTP server on 127.0.0.1 and nowhere else, that shows the report of a folder as it fills.
//!
//! It answers `GET /` with the page and `GET /version` with a number that changes when the page does; the page asks
//! for that number each second and reloads itself. Requests that name another host are refused, so that a web page
//! elsewhere cannot read the report through the reader's own browser; the page's policy lets no script run but its own.

use crate::build;
use crate::claims::ClaimAnswers;
use crate::data::{self, ReadCache, Study};
use crate::draw::escape;
use crate::error::{Error, Result};
use crate::http::{HttpRequest, Response};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{ErrorKind, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};
use std::time::Duration;

/// How often the folder is looked at.
const INTERVAL: Duration = Duration::from_millis(500);

/// The pause after a connection that could not be accepted.
const BUSY: Duration = Duration::from_millis(100);

/// A folder that could not be shown is tried again after so many looks, though no file of it has changed.
const AGAIN: u32 = 10;

/// Connections at once. A browser has a handful.
const CONNECTIONS: usize = 64;

#[derive(Clone, Default)]
struct ServedPage {
    version: u64,
    page: Arc<str>,
    /// The page's Content-Security-Policy, as a line of the head.
    policy: Arc<str>,
}

pub struct Live {
    listener: TcpListener,
    folder: PathBuf,
    shown: Arc<RwLock<ServedPage>>,
}

impl Live {
    /// Takes the port for a folder of results; 0 takes any that is free.
    pub fn bind(folder: &Path, port: u16) -> Result<Self> {
        invitro_results::kind(folder)?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|why| Error::Listen { port, why })?;
        Ok(Self { listener, folder: folder.to_owned(), shown: Arc::default() })
    }

    pub fn address(&self) -> Result<SocketAddr> {
        self.listener.local_addr().map_err(|why| Error::Listen { port: 0, why })
    }

    /// Serves until the process ends.
    pub fn serve(self) -> Result<()> {
        let mut cache = ReadCache::default();
        let mut seen = data::fingerprint(&self.folder);
        let mut is_shown = refresh(&self.folder, &mut cache, &self.shown);
        let (folder, shown) = (self.folder.clone(), Arc::clone(&self.shown));
        std::thread::spawn(move || {
            for look in 1_u32.. {
                std::thread::sleep(INTERVAL);
                let now = data::fingerprint(&folder);
                if now != seen || (!is_shown && look.is_multiple_of(AGAIN)) {
                    seen = now;
                    is_shown = refresh(&folder, &mut cache, &shown);
                }
            }
        });
        let connections = Arc::new(());
        let mut is_reported = false;
        for stream in self.listener.incoming() {
            let mut stream = match stream {
                Ok(stream) => stream,
                // A browser that hangs up early is its own affair.
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => continue,
                Err(error) => {
                    if !std::mem::replace(&mut is_reported, true) {
                        // Whether or not anybody reads it.
                        let _ = writeln!(std::io::stderr(), "connections cannot be accepted now: {error}");
                    }
                    // No room for one more file, say: others have to close theirs first.
                    std::thread::sleep(BUSY);
                    continue;
                }
            };
            let (shown, connection) = (Arc::clone(&self.shown), Arc::clone(&connections));
            if Arc::strong_count(&connections) > CONNECTIONS + 1 {
                let body = b"Too many connections at once.\n";
                let answer = Response { status: "503 Service Unavailable", kind: "text/plain", head: "", body };
                let _ = answer.send(&mut stream, false);
                continue;
            }
            // Without a thread, the connection is dropped.
            let _ = std::thread::Builder::new().spawn(move || {
                let _ = answer(&mut stream, &shown);
                drop(connection);
            });
        }
        Ok(())
    }
}

/// Makes the page anew; whether it could be. A folder caught in the middle of a change, or a file that cannot be read, is
/// told in its place, and the next look may mend it.
fn refresh(folder: &Path, cache: &mut ReadCache, shown: &RwLock<ServedPage>) -> bool {
    // Content of the folder cannot hold what is drawn now.
    let random = || RandomState::new().build_hasher().finish();
    let nonce = format!("{:016x}{:016x}", random(), random());
    let render = || {
        let study = Study::open_cached(folder, cache)?;
        Ok(build::render(&study, &ClaimAnswers::new(&study), Some(&nonce)).0)
    };
    let made = catch_unwind(AssertUnwindSafe(render)).unwrap_or_else(|_| {
        *cache = ReadCache::default();
        Err(Error::Broke { path: folder.to_owned() })
    });
    let is_shown = made.is_ok();
    let page = made.unwrap_or_else(|error| {
        format!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"2\">\
             <title>invitro</title><p>{}</p></html>",
            escape(&error.to_string())
        )
    });
    let policy = format!(
        "Content-Security-Policy: default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; \
         connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
    );
    let mut shown = shown.write().unwrap_or_else(|poisoned| poisoned.into_inner());
    *shown = ServedPage { version: shown.version + 1, page: page.into(), policy: policy.into() };
    is_shown
}

fn answer(stream: &mut TcpStream, shown: &RwLock<ServedPage>) -> std::io::Result<()> {
    let HttpRequest { method, path, is_local } = HttpRequest::read(stream)?;
    // A copy, which shares the page: a slow reader keeps nobody from making a new one.
    let ServedPage { version, page, policy } = shown.read().unwrap_or_else(|poisoned| poisoned.into_inner()).clone();
    let version = version.to_string();
    let (status, kind, head, body) = match (method.as_str(), path.as_str()) {
        _ if !is_local => ("403 Forbidden", "text/plain", "", "This page is for this machine only.\n"),
        ("GET" | "HEAD", "/" | "/report.html") => ("200 OK", "text/html", &*policy, &*page),
        ("GET" | "HEAD", "/version") => ("200 OK", "text/plain", "", version.as_str()),
        ("GET" | "HEAD", _) => ("404 Not Found", "text/plain", "", "There is / and /version.\n"),
        _ => ("405 Method Not Allowed", "text/plain", "Allow: GET, HEAD\r\n", "Only GET and HEAD.\n"),
    };
    Response { status, kind, head, body: body.as_bytes() }.send(stream, method == "HEAD")
}
