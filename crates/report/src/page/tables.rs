//! Every run in a table; then the config and the versions behind it all.

use super::html::table;
use crate::data::{FactorWords, Run, Study, setting_name};
use crate::draw::escape;
use crate::figures::{BRIDGE, TRANSFERS, bridge_of};
use invitro_results::{Measure, Quantity, TaskMetric, column};
use invitro_stats::digits;
use std::collections::BTreeMap;

pub fn section(study: &Study) -> String {
    format!(
        "<section id=\"tables\"><h2>Runs</h2>\n<details class=\"every-run\"><summary>Every run, with its settings and measures</summary>{}</details></section>\n",
        runs(study)
    )
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
                (
                    Quantity::in_condition(Measure::unscrambling(metric), condition),
                    format!("{name} {}", condition.label()),
                )
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
        cells.extend(TRANSFERS.map(|transfer| number(transfer.value(study, run))));
        cells
    };
    let owned: Vec<String> =
        factors.iter().map(|factor| factor.symbol()).chain(others.iter().map(|key| setting_name(key))).collect();
    let mut header = vec!["run", "state", "step"];
    header.extend(owned.iter().map(String::as_str));
    header.extend(["data seed", "model seed", "*β̂*"]);
    header.extend(peaks.iter().map(|(_, name)| name.as_str()));
    header.extend(TRANSFERS.map(|transfer| transfer.label));
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
            "<details><summary>The config file</summary><pre tabindex=\"0\">{}</pre></details>\n",
            escape(config)
        ));
    }
    html.push_str("</section>\n");
    html
}
