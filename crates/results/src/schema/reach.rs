//! Reachability of descriptors: who reaches which of them, and how they are counted.

use crate::UnknownName;
use crate::schema::names::{part, recorded};
use std::fmt;
use std::str::FromStr;

/// Reachability of descriptors after `<T0:B> subject copula`, or as the language's word order has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reach {
    /// Whose probabilities.
    pub scorer: Scorer,
    /// The descriptors that count.
    pub targets: Targets,
    /// Of the symbols that are masked in another language; what is masked in the condition itself is not marked.
    pub masked_elsewhere: bool,
    /// How they are counted.
    pub statistic: Statistic,
    /// K as a share of |V|; log-probability has none.
    pub top: Option<Fraction>,
    /// Whether the boundary after the last piece must be reachable too.
    pub boundary: bool,
}

recorded! {
    /// Who gives the probabilities.
    Scorer {
        Network = "network": "the model",
        Unigram = "unigram": "a unigram model of the training text",
        Bigram = "bigram": "a bigram model of the training text",
    }
}

recorded! {
    /// Three sets of descriptors, equally many of each, and the contrasts, which have words of their own.
    Targets {
        Allowed = "allowed": "descriptors that Γ allows the subject",
        Forbidden = "forbidden": "descriptors of the subject's own properties that Γ forbids it",
        Other = "other": "descriptors of other classes",
        Facts = "facts": "contrast: a word of a subject Γ allows it, less the same word of one of its class Γ forbids it",
        Types = "types": "contrast: a word of a subject Γ allows it, less the same word of one of another class",
    }
}

impl Targets {
    /// The three sets themselves.
    pub const SETS: [Targets; 3] = [Targets::Allowed, Targets::Forbidden, Targets::Other];

    /// What a contrast subtracts from the allowed targets; `None` for a set.
    pub fn against(self) -> Option<Targets> {
        match self {
            Targets::Facts => Some(Targets::Forbidden),
            Targets::Types => Some(Targets::Other),
            _ => None,
        }
    }
}

recorded! {
    /// How the targets of a subject are counted.
    Statistic {
        Any = "any": "share of subjects with any reachable target (the paper's reading)",
        Share = "share": "share of targets reachable",
        LogProb = "logprob": "mean log-probability of a target's pieces, in nats",
    }
}

/// A share of |V|, in ten-thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fraction(u32);

impl Fraction {
    /// The paper's K: 0.1 |V|.
    pub const PAPER: Fraction = Fraction(1000);

    /// The shares that are recorded.
    pub const ALL: [Fraction; 4] = [Fraction(100), Fraction(200), Fraction(500), Fraction::PAPER];

    /// As a number from 0 to 1.
    pub fn value(self) -> f64 {
        f64::from(self.0) / 10_000.0
    }

    /// K for a vocabulary: rounded up.
    ///
    /// ```
    /// assert_eq!(invitro_results::Fraction::PAPER.of(2048), 205);
    /// ```
    pub fn of(self, vocab: usize) -> u32 {
        (u64::from(self.0) * vocab as u64).div_ceil(10_000) as u32
    }
}

const MASKED: &str = "_masked";
const BOUNDARY: &str = "_boundary";

impl fmt::Display for Fraction {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        self.value().fmt(out)
    }
}

impl FromStr for Fraction {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Fraction, UnknownName> {
        let value: f64 = text.parse().map_err(|_| UnknownName(text.to_owned()))?;
        let fraction = Fraction((value * 10_000.0).round() as u32);
        let exact = (fraction.value() - value).abs() < 1e-12 && fraction.0 <= 10_000;
        exact.then_some(fraction).ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// `network.allowed_masked.share_boundary@0.1`
impl fmt::Display for Reach {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let masked = if self.masked_elsewhere { MASKED } else { "" };
        let boundary = if self.boundary { BOUNDARY } else { "" };
        write!(out, "{}.{}{masked}.{}{boundary}", self.scorer, self.targets, self.statistic)?;
        self.top.map_or(Ok(()), |top| write!(out, "@{top}"))
    }
}

impl FromStr for Reach {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Reach, UnknownName> {
        let unknown = || UnknownName(name.to_owned());
        let (scorer, rest) = name.split_once('.').ok_or_else(unknown)?;
        let (targets, rest) = rest.split_once('.').ok_or_else(unknown)?;
        let (statistic, top) = rest.split_once('@').map_or((rest, None), |(statistic, top)| (statistic, Some(top)));
        let marked = |name: &'_ str, mark: &str| name.strip_suffix(mark).map(str::to_owned);
        let (plain_targets, plain_statistic) = (marked(targets, MASKED), marked(statistic, BOUNDARY));
        Ok(Reach {
            scorer: part(scorer, name)?,
            masked_elsewhere: plain_targets.is_some(),
            targets: part(plain_targets.as_deref().unwrap_or(targets), name)?,
            boundary: plain_statistic.is_some(),
            statistic: part(plain_statistic.as_deref().unwrap_or(statistic), name)?,
            top: top.map(str::parse).transpose()?,
        })
    }
}
