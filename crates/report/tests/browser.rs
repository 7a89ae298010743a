//! The page in a real browser: Chromium without a window, driven by Playwright.
//!
//! `INVITRO_CHROMIUM` names the browser; Node.js and `npm ci` in `tests/browser` are needed too. Without the variable
//! these tests say that they were skipped; under `CI=true` they fail.

use crate::synthetic::{self, Plan, Progress};
use invitro_report::claims::ClaimAnswers;
use invitro_report::{Live, ReportOptions, build};
use std::io::{Read, Write};
use std::path::Path;
use std::process::Command;

fn browser(script: &str, arguments: &[&str]) {
    if std::env::var("INVITRO_CHROMIUM").is_err() {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "CI must set INVITRO_CHROMIUM");
        // Not captured, unlike what a passing test prints.
        let _ = writeln!(std::io::stderr(), "skipped browser/{script}: INVITRO_CHROMIUM is not set");
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
    build(folder.path(), &ReportOptions::default()).unwrap();
    let study = invitro_report::data::Study::open(folder.path()).unwrap();
    // The numbers behind each figure, to compare with what the page saves.
    let tables = folder.path().join("tables");
    std::fs::create_dir(&tables).unwrap();
    for figure in invitro_report::figures::all(&study, &ClaimAnswers::new(&study)) {
        if !figure.is_empty() && !figure.table.is_empty() {
            std::fs::write(tables.join(format!("{}.csv", figure.name)), figure.table.to_csv()).unwrap();
        }
    }
    let page = folder.path().join("report.html");
    let page = page.to_str().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| browser("study.mjs", &[page, &study.words[0].1.forms[0].form]));
        scope.spawn(|| browser("save.mjs", &[page, tables.to_str().unwrap()]));
        scope.spawn(|| browser("access.mjs", &[page]));
        scope.spawn(|| browser("phone.mjs", &[page]));
    });
}

#[test]
fn the_page_of_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let plan = Plan::one();
    synthetic::run_folder(folder.path(), &plan.configs()[0], &plan, Progress::Done);
    build(folder.path(), &ReportOptions::default()).unwrap();
    let page = folder.path().join("report.html");
    browser("access.mjs", &[page.to_str().unwrap()]);
    browser("phone.mjs", &[page.to_str().unwrap()]);
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

/// A live page of a folder, and its address.
fn served(folder: &Path) -> std::net::SocketAddr {
    let live = Live::bind(folder, 0).unwrap();
    let address = live.address().unwrap();
    std::thread::spawn(move || live.serve());
    address
}

fn get(address: std::net::SocketAddr, path: &str) -> String {
    ask(address, &format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"))
}

#[test]
fn the_server_knows_queries_and_heads_and_has_a_policy() {
    let folder = tempfile::tempdir().unwrap();
    synthetic::scattered(folder.path(), &Plan::one(), |_| Progress::Running(2));
    let address = served(folder.path());
    let page = get(address, "/");
    let (head, body) = page.split_once("\r\n\r\n").unwrap();
    assert_eq!(get(address, "/?x=1"), page);
    let asked = ask(address, "HEAD / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    assert_eq!(asked, format!("{head}\r\n\r\n"));
    assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{head}");
    let (_, policy) = head.split_once("Content-Security-Policy: ").unwrap();
    let nonce = policy.split("'nonce-").nth(1).unwrap().split('\'').next().unwrap();
    assert!(policy.starts_with("default-src 'none'; ") && !policy.contains("unsafe"), "{policy}");
    // What may run and what may style is what has the nonce; data is neither.
    let tags =
        |name: &str| body.match_indices(name).map(|(at, _)| body[at..].split('>').next().unwrap()).collect::<Vec<_>>();
    assert_eq!(tags("<style"), [format!("<style nonce=\"{nonce}\"")]);
    let scripts: Vec<&str> = tags("<script").into_iter().filter(|tag| !tag.contains("text/plain")).collect();
    assert_eq!(scripts, [format!("<script nonce=\"{nonce}\"")]);
    for host in ["localhost:80@elsewhere.example", "localhost:", "127.0.0.1:99999", "localhost:80:80"] {
        assert!(ask(address, &format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n")).starts_with("HTTP/1.1 403"), "{host}");
    }
    let both = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: elsewhere.example\r\n\r\n";
    assert!(ask(address, both).starts_with("HTTP/1.1 403"));
    assert!(ask(address, "PUT / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").contains("\r\nAllow: GET, HEAD\r\n"));
}

#[test]
fn too_many_connections_are_refused_and_slow_ones_hold_nobody_up() {
    let folder = tempfile::tempdir().unwrap();
    synthetic::scattered(folder.path(), &Plan::one(), |_| Progress::Running(2));
    let address = served(folder.path());
    assert!(get(address, "/version").starts_with("HTTP/1.1 200"));
    // Some say nothing, some ask and do not read.
    let mut slow: Vec<_> = (0..60).map(|_| std::net::TcpStream::connect(address).unwrap()).collect();
    for stream in &mut slow[..30] {
        stream.write_all(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").unwrap();
    }
    assert!(get(address, "/version").starts_with("HTTP/1.1 200"));
    let mut more: Vec<_> = (0..60).map(|_| std::net::TcpStream::connect(address).unwrap()).collect();
    let refused = more.iter_mut().map(|stream| {
        stream.set_read_timeout(Some(std::time::Duration::from_millis(20))).unwrap();
        let mut answer = [0; 12];
        stream.read(&mut answer).is_ok_and(|read| answer[..read].starts_with(b"HTTP/1.1 503"))
    });
    assert!(refused.filter(|refused| *refused).count() > 0);
    drop((slow, more));
    let begun = std::time::Instant::now();
    while !get(address, "/version").starts_with("HTTP/1.1 200") {
        assert!(begun.elapsed().as_secs() < 60);
    }
}

#[test]
fn a_damaged_table_is_told_and_the_page_goes_on_once_it_is_mended() {
    let wait = |address, holds: &dyn Fn(&str) -> bool| {
        let begun = std::time::Instant::now();
        while !holds(&get(address, "/")) {
            assert!(begun.elapsed().as_secs() < 60);
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    };
    // A collected study, and one of run folders.
    for scattered in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let table = if scattered {
            synthetic::scattered(folder.path(), &Plan::one(), |_| Progress::Done);
            let runs = std::fs::read_dir(folder.path().join("runs")).unwrap();
            runs.map(|run| run.unwrap().path().join("words.parquet")).find(|table| table.exists()).unwrap()
        } else {
            synthetic::collected(folder.path(), &Plan::small());
            folder.path().join("metrics.parquet")
        };
        let whole = std::fs::read(&table).unwrap();
        std::fs::write(&table, &whole[..whole.len() / 2]).unwrap();
        // It is damaged from the start, is mended, and is damaged again.
        let address = served(folder.path());
        let is_shown = |page: &str| page.contains(".parquet` cannot be read: ");
        wait(address, &is_shown);
        std::fs::write(&table, &whole).unwrap();
        wait(address, &|page| page.contains("<figure") && !is_shown(page));
        std::fs::write(&table, b"PAR1").unwrap();
        wait(address, &is_shown);
    }
}
