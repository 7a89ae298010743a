//! Conditions that are drawn together: all where they are few, else the first language with the masked ones, or the
//! languages without.

use super::figure::Chooser;
use super::style::{self, Style};
use crate::data::Study;
use invitro_results::Condition;

/// A choice of conditions, each with its style.
pub struct Group {
    pub name: String,
    pub conditions: Vec<(Condition, Style)>,
}

/// As many have room beside each other.
const MOST: usize = 6;

pub fn groups(study: &Study) -> Vec<Group> {
    let all = style::conditions(study);
    let some = |name: String, keep: &dyn Fn(usize, &Condition) -> bool| {
        let kept = all.iter().enumerate().filter(|(place, (condition, _))| keep(*place, condition));
        Group { name, conditions: kept.map(|(_, pair)| pair.clone()).collect() }
    };
    match study.conditions().first() {
        Some(first) if all.len() > MOST && study.masked().next().is_some() => vec![
            some(format!("{} and masked", first.label()), &|place, condition| place == 0 || condition.masked),
            some("without masked words".into(), &|_, condition| !condition.masked),
        ],
        _ => vec![some("all".into(), &|_, _| true)],
    }
}

pub fn chooser(groups: &[Group]) -> Chooser {
    Chooser::new("conditions", "conditions", groups.iter().map(|group| group.name.clone()))
}

impl Group {
    pub fn has(&self, condition: &Condition) -> bool {
        self.conditions.iter().any(|(own, _)| own == condition)
    }

    pub fn styles(&self) -> impl Iterator<Item = &Style> {
        self.conditions.iter().map(|(_, style)| style)
    }
}
