//! The page in a real browser: Chromium without a window, driven by Playwright.
//!
//! `INVITRO_CHROMIUM` names the browser; Node.js and `npm ci` in `tests/browser` are needed too. Without the variable
//! these tests say that they were skipped; under `CI=true` they fail.

mod synthetic;

use invitro_report::{Live, Options, build};
use std::io::{Read, Write};
use std::path::Path;
use std::process::Command;
use synthetic::{Plan, Progress};

fn browser(script: &str, arguments: &[&str]) {
    if std::env::var("INVITRO_CHROMIUM").is_err() {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "CI must set INVITRO_CHROMIUM");
        println!("skipped: INVITRO_CHROMIUM is not set");
        return;
    }
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser");
    let output = Command::new("node").arg(scripts.join(script)).args(arguments).output().expect("node on the path");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    println!("{said}");
    assert!(output.status.success(), "{said}");
}

#[test]
fn the_page_of_a_study() {
    let folder = tempfile::tempdir().unwrap();
    synthetic::collected(folder.path(), &Plan::small());
    build(folder.path(), &Options::default()).unwrap();
    let study = invitro_report::data::read(folder.path()).unwrap();
    let page = folder.path().join("report.html");
    browser("study.mjs", &[page.to_str().unwrap(), &study.words[0].1.forms[0].form]);
}

#[test]
fn the_live_page_follows_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let plan = Plan { data_seeds: 1, model_seeds: 1, ..Plan::small() };
    synthetic::scattered(folder.path(), &plan, |_| Progress::Running(4));
    let config = plan.configs().into_iter().min_by_key(|config| config.id.clone()).unwrap();
    let lines = folder.path().join("next.jsonl");
    std::fs::write(&lines, synthetic::metric_lines(&config, &plan, 400)).unwrap();
    let live = Live::bind(folder.path(), 0).unwrap();
    let url = format!("http://{}/", live.address().unwrap());
    std::thread::spawn(move || live.serve());
    let run = folder.path().join("runs").join(&config.id);
    browser("live.mjs", &[&url, run.to_str().unwrap(), lines.to_str().unwrap()]);
}

/// What the server answers to a raw request.
fn ask(address: std::net::SocketAddr, request: &str) -> String {
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn the_server_is_for_this_machine_only() {
    let folder = tempfile::tempdir().unwrap();
    synthetic::scattered(folder.path(), &Plan::one(), |_| Progress::Running(2));
    let live = Live::bind(folder.path(), 0).unwrap();
    let address = live.address().unwrap();
    assert!(address.ip().is_loopback());
    std::thread::spawn(move || live.serve());
    let get = |path: &str, host: &str| ask(address, &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    assert!(get("/", "127.0.0.1").starts_with("HTTP/1.1 200"));
    assert!(get("/version", &format!("localhost:{}", address.port())).starts_with("HTTP/1.1 200"));
    assert!(get("/", "elsewhere.example").starts_with("HTTP/1.1 403"));
    assert!(get("/../study.toml", "127.0.0.1").starts_with("HTTP/1.1 404"));
    assert!(ask(address, "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").starts_with("HTTP/1.1 405"));
}
