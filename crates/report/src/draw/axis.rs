//! Axes: a scale, its ticks, and a label.

/// How values map to a place from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AxisScale {
    Linear {
        low: f64,
        high: f64,
    },
    /// Equal steps for equal factors; values at or below 0 go to the low end.
    Log {
        low: f64,
        high: f64,
    },
    /// So many levels side by side, level i at i.
    Levels(usize),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    pub label: String,
    pub scale: AxisScale,
    pub ticks: Vec<(f64, String)>,
}

impl Axis {
    /// From `low` to `high`, with round ticks.
    pub fn linear(label: impl Into<String>, low: f64, high: f64) -> Self {
        let (low, high) = if high > low { (low, high) } else { (low - 0.5, low + 0.5) };
        let ticks = round_ticks(low, high, 4).into_iter().map(|value| (value, number(value))).collect();
        Self { label: label.into(), scale: AxisScale::Linear { low, high }, ticks }
    }

    /// Wide enough for the values, from 0 where they come near it.
    pub fn around(label: impl Into<String>, values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = range(values);
        if low >= 0.0 && low < 0.5 * high {
            Self::linear(label, 0.0, high + 0.05 * high)
        } else {
            Self::padded(label, low, high)
        }
    }

    /// Wide enough for the values and no wider.
    pub fn tight(label: impl Into<String>, values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = range(values);
        Self::padded(label, low, high)
    }

    fn padded(label: impl Into<String>, low: f64, high: f64) -> Self {
        let room =
            if high - low > 1e-9 * high.abs().max(1e-6) { 0.06 * (high - low) } else { 0.05 * low.abs().max(0.1) };
        Self::linear(label, low - room, high + room)
    }

    /// A share, from 0 to 1.
    pub fn share(label: impl Into<String>) -> Self {
        Self::linear(label, 0.0, 1.0)
    }

    /// Training steps from 0 to `last`.
    pub fn steps(last: u32) -> Self {
        Self::progress("step", f64::from(last.max(1)))
    }

    /// Training progress from 0 to `last`, in steps or in tokens.
    pub fn progress(label: impl Into<String>, last: f64) -> Self {
        let ticks = round_ticks(0.0, last, 3).into_iter().map(|value| (value, thousands(value))).collect();
        Self { label: label.into(), scale: AxisScale::Linear { low: 0.0, high: last }, ticks }
    }

    /// Training progress by powers, from `first` to `last`. What was measured before any training has a place of its own
    /// at the left edge, which powers never come to.
    pub fn log_progress(label: impl Into<String>, first: f64, last: f64, zero: bool) -> Self {
        let (first, high) = (first.max(1.0).min(last / 2.0), last.max(2.0));
        let low = if zero { first / (high / first).powf(0.1) } else { first };
        let mut ticks: Vec<(f64, String)> = zero.then(|| (0.0, "0".to_owned())).into_iter().collect();
        let decades = (0..).map(|power| 10f64.powi(power)).take_while(|decade| *decade <= high);
        let values = decades.flat_map(|decade| [1.0, 2.0, 5.0].map(|part| decade * part));
        let inside = values.filter(|value| *value >= first * 0.999 && *value <= high * 1.001);
        ticks.extend(inside.map(|value| (value, thousands(value))));
        Self { label: label.into(), scale: AxisScale::Log { low, high }, ticks }
    }

    pub fn levels(label: impl Into<String>, labels: impl IntoIterator<Item = String>) -> Self {
        let ticks: Vec<_> = labels.into_iter().enumerate().map(|(place, label)| (place as f64, label)).collect();
        Self { label: label.into(), scale: AxisScale::Levels(ticks.len()), ticks }
    }

    pub fn place(&self, value: f64) -> f64 {
        match self.scale {
            AxisScale::Linear { low, high } => (value - low) / (high - low),
            AxisScale::Log { low, high } => (value.max(low).ln() - low.ln()) / (high.ln() - low.ln()),
            AxisScale::Levels(count) => (value + 0.5) / count.max(1) as f64,
        }
    }
}

/// The smallest and the largest, or 0 and 1 where there is no value.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let wider = |(low, high): (f64, f64), value: f64| (low.min(value), high.max(value));
    let (low, high) = values.filter(|value| value.is_finite()).fold((f64::MAX, f64::MIN), wider);
    if low > high { (0.0, 1.0) } else { (low, high) }
}

/// The round number nearest to a step: 1, 2, 2.5 or 5 times a power of ten.
fn round_step(rough: f64) -> f64 {
    let power = 10f64.powf(rough.log10().floor());
    let nearest = [(1.4, 1.0), (2.25, 2.0), (3.2, 2.5), (7.0, 5.0)];
    let part = nearest.iter().find(|(below, _)| rough / power < *below).map_or(10.0, |(_, part)| *part);
    power * part
}

fn round_ticks(low: f64, high: f64, about: usize) -> Vec<f64> {
    let step = round_step((high - low) / about as f64);
    let first = (low / step - 1e-6).ceil() as i64;
    let last = (high / step + 1e-6).floor() as i64;
    (first..=last).map(|tick| tick as f64 * step).collect()
}

/// As few digits as say it: 0.25, 1, 1.5, -0.01.
fn number(value: f64) -> String {
    let rounded = (value * 1e6).round() / 1e6;
    let text = format!("{}", if rounded == 0.0 { 0.0 } else { rounded });
    text.replace('-', "−")
}

/// `10k` for 10,000; `2.5k` for 2,500; `3M` for 3,000,000.
fn thousands(value: f64) -> String {
    match value {
        1e6.. => format!("{}M", number(value / 1e6)),
        1e3.. => format!("{}k", number(value / 1e3)),
        _ => number(value),
    }
}
