//! Claims as their files state them: `[[claims]]` of a study file, of a file of claims, or of one that is built in.

use super::estimand::{Combined, Estimand, crossing, moment};
use super::fields::{ClaimError, Fields, Result, number, one_or_many, text, texts, unknown};
use super::verdict::{Expectation, MARGIN};
use super::{EstimandKind, names};
use crate::Measure;
use crate::{Condition, Crossing, Factor, Fraction, Moment, Statistic, Value};
use std::collections::{BTreeMap, HashSet};
use toml::Table;

/// The question of a study, and its claims.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Claims {
    /// What the study asks.
    pub question: Option<String>,
    /// What it expects.
    pub claims: Vec<Claim>,
}

/// One claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// Its name in files and links.
    pub id: String,
    /// The claim as a sentence; `{masked}`, `{target}`, `{source}`, `{majority}` and `{withheld}` are replaced by the
    /// study's own.
    pub says: String,
    /// How it is tested.
    pub test: Test,
    /// The expected estimate; without it there is no verdict.
    pub expect: Option<Expectation>,
    /// An estimate this close to what is expected is equivalent to it.
    pub margin: f64,
    /// Whether the study was made to answer it.
    pub primary: bool,
    /// Where it comes from.
    pub source: Option<String>,
    /// Whether it is answered for each masked condition.
    pub each: bool,
    /// The factors at each combination of whose levels it is answered too.
    pub by: Vec<Factor>,
    /// Other numbers to show beside the estimate.
    pub beside: Vec<Estimand>,
    /// The readings under which it is answered too.
    pub readings: Option<Readings>,
    /// The claim whose estimate is the truth that its own should find. Then the expected estimate is that of the error; its own and
    /// the truth are the first numbers beside it.
    pub against: Option<String>,
}

/// How a claim is tested.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// By an estimate.
    Estimand(Estimand),
    /// It holds where all of these claims do.
    All(Vec<String>),
}

/// Choices that were left open. A reading takes one of each list; an empty list leaves the claim's own.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Readings {
    /// When curves are read.
    pub moments: Vec<Moment>,
    /// K of reachability, as a share of |V|.
    pub tops: Vec<Fraction>,
    /// How reachable targets are counted.
    pub counted: Vec<Statistic>,
    /// Which crossing dates an emergence.
    pub crossings: Vec<Crossing>,
    /// Whether each combination of the study's further settings is a reading of its own.
    pub settings: bool,
}

/// The files of claims that are built in, by name.
pub const BUILT_IN: [(&str, &str); 2] =
    [("paper", include_str!("built_in/paper.toml")), ("standard", include_str!("built_in/standard.toml"))];

/// A file of claims that is built in.
pub fn built_in(name: &str) -> Result<Claims> {
    let (_, text) = BUILT_IN
        .iter()
        .find(|(own, _)| *own == name)
        .ok_or_else(|| unknown(name, "a built-in file of claims", BUILT_IN.map(|(name, _)| name)))?;
    Claims::parse(text)
}

impl Claims {
    /// The claims of a file. It may be a study file: other tables of it are passed over.
    pub fn parse(text: &str) -> Result<Claims> {
        let mut file: Table = text.parse().map_err(|error: toml::de::Error| ClaimError(error.message().to_owned()))?;
        let strange = file.keys().find(|key| !KEYS.contains(&key.as_str()) && !STUDY_KEYS.contains(&key.as_str()));
        if let Some(key) = strange {
            return Err(unknown(key, "a known key", KEYS));
        }
        file.retain(|key, _| KEYS.contains(&key));
        Claims::from_table(file)
    }

    /// The claims of the keys [`KEYS`] of a file.
    pub(crate) fn from_table(table: Table) -> Result<Claims> {
        let mut fields = Fields::new(toml::Value::Table(table))?;
        let question = fields.text("question")?;
        let mut claims = Vec::new();
        for name in fields.parse("claims_from", texts)?.unwrap_or_default() {
            claims.extend(built_in(&name)?.claims);
        }
        let primary = fields.parse("primary", texts)?.unwrap_or_default();
        for (place, own) in fields.take("claims").map(one_or_many).unwrap_or_default().into_iter().enumerate() {
            claims.push(Claim::parse(own, place)?);
        }
        fields.finish()?;
        let ids: Vec<String> = claims.iter().map(|claim| claim.id.clone()).collect();
        let known = |id: &String| match ids.contains(id) {
            true => Ok(()),
            false => Err(unknown(id, "the id of a claim", ids.iter().map(String::as_str))),
        };
        primary.iter().try_for_each(known)?;
        let mut seen = HashSet::new();
        if let Some(twice) = ids.iter().find(|id| !seen.insert(*id)) {
            return Err(ClaimError(format!("two claims have the id `{twice}`")));
        }
        for claim in &mut claims {
            claim.primary |= primary.contains(&claim.id);
            if let Test::All(parts) = &claim.test {
                let named = |ClaimError(why)| ClaimError(format!("the claim `{}`: {why}", claim.id));
                parts.iter().try_for_each(known).map_err(named)?;
            }
        }
        for place in 0..claims.len() {
            let Some(id) = claims[place].against.clone() else { continue };
            let named = |ClaimError(why)| ClaimError(format!("the claim `{}`: `against`: {why}", claims[place].id));
            known(&id).map_err(named)?;
            let truth = claims.iter().find(|other| other.id == id).expect("it is known");
            let (Test::Estimand(truth), None) = (&truth.test, &truth.against) else {
                return Err(named(ClaimError(format!("`{id}` has no estimate of its own"))));
            };
            let truth = truth.clone();
            claims[place].compare(truth);
        }
        Ok(Claims { question, claims })
    }
}

impl Claims {
    /// Whether every setting that a claim names is one of these, and its levels are too.
    pub(crate) fn check_settings(&self, known: &BTreeMap<String, Vec<Value>>) -> Result<()> {
        for claim in &self.claims {
            let named = |ClaimError(why)| ClaimError(format!("the claim `{}`: {why}", claim.id));
            let Test::Estimand(estimand) = &claim.test else { continue };
            let settings = estimand.settings().into_iter().chain(claim.by.iter().map(|factor| (*factor, Vec::new())));
            for (factor, levels) in settings.filter(|(factor, _)| ![Factor::SPOKEN, Factor::LANGUAGES].contains(factor))
            {
                let Some(own) = known.get(factor.key()) else {
                    return Err(named(unknown(factor.key(), "a setting", known.keys().map(String::as_str))));
                };
                let names: Vec<String> = own.iter().map(ToString::to_string).collect();
                let strange = levels.iter().map(ToString::to_string).find(|level| !names.contains(level));
                if let Some(level) = strange {
                    let what = format!("a level of {}", factor.key());
                    return Err(named(unknown(&level, &what, names.iter().map(String::as_str))));
                }
            }
        }
        Ok(())
    }
}

/// The keys of a file that claims are made of.
pub(crate) const KEYS: [&str; 4] = ["question", "claims_from", "primary", "claims"];

/// Other keys of study files.
const STUDY_KEYS: [&str; 8] = ["name", "base", "where", "experiment", "factors", "grids", "seeds", "until"];

impl Claims {
    /// The claims that decide one: itself, or those that must all hold.
    pub(super) fn deciding<'c>(&'c self, claim: &'c Claim) -> Vec<&'c Claim> {
        match &claim.test {
            Test::Estimand(_) => vec![claim],
            Test::All(ids) => {
                let parts = self.claims.iter().filter(|other| ids.contains(&other.id) && other.id != claim.id);
                parts.flat_map(|part| self.deciding(part)).collect()
            }
        }
    }
}

impl Claim {
    /// The masked conditions that it is answered for: each, or `None` for all of them together.
    pub(super) fn scopes<'c>(&self, masked: &'c [Condition]) -> Vec<Option<&'c Condition>> {
        if self.each && !masked.is_empty() { masked.iter().map(Some).collect() } else { vec![None] }
    }

    /// Puts the error against a truth in the place of the estimate, and both beside it.
    fn compare(&mut self, truth: Estimand) {
        let Test::Estimand(own) = &mut self.test else { unreachable!("checked when it was parsed") };
        let (of, less) = (own.clone(), Some(truth.clone()));
        self.beside.splice(0..0, [of.clone(), truth]);
        *own = Combined { of, times: None, less }.estimand();
    }

    fn parse(value: toml::Value, place: usize) -> Result<Claim> {
        let id = value.get("id").and_then(toml::Value::as_str).map(str::to_owned);
        let name =
            id.as_ref().map_or_else(|| format!("the claim at place {}", place + 1), |id| format!("the claim `{id}`"));
        Claim::parse_fields(value).map_err(|ClaimError(why)| ClaimError(format!("{name}: {why}")))
    }

    fn parse_fields(value: toml::Value) -> Result<Claim> {
        let mut fields = Fields::new(value)?;
        let needed = |key: &str, value: Option<String>| value.ok_or_else(|| ClaimError(format!("`{key}` is missing")));
        let id = needed("id", fields.text("id")?)?;
        let says = needed("says", fields.text("says")?)?;
        let estimate = fields.take("estimate");
        let in_estimate = |ClaimError(why)| ClaimError(format!("`estimate`: {why}"));
        let test = match (&estimate, fields.parse("all", texts)?) {
            (Some(estimate), None) => Test::Estimand(Estimand::parse(estimate.clone()).map_err(in_estimate)?),
            (None, Some(parts)) if !parts.is_empty() => Test::All(parts),
            _ => return Err(ClaimError("it must have either `estimate` or `all`, a list of claims".into())),
        };
        let expect = fields.parse("expect", Expectation::parse)?;
        let margin = fields.parse("margin", |value| number(&value))?;
        let is_standardised =
            |it: &Estimand| matches!(it.kind, EstimandKind::Effect(_) | EstimandKind::Correlation { .. });
        let own = matches!(&test, Test::Estimand(estimand) if is_standardised(estimand));
        let table = estimate.and_then(|value| value.as_table().cloned()).unwrap_or_default();
        let beside = fields.take("beside").map(one_or_many).unwrap_or_default().into_iter().map(|over| match over {
            toml::Value::Table(over) => Estimand::overlaid(table.clone(), over),
            other => Err(ClaimError(format!("{other} must be a table"))),
        });
        let beside = beside.collect::<Result<_>>().map_err(|ClaimError(why)| ClaimError(format!("`beside`: {why}")))?;
        let claim = Claim {
            id,
            says,
            test,
            expect,
            margin: margin.unwrap_or(if own { MARGIN } else { 0.0 }),
            primary: fields.flag("primary")?,
            source: fields.text("source")?,
            each: fields.flag("each")?,
            by: fields.parse("by", texts)?.unwrap_or_default().iter().map(|key| Factor::new(key)).collect(),
            beside,
            readings: fields.parse("readings", Readings::parse)?,
            against: fields.text("against")?,
        };
        fields.finish()?;
        let is_combined =
            matches!(&claim.test, Test::Estimand(estimand) if matches!(estimand.kind, EstimandKind::Combined(_)));
        match (&claim.against, &claim.readings) {
            (Some(_), _) if matches!(claim.test, Test::All(_)) => {
                return Err(ClaimError("`against` needs an `estimate`".into()));
            }
            (against, Some(_)) if is_combined || against.is_some() => {
                return Err(ClaimError("`readings` cannot be with `times`, `less` or `against`".into()));
            }
            _ => {}
        }
        Ok(claim)
    }
}

impl Readings {
    fn parse(value: toml::Value) -> Result<Readings> {
        let mut fields = Fields::new(value)?;
        let top = |value: toml::Value| {
            let (top, known) = (number(&value)?, Fraction::ALL.map(|known| known.to_string()));
            let found = Fraction::ALL.into_iter().find(|known| known.value() == top);
            found.ok_or_else(|| unknown(&top.to_string(), "a K that is recorded", known.iter().map(String::as_str)))
        };
        let statistic = |value: toml::Value| {
            let name = text(value)?;
            let known = [Statistic::Any, Statistic::Share].into_iter().find(|it| it.name() == name);
            known.ok_or_else(|| unknown(&name, "a way to count targets", ["any", "share"]))
        };
        let readings = Readings {
            moments: list(&mut fields, "moment", |value| moment(Value::from(&value)))?,
            tops: list(&mut fields, "K", top)?,
            counted: list(&mut fields, "counted", statistic)?,
            crossings: list(&mut fields, "crossing", |value| crossing(&text(value)?))?,
            settings: fields.flag("settings")?,
        };
        fields.finish()?;
        Ok(readings)
    }
}

fn list<T>(fields: &mut Fields, key: &'static str, one: impl Fn(toml::Value) -> Result<T>) -> Result<Vec<T>> {
    Ok(fields.parse(key, |value| one_or_many(value).into_iter().map(&one).collect())?.unwrap_or_default())
}

impl Claim {
    /// All measures that it reads.
    pub fn measures(&self) -> impl Iterator<Item = Measure> {
        let own = match &self.test {
            Test::Estimand(estimand) => Some(estimand),
            Test::All(_) => None,
        };
        own.into_iter().chain(&self.beside).flat_map(Estimand::measures)
    }

    /// The claim's own measure as claims name it, for figures and messages.
    pub fn measure(&self) -> Option<String> {
        match &self.test {
            Test::Estimand(estimand) => Some(names::alias(estimand.value.first.measures[0])),
            Test::All(_) => None,
        }
    }
}
