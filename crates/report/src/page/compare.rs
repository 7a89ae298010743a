//! The page of runs side by side.

use super::html::table;
use super::{figures, glossary, shell};
use crate::draw::escape;
use crate::figures::Figure;
use invitro_base::dotted::show;
use invitro_results::{Comparison, Quantity, Run};
use invitro_stats::digits;

pub fn page(comparison: &Comparison, verdicts: &[String], drawn: &[Figure]) -> String {
    let names: Vec<String> = comparison.names.iter().map(|name| escape(name)).collect();
    let header: Vec<&str> = std::iter::once("").chain(names.iter().map(String::as_str)).collect();
    let mut body = String::from("<section id=\"overview\">\n<h1>Runs side by side</h1>\n");
    body.push_str(&super::claims::sentences_html(verdicts));
    let row = |name: &str, cell: &dyn Fn(&Run) -> String| {
        std::iter::once(name.to_owned()).chain(comparison.runs.iter().map(cell)).collect::<Vec<String>>()
    };
    let stands = [
        row("run", &|run| format!("<code>{}</code>", escape(&run.id))),
        row("state", &|run| escape(run.state())),
        row("last evaluation", &|run| run.last_step().map_or("–".into(), |step| format!("step {step}"))),
    ];
    body.push_str(&table("plain", &header, stands));
    body.push_str("<h2>Settings that differ</h2>\n");
    if comparison.differing.is_empty() {
        body.push_str("<p class=\"none\">None.</p>\n");
    } else {
        let shown = |value: &Option<_>| value.as_ref().map_or("–".into(), |value| escape(&show(value)));
        let rows = comparison.differing.iter().map(|(key, values)| {
            std::iter::once(format!("<code>{}</code>", escape(key))).chain(values.iter().map(shown)).collect()
        });
        body.push_str(&table("plain", &header, rows));
    }
    body.push_str("<h2>Measures</h2>\n<p>At the peak and its step, then at the end.</p>\n");
    let rows = comparison.measured().into_iter().map(|(compared, condition)| {
        let quantity = Quantity::in_condition(compared.measure, &condition);
        row(&format!("{}, {}", escape(compared.name), condition.label()), &|run| {
            let curve = run.curve(&quantity);
            let end = curve.end().map_or("–".into(), digits);
            match curve.peak().filter(|_| compared.rises) {
                Some(peak) => format!("{} <small>({})</small>, {end}", digits(peak.value), peak.step),
                None => end,
            }
        })
    });
    body.push_str(&table("plain", &header, rows.collect::<Vec<_>>()));
    body.push_str("</section>\n");
    body.push_str(&figures::unfolded(drawn));
    body.push_str(&glossary::section(&comparison.conditions()));
    let links = [("overview", "Overview"), ("figures", "Figures"), ("glossary", "Glossary")];
    shell(&comparison.names.join(", "), "comparison", &links, &body, None)
}
