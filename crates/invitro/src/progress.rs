//! Training as people see it: a bar on a terminal, a line per evaluation elsewhere.

use indicatif::{ProgressBar, ProgressStyle};
use invitro_lab::population::Member;
use invitro_lab::progress::{Headline, Progress, Started};
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

pub struct Display {
    /// What to call each member; empty where there is one.
    names: Vec<String>,
    bar: Option<ProgressBar>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    steps: u64,
    /// Tokens and time since the training set out, evaluations left out.
    tokens: u64,
    busy: Duration,
    last: Option<Instant>,
    loss: f64,
    /// The latest headline of each member.
    headlines: Vec<Option<Headline>>,
}

impl Display {
    pub fn new(members: &[Member]) -> Display {
        let name = |m: &Member| {
            let seeds = &m.experiment.seeds;
            format!("data {} model {}", seeds.data.first(), seeds.model.first())
        };
        let names = if members.len() > 1 { members.iter().map(name).collect() } else { vec![String::new()] };
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(0);
            bar.set_style(ProgressStyle::with_template("{msg}").expect("the template is plain"));
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        let state = State { headlines: vec![None; members.len()], ..State::default() };
        Display { names, bar, state: Mutex::new(state) }
    }

    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| eprintln!("{text}")),
            None => eprintln!("{text}"),
        }
    }
}

impl Progress for Display {
    fn preparing(&self, what: &str) {
        match &self.bar {
            Some(bar) => bar.set_message(format!("making {what}…")),
            None => eprintln!("making {what}"),
        }
    }

    fn started(&self, start: &Started) {
        let models = if start.members == 1 { "1 model".into() } else { format!("{} models", start.members) };
        let from = if start.from > 0 { format!(", going on after step {}", start.from) } else { String::new() };
        self.line(&format!("{models} of {} parameters on {}{from}", thousands(start.parameters as f64), start.device));
        let name = self.names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        self.line(&heads(if name == 0 { 0 } else { name + 2 }));
        let mut state = self.state();
        state.steps = start.steps;
        state.last = Some(Instant::now());
        if let Some(bar) = &self.bar {
            let style = "{bar:16} {pos}/{len} · {msg} · {eta} left";
            bar.set_style(ProgressStyle::with_template(style).expect("the template is plain"));
            bar.set_message("starting");
            bar.set_length(start.steps);
            bar.set_position(start.from);
            bar.reset_eta();
        }
    }

    fn stepped(&self, step: u64, losses: &[f64], tokens: u64) {
        let mut state = self.state();
        let now = Instant::now();
        let since = state.last.map_or(Duration::ZERO, |last| now - last);
        state.busy += since;
        state.last = Some(now);
        state.tokens += tokens;
        state.loss = losses.iter().sum::<f64>() / losses.len().max(1) as f64;
        if let Some(bar) = &self.bar {
            bar.set_position(step);
            bar.set_message(state.describe());
        }
    }

    fn evaluated(&self, member: usize, step: u64, headline: &Headline) {
        let mut state = self.state();
        state.headlines[member] = Some(headline.clone());
        // The next step's time starts here, and the first evaluation tells nothing of how long the steps will take.
        state.last = Some(Instant::now());
        if let Some(bar) = self.bar.as_ref().filter(|_| state.tokens == 0) {
            bar.reset_eta();
        }
        let name = &self.names[member];
        let gap = if name.is_empty() { "" } else { "  " };
        let text = format!("{:>11}{gap}{name}{}", format!("{step}/{}", state.steps), line_of(headline));
        drop(state);
        self.line(&text);
    }

    fn damaged(&self, member: usize, from: u64, why: &str) {
        let name = if self.names[member].is_empty() { String::new() } else { format!("{}: ", self.names[member]) };
        let goes_on =
            if from == 0 { "starting over from step 0".into() } else { format!("going on after step {from}") };
        self.line(&format!("{name}a checkpoint cannot be read and is removed, {goes_on}: {why}"));
    }

    /// What becomes of a run that is alone is told at its end.
    fn failed(&self, member: usize, step: u64, error: &str) {
        let name = &self.names[member];
        if !name.is_empty() {
            self.line(&format!("error: {name} failed at step {step}: {error}"));
        }
    }
}

impl State {
    fn describe(&self) -> String {
        let rate = self.tokens as f64 / self.busy.as_secs_f64().max(1e-9);
        let mut text = format!("loss {:.3} · {} tokens/s", self.loss, thousands(rate));
        let known: Vec<&Headline> = self.headlines.iter().flatten().collect();
        let mean = |of: &dyn Fn(&Headline) -> Option<f64>| {
            let values: Vec<f64> = known.iter().filter_map(|headline| of(headline)).collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        let grammatical: Vec<String> = ["A", "B", "B†"]
            .iter()
            .enumerate()
            .filter_map(|(i, name)| Some(format!("{name} {:.2}", mean(&|h| h.grammatical[i])?)))
            .collect();
        if !grammatical.is_empty() {
            text += &format!(" · grammatical {}", grammatical.join(" "));
        }
        text
    }
}

/// The heads of [`line_of`]'s columns, after a member's name that is `wide`.
fn heads(wide: usize) -> String {
    let (margin, each) = (" ".repeat(wide), "   A    B   B†");
    format!(
        "{:>11}{margin}{:>8}   {:<14}   {:<14}   {:<14}   contrast, nats\n{:>11}{margin}{:>8}   {each}   {each}   {each}   \
         {:>5} {:>5} {:>5}",
        "", "", "grammatical", "types hold", "facts hold", "step", "loss", "A", "B", "B†"
    )
}

/// An evaluation in a line.
fn line_of(headline: &Headline) -> String {
    let three = |values: [Option<f64>; 3]| values.map(|v| v.map_or("   –".into(), |v| format!("{v:.2}"))).join(" ");
    let contrast = headline.contrast.map(|c| c.map_or("    –".into(), |c| format!("{c:+.2}"))).join(" ");
    format!(
        "{:>8}   {}   {}   {}   {contrast}",
        headline.loss.map_or("–".into(), |loss| format!("{loss:.3}")),
        three(headline.grammatical),
        three(headline.types),
        three(headline.facts),
    )
}

fn thousands(number: f64) -> String {
    match number {
        n if n >= 1e7 => format!("{:.0} M", n / 1e6),
        n if n >= 1e6 => format!("{:.1} M", n / 1e6),
        n if n >= 1e3 => format!("{:.0} k", n / 1e3),
        n => format!("{n:.0}"),
    }
}
