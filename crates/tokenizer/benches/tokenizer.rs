//! Times training, encoding and bridges in the paper's world: `cargo bench -p invitro-tokenizer`.
//!
//! Each line is the best of several rounds, so that other work on the machine counts for little.

use invitro_language::{LanguageConfig, Languages, MixtureConfig, Sequence, Source};
use invitro_tokenizer::{Bridges, Kind, Measures, Regime, Segmentation, Tokenizer, TokenizerConfig, WordCounts};
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: usize = 5;
const SEQUENCES: u64 = 20_000;

/// The shortest of several rounds, in seconds, and what the last one gave.
fn best<T>(mut work: impl FnMut() -> T) -> (f64, T) {
    let mut round = || {
        let start = Instant::now();
        let made = work();
        (start.elapsed().as_secs_f64(), made)
    };
    let mut shortest = round();
    for _ in 1..ROUNDS {
        let next = round();
        shortest = (shortest.0.min(next.0), next.1);
    }
    shortest
}

fn main() {
    let languages = Languages::new(&LanguageConfig::default(), 0).expect("the paper's world");
    let mixture = MixtureConfig::default();
    let train = |config: &TokenizerConfig| Tokenizer::train(&languages, config, &mixture).expect("a tokenizer");
    for (kind, regime, vocab) in [
        (Kind::Bpe, Regime::Vanilla, 2048),
        (Kind::Bpe, Regime::Vanilla, 8192),
        (Kind::Bpe, Regime::Parity, 8192),
        (Kind::Wordpiece, Regime::Vanilla, 8192),
        (Kind::Unigram, Regime::Vanilla, 8192),
    ] {
        let config = TokenizerConfig { kind, regime, vocab, allow_shortfall: true, ..Default::default() };
        let (seconds, _) = best(|| train(&config));
        println!("train {} {} |V| {vocab:<28} {seconds:8.3} s", kind.name(), regime.name());
    }

    let tokenizer = train(&TokenizerConfig::default());
    let (seconds, segmentation) = best(|| Segmentation::new(&tokenizer, &languages).expect("its language"));
    println!("{:<52} {seconds:8.3} s", "table of pieces, |V| 2048");
    let mut source = Source::training(&languages, &mixture, SEQUENCES, 1);
    let sequences: Vec<Sequence> = (0..SEQUENCES).map(|row| source.draw(0, row).expect("a row")).collect();
    let words: usize = sequences.iter().map(|s| s.prompt.len() + s.sentence.symbols.len()).sum();
    let (seconds, _) = best(|| {
        let mut ids = Vec::with_capacity(1024);
        for sequence in &sequences {
            ids.clear();
            segmentation.encode(sequence, &mut ids);
            black_box(&ids);
        }
    });
    println!("{:<52} {:8.1} million words/s on one core", "encode by table", words as f64 / seconds / 1e6);
    let texts: Vec<String> = sequences.iter().map(|s| s.text(&languages)).collect();
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let (seconds, _) = best(|| alone.install(|| tokenizer.encode_batch(&texts).expect("ids")));
    println!(
        "{:<52} {:8.1} million words/s on one core",
        "encode_batch of the tokenizers crate",
        words as f64 / seconds / 1e6
    );

    let sample = WordCounts::text(&languages, invitro_tokenizer::MEASURED_SENTENCES).expect("a sample");
    let (seconds, _) = best(|| Measures::new(&segmentation, &languages, &sample));
    println!("{:<52} {seconds:8.3} s", "measures");
    for vocab in [2048, 8192] {
        let tokenizer = train(&TokenizerConfig { vocab, ..Default::default() });
        let segmentation = Segmentation::new(&tokenizer, &languages).expect("its language");
        let (seconds, bridges) = best(|| Bridges::new(&segmentation, &languages, invitro_language::Language::B));
        println!("{:<52} {seconds:8.3} s", format!("all {} bridges, |V| {vocab}", bridges.0.len()));
    }
}
