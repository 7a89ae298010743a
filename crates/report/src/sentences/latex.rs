//! The table as a LaTeX document that compiles as it stands, in the paper's own notation; what is between the two
//! comment lines can be put into another.

use super::pair::{SentenceRow, Use, legend};
use std::fmt::Write;

/// A colour: its pieces, its name, its value.
type LatexColour = (Use, String, &'static str);

/// The colours of the paper's table; of more languages, one for each, which begin again after the fifth.
fn colours(languages: usize) -> Vec<LatexColour> {
    if languages == 2 {
        let all = [(Use::All, "Shared", "F4D35E"), (Use::Own(0), "AOnly", "8BB9E5"), (Use::Own(1), "BOnly", "ED979E")];
        return all.map(|(used, name, colour)| (used, format!("tok{name}"), colour)).into();
    }
    const OWN: [&str; 5] = ["8BB9E5", "ED979E", "B9CC6B", "F0B67A", "8FD3AE"];
    let own = |place: usize| {
        // Names of colours are letters: A to Z, then AA, BA, …
        let letters: String = std::iter::successors(Some(place), |rest| (rest / 26).checked_sub(1))
            .map(|rest| char::from(b'A' + (rest % 26) as u8))
            .collect();
        (Use::Own(place), format!("tokOnly{letters}"), OWN[place % OWN.len()])
    };
    let shared = [(Use::All, "tokAll".to_owned(), "F4D35E"), (Use::Some, "tokSome".to_owned(), "FAEDB9")];
    shared.into_iter().chain((0..languages).map(own)).collect()
}

fn piece(colours: &[LatexColour], used: Use, text: &str) -> String {
    let name = colours.iter().find(|(of, ..)| *of == used).map_or("", |(_, name, _)| name);
    format!(r"\tokbox{{{name}}}{{{text}}}")
}

pub fn render(names: &[String], pairs: &[SentenceRow], caption: &str) -> String {
    let colours = colours(names.len());
    let pieces = || pairs.iter().flat_map(|SentenceRow(sides)| sides.iter().flatten().flatten());
    let is_foreign = |c: char| c.is_alphabetic() && !c.is_ascii();
    let foreign = pieces().any(|(text, _)| text.chars().any(is_foreign));
    let mut out = String::from(if foreign { "% For LuaLaTeX or XeLaTeX, which know other alphabets.\n" } else { "" });
    out.push_str(
        r"\documentclass[10pt]{article}
\usepackage[a4paper,margin=15mm]{geometry}
\usepackage{xcolor}
\usepackage{array}
\usepackage{longtable}
",
    );
    if foreign {
        out.push_str("\\usepackage{fontspec}\n\\setmonofont{DejaVu Sans Mono}[Scale=0.9]\n");
    }
    for (_, name, colour) in &colours {
        writeln!(out, r"\definecolor{{{name}}}{{HTML}}{{{colour}}}").expect("writing to a string");
    }
    out.push_str(
        r"\newcommand{\tokbox}[2]{\begingroup\setlength{\fboxsep}{0pt}%
  \colorbox{#1}{\rule[-2.5pt]{0pt}{9pt}\texttt{\scriptsize #2}}\endgroup\hspace{0.6pt}}
% The end of a word: the only place where a line may break.
\newcommand{\wordend}{{\color{gray}\scriptsize\textvisiblespace} }
\begin{document}
\pagestyle{empty}
% --- the table ---
",
    );
    writeln!(out, "\\noindent {}\n", caption.replace('|', r"\textbar ")).expect("writing to a string");
    let legend: Vec<String> = legend(names).iter().map(|(used, label)| piece(&colours, *used, label)).collect();
    writeln!(out, "\\smallskip\\noindent {}\n", legend.join(r"\quad ")).expect("writing to a string");
    out.push_str(r"\setlength{\LTleft}{0pt}\setlength{\LTright}{0pt}");
    out.push('\n');
    let side = |side: &Vec<Vec<(String, Use)>>| {
        let word = |word: &Vec<(String, Use)>| {
            let pieces = word.iter().map(|(text, used)| piece(&colours, *used, &escape(text)));
            pieces.collect::<String>() + "\\wordend\n"
        };
        side.iter().map(word).collect::<String>()
    };
    if let [first, second] = names {
        out.push_str(r"\begin{longtable}{>{\raggedright\arraybackslash}p{0.47\linewidth}|>{\raggedright\arraybackslash}p{0.47\linewidth}}");
        writeln!(out, "\n\\textbf{{{first}}} & \\textbf{{{second}}} \\\\ \\hline").expect("writing to a string");
        out.push_str("\\endhead\n");
        for SentenceRow(sides) in pairs {
            let cells: Vec<String> = sides.iter().map(side).collect();
            writeln!(out, "{}\\\\[2pt]", cells.join("&\n")).expect("writing to a string");
        }
    } else {
        out.push_str("\\begin{longtable}{l>{\\raggedright\\arraybackslash}p{0.85\\linewidth}}\n");
        for SentenceRow(sides) in pairs {
            // The lines of one sentence stay on one page.
            let rows = names.iter().zip(sides).map(|(name, of)| format!("\\textbf{{{name}}} &\n{}", side(of)));
            writeln!(out, "{}\\\\ \\hline", rows.collect::<Vec<_>>().join("\\\\*\n")).expect("writing to a string");
        }
    }
    out.push_str("\\end{longtable}\n% --- end of the table ---\n\\end{document}\n");
    out
}

/// Letters need none; a word boundary becomes an underscore; a byte may be anything.
fn escape(text: &str) -> String {
    let letter = |c: char| match c {
        '▁' => r"\_".to_owned(),
        c if c.is_alphanumeric() => c.to_string(),
        _ => "?".to_owned(),
    };
    text.chars().map(letter).collect()
}
