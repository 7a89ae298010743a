//! Tables: regressions, correlations, every run; then the config and the versions behind it all.

use super::html::table;
use crate::data::factors::said;
use crate::data::{Factor, Run, Study};
use crate::draw::{escape, to_html};
use crate::findings::design::{BRIDGE, bridge_of};
use crate::findings::{Correlated, Findings, Transfer};
use crate::wording::spoken;
use invitro_results::{Measure, Quantity, TaskMetric, column, p_text};
use invitro_stats::Interval;
use invitro_stats::correlation::Correlation;
use invitro_stats::{digits, p_value};
use std::collections::BTreeMap;

pub fn section(study: &Study, findings: &Findings) -> String {
    let mut html = String::from("<section id=\"tables\"><h2>Tables</h2>\n<h3>Regressions of masked transfer</h3>\n");
    html.push_str("<p>Standardised effects by least squares over the runs that ended; intervals and <i>p</i> from errors clustered by data seed, or by model seed where there is one data seed (Student's <i>t</i>, groups − 1 degrees of freedom).</p>\n");
    html.push_str(&regressions(findings));
    html.push_str("<h3>Correlations with bridges</h3>\n<p>Pearson's and Spearman's correlations over the runs that ended with Fisher intervals, as if runs were independent; the interval over seeds; and <i>p</i> by permutation over tokenizers within |<i>V</i>|.</p>\n");
    html.push_str(&correlations(study, findings));
    html.push_str("<div class=\"every-run\"><h3>Runs</h3>\n");
    html.push_str(&runs(study));
    html.push_str("</div></section>\n");
    html
}

fn regressions(findings: &Findings) -> String {
    let mut rows = Vec::new();
    for regressed in &findings.regressions {
        for (name, model) in [("factors", &regressed.factors), ("with *β̂*", &regressed.with_bridge)] {
            let Some(model) = model else { continue };
            for effect in &model.effects {
                let saturated = if regressed.saturated { " <small>(saturated)</small>" } else { "" };
                rows.push(vec![
                    to_html(regressed.transfer.label()) + saturated,
                    to_html(name),
                    to_html(&effect.name),
                    with_interval(effect.value, Some(effect.interval)),
                    escape(&p_value(effect.p)),
                    format!("{:.3}", model.r_squared),
                    format!("{} in {}", model.rows, model.groups),
                ]);
            }
            if !model.dropped.is_empty() {
                let dropped = format!("left out, since they do not vary on their own: {}", model.dropped.join(", "));
                rows.push(vec![
                    to_html(regressed.transfer.label()),
                    to_html(name),
                    to_html(&dropped),
                    String::new(),
                    String::new(),
                    String::new(),
                    String::new(),
                ]);
            }
        }
    }
    if rows.is_empty() {
        return "<p class=\"none\">Too few runs have ended, or nothing varies among them.</p>\n".into();
    }
    table("plain", &["outcome", "model", "predictor", "effect, 95 % interval", "*p*", "*R*²", "runs in groups"], rows)
}

fn correlations(study: &Study, findings: &Findings) -> String {
    let cells = |row: &Correlated| {
        let of = |found: &Option<Correlation>| match found {
            Some(found) => format!("{}, {}", with_interval(found.r, found.interval), to_html(&p_text(found.p))),
            None => "none".into(),
        };
        let vocab = row.vocab.map_or("all".into(), |place| study.levels(Factor::Vocab)[place].clone());
        vec![
            to_html(row.transfer.label()),
            to_html(row.name),
            vocab,
            of(&row.pearson),
            of(&row.spearman),
            row.over_seeds.as_ref().map_or(String::new(), spoken),
            row.permuted.map_or(String::new(), |p| escape(&p_value(p))),
        ]
    };
    let found: Vec<_> = findings.correlations.iter().filter(|row| row.pearson.is_some()).collect();
    if found.is_empty() {
        return "<p class=\"none\">Too few runs have ended, or nothing varies among them.</p>\n".into();
    }
    let header = ["outcome", "bridge", "|*V*|", "Pearson's *r*", "Spearman's *ρ*", "*r* over seeds", "*p*, permuted"];
    table("plain", &header, found.into_iter().map(cells))
}

/// `0.412 [0.380, 0.450]`.
fn with_interval(value: f64, interval: Option<Interval>) -> String {
    digits(value) + &interval.map_or(String::new(), |it| format!(" [{}, {}]", digits(it.low), digits(it.high)))
}

fn runs(study: &Study) -> String {
    if study.runs.is_empty() {
        return "<p class=\"none\">No runs yet.</p>\n".into();
    }
    let (factors, others) = (study.paper_factors(), study.other_factors());
    const METRICS: [(TaskMetric, &str); 2] = [(TaskMetric::Grammaticality, "grammar"), (TaskMetric::Types, "types")];
    let peaks: Vec<(Quantity, String)> = study
        .masked()
        .flat_map(|condition| {
            METRICS.map(|(metric, name)| {
                (Quantity::of(Measure::unscrambling(metric), condition), format!("{name} {}", condition.label()))
            })
        })
        .collect();
    let cells = |run: &Run| {
        let number = |value: Option<f64>| value.map_or(String::new(), digits);
        let setting = |name: &str| run.columns.get(name).map_or(String::new(), |value| escape(&value.to_string()));
        let mut cells = vec![format!("<code>{}</code>", escape(&run.id)), escape(run.state())];
        cells.push(run.last_step().map_or(String::new(), |step| step.to_string()));
        cells.extend(factors.iter().map(|factor| setting(factor.key())));
        cells.extend(others.iter().map(|name| setting(name)));
        cells.extend([setting(column::DATA_SEED), setting(column::MODEL_SEED)]);
        cells.push(number(bridge_of(study, run, BRIDGE)));
        cells.extend(peaks.iter().map(|(quantity, _)| number(run.curve(quantity).peak().map(|point| point.value))));
        cells.extend(Transfer::ALL.map(|transfer| number(transfer.value(study, run))));
        cells
    };
    let mut header = vec!["run", "state", "step"];
    header.extend(factors.iter().map(|factor| factor.symbol()));
    header.extend(others.iter().map(|key| said(key)));
    header.extend(["data seed", "model seed", "*β̂*"]);
    header.extend(peaks.iter().map(|(_, name)| name.as_str()));
    header.extend(Transfer::ALL.map(Transfer::label));
    let found = format!(
        "<p><label>Find <input type=\"search\" id=\"find-run\" placeholder=\"run, state or level\"></label> <span id=\"runs-shown\" role=\"status\">{} runs</span></p>\n",
        study.runs.len()
    );
    found + &table("plain sortable runs", &header, study.runs.iter().map(cells))
}

/// How long the runs took. Before schema 2 runs that trained beside each other each had all of their time, and nothing
/// tells who did: a sum would count the same seconds many times.
fn seconds(study: &Study, what: &str, column: &str) -> Option<Vec<String>> {
    let timed = || study.runs.iter().filter_map(|run| Some((run, run.number(column)?)));
    let mut seconds: Vec<f64> = timed().map(|(_, seconds)| seconds).collect();
    seconds.sort_by(f64::total_cmp);
    let runs = seconds.len().to_string();
    let (least, most) = (format!("{:.1}", seconds.first()?), format!("{:.1}", seconds.last()?));
    if timed().all(|(run, _)| run.schema().is_some_and(|schema| schema >= 2)) {
        return Some(vec![
            format!("seconds of {what}, of all runs"),
            format!("{:.1}", seconds.iter().sum::<f64>()),
            runs,
        ]);
    }
    let range = if least == most { least } else { format!("{least} to {most}") };
    Some(vec![format!("seconds of {what}, of a run and all that trained beside it"), range, runs])
}

/// The config file, and which versions, devices and schemas made the runs.
pub fn configs(study: &Study) -> String {
    let mut html = String::from("<section id=\"configs\"><h2>Config and versions</h2>\n");
    let mut rows = Vec::new();
    for column in [column::VERSION, column::COMMIT, column::SCHEMA, column::DEVICE] {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for value in study.runs.iter().filter_map(|run| run.columns.get(column)) {
            *counts.entry(value.to_string()).or_default() += 1;
        }
        for (value, count) in counts {
            rows.push(vec![escape(column), escape(&value), count.to_string()]);
        }
    }
    let [_, train, eval, _] = column::SECONDS;
    rows.extend(seconds(study, "training", train));
    rows.extend(seconds(study, "evaluation", eval));
    rows.push(vec!["report".into(), format!("invitro {}", env!("CARGO_PKG_VERSION")), String::new()]);
    html.push_str(&table("plain", &["", "", "runs"], rows));
    if let Some(config) = &study.config {
        html.push_str(&format!(
            "<details open><summary>The config file</summary><pre tabindex=\"0\">{}</pre></details>\n",
            escape(config)
        ));
    }
    html.push_str("</section>\n");
    html
}
