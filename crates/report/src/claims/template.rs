//! Pages with places for claims. A file names studies, estimates of them and pages; a place such as
//! `{{facts.crossed@256,0:value}}` in a page's template becomes a number of the tables.
//!
//! ```toml
//! results = "../results"
//!
//! [[pages]]
//! template = "findings.md.in"
//! page = "findings.md"
//!
//! [facts]
//! crossed = { mean = "contrast.facts", by = ["tokenizer.vocab", "language.distance"], expect = "above 0", verdict = "supported" }
//! ```
//!
//! An estimate is written as `estimate` of a claim, with `expect`, `margin` and `by` beside its keys. `verdict` is what the text
//! takes for granted: where the tables say otherwise, filling fails. A place may also name a claim of the study.
//!
//! | place | becomes |
//! |---|---|
//! | `{{study.id}}` | the estimate with its interval: `0.52 [0.51, 0.53]` |
//! | `{{study.id@256,0}}` | the same at these levels of what it is broken down by |
//! | `:value`, `:value3` | the number alone, with 2 or 3 decimals |
//! | `:verdict`, `:verdict4` | the estimate and the verdict, with more decimals |
//! | `:word` | the verdict alone |
//! | `:inflation` | the variance inflation factor that keeps an effect from being tested |
//! | `:or-none` | the estimate, or `none` where it is exactly 0 |
//! | `:runs`, `:words`, `:r2`, `:first`, `:last` | counts, R² of a regression over words, the first and the last step |
//! | `:least3`, `:most3` | the smallest and the largest value of the levels |
//! | `:readings`, `:supported`, …, `:without` | how many readings there are, with a verdict, or without an estimate |
//! | `:low`, `:high`, `:clear` | the lowest and highest estimate of readings, and how many exclude the neutral value |
//! | `:supported K=0.1 counted=share` | the same among the readings that choose this |
//! | `{{study:ended}}`, `:planned`, `:seeds`, `:setting KEY` | of the study; `{{all:ended}}` of all of them |

use super::ClaimAnswers;
use super::rendered::reason_words;
use crate::error::{Error, Result};
use invitro_results::Study;
use invitro_results::claims::{Answer, Claims, Estimated, LevelAnswer, Reason, Specification, Verdict, answer};
use invitro_stats::{Estimate, Interval, decimals, grouped};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// A page that was filled.
pub struct Page {
    pub path: PathBuf,
    /// Its whole text.
    pub text: String,
}

/// Fills every page that the file names.
pub fn fill(file: &Path) -> Result<Vec<Page>> {
    let wrong = |why: String| Error::Template { path: file.to_owned(), why };
    let text = std::fs::read_to_string(file).map_err(|why| wrong(why.to_string()))?;
    let mut table: Table = text.parse().map_err(|why: toml::de::Error| wrong(why.to_string()))?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let take = |table: &mut Table, key: &str| table.remove(key).ok_or_else(|| wrong(format!("`{key}` is missing")));
    let results = folder.join(take(&mut table, "results")?.as_str().unwrap_or_default());
    let pages = take(&mut table, "pages")?;
    let mut filler = Filler { studies: BTreeMap::new(), wrong: Vec::new(), used: BTreeSet::new() };
    for (name, estimates) in table {
        let Value::Table(estimates) = estimates else { return Err(wrong(format!("`{name}` is not a table"))) };
        let study = Study::open(&results.join(&name))?;
        filler.studies.insert(name, Filled::new(study, estimates).map_err(wrong)?);
    }
    let mut filled = Vec::new();
    for page in pages.as_array().into_iter().flatten() {
        let name = |key: &str| page.get(key).and_then(Value::as_str);
        let (Some(template), Some(path)) = (name("template"), name("page")) else {
            return Err(wrong("a page needs `template` and `page`".into()));
        };
        let read = |name: &str| {
            let path = folder.join(name);
            std::fs::read_to_string(&path).map_err(|why| wrong(format!("`{}`: {why}", path.display())))
        };
        let own = filler.fill(&read(template)?);
        let text = match name("section") {
            None => own,
            Some(section) => {
                let page = read(path)?;
                let heading = format!("## {section}\n");
                let (before, rest) =
                    page.split_once(&heading).ok_or_else(|| wrong(format!("`{path}` has no section {section}")))?;
                format!("{before}{heading}{own}{}", &rest[rest.find("\n## ").unwrap_or(rest.len())..])
            }
        };
        filled.push(Page { path: folder.join(path), text });
    }
    filler.check();
    match filler.wrong.is_empty() {
        true => Ok(filled),
        false => Err(wrong(format!("\n{}", filler.wrong.join("\n")))),
    }
}

/// A study with the estimates that pages name.
struct Filled {
    study: Study,
    /// Each with the verdict that the text takes for granted.
    estimates: BTreeMap<String, (Answer, Option<String>)>,
    /// The study's own claims.
    answers: ClaimAnswers,
}

impl Filled {
    fn new(study: Study, table: Table) -> std::result::Result<Filled, String> {
        let (mut claims, mut expected) = (Vec::new(), BTreeMap::new());
        for (id, estimate) in table {
            let Value::Table(mut estimate) = estimate else { return Err(format!("`{id}` is not a table")) };
            let mut claim = Table::from_iter([
                ("id".to_owned(), Value::String(id.clone())),
                ("says".to_owned(), Value::String(String::new())),
            ]);
            for key in ["expect", "margin", "by"] {
                claim.extend(estimate.remove_entry(key));
            }
            let verdict = estimate.remove("verdict").and_then(|it| it.as_str().map(str::to_owned));
            expected.insert(id, verdict);
            claim.insert("estimate".to_owned(), Value::Table(estimate));
            claims.push(Value::Table(claim));
        }
        let file = Table::from_iter([("claims".to_owned(), Value::Array(claims))]);
        let claims = Claims::parse(&file.to_string()).map_err(|why| format!("{}: {why}", study.name))?;
        let estimates = answer(&study, &claims).into_iter().map(|answer| {
            let verdict = expected.remove(&answer.claim.id).flatten();
            (answer.claim.id.clone(), (answer, verdict))
        });
        Ok(Filled { estimates: estimates.collect(), answers: ClaimAnswers::new(&study), study })
    }

    fn answer(&self, id: &str) -> std::result::Result<&Answer, String> {
        let own = self.estimates.get(id).map(|(answer, _)| answer);
        own.or_else(|| self.answers.by_id(id)).ok_or_else(|| format!("no estimate or claim is called `{id}`"))
    }

    /// Placeholders of the study itself.
    fn counted(&self, format: &str) -> std::result::Result<String, String> {
        let ended = self.study.ended(&[]).count();
        Ok(match format.split_once(' ').unwrap_or((format, "")) {
            ("ended", _) => ended.to_string(),
            ("planned", _) => self.study.planned.unwrap_or(self.study.runs.len()).to_string(),
            ("seeds", _) => self.study.end_seeds().to_string(),
            ("setting", key) => match self.study.runs.first().and_then(|run| run.columns.get(key)) {
                Some(invitro_results::Value::Number(number)) if *number >= 1000.0 => grouped(*number),
                Some(value) => value.to_string(),
                None => return Err(format!("there is no setting `{key}`")),
            },
            _ => return Err(format!("`{format}` is no format of a study")),
        })
    }
}

struct Filler {
    studies: BTreeMap<String, Filled>,
    wrong: Vec<String>,
    /// The estimates that some page names.
    used: BTreeSet<(String, String)>,
}

impl Filler {
    fn fill(&mut self, template: &str) -> String {
        let mut text = String::new();
        let mut remaining = template;
        while let Some((before, place)) = remaining.split_once("{{") {
            let (place, after) = place.split_once("}}").unwrap_or((place, ""));
            text.push_str(before);
            match self.value(place) {
                Ok(value) => text.push_str(&value),
                Err(why) => self.wrong.push(format!("{{{{{place}}}}}: {why}")),
            }
            remaining = after;
        }
        text + remaining
    }

    fn value(&mut self, place: &str) -> std::result::Result<String, String> {
        let (name, format) = place.split_once(':').unwrap_or((place, ""));
        let (name, levels) = name.split_once('@').unwrap_or((name, ""));
        let Some((study, id)) = name.split_once('.') else {
            if name == "all" {
                let ended = self.studies.values().map(|it| it.study.ended(&[]).count()).sum::<usize>();
                return Ok(grouped(ended as f64));
            }
            return self.study(name)?.counted(format);
        };
        self.used.insert((study.to_owned(), id.to_owned()));
        let filled = self.study(study)?;
        let answer = filled.answer(id)?;
        match levels {
            "" => of_answer(answer, format),
            levels => of_estimate(cell(&filled.study, answer, levels)?, format, None),
        }
    }

    fn study(&self, name: &str) -> std::result::Result<&Filled, String> {
        self.studies.get(name).ok_or_else(|| format!("there is no study `{name}`"))
    }

    /// Whether the verdicts are as the text takes them, and every estimate is on some page or is there for its verdict.
    fn check(&mut self) {
        for (name, filled) in &self.studies {
            for (id, (answer, verdict)) in &filled.estimates {
                let own = answer.verdict.name();
                let number = answer.estimated.estimate.map_or(String::new(), |estimate| format!(": {estimate}"));
                match verdict {
                    Some(verdict) if verdict != own => {
                        self.wrong.push(format!("{name}.{id} is {own}, and the text takes it to be {verdict}{number}"));
                    }
                    None if !self.used.contains(&(name.clone(), id.clone())) => {
                        self.wrong.push(format!("{name}.{id} is on no page and has no verdict to check"));
                    }
                    _ => {}
                }
            }
        }
    }
}

/// The part of an answer at these levels, in the order of its factors.
fn cell<'a>(study: &Study, answer: &'a Answer, levels: &str) -> std::result::Result<&'a Estimated, String> {
    let wanted: Vec<&str> = levels.split(',').collect();
    let labels = |cell: &LevelAnswer| -> Vec<String> {
        cell.levels.iter().map(|(factor, level)| study.levels(*factor)[*level].clone()).collect()
    };
    let found = answer.cells.iter().find(|cell| labels(cell) == wanted);
    found.map(|cell| &cell.estimated).ok_or_else(|| format!("it has no levels {levels}"))
}

fn of_answer(answer: &Answer, format: &str) -> std::result::Result<String, String> {
    let (kind, filters) = format.split_once(' ').unwrap_or((format, ""));
    let meant: Vec<&Specification> = answer.specifications.iter().filter(|one| is_meant(one, filters)).collect();
    let with = |name: &str| meant.iter().filter(|one| one.verdict.name() == name).count().to_string();
    let values = || meant.iter().filter_map(|one| one.estimated.estimate);
    let cells = || answer.cells.iter().filter_map(|cell| cell.estimated.estimate).map(|it| it.value);
    let neutral = answer.claim.expect.map_or(0.0, |expect| expect.neutral());
    let is_clear = |it: &Estimate| it.interval.is_some_and(|it| !it.contains(neutral));
    let (stem, places) = split_places(kind);
    Ok(match stem {
        "readings" => (meant.len() + if filters.is_empty() { answer.without } else { 0 }).to_string(),
        "without" => answer.without.to_string(),
        "supported" | "contradicted" | "equivalent" | "inconclusive" => with(stem),
        "clear" => values().filter(is_clear).count().to_string(),
        "low" => decimals(values().map(|it| it.value).fold(f64::INFINITY, f64::min), places),
        "high" => decimals(values().map(|it| it.value).fold(f64::NEG_INFINITY, f64::max), places),
        "least" => decimals(cells().fold(f64::INFINITY, f64::min), places),
        "most" => decimals(cells().fold(f64::NEG_INFINITY, f64::max), places),
        _ => return of_estimate(&answer.estimated, format, Some(&answer.verdict)),
    })
}

/// Whether a reading made these choices: `K=0.1 counted=share read=end tokenizer.boundary=first`.
fn is_meant(one: &Specification, filters: &str) -> bool {
    filters.split_whitespace().filter_map(|filter| filter.split_once('=')).all(|(what, how)| {
        let own = match what {
            "K" => one.top.map(|top| top.to_string()),
            "counted" => one.counted.map(|counted| counted.to_string()),
            "read" => one.moment.map(|moment| moment.name()),
            "crossing" => one.crossing.map(|crossing| crossing.name().to_owned()),
            key => one.settings.iter().find(|(own, _)| own == key).map(|(_, value)| value.clone()),
        };
        own.as_deref() == Some(how)
    })
}

/// `value3` is a value with three decimals; two where no number says otherwise.
fn split_places(format: &str) -> (&str, usize) {
    let stem = format.trim_end_matches(|letter: char| letter.is_ascii_digit());
    if stem == "r" { (format, 2) } else { (stem, format[stem.len()..].parse().unwrap_or(2)) }
}

fn of_estimate(estimated: &Estimated, format: &str, verdict: Option<&Verdict>) -> std::result::Result<String, String> {
    let missing = || estimated.reason.as_ref().map_or_else(|| "there is no estimate".to_owned(), reason_words);
    let (stem, places) = split_places(format);
    match (stem, verdict, &estimated.reason) {
        ("verdict", Some(verdict), _) => return Ok(with_verdict(estimated, verdict, places)),
        ("word", Some(verdict), _) => return Ok(verdict.name().to_owned()),
        ("inflation", _, Some(Reason::Collinear(inflation))) => return Ok(decimals(*inflation, 1)),
        _ => {}
    }
    let estimate = estimated.estimate.ok_or_else(missing)?;
    let detail = &estimated.detail;
    let step = |place: usize| {
        detail.steps.map(|steps| grouped(f64::from(steps[place]))).ok_or_else(|| "it has no steps".to_owned())
    };
    Ok(match stem {
        "" => with_interval(&estimate, places).ok_or_else(|| "it has no interval".to_owned())?,
        "value" => decimals(estimate.value, places),
        "or-none" if estimate.value == 0.0 => "none".into(),
        "or-none" => with_interval(&estimate, places).ok_or_else(|| "it has no interval".to_owned())?,
        "runs" => estimate.runs.to_string(),
        "words" => grouped(detail.words as f64),
        "r2" => detail.regression.as_ref().map_or(String::new(), |it| decimals(it.clustered.r_squared, 3)),
        "first" => step(0)?,
        "last" => step(2)?,
        _ => return Err(format!("`{format}` is no format")),
    })
}

/// `0.24 [0.08, 0.38]: supported`, `2 runs: not tested`, `not varied`.
fn with_verdict(estimated: &Estimated, verdict: &Verdict, places: usize) -> String {
    match (verdict, &estimated.estimate) {
        (Verdict::NotTested(Reason::TooFewSeeds(_)), Some(estimate)) => {
            format!("{} runs: {}", estimate.runs, verdict.name())
        }
        (Verdict::NotTested(reason), None) => reason_words(reason),
        (_, Some(estimate)) => {
            format!(
                "{}: {}",
                with_interval(estimate, places).unwrap_or_else(|| decimals(estimate.value, places)),
                verdict.name()
            )
        }
        (_, None) => verdict.name().to_owned(),
    }
}

/// `0.52 [0.51, 0.53]`; with more decimals where a bound would be rounded to 0 from one side.
fn with_interval(estimate: &Estimate, places: usize) -> Option<String> {
    let Interval { low, high } = estimate.interval.filter(|_| estimate.of_two.is_none())?;
    let is_shown = |bound: f64, places| decimals(bound, places).contains(|next| matches!(next, '1'..='9'));
    let is_enough = |places: &usize| [low, high].iter().all(|&bound| bound == 0.0 || is_shown(bound, *places));
    let places = (places..=4).find(is_enough).unwrap_or(places);
    let [value, low, high] = [estimate.value, low, high].map(|value| decimals(value, places));
    Some(format!("{value} [{low}, {high}]"))
}
