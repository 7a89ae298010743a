//! The table as a LaTeX document that compiles as it stands, in the paper's own notation; what is between the two
//! comment lines can be put into another.

use super::pair::{Pair, Use, legend};
use std::fmt::Write;

/// The colours of the paper's table.
const COLOURS: [(Use, &str, &str); 3] =
    [(Use::Shared, "tokShared", "F4D35E"), (Use::First, "tokAOnly", "8BB9E5"), (Use::Second, "tokBOnly", "ED979E")];

fn piece(used: Use, text: &str) -> String {
    let name = COLOURS.iter().find(|(of, ..)| *of == used).map_or("", |(_, name, _)| name);
    format!(r"\tokbox{{{name}}}{{{text}}}")
}

pub fn render(names: &[String; 2], pairs: &[Pair], caption: &str) -> String {
    let mut out = String::from(
        r"\documentclass[10pt]{article}
\usepackage[a4paper,margin=15mm]{geometry}
\usepackage{xcolor}
\usepackage{array}
\usepackage{longtable}
",
    );
    for (_, name, colour) in COLOURS {
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
    let legend = legend(names).map(|(used, label)| piece(used, &label));
    writeln!(out, "\\smallskip\\noindent {}\n", legend.join(r"\quad ")).expect("writing to a string");
    out.push_str(
        r"\setlength{\LTleft}{0pt}\setlength{\LTright}{0pt}
\begin{longtable}{>{\raggedright\arraybackslash}p{0.47\linewidth}|>{\raggedright\arraybackslash}p{0.47\linewidth}}
",
    );
    let [first, second] = names;
    writeln!(out, r"\textbf{{{first}}} & \textbf{{{second}}} \\ \hline").expect("writing to a string");
    out.push_str("\\endhead\n");
    for Pair(sides) in pairs {
        let cells = sides.each_ref().map(|side| {
            let word = |word: &Vec<(String, Use)>| {
                word.iter().map(|(text, used)| piece(*used, &escape(text))).collect::<String>() + "\\wordend\n"
            };
            side.iter().map(word).collect::<String>()
        });
        writeln!(out, "{}\\\\[2pt]", cells.join("&\n")).expect("writing to a string");
    }
    out.push_str("\\end{longtable}\n% --- end of the table ---\n\\end{document}\n");
    out
}

/// Letters need none; a word boundary becomes an underscore; a byte may be anything.
fn escape(text: &str) -> String {
    let letter = |c: char| match c {
        '▁' => r"\_".to_owned(),
        c if c.is_ascii_alphanumeric() => c.to_string(),
        _ => "?".to_owned(),
    };
    text.chars().map(letter).collect()
}
