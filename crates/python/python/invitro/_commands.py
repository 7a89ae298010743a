"""Commands of the command line as functions: each runs `invitro` as a process of its own, and reads what it prints."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

from ._experiment import Experiment, Run
from ._invitro import Error
from ._process import json_lines, one_line, options, run_command
from ._settings import overrides as as_overrides
from ._study import Study

PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class ScoredWord:
    """A word with its log-probability given all before it, in nats."""

    word: str
    known: bool
    """Whether it is a word of the language."""
    logprob: float


@dataclass(frozen=True)
class ScoredSentence:
    """A sentence under a model, its end included. All in nats."""

    logprob: float
    words: tuple[ScoredWord, ...]


@dataclass(frozen=True)
class Output:
    """What a model writes after a prompt, and the checks' verdict on it."""

    prompt: str
    output: str
    ended: bool
    """Whether the model ended it by `<eos>`."""
    valid: bool
    grammatical: bool
    types: bool
    facts: bool
    asked_words: bool | None
    """Of T1 and T2: whether it has the words of the prompt."""
    reason: str | None


@overload
def score(
    run: Run | PathLike, sentences: Sequence[str], language: str | None = ..., task: str = ..., *,
    source: str | None = ..., step: int | None = ..., device: str = ...,
) -> list[ScoredSentence]: ...
@overload
def score(
    run: Run | PathLike, sentences: Sequence[tuple[str, str]], language: str | None = ..., task: str = ..., *,
    source: str | None = ..., step: int | None = ..., device: str = ...,
) -> list[tuple[ScoredSentence, ScoredSentence]]: ...
def score(
    run: Run | PathLike,
    sentences: Sequence[str] | Sequence[tuple[str, str]],
    language: str | None = None,
    task: str = "T0",
    *,
    source: str | None = None,
    step: int | None = None,
    device: str = "cpu",
) -> list[ScoredSentence] | list[tuple[ScoredSentence, ScoredSentence]]:
    """Log-probabilities of sentences, or of pairs of them, under a run's model, as `invitro score` prints them.

    The language is the first that has masked words unless given. In T1, T2 and T3 what is given comes first, then `<out>`,
    then the sentence; `source` is the language that T3 translates from.
    """
    if isinstance(sentences, str):
        raise Error("score takes a list of sentences: put the one into a list")
    lines = [[one] if isinstance(one, str) else list(one) for one in sentences]
    if len({len(line) for line in lines}) > 1 or any(len(line) > 2 for line in lines):
        raise Error("score takes sentences, or pairs of them: not both, and no more than two")
    if not lines:
        return []
    # The command leaves empty lines out: results would not be those of their sentences.
    if any(not side.strip() for line in lines for side in line):
        raise Error("score takes sentences with at least one word: one is empty")
    args = ["score", _folder(run), "-", "--json", *options(language=language, task=task, step=step, device=device)]
    text = "".join("\t".join(one_line(side) for side in line) + "\n" for line in lines)
    rows = json_lines([*args, *options(**{"from": source})], text)
    if len(lines[0]) == 2:
        return [(_score(row["first"]), _score(row["second"])) for row in rows]
    return [_score(row) for row in rows]


def generate(
    run: Run | PathLike,
    prompts: Sequence[str],
    language: str | None = None,
    task: str = "T1",
    *,
    source: str | None = None,
    n: int = 1,
    temperature: float | None = None,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int = 0,
    step: int | None = None,
    device: str = "cpu",
) -> list[list[Output]]:
    """What a run's model writes after prompts, `n` outputs for each, as `invitro generate` prints them.

    A prompt is words of the language, or of `source` where T3 translates from it. One output is decoded greedily, several are
    sampled at temperature 1, unless `temperature` says otherwise.
    """
    if isinstance(prompts, str):
        raise Error("generate takes a list of prompts: put the one into a list")
    if n < 1:
        raise Error(f"n is {n}, but must be at least 1")
    sampling = options(temperature=temperature, top_k=top_k, top_p=top_p, seed=seed)
    given = options(language=language, task=task, step=step, device=device, **{"from": source})
    args = ["generate", _folder(run), "--interactive", "--json", "-n", str(n), *sampling, *given]
    rows = json_lines(args, "".join(one_line(prompt) + "\n" for prompt in prompts))
    outputs = [_output(row) for row in rows]
    return [outputs[at : at + n] for at in range(0, len(outputs), n)]


def tokenizer_measure(
    experiment: Experiment | None = None,
    *,
    tokenizer: PathLike | None = None,
    text: Mapping[str, PathLike] | None = None,
    wordlist: PathLike | None = None,
    cognates: PathLike | None = None,
    languages: Sequence[str] | None = None,
    fit: bool = False,
    sentences: int | None = None,
) -> dict[str, Any]:
    """Fertility, overlap, parity and more, as `invitro tokenizer measure --json` prints them.

    Of an experiment's tokenizer, or another `tokenizer`, on its languages; or of any `tokenizer` on your own `text` (a file by
    language) and `wordlist`.
    """
    args = ["tokenizer", "measure", "--json"]
    if experiment is not None:
        args += _of_experiment(experiment)
    for name, file in (text or {}).items():
        args += ["--text", f"{name}={os.fspath(file)}"]
    names = None if languages is None else ",".join(languages)
    args += options(tokenizer=tokenizer, wordlist=wordlist, cognates=cognates, languages=names, sentences=sentences)
    measures: dict[str, Any] = json.loads(run_command([*args, *(["--fit"] if fit else [])]))
    return measures


def run_study(
    file: PathLike,
    out: PathLike | None = None,
    settings: Mapping[str, object] | None = None,
    *,
    device: str = "auto",
    jobs: int | None = None,
    per_gpu: int | None = None,
    limit: int | None = None,
    fail_fast: bool = False,
    quiet: bool = False,
) -> Study:
    """Runs a study's file into the folder `out`, or resumes a study's folder, and collects its tables.

    As `invitro study run` and `study collect` do: finished cells are not run again, and Ctrl-C saves and stops. A cell that
    fails is an error once all others are done.
    """
    args = ["study", "run", os.fspath(file), *as_overrides(settings or {})]
    args += options(out=out, device=device, jobs=jobs, per_gpu=per_gpu, limit=limit)
    run_command([*args, *(["--fail-fast"] if fail_fast else [])], shown=not quiet)
    folder = Path(file if out is None else out)
    run_command(["study", "collect", str(folder)])
    return Study(folder)


def report(
    folder: Run | Study | PathLike,
    out: PathLike | None = None,
    *,
    force: bool = False,
    page_only: bool = False,
    formats: Sequence[str] = ("svg",),
    claims: PathLike | None = None,
    all_figures: bool = False,
) -> Path:
    """Writes the report of a run or a study, as `invitro report` does, and returns the page's path."""
    flags = {"--force": force, "--page-only": page_only, "--all-figures": all_figures}
    args = ["report", _folder(folder), "--json", *(flag for flag, given in flags.items() if given)]
    args += options(out=out, claims=claims, formats=None if page_only else ",".join(formats))
    return Path(json.loads(run_command(args))["page"])


def _folder(of: Run | Study | PathLike) -> str:
    return str(of.path) if isinstance(of, (Run, Study)) else os.fspath(of)


def _of_experiment(experiment: Experiment) -> list[str]:
    if len(experiment._from) == 1:
        return ["--config", str(Path(str(experiment._from[0])) / "config.toml")]
    preset, path, settings = experiment._from
    assert isinstance(settings, list)
    return [*options(preset=preset, config=path), *settings]


def _score(of: dict[str, Any]) -> ScoredSentence:
    return ScoredSentence(of["logprob"], tuple(ScoredWord(**word) for word in of["words"]))


def _output(of: dict[str, Any]) -> Output:
    levels = {name: of["verdict"][name] for name in ("valid", "grammatical", "types", "facts")}
    return Output(**levels, **{name: of[name] for name in ("prompt", "output", "ended", "asked_words", "reason")})
