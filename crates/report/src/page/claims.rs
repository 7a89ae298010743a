//! Claims on a page: the answers to primary claims on its first screen, all others as rows, with what they rest on folded.

use super::html::table;
use crate::claims::{
    ClaimAnswers, Rendered, coefficients, headline, in_plain_words, is_part, is_shown, levels_label, next_step,
    reason_words, table_value,
};
use crate::data::Study;
use crate::draw::{escape, to_html};
use crate::wording::{capital, counted};
use invitro_results::FolderKind;
use invitro_results::claims::{Answer, LEVEL, Look, Looks, Test, Verdict};
use std::collections::BTreeMap;

/// The answers on the first screen of a page, and the figure that shows them.
pub fn opening(study: &Study, answers: &ClaimAnswers, figure: &str) -> String {
    let primary: String = answers
        .answers
        .iter()
        .filter(|answer| answer.claim.primary)
        .map(|answer| primary(study, answers, answer))
        .collect();
    if !primary.is_empty() {
        return format!("<ul class=\"answers\">\n{primary}</ul>\n{}{figure}", plans_itself(study));
    }
    match study.kind {
        FolderKind::Study => {
            let short = if study.varying().is_empty() { in_plain_words(study) } else { Vec::new() };
            let sentences = if short.is_empty() { headline(study, answers) } else { short };
            format!("{}{figure}", sentences_html(&sentences))
        }
        FolderKind::Run => format!("{OF_RUN}{figure}"),
    }
}

/// Of a study that plans itself: why it stopped, and what its intervals are.
fn plans_itself(study: &Study) -> String {
    let Some((look, plan)) = Look::at(study).zip(study.plan.as_ref().filter(|plan| plan.until.is_some())) else {
        return String::new();
    };
    format!(
        "<p class=\"note\">This study plans itself: {}. Intervals of primary claims are valid at every look, after each data \
         seed from the third.</p>\n",
        escape(&next_step(&look, plan))
    )
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
        Verdict::Contradicted => "no",
        Verdict::Equivalent | Verdict::Inconclusive | Verdict::NotTested(_) => "open",
    };
    format!("<span class=\"badge {class}\">{}</span>", verdict.name())
}

/// Why a primary claim is inconclusive though its 95 % interval leaves out what the claim rules out: it was tested more strictly.
fn stricter(answer: &Answer) -> String {
    let is_looked_at_once = answer.looks == Looks::Once;
    let is_decided = answer.verdict != Verdict::Inconclusive || answer.alpha >= LEVEL || !is_looked_at_once;
    let at_level = answer.claim.verdict(&answer.estimated, LEVEL);
    if is_decided || !at_level.is_decided() {
        return String::new();
    }
    let share = 100.0 * answer.alpha;
    format!(
        " <small>(several primary claims are tested at {share:.1} % each; the interval shown is the usual one of 95 %)</small>"
    )
}

/// Why it was not tested, in small letters.
fn why(verdict: &Verdict) -> String {
    match verdict {
        Verdict::NotTested(reason) => format!(" <small>({})</small>", to_html(&reason_words(reason))),
        _ => String::new(),
    }
}

/// A primary claim: its verdict, itself, and the number, with how it was tested folded.
fn primary(study: &Study, answers: &ClaimAnswers, answer: &Answer) -> String {
    let rendered = Rendered::new(study, answer);
    let beside: Vec<String> = rendered.beside.iter().map(|(what, value)| format!("{what}: {value}")).collect();
    let number = |rendered: &Rendered| {
        let value = format!("{} is <b>{}</b>.", to_html(&rendered.subject()), to_html(&rendered.value));
        if rendered.value.is_empty() { String::new() } else { value }
    };
    let value = match &answer.claim.test {
        Test::Estimand(_) => number(&rendered),
        Test::All(parts) => {
            let parts = parts.iter().filter_map(|id| answers.by_id(id));
            parts.map(|part| number(&Rendered::new(study, part))).collect::<Vec<_>>().join(" ")
        }
    };
    let beside = if beside.is_empty() {
        String::new()
    } else {
        format!(" {}.", unbroken(&to_html(&capital(&beside.join("; ")))))
    };
    format!(
        "<li id=\"{}\">{}<div><p class=\"claim\">{}{}</p><p class=\"said\">{value}{beside}</p></div>{}</li>\n",
        escape(&answer.claim.id),
        badge(&answer.verdict),
        to_html(&rendered.says),
        why(&answer.verdict) + &stricter(answer),
        folded(study, answer, &rendered),
    )
}

/// Text whose intervals stay on one line.
fn unbroken(html: &str) -> String {
    let parts = html.split_inclusive('[').enumerate().map(|(place, part)| match part.split_once(']') {
        Some((interval, rest)) if place > 0 => format!("{}]{rest}", interval.replace(' ', "&nbsp;")),
        _ => part.to_owned(),
    });
    parts.collect()
}

/// All claims that are not primary: exploratory.
pub fn section(study: &Study, answers: &ClaimAnswers) -> String {
    let is_tested = |answer: &&Answer| is_shown(answer) && !matches!(answer.verdict, Verdict::NotTested(_));
    let shown: Vec<&Answer> = answers.answers.iter().filter(is_tested).filter(|answer| !answer.claim.primary).collect();
    let mut html = String::new();
    if !shown.is_empty() {
        let rows = shown.iter().map(|answer| row(study, answer));
        html.push_str(&table("claims", &["claim", "value, 95 % interval", "verdict"], rows));
        let details: String = shown.iter().map(|answer| estimation(study, answers, answer)).collect();
        html.push_str(&format!(
            "<details><summary>How each was estimated, and by level</summary><dl class=\"estimates\">\n{details}</dl></details>\n"
        ));
    }
    // By why they were not tested.
    let mut hidden: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for answer in answers.answers.iter().filter(|answer| !is_tested(answer) && !answer.claim.primary) {
        let rendered = Rendered::new(study, answer);
        hidden.entry(rendered.verdict).or_default().push(rendered.says);
    }
    if !hidden.is_empty() {
        let item = |(why, says): (&String, &Vec<String>)| {
            let says: String = says.iter().map(|says| format!("<li>{}</li>\n", to_html(says))).collect();
            format!("<li>{}<ul>\n{says}</ul></li>\n", to_html(&capital(why)))
        };
        let hidden: String = hidden.iter().map(item).collect();
        html.push_str(&format!(
            "<details><summary>Claims that these runs do not test</summary><ul>\n{hidden}</ul></details>\n"
        ));
    }
    if html.is_empty() {
        return html;
    }
    format!(
        "<section id=\"claims\"><h2>Other claims</h2>\n{html}<details><summary>How verdicts are reached</summary><p class=\"rule\">{RULE}</p></details>\n</section>\n"
    )
}

fn row(study: &Study, answer: &Answer) -> Vec<String> {
    let rendered = Rendered::new(study, answer);
    vec![
        format!("<span id=\"claim-{}\">{}</span>", escape(&answer.claim.id), to_html(&rendered.says)),
        to_html(&rendered.value),
        badge(&answer.verdict) + &why(&answer.verdict),
    ]
}

/// How a primary claim was tested.
fn folded(study: &Study, answer: &Answer, rendered: &Rendered) -> String {
    let notes: String = rendered.notes.iter().map(|note| format!("<li>{}</li>\n", to_html(note))).collect();
    let source = answer.claim.source.as_ref().map_or(String::new(), |it| format!("<li>source: {}</li>\n", to_html(it)));
    let inner = format!("<ul>\n{source}{notes}</ul>{}", tables(study, answer));
    format!("<details><summary>How tested</summary>{inner}</details>")
}

/// The estimate behind a claim, with its notes.
fn estimation(study: &Study, answers: &ClaimAnswers, answer: &Answer) -> String {
    let rendered = Rendered::new(study, answer);
    let beside = rendered.beside.iter().map(|(what, value)| format!("{what}: {value}"));
    let part = is_part(answers, &answer.claim).then(|| "part of another claim".to_owned());
    let notes: Vec<String> = rendered.notes.iter().cloned().chain(beside).chain(part).collect();
    let notes = if notes.is_empty() { String::new() } else { format!(" ({})", to_html(&notes.join("; "))) };
    let runs = answer.estimated.estimate.map_or(String::new(), |it| format!(", {}", counted(it.runs, "run")));
    format!(
        "<dt>{}</dt><dd>{}{runs}{notes}{}</dd>\n",
        escape(&answer.claim.id),
        to_html(&rendered.measured),
        tables(study, answer)
    )
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
