//! The table as a LaTeX document that compiles as it stands, in the paper's own notation; what is between the two
//! comment lines can be put into another.

use super::{COLOURS, LEGEND, Table, colour};
use std::fmt::Write;

const NAMES: [&str; 3] = ["tokShared", "tokAOnly", "tokBOnly"];

pub fn render(table: &Table) -> String {
    let mut out = String::from(
        r"\documentclass[10pt]{article}
\usepackage[a4paper,margin=15mm]{geometry}
\usepackage{xcolor}
\usepackage{array}
\usepackage{longtable}
",
    );
    for (name, colour) in NAMES.iter().zip(COLOURS) {
        writeln!(out, r"\definecolor{{{name}}}{{HTML}}{{{colour}}}").expect("a string takes all");
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
    writeln!(out, "\\noindent {}\n", table.caption().replace('|', r"\textbar ")).expect("a string takes all");
    let legend: Vec<String> = NAMES.iter().zip(LEGEND).map(|(n, l)| format!(r"\tokbox{{{n}}}{{{l}}}")).collect();
    writeln!(out, "\\smallskip\\noindent {}\n", legend.join(r"\quad ")).expect("a string takes all");
    out.push_str(
        r"\setlength{\LTleft}{0pt}\setlength{\LTright}{0pt}
\begin{longtable}{>{\raggedright\arraybackslash}p{0.47\linewidth}|>{\raggedright\arraybackslash}p{0.47\linewidth}}
\textbf{A} & \textbf{B} \\ \hline
\endhead
",
    );
    for row in &table.rows {
        for (side, words) in row.iter().enumerate() {
            for word in words {
                for piece in word {
                    let name = NAMES[colour(piece.shade, side)];
                    write!(out, r"\tokbox{{{name}}}{{{}}}", escape(&piece.text)).expect("a string takes all");
                }
                out.push_str("\\wordend\n");
            }
            out.push_str(if side == 0 { "&\n" } else { "\\\\[2pt]\n" });
        }
    }
    out.push_str("\\end{longtable}\n% --- end of the table ---\n\\end{document}\n");
    out
}

/// Letters need none, but a byte may be anything.
fn escape(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '?' }).collect()
}
