//! Speed and memory: `cargo bench -p invitro-language`. One line per figure: the best of several rounds, in CPU time.

use invitro_language::*;
use std::hint::black_box;
use std::time::{Duration, Instant};

const ROUNDS: usize = 5;

fn best(mut work: impl FnMut()) -> Duration {
    (0..ROUNDS)
        .map(|_| {
            let (start, began) = (cpu_time(), Instant::now());
            work();
            match (start, cpu_time()) {
                (Some(start), Some(end)) => end - start,
                _ => began.elapsed(),
            }
        })
        .min()
        .expect("there is a round")
}

/// The CPU time of this thread, if the kernel reports it.
fn cpu_time() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    stat.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

fn per_second(name: &str, n: u64, work: impl FnMut()) {
    println!("{name:48} {:>12.0} a second", n as f64 / best(work).as_secs_f64());
}

/// The resident memory of this process, in megabytes.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmRSS:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1024.0
}

fn main() {
    let config = LanguageConfig::default();
    let before = resident();
    let languages = Languages::new(&config, 0).expect("the paper's language");
    println!("{:48} {:>12.1} MB", "memory of the paper's language", resident() - before);
    let build = best(|| {
        black_box(Languages::new(&config, 0).expect("the paper's language"));
    });
    println!("{:48} {:>12.3} s", "the paper's world, lexicons and mask", build.as_secs_f64());
    let siblings = LanguageEntry { copies: 15, mask_share: 0.25, ..LanguageEntry::new("L") };
    let (before, began) = (resident(), Instant::now());
    let many = Languages::of_family(&config, &[LanguageEntry::new("A"), siblings], 0).expect("16 languages");
    println!("{:48} {:>12.3} s", "16 languages of the paper's world", began.elapsed().as_secs_f64());
    println!("{:48} {:>12.1} MB", "memory of these", resident() - before);
    drop(many);

    let n = 200_000;
    let mut source = Source::training(&languages, &MixtureConfig::default(), 64, 1);
    let mut sequence = Sequence::default();
    per_second("task sequences of the training mixture", n, || {
        for i in 0..n {
            source.draw_into(i / 64, i % 64, |_| true, &mut sequence).expect("a row");
            black_box(&sequence);
        }
    });

    let (mut sampler, stream) = (languages.sampler(), Stream::new(0, "bench"));
    let sentences: Vec<Sentence> = (0..n).map(|row| sampler.sentence(Language::A, &mut stream.at(0, row))).collect();
    let texts: Vec<String> = sentences.iter().map(|s| languages.text(&s.symbols, Language::B)).collect();
    let mut checker = languages.checker();
    per_second("sentences checked, as text", n, || {
        assert!(texts.iter().all(|text| checker.text(text, Language::B).facts));
    });
    per_second("sentences checked, as symbols", n, || {
        assert!(sentences.iter().all(|s| checker.symbols(&s.symbols, Language::A).facts));
    });
    let process = Process::new(&languages);
    let first = &sentences[..20_000];
    per_second("log-probabilities of sentences", first.len() as u64, || {
        black_box(first.iter().map(|s| process.sentence(&s.symbols, Language::A)).sum::<f64>());
    });
}
