//! Command lines that show how a command is used, at the end of its help.

use clap::Command;

/// By command: lines, and what each does.
const EXAMPLES: &[(&str, &[[&str; 2]])] = &[
    (
        "",
        &[
            ["invitro run", "train in three small worlds and write the report"],
            ["invitro language sample --gloss", "look at the languages first"],
            ["invitro study run experiments/studies/quick.toml --out quick", "a grid of experiments"],
        ],
    ),
    (
        "run",
        &[
            ["invitro run", "three small worlds, and whether facts cross in them"],
            ["invitro run language.distance=0.5 train.steps=1000 --out far", "other settings, another folder"],
            ["invitro run --resume far", "resume where it was interrupted"],
        ],
    ),
    (
        "train",
        &[
            ["invitro train --preset paper --device cuda:0", "the paper's experiment on a GPU"],
            ["invitro train seeds.data=[0,1,2] --out three", "three data seeds at once"],
            ["invitro train --resume three", "resume what was interrupted"],
        ],
    ),
    (
        "evaluate",
        &[
            ["invitro evaluate runs/quick", "the last checkpoint again"],
            ["invitro evaluate runs/quick eval.sentences=1000 --json", "with more sentences, all rows as JSON"],
        ],
    ),
    (
        "generate",
        &[
            ["invitro generate runs/quick --task T0 --language B -n 5", "five sentences of B"],
            ["invitro generate runs/quick --interactive", "words by hand, answers at once"],
        ],
    ),
    (
        "score",
        &[
            ["invitro score runs/quick sentences.txt --language A", "log-probabilities of a file's lines"],
            ["invitro score runs/quick --language B --json", "of lines on standard input, as JSON"],
        ],
    ),
    (
        "hidden",
        &[
            ["invitro hidden runs/quick --language B --out b.safetensors < sentences.txt", "all layers at all tokens"],
            [
                "invitro hidden runs/quick sentences.txt --layers 0,2,4 --positions last --out last.safetensors",
                "three layers, at the last token of every sentence",
            ],
        ],
    ),
    (
        "patch",
        &[
            ["invitro patch runs/quick", "a masked word of B, with states of A put in"],
            ["invitro patch runs/quick --subject noun.0.3 --donor-subject noun.0.4", "another subject as a control"],
            ["invitro patch runs/quick desc.17.0 --logprob --json", "a word by name, its log-probability, as JSON"],
        ],
    ),
    (
        "export",
        &[
            ["invitro export runs/quick --out model", "for transformers and the Hugging Face Hub"],
            ["invitro export runs/quick --out model --lm-eval --force", "again, with tasks for lm-eval"],
        ],
    ),
    (
        "study",
        &[
            ["invitro study plan experiments/studies/quick.toml", "what it would train, and for how long"],
            ["invitro study run experiments/studies/quick.toml --out quick", "train it"],
            ["invitro study collect quick", "its tables, for `invitro report quick` and for Python"],
        ],
    ),
    (
        "study plan",
        &[
            ["invitro study plan experiments/studies/quick.toml --cells", "every cell of a grid"],
            ["invitro study plan experiments/studies/facts.toml --device cuda --measure", "steps timed on the GPU"],
        ],
    ),
    (
        "study run",
        &[
            ["invitro study run experiments/studies/quick.toml --out quick", "start, or run what is missing"],
            ["invitro study run quick --device cuda:all --per-gpu 4", "resume a study's folder on all GPUs"],
            ["invitro study run quick --executor slurm --partition gpu --time 4h", "as jobs of Slurm"],
        ],
    ),
    (
        "study status",
        &[
            ["invitro study status quick", "what is done, running and failed"],
            ["invitro study status quick --watch", "again every few seconds"],
        ],
    ),
    (
        "study retry",
        &[
            ["invitro study retry quick", "open failed cells again"],
            ["invitro study retry quick --fresh", "and start them over"],
        ],
    ),
    (
        "study collect",
        &[
            ["invitro study collect quick", "runs.parquet, metrics.parquet and words.parquet"],
            ["invitro study collect quick --compact --csv", "small enough for a repository, and as CSV"],
        ],
    ),
    (
        "study measure",
        &[
            ["invitro study measure experiments/studies/quick.toml --out sizes", "tokenizers without training"],
            ["invitro study measure quick --out sizes --csv --force", "of a study's folder, as CSV too"],
        ],
    ),
    (
        "report",
        &[
            ["invitro report quick", "the page of a run or a study, and its figures"],
            ["invitro report quick --live", "a page that follows a study while it runs"],
            ["invitro report quick --formats pdf,png --force", "figures for a paper"],
        ],
    ),
    (
        "runs",
        &[
            ["invitro runs", "the runs in runs/"],
            ["invitro runs quick --sort -facts", "those of a study, by what crosses"],
            ["invitro runs quick --json", "a JSON object a line"],
        ],
    ),
    (
        "compare",
        &[
            ["invitro compare runs/near runs/far", "two groups of seeds, with intervals"],
            ["invitro compare runs/near runs/far --out both.html", "and a page with their curves"],
        ],
    ),
    (
        "pairs",
        &[
            ["invitro pairs --kind facts --out pairs.txt", "sentences that differ in one word, true and false"],
            ["invitro pairs runs/first --kind types --for lm-eval --out pairs", "of a run, for another tool"],
        ],
    ),
    (
        "findings",
        &[
            ["invitro findings", "write the numbers of docs/findings.toml into its pages"],
            ["invitro findings --check", "fail where a page is not as the tables have it"],
        ],
    ),
    (
        "config",
        &[
            ["invitro config --preset paper", "a whole experiment, every key explained"],
            ["invitro config language.distance=0.5 --json", "with another setting, as JSON"],
            ["invitro config --reference", "all keys with their ranges, as Markdown"],
        ],
    ),
    (
        "language",
        &[
            ["invitro language show", "sizes, distances, words"],
            ["invitro language sample -n 3", "three sentences in every language"],
        ],
    ),
    (
        "language show",
        &[
            ["invitro language show language.distance=0.5", "what two more distant languages are like"],
            ["invitro language show --config trio.toml --svg tree.svg", "a family, and its tree as a picture"],
        ],
    ),
    (
        "language sample",
        &[
            ["invitro language sample --gloss", "sentences with their symbols; a star marks a masked word"],
            ["invitro language sample -n 1000 --json --seed 1", "many, for other programs"],
        ],
    ),
    (
        "language export",
        &[
            ["invitro language export --out language", "world, grammar and lexicons as files"],
            [
                "invitro language export --config trio.toml --out trio --force",
                "those of a family, replacing older ones",
            ],
        ],
    ),
    (
        "tokenizer",
        &[
            ["invitro tokenizer measure", "what the tokenizer of an experiment does to its languages"],
            ["invitro tokenizer train --out tokenizer", "train one and write it"],
        ],
    ),
    (
        "tokenizer train",
        &[
            ["invitro tokenizer train tokenizer.vocab=512 --out tokenizer", "a larger vocabulary"],
            ["invitro tokenizer train tokenizer.kind=unigram --out unigram", "another kind"],
        ],
    ),
    (
        "tokenizer measure",
        &[
            ["invitro tokenizer measure tokenizer.vocab=512", "fertility, overlap and more, by language"],
            ["invitro tokenizer measure --tokenizer tokenizer.json --text en=en.txt --text fi=fi.txt", "your own text"],
        ],
    ),
    (
        "tokenizer bridges",
        &[
            ["invitro tokenizer bridges", "the closest unmasked word of each masked one, in the mean"],
            ["invitro tokenizer bridges --out bridges.tsv", "a row per masked word"],
        ],
    ),
    (
        "tokenizer table",
        &[
            ["invitro tokenizer table --out pieces.svg", "pairs of sentences cut into pieces"],
            ["invitro tokenizer table -n 4 --most-shared --out pieces.tex", "a few for a paper"],
        ],
    ),
    (
        "corpus",
        &[
            ["invitro corpus -n 10000 --out train.txt", "the rows that training sees, in its order"],
            ["invitro corpus -n 1000 --split B_masked --held-out --out masked.jsonl", "sentences with masked words"],
        ],
    ),
    (
        "check",
        &[
            ["invitro check --language A < sentences.txt", "whether each line is grammatical and true"],
            ["invitro check --language B --json < sentences.txt", "with all that was found, as JSON"],
        ],
    ),
    (
        "bench",
        &[
            ["invitro bench --only cpu", "how fast this machine trains"],
            ["invitro bench --device cuda --members 1,8 --json", "one and eight models at once on a GPU"],
        ],
    ),
    (
        "selftest",
        &[
            ["invitro selftest --device cuda", "whether the GPU computes what the CPU does"],
            ["invitro selftest --device cuda:1", "another GPU"],
        ],
    ),
    (
        "completions",
        &[
            ["invitro completions bash > ~/.local/share/bash-completion/completions/invitro", "for bash"],
            ["invitro completions zsh > ~/.zsh/_invitro", "for zsh, where $fpath has ~/.zsh"],
            ["invitro completions fish > ~/.config/fish/completions/invitro.fish", "for fish"],
        ],
    ),
];

/// The command with examples at the end of its help, and of its subcommands'.
pub fn add(command: Command) -> Command {
    below(command, "")
}

fn below(mut command: Command, path: &str) -> Command {
    let examples = EXAMPLES.iter().find(|(name, _)| *name == path);
    if let Some((_, examples)) = examples {
        let before = command.get_after_help().map_or(String::new(), |text| format!("{text}\n\n"));
        let lines = examples.iter().map(|[line, what]| format!("  {line}\n      {what}\n")).collect::<String>();
        command = command.after_help(format!("{before}Examples:\n{}", lines.trim_end()));
    }
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    names.into_iter().fold(command, |command, name| {
        let path = if path.is_empty() { name.clone() } else { format!("{path} {name}") };
        command.mut_subcommand(name, |sub| below(sub, &path))
    })
}
