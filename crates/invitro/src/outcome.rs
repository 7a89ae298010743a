//! What a finished run comes to, in a table and two sentences.

use anyhow::Result;
use invitro_lab::metrics::Row;
use invitro_lab::population::Member;
use invitro_lab::{Status, emergence, folder, log};
use std::path::{Path, PathBuf};

const CONDITIONS: [(&str, &str); 3] = [("A", "A"), ("B", "B"), ("B_masked", "B†")];

/// Writes the report of a run that is done.
pub fn report(member: &Member) -> Result<PathBuf> {
    // The report in a run's folder is the run's own, and made anew with it.
    let options = invitro_report::Options { force: true, ..Default::default() };
    Ok(invitro_report::build(&member.folder, &options)?.page)
}

/// Prints the table of a run that is done.
pub fn tell(member: &Member, report: Option<&Path>) -> Result<()> {
    let rows: Vec<Row> = log::read(&member.folder.join(folder::METRICS))?;
    say!("{}", table(&rows, member.experiment.eval.emergence));
    if let Some(status) = Status::read(&member.folder)? {
        let (train, eval) = (status.seconds.train, status.seconds.eval);
        let share = 100.0 * eval / (train + eval).max(1e-9);
        say!(
            "{} · training {train:.0} s, evaluation {eval:.0} s ({share:.0} %) · {}",
            status.device,
            member.folder.display()
        );
    }
    if let Some(report) = report {
        say!("report: {}", report.display());
    }
    Ok(())
}

/// The headline metrics of the last evaluation.
pub fn table(rows: &[Row], threshold: f64) -> String {
    let last = rows.iter().map(|row| row.step).max().unwrap_or(0);
    let find = |condition: &str, task: &str, metric: &str| {
        let of_it = |r: &&Row| r.step == last && r.condition == condition && r.task == task && r.metric == metric;
        rows.iter().find(of_it)
    };
    let mut lines = vec![format!("{:<46}{:>22}{:>22}{:>22}", format!("step {last}"), "A", "B", "B†")];
    let mut line = |name: &str, cell: &dyn Fn(&str) -> Option<String>| {
        let cells = CONDITIONS.map(|(condition, _)| cell(condition).unwrap_or_else(|| "–".into()));
        if cells.iter().any(|cell| cell != "–") {
            lines.push(format!("{name:<46}{:>22}{:>22}{:>22}", cells[0], cells[1], cells[2]));
        }
    };
    // How many sentences a share is of.
    let of =
        |task: &str| find("A", task, "validity").and_then(|row| row.n).map_or(String::new(), |n| format!(" of {n}"));
    for (name, metric) in [
        (format!("unscrambling (T1), share{}: valid words", of("T1")).as_str(), "validity"),
        ("  grammatical", "grammaticality"),
        ("  types hold", "types"),
        ("  facts hold", "facts"),
        ("  the words of the prompt", "same_words"),
    ] {
        line(name, &|condition| Some(format!("{:.2}", find(condition, "T1", metric)?.value)));
    }
    for (name, task) in [("free sentences (T0)", "T0"), ("conditional sentences (T2)", "T2")] {
        let name = format!("{name},{}: facts hold", of(task));
        line(&name, &|condition| Some(format!("{:.2}", find(condition, task, "facts")?.value)));
    }
    for (name, who) in [
        ("reachable at 0.1 |V|: allowed by Γ", "network.allowed"),
        ("  forbidden by Γ", "network.forbidden"),
        ("  of other classes", "network.other"),
        ("  allowed, for a unigram model", "unigram.allowed"),
    ] {
        line(name, &|condition| Some(format!("{:.2}", find(condition, "reach", &format!("{who}.share@0.1"))?.value)));
    }
    let contrast = |condition: &str, of: &str| {
        let row = find(condition, "reach", &format!("network.{of}"))?;
        Some((row.value, row.low?, row.high?))
    };
    for (name, of) in [
        ("contrast, facts (allowed - forbidden)", "facts.share@0.1"),
        ("  in log-probability", "facts.logprob"),
        ("contrast, types (allowed - others)", "types.share@0.1"),
        ("  in log-probability", "types.logprob"),
    ] {
        line(name, &|condition| {
            let (value, low, high) = contrast(condition, of)?;
            Some(format!("{value:+.2} [{low:+.2}, {high:+.2}]"))
        });
    }
    let emerged = |condition: &str, metric: &str, step: fn(&[(u64, f64)], f64) -> Option<u64>| {
        step(&emergence::curve(rows, condition, "T1", metric), threshold).map(|step| step.to_string())
    };
    let (first, lasting) =
        (|curve: &[(u64, f64)], threshold| emergence::step(curve, 0.0, threshold), emergence::lasting);
    line("emerged at step: grammatical", &|condition| emerged(condition, "grammaticality", first));
    line("  to stay: grammatical", &|condition| emerged(condition, "grammaticality", lasting));
    line("  to stay: types", &|condition| emerged(condition, "types", lasting));
    line("  to stay: facts", &|condition| emerged(condition, "facts", lasting));
    line("bits per character (floor)", &|condition| {
        let bits = find(condition, "loss", "bits_per_char")?.value;
        Some(format!("{bits:.3} ({:.3})", find(condition, "loss", "floor")?.value))
    });
    lines.push(String::new());
    let share = |metric: &str| Some(find("B_masked", "T1", metric)?.value);
    lines.extend(
        share("grammaticality").zip(share("same_words")).map(|(grammatical, same)| use_of_words(grammatical, same)),
    );
    let both = |condition: &str| Some([contrast(condition, "facts.share@0.1")?, contrast(condition, "facts.logprob")?]);
    lines.push(meaning(both("A"), both("B_masked"), share("grammaticality").is_some_and(|share| share > threshold)));
    lines.join("\n")
}

/// Whether words that were never seen in B are used, or only answered.
fn use_of_words(grammatical: f64, same: f64) -> String {
    format!(
        "Asked to unscramble words of B that it never saw, the model answers with a grammatical sentence in {:.0} % of the \
         cases, and with exactly those words in {:.0} %.",
        100.0 * grammatical,
        100.0 * same
    )
}

/// A contrast and its interval.
type Contrast = (f64, f64, f64);

/// What the contrasts, in share of targets and in log-probability, say of the words that were never seen in B; `form` is
/// whether sentences with them were grammatical at all.
fn meaning(in_a: Option<[Contrast; 2]>, in_masked: Option<[Contrast; 2]>, form: bool) -> String {
    let (Some(a), Some(masked)) = (in_a, in_masked) else {
        return "Reachability was not measured.".into();
    };
    let above = |contrasts: &[Contrast; 2]| contrasts.iter().filter(|(_, low, _)| *low > 0.0).count();
    if above(&a) < 2 {
        return "The model has not learned the facts in A (its contrasts are not both above zero), so there is no \
                knowledge that could have crossed."
            .into();
    }
    let [share, logprob] = masked.map(|(value, low, high)| format!("{value:+.2} [{low:+.2}, {high:+.2}]"));
    let found =
        format!("The model tells true from false in A. In B† its contrast is {share} in targets and {logprob} nats");
    let form = if form { "it may know their form, but " } else { "it " };
    match above(&masked) {
        2 => format!(
            "{found}, both above zero: of words it never saw in B, it knows something of what they are true of. \
             Knowledge crossed."
        ),
        1 => format!("{found}, of which one is above zero: a sign that knowledge crossed, and no more."),
        _ if masked.iter().all(|(_, _, high)| *high < 0.0) => {
            format!("{found}, both below zero: what crossed misleads.")
        }
        _ => format!(
            "{found}, none above zero: of words it never saw in B, {form}shows no knowledge of what they are true of."
        ),
    }
}
