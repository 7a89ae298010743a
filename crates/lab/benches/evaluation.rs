//! What an evaluation costs the host: a population of the paper's models on a device that answers at once.
//!
//! `cargo bench -p invitro-lab --bench evaluation [-- --members 32]`: the passes of each part, the rows and logits of
//! all of them, and the time the host takes for everything around them.

use invitro_lab::Experiment;
use invitro_lab::evaluation::{self, Examinee, respondent::Respondent};
use invitro_lab::inputs::InputCache;
use invitro_model::decode::{Decoded, Prompt, decode};
use invitro_model::inference::{Answers, Wanted};
use invitro_model::ops::{Loss, Update, Vector};
use invitro_model::reading::{MemberReading, Reading, Score};
use invitro_model::score::{Answer, Question, score};
use invitro_model::shard::{Shard, regions};
use invitro_model::{Result, Sequence, Shape, cuda};
use invitro_tokenizer::special::EOS;
use std::time::{Duration, Instant};

/// A device that answers at once: a sentence ends after a dozen tokens or so, and all words are likely alike.
struct InstantDevice {
    shape: Shape,
    members: usize,
    counts: Counts,
}

#[derive(Default)]
struct Counts {
    passes: usize,
    rows: usize,
    logits: usize,
    packing: Duration,
}

impl Shard for InstantDevice {
    fn members(&self) -> usize {
        self.members
    }
    fn shape(&self) -> &Shape {
        &self.shape
    }
    fn regions(&self) -> usize {
        regions(&self.shape, cuda::ROUND)
    }
    fn train_step(&mut self, _: &[Vec<Sequence>], _: &Update) -> Result<()> {
        Ok(())
    }
    fn losses(&mut self) -> Result<Vec<Loss>> {
        Ok(Vec::new())
    }
    fn history(&mut self) -> Result<Vec<Vec<Loss>>> {
        Ok(Vec::new())
    }
    fn evaluate(&mut self, sequences: &[Vec<Sequence>]) -> Result<Vec<Loss>> {
        let rows = |own: &Vec<Sequence>| own.iter().map(|one| one.tokens.len() - 1).sum::<usize>();
        self.counts.passes += 1;
        self.counts.rows += sequences.iter().map(rows).sum::<usize>();
        let loss = Loss { sum: vec![1.0; 3], count: vec![1; 3], grad_norm: 0.0 };
        Ok(vec![loss; self.members])
    }
    fn read(&mut self, _: usize, _: Vector) -> Result<Vec<f32>> {
        Ok(Vec::new())
    }
    fn write(&mut self, _: usize, _: Vector, _: &[f32]) -> Result<()> {
        Ok(())
    }
    fn make_room(&mut self, _: usize, _: usize, _: usize) -> Result<()> {
        Ok(())
    }
    fn ask(&mut self, parts: &[MemberReading], wanted: Wanted) -> Result<Vec<Answers>> {
        let begun = Instant::now();
        let reading = Reading::pack(parts, cuda::ROUND);
        self.counts.packing += begun.elapsed();
        self.counts.passes += 1;
        self.counts.rows += reading.members * reading.rows;
        self.counts.logits += reading.members * reading.picks;
        let token =
            |at: usize| if (at * 7 + self.counts.passes).is_multiple_of(12) { EOS } else { 100 + at as u32 % 100 };
        let answer = |&picks: &usize| match wanted {
            Wanted::Scores => Answers::Scores(vec![Score { logprob: -1.0, rank: 10 }; picks]),
            Wanted::Logits => Answers::Logits(vec![0.0; picks * self.shape.vocab]),
            Wanted::Argmax | Wanted::Drawn(_) => Answers::Tokens((0..picks).map(token).collect()),
        };
        Ok(reading.real_picks.iter().map(answer).collect())
    }
}

/// Tells what each part takes.
struct Timed(InstantDevice);

impl Timed {
    fn time<T>(&mut self, part: &str, work: impl FnOnce(&mut InstantDevice) -> Result<T>) -> invitro_lab::Result<T> {
        let begun = Instant::now();
        let result = work(&mut self.0)?;
        let Counts { passes, rows, logits, packing } = std::mem::take(&mut self.0.counts);
        println!(
            "  {part:10} {:7.1} ms, {:.1} of it packing · {passes} passes · {rows} rows · {logits} logits",
            begun.elapsed().as_secs_f64() * 1e3,
            packing.as_secs_f64() * 1e3
        );
        Ok(result)
    }
}

impl Respondent for Timed {
    fn context(&self) -> usize {
        self.0.shape.context
    }
    fn decode(&mut self, prompts: &[Vec<Prompt>]) -> invitro_lab::Result<Vec<Vec<Decoded>>> {
        let seeds = vec![0; self.0.members];
        self.time("decoding", |shard| decode(shard, prompts, &seeds, EOS))
    }
    fn score(&mut self, questions: &[Vec<Question>]) -> invitro_lab::Result<Vec<Vec<Answer>>> {
        self.time("scoring", |shard| score(shard, questions))
    }
    fn losses(&mut self, sequences: &[Vec<Sequence>]) -> invitro_lab::Result<Vec<Loss>> {
        Ok(self.0.evaluate(sequences)?)
    }
}

fn main() -> invitro_lab::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let after = arguments.iter().position(|argument| argument == "--members").map(|at| &arguments[at + 1]);
    let members: usize = after.map_or(32, |number| number.parse().expect("--members takes a number"));
    let experiment = Experiment::preset("paper")?;
    let cache = InputCache::default();
    for part in ["languages", "tokenizer", "evaluation sets"] {
        let begun = Instant::now();
        match part {
            "languages" => drop(cache.languages(&experiment)?),
            "tokenizer" => drop(cache.languages_and_text(&experiment)?),
            _ => drop(cache.get(&experiment)?),
        }
        println!("{part}: {:.1} ms", begun.elapsed().as_secs_f64() * 1e3);
    }
    let inputs = cache.get(&experiment)?;
    let shape = experiment.model.shape(inputs.text.rows());
    let mut timed = Timed(InstantDevice { shape, members, counts: Counts::default() });
    let examinees: Vec<_> = (0..members).map(|_| Some(Examinee { inputs: &inputs, with_baselines: false })).collect();
    for _ in 0..2 {
        println!("{members} members, {} threads", std::thread::available_parallelism().map_or(1, usize::from));
        let begun = Instant::now();
        let asked = evaluation::ask(&mut timed, &examinees, 500)?;
        let losses = std::mem::take(&mut timed.0.counts).passes;
        println!("  inference  {:7.1} ms, {losses} passes of losses with it", begun.elapsed().as_secs_f64() * 1e3);
        let begun = Instant::now();
        evaluation::measure(&timed, &examinees, 500, &asked);
        println!("  measures   {:7.1} ms", begun.elapsed().as_secs_f64() * 1e3);
    }
    Ok(())
}
