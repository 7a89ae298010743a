//! Measures: every number that is recorded, with its name on disk.
//!
//! A new measure is a variant here and the line that records it. Its name follows from [`Measure`]'s `Display`, is read
//! back by `FromStr`, and stands with its meaning in `docs/formats.md`, which is made from this file and `reach.rs`.

use crate::UnknownName;
use crate::schema::inside::{
    Donor, InsideMetric, PatchPlace, PatchPosition, PatchedForm, Patching, PieceKind, PieceMatrix, PieceRows,
    RowStatistic, parse_with_layer, with_layer,
};
use crate::schema::names::{part, recorded};
use crate::schema::reach::{Fraction, Reach, Scorer, Statistic, Targets};
use invitro_language::Task;
use invitro_stats::Scale;
use std::fmt;
use std::str::FromStr;

/// One kind of number. Those of an evaluation are curves over training; those of languages and tokenizers stand once per
/// run.
///
/// ```
/// use invitro_results::{Measure, Scorer, Statistic, Targets};
/// let share = Measure::reach(Scorer::Network, Targets::Allowed, Statistic::Share);
/// assert_eq!(share.to_string(), "reach.network.allowed.share@0.1");
/// assert_eq!("reach.network.allowed.share@0.1".parse(), Ok(share));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Measure {
    /// A share of the sentences a model made of a task's prompts.
    Task(Task, TaskMetric),
    /// Top-K reachability and log-probability of descriptors.
    Reach(Reach),
    /// The contrast of facts in nats, of words that the model reads in one of several forms (`eval.forms`).
    Contrast(Scorer, Form),
    /// The contrast of the facts of false friends in nats: what a language's word means in the first language.
    FriendContrast(Scorer),
    /// Losses, and what training itself reports.
    Loss(Loss),
    /// What the inside of the model is like, after a layer where there is one; 0 is the embedding (`eval.inside`).
    Inside(InsideMetric, Option<u32>),
    /// The rows of pieces in the embedding and the unembedding (`eval.inside`).
    PieceRows(PieceRows),
    /// The contrast of facts in nats with one hidden state replaced, less that without (`eval.inside`).
    Patch(Patching),
    /// What a tokenizer does to a language.
    Tokenizer(Words, TokenizerMetric),
    /// The mean overlap of a masked word's pieces with other words'.
    Bridge(Bridge, Similarity),
    /// What the languages are like.
    Language(LanguageMetric),
}

recorded! {
    /// Checks of a sentence that a model made. The first four are nested, each in the one before.
    TaskMetric {
        Validity = "validity": "it ends, and every word is a word of the language",
        Grammaticality = "grammaticality": "valid, and parses under the grammar",
        Types = "types": "grammatical, and every word fits the class of what it speaks of",
        Facts = "facts": "types hold, and every descriptor is one that Γ allows its subject",
        TypesRelation = "types_relation": "share of relation verbs that fit their subjects and objects",
        TypesDescriptor = "types_descriptor": "share of descriptors that fit their subject's class",
        TypesAdjective = "types_adjective": "share of adjectives before a word they may modify",
        TypesAdverb = "types_adverb": "share of adverbs before a word they may modify",
        SameWords = "same_words": "its words are exactly those of the prompt (T1)",
        OtherWords = "other_words": "it ends, all its words are words of the language, and they are not those of the prompt (T1)",
        NonWords = "non_words": "it ends, and a word of it is none of the language (T1); the rest beside these and `same_words` does not end or has no words",
        Exact = "exact": "it is the sentence that was meant (T1, T3)",
        Descriptors = "descriptors": "share of the sentence's descriptors that it has (T3); where something is withheld, of those alone that are",
        ConditionsMet = "conditions_met": "it has all words of the prompt (T2)",
        Unfinished = "failure.unfinished": "first failure: it did not end within the limit",
        Empty = "failure.empty": "first failure: no words at all",
        UnknownWord = "failure.unknown_word": "first failure: a word the language does not have",
        Ungrammatical = "failure.ungrammatical": "first failure: a word where the grammar allows no such word",
        DescriptorClass = "failure.descriptor_class": "first failure: a descriptor of another class than its subject's",
        SubjectClass = "failure.subject_class": "first failure: a relation verb that does not fit its subject",
        ObjectClass = "failure.object_class": "first failure: a relation verb that does not fit its object",
        Modifier = "failure.modifier": "first failure: a modifier before a word it may not modify",
        Fact = "failure.fact": "first failure: a descriptor that Γ does not allow its subject",
    }
}

impl TaskMetric {
    /// The four nested checks.
    pub const CASCADE: [TaskMetric; 4] =
        [TaskMetric::Validity, TaskMetric::Grammaticality, TaskMetric::Types, TaskMetric::Facts];

    /// The share of sentences whose first failure is of a kind, by the kind's name.
    pub fn failure(kind: &str) -> Result<TaskMetric, UnknownName> {
        let name = format!("failure.{kind}");
        name.parse().map_err(|_| UnknownName(name))
    }

    /// Whether this counts one kind of failure.
    pub fn is_failure(self) -> bool {
        self.name().starts_with("failure.")
    }
}

recorded! {
    /// The form in which the model reads a word of the contrast, in its language's prompt.
    Form {
        Own = "own": "the word as it is cut in this run",
        Alike = "alike": "the word cut into as many pieces, with the most overlap with its form in the first language",
        Apart = "apart": "the word cut into as many pieces, with the least overlap with its form in the first language",
        Source = "source": "its form in the first language, with that language's pieces",
        AfterSource = "after_source": "the word as it is cut in this run, after a prompt in the first language",
        Stem = "stem": "its affixes with the stem of another word of its kind, masked or not, which are no word of any language",
        Irregular = "irregular": "its affixes with the stem of the first language in which as many letters were replaced at random as its own differs by, which is no word of any language; its own form where that is no other",
        Unrelated = "unrelated": "another word of its kind, true of both subjects or of neither: nothing could be known of it",
    }
}

recorded! {
    /// Held-out losses per condition, and what training reports of its last step.
    Loss {
        Loss = "loss": "loss on held-out sequences, nats per token",
        LossT0 = "loss_T0": "the same, of T0",
        LossT1 = "loss_T1": "the same, of T1",
        LossT2 = "loss_T2": "the same, of T2",
        LossT3 = "loss_T3": "the same, of T3",
        BitsPerChar = "bits_per_char": "the same in bits per character, comparable across vocabularies",
        Floor = "floor": "entropy of the process that wrote those sequences, bits per character",
        TrainLoss = "train_loss": "loss of the last training batch, nats per token",
        GradNorm = "grad_norm": "norm of its gradient before clipping",
        Lr = "lr": "learning rate of that step",
    }
}

impl Loss {
    /// The held-out loss of one task.
    pub fn of_task(task: Task) -> Loss {
        match task {
            Task::T0 => Loss::LossT0,
            Task::T1 => Loss::LossT1,
            Task::T2 => Loss::LossT2,
            Task::T3 => Loss::LossT3,
        }
    }
}

recorded! {
    /// Which words a tokenizer is measured on.
    Words {
        Text = "": "running text: words as often as they are said",
        Lexicon = "lexicon": "the lexicon: every word once",
    }
}

recorded! {
    /// What a tokenizer does. Per condition, per pair of languages, or over all languages where none is given.
    TokenizerMetric {
        Fertility = "fertility": "pieces per word",
        Continuation = "continuation": "share of words with more than one piece",
        OnePiece = "one_piece": "share of words that are one piece",
        Renyi = "renyi": "Rényi efficiency of the piece distribution (α = 2.5)",
        Utilisation = "utilisation": "share of the vocabulary that is used",
        BoundaryPrecision = "boundary_precision": "share of cuts that fall between morphemes",
        BoundaryRecall = "boundary_recall": "share of morpheme boundaries that are cut",
        Overlap = "overlap": "pieces used by both languages over pieces used by either, for the same words; names are left out where the two have different scripts",
        Parity = "parity": "pieces of the first language over pieces of the second, for the same sentences",
    }
}

recorded! {
    /// With which words the pieces of a masked word are compared.
    Bridge {
        General = "bridge": "the unmasked word, of any language, with the largest overlap (the paper's β)",
        Cognate = "cognate_bridge": "the word's own form in the other language; of several that it is not masked in, the one with the largest overlap",
    }
}

recorded! {
    /// How overlap of pieces is counted, as multisets.
    Similarity {
        Jaccard = "jaccard": "shared pieces over pieces of either",
        Dice = "dice": "twice the shared pieces over the pieces of both",
        Containment = "containment": "shared pieces over the pieces of the masked word",
    }
}

recorded! {
    /// What the languages are like.
    LanguageMetric {
        StemDistance = "distance.stems": "measured lexical distance of stems, relative to unrelated stems",
        WordDistance = "distance.words": "the same of whole words",
        LetterEntropy = "regularity.entropy": "entropy of a letter of the second language's stems, given the aligned letter of the first and its neighbours, in bits; where sound laws made a language",
        RegularSites = "regularity.sites": "share of the sites of these alignments in correspondence patterns of at least three sites",
        LambdaLeft = "lambda_left": "the size of a language's text in training over that of the first, once masked sentences are gone, without translations",
        Vocab = "vocab": "tokens of the vocabulary, special tokens included",
    }
}

impl Measure {
    /// Reachability at the paper's K, or log-probability, in its plain form.
    pub const fn reach(scorer: Scorer, targets: Targets, statistic: Statistic) -> Measure {
        let top = if matches!(statistic, Statistic::LogProb) { None } else { Some(Fraction::PAPER) };
        Measure::Reach(Reach { scorer, targets, masked_elsewhere: false, statistic, top, boundary: false })
    }

    /// Reachability at another K, in its plain form.
    pub const fn reach_at(scorer: Scorer, targets: Targets, statistic: Statistic, top: Fraction) -> Measure {
        let (masked_elsewhere, boundary) = (false, false);
        Measure::Reach(Reach { scorer, targets, masked_elsewhere, statistic, top: Some(top), boundary })
    }

    /// The same of the symbols alone that are masked in another language, where it is reachability.
    pub const fn masked_elsewhere(self) -> Measure {
        match self {
            Measure::Reach(reach) => Measure::Reach(Reach { masked_elsewhere: true, ..reach }),
            other => other,
        }
    }

    /// The contrast of facts in nats: the measure of knowledge.
    pub const KNOWLEDGE: Measure = Measure::reach(Scorer::Network, Targets::Facts, Statistic::LogProb);

    /// A share of T1's answers.
    pub const fn unscrambling(metric: TaskMetric) -> Measure {
        Measure::Task(Task::T1, metric)
    }

    /// The scale on which its mean over runs has its interval.
    pub fn scale(self) -> Scale {
        match self {
            Measure::Task(..) => Scale::Share,
            Measure::Reach(Reach { statistic: Statistic::Any | Statistic::Share, targets, .. }) => match targets {
                Targets::Facts | Targets::Types => Scale::Signed,
                Targets::Allowed | Targets::Forbidden | Targets::Other => Scale::Share,
            },
            Measure::Inside(metric, _) if metric.is_share() => Scale::Share,
            Measure::Tokenizer(_, TokenizerMetric::Fertility | TokenizerMetric::Parity) => Scale::Plain,
            Measure::Tokenizer(..) | Measure::Bridge(..) => Scale::Share,
            _ => Scale::Plain,
        }
    }

    /// Who gives the probabilities, where several do.
    pub fn scorer(self) -> Option<Scorer> {
        match self {
            Measure::Reach(Reach { scorer, .. }) | Measure::Contrast(scorer, _) | Measure::FriendContrast(scorer) => {
                Some(scorer)
            }
            _ => None,
        }
    }

    /// Whether it does not change in training: that of n-gram models, and what shared pieces or chance give.
    pub fn is_baseline(self) -> bool {
        match self {
            Measure::Inside(metric, _) => metric.is_baseline(),
            _ => self.scorer().is_some_and(|scorer| scorer != Scorer::Network),
        }
    }

    /// Whether it is of the inside of a model.
    pub fn is_inside(self) -> bool {
        matches!(self, Measure::Inside(..) | Measure::PieceRows(_) | Measure::Patch(_))
    }

    /// Whether it is measured at every evaluation, and so a curve over training.
    pub fn is_curve(self) -> bool {
        use Measure::{Contrast, FriendContrast, Loss, Reach, Task};
        matches!(self, Task(..) | Reach(_) | Contrast(..) | FriendContrast(_) | Loss(_)) || self.is_inside()
    }

    /// Whether no table over runs and no figure shows it: kinds of failure, and the second reading of reachability.
    pub fn is_detail(self) -> bool {
        match self {
            Measure::Task(_, metric) => metric.is_failure(),
            Measure::Reach(reach) => reach.boundary,
            _ => false,
        }
    }

    /// Whether the report on a study shows it; that on a run shows more.
    pub fn is_in_study_report(self) -> bool {
        match self {
            _ if self.is_detail() => false,
            // Types of relations, descriptors, adjectives and adverbs one by one.
            Measure::Task(_, metric) => !metric.name().starts_with("types_"),
            Measure::Reach(Reach { targets, top, masked_elsewhere, .. }) => match targets.against() {
                Some(_) => top.is_none_or(|top| top == Fraction::PAPER),
                // Log-probabilities only as contrasts.
                None => top.is_some() && !masked_elsewhere,
            },
            Measure::Loss(loss) => !Task::ALL.into_iter().any(|task| Loss::of_task(task) == loss),
            _ => true,
        }
    }

    /// Whether the report on a study shows it at the end of training alone: what the network reaches of words that are
    /// not true of the subject.
    pub fn is_shown_at_end(self) -> bool {
        let is_false = |reach: Reach| matches!(reach.targets, Targets::Forbidden | Targets::Other);
        matches!(self, Measure::Reach(reach) if is_false(reach)) && !self.is_baseline()
    }

    /// Whether it is a loss or a log-probability, and no share.
    pub fn is_in_nats(self) -> bool {
        match self {
            Measure::Reach(reach) => reach.statistic == Statistic::LogProb,
            _ => matches!(
                self,
                Measure::Loss(_) | Measure::Contrast(..) | Measure::FriendContrast(_) | Measure::Patch(_)
            ),
        }
    }

    /// Whether it compares true with false descriptors of a subject, so that it measures knowledge and not form.
    pub fn is_contrast(self) -> bool {
        match self {
            Measure::Reach(reach) => reach.targets.against().is_some(),
            _ => matches!(self, Measure::Contrast(..) | Measure::FriendContrast(_) | Measure::Patch(_)),
        }
    }

    /// Whether it measures the form of what a model makes or could make: sentences, and targets that are reachable.
    pub fn is_form(self) -> bool {
        match self {
            Measure::Reach(reach) => reach.targets.against().is_none() && reach.statistic != Statistic::LogProb,
            _ => matches!(self, Measure::Task(..)),
        }
    }

    /// The same reachability with another K or another count of the targets; `None` where it is no reachability.
    pub fn reach_read_as(self, top: Option<Fraction>, statistic: Option<Statistic>) -> Option<Measure> {
        let Measure::Reach(reach) = self else { return None };
        let statistic = statistic.unwrap_or(reach.statistic);
        Some(Measure::Reach(Reach { top: top.or(reach.top), statistic, ..reach }))
    }

    /// Every measure there is, in the order of the documentation; of layers, the first three.
    pub fn all() -> Vec<Measure> {
        let tasks = Task::ALL.into_iter().flat_map(|task| TaskMetric::ALL.iter().map(move |&m| Measure::Task(task, m)));
        let reach = Scorer::ALL.iter().flat_map(|&scorer| {
            Targets::ALL.iter().flat_map(move |&targets| [false, true].map(|masked| (scorer, targets, masked)))
        });
        let reach = reach.flat_map(|(scorer, targets, masked_elsewhere)| {
            let one = move |statistic, top, boundary| {
                Measure::Reach(Reach { scorer, targets, masked_elsewhere, statistic, top, boundary })
            };
            let counted = [Statistic::Any, Statistic::Share].into_iter().flat_map(move |statistic| {
                let tops = Fraction::ALL.into_iter();
                tops.flat_map(move |top| [false, true].map(|boundary| one(statistic, Some(top), boundary)))
            });
            counted.chain([one(Statistic::LogProb, None, false)])
        });
        let forms =
            Scorer::ALL.iter().flat_map(|&scorer| Form::ALL.iter().map(move |&form| Measure::Contrast(scorer, form)));
        let friends = Scorer::ALL.iter().map(|&scorer| Measure::FriendContrast(scorer));
        let losses = Loss::ALL.iter().map(|&loss| Measure::Loss(loss));
        let layers = || [None, Some(0), Some(1), Some(2)].into_iter();
        let inside =
            InsideMetric::ALL.iter().flat_map(|&metric| layers().map(move |layer| Measure::Inside(metric, layer)));
        let rows = PieceMatrix::ALL.iter().flat_map(|&matrix| {
            let kinds = move |statistic| PieceKind::ALL.iter().map(move |&kind| PieceRows { matrix, statistic, kind });
            RowStatistic::ALL.iter().flat_map(move |&statistic| kinds(statistic)).map(Measure::PieceRows)
        });
        let places = Donor::ALL.iter().flat_map(|&donor| {
            let layers = move |position| (0..3).map(move |layer| Some(PatchPlace { donor, position, layer }));
            PatchPosition::ALL.iter().flat_map(move |&position| layers(position))
        });
        let places: Vec<Option<PatchPlace>> = [None].into_iter().chain(places).collect();
        let patches = PatchedForm::ALL
            .iter()
            .flat_map(|&form| places.iter().map(move |&patch| Measure::Patch(Patching { form, patch })));
        let tokenizers = Words::ALL
            .iter()
            .flat_map(|&words| TokenizerMetric::ALL.iter().map(move |&metric| Measure::Tokenizer(words, metric)));
        let bridges = Bridge::ALL
            .iter()
            .flat_map(|&bridge| Similarity::ALL.iter().map(move |&similarity| Measure::Bridge(bridge, similarity)));
        let languages = LanguageMetric::ALL.iter().map(|&metric| Measure::Language(metric));
        tasks
            .chain(reach)
            .chain(forms)
            .chain(friends)
            .chain(losses)
            .chain(inside)
            .chain(rows)
            .chain(patches)
            .chain(tokenizers)
            .chain(bridges)
            .chain(languages)
            .collect()
    }

    /// The `task` and `metric` columns of a curve's rows.
    pub(crate) fn columns(self) -> (&'static str, String) {
        match self {
            Measure::Task(task, metric) => (task.name(), metric.to_string()),
            Measure::Reach(reach) => (REACH, reach.to_string()),
            Measure::Contrast(scorer, form) => (CONTRAST, format!("{scorer}.{FACTS}.{form}")),
            Measure::FriendContrast(scorer) => (CONTRAST, format!("{scorer}.{FRIEND}")),
            Measure::Loss(loss) => (LOSS, loss.to_string()),
            Measure::Inside(metric, layer) => (INSIDE, with_layer(metric, layer)),
            Measure::PieceRows(rows) => (ROWS, rows.to_string()),
            Measure::Patch(patching) => (PATCH, patching.to_string()),
            once => ("", once.to_string()),
        }
    }
}

pub(crate) const REACH: &str = "reach";
const CONTRAST: &str = "contrast";
const FACTS: &str = "facts";
const FRIEND: &str = "friend";
const LOSS: &str = "loss";
const INSIDE: &str = "inside";
const ROWS: &str = "rows";
const PATCH: &str = "patch";

impl fmt::Display for Measure {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Measure::Task(task, metric) => write!(out, "{}.{metric}", task.name()),
            Measure::Reach(reach) => write!(out, "{REACH}.{reach}"),
            Measure::Contrast(scorer, form) => write!(out, "{CONTRAST}.{scorer}.{FACTS}.{form}"),
            Measure::FriendContrast(scorer) => write!(out, "{CONTRAST}.{scorer}.{FRIEND}"),
            Measure::Loss(loss) => write!(out, "{LOSS}.{loss}"),
            Measure::Inside(metric, layer) => write!(out, "{INSIDE}.{}", with_layer(*metric, *layer)),
            Measure::PieceRows(rows) => write!(out, "{ROWS}.{rows}"),
            Measure::Patch(patching) => write!(out, "{PATCH}.{patching}"),
            Measure::Tokenizer(Words::Text, metric) => metric.fmt(out),
            Measure::Tokenizer(words, metric) => write!(out, "{words}.{metric}"),
            Measure::Bridge(bridge, similarity) => write!(out, "{bridge}.{similarity}"),
            Measure::Language(metric) => metric.fmt(out),
        }
    }
}

impl FromStr for Measure {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Measure, UnknownName> {
        if let Ok(metric) = name.parse() {
            return Ok(Measure::Tokenizer(Words::Text, metric));
        }
        if let Ok(metric) = name.parse() {
            return Ok(Measure::Language(metric));
        }
        let unknown = || UnknownName(name.to_owned());
        let (first, rest) = name.split_once('.').ok_or_else(unknown)?;
        if let Some(task) = Task::ALL.into_iter().find(|task| task.name() == first) {
            return Ok(Measure::Task(task, part(rest, name)?));
        }
        match first {
            REACH => Ok(Measure::Reach(rest.parse()?)),
            CONTRAST => {
                let (scorer, rest) = rest.split_once('.').ok_or_else(unknown)?;
                if rest == FRIEND {
                    return Ok(Measure::FriendContrast(part(scorer, name)?));
                }
                let form = rest.strip_prefix(FACTS).and_then(|rest| rest.strip_prefix('.')).ok_or_else(unknown)?;
                Ok(Measure::Contrast(part(scorer, name)?, part(form, name)?))
            }
            LOSS => Ok(Measure::Loss(part(rest, name)?)),
            INSIDE => parse_with_layer(rest).map(|(metric, layer)| Measure::Inside(metric, layer)),
            ROWS => Ok(Measure::PieceRows(rest.parse()?)),
            PATCH => Ok(Measure::Patch(rest.parse()?)),
            _ => match (first.parse(), first.parse()) {
                (Ok(words), _) => Ok(Measure::Tokenizer(words, part(rest, name)?)),
                (_, Ok(bridge)) => Ok(Measure::Bridge(bridge, part(rest, name)?)),
                _ => Err(unknown()),
            },
        }
    }
}
