//! `invitro patch`: one question to a trained model, with hidden states of another prompt put in.

use crate::experiment::{language, language_or_masked};
use crate::table;
use crate::terminal::{self, Paint, To, paint};
use anyhow::{Context, Result, bail};
use invitro_lab::Trained;
use invitro_lab::patching::{FormEffects, GivenPatch, PatchAnswer, PatchQuestion};
use invitro_language::{Language, Symbol};
use invitro_model::Device;
use invitro_results::PatchPosition;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// Replace hidden states of one prompt by those of another, layer by layer, and print what that does to a word
///
/// The prompt of the receiver is `<T0:B> subject copula`, that of the donor the same in another language. The residual stream
/// after one layer at one position is replaced by the donor's; the table has the patched value minus the unpatched one, for
/// the word in the receiver's form and in the donor's. The value is the contrast: the word's log-probability after the subject
/// minus that after a subject that Γ forbids it. All in nats. Symbols are named by a word of either language, or as in
/// lexicon.tsv: noun.0.3.
#[derive(clap::Args)]
pub struct Args {
    /// The run's folder
    run: PathBuf,
    /// The words to ask for [default: the first of the subject that the receiver masks]
    words: Vec<String>,
    /// The receiver's language [default: the first that has masked words]
    #[arg(long)]
    language: Option<String>,
    /// The donor's language [default: the first other one]
    #[arg(long, value_name = "LANGUAGE")]
    donor: Option<String>,
    /// The subject [default: the first that has such a word]
    #[arg(long)]
    subject: Option<String>,
    /// Another subject for the donor, as a control, in both terms of the contrast
    #[arg(long, value_name = "SUBJECT")]
    donor_subject: Option<String>,
    /// The contrast's second subject [default: the first of the class that Γ forbids the word]
    #[arg(long, value_name = "SUBJECT", conflicts_with = "logprob")]
    against: Option<String>,
    /// Read the log-probability after the subject instead of the contrast
    #[arg(long)]
    logprob: bool,
    /// The checkpoint's step [default: the last]
    #[arg(long)]
    step: Option<u64>,
    /// auto, cpu, cuda or cuda:NUMBER
    #[arg(long, default_value = "cpu")]
    device: String,
    /// One JSON object a word
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let trained = Trained::load(&args.run, args.step)?;
    let languages = &trained.languages;
    let receiver = language_or_masked(languages, args.language.as_deref())?;
    let donor = match &args.donor {
        Some(name) => language(languages, name)?,
        None => {
            languages.all().iter().copied().find(|&other| other != receiver).context("there is no other language")?
        }
    };
    let find = |name: &str| symbol(&trained, [receiver, donor], name);
    let entity = |name: &Option<String>| name.as_deref().map(|name| entity(&trained, find(name)?, name)).transpose();
    let given = GivenPatch {
        receiver,
        donor,
        subject: entity(&args.subject)?,
        donor_subject: entity(&args.donor_subject)?,
        against: entity(&args.against)?,
        word: None,
        logprob: args.logprob,
    };
    if given.subject.is_some() && given.subject == given.against {
        bail!("--against is the subject itself: a contrast needs another one, that Γ forbids the word");
    }
    let words: Vec<Option<Symbol>> = match &args.words[..] {
        [] => vec![None],
        words => words.iter().map(|word| find(word).map(Some)).collect::<Result<_>>()?,
    };
    let questions: Vec<PatchQuestion> =
        words.into_iter().map(|word| Ok(GivenPatch { word, ..given }.choose(&trained)?)).collect::<Result<_>>()?;
    let mut population = trained.population(Device::parse(&args.device)?, trained.checkpoint.shape.context)?;
    for (number, question) in questions.iter().enumerate() {
        warn_of_no_fact(&trained, question);
        let answer = question.answer(&trained, &mut population)?;
        if args.json {
            emit!("{}", in_json(&trained, question, &answer));
            continue;
        }
        if number > 0 {
            say!();
        }
        print(&trained, question, &answer)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A symbol by its label, or by its word in one of the languages.
fn symbol(trained: &Trained, languages: [Language; 2], name: &str) -> Result<Symbol> {
    let world = &trained.languages.world;
    let by_word = languages.iter().find_map(|&language| trained.languages.lexicon.symbol(name, language));
    let found = by_word.or_else(|| world.symbols().find(|&symbol| world.label(symbol) == name));
    found.with_context(|| {
        let [one, other] = languages.map(Language::name);
        let of = if one == other { one.to_owned() } else { format!("{one} or {other}") };
        format!("`{name}` is neither a word of {of} nor a symbol such as noun.0.0; see language/lexicon.tsv in the run's folder")
    })
}

fn entity(trained: &Trained, symbol: Symbol, name: &str) -> Result<Symbol> {
    let world = &trained.languages.world;
    if world.entities().all(|entity| entity != symbol) {
        bail!("`{name}` ({}) cannot be a subject: subjects are nouns and names", world.label(symbol));
    }
    Ok(symbol)
}

/// Warns where what is asked is not what the contrast of facts measures.
fn warn_of_no_fact(trained: &Trained, question: &PatchQuestion) {
    let world = &trained.languages.world;
    let (allows, word) = (|subject: Symbol| world.allows(subject, question.word), world.label(question.word));
    if !allows(question.subject) {
        terminal::warn(&format!("Γ does not allow {} the word {word}", world.label(question.subject)));
    }
    if let Some(against) = question.against.filter(|&against| allows(against)) {
        terminal::warn(&format!(
            "Γ allows {} the word {word}, too: this is no contrast of facts",
            world.label(against)
        ));
    }
}

fn in_json(trained: &Trained, question: &PatchQuestion, answer: &PatchAnswer) -> serde_json::Value {
    let label = |symbol: Symbol| trained.languages.world.label(symbol);
    json!({
        "run": trained.experiment.id(),
        "step": trained.checkpoint.step,
        "receiver": question.receiver.name(),
        "donor": question.donor.name(),
        "subject": label(question.subject),
        "donor_subject": label(question.donor_subject.unwrap_or(question.subject)),
        "against": question.against.map(label),
        "word": label(question.word),
        "positions": answer.positions,
        "forms": answer.forms,
    })
}

fn print(trained: &Trained, question: &PatchQuestion, answer: &PatchAnswer) -> Result<()> {
    let languages = &trained.languages;
    let prompt = |subject: Symbol, language: Language| {
        let opening = languages.opening(subject, language).unwrap_or_default();
        let tag = trained.text.segmentation.special().task(invitro_language::Task::T0, language);
        format!("{} {}", trained.text.segmentation.token(tag), languages.text(&opening, language))
    };
    let prompts = |subject: Symbol| {
        let donor_subject = question.donor_subject.unwrap_or(subject);
        format!("{}   donor {}", prompt(subject, question.receiver), prompt(donor_subject, question.donor))
    };
    say!("receiver {}", prompts(question.subject));
    if let Some(against) = question.against {
        say!("   minus {}", prompts(against));
    }
    say!("patched minus unpatched, in nats, by the layer and the position that are patched:");
    let label = languages.world.label(question.word);
    let is_masked = languages.never_says(question.receiver, question.word, question.subject);
    let masked = if is_masked { format!(", masked in {}", question.receiver.name()) } else { String::new() };
    let value = if question.against.is_some() { "contrast" } else { "log-probability" };
    for FormEffects { language, form, unpatched, in_donor, effects } in &answer.forms {
        let name = paint(To::Out, Paint::Bold, form);
        let [unpatched, in_donor] = [unpatched, in_donor].map(|&value| nats(value, ""));
        say!(
            "\n{name} ({language}'s word for {label}{masked}): {value} {unpatched}, after the donor's prompt {in_donor}"
        );
        let head = answer.positions.iter().map(|position| heading(position.role).to_owned());
        let mut rows = vec![table::heads(["layer".to_owned()].into_iter().chain(head))];
        for (layer, effects) in effects.iter().enumerate() {
            rows.push([layer.to_string()].into_iter().chain(effects.iter().map(|&effect| nats(effect, "+"))).collect());
        }
        say!("{}", table::numbers(&rows, terminal::width(To::Out)));
    }
    Ok(())
}

fn heading(role: PatchPosition) -> &'static str {
    match role {
        PatchPosition::Tag => "tag",
        PatchPosition::Subject => "subject",
        PatchPosition::Copula => "copula",
        PatchPosition::SubjectBoundary | PatchPosition::CopulaBoundary => "▁",
    }
}

/// Two decimals, a real minus sign, and `plus` before what is above 0.
fn nats(value: f64, plus: &str) -> String {
    let text = format!("{:.2}", value.abs());
    let sign = if text == "0.00" {
        ""
    } else if value < 0.0 {
        "−"
    } else {
        plus
    };
    format!("{sign}{text}")
}
