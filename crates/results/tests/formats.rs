//! `docs/formats.md` lists every measure as the code names it. `UPDATE_GOLDEN=1` writes the list anew.

use invitro_results::{
    Bridge, Donor, Form, Fraction, InsideMetric, LanguageMetric, Loss, PatchPosition, PatchedForm, PieceKind,
    PieceMatrix, RowStatistic, Scorer, Similarity, Statistic, Targets, TaskMetric, TokenizerMetric, Words,
};
use std::fmt::Write;

macro_rules! table {
    ($page:expr, $head:literal, $kind:ty) => {
        let _ = write!($page, "\n| {} | meaning |\n|---|---|\n", $head);
        for one in <$kind>::ALL {
            let name = if one.name().is_empty() { "(none)".to_owned() } else { format!("`{}`", one.name()) };
            let _ = writeln!($page, "| {name} | {} |", one.meaning().replace('|', "\\|"));
        }
    };
}

fn measures() -> String {
    let mut page = String::new();
    page.push_str("\n### Tasks: `task` is `T0`, `T1` or `T2`\n\nShares of the sentences a model made.\n");
    table!(page, "`metric`", TaskMetric);
    page.push_str("\n### Reachability: `task` is `reach`\n\n`metric` is `SCORER.TARGETS.STATISTIC@K`, as in `network.allowed.share@0.1`.\n");
    table!(page, "scorer", Scorer);
    table!(page, "targets", Targets);
    page.push_str(
        "\nTargets with `_masked` behind them, in a language without a mask, are the symbols masked in another or, with `withhold = \"facts\"`, the facts withheld there. Where several \
         languages have a mask, reachability counts a subject once for each, and a contrast every symbol once.\n\n\
         A question begins as sentences of its language do, up to where a descriptor may stand: `<T0:B> subject copula` in \
         svo, `<T0:B> subject` in sov, `<T0:B> copula subject` in vso. In vos, where descriptors come before their subjects, \
         nothing is asked, and there are no such rows. An n-gram model that does not see the subject has a contrast of 0; where \
         the boundary is a mark (`first`, `last`) and the subject comes last (sov, vso), a bigram model sees its last piece.\n",
    );
    table!(page, "statistic", Statistic);
    let fractions = Fraction::ALL.map(|fraction| format!("`{fraction}`")).join(", ");
    let _ = write!(
        page,
        "\nK is a share of \\|V\\|, rounded up: {fractions}, and ranks are among the ids that the asked language can use. `any_boundary` and `share_boundary` ask for the boundary after the \
         last piece too. `logprob` has no K. Contrasts are recorded for `share` and `logprob`, with an interval over pairs of \
         subjects.\n"
    );
    page.push_str(
        "\n### Forms: `task` is `contrast`\n\n`metric` is `SCORER.facts.FORM`, as in `network.facts.alike`: the contrast of facts \
         in nats, with an interval over pairs of subjects, of the masked words and, in the condition without `_masked`, of the unmasked \
         ones, where each word is put in another form. Recorded with `eval.forms`. What n-gram models do not see of the \
         subject they do not see in any form.\n",
    );
    table!(page, "form", Form);
    page.push_str(
        "\nWith `false_friends`, `SCORER.friend` is the contrast of the facts of a word's false friend, in nats: log-probability \
         of the word after a subject that its friend, the same string in the first language, is true of, less that after one of \
         the same class that it is not true of; the word itself is true of both or of neither.\n",
    );
    page.push_str("\n### Losses: `task` is `loss`\n");
    table!(page, "`metric`", Loss);
    page.push_str(
        "\n### Inside the model: `task` is `inside`\n\n`metric` is `NAME@LAYER`, as in `translation@2`, or `NAME` where it is of no layer; layer 0 is the embedding. \
         Languages are compared with the first one, which is compared with the second. Recorded with `eval.inside`; what shared pieces \
         and chance give is recorded once.\n",
    );
    table!(page, "name", InsideMetric);
    page.push_str(
        "\n### Rows of pieces: `task` is `rows`\n\n`metric` is `MATRIX.STATISTIC.PIECES`, as in `input.norm.seen`. Recorded with \
         `eval.inside`.\n",
    );
    table!(page, "matrix", PieceMatrix);
    table!(page, "statistic", RowStatistic);
    table!(page, "pieces of", PieceKind);
    page.push_str(
        "\n### Patches: `task` is `patch`\n\n`metric` is `FORM.DONOR.POSITION@LAYER`, as in `own.same.subject@2`: the contrast of \
         facts in nats with one hidden state replaced, less that without, and an interval over pairs of subjects; `FORM` alone is the \
         contrast of the same words without a patch. Recorded with `eval.inside`.\n",
    );
    table!(page, "form", PatchedForm);
    table!(page, "donor", Donor);
    table!(page, "position", PatchPosition);
    page.push_str("\n### Tokenizers: columns of `runs.parquet`\n\n`WORDS.METRIC.CONDITION`, as in `fertility.B_masked`, `lexicon.renyi.A`, `overlap`. Of more than two languages `overlap` and `parity` are of each pair: `overlap.A-C`.\n");
    table!(page, "words", Words);
    table!(page, "metric", TokenizerMetric);
    page.push_str("\n### Bridges: columns of `runs.parquet`\n\n`BRIDGE.SIMILARITY`, means over the masked words. Where several languages have a mask, each has its own: `bridge.jaccard.C_masked`. Of more than two languages there is also every masked language with each other one alone, `bridge.jaccard.C-A`: the largest overlap with an unmasked word of A, and `cognate_bridge.jaccard.C-A`: the overlap with the word's own form in A, over the words that are not masked in A too (null where there are none).\n");
    table!(page, "bridge", Bridge);
    table!(page, "similarity", Similarity);
    page.push_str("\n### Languages: columns of `runs.parquet`\n\nWith a list distances are of each pair, `distance.stems.A-C`, and `lambda_left.C` of each language but the first.\n");
    table!(page, "column", LanguageMetric);
    page
}

#[test]
fn the_documentation_lists_every_measure() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/formats.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (begin, end) = ("<!-- measures -->\n", "\n<!-- end of measures -->");
    let (before, rest) = page.split_once(begin).expect("the page marks where the list begins");
    let (list, after) = rest.split_once(end).expect("the page marks where the list ends");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, [before, begin, &measures(), end, after].concat()).unwrap();
    } else {
        assert_eq!(list, measures(), "docs/formats.md is not current; UPDATE_GOLDEN=1 writes it anew");
    }
}
