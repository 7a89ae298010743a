//! How many data seeds the primary claims of a study need: the table of `study plan --power`, and the lines of `study status`.

use super::format::count;
use crate::table;
use crate::terminal::{self, To};
use anyhow::{Result, bail};
use invitro_lab::study::StudyFolder;
use invitro_report::claims::{next_step, reason_words};
use invitro_results::claims::planning::{Forecast, NoForecast, POWER, Question, SeedNeeds, seed_needs};
use invitro_results::claims::{Look, Looks, SEEDS, Verdict};
use invitro_results::{Plan, ReadCache, Study};
use invitro_stats::power::deviation_range;
use invitro_stats::{Estimate, digits, sequential};
use serde_json::{Value, json};
use std::path::Path;

/// Prints what the results in a folder say of the data seeds that the primary claims of a plan need.
pub fn plan_power(plan: &Plan, from: &Path, half_width: Option<f64>, as_json: bool) -> Result<()> {
    let Some(claims) = plan.primary_claims() else {
        bail!("the study `{}` names no primary claims: `primary = [\"ID\", …]` in its file names them", plan.name);
    };
    let study = Study::open(from)?;
    let planned = plan.data_seeds.len();
    let needs = seed_needs(&study, &claims, &Question { planned, half_width, looks: Looks::Once, only: None });
    if as_json {
        emit!(
            "{}",
            json!({
                "study": plan.name, "from": from.display().to_string(), "data_seeds": planned, "power": POWER,
                "claims": needs.iter().map(in_json).collect::<Vec<_>>(),
            })
        );
        return Ok(());
    }
    say!("{}: {} planned; spread from {}", plan.name, count(planned, "data seed"), from.display());
    let heads = ["  claim", "estimate", "spread", &format!("± at {planned}"), "power", "wanted", "seeds", "at 0.8"];
    let mut rows = vec![table::heads(heads.map(str::to_owned))];
    let mut sentences = Vec::new();
    for needs in &needs {
        match &needs.forecast {
            Ok(forecast) => rows.push(row(needs, forecast)),
            Err(why) => sentences.push(format!("{}: {}", name(needs), no_forecast(why))),
        }
    }
    if rows.len() > 1 {
        say!("{}", table::numbers(&rows, terminal::width(To::Out)));
        say!();
        let text = format!(
            "spread: standard deviation between data seeds; ± at {planned}: half-width of the 95 % interval with {}; power: \
             probability that they decide the claim if the estimate is the truth, all primary claims adjusted together; \
             seeds: data seeds for the half-width wanted; at {POWER}: data seeds for a power of {POWER}",
            count(planned, "data seed")
        );
        say!("{}", terminal::fit(&text).trim_end());
    }
    for sentence in sentences.into_iter().chain(notes(&needs)) {
        say!("{}", terminal::fit(&sentence).trim_end());
    }
    Ok(())
}

/// What to know of the numbers: how well spreads are known, and what model seeds add.
fn notes(needs: &[SeedNeeds]) -> Vec<String> {
    let found = || {
        needs.iter().filter_map(|needs| {
            needs.forecast.as_ref().ok()?;
            Some((needs, needs.estimated.estimate?))
        })
    };
    let mut notes = Vec::new();
    if let Some(fewest) = found().map(|(_, estimate)| estimate.data_seeds).min() {
        let [low, high] = deviation_range(fewest).map(digits);
        notes.push(format!(
            "A spread from {} is uncertain: the true one is {low} to {high} times as large (95 %).",
            count(fewest, "data seed")
        ));
    }
    let wider = found().filter(|(needs, estimate)| {
        let own = estimate.interval.zip(needs.interval);
        own.is_some_and(|(both, data)| both.half_width() > 1.05 * data.half_width())
    });
    let wider: Vec<String> = wider.map(|(needs, _)| name(needs)).collect();
    if !wider.is_empty() {
        notes.push(format!(
            "Pages have wider intervals of {}, for the spread between model seeds too, which more data seeds do not reduce.",
            wider.join(", ")
        ));
    }
    notes
}

fn row(needs: &SeedNeeds, forecast: &Forecast) -> Vec<String> {
    let value = needs.estimated.estimate.map_or(f64::NAN, |estimate| estimate.value);
    let number = |number: Option<f64>| number.map_or_else(|| "–".to_owned(), digits);
    vec![
        format!("  {}", name(needs)),
        digits(value),
        digits(forecast.deviation),
        number(forecast.half_width),
        number(forecast.power),
        number(forecast.wanted.map(|(wanted, _)| wanted)),
        forecast.wanted.map_or_else(|| "–".to_owned(), |(_, seeds)| seeds_text(seeds, Looks::Once)),
        if forecast.power.is_some() { seeds_text(forecast.needed, Looks::Once) } else { "–".to_owned() },
    ]
}

fn seeds_text(seeds: Option<usize>, looks: Looks) -> String {
    seeds.map_or_else(|| format!("> {}", looks.most()), |seeds| seeds.to_string())
}

/// The claim's id, with its masked condition where it is answered for each.
fn name(needs: &SeedNeeds) -> String {
    match &needs.masked {
        Some(masked) => format!("{} ({})", needs.claim.id, masked.label()),
        None => needs.claim.id.clone(),
    }
}

fn no_forecast(why: &NoForecast) -> String {
    match why {
        NoForecast::NotTested(reason) => {
            format!("not tested ({}), which more data seeds alone do not change", reason_words(reason))
        }
        NoForecast::TooFewSeeds(seeds) => {
            format!("{} of these results measured it; a spread needs two or more", count(*seeds, "data seed"))
        }
        NoForecast::Alike => "its data seeds agree to the last digit, which says nothing of further ones".to_owned(),
        NoForecast::ShareOfRuns => {
            "a share of runs has no value for each data seed whose spread could be taken: no number of seeds is given"
                .to_owned()
        }
    }
}

fn in_json(needs: &SeedNeeds) -> Value {
    let estimate = needs.estimated.estimate;
    let mut value = json!({
        "claim": needs.claim.id,
        "masked": needs.masked.as_ref().map(ToString::to_string),
        "estimate": estimate.map(|estimate| estimate.value),
        "data_seeds": estimate.map(|estimate| estimate.data_seeds),
        "interval": needs.interval.map(|it| [it.low, it.high]),
    });
    match &needs.forecast {
        Ok(forecast) => {
            value["spread"] = json!(forecast.deviation);
            value["half_width"] = json!(forecast.half_width);
            value["half_width_wanted"] = json!(forecast.wanted.map(|(wanted, _)| wanted));
            value["seeds_for_half_width"] = json!(forecast.wanted.and_then(|(_, seeds)| seeds));
            value["power"] = json!(forecast.power);
            value["seeds_for_power"] = json!(forecast.needed);
        }
        Err(why) => value["why"] = json!(no_forecast(why)),
    }
    value
}

/// The primary claims of a study that is under way, by the data seeds all of whose cells are done.
pub struct ClaimsNow {
    look: Look,
    /// Of a study that plans itself: why it stopped, or what comes next.
    next_step: String,
}

impl ClaimsNow {
    /// `None` where the study has no primary claims, or no data seed is complete.
    pub fn read(folder: &StudyFolder, cache: &mut ReadCache) -> Result<Option<ClaimsNow>> {
        let look = Look::at(&Study::open_cached(&folder.path, cache)?);
        Ok(look.map(|look| ClaimsNow { next_step: next_step(&look, &folder.plan), look }))
    }

    /// Its lines: `  knowledge-crosses  0.49 [0.32, 0.65]  inconclusive, some 7 data seeds needed`.
    pub fn in_words(&self) -> Vec<String> {
        let complete = format!("{} of {} complete", self.look.complete.len(), count(self.look.planned, "data seed"));
        let mut lines =
            vec![format!("primary claims, with intervals that are valid after each data seed ({complete}):")];
        let rows: Vec<Vec<String>> = self.look.needs.iter().map(status_row).collect();
        lines.push(table::texts(&rows, terminal::width(To::Out)));
        lines.extend((!self.next_step.is_empty()).then(|| self.next_step.clone()));
        lines
    }

    pub fn in_json(&self) -> Value {
        let claim = |needs: &SeedNeeds| {
            let mut value = in_json(needs);
            value["verdict"] = json!(needs.verdict.name());
            value
        };
        json!({
            "data_seeds_complete": self.look.complete.len(),
            "next_step": self.next_step,
            "looks": [sequential::LOOKS.start(), sequential::LOOKS.end()],
            "claims": self.look.needs.iter().map(claim).collect::<Vec<_>>(),
        })
    }
}

fn status_row(needs: &SeedNeeds) -> Vec<String> {
    let shown = needs.estimated.estimate.map(|own| Estimate { interval: needs.interval, of_two: None, ..own });
    let value = shown.map_or_else(|| "–".to_owned(), |shown| shown.to_string());
    let likely = match &needs.forecast {
        _ if needs.verdict.is_decided() => String::new(),
        Err(NoForecast::NotTested(reason)) => format!(" ({})", reason_words(reason)),
        Err(_) => String::new(),
        Ok(forecast) if forecast.power.is_none() && forecast.needed.is_none() => String::new(),
        Ok(forecast) => match forecast.needed {
            Some(seeds) => format!("; likely to need {}", count(seeds, "data seed")),
            None => format!("; likely to need more than {}", count(Looks::AfterEachSeed.most(), "data seed")),
        },
    };
    let verdict = match &needs.verdict {
        Verdict::NotTested(_) if shown.is_some_and(|shown| shown.data_seeds < SEEDS) => "not tested yet",
        verdict => verdict.name(),
    };
    vec![format!("  {}", name(needs)), value, format!("{verdict}{likely}")]
}
