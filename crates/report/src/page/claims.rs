//! Claims on a page: the question, the answers to primary claims as cards, all others as rows, with what they rest on folded.

use super::html::table;
use crate::claims::{
    ClaimAnswers, Rendered, coefficients, headline, is_part, is_shown, levels_label, reason_words, table_value,
};
use crate::data::Study;
use crate::draw::{escape, to_html};
use invitro_results::FolderKind;
use invitro_results::claims::{Answer, Verdict};

/// The first screen of a page: the question, the answers, and the figure that shows them.
pub fn opening(study: &Study, answers: &ClaimAnswers, figure: &str) -> String {
    let question = answers
        .question
        .as_ref()
        .map_or(String::new(), |question| format!("<p class=\"question\">{}</p>\n", to_html(question)));
    let primary: String =
        answers.answers.iter().filter(|answer| answer.claim.primary).map(|answer| card(study, answer)).collect();
    if !primary.is_empty() {
        return format!("{question}<h2>Primary claims</h2>\n<div class=\"cards\">\n{primary}</div>\n{figure}");
    }
    let sentences = headline(study, answers);
    let note = if study.kind == FolderKind::Run && !sentences.is_empty() { OF_RUN } else { "" };
    format!("{question}{}{note}{figure}", sentences_html(&sentences))
}

const OF_RUN: &str =
    "<p class=\"note\">One run has one data seed: no claim is tested. Intervals are over pairs of subjects.</p>\n";

/// Sentences, the first of them large.
pub fn sentences_html(sentences: &[String]) -> String {
    let [first, rest @ ..] = sentences else { return String::new() };
    let rest: String = rest.iter().map(|sentence| format!("<li>{}</li>\n", to_html(sentence))).collect();
    let rest = if rest.is_empty() { rest } else { format!("<ul>\n{rest}</ul>\n") };
    format!(
        "<div class=\"finding\">\n<h2>What was found</h2>\n<p class=\"first\">{}</p>\n{rest}</div>\n",
        to_html(first)
    )
}

fn badge(verdict: &Verdict) -> String {
    let class = match verdict {
        Verdict::Supported => "yes",
        Verdict::Contradicted | Verdict::Equivalent => "no",
        Verdict::Inconclusive | Verdict::NotTested(_) => "open",
    };
    format!("<span class=\"badge {class}\">{}</span>", verdict.name())
}

/// Why it was not tested, in small letters.
fn why(verdict: &Verdict) -> String {
    match verdict {
        Verdict::NotTested(reason) => format!(" <small>({})</small>", to_html(&reason_words(reason))),
        _ => String::new(),
    }
}

fn card(study: &Study, answer: &Answer) -> String {
    let rendered = Rendered::new(study, answer);
    let value = match rendered.value.is_empty() {
        true => String::new(),
        false => {
            format!("<p class=\"said\">The {} is <b>{}</b>.</p>", to_html(&rendered.measured), to_html(&rendered.value))
        }
    };
    let beside: Vec<String> = rendered.beside.iter().map(|(what, value)| format!("{what}: {value}")).collect();
    let beside = if beside.is_empty() {
        String::new()
    } else {
        format!("<p class=\"note\">{}</p>", to_html(&beside.join("; ")))
    };
    format!(
        "<article class=\"card\" id=\"{}\"><p class=\"claim\">{}</p><p>{}{}</p>{value}{beside}{}</article>\n",
        escape(&answer.claim.id),
        to_html(&rendered.says),
        badge(&answer.verdict),
        why(&answer.verdict),
        folded(study, answer, &rendered),
    )
}

/// All that is not primary: exploratory.
pub fn exploratory(study: &Study, answers: &ClaimAnswers) -> String {
    let shown: Vec<&Answer> =
        answers.answers.iter().filter(|answer| is_shown(answer) && !answer.claim.primary).collect();
    let mut html = String::new();
    if !shown.is_empty() {
        let rows = shown.iter().map(|answer| row(study, answers, answer));
        let header = ["claim", "estimate", "value, 95 % interval, runs", "verdict"];
        html.push_str("<h2 id=\"claims\">Exploratory claims</h2>\n");
        html.push_str(&table("claims", &header, rows));
        let details: String = shown.iter().map(|answer| breakdown(study, answer)).collect();
        html.push_str(&details);
    }
    let hidden: Vec<String> = answers
        .answers
        .iter()
        .filter(|answer| !is_shown(answer))
        .map(|answer| Rendered::new(study, answer))
        .map(|rendered| format!("{} ({})", rendered.says, rendered.verdict))
        .collect();
    if !hidden.is_empty() {
        let hidden: String = hidden.iter().map(|it| format!("<li>{}</li>\n", to_html(it))).collect();
        html.push_str(&format!(
            "<details><summary>Claims that these runs do not test</summary><ul>\n{hidden}</ul></details>\n"
        ));
    }
    if html.is_empty() { html } else { format!("{html}<p class=\"rule\">{RULE}</p>\n") }
}

fn row(study: &Study, answers: &ClaimAnswers, answer: &Answer) -> Vec<String> {
    let rendered = Rendered::new(study, answer);
    let beside: Vec<String> = rendered.beside.iter().map(|(what, value)| format!("{what}: {value}")).collect();
    let notes: Vec<String> = rendered.notes.iter().cloned().chain(beside).collect();
    let notes =
        if notes.is_empty() { String::new() } else { format!(" <small>({})</small>", to_html(&notes.join("; "))) };
    let part = if is_part(answers, &answer.claim) { " <small>(part of another claim)</small>" } else { "" };
    vec![
        format!("<span id=\"claim-{}\">{}</span>{part}", escape(&answer.claim.id), to_html(&rendered.says)),
        to_html(&rendered.measured) + &notes,
        rendered.value_of_runs.clone(),
        badge(&answer.verdict) + &why(&answer.verdict),
    ]
}

/// How a primary claim was tested.
fn folded(study: &Study, answer: &Answer, rendered: &Rendered) -> String {
    let notes: String = rendered.notes.iter().map(|note| format!("<li>{}</li>\n", to_html(note))).collect();
    let source = answer.claim.source.as_ref().map_or(String::new(), |it| format!("<li>source: {}</li>\n", to_html(it)));
    let inner = format!("<ul>\n{source}{notes}</ul>{}", tables(study, answer));
    format!("<details><summary>How it was tested</summary>{inner}</details>")
}

fn breakdown(study: &Study, answer: &Answer) -> String {
    let tables = tables(study, answer);
    if tables.is_empty() {
        return tables;
    }
    let says = Rendered::new(study, answer).says;
    format!("<details><summary>{}</summary>{tables}</details>\n", to_html(&says))
}

/// The claim at each combination of levels, and the regression behind a coefficient of words.
fn tables(study: &Study, answer: &Answer) -> String {
    let mut html = String::new();
    if !answer.cells.is_empty() {
        let cells = answer.cells.iter().filter(|cell| cell.estimated.estimate.is_some()).map(|cell| {
            let value = table_value(cell.estimated.estimate.as_ref());
            vec![to_html(&levels_label(study, &cell.levels)), value, badge(&cell.verdict) + &why(&cell.verdict)]
        });
        html.push_str(&table("plain", &["at", "value, 95 % interval, runs", "verdict"], cells));
    }
    let rows = coefficients(answer);
    if !rows.is_empty() {
        let rows = rows.into_iter().map(|row| row.iter().map(|cell| escape(cell)).collect());
        html.push_str(&table("plain", &["covariate", "per unit (error)", "95 % interval over seeds"], rows));
    }
    html
}

/// The rule of verdicts, as pages state it.
const RULE: &str = "A claim is supported where the 95 % interval over seeds lies wholly where the claim expects it, and contradicted where it \
     lies wholly on the other side. It is equivalent to no effect where it lies wholly within the margin of none: 0.1 for standardised effects and \
     correlations, 0.02 for declines. Otherwise it is inconclusive. Primary claims are adjusted together (Holm); all exploratory are exploratory. Nothing \
     is tested with fewer than three data seeds, nor about transfer where grammar (half of T1's sentences at the end) or facts (a contrast above 0) \
     were not learned in the language that saw the words.";
