//! What figures share: their choices, their looks, the numbers behind them.

use invitro_report::draw::{Colour, MarkerShape};
use invitro_report::figures::{Chooser, FigureTable, choices, colour_and_shape};
use invitro_stats::Estimate;

#[test]
fn every_combination_once() {
    let choosers = [Chooser::new("a", "", ["x", "y"]), Chooser::new("b", "", [""; 0]), Chooser::new("c", "", ["z"])];
    let options: Vec<_> = choices(&choosers).into_iter().map(|choice| choice.options).collect();
    assert_eq!(options, [[0, 0, 0], [1, 0, 0]]);
}

#[test]
fn no_two_conditions_look_the_same() {
    let masked = (0..12).map(|place| colour_and_shape(true, place));
    let looks: Vec<_> = (0..15).map(|place| colour_and_shape(false, place)).chain(masked).collect();
    let same = |a: &(Colour, MarkerShape), b: &(Colour, MarkerShape)| (a.0.name(), a.1) == (b.0.name(), b.1);
    for (place, look) in looks.iter().enumerate() {
        assert!(looks[..place].iter().all(|other| !same(look, other)), "{place}: {look:?}");
    }
}

#[test]
fn missing_stays_empty_and_commas_are_quoted() {
    let mut table = FigureTable::of_estimates(["where"]);
    table.estimate(["vanilla, 2048"], None);
    table.estimate(["|*V*|"], Some(&Estimate::of_run(0.5, None)));
    assert_eq!(table.to_csv(), "where,mean,low,high,runs\n\"vanilla, 2048\",,,,0\n|V|,0.5,,,1\n");
    let mut table = FigureTable::of_estimates(["", "where"]);
    table.estimate(["nothing", "here"], None);
    assert_eq!(table.to_csv(), "where,mean,low,high,runs\nhere,,,,0\n", "a key without a name");
}
