//! What is told fits the terminal, whatever its width: lines, tables, the bar, evaluations, comments.

use crate::bar::line;
use crate::columns::EvaluationColumns;
use crate::comments::fitted;
use crate::table::{numbers, texts};
use crate::terminal::{self, columns, wrap};
use invitro_lab::training::progress::{Headline, Scores};

#[test]
fn lines_are_broken_between_words_at_any_width() {
    let text =
        "  Asked to unscramble words of B that it never saw, the model answers in 12 % of the cases.\nA  short one";
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    for width in 12..=200 {
        let wrapped = wrap(text, Some(width));
        assert!(wrapped.lines().all(|line| columns(line) <= width), "{width}: {wrapped}");
        assert_eq!(words(&wrapped), words(text));
        assert!(wrapped.lines().rev().skip_while(|line| !line.starts_with("  ")).all(|l| l.starts_with("  ")));
    }
    assert_eq!(wrap(text, None), text);
    assert_eq!(wrap("B†  Γ and λ", Some(9)), "B†  Γ and\nλ");
    assert_eq!(wrap("see /a/path/wider/than/that now", Some(10)), "see\n/a/path/wider/than/that\nnow");
    assert_eq!(wrap("\x1b[1mabc\x1b[0m def", Some(7)), "\x1b[1mabc\x1b[0m def");
}

fn row(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|&cell| cell.to_owned()).collect()
}

#[test]
fn tables_fit_any_width_and_lose_no_cell() {
    let rows = [
        row(&["step 3000", "A", "B", "B†"]),
        row(&["unscrambling (T1), share of 100: valid words", "0.98", "0.95", "0.71"]),
        row(&["  95 % over pairs of subjects", "[+2.90, +3.30]", "[+2.10, +2.90]", "[+0.27, +0.40]"]),
    ];
    let table = numbers(&rows, Some(80));
    assert_eq!(table.lines().count(), 4, "{table}");
    for width in 40..=200 {
        let table = numbers(&rows, Some(width));
        assert!(table.lines().all(|line| columns(line) <= width), "{width}:\n{table}");
        for cell in ["0.98", "0.95", "0.71", "+2.90]", "[+0.27, +0.40]", "B†", "valid"] {
            assert!(table.contains(cell), "{width}: {cell}\n{table}");
        }
        let text = [row(&["noun", "A", "ab- cd- ef-"]), row(&["", "B", &"-gh ".repeat(30)])];
        let table = texts(&text, Some(width));
        assert!(table.lines().all(|line| columns(line) <= width), "{width}:\n{table}");
        assert_eq!(table.matches("-gh").count(), 30);
    }
}

#[test]
fn the_line_fits_any_terminal() {
    let part = |rank, text: &str| (rank, text.to_owned());
    let parts = [
        part(0, "step 2500/3000"),
        part(1, "loss 1.234"),
        part(3, "123 k tokens/s"),
        part(11, "grammatical A 0.98 B 0.95 B† 0.70"),
        part(2, "12 min left"),
    ];
    for width in 10..=200 {
        let line = line(Some(0.5), &parts, width);
        assert!(terminal::columns(&line) < width, "{width}: {line}");
    }
    assert_eq!(line(Some(0.5), &parts, 60), "step 2500/3000 · loss 1.234 · 123 k tokens/s · 12 min left");
    assert_eq!(line(Some(0.5), &parts, 40), "step 2500/3000 · loss 1.234");
    let drawn = "████████░░░░░░░░ step 2500/3000 · loss 1.234 · 123 k tokens/s · 12 min left";
    assert_eq!(line(Some(0.5), &parts, 80), drawn);
    assert!(line(Some(0.5), &parts, 120).contains("B† 0.70"));
}

#[test]
fn evaluations_are_lines_that_fit() {
    let scores = Scores { grammatical: Some(0.98), types: Some(0.9), facts: None, contrast: Some(-12.34) };
    let conditions = ["A", "B", "B_masked"].map(|name| (name.parse().unwrap(), scores.clone())).into();
    let headline = Headline { loss: Some(1.2345), conditions };
    let names = |name: &str| vec![name.to_owned()];
    for (width, member, groups) in [(80, "", 4), (80, "0/1", 3), (60, "", 2), (40, "", 1), (200, "10/12", 4)] {
        let columns = EvaluationColumns::new(10_000, &names(member), &headline, Some(width));
        assert_eq!(columns.groups.len(), groups, "{width} {member}");
        let text = format!("{}\n{}", columns.heads(&headline), columns.line(10_000, member, &headline));
        assert!(text.lines().all(|line| terminal::columns(line) <= width), "{width}:\n{text}");
    }
}

#[test]
fn comments_are_broken_into_comments() {
    let paper = invitro_lab::Experiment::preset("paper").unwrap();
    let text = paper.commented();
    for width in [40, 60, 80, 110] {
        let fitted = fitted(&text, Some(width));
        assert!(fitted.lines().all(|line| terminal::columns(line) <= width), "{width}:\n{fitted}");
        assert_eq!(invitro_lab::Experiment::from_toml(&fitted, "it").unwrap(), paper);
    }
    assert_eq!(
        fitted("name = \"a # b\" # long enough a comment", Some(37)),
        "name = \"a # b\" # long enough a\n               # comment\n"
    );
}
