//! `invitro hidden`: the residual stream of a trained model while it reads given sentences.

mod file;

use crate::lines::GivenLines;
use crate::output::StagedFile;
use crate::sentence::{GivenSentence, SentenceArgs, warn_of_strange_words};
use crate::study::format::count;
use anyhow::{Context, Result, bail};
use file::TensorHeader;
use invitro_model::inference::HiddenQuery;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Write the hidden states of a trained model at every token of given sentences, as safetensors
///
/// Layer 0 is the embedding, layer l the residual stream after the l-th layer, without the final norm. `states` is tokens by
/// layers by width, over all sentences; sentence i has the rows from `offsets[i]` to `offsets[i + 1]`, `tokens` has the ids,
/// `lines` the sentences' lines. The first token is that of the task; `<eos>` is read where it is written.
#[derive(clap::Args)]
pub struct Args {
    /// The run's folder
    run: PathBuf,
    /// A file with a sentence a line [default: standard input]
    file: Option<PathBuf>,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Layers, such as 0,2,4 [default: all]
    #[arg(long, value_delimiter = ',', value_name = "L,…")]
    layers: Vec<usize>,
    /// The tokens whose states are written: all, or the last of every sentence
    #[arg(long, value_enum, default_value_t = Positions::All)]
    positions: Positions,
    #[command(flatten)]
    sentences: SentenceArgs,
    /// Replace the file
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Positions {
    All,
    Last,
}

/// Sentences that the model reads at once.
const AT_ONCE: usize = 256;

pub fn run(args: Args) -> Result<ExitCode> {
    let (trained, reading) = args.sentences.load(&args.run)?;
    let shape = &trained.checkpoint.shape;
    let layers = if args.layers.is_empty() { (0..=shape.layers).collect() } else { args.layers.clone() };
    if let Some(layer) = layers.iter().find(|&&layer| layer > shape.layers) {
        bail!("--layers has {layer}, but this model's layers are 0 (the embedding) to {}", shape.layers);
    }
    let mut staged = StagedFile::new(&args.out, args.force)?;

    let mut lines = GivenLines::open(args.file.as_deref())?;
    let (mut queries, mut header) = (Vec::new(), TensorHeader::new(&trained, reading.language, reading.task, &layers));
    let mut first_words: Vec<String> = Vec::new();
    while let Some(line) = lines.read()? {
        let sentence = GivenSentence::read(&line, &trained, reading).with_context(|| lines.place())?;
        let tokens = sentence.tokens();
        if tokens.len() > shape.context {
            bail!("{}: it has {} tokens, but the context has {}", lines.place(), tokens.len(), shape.context);
        }
        let first = if args.positions == Positions::All { 0 } else { tokens.len() - 1 };
        header.sentence(lines.number, &tokens[first..]);
        if queries.len() < AT_ONCE {
            first_words.extend(sentence.words.into_iter().map(|word| word.text));
        }
        let positions = (first..tokens.len()).collect();
        queries.push(HiddenQuery { tokens, positions, layers: layers.clone(), normed: false });
    }
    if queries.is_empty() {
        bail!("there is no sentence in {}", lines.name);
    }
    lines.warn_of_empty();
    let words: Vec<&str> = first_words.iter().map(String::as_str).collect();
    warn_of_strange_words(&words, &trained, reading.language, "states");

    let mut population = trained.population(reading.device, shape.context)?;
    let mut out = BufWriter::new(staged.file()?);
    header.write(&mut out)?;
    for batch in queries.chunks(AT_ONCE) {
        for states in population.hidden(&[batch.to_vec()])?.into_iter().flatten() {
            for position in 0..states[0].len() {
                for number in states.iter().flat_map(|of_layer| &of_layer[position].residual) {
                    out.write_all(&number.to_le_bytes())?;
                }
            }
        }
    }
    out.flush()?;
    staged.finish()?;
    let (sentences, tokens) = (count(queries.len(), "sentence"), count(header.tokens(), "token"));
    let (layers, step) = (count(layers.len(), "layer"), trained.checkpoint.step);
    say!("wrote the states of {sentences}, {tokens} in {layers}, of step {step} to {}", args.out.display());
    Ok(ExitCode::SUCCESS)
}
