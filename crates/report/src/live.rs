//! The live page: a small HTTP server on 127.0.0.1 and nowhere else, that shows the report of a folder as it fills.
//!
//! It answers `GET /` with the page and `GET /version` with a number that changes when the page does; the page asks
//! for that number each second and reloads itself. Requests that name another host are refused, so that a web page
//! elsewhere cannot read the report through the reader's own browser.

use crate::build;
use crate::data::{self, Cache};
use crate::draw::escape;
use crate::error::{Error, Result};
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};
use std::time::Duration;

/// How often the folder is looked at.
const LOOK: Duration = Duration::from_millis(500);

#[derive(Default)]
struct Shown {
    version: u64,
    page: String,
}

pub struct Live {
    listener: TcpListener,
    folder: PathBuf,
    shown: Arc<RwLock<Shown>>,
}

impl Live {
    /// Reads the folder once and takes the port; 0 takes any that is free.
    pub fn bind(folder: &Path, port: u16) -> Result<Self> {
        data::read(folder)?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|why| Error::Listen { port, why })?;
        Ok(Self { listener, folder: folder.to_owned(), shown: Arc::default() })
    }

    pub fn address(&self) -> Result<SocketAddr> {
        self.listener.local_addr().map_err(|why| Error::Listen { port: 0, why })
    }

    /// Serves until the process ends.
    pub fn serve(self) -> Result<()> {
        let mut cache = Cache::default();
        let mut seen = data::fingerprint(&self.folder);
        refresh(&self.folder, &mut cache, &self.shown);
        let (folder, shown) = (self.folder.clone(), Arc::clone(&self.shown));
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(LOOK);
                let now = data::fingerprint(&folder);
                if now != seen {
                    seen = now;
                    refresh(&folder, &mut cache, &shown);
                }
            }
        });
        for stream in self.listener.incoming() {
            // A browser that hangs up early is its own affair.
            let Ok(stream) = stream else { continue };
            let shown = Arc::clone(&self.shown);
            std::thread::spawn(move || {
                let _ = answer(stream, &shown);
            });
        }
        Ok(())
    }
}

/// Makes the page anew. A folder caught in the middle of a change says so, and the next look mends it.
fn refresh(folder: &Path, cache: &mut Cache, shown: &RwLock<Shown>) {
    let page = match data::read_cached(folder, cache) {
        Ok(study) => build::render(&study, true).0,
        Err(error) => format!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"2\">\
             <title>invitro</title><p>{}</p></html>",
            escape(&error.to_string())
        ),
    };
    let mut shown = shown.write().unwrap_or_else(|poisoned| poisoned.into_inner());
    shown.version += 1;
    shown.page = page;
}

fn answer(mut stream: TcpStream, shown: &RwLock<Shown>) -> std::io::Result<()> {
    const MOST: u64 = 16 * 1024;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut lines = std::io::Read::take(BufReader::new(stream.try_clone()?), MOST);
    let mut request = String::new();
    lines.read_line(&mut request)?;
    let mut local = false;
    loop {
        let mut line = String::new();
        if lines.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some((name, host)) = line.split_once(':')
            && name.eq_ignore_ascii_case("host")
        {
            let host = host.trim();
            let host = host.rsplit_once(':').map_or(host, |(name, _)| name);
            local = matches!(host, "127.0.0.1" | "localhost");
        }
    }
    let mut words = request.split_whitespace();
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (status, kind, body) = {
        let shown = shown.read().unwrap_or_else(|poisoned| poisoned.into_inner());
        match (method, path) {
            _ if !local => ("403 Forbidden", "text/plain", "This page is for this machine only.\n".to_owned()),
            ("GET", "/" | "/report.html") => ("200 OK", "text/html", shown.page.clone()),
            ("GET", "/version") => ("200 OK", "text/plain", shown.version.to_string()),
            ("GET", _) => ("404 Not Found", "text/plain", "There is / and /version.\n".to_owned()),
            _ => ("405 Method Not Allowed", "text/plain", "Only GET.\n".to_owned()),
        }
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}
