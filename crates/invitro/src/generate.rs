//! `invitro generate`: a trained model prompted by hand, with the checks' verdict beside each output.

use crate::terminal::{self, Paint, To, paint};
use anyhow::{Context, Result, bail};
use invitro_base::limits;
use invitro_lab::Trained;
use invitro_lab::probes::generation::{self, CheckedOutput, TaskPrompt};
use invitro_language::{Language, LanguageCondition, Sequence, Symbol, Task};
use invitro_model::{Decoded, Device, Population, Prompt, Sampling};
use invitro_tokenizer::special;
use serde_json::json;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Prompt a trained model and check what it writes
///
/// T0 continues the first words of a sentence, T1 puts words in order, T2 makes a sentence with them, T3 translates one.
#[derive(clap::Args)]
pub struct Args {
    /// The run's folder
    run: PathBuf,
    /// The prompt's words, each one of the language; T0 may have none
    words: Vec<String>,
    /// T0 (free generation), T1 (unscrambling), T2 (conditional generation) or T3 (translation)
    #[arg(long, default_value = "T1")]
    task: Task,
    /// The language, such as A [default: the first that has masked words]
    #[arg(long)]
    language: Option<String>,
    /// The language to translate from [default: the first other one]
    #[arg(long, value_name = "LANGUAGE")]
    from: Option<String>,
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
    check_sampling(&args)?;
    let trained = Trained::load(&args.run, args.step)?;
    let population = trained.population(Device::parse(&args.device)?, trained.checkpoint.shape.context)?;
    let language = crate::experiment::language_or_masked(&trained.languages, args.language.as_deref())?;
    let from = crate::experiment::language_given(&trained.languages, args.task, language, args.from.as_deref())?;
    let mut prompter = Prompter { args: &args, trained: &trained, language, from, population };
    if !args.interactive {
        prompter.answer(&args.words.join(" "))?;
        return Ok(ExitCode::SUCCESS);
    }
    let terminal = std::io::stdin().is_terminal();
    loop {
        if terminal {
            write!(std::io::stdout(), "{}:{}> ", args.task.name(), language.name())?;
            std::io::stdout().flush()?;
        }
        let mut line = Vec::new();
        if limits::read_line(&mut std::io::stdin().lock(), &mut line).context("a line of standard input")? == 0 {
            return Ok(ExitCode::SUCCESS);
        }
        let line = String::from_utf8(line).context("a line of standard input is not UTF-8")?;
        // A mistyped word is no reason to leave.
        if let Err(error) = prompter.answer(line.trim()) {
            terminal::error(&format!("{error:#}"));
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
    trained: &'a Trained,
    language: Language,
    from: Option<Language>,
    population: Population,
}

impl Prompter<'_> {
    fn answer(&mut self, words: &str) -> Result<()> {
        let Trained { languages, text, .. } = self.trained;
        let (task, language) = (self.args.task, self.language);
        let given = self.from.unwrap_or(language);
        let symbol = |word: &str| -> Result<Symbol> {
            match languages.lexicon.symbol(word, given) {
                Some(symbol) => Ok(symbol),
                None => {
                    bail!("`{word}` is not a word of {}; see language/lexicon.tsv in the run's folder", given.name())
                }
            }
        };
        let prompt = words.split_whitespace().map(symbol).collect::<Result<Vec<Symbol>>>()?;
        if prompt.is_empty() && task != Task::T0 {
            bail!("{} needs words to work on", task.name());
        }
        let sequence = Sequence { task, language, from: self.from, prompt, ..Sequence::default() };
        let tokens = match task {
            Task::T0 => text.opening(language, &sequence.prompt),
            Task::T1 | Task::T2 | Task::T3 => text.prompt(&sequence),
        };
        let context = self.trained.checkpoint.shape.context;
        if tokens.len() >= context {
            bail!("the prompt has {} tokens, but the context has {context}", tokens.len());
        }
        let prompt = |key| Prompt { tokens: tokens.clone(), sampling: self.sampling(), most: context, key };
        let prompts = (0..self.args.n as u64).map(prompt).collect();
        let outputs = self.population.decode(&[prompts], special::EOS)?;
        let condition = LanguageCondition { language, masked: false };
        let prompted = TaskPrompt { condition, sequence, tokens, answer: 0, key: 0 };
        outputs.into_iter().flatten().try_for_each(|output| self.print(words, &prompted, output))
    }

    fn sampling(&self) -> Sampling {
        let Args { n, temperature, top_k, top_p, seed, .. } = *self.args;
        let temperature = temperature.unwrap_or(if n == 1 { 0.0 } else { 1.0 });
        if temperature == 0.0 { Sampling::Greedy } else { Sampling::Random { seed, temperature, top_k, top_p } }
    }

    fn print(&self, words: &str, prompted: &TaskPrompt, mut output: Decoded) -> Result<()> {
        let Trained { languages, text, .. } = self.trained;
        let (Args { task, json, .. }, language) = (self.args, self.language);
        if *task == Task::T0 {
            // The sentence begins with the words that were given.
            output.tokens.splice(..0, prompted.tokens[1..].iter().copied());
        }
        let CheckedOutput { output, ended, verdict, words_kept, reason, .. } =
            generation::check(prompted, &output, text, &mut languages.checker(), languages);
        let asked_words = matches!(task, Task::T1 | Task::T2).then_some(words_kept);
        if *json {
            emit!(
                "{}",
                json!({
                    "task": task.name(), "language": language.name(), "prompt": words, "output": output,
                    "ended": ended, "verdict": verdict, "asked_words": asked_words, "reason": reason,
                })
            );
            return Ok(());
        }
        let mut levels = vec![
            ("valid", verdict.valid),
            ("grammatical", verdict.grammatical),
            ("types", verdict.types),
            ("facts", verdict.facts),
        ];
        levels.extend(asked_words.map(|asked_words| ("asked words", asked_words)));
        let mark = |holds: bool| {
            let (colour, mark) = if holds && ended { (Paint::Green, "✓") } else { (Paint::Red, "✗") };
            paint(To::Out, colour, mark)
        };
        let marks: Vec<String> = levels.iter().map(|&(name, holds)| format!("{} {name}", mark(holds))).collect();
        say!("{output}\n  {}{}", marks.join("  "), reason.map_or(String::new(), |reason| format!("  ({reason})")));
        Ok(())
    }
}
