//! How many data seeds the primary claims of a study are likely to need, by the spread between those that it has.
//!
//! Data seeds are the sample: intervals here are over data seeds alone, and model seeds only make their values less noisy.

use super::claim::{Claim, Claims, Test};
use super::estimate::Estimated;
use super::looks::Looks;
use super::scope::Scope;
use super::verdict::{Expectation, LEVEL, Reason, SEEDS, Verdict, holm};
use crate::{Condition, Study};
use invitro_stats::Interval;
use invitro_stats::power::{fewest, power};

/// The power that a study is planned for.
pub const POWER: f64 = 0.8;

/// What is asked of a pilot's results.
#[derive(Debug, Clone)]
pub struct Question<'a> {
    /// The data seeds that are planned.
    pub planned: usize,
    /// The half-width that intervals should have; without it each claim has its own.
    pub half_width: Option<f64>,
    /// When results are looked at.
    pub looks: Looks,
    /// These runs alone, by their places.
    pub only: Option<&'a [usize]>,
}

/// A primary claim, or one of the claims that decide it, and how many data seeds it is likely to need.
#[derive(Debug, Clone)]
pub struct SeedNeeds {
    /// The claim.
    pub claim: Claim,
    /// The masked condition it is answered for, where it is for each.
    pub masked: Option<Condition>,
    /// The estimate.
    pub estimated: Estimated,
    /// Its 95 % interval over data seeds alone.
    pub interval: Option<Interval>,
    /// The verdict over data seeds alone, all primary claims adjusted together.
    pub verdict: Verdict,
    /// That of the primary claim: of one that others decide, all of them together.
    pub of_whole: Verdict,
    /// What more data seeds are likely to give.
    pub forecast: Result<Forecast, NoForecast>,
}

/// What more data seeds are likely to give.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    /// The standard deviation between data seeds, in units of the estimate.
    pub deviation: f64,
    /// The half-width of the 95 % interval over the data seeds planned; `None` where there is no look after so many.
    pub half_width: Option<f64>,
    /// The half-width that is wanted, and the fewest data seeds that are likely to give it, unless more than
    /// [`Looks::most`].
    pub wanted: Option<(f64, Option<usize>)>,
    /// The probability that the claim is decided by the data seeds planned, if the estimate is the truth.
    pub power: Option<f64>,
    /// The fewest data seeds with a power of [`POWER`], unless more than [`Looks::most`].
    pub needed: Option<usize>,
}

/// Why there is no forecast.
#[derive(Debug, Clone, PartialEq)]
pub enum NoForecast {
    /// The claim cannot be tested, however many data seeds there are.
    NotTested(Reason),
    /// There are fewer than two data seeds.
    TooFewSeeds(usize),
    /// Data seeds agree to the last digit.
    Alike,
    /// The value is a share of runs, whose error has another rule than that of a mean.
    ShareOfRuns,
}

/// The needs of each primary claim, in the order of the claims; of one that others decide, those of the others.
pub fn seed_needs(study: &Study, claims: &Claims, question: &Question) -> Vec<SeedNeeds> {
    let masked: Vec<Condition> = study.masked().cloned().collect();
    let mut needs: Vec<SeedNeeds> = Vec::new();
    // The places of what decides each primary claim.
    let mut primary: Vec<Vec<usize>> = Vec::new();
    for claim in claims.claims.iter().filter(|claim| claim.primary) {
        for of_claim in claim.scopes(&masked) {
            let first = needs.len();
            for part in claims.deciding(claim) {
                let scopes = if of_claim.is_some() { vec![of_claim] } else { part.scopes(&masked) };
                needs.extend(scopes.into_iter().map(|masked| SeedNeeds::new(study, part, masked, question)));
            }
            primary.push((first..needs.len()).collect());
        }
    }
    let looks = question.looks;
    let verdict_of = |needs: &SeedNeeds, alpha: f64| looks.verdict(&needs.claim, &needs.estimated, alpha);
    let verdict = |place: usize, alpha: f64| {
        Verdict::all(&primary[place].iter().map(|&it| verdict_of(&needs[it], alpha)).collect::<Vec<_>>())
    };
    let levels = holm(primary.len(), verdict);
    let tested = (0..primary.len()).filter(|place| !matches!(verdict(*place, LEVEL), Verdict::NotTested(_))).count();
    let of_wholes: Vec<Verdict> = levels.iter().enumerate().map(|(place, alpha)| verdict(place, *alpha)).collect();
    for ((places, alpha), of_whole) in primary.iter().zip(levels).zip(of_wholes) {
        for &place in places {
            needs[place].verdict = verdict_of(&needs[place], alpha);
            needs[place].of_whole = of_whole.clone();
            needs[place].set_power(LEVEL / tested.max(1) as f64, question);
        }
    }
    needs
}

impl SeedNeeds {
    fn new(study: &Study, claim: &Claim, masked: Option<&Condition>, question: &Question) -> SeedNeeds {
        let scope = Scope { masked, only: question.only, ..Scope::new(study) };
        let Test::Estimand(estimand) = &claim.test else { unreachable!("others decide it") };
        let estimated = scope.estimate(estimand);
        let forecast = forecast(claim, &estimated, question);
        let interval = question.looks.interval(&estimated, LEVEL);
        let (claim, masked) = (claim.clone(), masked.cloned());
        let (verdict, of_whole) = (Verdict::Inconclusive, Verdict::Inconclusive);
        SeedNeeds { claim, masked, estimated, interval, verdict, of_whole, forecast }
    }

    fn set_power(&mut self, alpha: f64, question: &Question) {
        let (Ok(forecast), Some(expect), Some(spread)) =
            (&mut self.forecast, self.claim.expect, self.estimated.estimate.and_then(|estimate| estimate.spread))
        else {
            return;
        };
        let at = |seeds: usize| {
            let level = question.looks.level(alpha, seeds)?;
            let ranges = expect.deciding(self.claim.margin).into_iter();
            ranges.filter_map(|range| power(&spread, seeds, level, range)).reduce(f64::max)
        };
        forecast.power = at(question.planned).filter(|_| question.planned >= SEEDS);
        let most = question.looks.most();
        forecast.needed = fewest(SEEDS, most, |seeds| at(seeds).is_some_and(|power| power >= POWER));
    }
}

fn forecast(claim: &Claim, estimated: &Estimated, question: &Question) -> Result<Forecast, NoForecast> {
    let too_few = |seeds: usize| Err(NoForecast::TooFewSeeds(seeds));
    let estimate = match (&estimated.estimate, &estimated.reason) {
        (_, Some(Reason::TooFewSeeds(seeds))) => return too_few(*seeds),
        (Some(estimate), None) => estimate,
        (_, reason) => return Err(NoForecast::NotTested(reason.clone().unwrap_or(Reason::NotMeasured))),
    };
    if estimate.data_seeds < 2 {
        return too_few(estimate.data_seeds);
    }
    let spread = estimate.spread.and_then(|spread| spread.over_data_seeds()).ok_or(NoForecast::Alike)?;
    let deviation = spread.deviation().ok_or(NoForecast::ShareOfRuns)?;
    let half_width = |seeds: usize| {
        let level = question.looks.level(LEVEL, seeds)?;
        Some(spread.projected(seeds)?.interval(estimate.value, level).half_width())
    };
    let wanted = question.half_width.or_else(|| wanted(claim, estimate.value)).filter(|wanted| *wanted > 0.0);
    let seeds_for = |wanted: f64| {
        fewest(SEEDS, question.looks.most(), |seeds| half_width(seeds).is_some_and(|half| half <= wanted))
    };
    Ok(Forecast {
        deviation,
        half_width: half_width(question.planned),
        wanted: wanted.map(|wanted| (wanted, seeds_for(wanted))),
        power: None,
        needed: None,
    })
}

/// The half-width that a claim calls for: half of the distance between the estimate and what it is compared with; the
/// margin, where the two are expected to be equal.
fn wanted(claim: &Claim, value: f64) -> Option<f64> {
    Some(match claim.expect? {
        Expectation::Within(margin) => margin,
        Expectation::Value(_) if claim.margin > 0.0 => claim.margin,
        expect => (value - expect.neutral()).abs() / 2.0,
    })
}
