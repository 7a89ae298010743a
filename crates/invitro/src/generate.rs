//! `invitro generate`: a trained model prompted by hand, with the checks' verdict beside each output.

use anyhow::{Result, bail};
use invitro_lab::Trained;
use invitro_language::{Language, Symbol, Task};
use invitro_model::{Decoded, Device, Population, Prompt, Sampling};
use invitro_tokenizer::special;
use serde_json::json;
use std::io::{BufRead, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Prompt a trained model and check what it writes
///
/// T0 goes on from the first words of a sentence, T1 puts words in order, T2 makes a sentence with them.
#[derive(clap::Args)]
pub struct Args {
    /// The run's folder
    run: PathBuf,
    /// The prompt's words, each one of the language; T0 may have none
    words: Vec<String>,
    /// T0 (free generation), T1 (unscrambling) or T2 (conditional generation)
    #[arg(long, default_value = "T1")]
    task: String,
    /// A or B
    #[arg(long, default_value = "B")]
    language: String,
    /// Outputs per prompt
    #[arg(short, default_value_t = 1)]
    n: usize,
    /// 0 decodes greedily; above, sentences are sampled [default: 0 for one output, else 1]
    #[arg(long)]
    temperature: Option<f64>,
    /// Sample among the so many likeliest tokens
    #[arg(long, value_name = "K")]
    top_k: Option<usize>,
    /// Sample among the likeliest tokens that together have this probability
    #[arg(long, value_name = "P")]
    top_p: Option<f64>,
    /// Of the samples
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The checkpoint's step [default: the last]
    #[arg(long)]
    step: Option<u64>,
    /// auto, cpu, cuda or cuda:NUMBER
    #[arg(long, default_value = "cpu")]
    device: String,
    /// Read prompts from standard input, a line each
    #[arg(long)]
    interactive: bool,
    /// One JSON object per output
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let task = Task::ALL.into_iter().find(|task| task.name().eq_ignore_ascii_case(&args.task));
    let Some(task) = task else { bail!("--task is `{}`, but must be T0, T1 or T2", args.task) };
    let language = Language::BOTH.into_iter().find(|language| language.name().eq_ignore_ascii_case(&args.language));
    let Some(language) = language else { bail!("--language is `{}`, but must be A or B", args.language) };
    check_sampling(&args)?;
    let trained = Trained::load(&args.run, args.step)?;
    let population = trained.population(Device::parse(&args.device)?, trained.checkpoint.shape.context)?;
    let mut prompter = Prompter { args: &args, task, language, trained: &trained, population };
    if !args.interactive {
        prompter.answer(&args.words.join(" "))?;
        return Ok(ExitCode::SUCCESS);
    }
    let terminal = std::io::stdin().is_terminal();
    loop {
        if terminal {
            write!(std::io::stdout(), "{}:{}> ", task.name(), language.name())?;
            std::io::stdout().flush()?;
        }
        let mut line = String::new();
        if std::io::stdin().lock().read_line(&mut line)? == 0 {
            return Ok(ExitCode::SUCCESS);
        }
        // A mistyped word is no reason to leave.
        if let Err(error) = prompter.answer(line.trim()) {
            eprintln!("error: {error:#}");
        }
    }
}

/// Refuses what cannot be sampled with, whether or not anything is.
fn check_sampling(args: &Args) -> Result<()> {
    match *args {
        Args { temperature: Some(t), .. } if !(t >= 0.0 && t.is_finite()) => {
            bail!("--temperature is {t}, but must be 0 or above")
        }
        Args { top_k: Some(0), .. } => bail!("--top-k is 0, but must be at least 1"),
        Args { top_p: Some(p), .. } if !(p > 0.0 && p <= 1.0) => {
            bail!("--top-p is {p}, but must be above 0 and at most 1")
        }
        _ => Ok(()),
    }
}

struct Prompter<'a> {
    args: &'a Args,
    task: Task,
    language: Language,
    trained: &'a Trained,
    population: Population,
}

impl Prompter<'_> {
    fn answer(&mut self, words: &str) -> Result<()> {
        let (languages, table) = (&self.trained.languages, &self.trained.text.segmentation);
        let symbol = |word: &str| -> Result<Symbol> {
            match languages.lexicon.symbol(word, self.language) {
                Some(symbol) => Ok(symbol),
                None => bail!(
                    "`{word}` is not a word of {}; see language/lexicon.tsv in the run's folder",
                    self.language.name()
                ),
            }
        };
        let given = words.split_whitespace().map(symbol).collect::<Result<Vec<Symbol>>>()?;
        if given.is_empty() && self.task != Task::T0 {
            bail!("{} needs words to work on", self.task.name());
        }
        let mut prompt = vec![special::task_id(self.task, self.language)];
        given.iter().for_each(|&symbol| prompt.extend(table.pieces(symbol, self.language)));
        if self.task != Task::T0 {
            prompt.push(special::OUT);
        }
        let context = self.trained.checkpoint.shape.context;
        if prompt.len() >= context {
            bail!("the prompt has {} tokens, but the context has {context}", prompt.len());
        }
        let prompt = Prompt { tokens: prompt, sampling: self.sampling(), most: context };
        let outputs = self.population.decode(&[vec![prompt; self.args.n]], special::EOS)?;
        for output in outputs.into_iter().flatten() {
            self.print(words, &given, output)?;
        }
        Ok(())
    }

    fn sampling(&self) -> Sampling {
        let Args { n, temperature, top_k, top_p, seed, .. } = *self.args;
        let temperature = temperature.unwrap_or(if n == 1 { 0.0 } else { 1.0 });
        if temperature == 0.0 { Sampling::Greedy } else { Sampling::Random { seed, temperature, top_k, top_p } }
    }

    fn print(&self, words: &str, given: &[Symbol], output: Decoded) -> Result<()> {
        let Trained { languages, text, .. } = self.trained;
        let mut written = Vec::new();
        if self.task == Task::T0 {
            given.iter().for_each(|&symbol| written.extend(text.segmentation.pieces(symbol, self.language)));
        }
        written.extend(&output.tokens);
        let sentence = text.segmentation.text(&written);
        let mut checker = languages.checker();
        let found = text.segmentation.read(&written, languages, self.language).words;
        let asked = self.asked(given, &found);
        let verdict = checker.words(found);
        let mut levels = vec![
            ("valid", verdict.valid),
            ("grammatical", verdict.grammatical),
            ("types", verdict.types),
            ("facts", verdict.facts),
        ];
        levels.extend(asked.map(|asked| ("asked words", asked)));
        let reason = if output.ended {
            verdict.failure.as_ref().map(|failure| match verdict.unknown.first() {
                Some(at) => format!("word {} is not a word of {}", at + 1, self.language.name()),
                None => checker.reason(failure, &sentence, self.language),
            })
        } else {
            Some("the sequence did not come to its end".to_owned())
        };
        let mut out = std::io::stdout().lock();
        if self.args.json {
            let row = json!({
                "task": self.task.name(), "language": self.language.name(), "prompt": words, "output": sentence,
                "ended": output.ended, "verdict": verdict, "asked_words": asked, "reason": reason,
            });
            writeln!(out, "{row}")?;
            return Ok(());
        }
        let mark = |holds: bool| if holds && output.ended { '✓' } else { '✗' };
        let marks: Vec<String> = levels.iter().map(|&(name, holds)| format!("{} {name}", mark(holds))).collect();
        writeln!(out, "{sentence}\n  {}{}", marks.join("  "), reason.map_or(String::new(), |r| format!("  ({r})")))?;
        Ok(())
    }

    /// Whether an output's words are those it was asked for (T1), or these are among them (T2). T0 begins with them.
    fn asked(&self, given: &[Symbol], found: &[Option<Symbol>]) -> Option<bool> {
        let mut left = found.to_vec();
        let all = given.iter().all(|&symbol| {
            let at = left.iter().position(|&word| word == Some(symbol));
            at.map(|at| left.swap_remove(at)).is_some()
        });
        match self.task {
            Task::T0 => None,
            Task::T1 => Some(all && left.is_empty()),
            Task::T2 => Some(all),
        }
    }
}
