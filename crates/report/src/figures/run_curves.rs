//! One run: validity, grammaticality, type constraints and Γ over training, in every condition.

use super::captions::Runs;
use super::facets::{Facets, across, variants};
use super::figure::{Chooser, Figure};
use super::groups::{self, groups};
use super::progress::Progress;
use super::style;
use super::table::Table;
use crate::data::Study;
use crate::draw::Axis;
use invitro_results::{Measure, Quantity, Task};

const TASKS: [(Task, &str); 3] =
    [(Task::T1, "T₁ unscrambling"), (Task::T0, "T₀ free generation"), (Task::T2, "T₂ conditional generation")];

pub fn figure(study: &Study) -> Figure {
    let (groups, progress) = (groups(study), Progress::all(study));
    let tasks = Chooser::new("task", "task", TASKS.map(|(_, name)| name));
    let choosers = vec![tasks, groups::chooser(&groups), Progress::chooser(&progress)];
    let mut table = Table::of_estimates(["task", "condition", "metric", "step"]);
    let metrics = style::cascade();
    let variants = variants(study, &choosers, Runs::Ended, |choice| {
        let task = TASKS[choice.options[0]].0;
        let conditions = &groups[choice.options[1]].conditions;
        let progress = &progress[choice.options[2]];
        let mut facets = Facets::new(study, &mut table, Axis::share("share of sentences")).over(progress);
        for (condition, _) in conditions {
            facets.panel(condition.label(), progress.axis());
            for (metric, style) in &metrics {
                let keys = [task.name(), &condition.label(), metric.name()];
                facets.curve(&keys, style, &[], &Quantity::of(Measure::Task(task, *metric), condition));
            }
        }
        let mut layout = facets.layout(across(conditions.len()));
        layout.ratio = 0.85;
        layout.legend = style::lines(metrics.iter().map(|(_, style)| style));
        layout
    });
    Figure {
        name: "curves",
        title: "Capabilities over training".into(),
        caption: "Shares of generated sentences that are valid, grammatical, satisfy the type constraints and agree with Γ, each nested in \
                  the one before."
            .into(),
        choosers,
        variants,
        table,
    }
}
