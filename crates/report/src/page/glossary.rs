//! The glossary: one list of the terms that the page uses. It stands at the end of the page, on paper too; the page's script
//! marks the terms where they are used and shows their meaning there.

use crate::draw::{escape, plain_text, to_html};
use crate::wording::listed;
use invitro_results::Condition;

struct Term {
    /// As it is written, `*` around what is italic.
    name: String,
    /// What marks it in running text; upper and lower case are the same in words of four letters or more.
    words: Vec<String>,
    meaning: String,
}

/// Name, what marks it, meaning. A letter is marked only where it is italic.
const TERMS: &[(&str, &[&str], &str)] = &[
    (
        "*λ*",
        &["λ"],
        "The amount of text in a further language over that in the first, before sentences with masked words are taken out.",
    ),
    (
        "*d*",
        &["*d*"],
        "Lexical distance of two languages: 0: same stems, each language with affixes of its own; 1: stems as unlike as those of unrelated words (Levenshtein distance over that of unrelated stems).",
    ),
    (
        "Γ",
        &["Γ"],
        "The ontology: which descriptors are true of which entity. What Γ allows a subject is a fact of the world.",
    ),
    (
        "*β̂*",
        &["β̂", "bridge", "bridges"],
        "Bridge: the overlap of a masked word's pieces with those of the unmasked word, of any language, that shares most; β̂ is the mean over masked words. The cognate bridge is the overlap with the word's own form in another language, the one that shares most.",
    ),
    (
        "*K*",
        &["*K*", "reachable", "reachability"],
        "A word is reachable (Top-K) where each of its pieces is among the K likeliest next pieces; K is a share of |V|, a tenth unless another is named.",
    ),
    (
        "contrast",
        &["contrast", "contrasts"],
        "The measure of knowledge: how much likelier a word is after a subject of which it is true than the same word after one of the same class of which it is not, as a difference of log-probabilities. 0 means that the model does not know.",
    ),
    (
        "arm",
        &["arm", "arms"],
        "Runs that differ from others in one setting alone, such as which pieces the languages share, how words are cut into pieces or what is withheld, and have the same worlds and words.",
    ),
    ("nats", &["nats"], "Units of log-probability to base e: 0.7 nats are a factor of 2, 2.3 nats a factor of 10."),
    ("|*V*|", &["*V*", "|V|"], "The number of pieces in the tokenizer's vocabulary."),
    (
        "vanilla, balanced",
        &["vanilla", "balanced"],
        "What the tokenizer is trained on: vanilla, the languages in the proportions of the training text (1 to λ); balanced, as much of each.",
    ),
    (
        "T0, T1, T2",
        &["T0", "T1", "T2", "T₀", "T₁", "T₂"],
        "The tasks: T0 writes a sentence freely, T1 puts the words of a scrambled sentence in order, T2 writes a sentence that holds given words.",
    ),
    (
        "data seed, model seed",
        &["data seed", "data seeds", "model seed", "model seeds"],
        "The data seed draws the world, the words, the mask, the texts and the evaluation sets; the model seed draws the initial weights. Results are judged over several of them.",
    ),
    (
        "peak, end, decline",
        &["peak", "peaks", "at the end", "decline"],
        "Of a measure over training: a run's largest value, its value at the last evaluation, and what is lost. Since a largest value is partly luck, the decline starts at the step where the runs of other data seeds peak: before the decline less at the end. A run's own decline is its peak less its end.",
    ),
    (
        "95 % interval",
        &["95 % interval", "95 % intervals"],
        "Made so that of 100 such intervals, from 100 studies like this one, about 95 hold the true value. Each data seed and each model seed is left out in turn, and Student's t allows for their number.",
    ),
];

/// The terms of a page with these conditions.
fn terms(conditions: &[Condition]) -> Vec<Term> {
    let labels = |masked: bool| -> Vec<String> {
        conditions.iter().filter(|it| it.masked == masked).map(Condition::label).collect()
    };
    let (languages, masked) = (labels(false), labels(true));
    let of_masked: Vec<String> = conditions.iter().filter(|it| it.masked).map(|it| it.language.to_string()).collect();
    let mut terms = Vec::new();
    if !languages.is_empty() {
        terms.push(Term {
            name: languages.join(", "),
            meaning: "The languages. They say the same things of one world, each in words of its own.".into(),
            words: languages,
        });
    }
    if !masked.is_empty() {
        terms.push(Term {
            meaning: format!(
                "{} with masked words, or with facts that are withheld: sentences that training keeps from that language and \
                 shows in another alone. What a model does right there it has not seen in that language.",
                listed(&of_masked)
            ),
            name: masked.join(", "),
            words: masked,
        });
    }
    terms.extend(TERMS.iter().map(|(name, words, meaning)| Term {
        name: (*name).to_owned(),
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        meaning: (*meaning).to_owned(),
    }));
    terms
}

/// The list at the end of the page.
pub fn section(conditions: &[Condition]) -> String {
    let entry = |(place, term): (usize, &Term)| {
        format!(
            "<div><dt data-words=\"{}\">{}</dt><dd id=\"term-{place}\">{}</dd></div>\n",
            escape(&term.words.join(";")),
            to_html(&term.name),
            escape(&plain_text(&term.meaning))
        )
    };
    let entries: String = terms(conditions).iter().enumerate().map(entry).collect();
    format!(
        "<section id=\"glossary\"><h2>Glossary</h2>\n<details><summary>What the words of this page mean</summary><dl>\n{entries}</dl></details></section>\n"
    )
}
