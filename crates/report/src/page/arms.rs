//! Interventions on the page: what arms change, word by word; what a word's contrast and reachability correlate with; words
//! in other forms.

use super::html::table;
use super::overview::badge;
use crate::data::Study;
use crate::draw::{escape, to_html};
use crate::findings::arms::factors;
use crate::findings::by_word::Outcome;
use crate::findings::{ByWord, Comparison, Findings, forms};
use crate::wording::spoken;
use invitro_results::{Form, Verdict};
use invitro_stats::{digits, p_value};

/// Nothing where no word's contrast is known and none was asked in other forms.
pub fn section(study: &Study, findings: &Findings) -> String {
    arms(study, &findings.comparisons) + &by_word(&findings.by_word) + &in_forms(study)
}

fn arms(study: &Study, comparisons: &[Comparison]) -> String {
    let compared: Vec<&Comparison> = comparisons.iter().filter(|it| it.difference.is_some()).collect();
    if compared.is_empty() {
        return String::new();
    }
    let said: String = compared
        .iter()
        .filter(|it| it.cell.is_empty())
        .map(|it| format!("<li>{}</li>\n", to_html(&it.sentence)))
        .collect();
    let rows = compared.iter().map(|it| {
        let [one, other] = it.levels.map(|level| study.levels(it.factor)[level].as_str());
        let held = it.cell.iter().map(|(factor, level)| factor.said(&study.levels(*factor)[*level]));
        let held: Vec<String> = held.collect();
        let found = it.difference.as_ref().expect("those without were left out");
        vec![
            to_html(it.factor.symbol()),
            format!("{} − {}", escape(one), escape(other)),
            if held.is_empty() { "all".into() } else { to_html(&held.join(", ")) },
            spoken(&found.estimate),
            if it.of_runs { "whole runs".into() } else { found.values.to_string() },
            escape(&p_value(found.p)),
            badge(it.verdict, direction(it.verdict)),
        ]
    });
    let header = [
        "setting",
        "arms",
        "at",
        "difference in nats, 95 % interval, runs",
        "words in runs",
        "*p*, permuted",
        "the first is",
    ];
    let named: Vec<String> = factors(study).into_iter().map(|factor| factor.symbol().to_owned()).collect();
    format!(
        "<h2>What arms change, word by word</h2>\n<p>Arms ({}) differ in one setting and have the same worlds and words. The contrast of \
         facts at the end of each masked word is compared with itself in the other arm; a word that has other pieces there in number, or is in one arm alone, \
         with words of as many letters and pieces in the run of the same seeds and settings. The interval is over data seeds and model seeds and decides the verdict. <i>p</i> is by \
         permutation within those strata: it asks whether, in these very models, it matters in which arm a word's contrast was taken, and \
         not what other data seeds would give. Where an arm has no masked words, since it withholds facts, whole runs are compared.</p>\n<ul class=\"said\">\n{said}</ul>\n{}",
        to_html(&named.join(", ")),
        table("plain", &header, rows)
    )
}

fn direction(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Supported => "higher",
        Verdict::Contradicted => "lower",
        other => other.word(),
    }
}

fn by_word(all: &[ByWord]) -> String {
    let mut rows = Vec::new();
    for it in all {
        let runs = || vec![it.outcome.unit().to_owned(), to_html(&it.title)];
        for effect in &it.clustered.effects {
            let mut row = runs();
            row.extend([
                to_html(&effect.name),
                format!("{} ({})", digits(effect.value), digits(effect.error)),
                it.estimate(&effect.name).map_or("none".into(), ToString::to_string),
                format!("{} in {}", it.clustered.rows, it.runs),
                format!("{:.3}", it.clustered.r_squared),
            ]);
            rows.push(row);
        }
        if !it.clustered.dropped.is_empty() {
            let dropped = format!("left out, since they do not vary on their own: {}", it.clustered.dropped.join(", "));
            rows.push([runs(), vec![to_html(&dropped)], vec![String::new(); 4]].concat());
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let of = |outcome: Outcome| all.iter().find(|it| it.outcome == outcome);
    let said = [Outcome::Contrast, Outcome::Reachable].into_iter().filter_map(of);
    let said: String = said.map(|it| format!("<p class=\"said\">{}</p>\n", to_html(&it.sentence))).collect();
    let header = [
        "outcome",
        "runs",
        "predictor",
        "per unit (error)",
        "95 % interval over seeds",
        "words in runs",
        "*R*² within",
    ];
    format!(
        "<h2>What a word's contrast and reachability correlate with</h2>\n{said}<p>Least squares over the masked words of the runs that ended, \
         each run with a level of its own; reachable is 1 or 0, and 1 if it is so for any subject that was asked for the word. The cognate bridge and the distance go from 0 to 1; frequency is that in the first language. Errors are \
         clustered by symbol and by data seed (Cameron, Gelbach and Miller); a symbol of another data seed is one of another world. Intervals come \
         from leaving out seeds, with Student's <i>t</i> for their number. Words are not assigned their bridges at random: arms are.</p>\n{}",
        table("plain", &header, rows)
    )
}

fn in_forms(study: &Study) -> String {
    let all = forms::all(study);
    if all.is_empty() {
        return String::new();
    }
    let rows = all.iter().map(|it| {
        let own = it.form == Form::Own;
        vec![
            it.condition.label(),
            escape(it.form.name()),
            escape(it.form.meaning()),
            it.contrast.as_ref().map_or("not measured".into(), ToString::to_string),
            it.change.as_ref().filter(|_| !own).map_or(String::new(), spoken),
            if own { String::new() } else { badge(it.verdict, direction(it.verdict)) },
        ]
    });
    let header = ["in", "form", "", "contrast, nats", "less that of its own form, 95 % interval, runs", "it is"];
    format!(
        "<h2>Words in other forms</h2>\n<p>The same models at the end of training, asked about the words of the contrast in other forms; the \
         unmasked words are the control. Differences are taken within runs.</p>\n{}",
        table("plain", &header, rows)
    )
}
