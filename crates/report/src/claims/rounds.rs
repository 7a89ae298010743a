//! Why a study that plans itself stopped, or what comes next.

use crate::wording::counted;
use invitro_results::Plan;
use invitro_results::claims::planning::SeedNeeds;
use invitro_results::claims::{Look, NextStep, Verdict};

/// `stopped after 5 data seeds: every primary claim is decided`. Nothing for another study.
pub fn next_step(look: &Look, plan: &Plan) -> String {
    let Some(until) = &plan.until else { return String::new() };
    let (seeds, most) = (counted(look.planned, "data seed"), until.seeds.len());
    let unsettled = look.needs.iter().filter(|needs| !needs.is_settled(until.half_width)).count();
    let not_settled =
        format!("{} {} not settled", counted(unsettled, "claim"), if unsettled == 1 { "is" } else { "are" });
    let is_untested = |needs: &SeedNeeds| matches!(&needs.verdict, Verdict::NotTested(_));
    let untested = if look.needs.iter().any(is_untested) { " or cannot be tested" } else { "" };
    let narrow = until.half_width.map_or(String::new(), |half_width| format!(" or known to ±{half_width}"));
    let settled = format!("every primary claim is decided{narrow}{untested}");
    match look.decide(plan) {
        NextStep::Settled => format!("stopped after {seeds}: {settled}"),
        NextStep::MostSeeds => format!("stopped after {seeds}, the most it may take: {not_settled}"),
        NextStep::Wait => format!("not all runs of its {seeds} are done"),
        NextStep::Continue => format!("after {seeds} {not_settled}: it takes another one, {most} at most"),
    }
}
